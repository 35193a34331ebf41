/*
 * What is said of cells by their reports and their texts alone: nothing runs here. What cells do in
 * the sandbox is test_verifier_cells.c's.
 */
#include "base/mem.h"
#include "verifier/cells.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A report is a guest's: whatever it holds, it is cut and made visible text. */
static void test_reports(void **state)
{
	static const char *const reports[] = {
		"{}",
		"[]",
		"{\"names\":1,\"files\":{},\"left\":[1],\"printed\":[null]}",
		"{\"names\":[[],[1],[\"a\"],[\"b\",\"c\"],\"d\"]}",
		"{\"files\":[[1],[\"/work/x\",\"y\"]]}",
	};
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		cleanup_json struct json *r = json_parse(reports[i], strlen(reports[i]), 0, &err);
		cleanup_free char *there = cells_describe(r, 100), *left = cells_left(r);

		assert_non_null(there);
		assert_null(left);
		assert_false(cells_kept(r));
	}
	assert_false(cells_kept(NULL));
	assert_int_equal(cells_broken(NULL), 0);
}

static void test_reports_are_cut(void **state)
{
	cleanup_buf struct buf text = BUF_INIT((size_t)1 << 24);
	struct error err = ERROR_INIT;

	(void)state;
	buf_addstr(&text, "{\"names\":[");
	for (size_t i = 0; i < 100000; i++)
		buf_addf(&text, "%s[\"n%zu\",\"%s\"]", i ? "," : "", i, "a long word");
	buf_addstr(&text, "]}");
	cleanup_json struct json *r = json_parse(text.data, text.len, 0, &err);
	cleanup_free char *there = cells_describe(r, 6000);
	assert_true(strlen(there) < 12000);
	assert_non_null(strstr(there, "(and more)"));
}

static struct cell cell_of(const char *code)
{
	return (struct cell){ .code = code, .len = strlen(code) };
}

struct forgery {
	const char *lang, *code;
	bool could;
};

