/* Tests run with a solution, in the real sandbox: what counts as a pass, and
 * what a solution may try to make it one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sandbox *sandbox;

static int open_sandbox(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	if (!sandbox_open(&sandbox, NULL, &err))
		return 0;
	print_error("%s\n", err.message);
	return -1;
}

static int close_sandbox(void **state)
{
	(void)state;
	sandbox_close(sandbox);
	return 0;
}

struct run {
	const char *name, *solution, *tests;
	enum verdict verdict;
	const char *says;	/* in the detail; NULL: anything */
	bool stub;
};

struct job {
	const struct run *run;
	const struct language *language;
};

static int run_job(void *self, struct tests *t, struct sandbox_result *ret, struct error *err)
{
	const struct job *j = self;
	struct sandbox_job job = { .language = j->language, .code = j->run->solution,
				   .code_len = strlen(j->run->solution) };
	struct sandbox_watch watch = { .cancel_fd = -1 };

	sandbox_limits_default(&job.limits);
	/* Generous on a loaded machine, but for the one that must run into it. */
	job.limits.wall_ms = strstr(j->run->name, "endless") ? 2000 : 30000;
	if (tests_prepare(t, j->language, j->run->tests, strlen(j->run->tests), &job, err) < 0 ||
	    sandbox_run(sandbox, &job, &watch, ret, err) < 0)
		return -1;
	tests_collect(t, ret);
	return 0;
}

/* The verdict; its sentence in *ret_said when that is not NULL. Caller frees. */
static enum verdict run_verdict(const char *lang, const struct run *run, char **ret_said)
{
	struct job job = { run, language_find(lang) };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct tests harness = { .mode = run->stub ? TESTS_STUB : TESTS_TOGETHER };
	struct check_result c = { .kind = NULL };
	struct error err = ERROR_INIT;
	enum verdict verdict;

