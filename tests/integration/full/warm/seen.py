# What a program can see of its interpreter: a row is a name, what to import, and an expression
# whose value is printed. Each is a program, at the start of a run and after the usual imports.
ROWS = []
USUAL = ("re,math,json,collections,itertools,functools,random,string,datetime,time,typing,heapq,bisect,"
         "copy,operator,statistics,decimal,fractions,dataclasses,enum,hashlib,textwrap,contextlib")


def add(imports, *expressions):
    for expression in expressions:
        ROWS.append((imports, expression))


add("sys", "sys.flags", "sys.argv", "sys.orig_argv", "sys.path", "sys.version", "sys.executable",
    "sys.prefix, sys.exec_prefix, sys.base_prefix", "sys.platform", "sys.byteorder", "sys.maxsize",
    "sys.getrecursionlimit()", "sys.getswitchinterval()", "sys.getdefaultencoding()",
    "sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()", "sys.warnoptions", "sys._xoptions",
    "sys.dont_write_bytecode", "sys.pycache_prefix", "sys.gettrace(), sys.getprofile()",
    "sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__",
    "sys.unraisablehook is sys.__unraisablehook__", "sys.breakpointhook is sys.__breakpointhook__",
    "sys.exc_info()", "[hasattr(sys, n) for n in ('ps1', 'last_type', 'last_value', 'tracebacklimit')]",
    "sorted(sys.path_importer_cache)", "[type(f).__name__ for f in sys.meta_path]",
    "len(sys.path_hooks)", "sys.hash_info", "sys.float_info", "sys.int_info", "sys.thread_info",
    "sys.implementation", "sys.getallocatedblocks() > 0", "sys.is_finalizing()",
    "sys.stdin.encoding, sys.stdin.errors, sys.stdin.mode, sys.stdin.name",
    "sys.stdin.line_buffering, sys.stdin.isatty(), sys.stdin.seekable(), sys.stdin.buffer.raw._blksize",
    "repr(sys.stdin), repr(sys.stdout), repr(sys.stderr)", "sys.stdin.read()", "sys.stdin.buffer.tell()",
    "sys.stdout.encoding, sys.stdout.errors, sys.stdout.write_through, sys.stdout.line_buffering",
    "sys.stdout.isatty(), sys.stdout.seekable(), sys.stdout.buffer.raw._blksize",
    "sys.stderr.encoding, sys.stderr.errors, sys.stderr.write_through, sys.stderr.line_buffering",
    "[s is t for s, t in ((sys.stdin, sys.__stdin__), (sys.stdout, sys.__stdout__))]",
    "sys.get_asyncgen_hooks()", "sys.get_coroutine_origin_tracking_depth()", "sys.api_version",
    "sys.builtin_module_names", "sorted(sys.stdlib_module_names)[:20]", "len(sys.modules) > 20",
    "sys._getframe().f_back, sys._getframe().f_lineno, sys._getframe().f_code.co_filename",
    "len(sys._current_frames())", "sys.int_info.default_max_str_digits", "sorted(vars(sys))",
    "[sys.getrefcount(x) < 1 for x in ('a', None)]", "sys.intern('warm') is 'warm'",
    "sys.modules['__main__'].__file__", "sorted(sys.modules)")
