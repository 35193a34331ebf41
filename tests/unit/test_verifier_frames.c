/* What a python program may write to its judge instead of what its driver would:
 * each ends in a failure or stays open, never in a pass. Only the pair is run, so
 * that the judge's own word is seen. */
#include "test_verifier_run.h"

/* Finds the two pipes, reads the judge's first question, which is for names, and
 * gives the answers one after the other, the last one for ever. */
#define DRIVER                                                                          \
	"import fcntl, json, os, stat\n"                                                \
	"for fd in range(3, 300):\n"                                                    \
	"    try:\n"                                                                    \
	"        if stat.S_ISFIFO(os.fstat(fd).st_mode):\n"                             \
	"            if fcntl.fcntl(fd, fcntl.F_GETFL) & 1: W = fd\n"                   \
	"            else: R = fd\n"                                                    \
	"    except OSError:\n        pass\n"                                           \
	"rest = b''\n"                                                                  \
	"def line():\n"                                                                 \
	"    global rest\n"                                                             \
	"    while b'\\n' not in rest:\n"                                               \
	"        part = os.read(R, 1 << 16)\n"                                          \
	"        if not part: os._exit(0)\n"                                            \
	"        rest += part\n"                                                        \
	"    one, _, rest = rest.partition(b'\\n')\n"                                   \
	"    return one\n"                                                              \
	"def tell(text):\n"                                                             \
	"    data = text.encode('utf-8', 'surrogateescape') + b'\\n'\n"                 \
	"    try:\n"                                                                    \
	"        while data: data = data[os.write(W, data):]\n"                         \
	"    except OSError:\n        os._exit(0)\n"                                    \
	"def answer(v): return '[\"r\",' + str(v) + ',null,null]'\n"                    \
	"def own(n): return '[\"own\",{\"F\":[' + str(n) + ',\"f\",false]}]'\n"         \
	"def serve(names, *answers):\n"                                                 \
	"    words = json.loads(line().partition(b'\\t')[2])[0][0]\n"                   \
	"    tell(answer('[' + ','.join(names.get(w, 'null') for w in words) + ']'))\n" \
	"    for i in range(1 << 30):\n"                                                \
	"        line()\n"                                                              \
	"        tell(answers[min(i, len(answers) - 1)])\n"

#define FACTS		      "assert fact(5) == 120\nassert fact(0) == 1\n"
#define UNREADABLE	      "the program's answer cannot be read"
#define SERVE(names, answers) DRIVER "serve({" names "}, " answers ")\n"
#define GIVES(answers)	      SERVE("'fact': own(0)", answers)

