/* Cells of a context: one namespace over several runs, in the real sandbox. What their reports and
 * their texts say: test_verifier_cells_text.c. */
#include "tests/unit/test_verifier_sandbox.h"

#include "base/hash.h"
#include "base/mem.h"
#include "verifier/cells.h"
#include "verifier/compiled.h"
#include "verifier/failure.h"
#include "verifier/tests.h"

#include <string.h>

#define CELLS_MAX 6

struct conversation {
	const char *name, *lang;
	const char *cells[CELLS_MAX]; /* the last one's output is looked at */
	const char *out;	      /* all of it; NULL: anything */
	const char *err;	      /* in standard error; NULL: anything */
	int exit_code;
	bool kept;
	const char *says; /* in what there is then; NULL: anything */
	const char *lacks;
	const char *left; /* in what runs on */
	size_t broken;
	long line; /* of the failure */
};

struct outcome {
	struct sandbox_result result;
	struct json *report;
	struct failure failure;
};

static void outcome_release(struct outcome *o)
{
	sandbox_result_release(&o->result);
	json_free(o->report);
	failure_release(&o->failure);
}
#define cleanup_outcome __attribute__((cleanup(outcome_release)))

static struct cell cell_of(const char *code, const char *printed)
{
	return (struct cell){ .code = code, .len = strlen(code), .printed = printed };
}

static void run_cell(const char *lang, const struct cell *list, size_t count, const char *code,
		     const char *input, struct outcome *ret)
{
	struct sandbox_job job = { .language = language_find(lang),
				   .code = code,
				   .code_len = strlen(code),
				   .stdin_bytes = input,
				   .stdin_len = input ? strlen(input) : 0 };
	struct tests t = { .mode = TESTS_CELL, .cells = { .list = list, .count = count } };
	cleanup_compiled struct compiled compiled = { .bytes = NULL };
	struct error err = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = 60000;
	if (tests_prepare(&t, job.language, "", 0, &job, &err) < 0)
		fail_msg("%s", err.message);
	compiled_job(sandbox, &job, &compiled);
	if (sandbox_run(sandbox, &job, NULL, &ret->result, &err) < 0)
		fail_msg("%s", err.message);
	tests_collect(&t, &ret->result);
	ret->report = tests_take_state(&ret->result);
	char name[CELL_NAME_SIZE];
	cells_name(count, name);
	failure_find(lang, name, &ret->result, &ret->failure);
	tests_release(&t);
}

static void must_have(const char *name, const char *what, const char *text, const char *words)
{
	if (words && !strstr(text ? text : "", words))
		fail_msg("%s: %s lacks \"%s\": %s", name, what, words, text ? text : "(none)");
}

static void check(const struct conversation *c)
{
	struct cell list[CELLS_MAX];
	cleanup_outcome struct outcome o = { .report = NULL };
	size_t n = 0;

	for (; n + 1 < CELLS_MAX && c->cells[n + 1]; n++)
		list[n] = cell_of(c->cells[n], NULL);
	run_cell(c->lang, list, n, c->cells[n], NULL, &o);
	if (o.result.exit_code != c->exit_code || (c->out && strcmp(o.result.out.bytes, c->out)))
		fail_msg("%s: exit %d, out \"%s\", err \"%s\"", c->name, o.result.exit_code,
			 o.result.out.bytes, o.result.err.bytes);
	must_have(c->name, "standard error", o.result.err.bytes, c->err);
	cleanup_free char *there = cells_describe(o.report, 6000);
	cleanup_free char *left = cells_left(o.report);
	must_have(c->name, "what is there", there, c->says);
	must_have(c->name, "what is left", left, c->left);
	if (c->lacks && strstr(there, c->lacks))
		fail_msg("%s: what is there has \"%s\": %s", c->name, c->lacks, there);
	if (cells_kept(o.report) != c->kept || cells_broken(o.report) != c->broken ||
	    (c->line && o.failure.line != c->line))
		fail_msg("%s: kept %d, broken %zu, line %ld; err \"%s\"", c->name,
			 cells_kept(o.report), cells_broken(o.report), o.failure.line,
			 o.result.err.bytes);
}