add("", "sorted(globals())", "sorted(dir())", "__name__, __file__, __doc__, __package__, __spec__",
    "__loader__.__class__.__name__", "__annotations__ if '__annotations__' in globals() else None",
    "__builtins__.__name__", "sorted(vars(__builtins__))", "hash('a'), hash(b'b'), hash(1.5), hash((1, 2))",
    "hash(frozenset('abc'))", "list({'a', 'b', 'c', 'd'})", "id(1) == id(1)", "[*map(str, range(3))]",
    "print.__self__.__name__", "quit, exit, copyright.__class__.__name__", "help.__class__.__name__",
    "{n: open('/proc/self/' + n).read() for n in ('comm', 'cmdline', 'cgroup')}",
    "len(object.__subclasses__()) > 100", "sorted(c.__name__ for c in object.__subclasses__())",
    "sorted(c.__name__ for c in Exception.__subclasses__())",
    "[l for l in open('/proc/self/status') if not l.startswith(('Vm', 'Rss', 'volun', 'nonvol', 'Pid', "
    "'Hugetlb', 'Cpus', 'Mems'))]", "open('/proc/self/limits').read()", "open('/proc/self/environ').read()",
    "open('/proc/self/oom_score_adj').read()", "open('/proc/self/uid_map').read()",
    "open('/proc/self/mountinfo').read().count('\\n')", "open('/proc/self/net/dev').read().count('\\n')",
    "sorted({l.split()[-1] for l in open('/proc/self/maps') if '/' in l and '.so' not in l})",
    "sorted({l.split()[-1] for l in open('/proc/self/maps') if '/' in l})",
    "{l[:4] for l in open('/proc/self/maps') for l in [l.split()[1]]}",
    "open('/proc/self/timerslack_ns').read()", "open('/proc/self/autogroup').read() if 0 else 0",
    "open('/proc/self/personality').read()", "open('/proc/self/coredump_filter').read()",
    "open('/proc/self/loginuid').read() if 0 else 1", "open('/proc/self/stat').read().split()[3:8]",
    "open('/proc/self/stat').read().split()[17:20]", "open('/proc/self/sched').read().count('\\n')",
    "open('/proc/1/comm').read()")
add("os", "dict(os.environ)", "os.environ.get('LD_PRELOAD'), os.environ.get('ASSAY_WARM_MODULES')", "os.getcwd()",
    "os.getpid(), os.getppid()", "os.getpgid(0), os.getpgrp(), os.getsid(0)", "os.getuid(), os.geteuid()",
    "os.getgid(), os.getegid(), os.getgroups()", "os.getresuid(), os.getresgid()", "os.umask(0)", "os.nice(0)",
    "os.getpriority(os.PRIO_PROCESS, 0)", "sorted(os.listdir('/proc/self/fd'))",
    "[os.readlink('/proc/self/fd/%d' % n).split(':')[0] for n in range(3)]",
    "sorted(os.listdir('/proc/self/task'))", "[n for n in os.listdir('/proc') if n.isdigit()]",
    "sorted(os.listdir('/'))", "sorted(os.listdir('/work'))", "sorted(os.listdir('/dev'))", "os.listdir('/out')",
    "os.listdir('/tmp')", "os.listdir('/in')", "os.listdir('/dev/shm')", "os.sched_getaffinity(0)",
    "os.sched_getscheduler(0), os.sched_getparam(0).sched_priority", "os.cpu_count()", "os.uname()[:2]",
    "os.get_inheritable(0), os.get_inheritable(1), os.get_inheritable(2)", "[os.isatty(n) for n in range(3)]",
    "[os.fstat(n).st_mode for n in range(3)]", "os.get_blocking(0), os.get_blocking(1), os.get_blocking(2)",
    "os.readlink('/proc/self/exe')", "os.readlink('/proc/self/cwd'), os.readlink('/proc/self/root')",
    "sorted(os.listdir('/proc/self/ns'))", "[os.path.exists(p) for p in ('/proc/2', '/proc/3', '/proc/300')]",
    "os.fork() and os.wait()", "os.times().user < 1, os.times().children_user", "os.getloadavg()[0] >= 0",
    "os.stat('/work/main.py').st_mode, os.stat('/work/main.py').st_nlink", "os.access('/work', os.W_OK)",
    "os.open('/dev/null', 0)", "os.pipe()", "os.get_exec_path()", "os.supports_fd.__class__",
    "os.waitpid(-1, os.WNOHANG)", "os.kill(os.getppid(), 0)", "os.kill(300, 0)", "os.system('echo a; echo $$ $PPID')",
    "os.statvfs('/work').f_frsize", "os.getxattr('/work/main.py', 'user.a')", "os.ctermid()", "os.getlogin()")
add("warnings", "warnings.filters", "warnings._filters_mutated.__name__", "warnings.warn('x')",
    "warnings.showwarning.__module__", "warnings.defaultaction, warnings.onceregistry")
add("atexit", "atexit._ncallbacks()", "atexit.register(print, 'at exit')  and 1")
add("gc", "gc.isenabled(), gc.get_threshold(), gc.get_debug()", "gc.get_freeze_count()", "gc.garbage, gc.callbacks",
    "gc.is_tracked(globals())", "gc.collect() >= 0", "len(gc.get_objects()) > 1000", "gc.get_count()",
    "[sorted(s) for s in gc.get_stats()]", "gc.collect()", "gc.get_stats()")
