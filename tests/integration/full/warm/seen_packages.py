# What a program can see of an interpreter that has imported packages, before it does: rows as in seen.py,
# each a program, and some that use the packages as programs do.
ROWS = []


def add(imports, *expressions):
    for expression in expressions:
        ROWS.append((imports, expression))


STATE = ("__import__('threading').enumerate().__len__()", "sorted(globals())", "warnings.filters",
         "atexit._ncallbacks()", "sorted(os.listdir('/proc/self/task'))", "sorted(os.listdir('/proc/self/fd'))",
         "{f: sorted(os.listdir(f)) for f in ('/tmp', '/work', '/out', '/dev/shm')}",
         "[(d, sorted(n), sorted(f)) for t in ('/tmp', '/work') for d, n, f in os.walk(t)]",
         "sorted((p, os.stat(p).st_mode, os.stat(p).st_size) for d, n, f in os.walk('/work') for p in "
         "[os.path.join(d, x) for x in n + f] if os.path.isfile(p))",
         "dict(os.environ)", "os.getpid(), os.getppid(), os.getcwd()", "sys.argv, sys.path, sys.flags",
         "sys.getrecursionlimit(), sys.getswitchinterval()", "sys.excepthook is sys.__excepthook__",
         "[str(signal.getsignal(s)) for s in signal.valid_signals()]", "locale.setlocale(locale.LC_ALL)",
         "decimal.getcontext()", "gc.isenabled(), gc.get_threshold(), gc.garbage, gc.callbacks",
         "threading.main_thread().native_id, threading.active_count()", "threading.Thread().name",
         "logging.getLogger().handlers, logging.root.level, logging.Logger.manager.disable",
         "sorted(logging.Logger.manager.loggerDict)", "sorted(vars(sys))",
         "sys.__interactivehook__.__name__", "random.seed(3) or random.random()", "1 / 0",
         "[l.split()[0] for l in open('/proc/self/status') if l.startswith(('Cap', 'Sec', 'NoNew', 'Threads'))]",
         "multiprocessing.Pool(2).map(abs, [-1, 2])", "subprocess.run(['env'], capture_output=True).stdout",
         "os.fork() and os.wait()[1]", "time.process_time() < 5", "resource.getrusage(0).ru_utime < 5")
USED = ("warnings, atexit, os, sys, signal, locale, decimal, gc, threading, logging, random, multiprocessing, "
        "subprocess, time, resource")

for _packages in ("numpy", "numpy as np, pandas as pd", "numpy, pandas, matplotlib.pyplot"):
    add(_packages + "\nimport " + USED, *STATE)

add("numpy as np", "np.arange(12).reshape(3, 4) @ np.ones((4, 2))", "np.random.seed(7) or np.random.rand(3)",
    "np.random.default_rng(7).normal(size=3)", "np.random.RandomState(1).randint(9, size=5)", "np.geterr()",
    "0 <= np.random.rand() < 1", "np.get_printoptions()", "np.linalg.inv([[1, 2], [3, 4.]])", "np.array([1]) / 0",
    "np.float64(1) / 0", "np.log(-1.0)", "np.array([1, 2]).reshape(3)", "np.zeros(10**12)", "np.__version__",
    "np.show_config()", "np.seterr(all='raise') and np.float64(1) / 0", "np.polyfit([1, 2], [1, 2], 5)",
    "np.linalg.svd(np.ones((200, 200)))[1][0].round(6)", "np.array(['a', 'b']), np.array([1, 'x', None])",
    "np.bool if hasattr(np, 'bool') else 0", "np.random.get_state()[0], np.random.get_state()[2]",
    "np.core.multiarray.__name__", "np.fft.fft([1, 2, 3])", "np.save('/out/a.npy', np.arange(3))",
    "np.random.get_state()[1][0] >= 0", "np.errstate", "np.memmap('/tmp/m', shape=3, mode='w+').sum()")
add("pandas as pd", "pd.DataFrame({'a': [1, 2], 'b': ['x', None]})", "pd.Series([1, 2, 3]).describe()",
    "pd.get_option('display.max_rows')", "pd.read_csv(__import__('io').StringIO('a,b\\n1,2\\n'))",
    "pd.DataFrame({'a': [1, 1, 2], 'b': [1, 2, 3]}).groupby('a').sum()", "pd.DataFrame().x",
    "pd.to_datetime(['2020-01-01']).tz_localize('UTC')", "pd.date_range('2020-01-01', periods=3)",
    "pd.DataFrame({'a': [1]}).to_csv('/out/a.csv')", "pd.DataFrame({'a': [1]}).append", "pd.NA, pd.NaT",
    "pd.DataFrame({'a': [3, 1]}).sort_values('a').to_json()", "pd.concat([pd.Series([1]), pd.Series([2])])",
    "pd.Series(['a', 'b']).astype('category').cat.codes", "pd.DataFrame({'a': [1, 2]}).a.iloc[5]",
    "pd.options.mode.chained_assignment", "pd.DataFrame([[1, 2]]).pivot_table", "pd.Timestamp('2020-02-30')",
    "pd.DataFrame({'a': [1, 2]})[lambda d: d.a > 1].assign(b=1)", "pd.read_csv('/in/none.csv')",
    "pd.core.config_init.__name__", "pd.io.formats.format.__name__")