static const struct run frames[] = {
	{ "a driver that answers right", GIVES("answer(120), answer(1)"), FACTS, VERDICT_PASS,
	  "2 assertions" },
	{ "one that knows nothing", GIVES("answer(0)"), FACTS, VERDICT_FAIL, "left is 0" },
	{ "an equality of its own",
	  GIVES("answer('{\"H\":[5,{\"C\":[4,\"E\",[],[\"__eq__\"],[],null]},null]}'), "
		"answer('true')"),
	  "assert fact(5) == 120\n", VERDICT_SKIPPED, "E.__eq__" },
	{ "a plain value that is none",
	  GIVES("answer('{\"H\":[5,{\"C\":[4,\"E\",[],[],[],\"int\"]},null]}'), answer('true')"),
	  "assert fact(5) == 120\n", VERDICT_FAIL, NULL },
	{ "a plain class that is none",
	  GIVES("answer('{\"H\":[5,{\"C\":[4,\"E\",[],[],[],\"object\"]},null]}')"), FACTS,
	  VERDICT_FAIL, UNREADABLE },
	{ "an end in the place of an answer", GIVES("'[\"n\",null,null,null]'"),
	  "assert all(map(lambda p: fact(p[0]) == p[1], [(0, 1), (5, 120)]))\n", VERDICT_FAIL,
	  UNREADABLE },
	{ "an error that nobody raised", GIVES("'[\"a\",0,null,null]'"), FACTS, VERDICT_FAIL,
	  UNREADABLE },
	{ "a call of what nobody gave", GIVES("'[\"k\",[\"call\",0,null],[[],{\"d\":[]}],null]'"),
	  FACTS, VERDICT_FAIL, UNREADABLE },
	{ "a function of the tests, asked for more than a call",
	  GIVES("'[\"k\",[\"get\",0,\"__globals__\"],[[],{\"d\":[]}],null]'"),
	  "assert fact(lambda: 120) == 120\n", VERDICT_FAIL, UNREADABLE },
	{ "a generator of the tests, asked for its frame",
	  GIVES("'[\"k\",[\"get\",0,\"gi_frame\"],[[],{\"d\":[]}],null]'"),
	  "assert fact(x for x in [120]) == 120\n", VERDICT_FAIL, UNREADABLE },
	{ "an object of the tests, asked for what is behind it",
	  GIVES("'[\"k\",[\"get\",0,\"__dict__\"],[[],{\"d\":[]}],null]', answer(0)"),
	  "class A:\n    want = 120\nassert fact(A()) == 120\n", VERDICT_FAIL, "left is 0" },
	{ "what the tests gave in the place of an answer", GIVES("answer('{\"m\":0}')"),
	  "assert fact([5]) == 120\n", VERDICT_FAIL, "left is [5]" },
	{ "what the tests did not give", GIVES("answer('{\"m\":1}')"), "assert fact([5]) == 120\n",
	  VERDICT_FAIL, UNREADABLE },
	{ "a function for which the judge takes the library's",
	  SERVE("'factorial': '[\"library\",\"math\",\"factorial\",{\"F\":[0,\"f\",false]}]'",
		"answer(0)"),
	  "assert factorial(5) == 120\n", VERDICT_FAIL, "left is 0" },
	{ "the same beside another",
	  SERVE("'factorial': '[\"library\",\"math\",\"factorial\",'"
		"'{\"F\":[0,\"f\",false]}]',"
		"'two': own(1)",
		"answer(0), answer(2)"),
	  "assert factorial(5) == 120\nassert two() == 2\n", VERDICT_SKIPPED, "not the library's" },
	{ "a class for which the judge takes the library's",
	  SERVE("'Fraction': '[\"library\",\"fractions\",\"Fraction\",{\"F\":[0,\"f\",false]}]',"
		"'two': own(1)",
		"answer(0), answer(2)"),
	  "assert Fraction(1, 2) + Fraction(1, 2) == 1\nassert two() == 2\n", VERDICT_SKIPPED,
	  "not the library's" },
	{ "a built-in, under test, that it says it has not", SERVE("", "answer(0)"),
	  "assert sum([1, 2]) == 3\n", VERDICT_SKIPPED, "ask nothing of the program" },
	{ "a built-in where all else is hidden", SERVE("'abs': own(0)", "answer(0)"),
	  "assert abs(area(2) - 12.566) < 1e-3\n", VERDICT_FAIL, "NameError" },
	{ "a tool of the tests said to be a variable",
	  SERVE("'isclose': '[\"value\",null]', 'area': own(1)",
		"answer('{\"F\":[2,\"f\",false]}'), answer(0), answer('true')"),
	  "assert isclose(area(2), 12.566)\n", VERDICT_SKIPPED, "isclose" },
	{ "a function that runs words", GIVES("answer('{\"T\":\"eval\"}')"),
	  "assert fact(5)('120') == 120\n", VERDICT_FAIL, UNREADABLE },
	{ "the same by its place", GIVES("answer('{\"p\":[0,\"builtins\",\"eval\"]}')"),
	  "assert fact(5)('120') == 120\n", VERDICT_FAIL, UNREADABLE },
	{ "a call into the library", GIVES("answer('{\"L\":[\"os.system\",\"true\"]}')"),
	  "assert fact(5) == 0\n", VERDICT_FAIL, UNREADABLE },
	{ "an error that skips a test",
	  GIVES("'[\"e\",{\"X\":[\"unittest.case\",\"SkipTest\",\"Exception\",[],{\"d\":[]},"
		"\"\",null]},null,null]'"),
	  "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
	  "        self.assertEqual(fact(5), 120)\n    def test_b(self):\n"
	  "        self.assertEqual(1, 1)\n",
	  VERDICT_FAIL, "SkipTest" },
	{ "an error that leaves",
	  GIVES("'[\"e\",{\"X\":[\"builtins\",\"SystemExit\",\"SystemExit\",[0],{\"d\":[]},"
		"\"\",null]},null,null]'"),
	  FACTS, VERDICT_FAIL, "SystemExit" },
	{ "an error with attributes of the judge's",
	  GIVES("'[\"e\",{\"X\":[\"builtins\",\"ValueError\",\"ValueError\",[],{\"d\":["
		"\"__class__\",0,\"with_traceback\",0,\"args\",0]},\"\",null]},null,null]'"),
	  "try:\n    x = fact(5)\nexcept ValueError as e:\n    x = e.args\nassert x == 0\n",
	  VERDICT_FAIL, "left is ()" },
	{ "an error that is none", GIVES("'[\"e\",120,null,null]'"), FACTS, VERDICT_FAIL,
	  UNREADABLE },
};