add("signal", "{s.name: str(signal.getsignal(s)) for s in signal.valid_signals() if hasattr(s, 'name')}",
    "signal.pthread_sigmask(signal.SIG_BLOCK, [])", "signal.getitimer(signal.ITIMER_REAL)", "signal.sigpending()",
    "signal.set_wakeup_fd(-1)", "signal.alarm(0)", "signal.raise_signal(signal.SIGUSR1)",
    "signal.siginterrupt(signal.SIGINT, True)", "signal.raise_signal(signal.SIGINT)")
add("threading", "threading.active_count(), threading.enumerate()[0].name", "threading.main_thread().name",
    "threading.main_thread() is threading.current_thread()", "threading.get_native_id()",
    "threading.main_thread().native_id", "threading.main_thread().ident == threading.get_ident()",
    "threading.Thread(target=print).start()", "threading.excepthook.__name__", "threading.stack_size()",
    "threading.Thread().name", "threading.Lock().locked(), threading._active_limbo_lock.locked()",
    "threading.main_thread().daemon", "len(threading._dangling)", "len(threading._active), len(threading._limbo)",
    "threading._shutdown_locks", "threading.gettrace(), threading.getprofile()")
add("resource", "[resource.getrlimit(n) for n in range(16)]", "resource.getpagesize()",
    "resource.getrusage(resource.RUSAGE_CHILDREN)[:3]", "resource.getrusage(0).ru_utime < 1",
    "resource.getrusage(0).ru_nswap", "resource.prlimit(0, resource.RLIMIT_CORE)",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "resource.getrusage(0).ru_maxrss < 100000")
add("time", "time.process_time() < 1", "time.thread_time() < 1", "time.tzname, time.timezone", "time.localtime().tm_isdst",
    "time.get_clock_info('monotonic')", "time.perf_counter() > 0", "time.strftime('%Z', time.gmtime(0))")
add("locale", "locale.getlocale()", "locale.setlocale(locale.LC_ALL)", "locale.localeconv()['decimal_point']",
    "locale.getpreferredencoding()", "locale.getencoding()")
add("random", "random.seed(1) or random.random()", "random.getstate()[0], random.getstate()[2]",
    "random.Random(3).random()", "0 <= random.random() < 1", "random._inst.__class__.__name__")
add("decimal", "decimal.getcontext()", "decimal.localcontext().__class__", "decimal.Decimal(1) / 3")
add("json", "json.dumps({'a': [1, 2.5, None]})", "json.JSONEncoder.item_separator", "json.__file__, json.__spec__.origin",
    "json.loads('{')", "json._default_encoder.indent")
add("re", "re._cache if hasattr(re, '_cache') else 0", "re.compile('a+').flags", "re.sub('a', 'b', 'banana')", "re.compile('(')")
add("importlib, sys", "importlib.util if hasattr(importlib, 'util') else None", "importlib.machinery.all_suffixes()",
    "importlib.import_module('json').__name__", "importlib.reload(sys).__name__", "sorted(importlib._bootstrap._blocking_on)",
    "importlib._bootstrap._module_locks", "[f.path for f in sys.path_importer_cache.values() if f]")
add("inspect", "inspect.stack()[0].lineno, len(inspect.stack())", "inspect.currentframe().f_back",
    "inspect.getsource(inspect.currentframe())", "inspect.getmodule(inspect.currentframe()).__name__")
add("traceback", "traceback.format_stack()", "traceback.extract_stack()")
add("linecache", "linecache.cache", "linecache.getline('/work/main.py', 1)")
add("builtins", "sorted(dir(builtins))", "builtins.open.__module__", "builtins.__import__.__name__", "1 / 0", "nothing",
    "int('x')", "[][1]", "{}['k']", "None.x", "open('/none')", "'a' + 1", "eval('(')", "compile('1 +', 'f', 'exec')",
    "__import__('none')", "(lambda f: f(f))(lambda f: f(f))", "assert_ if 0 else exit(4)", "input()", "'\\ud800'",
    "breakpoint.__name__", "memoryview(b'a')", "10 ** 5000", "max([])", "next(iter([]))", "open(0).read()",
    "raise_ if 0 else globals().__class__")