#define WELL .kept = true

static const struct conversation conversations[] = {
	{ "a name",
	  "python",
	  { "x = 6", "def f(n):\n    return n * x", "print(f(7))" },
	  "42\n",
	  WELL,
	  .says = "x: int 6",
	  .lacks = "assay" },
	{ "what only a loop uses",
	  "python",
	  { "rows = [1, 2]\nfor i, row in enumerate(rows):\n    for c in 'ab':\n        last = c, "
	    "row",
	    "print(last)" },
	  "('b', 2)\n",
	  WELL,
	  .says = "last: tuple",
	  .lacks = "row: int" },
	{ "what is used after its loop",
	  "python",
	  { "for best in [3, 4]:\n    if best > 3:\n        break", "print(best)" },
	  "4\n",
	  WELL,
	  .says = "best: int 4" },
	{ "a file that is called as a module of Python's is",
	  "python",
	  { "open('statistics.py', 'w').write('def mean(v): return 42')\n"
	    "open('/out/fractions.py', 'w').write('x = 42')\n"
	    "open('own_part.py', 'w').write('y = 7')",
	    "import fractions, own_part, statistics\n"
	    "print(statistics.mean([1, 3]), hasattr(fractions, 'x'), own_part.y)" },
	  "2 False 7\n",
	  WELL },
	{ "the first", "python", { "print(1)" }, "1\n", WELL },
	{ "imports and the work folder",
	  "python",
	  { "import json\nopen('a.txt', 'w').write('3')",
	    "print(json.loads(open('/work/a.txt').read()))" },
	  "3\n",
	  WELL,
	  .says = "file /work/a.txt (1 bytes)" },
	{ "what was in /out",
	  "python",
	  { "open('/out/t.csv', 'w').write('a')",
	    "import os\nprint(open('t.csv').read(), os.listdir('/out'))" },
	  "a []\n",
	  WELL },
	{ "what was not closed",
	  "python",
	  { "f = open('/out/t.csv', 'w')\nf.write('abc')", "print(open('t.csv').read())" },
	  "abc\n",
	  WELL },
	{ "the value of the last expression", "python", { "x = 'word'", "x" }, "word\n", WELL },
	{ "of a container", "python", { "[1, 2]" }, "[1, 2]\n", WELL },
	{ "none that is None", "python", { "print(1)" }, "1\n", WELL },
	{ "none of a write", "python", { "import sys\nsys.stdout.write('x\\n')" }, "x\n", WELL },
	{ "none before a semicolon", "python", { "5;" }, "", WELL },
	{ "display",
	  "python",
	  { "display('a', [1])\nprint(2)" },
	  "a\n[1]\n2\n",
	  WELL,
	  .lacks = "display" },
	{ "an error has its cell and line",
	  "python",
	  { "x = 1", "\ny = 2\nprint(x / 0)" },
	  "",
	  .err = "  File \"cell 2\", line 3, in <module>\n    print(x / 0)",
	  .exit_code = 1,
	  .line = 3 },
	{ "no frame of ours",
	  "python",
	  { "1 / 0" },
	  "",
	  .err = "Traceback (most recent call last):\n  File \"cell 1\", line 1",
	  .exit_code = 1 },
	{ "an error in a function of before",
	  "python",
	  { "def f():\n    return 1 / 0", "f()" },
	  "",
	  .err = "File \"cell 1\", line 2, in f\n    return 1 / 0",
	  .exit_code = 1 },
	{ "a syntax error",
	  "python",
	  { "x = 1", "y = (" },
	  "",
	  .err = "File \"cell 2\", line 1",
	  .exit_code = 1,
	  .line = 1 },
	{ "a good exit",
	  "python",
	  { "import sys\nx = 3\nsys.exit()", "print(x)\nsys.exit(0)" },
	  "3\n",
	  WELL,
	  .says = "x: int 3" },
	{ "a bad exit",
	  "python",
	  { "import sys\nsys.exit('no')" },
	  "",
	  .err = "no\n",
	  .exit_code = 1 },
	{ "an exit code", "python", { "raise SystemExit(7)" }, "", .exit_code = 7 },
	{ "the end of the interpreter",
	  "python",
	  { "import os\nprint(1, flush=True)\nos._exit(0)" },
	  "1\n",
	  .kept = false },
	{ "an earlier one that fails now",
	  "python",
	  { "x = 1", "1 / 0", "print(x)" },
	  "",
	  .err = "File \"cell 2\"",
	  .exit_code = 1,
	  .broken = 2 },
	{ "silence before",
	  "python",
	  { "import os, sys\nprint('a')\nos.system('echo b; echo c >&2')\nsys.stderr.write('d')",
	    "print('e')" },
	  "e\n",
	  WELL },
	{ "a stream that was kept",
	  "python",
	  { "import sys\nold = sys.stdout\nprint('a', file=old)", "print('b', file=old)" },
	  "b\n",
	  WELL },
	{ "its own module",
	  "python",
	  { "import pickle\nclass P:\n    pass\np = P()",
	    "print(type(pickle.loads(pickle.dumps(p))) is P)" },
	  "True\n",
	  WELL,
	  .says = "p: __main__.P" },
	{ "nobody's own words",
	  "python",
	  { "class E:\n    def __repr__(self):\n        raise SystemExit(3)\n    __len__ = "
	    "__repr__\ne = [E()]" },
	  "",
	  WELL,
	  .says = "e: list of 1: E" },
	{ "what rows are made of",
	  "python",
	  { "rows = [{'a': 1, 'b': 'x'}, {'a': 2}]" },
	  "",
	  WELL,
	  .says = "rows: list of 2: {'a': 1, 'b': 'x'}, dict of 1\n" },
	{ "what collections has",
	  "python",
	  { "from collections import Counter, defaultdict\nc = Counter('aab')\nd = "
	    "defaultdict(list)" },
	  "",
	  WELL,
	  .says = "c: Counter of 2: 'a': 2, 'b': 1\nd: defaultdict of 0: \n" },
	{ "another folder",
	  "python",
	  { "import os\nos.chdir('/tmp')", "print(os.getcwd())" },
	  "/tmp\n",
	  WELL,
	  .says = "modules: os\nworking folder: /tmp\n" },
	{ "threads are named",
	  "python",
	  { "import threading\nt = threading.Thread(target=threading.Event().wait, "
	    "name='slow', daemon=True)\nt.start()" },
	  "",
	  WELL,
	  .left = "thread slow" },
	{ "a socket is named",
	  "python",
	  { "import socket\ns = socket.socketpair()" },
	  NULL,
	  WELL,
	  .left = "socket" },
	{ "a future of one cell",
	  "python",
	  { "from __future__ import annotations\ndef f(x: no_such): return x", "print(f(1))" },
	  "1\n",
	  WELL },
	{ "what asks for its file",
	  "python",
	  { "print(__name__, __file__)" },
	  "__main__ /work/main.py\n",
	  WELL },

	{ "a name in JavaScript",
	  "javascript",
	  { "const x = 6; let y = 7; class A { f() { return x * y } }",
	    "console.log(new A().f())" },
	  "42\n",
	  WELL,
	  .says = "x: number 6" },
	{ "a record in JavaScript",
	  "javascript",
	  { "const fs = require('fs'), o = [{ id: 1, by: { town: { name: 'Ulm' } } }, { id: 2 }]",
	    "console.log(o.length)" },
	  "2\n",
	  WELL,
	  .says = "o: Array of 2: the first is { id: 1, by: { town: { name: 'Ulm' } } }\n"
		  "modules: fs" },
	{ "another folder in JavaScript",
	  "javascript",
	  { "const x = 1; process.chdir('/tmp')", "console.log(process.cwd())" },
	  "/tmp\n",
	  WELL,
	  .says = "x: number 1\nworking folder: /tmp\n" },
	{ "declared again",
	  "javascript",
	  { "const x = 1", "const x = 2; console.log(x)" },
	  "2\n",
	  WELL },
	{ "await",
	  "javascript",
	  { "const x = await Promise.resolve(5)", "const y = await x; console.log(x + y)" },
	  "10\n",
	  WELL },
	{ "timers end before the next",
	  "javascript",
	  { "let x = 0; setTimeout(() => { x = 3; console.log('late') }, 20)", "console.log(x)" },
	  "3\n",
	  WELL },
	{ "import",
	  "javascript",
	  { "import fs from 'fs'; import { join as j } from 'node:path'",
	    "console.log(typeof fs.readFileSync, j('a', 'b'))" },
	  "function a/b\n",
	  WELL },
	{ "the last value in JavaScript",
	  "javascript",
	  { "const x = [1, 2]", "x" },
	  "[ 1, 2 ]\n",
	  WELL },
	{ "of a call only in silence", "javascript", { "const f = () => 4", "f()" }, "4\n", WELL },
	{ "and else not", "javascript", { "console.log(1); [3].push(4)" }, "1\n", WELL },
	{ "silence before in JavaScript",
	  "javascript",
	  { "console.log('a'); require('fs').writeSync(1, 'b'); "
	    "require('child_process').execSync('echo c', {stdio: 'inherit'})",
	    "console.log('d')" },
	  "d\n",
	  WELL },
	{ "an error in JavaScript",
	  "javascript",
	  { "const x = null", "\nx.y" },
	  "",
	  .err = "cell 2:2",
	  .exit_code = 1,
	  .line = 2 },
	{ "a syntax error in JavaScript",
	  "javascript",
	  { "1", "\nlet = (" },
	  "",
	  .err = "cell 2:2",
	  .exit_code = 1,
	  .line = 2 },
	{ "a rejection",
	  "javascript",
	  { "Promise.reject(new Error('no'))" },
	  "",
	  .err = "Error: no",
	  .exit_code = 1 },
	{ "exit in JavaScript",
	  "javascript",
	  { "var x = 2; process.exit(0)", "console.log(x); process.exit()" },
	  "2\n",
	  WELL },
	{ "a bad exit in JavaScript", "javascript", { "process.exit(3)" }, "", .exit_code = 3 },
	{ "an earlier one fails in JavaScript",
	  "javascript",
	  { "throw new Error('now')", "1" },
	  "",
	  .err = "now",
	  .exit_code = 1,
	  .broken = 1 },
	{ "files in JavaScript",
	  "javascript",
	  { "require('fs').writeFileSync('/out/a', 'b')",
	    "console.log(require('fs').readFileSync('a', 'utf8'))" },
	  "b\n",
	  WELL,
	  .says = "file /work/a (1 bytes)" },

	{ "a name in bash",
	  "bash",
	  { "x=6", "f() { echo $((x * $1)); }", "f 7" },
	  "42\n",
	  WELL,
	  .says = "f: function",
	  .lacks = "_assay" },
	{ "a variable is told",
	  "bash",
	  { "name='a \"b\"'" },
	  "",
	  WELL,
	  .says = "name: name='a \"b\"'" },
	{ "an array",
	  "bash",
	  { "declare -A m=([a]=1)", "echo \"${m[a]}\"" },
	  "1\n",
	  WELL,
	  .says = "m: -A m=" },
	{ "what only a loop of bash uses",
	  "bash",
	  { "n=0; for f in a b; do n=$((n + 1)); base=${f%x}; done",
	    "while IFS=, read -r key number; do s=$((s + number)); done <<E\nx,1\ny,2\nE",
	    "for ((q = 0; q < 3; q++)); do\n\techo $q # of the count\ndone" },
	  "0\n1\n2\n",
	  WELL,
	  .says = "base: base='b'\nn: n='2'\ns: s='3'\n",
	  .lacks = "q=" },
	{ "the variable of a loop of bash",
	  "bash",
	  { "for name in a b; do echo \"$name\"; done", "total=1" },
	  "",
	  WELL,
	  .says = "total",
	  .lacks = "name=" },
	{ "what is used after its loop in bash",
	  "bash",
	  { "for best in a b; do [ $best = a ] && break; done", "echo $best" },
	  "a\n",
	  WELL,
	  .says = "best='a'" },
	{ "what was there before its loop in bash",
	  "bash",
	  { "kept=5", "for kept in a b; do :; done" },
	  "",
	  WELL,
	  .says = "kept='b'" },
	{ "words of a loop that are none",
	  "bash",
	  { "for x in a b; do :; done; echo done" },
	  "done\n",
	  WELL,
	  .says = "x='b'" },
	{ "a folder",
	  "bash",
	  { "mkdir d; cd d", "pwd" },
	  "/work/d\n",
	  WELL,
	  .says = "working folder: /work/d\n" },
	{ "silence before in bash", "bash", { "echo a; echo b >&2", "echo c" }, "c\n", WELL },
	{ "an error in bash",
	  "bash",
	  { "x=1", "\nset -e\nno_such_command" },
	  "",
	  .err = "cell 2: line 3: no_such_command",
	  .exit_code = 127,
	  .line = 3 },
	{ "options end with their cell",
	  "bash",
	  { "set -eu", "false; echo \"${nothing}x\"" },
	  "x\n",
	  WELL },
	{ "exit in bash", "bash", { "echo a; exit 0" }, "a\n", .kept = false },
	{ "an earlier one fails in bash",
	  "bash",
	  { "false", "echo 1" },
	  "",
	  .exit_code = 1,
	  .broken = 1 },
	{ "files in bash",
	  "bash",
	  { "echo b >/out/a", "cat a; ls /out" },
	  "b\n",
	  WELL,
	  .says = "file /work/a (2 bytes)" },
};

