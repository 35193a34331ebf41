/*
 * Tests run with a solution, in the real sandbox: what counts as a pass. What a solution does to
 * forge one is test_verifier_forgery.c's.
 */
#include "test_verifier_run.h"

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
	size_t bad = 0;

	for (size_t i = 0; i < count; i++)
		bad += !run_one(lang, &runs[i]);
	printf("%s: %zu runs\n", lang, count);
	assert_int_equal(bad, 0);
}

#define ADD   "def add(a, b):\n    return a + b\n"
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
	{ "a function of the tests", "def f(g):\n    return g(1)\n",
	  "assert f(lambda x: x + 1) == 2\n", VERDICT_PASS, NULL },
	{ "what cannot cross", "def f(m):\n    return m.pi > 3\n", "import math\nassert f(math)\n",
	  VERDICT_SKIPPED, "f is given a module" },
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
	  VERDICT_PASS, NULL },
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

#define JS_ADD	 "function add(a, b) { return a + b; }\n"
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
	{ "a class",
	  "class S {\n  constructor() { this.items = []; }\n"
	  "  push(x) { this.items.push(x); return this; }\n  get top() { return this.items[0]; }\n"
	  "  static of(...a) { const s = new S(); s.items = a; return s; }\n}\n",
	  "const s = new S();\ns.push(3);\nconsole.assert(s.top === 3);\n"
	  "console.assert(s.items.length === 1);\nconsole.assert(S.of(7, 8).top === 7);\n"
	  "s.items = [5];\nconsole.assert(s.top === 5);\n",
	  VERDICT_PASS, "4 assertions" },
	{ "errors",
	  "class Own extends Error {}\nfunction f(x) { if (x) throw new Own('no'); "
	  "throw new RangeError('far'); }\n",
	  "const assert = require('assert');\n"
	  "assert.throws(() => f(1), Own);\nassert.throws(() => f(0), RangeError);\n"
	  "assert.throws(() => f(0), /far/);\n",
	  VERDICT_PASS, "3 assertions" },
	{ "promises", "const later = async (x) => x + 1;\n",
	  "const assert = require('assert');\n"
	  "later(1).then((v) => assert.equal(v, 2));\n",
	  VERDICT_PASS, NULL },
	{ "an array that is changed", "const f = (a) => { a.sort(); };\n",
	  "const a = [2, 1];\nf(a);\nconsole.assert(a[0] === 1);\n", VERDICT_PASS, NULL },
	{ "values and iterators",
	  "function* g(n) { for (let i = 0; i < n; i++) yield i; }\n"
	  "const f = () => new Map([[1, new Set([undefined, NaN, 2n])]]);\nconst N = 7;\n",
	  "const assert = require('assert');\nassert.deepStrictEqual([...g(3)], [0, 1, 2]);\n"
	  "assert.deepStrictEqual(f(), new Map([[1, new Set([undefined, NaN, 2n])]]));\n"
	  "console.assert(N === 7);\n",
	  VERDICT_PASS, "3 assertions" },
	{ "a function that is returned", "const adder = (n) => (m) => n + m;\n",
	  "console.assert(adder(2)(3) === 5);\n", VERDICT_PASS, NULL },
	{ "a function of the tests is called where it is", "const f = (g) => g(1);\n",
	  "console.assert(f((x) => x + 1) === 2);\n", VERDICT_PASS, NULL },
};

static void test_javascript(void **state)
{
	(void)state;
	if (!has_interpreter("javascript")) {
		printf("skipped: node is not installed\n");
		skip();
	}
	run_all("javascript", javascript_runs, ARRAY_SIZE(javascript_runs));
	run_all("javascript", javascript_apart, ARRAY_SIZE(javascript_apart));
}

#define SH_ADD	 "add() { echo $(($1 + $2)); }\n"
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
	{ "a forged report",
	  "echo '{\"assertions\":9,\"failed\":0,\"failures\":[]}' "
	  ">/out/.assay-tests-0.json\nexit 0\n",
	  "[ 1 = 2 ]\n", VERDICT_FAIL, "did not finish" },
	{ "a stub of it", SH_ADD, "[ \"$(add 1 2)\" = 3 ]\n", VERDICT_FAIL, NULL, true },
	{ "tests that never call", SH_ADD, "[ 1 = 1 ]\n", VERDICT_PASS, NULL, true },
};

static const struct run bash_apart[] = {
	{ "variables and state", "count=0\nsum=$((1 + 2))\ninc() { count=$((count + 1)); }\n",
	  "inc\ninc\n[ \"$count\" = 2 ]\n[ \"$sum\" = 3 ]\n", VERDICT_PASS, "2 assertions" },
	{ "variables of any name",
	  "status=0\nset_all() { status=$1 input=$2 line=$3 name=$4 words=$5; }\n",
	  "set_all 5 a b c d\n[ \"$status $input $line $name $words\" = '5 a b c d' ]\n",
	  VERDICT_PASS, NULL },
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

static void test_bash(void **state)
{
	(void)state;
	run_all("bash", bash_runs, ARRAY_SIZE(bash_runs));
	run_all("bash", bash_apart, ARRAY_SIZE(bash_apart));
}

int main(void)
{
	const struct CMUnitTest harness[] = {
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_javascript),
		cmocka_unit_test(test_bash),
	};

	return cmocka_run_group_tests(harness, open_sandbox, close_sandbox);
}
