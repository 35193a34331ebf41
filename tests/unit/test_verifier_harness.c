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

static bool run_one(const char *lang, const struct run *run)
{
	const struct language *language = language_find(lang);
	struct sandbox_job job = { .language = language, .code = run->solution,
				   .code_len = strlen(run->solution) };
	struct sandbox_watch watch = { .cancel_fd = -1 };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct tests harness = { .stub = run->stub };
	struct check_result c = { .kind = NULL };
	struct error err = ERROR_INIT;
	bool good;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = 4000;
	if (tests_prepare(&harness, language, run->tests, strlen(run->tests), &job, &err) < 0 ||
	    sandbox_run(sandbox, &job, &watch, &x, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	tests_judge(&harness, &x, CHECK_TESTS, &c);
	good = c.verdict == run->verdict && (!run->says || strstr(c.detail, run->says));
	if (!good)
		print_error("%s %s: %s, %s\n%.*s", lang, run->name, verdict_name(c.verdict), c.detail,
			    (int)x.err.len, x.err.bytes);
	/* The report is the harness's business: no artifact of the user's. */
	good = good && (!x.artifact_count || strstr(run->name, "forge"));
	check_result_release(&c);
	tests_release(&harness);
	return good;
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
	{ "those that held, too", WRONG, "assert add(1, 2) == 3\nassert add(2, 0) == 2\n", VERDICT_FAIL,
	  "Those in these lines held: 2." },
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
	  "        self.assertEqual(add(1, 2), 3)\n", VERDICT_PASS, NULL },
	{ "failing unittest", WRONG,
	  "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
	  "        self.assertEqual(add(1, 2), 3)\n", VERDICT_FAIL, "-1 != 3" },
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
	{ "a forged report", WRONG
	  "import os\nopen('/out/.assay-tests-0.json', 'w').write("
	  "'{\"assertions\":9,\"failed\":0,\"failures\":[]}')\nos._exit(0)\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, "did not finish" },
	{ "forged words", WRONG "print('{\"assertions\":9,\"failed\":0,\"failures\":[]}')\n",
	  "assert add(1, 2) == 3\n", VERDICT_FAIL, NULL },
	{ "equal to everything", "class E:\n    def __eq__(self, o): return True\n"
	  "def add(a, b): return E()\n", "assert add(1, 2) == 3\n", VERDICT_PASS, NULL },
	{ "an endless solution", "while True: pass\n", "assert 1 == 1\n", VERDICT_FAIL, "timeout" },
	{ "a stub of it", ADD, "assert add(1, 2) == 3\n", VERDICT_FAIL, "left is None", true },
	{ "tests that only look", ADD, "assert callable(add)\n", VERDICT_PASS, NULL, true },
	{ "tests that never call", ADD, "assert 1 + 1 == 2\n", VERDICT_PASS, NULL, true },
	{ "a stub of a class", "class A:\n    def __init__(self, x):\n        self.x = x\n"
	  "    def f(self):\n        return self.x\n", "assert A(1).f() == 1\n", VERDICT_FAIL,
	  "left is None", true },
	{ "a stub of a lambda", "add = lambda a, b: a + b\n", "assert add(1, 2) == 3\n", VERDICT_FAIL,
	  "left is None", true },
	{ "a stub runs nothing", "import sys\ndef main():\n    sys.exit(3)\nmain()\n",
	  "assert main() is None\n", VERDICT_PASS, NULL, true },
};

static void test_python(void **state)
{
	(void)state;
	run_all("python", python_runs, ARRAY_SIZE(python_runs));
}

#define JS_ADD "function add(a, b) { return a + b; }\n"
#define JS_WRONG "function add(a, b) { return a - b; }\n"

static const struct run javascript_runs[] = {
	{ "passes", JS_ADD, "console.assert(add(1, 2) === 3);\n", VERDICT_PASS, "1 assertion" },
	{ "fails, though node exits 0", JS_WRONG, "console.assert(add(1, 2) === 3, 'sum');\n",
	  VERDICT_FAIL, "sum" },
	{ "node's assert", JS_ADD, "require('assert').strictEqual(add(1, 2), 3);\n", VERDICT_PASS,
	  NULL },
	{ "node's assert fails", JS_WRONG, "const assert = require('node:assert');\n"
	  "assert.equal(add(1, 2), 3);\n", VERDICT_FAIL, "line 2 of the tests" },
	{ "no assertion", JS_ADD, "add(1, 2);\n", VERDICT_ERROR, "no assertion" },
	{ "an exception", JS_ADD, "console.assert(sub(1, 2) === 3);\n", VERDICT_FAIL, "sub" },
	{ "process.exit in the solution", JS_WRONG "process.exit(0);\n",
	  "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, NULL },
	{ "process.exit in a function", "function add() { process.exit(0); }\n",
	  "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, "did not finish" },
	{ "a forged report", "require('fs').writeFileSync('/out/.assay-tests-0.json',"
	  "'{\"assertions\":9,\"failed\":0,\"failures\":[]}');\n", "console.assert(add(1, 2) === 3);\n",
	  VERDICT_FAIL, NULL },
	{ "promises are heard", JS_WRONG "const later = () => Promise.resolve(add(1, 2));\n",
	  "const assert = require('assert');\nlater().then((v) => assert.equal(v, 3));\n",
	  VERDICT_FAIL, NULL },
	{ "a stub of it", JS_ADD, "console.assert(add(1, 2) === 3);\n", VERDICT_FAIL, NULL, true },
	{ "tests that never call", JS_ADD, "console.assert(1 + 1 === 2);\n", VERDICT_PASS, NULL, true },
};

static void test_javascript(void **state)
{
	struct sandbox_environment environment;
	struct error err = ERROR_INIT;

	(void)state;
	if (sandbox_describe(sandbox, language_find("javascript"), &environment, &err) < 0 ||
	    !environment.interpreter) {
		printf("skipped: node is not installed\n");
		skip();
	}
	run_all("javascript", javascript_runs, ARRAY_SIZE(javascript_runs));
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

static void test_bash(void **state)
{
	(void)state;
	run_all("bash", bash_runs, ARRAY_SIZE(bash_runs));
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
