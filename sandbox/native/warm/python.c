/*
 * What a template has its Python do, through the interpreter's own functions, which are looked up
 * in it: no header and no library of Python is needed to build this. The code runs with names of
 * its own and may leave nothing behind but modules.
 */
#include "sandbox/native/warm/warm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define FILE_INPUT 257 /* Py_file_input */

typedef int ensure_fn(void);
typedef int finalize_fn(void);
typedef void release_fn(int state);
typedef void plain_fn(void);
typedef void *dict_fn(void);
typedef void *compile_fn(const char *text, const char *name, int start);
typedef void *eval_fn(void *code, void *globals, void *locals);
typedef void *string_fn(const char *text);
typedef int set_item_fn(void *dict, const char *key, void *value);
typedef void *get_item_fn(void *dict, const char *key);
typedef ptrdiff_t size_fn(void *dict);
typedef void forget_fn(void *object);
typedef void *import_fn(const char *name);
typedef void *module_dict_fn(void *module);
typedef void *unmarshal_fn(const char *bytes, intptr_t len);

static struct {
	ensure_fn *ensure;
	release_fn *release;
	finalize_fn *finalize;
	plain_fn *before_fork, *after_fork_parent, *after_fork_child, *clear_error;
	dict_fn *new_dict;
	compile_fn *compile;
	eval_fn *eval;
	string_fn *string;
	set_item_fn *set_item;
	get_item_fn *get_item;
	size_fn *size;
	forget_fn *forget, *track, *untrack;
	import_fn *import;
	module_dict_fn *module_dict;
	unmarshal_fn *unmarshal;
} py;

static void *renew_code, *thaw_code, *names; /* of this file's code */
static void *leave_code;		     /* NULL: no file was left */
static int state;

/* Modules that programs commonly import and that leave no trace but themselves: no thread,
 * descriptor, handler, exit function, filter of warnings or line of output. Each costs every
 * program some time when Python ends, so that rare
 * ones (statistics, decimal, hashlib) are not here. */
static const char usual[] =
	"re,math,json,collections,collections.abc,itertools,functools,random,string,"
	"datetime,time,typing,heapq,bisect,copy,operator,enum,abc,contextlib";

/* Around imports: none is of the program's folder, and nothing is left of where they were found. */
#define IMPORTS_BEGIN                              \
	"import sys\n"                             \
	"path = sys.path[:]\n"                     \
	"finders = set(sys.path_importer_cache)\n" \
	"sys.path[:] = [p for p in path if p not in ('', '/work')]\n"
#define IMPORTS_END                                             \
	"sys.path[:] = path\n"                                  \
	"for name in set(sys.path_importer_cache) - finders:\n" \
	"    del sys.path_importer_cache[name]\n"

static const char warm_text[] = IMPORTS_BEGIN
	"import atexit, warnings, signal\n"
	"def look():\n"
	"    return (atexit._ncallbacks(), list(warnings.filters), sys.flags, list(sys.argv),\n"
	"            list(sys.meta_path), list(sys.path_hooks), "
	"sorted(sys.modules['__main__'].__dict__),\n"
	"            sys.getrecursionlimit(), [signal.getsignal(s) for s in "
	"signal.valid_signals()],\n"
	"            sys.excepthook, sys.displayhook, sys.getswitchinterval(), sys.gettrace())\n"
	"def load(names):\n"
	"    for name in names.split(','):\n"
	"        try:\n"
	"            __import__(name)\n"
	"        except ImportError:\n"
	"            pass\n"
	"before = look()\n"
	"load(usual)\n"
	"if look() != before:\n"
	"    raise RuntimeError('a module changed more than sys.modules')\n"
	"left = {}\n"
	"if others:\n"
	/* matplotlib says so when its list of fonts takes long. */
	"    if 'matplotlib' in others:\n"
	"        import logging\n"
	"        logging.disable(logging.WARNING)\n"
	"        load(others)\n"
	"        logging.disable(logging.NOTSET)\n"
	"    else:\n"
	"        load(others)\n"
	"    if 'threading' in sys.modules:\n"
	"        threading = sys.modules['threading']\n"
	"        for thread in threading.enumerate():\n"
	"            if thread is not threading.main_thread():\n"
	"                thread.join(1)\n"
	"    import os\n"
	"    for top in '/tmp', '/work':\n"
	"        for folder, _, files in os.walk(top):\n"
	"            if folder != top:\n"
	"                left[folder] = os.stat(folder).st_mode, None\n"
	"            for name in [os.path.join(folder, f) for f in reversed(files)]:\n"
	"                with open(name, 'rb') as file:\n"
	"                    left[name] = os.stat(name).st_mode, file.read()\n" IMPORTS_END
	"if 're' in sys.modules:\n"
	"    sys.modules['re'].purge()\n"
	"sys.stdout.flush()\n"
	"sys.stderr.flush()\n";

