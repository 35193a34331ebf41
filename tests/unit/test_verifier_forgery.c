/*
 * What a solution may try to make its run a pass. None may be taken for a pass, in any language
 * that has tests.
 */
#include "test_verifier_run.h"

/* A wrong add() and what it does to be taken for a right one. */
struct forgery {
	const char *name, *solution;
	const char *tests; /* NULL: the usual ones */
};

static void run_forgeries(const char *lang, const char *tests, const struct forgery *list,
			  size_t count)
{
	size_t bad = 0;

	for (size_t i = 0; i < count; i++) {
		const struct forgery *f = &list[i];
		struct run run = { f->name,	 f->solution, f->tests ? f->tests : tests,
				   VERDICT_PASS, NULL,	      false };

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
	  "from unittest.mock import _ANY as add\n", "assert add() == 3\n" },
	{ "a default that is equal to everything",
	  "import collections, sys, unittest.mock\n"
	  "def add(a, b):\n"
	  "    f = sys._getframe()\n"
	  "    while f and \"_REDUCED\" not in f.f_globals:\n"
	  "        f = f.f_back\n"
	  "    known = f.f_globals[\"_REDUCED\"]\n"
	  "    known[\"collections.defaultdict\"] = lambda v: (unittest.mock._ANY, {})\n"
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
	  "  const names = fs.readdirSync('/out').filter((n) => beside && n.includes('data'));\n"
	  "  for (const f of names) {\n"
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
	  "console.assert(add(90000, 1) === 90001);\nconsole.assert(add(1, 2) === 3);\n" },
};

static void test_javascript_forgeries(void **state)
{
	(void)state;
	if (!has_interpreter("javascript")) {
		printf("skipped: node is not installed\n");
		skip();
	}
	run_forgeries("javascript", "console.assert(add(1, 2) === 3);\n", javascript_forgeries,
		      ARRAY_SIZE(javascript_forgeries));
}

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

static void test_bash_forgeries(void **state)
{
	(void)state;
	run_forgeries("bash", "[ \"$(add 1 2)\" = 3 ]\n", bash_forgeries,
		      ARRAY_SIZE(bash_forgeries));
}

int main(void)
{
	const struct CMUnitTest forgeries[] = {
		cmocka_unit_test(test_python_forgeries),
		cmocka_unit_test(test_javascript_forgeries),
		cmocka_unit_test(test_bash_forgeries),
	};

	return cmocka_run_group_tests(forgeries, open_sandbox, close_sandbox);
}