static void run_language(const char *lang)
{
	for (size_t i = 0; i < ARRAY_SIZE(conversations); i++)
		if (!strcmp(conversations[i].lang, lang))
			check(&conversations[i]);
}

static void test_python(void **state)
{
	(void)state;
	run_language("python");
}

static void test_javascript(void **state)
{
	(void)state;
	run_language("javascript");
}

static void test_bash(void **state)
{
	(void)state;
	run_language("bash");
}

/* Each cell reads what it was given. */
static void test_input(void **state)
{
	static const char *const codes[][3] = {
		{ "python", "a = input()", "print(a, input())" },
		{ "javascript", "const a = require('fs').readFileSync(0, 'utf8').trim()",
		  "process.stdin.on('data', (d) => console.log(a, String(d).trim()))" },
		{ "bash", "read -r a", "read -r b; echo \"$a $b\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct cell before = cell_of(codes[i][1], NULL);
		cleanup_outcome struct outcome o = { .report = NULL };

		before.stdin_bytes = "one\n";
		before.stdin_len = 4;
		run_cell(codes[i][0], &before, 1, codes[i][2], "two\n", &o);
		if (strcmp(o.result.out.bytes, "one two\n"))
			fail_msg("%s: %s%s", codes[i][0], o.result.out.bytes, o.result.err.bytes);
	}
}

/* What a cell prints when it is run again is compared with what it printed. */
static void test_differs(void **state)
{
	static const char *const codes[][2] = { { "python", "print(1)" },
						{ "javascript", "console.log(1)" },
						{ "bash", "echo 1" } };
	char one[HASH_HEX_LEN + 1], two[HASH_HEX_LEN + 1];

	(void)state;
	hash_sha256("1\n", 2, one);
	hash_sha256("2\n", 2, two);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		const struct cell same[] = { cell_of(codes[i][1], one),
					     cell_of(codes[i][1], NULL) };
		const struct cell other[] = { cell_of(codes[i][1], one),
					      cell_of(codes[i][1], two) };
		cleanup_outcome struct outcome o = { .report = NULL };

		run_cell(codes[i][0], other, 2, codes[i][1], NULL, &o);
		assert_int_equal(cells_differ(o.report, other, 2), 2);
		assert_int_equal(cells_differ(o.report, same, 2), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python),	cmocka_unit_test(test_javascript),
		cmocka_unit_test(test_bash),	cmocka_unit_test(test_input),
		cmocka_unit_test(test_differs),
	};

	return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