add("matplotlib, matplotlib.pyplot as plt, os", "plt.get_backend(), matplotlib.rcParams['backend']",
    "matplotlib.get_configdir(), matplotlib.get_cachedir(), matplotlib.matplotlib_fname()", "plt.get_fignums()",
    "plt.plot([1, 2, 3])", "plt.savefig('/out/a.png') or os.path.getsize('/out/a.png')",
    "plt.title('x') and plt.savefig('/out/a.svg', metadata={'Date': None}, format='svg')",
    "len(matplotlib.font_manager.fontManager.ttflist)", "plt.figure().number, plt.figure().number",
    "matplotlib.rcParams['savefig.dpi'], matplotlib.rcParams['font.family']", "plt.show()",
    "plt.style.use('nope')", "plt.hist([1, 2, 2])[0]", "plt.imread('/none')", "matplotlib.use('TkAgg')",
    "os.environ['MPLBACKEND'], os.environ['MPLCONFIGDIR']", "plt.rcdefaults()", "plt.close('all')",
    "plt.text(0, 0, 'text') and plt.gcf().canvas.draw()", "plt.matplotlib.rcParams == matplotlib.rcParamsOrig")
# What runs before an import, or beside it, is not as after one.
PROGRAMS = [
    "import warnings\nwarnings.simplefilter('error')\nimport numpy\nprint(warnings.filters)",
    "import sys\nprint(sorted(n for n in sys.modules if n[:5] == 'numpy'))\nimport numpy",
    "print(1)\nimport pandas\nprint(pandas.Series([1]))",
    "import numpy\nimport pandas\nclass A:\n    def __del__(self):\n        print('gone')\na = A()",
    "import numpy as np\nimport weakref\nclass A: pass\na = A()\nf = weakref.finalize(a, print, 'gone')",
    "import numpy as np\nimport atexit\natexit.register(print, 'at exit')\nprint(np.ones(2))",
    "import numpy as np\ndef g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nx = g()\nnext(x)",
    "import pandas as pd\nf = open('/out/x', 'w')\nf.write('kept')\nprint(pd.Series([1]).sum())",
    "import numpy, sys\ndel sys.__interactivehook__\nprint(numpy.ones(2), 'numpy' in dir())",
    "import numpy, sys\nsys.__interactivehook__ = None\nprint(numpy.ones(3).sum())",
    "import numpy, threading\nt = threading.Thread(target=lambda: print(numpy.ones(1)))\nt.start()",
    "import numpy, os\npid = os.fork()\nprint('child' if pid == 0 else 'parent', numpy.ones(1))\n"
    "pid and os.waitpid(pid, 0)",
    "import numpy, logging\nlogging.warning('%s', numpy.ones(1))",
    "import numpy as np\nnp.ones(1)[3]", "import numpy as np\nraise SystemExit(np.int64(3))",
    "import pandas as pd\n\ndef f(d):\n    return d.nothing\n\nf(pd.DataFrame({'a': [1]}))",
    "import numpy\nimport os\nos.abort()", "import numpy\nimport os\nos._exit(7)",
    "import numpy\nimport ctypes\nctypes.string_at(0)", "import numpy as np\nx = np.ones(200 << 20)\nprint(len(x))",
    "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nprint(plt.get_backend())",
    "import numpy\nimport sys\nsys.stdout.write('no newline')\nsys.stderr.write('err')",
    "import numpy\nclass M(type):\n    pass\nclass A(metaclass=M):\n    pass\nprint(A())",
    "import json, re, numpy\nprint(json.dumps(numpy.ones(1).tolist()), re.sub('a', 'b', 'aa'))",
]


# Several rows are one program, for most of a cold start is the import; matplotlib's takes seconds.
AT_ONCE = 12
EACH = """
for text in TEXTS:
    try:
        print(text, eval(text))
    except Exception as error:
        print(text, type(error), error)
"""


def programs():
    """(name, text) of each."""
    by_imports = {}
    for imports, expression in ROWS:
        by_imports.setdefault(imports, []).append(expression)
    for imports, expressions in by_imports.items():
        head = "".join("import %s\n" % line.removeprefix("import ") for line in imports.split("\n"))
        for n in range(0, len(expressions), AT_ONCE):
            some = expressions[n:n + AT_ONCE]
            yield ("%s: %s, and %d more" % (imports.split("\n")[0], some[0], len(some) - 1),
                   head + "TEXTS = %r" % (some,) + EACH)
    for n, text in enumerate(PROGRAMS):
        yield "program %d: %s" % (n, text.splitlines()[-1]), text + "\n"