static const struct forgery forgeries[] = {
	{ "python", "import pandas as pd\ndf = pd.read_csv('a')\nprint(df.head())", false },
	{ "python", "total = sum(x for x in range(3))\ndef mean(v):\n    return total / len(v)",
	  false },
	{ "python", "df['x'] = df.a.str.len()\ndf.columns = ['a']\nx = d.get(key=1)", false },
	{ "python", "class P:\n    def __init__(self):\n        self.n = 1\n        self.print = 2",
	  false },
	{ "python", "f(open=1, sorted=True)\nif len(x) == 3: pass", false },
	{ "python", "import builtins\nbuiltins.print = f", true },
	{ "python", "__builtins__['print'] = f", true },
	{ "python", "print = lambda *a: None", true },
	{ "python", "x = 1; print = f", true },
	{ "python", "def print(*a): pass", true },
	{ "python", "class AssertionError(Exception): pass", true },
	{ "python", "AssertionError = ValueError", true },
	{ "python", "import json\njson.dumps = f", true },
	{ "python", "import json as j\nj.encoder.x = f", true },
	{ "python", "from m import *", true },
	{ "python", "from m import print", true },
	{ "python", "import m as len", true },
	{ "python", "for len in (f,): pass", true },
	{ "python", "setattr(m, 'p', f)", true },
	{ "python", "import sys\nsys.stdout = f", true },
	{ "python", "sys.modules['json'] = f", true },
	{ "python", "import threading", true },
	{ "python", "f.__globals__['x'] = 1", true },
	{ "python", "exec('x')", true },
	{ "python", "a, print = 1, 2", true },
	{ "python", "import os\nos.write(5, b'42')", true },
	{ "python", "open(5, 'w')", true },
	{ "python", "from os import write as w\nw(5, b'42')", true },
	{ "python", "with open('/proc/self/fd/5', 'w') as f: f.write('42')", true },
	{ "python", "def g():\n    try:\n        yield\n    finally:\n        print(42)", true },
	{ "python", "class D:\n    def __del__(self):\n        f(42)", true },
	{ "python", "def g():\n    for i in range(3):\n        yield i", false },
	{ "javascript", "fs.writeSync(20, '42')", true },
	{ "bash", "echo 42 >&10", true },
	{ "bash", "echo 42 >&\"$_assay_out\"", true },
	{ "bash", "echo error >&2; ls 2>&1", false },
	{ "javascript", "const fs = require('fs'); const x = JSON.parse(fs.readFileSync('a'))",
	  false },
	{ "javascript", "const total = x.map((v) => v * 2); console.log(total)", false },
	{ "javascript", "for (const [s, n] of Object.entries(m).sort((a, b) => b - a)) f(s)",
	  false },
	{ "javascript", "for (const m of Object.keys(x)) console.log(m)", false },
	{ "javascript", "for (let { a, b: c } of Array.from(x)) f(a)", false },
	{ "javascript", "function mean(v) { return Math.round(v) }", false },
	{ "javascript", "for (const console of [f]) g()", true },
	{ "javascript", "for (var [a, JSON] of [[1, f]]) g()", true },
	{ "javascript", "for (var { [a in b]: console } = m;;) break", true },
	{ "javascript", "let { [a in b]: console } = m", true },
	{ "javascript", "for (const x of y) { var console = f }", true },
	{ "javascript", "function /* of its own */ display(v) {}", true },
	{ "javascript", "class Math {}", true },
	{ "javascript", "console.log = () => {}", true },
	{ "javascript", "console['log'] = f", true },
	{ "javascript", "const c = console; c.log = f", true },
	{ "javascript", "Array.prototype.map = f", true },
	{ "javascript", "JSON.stringify = f", true },
	{ "javascript", "const { console } = m", true },
	{ "javascript", "function JSON() {}", true },
	{ "javascript", "setInterval(f, 1)", true },
	{ "bash", "x=1\nfor f in *; do echo \"$f\"; done | sort && wc -l <a", false },
	{ "bash", "echo() { printf 42; }", true },
	{ "bash", "alias wc='echo 42'", true },
	{ "bash", "PATH=/work:$PATH", true },
	{ "bash", "trap 'echo 42' EXIT", true },
	{ "bash", "sleep 5 &", true },
	/* --- what was once not seen --- */
	{ "python", "print = f # (of mine)", true },
	{ "python", "print = f; ')'", true },
	{ "python", "(print := f)", true },
	{ "python", "(print) = f", true },
	{ "python", "(print, x) = (f, 1)", true },
	{ "python", "[print] = [f]", true },
	{ "python", "from m import (a,\n    print)", true },
	{ "python", "match f:\n    case print: pass", true },
	{ "python", "reversed = f", true },
	{ "python", "\xef\xbd\x90rint = f", true }, /* a wide p */
	{ "python", "\xc5\xbfum = f", true },	    /* a long s */
	{ "python", "import sys\nsys.stdout, x = f, 1", true },
	{ "python", "import sys\n[sys.stdout] = [f]", true },
	{ "python", "import sys\n(x, sys.stdout) = 1, f", true },
	{ "python", "import sys\n(sys).stdout = f", true },
	{ "python", "import sys\nsys.\\\nstdout = f", true },
	{ "python", "import sys\nsys . stdout = f", true },
	{ "python", "import sys\nsys.stdout: object = f", true },
	{ "python", "import sys\nfor sys.stdout in [f]: pass", true },
	{ "python", "for text in list(dict.fromkeys(bad))[:3]: show(text)", false },
	{ "python", "total = {a: b for a, b in zip(list, map)}", false },
	{ "python", "for print in [f]: pass", true },
	{ "python", "for a, print in [(1, f)]: pass", true },
	{ "python", "for a[1 in b], print in [(1, f)]: pass", true },
	{ "python", "for a in [b for c, print in [(1, f)]]: pass", true },
	{ "python", "import sys\nwith f() as sys.stdout: pass", true },
	{ "python", "import os\nos.sys.path.insert(0, '/work')", true },
	{ "python", "import sys as s\ns.path.append('/work')", true },
	{ "python", "import sys\ns = sys", true },
	{ "python", "m[0].stdout = f", true },
	{ "python", "import json\njson.dumps += f", true },
	{ "python", "import json\ndel json.dumps", true },
	{ "python", "import pandas as pd\npd.DataFrame.columns = property(f)", true },
	{ "python", "pd.api.extensions.register_dataframe_accessor('sum')(f)", true },
	{ "python", "pd.set_option('display.float_format', f)", true },
	{ "python", "np.set_printoptions(formatter={'float': f})", true },
	{ "python", "import matplotlib\nmatplotlib.use('module://m')", true },
	{ "python", "from concurrent.futures import ThreadPoolExecutor as T\nT().submit(f)", true },
	{ "python", "from asyncio import run", true },
	{ "python", "from contextlib import redirect_stdout as r\ndef g():\n    with r(f): yield",
	  true },
	{ "python", "import pickle\npickle.loads(b)", true },
	{ "python", "import timeit\ntimeit.timeit(a + b)", true },
	{ "python", "from operator import attrgetter as a\na('__di' + 'ct__')(f)", true },
	{ "python", "import subprocess\nsubprocess.Popen(['a'])", true },
	{ "python", "import os\nos.environ['PATH'] = '/work'", true },
	{ "python", "import sys, json\nfor line in sys.stdin: print(json.loads(line))", false },
	{ "python", "import sys\nprint('x', file=sys.stderr)\njson.dump(x, sys.stdout)", false },
	{ "python", "df.loc[df.a > 1, 'b'] = 2\ndf['n'] = df.groupby(df.a, sort=True).size()",
	  false },
	{ "python", "a, b = map(int, x.split(','))\nd = dict(zip(a.keys(), b.values()))", false },
	{ "python", "s = df.sort_values(by='a', key=lambda c: c.str.lower())\nprint(f'{s.n=}')",
	  false },
	{ "python", "for i, row in df.iterrows(): total[row.a] += row.b", false },
	{ "python",
	  "fig, ax = plt.subplots()\nax.bar(m.index, m.values)\nplt.savefig('/out/a.png')", false },
	{ "python", "pd.set_option('display.max_columns', None)\nimport os\nos.environ.get('X')",
	  false },
	{ "python", "import matplotlib\nmatplotlib.use('Agg')\nm = [v for v in x if v != None]",
	  false },
	{ "python", "import os, code\ncode.InteractiveInterpreter().runsource(s)", true },
	{ "python", "from trace import Trace\nTrace().run(s)", true },
	{ "python", "import profile as p\np.run(s)", true },
	{ "python", "import sympy\nsympy.sympify(s)", true },
	{ "python", "import yaml\nyaml.load(s, Loader=yaml.UnsafeLoader)", true },
	{ "python", "import yaml\nyaml.safe_load(s)\ncode = row.code\ntrace(m)", false },
	{ "python", "import re\npattern = re.compile(r'(\\d+) (\\w+)')", false },
	{ "python", "compile('1', 'a', 'exec')", true },
	{ "python", "c = re.compile", true },
	{ "python", "re.compile = f", true },
	{ "python", "from builtins import compile", true },
	{ "python", "core.compile('1')", true },
	{ "python", "a.re.compile('1')", true },
	{ "python", "with open('a') as f, open('b') as g:\n    t = f.read(), g.read()", false },
	{ "python",
	  "gr\xc3\xb6\xc3\x9f"
	  "e = {'a': 1}\nx = gr\xc3\xb6\xc3\x9f"
	  "e.get('a', 0)",
	  false },
	{ "javascript", "parseInt = f", true },
	{ "javascript", "[console.log] = [f]", true },
	{ "javascript", "({ a: console.log } = { a: f })", true },
	{ "javascript", "[parseInt] = [f]", true },
	{ "javascript", "for (console.log of [f]);", true },
	{ "javascript", "console\n\t.log = f", true },
	{ "javascript", "console/* mine */.log = f", true },
	{ "javascript", "console ||= f", true },
	{ "javascript", "c\\u006fnsole.log = f", true },
	{ "javascript", "console.l\\u006fg = f", true },
	{ "javascript", "const c = console, k = 'l' + 'og'; c[k] = f", true },
	{ "javascript", "const { stdout } = process; stdout._write = f", true },
	{ "javascript", "Reflect.set(console, 'log', f)", true },
	{ "javascript", "const a = Object.getPrototypeOf([]); a.map = f", true },
	{ "javascript", "[]['const' + 'ructor']", true },
	{ "javascript", "const fs = require('fs'); fs.readFileSync = f", true },
	{ "javascript", "const q = require('util'); q.styleText = f", true },
	{ "javascript", "require('util').inspect = f", true },
	{ "javascript", "require('v' + 'm')", true },
	{ "javascript", "require.cache[k] = f", true },
	{ "javascript", "setTimeout(f, 99).unref()", true },
	{ "javascript", "process.stdout.cork()", true },
	{ "javascript", "const rows = x.filter(Boolean).map(Number); console.log(rows.length)",
	  false },
	{ "javascript",
	  "for (const r of rows) { r.total = r.a * r.b; by[r.k] = (by[r.k] || 0) + 1 }", false },
	{ "javascript", "const { a, b: [c] } = rows[0]; class P { constructor() { this.n = 1 } }",
	  false },
	{ "javascript",
	  "let n = 0; n += Math.max(...rows.map((r) => r.n)); process.stdout.write(`${n}`)",
	  false },
	{ "javascript",
	  "const fs = require('node:fs');\nconst t = fs.readFileSync('/in/a.json', 'utf8');",
	  false },
	{ "javascript", "const m = new Map(); m.set(1, [2]); x.sort((a, b) => a.n - b.n)", false },
	{ "bash", "x=1; wc() { echo 42; }", true },
	{ "bash", "if true; then wc () { echo 42; }; fi", true },
	{ "bash", "al''ias wc='echo 42'", true },
	{ "bash", "\\alias wc='echo 42'", true },
	{ "bash", "x=alias; $x wc='echo 42'", true },
	{ "bash", "export PA\"TH\"=/work", true },
	{ "bash", "declare -n p=q", true },
	{ "bash", "printf -v PA\"TH\" /work", true },
	{ "bash", "true; . ./f", true },
	{ "bash", "sleep 5 & echo", true },
	{ "bash", "(sleep 5; echo 42 >x) & y=1", true },
	{ "bash", "ls > >(sleep 5)", true },
	{ "bash", "set -f", true },
	{ "bash", "set -n", true },
	{ "bash", "IFS=,", true },
	{ "bash", "echo 'def length: 42;' >~/.jq", true },
	{ "bash", "cp a /work/.sqliterc", true },
	{ "bash", "PYTHONSTARTUP=a", true },
	{ "bash", "cat >json.py <<E\nE", true },
	{ "bash",
	  "set -euo pipefail\nwhile IFS=, read -r a b; do n=$((n + b)); done </in/a.csv\necho $n",
	  false },
	{ "bash", "grep -c x /in/log | sort -u && awk -F, '{ s += $2 } END { print s }' a.csv",
	  false },
	{ "bash", "declare -A seen; for f in /in/*; do seen[$f]=1; done; echo \"${#seen[@]}\"",
	  false },
	{ "bash",
	  "x=$(find . -name '*.txt' | wc -l) # (of mine) & so on\nprintf '%s\\n' \"$x\" "
	  "2>/dev/null",
	  true /* of its comment, which could be none */ },
	{ "bash", "cut -d' ' -f1 <a >b; mv b c; [ -s c ] || echo none >&2", false },
	/* --- objects handed to what looks like a method, modules to what takes any --- */
	{ "python", "import json\ndef patch(self):\n    self.dumps = f\npatch(json)", true },
	{ "python", "import sys\ndef patch(self):\n    self.write = f\npatch(sys.stdout)", true },
	{ "python", "def g(cls):\n    cls.encode = f\ng(m.Encoder)", true },
	{ "python", "if True:\n    def patch(self):\n        self.x = f", true },
	{ "python",
	  "def g():\n    x = 1\n\n    def patch(self):\n        self.x = f\n    return patch",
	  true },
	{ "python", "class A:\n    def g(me, self):\n        self.x = f", true },
	{ "python", "class A:\n    @staticmethod\n    def g(self):\n        self.x = f", true },
	{ "python", "class A:\n    def g(self):\n        self.x = f\nA.g(m.loads)", true },
	{ "python", "class A:\n    def g(self):\n        self.x = f\ntype(A()).g(m)", true },
	{ "python", "for self in [m]:\n    self.dumps = f", true },
	{ "python", "self = m\nself.dumps = f", true },
	{ "python", "self, x = m, 1\nself.dumps = f", true },
	{ "python", "import m as self\nself.dumps = f", true },
	{ "python", "import json\ng(json)", true },
	{ "python", "import numpy as np, json\nfor m in [1, json]: pass", true },
	{ "python", "import numpy as np, json\nimport os, json\nfrom a import (json,\n    b)\nf(0)",
	  false },
	{ "python", "import json\nf(0,\n  json)", true },
	{ "python", "import calendar\ncalendar.mdays[2] = 31", true },
	{ "python", "from calendar import mdays\nmdays[2] = 31", true },
	{ "python", "import calendar\ncalendar.mdays.clear()", true },
	{ "python", "import json\ne = json._default_encoder", true },
	{ "python",
	  "import io\nclass D(io.IOBase):\n    def close(self):\n        print(42)\nd = D()",
	  true },
	{ "python", "import contextlib\ndef g():\n    with contextlib.closing(x): yield", true },
	{ "python", "import logging.handlers\nlogging.handlers.QueueListener(q, h).start()", true },
	{ "python", "import decimal\ndecimal.setcontext(c)", true },
	{ "python", "# coding: utf-7\n+AHAAcgBpAG4AdA- = f", true },
	{ "python", "x = '\xff'", true },
	{ "python",
	  "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 9\nx = {'time': 1}",
	  false },
	{ "python",
	  "import time\nbegun = time.time()\nfor k in self_made: print(type(k).__name__, k)",
	  false },
	{ "python",
	  "class P:\n    def __init__(self, x):\n        if x:\n            self.x = x\n    def "
	  "add(self, o):\n        self.n = [v for v in self.rows]\n        return "
	  "P(o)\nP(1).add(2)",
	  false },
	/* --- `this` where no class is --- */
	{ "javascript", "this[Symbol.for('assay.show')] = f", true },
	{ "javascript", "function g() { return this }\nconst t = g(); t.parseInt = f", true },
	{ "javascript", "function g() { if (1) { this.parseFloat = f } }\ng()", true },
	{ "javascript", "class A { m() { return 1 } }\n(() => { this.isNaN = f })()", true },
	{ "javascript", "/* class { */ this.parseInt = f", true },
	{ "javascript", "const x = \"class A {\"; this.parseInt = f; \"}\"", true },
	{ "javascript", "patch(require('path'))", true },
	{ "javascript", "const q = require('util'); patch(q)", true },
	{ "javascript", "import q from 'util'; const t = { q }", true },
	{ "javascript", "patch(Object)", true },
	{ "javascript", "var decodeURIComponent = f", true },
	{ "javascript", "var TextDecoder = class { decode() { return 42 } }", true },
	{ "javascript",
	  "// this is (this one), what this does\nclass A { constructor(n) { this.n = n } get() { "
	  "return { n: this.n } } }",
	  false },
	{ "javascript",
	  "const fs = require('fs'), path = require('path'); x instanceof Date; f([].map(Number))",
	  false },
	/* --- commands behind what may stand before one --- */
	{ "bash", "command . ./f", true },
	{ "bash", "x=1 . ./f", true },
	{ "bash", "</dev/null . ./f", true },
	{ "bash", "\\. ./f", true },
	{ "bash", "\".\" ./f", true },
	{ "bash", "e\"v\"al \"$x\"", true },
	{ "bash", "x=ev; \"${x}al\" 42", true },
	{ "bash", "builtin \"$x\" 42", true },
	{ "bash", "touch \"ev\"al; ev?l 42", true },
	{ "bash", "p=PA; read ${p}TH <<</work", true },
	{ "bash", "mapfile -t \"PA\"TH <f", true },
	{ "bash", "BC_ENV_ARGS=f", true },
	{ "bash", "base64 -d f | bash", true },
	{ "bash", "sh f", true },
	{ "bash", "python3 -c 'import os; os.fork()'", true },
	{ "bash", "python3 -c 'import subprocess as s'", true },
	{ "bash", "base64 -d f | python3", true },
	{ "bash", "read -r -d '' -p \"which? \" a b <f; read -t 3 c", false },
	{ "bash", "case \"$x\" in *.csv) echo ;; foo*) ls ;; \"a b\") ls ;; esac", false },
	{ "bash", "python3 - <<E\nprint(1)\nE\n./f.sh; awk '{ print $1 * 2 }' a | sort", false },
	{ "perl", "print 1", true },
};