/* The beginning of a program of ours, among whose names it says so. */
static const char ahead_text[] = IMPORTS_BEGIN "names = sys.modules['__main__'].__dict__\n"
					       "exec(ahead, names)\n"
					       "names['_assay_ahead'] = True\n" IMPORTS_END;

/*
 * What was frozen is not looked at by a collection, nor let go of when Python ends, which would be
 * most of the time of a short program. Nobody sees that but one who asks for it, or whose own
 * objects do something when they are let go of while something of ours still knows them. A program
 * that has one of these words is given all as a cold start has it, and takes that much longer.
 */
static const char freeze_text[] = "import gc\n"
				  "gc.collect()\n"
				  "gc.freeze()\n";
static const char thaw_text[] = "import gc\n"
				"gc.unfreeze()\n";
static const char *const thaw_words[] = { "__del__",   "weakref",	 "import gc", "from gc",
					  ", gc",      "open",		 "File",      "yield",
					  "async",     "_getframe",	 "finalize",  "__import__",
					  "importlib", "__subclasses__", "ctypes",    "cffi" };

/* The files that modules leave when they are imported, as matplotlib its list of fonts: they are
 * there in a run, too. */
static const char leave_text[] =
	"import os\n"
	"for path, (mode, data) in left.items():\n"
	"    if data is not None:\n"
	"        with open(path, 'wb', opener=lambda p, f: os.open(p, f, mode & 0o777)) as file:\n"
	"            file.write(data)\n"
	"    elif not os.path.isdir(path):\n"
	"        os.mkdir(path, mode & 0o777)\n";

/* random does it by itself; what else keeps a seed, a time or a number of its process. */
static const char renew_text[] =
	"import sys\n"
	"if 'numpy.random' in sys.modules:\n"
	"    sys.modules['numpy.random'].seed()\n"
	"if 'logging' in sys.modules:\n"
	"    import time\n"
	"    logging = sys.modules['logging']\n"
	"    logging._startTime = type(logging._startTime)(time.time() if "
	"isinstance(logging._startTime, float)\n"
	"                                                  else time.time_ns())\n"
	"if 'threading' in sys.modules:\n"
	"    main = sys.modules['threading'].main_thread()\n"
	"    if hasattr(main, '_set_native_id'):\n"
	"        main._set_native_id()\n"
	"import gc\n"
	"gc.collect()\n";

static const char life_text[] = "class A:\n"
				"    def f(self, n):\n"
				"        return f'{n:03d} {sum(i * i for i in range(n))}'\n"
				"a = {A().f(n): [n] for n in range(9)}\n";

/* ISO C has no conversion from what dlsym returns to a function. */
bool python_look_up(void *ret_function, const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	memcpy(ret_function, &address, sizeof(address));
	return address != NULL;
}

static bool look_all_up(void)
{
	return python_look_up(&py.ensure, "PyGILState_Ensure") &&
	       python_look_up(&py.release, "PyGILState_Release") &&
	       python_look_up(&py.finalize, "Py_FinalizeEx") &&
	       python_look_up(&py.before_fork, "PyOS_BeforeFork") &&
	       python_look_up(&py.after_fork_parent, "PyOS_AfterFork_Parent") &&
	       python_look_up(&py.after_fork_child, "PyOS_AfterFork_Child") &&
	       python_look_up(&py.clear_error, "PyErr_Clear") &&
	       python_look_up(&py.new_dict, "PyDict_New") &&
	       python_look_up(&py.compile, "Py_CompileString") &&
	       python_look_up(&py.eval, "PyEval_EvalCode") &&
	       python_look_up(&py.string, "PyUnicode_FromString") &&
	       python_look_up(&py.set_item, "PyDict_SetItemString") &&
	       python_look_up(&py.get_item, "PyDict_GetItemString") &&
	       python_look_up(&py.size, "PyDict_Size") && python_look_up(&py.forget, "Py_DecRef") &&
	       python_look_up(&py.track, "PyObject_GC_Track") &&
	       python_look_up(&py.untrack, "PyObject_GC_UnTrack") &&
	       python_look_up(&py.import, "PyImport_AddModule") &&
	       python_look_up(&py.module_dict, "PyModule_GetDict") &&
	       python_look_up(&py.unmarshal, "PyMarshal_ReadObjectFromString");
}