add("tracemalloc", "tracemalloc.is_tracing(), tracemalloc.get_traced_memory()")
add("faulthandler", "faulthandler.is_enabled()")
add("ctypes", "ctypes.CDLL(None).getpid()", "ctypes.CDLL(None).syscall(39)", "ctypes.pythonapi.Py_IsInitialized()",
    "ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)",
    "[ctypes.CDLL(None).prctl(23, n, 0, 0, 0) for n in range(41)]", "ctypes.CDLL(None).prctl(27, 0, 0, 0, 0)",
    "ctypes.CDLL(None).mount(0, 0, 0, 0, 0)", "ctypes.CDLL(None).ptrace(0, 0, 0, 0)", "ctypes.CDLL(None).unshare(0x10000000)",
    "ctypes.CDLL(None).setns(0, 0)", "ctypes.CDLL(None).prctl(2, ctypes.byref(ctypes.c_int()), 0, 0, 0)",
    "ctypes.CDLL(None).personality(0xffffffff)", "ctypes.CDLL(None).gettid()", "ctypes.CDLL(None).dlsym(0, b'template_main')",
    "ctypes.CDLL(None).prctl(21, 0, 0, 0, 0)", "ctypes.CDLL(None).prctl(7, 0, 0, 0, 0), ctypes.CDLL(None).prctl(37, 0, 0, 0, 0)")
add("subprocess", "subprocess.run(['/bin/sh', '-c', 'env; ulimit -a; ls /proc/self/fd; trap'], capture_output=True).stdout",
    "subprocess.run(['/usr/bin/python3', '-c', 'import sys; print(sys.flags, sys.path)'], capture_output=True)",
    "subprocess._active")
add("socket", "socket.gethostname()", "socket.getdefaulttimeout()", "socket.socketpair()[0].fileno()", "socket.socket()")
add("multiprocessing", "multiprocessing.current_process().name, multiprocessing.active_children()",
    "multiprocessing.get_start_method()", "multiprocessing.Pool(2).map(abs, [-1, 2])")
add("logging", "logging.getLogger().handlers, logging.getLogger().level", "logging.warning('w')", "logging.root.manager.disable")
add("asyncio", "asyncio.run(asyncio.sleep(0, 5))", "asyncio.get_event_loop_policy().__class__.__name__")
add("contextvars", "list(contextvars.copy_context())")
add("codecs", "codecs.lookup('utf-8').name")
add("copyreg", "len(copyreg.dispatch_table)", "copyreg._extension_registry")
add("abc", "abc.get_cache_token() >= 0")
add("weakref", "len(weakref.getweakrefs(object))", "weakref.finalize(sys, print, 'f') if 0 else 0")
add("functools", "functools.lru_cache(None)(abs).cache_info()")
add("types", "types.FrameType.__name__", "types.ModuleType('m')")
add("typing", "typing.get_type_hints(typing.NamedTuple)", "typing.List[int], typing.Optional[str]")
add("site", "site.ENABLE_USER_SITE, site.getusersitepackages()")
add("sysconfig", "sysconfig.get_path('stdlib')")
add("platform", "platform.python_implementation(), platform.node()")
add("getpass", "getpass.getuser()")
add("tempfile", "tempfile.gettempdir()", "tempfile.template")
add("datetime", "datetime.datetime(2020, 1, 1).isoformat()", "datetime.datetime.now().tzinfo")
add("heapq, bisect", "heapq.heapify.__module__, bisect.bisect.__module__")
add("hashlib", "hashlib.md5(b'a').hexdigest()", "sorted(hashlib.algorithms_available)[:3]")
add("enum", "enum.Enum('E', 'a b').a", "enum.auto().value")
add("uuid", "uuid.uuid5(uuid.NAMESPACE_DNS, 'a')", "uuid._last_timestamp, uuid._node")


def programs():
    """(name, text) of each."""
    for n, (imports, expression) in enumerate(ROWS):
        text = ("import %s\n" % imports if imports else "") + "print(%s)\n" % expression
        yield "%03d at the start: %s: %s" % (n, imports, expression), text
    for n, (imports, expression) in enumerate(ROWS):
        if n % 3 == 0:
            text = "import %s\n" % USUAL + ("import %s\n" % imports if imports else "")
            text += "def f():\n    return (%s)\n\n\nprint(f())\n" % expression
            yield "%03d after imports: %s: %s" % (n, imports, expression), text