	if (run_job(&job, &harness, &x, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	tests_judge(&harness, &x, CHECK_TESTS, &c);
	if (!run->stub && tests_confirm(&harness, run_job, &job, &c, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	verdict = c.verdict;
	if (ret_said)
		*ret_said = mem_strdup(c.detail);
	/* The harness's files are its own business: no artifacts of the user's. */
	if (x.artifact_count && !strstr(run->name, "forge") && ret_said)
		fail_msg("%s: there is an artifact %s", run->name, x.artifacts[0].path);
	check_result_release(&c);
	tests_release(&harness);
	return verdict;
}

static bool run_one(const char *lang, const struct run *run)
{
	cleanup_free char *said = NULL;
	enum verdict verdict = run_verdict(lang, run, &said);

	if (verdict == run->verdict && (!run->says || strstr(said, run->says)))
		return true;
	print_error("%s %s: %s, %s\n", lang, run->name, verdict_name(verdict), said);
	return false;
}

static void run_all(const char *lang, const struct run *runs, size_t count)
{
	size_t i, bad = 0;

	for (i = 0; i < count; i++)
		bad += !run_one(lang, &runs[i]);
	printf("%s: %zu runs\n", lang, count);
	assert_int_equal(bad, 0);
}

#define ADD "def add(a, b):\n    return a + b\n"
#define WRONG "def add(a, b):\n    return a - b\n"

static const struct run python_runs[] = {
	{ "passes", ADD, "assert add(1, 2) == 3\nassert add(0, 0) == 0\n", VERDICT_PASS,
	  "2 assertions passed. Lines of the tests: 1, 2." },
	{ "fails, with both sides", WRONG, "assert add(1, 2) == 3\n", VERDICT_FAIL,
	  "line 1 of the tests: assert add(1, 2) == 3: left is -1, right is 3" },
	{ "every assertion is told of", WRONG,
	  "assert add(1, 2) == 3\nassert add(2, 0) == 2\nassert add(3, 1) == 4\n", VERDICT_FAIL,
	  "2 of 3 assertions did not hold" },
	{ "those that held, too", WRONG, "assert add(1, 2) == 3\nassert add(2, 0) == 2\n",
	  VERDICT_FAIL, "Those in these lines held: 2." },
	{ "no assertion", ADD, "add(1, 2)\n", VERDICT_ERROR, "no assertion" },
	{ "an assertion that cannot fail", ADD, "assert True\n", VERDICT_ERROR, "no assertion" },
	{ "an exception in the tests", ADD, "assert add(1, 2) == 3\nadd(1)\n", VERDICT_FAIL,
	  "line 2 of the tests: TypeError" },
	{ "an exception in the solution", "1 / 0\n" ADD, "assert add(1, 2) == 3\n", VERDICT_FAIL,
	  "ZeroDivisionError" },
	{ "an assert function of HumanEval", ADD,
	  "def check(f):\n    assert f(1, 2) == 3\n\ncheck(add)\n", VERDICT_PASS, NULL },
	{ "test functions nobody calls", ADD, "def test_add():\n    assert add(1, 2) == 3\n",
	  VERDICT_PASS, "1 assertion passed" },
	{ "a failing test function", WRONG, "def test_add():\n    assert add(1, 2) == 3\n",
	  VERDICT_FAIL, "left is -1" },
	{ "unittest", ADD,
	  "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
	  "        self.assertEqual(add(1, 2), 3)\n",
	  VERDICT_PASS, NULL },
	{ "failing unittest", WRONG,
	  "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
	  "        self.assertEqual(add(1, 2), 3)\n",
	  VERDICT_FAIL, "-1 != 3" },
	{ "sys.exit at the end", ADD "import sys\nsys.exit(0)\n", "assert add(1, 2) == 3\n",
	  VERDICT_PASS, NULL },
	{ "sys.exit hides nothing", WRONG "import sys\nsys.exit(0)\n", "assert add(1, 2) == 3\n",
	  VERDICT_FAIL, NULL },
	{ "os._exit(0)", WRONG "import os\nos._exit(0)\n", "assert add(1, 2) == 3\n", VERDICT_FAIL,
	  "did not finish" },
	{ "os._exit(0) from a function", "import os\ndef add(a, b):\n    os._exit(0)\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, "did not finish" },
	{ "sys.exit from a function", "import sys\ndef add(a, b):\n    sys.exit(0)\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, "sys.exit" },
	{ "atexit that leaves", WRONG "import atexit, os\natexit.register(os._exit, 0)\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, NULL },
	{ "a forged report",
	  WRONG "import os\nopen('/out/.assay-tests-0.json', 'w').write("
		"'{\"assertions\":9,\"failed\":0,\"failures\":[]}')\nos._exit(0)\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, "did not finish" },
	{ "forged words", WRONG "print('{\"assertions\":9,\"failed\":0,\"failures\":[]}')\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, NULL },
	{ "equal to everything",
	  "class E:\n    def __eq__(self, o): return True\n"
	  "def add(a, b): return E()\n",
	  "assert add(1, 2) == 3\n", VERDICT_SKIPPED, "own objects" },
	{ "an endless solution", "while True: pass\n", "assert 1 == 1\n", VERDICT_FAIL, "timeout" },
	{ "a stub of it", ADD, "assert add(1, 2) == 3\n", VERDICT_FAIL, "left is None", true },
	{ "tests that only look", ADD, "assert callable(add)\n", VERDICT_PASS, NULL, true },
	{ "tests that never call", ADD, "assert 1 + 1 == 2\n", VERDICT_PASS, NULL, true },
	{ "a stub of a class",
	  "class A:\n    def __init__(self, x):\n        self.x = x\n"
	  "    def f(self):\n        return self.x\n",
	  "assert A(1).f() == 1\n", VERDICT_FAIL, "left is None", true },
	{ "a stub of a lambda", "add = lambda a, b: a + b\n", "assert add(1, 2) == 3\n",
	  VERDICT_FAIL, "left is None", true },
	{ "a stub runs nothing", "import sys\ndef main():\n    sys.exit(3)\nmain()\n",
	  "assert main() is None\n", VERDICT_PASS, NULL, true },
};

/* What tests commonly use of a program crosses to where the program is not. */
static const struct run python_apart[] = {
	{ "a class",
	  "class S:\n    def __init__(self):\n        self.items = []\n"
	  "    def push(self, x):\n        self.items.append(x)\n        return self\n"
	  "    def __len__(self):\n        return len(self.items)\n"
	  "    @property\n    def top(self):\n        return self.items[-1]\n"
	  "    @classmethod\n    def of(cls, *a):\n        s = cls()\n        s.items = list(a)\n"
	  "        return s\n",
	  "s = S().push(3)\nassert len(s) == 1\nassert s.items == [3]\n"
	  "assert s.top == 3\nassert S.of(1, 2).items == [1, 2]\ns.items = [9]\nassert s.top == "
	  "9\n",
	  VERDICT_PASS, "5 assertions" },
	{ "errors, of the language and of its own",
	  "class Empty(Exception): pass\n"
	  "def f(x):\n    if x: raise Empty(x)\n    raise ValueError('no')\n",
	  "for kind, x in ((Empty, 1), (ValueError, 0)):\n    try:\n        f(x)\n"
	  "    except kind as e:\n        assert str(e) in ('1', 'no')\n    else:\n        assert "
	  "False\n",
	  VERDICT_PASS, "2 assertions" },
	{ "a list that is changed", "def f(l):\n    l.sort()\n",
	  "l = [2, 1]\nf(l)\nassert l == [1, 2]\n", VERDICT_PASS, NULL },
	{ "a generator, a coroutine, a named tuple",
	  "import collections\n"
	  "P = collections.namedtuple('P', 'a b')\ndef g(n):\n    yield from range(n)\n"
	  "async def c(x):\n    return P(x, 2)\n",
	  "import asyncio\nassert list(g(3)) == [0, 1, 2]\n"
	  "assert asyncio.run(c(1)) == (1, 2)\nassert asyncio.run(c(5)).a == 5\n",
	  VERDICT_PASS, "3 assertions" },
	{ "what is printed, and variables", "def f():\n    print('hello')\nN = sum(range(5))\n",
	  "import contextlib, io\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    f()\n"
	  "assert b.getvalue() == 'hello\\n'\nassert N == 10\n",
	  VERDICT_PASS, "2 assertions" },
	{ "random arguments", "import math\ndef f(x):\n    return x * x\n",
	  "import random\n"
	  "for i in range(9):\n    n = random.random()\n    assert math.isclose(f(n), n ** 2)\n",
	  VERDICT_PASS, "9 assertions" },
	{ "values of the library",
	  "import datetime, decimal\ndef f(d):\n"
	  "    return {'d': d + datetime.timedelta(1), 'x': decimal.Decimal('1.5'), 's': {1, 2}}\n",
	  "assert f(datetime.date(2024, 2, 28)) == {'d': datetime.date(2024, 2, 29), "
	  "'x': decimal.Decimal('1.5'), 's': {2, 1}}\n",
	  VERDICT_PASS, NULL },
	{ "a function of the tests cannot cross", "def f(g):\n    return g(1)\n",
	  "assert f(lambda x: x + 1) == 2\n", VERDICT_SKIPPED, "f is given a function" },
	{ "a generator that calls methods of its own",
	  "class Tree:\n"
	  "    def __init__(self, items):\n"
	  "        self.items = list(items)\n"
	  "    def walk(self):\n"
	  "        for i in range(self.size()):\n"
	  "            yield self.items[i]\n"
	  "    def twice(self):\n"
	  "        return map(self.double, self.items)\n"
	  "    def double(self, x):\n"
	  "        return 2 * x\n"
	  "    def size(self):\n"
	  "        return len(self.items)\n",
	  "t = Tree([3, 1])\n"
	  "assert list(t.walk()) == [3, 1]\n"
	  "assert list(t.twice()) == [6, 2]\n"
	  "assert t.size() == 2\n",
	  VERDICT_PASS, "3 assertions" },
	{ "a generator of objects",
	  "class Node:\n"
	  "    def __init__(self, x):\n"
	  "        self.x = x\n"
	  "    def next(self):\n"
	  "        return Node(self.x + 1)\n"
	  "    def walk(self):\n"
	  "        yield self\n"
	  "        yield Node(self.value() + 1)\n"
	  "    def value(self):\n"
	  "        return self.x\n",
	  "a, b = Node(1).walk()\n"
	  "assert a.value() == 1\n"
	  "assert b.next().value() == 3\n",
	  VERDICT_PASS, "2 assertions" },
	{ "a generator of objects that hold objects",
	  "class Node:\n"
	  "    def __init__(self, *nodes):\n"
	  "        self.nodes = list(nodes)\n"
	  "    def walk(self):\n"
	  "        yield self\n"
	  "        for n in self.nodes:\n"
	  "            yield from n.walk()\n"
	  "    def size(self):\n"
	  "        return len(list(self.walk()))\n",
	  "tree = Node(Node(Node()), Node())\n"
	  "assert [n.size() for n in list(tree.walk())] == [4, 2, 1, 1]\n",
	  VERDICT_PASS, NULL },
	{ "a generator without an end",
	  "def squares():\n"
	  "    x = 2\n"
	  "    while True:\n"
	  "        yield x\n"
	  "        x *= x\n",
	  "g = squares()\n"
	  "assert [next(g), next(g)] == [2, 4]\n",
	  VERDICT_SKIPPED, NULL },
	{ "objects compared with each other",
	  "class E:\n    def __init__(self, x):\n        self.x = x\n"
	  "    def __eq__(self, o):\n        return self.x == o.x\n",
	  "assert E(1) == E(1)\n", VERDICT_SKIPPED, "own objects" },
};

static void test_python(void **state)
{
	(void)state;
	run_all("python", python_runs, ARRAY_SIZE(python_runs));
	run_all("python", python_apart, ARRAY_SIZE(python_apart));
}

/* A wrong add() and what it does to be taken for a right one. */
struct forgery {
	const char *name, *solution;
	const char *tests;	/* NULL: the usual ones */
};

static void run_forgeries(const char *lang, const char *tests, const struct forgery *list,
			  size_t count)
{
	size_t i, bad = 0;

	for (i = 0; i < count; i++) {
		const struct forgery *f = &list[i];
		struct run run = { f->name, f->solution, f->tests ? f->tests : tests, VERDICT_PASS,
				   NULL, false };

		if (run_verdict(lang, &run, NULL) != VERDICT_PASS)
			continue;
		print_error("%s: %s is taken for a pass\n", lang, f->name);
		bad++;
	}
	printf("%s: %zu forgeries\n", lang, count);
	assert_int_equal(bad, 0);
}

static const struct forgery python_forgeries[] = {
	{ "an equal to everything",
	  "class E:\n    def __eq__(self, o):\n        return True\n"
	  "def add(a, b):\n    return E()\n",
	  NULL },
	{ "one that tells a sentinel apart",
	  "class E:\n    def __eq__(self, o):\n"
	  "        return isinstance(o, int)\n    def __ne__(self, o):\n        return False\n"
	  "def add(a, b):\n    return E()\n",
	  NULL },
	{ "an int that is equal to every int",
	  "class E(int):\n    def __eq__(self, o):\n"
	  "        return True\n    __hash__ = int.__hash__\ndef add(a, b):\n    return E()\n",
	  NULL },
	{ "a class the tests cannot name",
	  "def add(a, b):\n    class E:\n"
	  "        def __eq__(self, o):\n            return True\n    return E()\n",
	  NULL },
	{ "a difference that is always nothing",
	  "class E:\n    def __sub__(self, o):\n"
	  "        return 0.0\ndef add(a, b):\n    return E()\n",
	  "assert abs(add(1, 2) - 3) < 1e-6\n" },
	{ "a container of everything",
	  "class E:\n    def __contains__(self, o):\n"
	  "        return True\ndef add(a, b):\n    return E()\n",
	  "assert 3 in add(1, 2)\n" },
	{ "its own abs", "def abs(x):\n    return 0\ndef add(a, b):\n    return 0\n",
	  "assert abs(add(1, 2) - 3) < 1e-6\n" },
	{ "its own math",
	  "class math:\n    @staticmethod\n    def isclose(a, b):\n"
	  "        return True\ndef add(a, b):\n    return 0\n",
	  "import math as m\n"
	  "assert math.isclose(add(1, 2), 3)\n" },
	{ "patched builtins",
	  "import builtins\nbuiltins.AssertionError = type('A', (), {})\n"
	  "builtins.all = lambda x: True\nbuiltins.abs = lambda x: 0\n"
	  "def add(a, b):\n    return 0\n",
	  "assert abs(add(1, 2) - 3) < 1e-6\nassert all([add(1, 2) == 3])\n" },
	{ "a tracer that mends results",
	  "import sys\ndef t(frame, event, arg):\n"
	  "    for k in list(frame.f_globals):\n        if k.endswith('broken') or "
	  "k.endswith('differ'):\n"
	  "            frame.f_globals[k] = lambda *a: None\n    return t\nsys.settrace(t)\n"
	  "def add(a, b):\n    return 0\n",
	  NULL },
	{ "the harness's functions, replaced",
	  "import sys\ndef add(a, b):\n    g = globals()\n"
	  "    for k in list(g):\n        if k.startswith('_') and k.endswith(('broken', "
	  "'differ')):\n"
	  "            g[k] = lambda *a: None\n    return 0\n",
	  NULL },
	{ "the state, found by gc",
	  "import gc\ndef add(a, b):\n    for o in gc.get_objects():\n"
	  "        if type(o) is dict and 'assertions' in o and 'failed' in o:\n"
	  "            class Z(dict):\n                pass\n"
	  "            for f in gc.get_referrers(o):\n                pass\n"
	  "            o['failed'] = -1\n    return 0\n",
	  NULL },
	{ "the expected values, found by frames",
	  "import sys\ndef add(a, b):\n"
	  "    f = sys._getframe()\n    while f:\n"
	  "        for c in f.f_code.co_consts:\n            if type(c) is int and c > a:\n        "
	  "        return c\n"
	  "        f = f.f_back\n    return 0\n",
	  "assert add(90000, 1) == 90001\n" },
	{ "the expected values, found by gc",
	  "import gc\ndef add(a, b):\n"
	  "    for o in gc.get_objects():\n        if type(o) is tuple:\n            for c in o:\n"
	  "                if type(c) is str and c.startswith('sum') and len(c) > 3:\n"
	  "                    return c\n    return 0\n",
	  "assert add('su', 'm') == 'sum of su and m'\n" },
	{ "a report of its own at exit",
	  "import atexit, os\ndef w():\n"
	  "    for n in os.listdir('/out'):\n        open('/out/' + n, 'w').write("
	  "'{\"assertions\":9,\"failed\":0}')\natexit.register(w)\ndef add(a, b):\n    return 0\n",
	  NULL },
	{ "a report by name",
	  "import sys, os\ndef add(a, b):\n    f = sys._getframe()\n"
	  "    while f:\n        for v in list(f.f_locals.values()):\n"
	  "            if type(v) is str and v.startswith('/out/'):\n"
	  "                open(v, 'w').write('{\"assertions\":9,\"failed\":0}' if 'json' in v "
	  "else 'l0:')\n"
	  "        f = f.f_back\n    os._exit(0)\n",
	  NULL },
	{ "every write of its own",
	  "import posix\nreal = posix.write\ndef w(fd, b):\n"
	  "    return real(fd, b.replace(b'\"failed\":1', b'\"failed\":0'))\nposix.write = w\n"
	  "def add(a, b):\n    return 0\n",
	  NULL },
	{ "compile of its own",
	  "import builtins\nreal = builtins.compile\n"
	  "def c(s, *a, **k):\n    return real(b'assert add(1, 2) == 0' if isinstance(s, bytes) "
	  "else s, *a, **k)\n"
	  "builtins.compile = c\ndef add(a, b):\n    return 0\n",
	  NULL },
	{ "unittest of its own",
	  "import unittest\nfor n in dir(unittest.TestCase):\n"
	  "    if n.startswith('assert'):\n        setattr(unittest.TestCase, n, lambda *a, **k: "
	  "None)\n"
	  "def add(a, b):\n    return 0\n",
	  "import unittest\nclass T(unittest.TestCase):\n"
	  "    def test(self):\n        self.assertEqual(add(1, 2), 3)\n" },
	{ "a child that waits for the report",
	  "import os, time\nif os.fork() == 0:\n"
	  "    os.setsid()\n    for i in range(3000):\n        for n in os.listdir('/out'):\n"
	  "            open('/out/' + n, 'w').write('{\"assertions\":9,\"failed\":0}')\n"
	  "        time.sleep(0.001)\n    os._exit(0)\ndef add(a, b):\n    return 0\n",
	  NULL },
	{ "equal to everything, of the library",
	  "from unittest.mock import ANY\n"
	  "ANY.__qualname__ = \"ANY\"\n"
	  "def add(a, b):\n"
	  "    return ANY\n",
	  "assert add(1, 2) == 3\n"
	  "assert add(3, 4) == 7\n" },
	{ "a class of the library whose objects are equal to everything",
	  "from unittest.mock import _ANY as add\n",
	  "assert add() == 3\n" },
	{ "a default that is equal to everything",
	  "import collections, sys, unittest.mock\n"
	  "def add(a, b):\n"
	  "    f = sys._getframe()\n"
	  "    while f and \"_REDUCED\" not in f.f_globals:\n"
	  "        f = f.f_back\n"
	  "    f.f_globals[\"_REDUCED\"][\"collections.defaultdict\"] = lambda v: (unittest.mock._ANY, {})\n"
	  "    return collections.defaultdict(unittest.mock._ANY)\n",
	  "assert add(1, 2)['sum'] == 3\n" },
	{ "a secret beside the calls",
	  "import collections, gc\n"
	  "def add(a, b):\n"
	  "    for o in gc.get_objects():\n"
	  "        if type(o).__name__ == \"_Recorder\" and type(o.calls) is list:\n"
	  "            o.calls = collections.deque(o.calls, a + b)\n"
	  "            return a + b\n"
	  "        if type(o) is collections.deque and o.maxlen and o.maxlen > a:\n"
	  "            return o.maxlen\n"
	  "    return 0\n",
	  "assert add(90000, 1) == 90001\n" },
};

static void test_python_forgeries(void **state)
{
	(void)state;
	run_forgeries("python", "assert add(1, 2) == 3\n", python_forgeries,
		      ARRAY_SIZE(python_forgeries));
}

#define JS_ADD "function add(a, b) { return a + b; }\n"
#define JS_WRONG "function add(a, b) { return a - b; }\n"

static const struct run javascript_runs[] = {
	{ "passes", JS_ADD, "console.assert(add(1, 2) === 3);\n", VERDICT_PASS, "1 assertion" },
	{ "fails, though node exits 0", JS_WRONG, "console.assert(add(1, 2) === 3, 'sum');\n",
	  VERDICT_FAIL, "sum" },
	{ "node's assert", JS_ADD, "require('assert').strictEqual(add(1, 2), 3);\n", VERDICT_PASS,
	  NULL },
	{ "node's assert fails", JS_WRONG,
	  "const assert = require('node:assert');\n"
	  "assert.equal(add(1, 2), 3);\n",
	  VERDICT_FAIL, "line 2 of the tests" },
	{ "no assertion", JS_ADD, "add(1, 2);\n", VERDICT_ERROR, "no assertion" },
	{ "an exception", JS_ADD, "console.assert(sub(1, 2) === 3);\n", VERDICT_FAIL, "sub" },
	{ "process.exit in the solution", JS_WRONG "process.exit(0);\n",
	  "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, NULL },
	{ "process.exit in a function", "function add() { process.exit(0); }\n",
	  "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, "did not finish" },
	{ "a forged report",
	  "require('fs').writeFileSync('/out/.assay-tests-0.json',"
	  "'{\"assertions\":9,\"failed\":0,\"failures\":[]}');\n",
	  "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, NULL },
	{ "promises are heard", JS_WRONG "const later = () => Promise.resolve(add(1, 2));\n",
	  "const assert = require('assert');\nlater().then((v) => assert.equal(v, 3));\n",
	  VERDICT_FAIL, NULL },
	{ "a stub of it", JS_ADD, "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, NULL, true },
	{ "tests that never call", JS_ADD, "console.assert(1 + 1 === 2);\n", VERDICT_PASS, NULL,
	  true },
};

static const struct run javascript_apart[] = {
	{ "a class", "class S {\n  constructor() { this.items = []; }\n"
	  "  push(x) { this.items.push(x); return this; }\n  get top() { return this.items[0]; }\n"
	  "  static of(...a) { const s = new S(); s.items = a; return s; }\n}\n",
	  "const s = new S();\ns.push(3);\nconsole.assert(s.top === 3);\n"
	  "console.assert(s.items.length === 1);\nconsole.assert(S.of(7, 8).top === 7);\n"
	  "s.items = [5];\nconsole.assert(s.top === 5);\n", VERDICT_PASS, "4 assertions" },
	{ "errors", "class Own extends Error {}\nfunction f(x) { if (x) throw new Own('no'); "
	  "throw new RangeError('far'); }\n", "const assert = require('assert');\n"
	  "assert.throws(() => f(1), Own);\nassert.throws(() => f(0), RangeError);\n"
	  "assert.throws(() => f(0), /far/);\n", VERDICT_PASS, "3 assertions" },
	{ "promises", "const later = async (x) => x + 1;\n", "const assert = require('assert');\n"
	  "later(1).then((v) => assert.equal(v, 2));\n", VERDICT_PASS, NULL },
	{ "an array that is changed", "const f = (a) => { a.sort(); };\n",
	  "const a = [2, 1];\nf(a);\nconsole.assert(a[0] === 1);\n", VERDICT_PASS, NULL },
	{ "values and iterators", "function* g(n) { for (let i = 0; i < n; i++) yield i; }\n"
	  "const f = () => new Map([[1, new Set([undefined, NaN, 2n])]]);\nconst N = 7;\n",
	  "const assert = require('assert');\nassert.deepStrictEqual([...g(3)], [0, 1, 2]);\n"
	  "assert.deepStrictEqual(f(), new Map([[1, new Set([undefined, NaN, 2n])]]));\n"
	  "console.assert(N === 7);\n", VERDICT_PASS, "3 assertions" },
	{ "a function that is returned", "const adder = (n) => (m) => n + m;\n",
	  "console.assert(adder(2)(3) === 5);\n", VERDICT_PASS, NULL },
	{ "a function of the tests cannot cross", "const f = (g) => g(1);\n",
	  "console.assert(f((x) => x + 1) === 2);\n", VERDICT_SKIPPED, "f is given a function" },
};

static const struct forgery javascript_forgeries[] = {
	{ "console.assert of its own", "console.assert = () => {};\nfunction add() {}\n", NULL },
	{ "console.assert, later", "function add() { console.assert = () => {}; }\n", NULL },
	{ "node's assert of its own",
	  "const a = require('assert');\nfor (const k of Object.keys(a)) "
	  "try { a[k] = () => {}; } catch (e) {}\nfunction add() {}\n",
	  "const assert = require('assert');\nassert.strictEqual(add(1, 2), 3);\n" },
	{ "a module loader of its own",
	  "const M = require('module');\nM._load = () => "
	  "new Proxy(() => {}, { get: () => () => {} });\nfunction add() {}\n",
	  "const assert = require('assert');\nassert.strictEqual(add(1, 2), 3);\n" },
	{ "JSON of its own", "JSON.stringify = () => 'same';\nfunction add() {}\n",
	  "console.assert(JSON.stringify(add(1, 2)) === JSON.stringify(3));\n" },
	{ "prototypes of its own",
	  "Array.prototype.every = () => true;\nObject.is = () => true;\n"
	  "Number.prototype.toString = () => '3';\nfunction add() { return 0; }\n",
	  "console.assert([add(1, 2)].every((x) => x === 3));\nconsole.assert(Object.is(add(1, 2), "
	  "3));\n"
	  "console.assert(add(1, 2).toString() === '3');\n" },
	{ "Math of its own", "Math.abs = () => 0;\nfunction add() { return 0; }\n",
	  "console.assert(Math.abs(add(1, 2) - 3) < 1e-6);\n" },
	{ "an object that includes everything",
	  "class E { includes() { return true; } "
	  "startsWith() { return true; } }\nfunction add() { return new E(); }\n",
	  "console.assert(add(1, 2).includes(3));\nconsole.assert(add(1, 2).startsWith('3'));\n" },
	{ "an exit code of its own",
	  "process.on('exit', () => { process.exitCode = 0; });\n"
	  "function add() {}\n",
	  NULL },
	{ "an exit that comes first",
	  "process.on('beforeExit', () => process.reallyExit(0));\n"
	  "function add() {}\n",
	  NULL },
	{ "every write of its own",
	  "const fs = require('fs'), real = fs.writeFileSync, open = fs.writeSync;\n"
	  "fs.writeFileSync = (p, t, o) => real(p, String(t).replace(/\"failed\":\\d+/, "
	  "'\"failed\":0'), o);\n"
	  "fs.openSync = new Proxy(fs.openSync, {});\nfunction add() {}\n",
	  NULL },
	{ "compiling of its own",
	  "const vm = require('vm'), real = vm.runInThisContext;\n"
	  "vm.runInThisContext = (t, o) => real(t.replace('=== 3', '!== 3'), o);\nfunction add() "
	  "{}\n",
	  NULL },
	{ "a report by listing",
	  "const fs = require('fs');\nsetTimeout(() => {}, 20);\n"
	  "process.on('exit', () => { for (const f of fs.readdirSync('/out')) "
	  "fs.writeFileSync('/out/' + f, "
	  "'{\"assertions\":9,\"failed\":0}'); });\nfunction add() {}\n",
	  NULL },
	{ "the expected values, from the stack",
	  "function add() { Error.prepareStackTrace = (e, s) => s;\n"
	  "  const f = new Error().stack.map((c) => c.getFunction && String(c.getFunction()));\n"
	  "  const m = /=== (\\d{5})/.exec(f.join()); return m ? +m[1] : 0; }\n",
	  "console.assert(add(90000, 1) === 90001);\n" },
	{ "the expected values, from arguments.callee",
	  "function add() { const c = add.caller;\n"
	  "  const m = /=== (\\d{5})/.exec(String(c)); return m ? +m[1] : 0; }\n",
	  "console.assert(add(90000, 1) === 90001);\n" },
	{ "expected values beside the calls",
	  "const push = Array.prototype.push, parse = JSON.parse;\n"
	  "const includes = String.prototype.includes;\n"
	  "let text = null, secret = null, n = 0, want = null;\n"
	  "String.prototype.includes = function (x) {\n"
	  "  const s = String(this);\n"
	  "  if (s.indexOf('add(2') >= 0) text = s;\n"
	  "  return includes.call(this, x);\n"
	  "};\n"
	  "Array.prototype.push = function (...a) {\n"
	  "  const self = this;\n"
	  "  if (typeof a[0] === 'string' && a[0].startsWith('[\"call\"') && !this.toJSON)\n"
	  "    Object.defineProperty(this, 'toJSON', { value: () =>\n"
	  "      Object.assign({}, self, { length: self.length, z: want }) });\n"
	  "  return push.apply(this, a);\n"
	  "};\n"
	  "JSON.parse = (t) => {\n"
	  "  const v = parse.call(JSON, t);\n"
	  "  if (v && v.z) { secret = v.z; return Array.from(v); }\n"
	  "  return v;\n"
	  "};\n"
	  "function add(a, b) {\n"
	  "  if (text) want = [...text.matchAll(/\\), (\\d+)/g)].map((m) => +m[1]);\n"
	  "  return text ? want[n++] : secret ? secret[n++] : 0;\n"
	  "}\n",
	  "const assert = require('assert');\n"
	  "assert.strictEqual(add(2, 2), 4);\n"
	  "assert.strictEqual(add(3, 6), 9);\n" },
	{ "an object in the place of the calls",
	  "const fs = require('fs'), parse = JSON.parse, leave = process.reallyExit;\n"
	  "let secret = 0, beside = false;\n"
	  "process.reallyExit = (code) => {\n"
	  "  for (const f of fs.readdirSync('/out').filter((n) => beside && n.includes('data'))) {\n"
	  "    const calls = Object.assign({}, parse(fs.readFileSync('/out/' + f, 'utf8')));\n"
	  "    fs.writeFileSync('/out/' + f, JSON.stringify({ ...calls, length: 1, z: secret }));\n"
	  "  }\n"
	  "  leave.call(process, code);\n"
	  "};\n"
	  "JSON.parse = (t) => {\n"
	  "  const v = parse(t);\n"
	  "  if (v && v.z) { secret = v.z; return Array.from(v); }\n"
	  "  return v;\n"
	  "};\n"
	  "function add(a, b) {\n"
	  "  beside = !secret;\n"
	  "  return secret = secret || a + b;\n"
	  "}\n",
	  "console.assert(add(90000, 1) === 90001);\n" },
};

static bool has_javascript(void)
{
	struct sandbox_environment environment;
	struct error err = ERROR_INIT;

	return !sandbox_describe(sandbox, language_find("javascript"), &environment, &err) &&
	       environment.interpreter;
}

static void test_javascript(void **state)
{
	(void)state;
	if (!has_javascript()) {
		printf("skipped: node is not installed\n");
		skip();
	}
	run_all("javascript", javascript_runs, ARRAY_SIZE(javascript_runs));
	run_all("javascript", javascript_apart, ARRAY_SIZE(javascript_apart));
	run_forgeries("javascript", "console.assert(add(1, 2) === 3);\n", javascript_forgeries,
		      ARRAY_SIZE(javascript_forgeries));
}

#define SH_ADD "add() { echo $(($1 + $2)); }\n"
#define SH_WRONG "add() { echo $(($1 - $2)); }\n"

static const struct run bash_runs[] = {
	{ "passes", SH_ADD, "[ \"$(add 1 2)\" = 3 ]\n", VERDICT_PASS, "1 assertion" },
	{ "fails", SH_WRONG, "[ \"$(add 1 2)\" = 3 ]\n", VERDICT_FAIL, "line 1" },
	{ "assert_equal", SH_ADD, "assert_equal \"$(add 1 2)\" 3\n", VERDICT_PASS, NULL },
	{ "assert_equal fails", SH_WRONG, "assert_equal \"$(add 1 2)\" 3\n", VERDICT_FAIL,
	  "is '-1', should be '3'" },
	{ "no assertion", SH_ADD, "add 1 2\n", VERDICT_ERROR, "no assertion" },
	{ "exit in the solution", SH_WRONG "exit 0\n", "[ \"$(add 1 2)\" = 3 ]\n", VERDICT_FAIL,
	  "did not finish" },
	{ "exit in a function", "add() { exit 0; }\n", "add 1 2\n[ 1 = 1 ]\n", VERDICT_FAIL, NULL },
	{ "a trap that leaves", SH_WRONG "trap 'exit 0' EXIT\n", "[ \"$(add 1 2)\" = 3 ]\n",
	  VERDICT_FAIL, NULL },
	{ "a forged report", "echo '{\"assertions\":9,\"failed\":0,\"failures\":[]}' "
	  ">/out/.assay-tests-0.json\nexit 0\n", "[ 1 = 2 ]\n", VERDICT_FAIL, "did not finish" },
	{ "a stub of it", SH_ADD, "[ \"$(add 1 2)\" = 3 ]\n", VERDICT_FAIL, NULL, true },
	{ "tests that never call", SH_ADD, "[ 1 = 1 ]\n", VERDICT_PASS, NULL, true },
};

static const struct run bash_apart[] = {
	{ "variables and state", "count=0\nsum=$((1 + 2))\ninc() { count=$((count + 1)); }\n",
	  "inc\ninc\n[ \"$count\" = 2 ]\n[ \"$sum\" = 3 ]\n", VERDICT_PASS, "2 assertions" },
	{ "standard input", "up() { tr a-z A-Z; }\n",
	  "[ \"$(echo abc | up)\" = ABC ]\n"
	  "[ \"$(up <<<def)\" = DEF ]\n",
	  VERDICT_PASS, NULL },
	{ "an exit status", "even() { return $(($1 % 2)); }\n",
	  "assert even 4\nif even 3; then exit 1; fi\n"
	  "[[ $(even 3; echo $?) == 1 ]]\n",
	  VERDICT_PASS, "2 assertions" },
	{ "words with blanks and lines", "say() { printf '%s|' \"$@\"; }\n",
	  "[ \"$(say 'a b' $'c\\nd' '')\" = $'a b|c\\nd||' ]\n", VERDICT_PASS, NULL },
	{ "functions that call each other",
	  "a() { b \"$1\"; }\nb() { name=$1; echo \"<$name>\"; }\n", "[ \"$(a x)\" = '<x>' ]\n",
	  VERDICT_PASS, NULL },
};

static const struct forgery bash_forgeries[] = {
	{ "its own [", "[() { return 0; }\nadd() { :; }\n", NULL },
	{ "its own test", "test() { return 0; }\nadd() { :; }\n", "test \"$(add 1 2)\" = 3\n" },
	{ "its own assert_equal", "assert_equal() { _assay_count=9; }\nadd() { :; }\n",
	  "assert_equal \"$(add 1 2)\" 3\n" },
	{ "its own assert, later", "add() { eval 'assert_equal() { _assay_count=9; }'; }\n",
	  "add 1 2\nassert_equal \"$(add 1 2)\" 3\n" },
	{ "an alias", "shopt -s expand_aliases\nalias [='true ['\nadd() { :; }\n", NULL },
	{ "no builtin [", "enable -n [\nadd() { :; }\n", "[[ $(add 1 2) == 3 ]]\n" },
	{ "a trap of its own", "trap() { :; }\nadd() { :; }\n", NULL },
	{ "a trap that counts", "add() { trap '_assay_failed=0' DEBUG; }\n",
	  "add 1 2\n[ \"$(add 1 2)\" = 3 ]\n" },
	{ "its own end", "add() { _assay_fail() { :; }; }\n", "add 1 2\n[ \"$(add 1 2)\" = 3 ]\n" },
	{ "a report of its own",
	  "add() { printf '{\"assertions\":9,\"failed\":0}' >\"$_assay_report\"; exit 0; }\n",
	  "add 1 2\n" },
	{ "a process that waits for the report",
	  "(while :; do for f in /out/.assay-t*; do "
	  "printf '{\"assertions\":9,\"failed\":0}' >\"$f\"; done; sleep 0.01; done) &\nadd() { :; "
	  "}\n",
	  NULL },
	{ "the expected value, from the tests",
	  "add() { [[ $_assay_text =~ =\\ ([0-9]{5}) ]]; echo \"${BASH_REMATCH[1]}\"; }\n",
	  "[ \"$(add 90000 1)\" = 90001 ]\n" },
	{ "words that answer an unquoted test", "add() { echo '1 = 1 -o 1'; }\n",
	  "[ $(add 1 2) = 3 ]\n" },
	{ "a sum that assigns", "add() { echo '_assay_failed=0,1'; }\n", "(( $(add 1 2) ))\n" },
	{ "a number that runs a command", "add() { echo 'x[$(kill -9 $$)]'; }\n",
	  "[[ $(add 1 2) -eq 3 ]]\n" },
	{ "its own grep", "grep() { return 0; }\nadd() { echo; }\n",
	  "add 1 2 | grep -q 3\n[ $? = 0 ]\n" },
	{ "a variable the shell reads", "IFS=3\nPATH=/tmp\nadd() { :; }\n", NULL },
	{ "expected values behind a NUL",
	  "add() {\n"
	  "  local n want\n"
	  "  if [ -n \"$_assay_text\" ]; then\n"
	  "    n=$(wc -l <\"$_assay_tmp/calls\")\n"
	  "    want=$(printf %s \"$_assay_text\" | grep '^\\[ ' | sed -n \"${n}p\")\n"
	  "    want=$(sed 's/.*= \\([0-9]*\\).*/\\1/' <<<\"$want\")\n"
	  "    truncate -s -1 \"$_assay_tmp/calls\"\n"
	  "    head -c 1 /dev/zero >>\"$_assay_tmp/calls\"\n"
	  "    echo \"@$want\" >>\"$_assay_tmp/calls\"\n"
	  "    echo \"$want\"\n"
	  "  else\n"
	  "    n=$(($(wc -l <\"$_assay_tmp/answers\") - 1))\n"
	  "    tr '\\0' '#' <\"$_assay_dir/assay_calls\" | sed -n \"${n}p\" | sed 's/.*@//'\n"
	  "  fi\n"
	  "}\n",
	  "out=$(add 2 2)\n"
	  "[ \"$out\" = 4 ]\n"
	  "out=$(add 3 6)\n"
	  "[ \"$out\" = 9 ]\n" },
};

static void test_bash(void **state)
{
	(void)state;
	run_all("bash", bash_runs, ARRAY_SIZE(bash_runs));
	run_all("bash", bash_apart, ARRAY_SIZE(bash_apart));
	run_forgeries("bash", "[ \"$(add 1 2)\" = 3 ]\n", bash_forgeries,
		      ARRAY_SIZE(bash_forgeries));
}

int main(void)
{
	const struct CMUnitTest harness[] = {
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_python_forgeries),
		cmocka_unit_test(test_javascript),
		cmocka_unit_test(test_bash),
	};

	return cmocka_run_group_tests(harness, open_sandbox, close_sandbox);
}