/* Lines that are no answer at all, as an expression of python. */
static const char *const garbage[] = {
	"'[' * 100000",
	"'[' * 50000 + ']' * 50000",
	"answer('9' * 3000000)",
	"answer('{\"i\":' + '9' * 3000000 + '}')",
	"answer('1e999999')",
	"answer('{\"i\":\"' + '9' * 100 + 'g\"}')",
	"answer('NaN')",
	"answer('-Infinity')",
	"answer('{\"n\":\"1e999\"}')",
	"answer('{\"i\":\"1\",\"i\":\"78\"}')",
	"answer('[' * 2000 + ']' * 2000)",
	"answer('{\"zz\":1}')",
	"answer('{}')",
	"'x' * (6 << 20)",
	"'\\udcff'",
	"''",
	"'[\"r\"]'",
	"'[\"r\",120,null,null,1]'",
	"'[\"z\",120,null,null]'",
	"'[\"\",120,null,null]'",
	"'[\"re\",120,null,null]'",
	"'[1,120,null,null]'",
	"answer('{\"h\":99}')",
	"answer('{\"h\":\"0\"}')",
	"answer('{\"h\":-1}')",
	"answer('{\"h\":true}')",
	"answer('{\"k\":0}')",
	"'[\"r\",120,[[7,[1]]],null]'",
	"'[\"r\",120,5,null]'",
	"'[\"r\",120,null,5]'",
	"answer('{\"d\":[1]}')",
	"answer('{\"d\":[[],1]}')",
	"answer('{\"s\":[[1]]}')",
	"answer('{\"t\":1}')",
	"answer('{\"l\":[1,2,3,4]}')",
	"answer('{\"r\":[\"a\"]}')",
	"answer('{\"r\":[1,2,0]}')",
	"answer('{\"b\":\"\\\\u0100\"}')",
	"answer('{\"N\":[\"a b\",[\"x\"],[1]]}')",
	"answer('{\"N\":[\"P\",[\"x=__import__(1)\"],[1]]}')",
	"answer('{\"N\":[\"P\",[\"x\"],[]]}')",
	"answer('{\"L\":[\"datetime.date\",0,0,0]}')",
	"answer('{\"L\":[\"fractions.Fraction\",1,0]}')",
	"answer('{\"L\":[\"collections.deque\",9]}')",
	"answer('{\"L\":[\"collections.defaultdict\",\"eval\",{\"d\":[]}]}')",
	"answer('{\"y\":[\"O\",null,\"\"]}')",
	"answer('{\"C\":[4,\"E\",[3],[],[],null]}')",
	"answer('{\"C\":[4,\"E\\\\u0000\",[],[],[],null]}')",
	"answer('{\"C\":[0,\"E\",[],[],[],null]}')",
	"answer('{\"H\":[4,{\"h\":0},null]}')",
	"answer('{\"H\":[4,{\"T\":\"int\"},null]}')",
	"answer('{\"G\":\"1\"}')",
	"answer('{\"D\":[4,5,6,7]}')",
	"answer('120') + ']'",
	"' ' + '[' + answer(1)[1:] + ' 1'",
	"'[\"r\",120,null,null'",
	"'\\0'",
};

static bool run_frames(const struct run *run)
{
	struct sandbox_result x[2] = { { .exit_code = -1 }, { .exit_code = -1 } };
	struct check_result c = { .kind = NULL };

	run_pair("python", run, x, &c);
	bool good = c.verdict == run->verdict && (!run->says || strstr(c.detail, run->says)) &&
		    x[1].outcome == SANDBOX_EXIT;
	if (!good)
		print_error("%s: %s (judge: %s), %s\n", run->name, verdict_name(c.verdict),
			    sandbox_outcome_name(x[1].outcome), c.detail);
	check_result_release(&c);
	sandbox_result_release(&x[0]);
	sandbox_result_release(&x[1]);
	return good;
}

static void test_frames(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		bad += !run_frames(&frames[i]);
	printf("%zu programs with answers of their own\n", ARRAY_SIZE(frames));
	assert_int_equal(bad, 0);
}

static void test_garbage(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		cleanup_free char *solution =
			mem_printf("%sserve({'fact': own(0)}, %s)\n", DRIVER, garbage[i]);
		struct run run = { garbage[i], solution, FACTS, VERDICT_FAIL, UNREADABLE, false };

		bad += !run_frames(&run);
	}
	printf("%zu lines that are no answers\n", ARRAY_SIZE(garbage));
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