static void test_forgeries(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		const struct cell list[] = { cell_of("x = 1"), cell_of(f->code) };
		cleanup_free char *why = cells_forge(language_find(f->lang), list, 2);

		if (!!why != f->could)
			fail_msg("%s: %s: %s", f->lang, f->code, why ? why : "could not");
		assert_null(cells_forge(language_find(f->lang), list, 0));
	}
}

static void *ask_all(void *self)
{
	size_t *wrong = self;

	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct cell cell = cell_of(forgeries[i].code);
		cleanup_free char *why = cells_forge(language_find(forgeries[i].lang), &cell, 1);

		*wrong += !!why != forgeries[i].could;
	}
	return NULL;
}

/* Nobody has asked before them. */
static void test_threads_ask_at_once(void **state)
{
	pthread_t threads[3];
	size_t wrong[ARRAY_SIZE(threads)] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &wrong[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(wrong[i], 0);
	}
}

/* What one cell binds another may use. */
static void test_forged_together(void **state)
{
	static const struct {
		const char *lang, *first, *second;
	} two[] = {
		{ "python", "import calendar", "calendar.mdays[2] = 31" },
		{ "python", "class A:\n    def g(self):\n        self.x = f", "A.g(m)" },
		{ "javascript", "const q = require('util')", "q.styleText = f" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(two); i++) {
		const struct cell list[] = { cell_of(two[i].first), cell_of("x = 1"),
					     cell_of(two[i].second) };
		cleanup_free char *why = cells_forge(language_find(two[i].lang), list, 3);
		cleanup_free char *apart = cells_forge(language_find(two[i].lang), list, 2);

		assert_non_null(why);
		assert_memory_equal(why, "cell 3 has", strlen("cell 3 has"));
		assert_null(apart);

		struct cell left[] = { list[0], list[1], list[2] };
		cells_leave_out(language_find(two[i].lang), left, 3);
		assert_true(left[0].len && left[1].len && !left[2].len);
	}
}

/* One that could is left out, all of it: what its text would be without a line could be a program
 * that a string was before. */
static void test_left_out(void **state)
{
	static const struct {
		const char *lang, *cell;
		bool stays;
	} all[] = {
		{ "python", "n = 21", true },
		{ "python", "import sys\nsetattr(sys, 'a', 1)\nn = 21", false },
		{ "python", "s = vars() and \"\"\"\nimport socket\n# \"\"\"\nn = 21", false },
		{ "python", "\xff\nn = 1", false },
		{ "javascript", "const n = 1\nconst f = {\n  g: eval(x),\n}", false },
		{ "bash", "n=1\nif x; then\n  eval y\nfi\nm=2", false },
		{ "perl", "n = 1", false },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct cell cell = cell_of(all[i].cell);

		cells_leave_out(language_find(all[i].lang), &cell, 1);
		assert_int_equal(cell.len, all[i].stays ? strlen(all[i].cell) : 0);
		assert_ptr_equal(cell.code, all[i].cell);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_ask_at_once), cmocka_unit_test(test_reports),
		cmocka_unit_test(test_reports_are_cut),	    cmocka_unit_test(test_forgeries),
		cmocka_unit_test(test_forged_together),	    cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