static bool set_name(const char *name, const char *value)
{
	void *string = py.string(value);
	bool done = string && py.set_item(names, name, string) == 0;

	if (string)
		py.forget(string);
	return done;
}

static int run(void *code, void *globals)
{
	void *result = !code ? NULL : py.eval(code, globals, globals);

	if (!result) {
		py.clear_error();
		return -1;
	}
	py.forget(result);
	return 0;
}

static int run_text(const char *text)
{
	void *code = py.compile(text, "<assay>", FILE_INPUT);
	int status = run(code, names);

	if (code)
		py.forget(code);
	return status;
}

/* All but the program's own names: what it puts there is let go of with them. */
static int freeze(void)
{
	void *main = py.import("__main__"), *dict = !main ? NULL : py.module_dict(main);

	if (!dict)
		return -1;
	py.untrack(main);
	py.untrack(dict);
	int status = run_text(freeze_text);
	py.track(main);
	py.track(dict);
	return status;
}

static int clear_names(int status)
{
	void *next = py.new_dict(), *left = py.get_item(names, "left");

	if (!next || (left && py.set_item(next, "left", left) < 0))
		status = -1;
	py.forget(names);
	names = next;
	return status;
}

static int load(const char *modules)
{
	int status = -1;

	if (set_name("usual", usual) && set_name("others", !modules ? "" : modules))
		status = run_text(warm_text);
	status = clear_names(status);
	void *left = status < 0 ? NULL : py.get_item(names, "left");
	if (left && py.size(left) > 0)
		leave_code = py.compile(leave_text, "<assay>", FILE_INPUT);
	return status;
}

static int run_ahead(const struct warm_start *start)
{
	void *code = py.unmarshal(start->ahead, (intptr_t)start->ahead_len);
	int status = -1;

	if (code && py.set_item(names, "ahead", code) == 0)
		status = run_text(ahead_text);
	if (!code)
		py.clear_error();
	else
		py.forget(code);
	return clear_names(status);
}

int python_warm(const struct warm_start *start, struct protocol_failure *failure)
{
	const char *modules = start->modules;

	errno = 0;
	if (!look_all_up())
		return failure_set(failure, "template: functions of Python", "");
	state = py.ensure();
	names = py.new_dict();
	renew_code = py.compile(renew_text, "<assay>", FILE_INPUT);
	thaw_code = py.compile(thaw_text, "<assay>", FILE_INPUT);
	if (!renew_code || !thaw_code || !names)
		return failure_set(failure, "template: compile", "");
	if ((!modules || strcmp(modules, "-")) && load(modules) < 0)
		return failure_set(failure, "template: import modules", "");
	if (start->ahead && run_ahead(start) < 0)
		return failure_set(failure, "template: run what comes first", "");
	ending_keep();
	return freeze() < 0 ? failure_set(failure, "template: freeze", "") : 0;
}

void python_before_fork(void)
{
	py.before_fork();
}

void python_after_fork(void)
{
	py.after_fork_parent();
}

int python_after_fork_child(struct protocol_failure *failure)
{
	py.after_fork_child();
	errno = 0;
	int status = run(renew_code, names);
	return status < 0 ? failure_set(failure, "seeds of the interpreter", "") : 0;
}

static bool has_thaw_word(const char *program, size_t len)
{
	for (size_t i = 0; i < sizeof(thaw_words) / sizeof(thaw_words[0]); i++)
		if (memmem(program, len, thaw_words[i], strlen(thaw_words[i])))
			return true;
	return false;
}

int python_suit(const char *program, size_t len, struct protocol_failure *failure)
{
	int status = leave_code ? run(leave_code, names) : 0;

	if (status == 0 && (!program || has_thaw_word(program, len))) {
		if (program)
			ending_forget();
		status = run(thaw_code, names);
	} else {
		ending_arm();
	}
	if (leave_code)
		py.forget(leave_code);
	py.forget(renew_code);
	py.forget(thaw_code);
	py.forget(names);
	py.release(state);
	return status < 0 ? failure_set(failure, "make the interpreter ready", "") : 0;
}

void python_live(void)
{
	py.after_fork_child();
	ending_arm();
	void *dict = py.new_dict();
	run(py.compile(life_text, "<assay>", FILE_INPUT), dict);
	py.finalize();
}
