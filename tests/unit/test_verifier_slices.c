/*
 * Which cells of a context the last one needs, told by their texts, in the real sandbox: "013".
 * Which states are made of them is agent/'s affair, and not shown here.
 */
#include "tests/unit/test_verifier_sandbox.h"

#include "base/mem.h"
#include "verifier/cells.h"

#include <string.h>

#define CELLS_MAX 6

#define LOAD "import pandas as pd\ndf = pd.read_csv('/in/sales.csv')\nprint(len(df))"

static const struct slices {
	const char *cells[CELLS_MAX], *used;
} of_python[] = {
	{ { LOAD, "t = df.groupby('m').x.sum()\nprint(t)",
	    "import matplotlib.pyplot as plt\nplt.bar(t.index, t.values)\n"
	    "plt.savefig('/out/p.png')\nprint('done')",
	    "print(df.x.max())" },
	  "03" },
	{ { LOAD, "t = df.groupby('m').x.sum()\nt", "t = df.x.sum()\nprint(t)" }, "02" },
	{ { LOAD, "df.to_csv('/out/o.csv')\nprint('saved')", "print(len(df))" }, "02" },
	{ { LOAD, "df['y'] = df.x * 2\nprint(df.head())", "print(df.y.sum())" }, "012" },
	{ { LOAD, "df.drop(columns='a', inplace=True)", "df.info()", "print(df.y.sum())" }, "013" },
	{ { "rows = [1]", "for i in range(3):\n    print(i)", "for i in rows:\n    print(i)" },
	  "02" },
	{ { "rows = [1]", "rows.append(2)", "print(rows)" }, "012" },
	{ { "rows = [1]", "print(rows)", "print(sum(rows))" }, "02" },
	{ { "sizes = [1]", "r = [s for s in sizes]", "s = 3\nprint(s)", "print(r)" }, "013" },
	{ { "open('/out/a', 'w').write('1')", "open('/out/b', 'w').write('2')",
	    "print(open('a').read())" },
	  "02" },
	{ { "n = 'a'", "open('/out/b', 'w').write('2')", "print(open(n).read())" }, "012" },
	{ { "a = 'x y'", "words = a.replace('x', 'z')", "print(open('/in/a').read(), a)" }, "02" },
	/* What cannot be told is kept. */
	{ { "def f(): return x", "x = 5", "print(f())" }, "012" },
	{ { "rows = [1]", "other = rows\nother.append(2)", "print(rows)" }, "012" },
	{ { "a = [[1]]", "for r in a:\n    r[0] = 5", "print(a)" }, "012" },
	{ { "def add(v):\n    v.append(1)\n    return 1", "rows = []", "n = add(rows)",
	    "print(rows)" },
	  "0123" },
	{ { "class C:\n    n = 0\n    def step(s):\n        s.n += 1\n        return s.n",
	    "c = C()", "k = c.step()", "print(c.n)" },
	  "0123" },
	{ { "import random", "random.seed(1)", "print(random.random())" }, "012" },
	{ { "x = 1", "if x:\n    y = 3", "print(y)" }, "012" },
	{ { "x = 1", "y = 2", "x += y", "print(x)" }, "0123" },
	{ { "n = 1", "z = 5", "exec('n = 2')", "print(n)" }, "0123" },
	{ { "n = 0", "def inc():\n    global n\n    n += 1", "z = 1", "inc()", "print(n)" },
	  "01234" },
};

#define JLOAD "const fs = require('fs');\nconst data = JSON.parse(fs.readFileSync('/in/a.json'))"

static const struct slices of_javascript[] = {
	{ { JLOAD,
	    "const by = {};\nfor (const r of data) by[r.k] = (by[r.k] || 0) + "
	    "r.n;\nconsole.log(by)",
	    "const ids = new Set(data.map((r) => r.id)); console.log(ids.size)",
	    "console.log(Object.entries(by).sort((a, b) => b[1] - a[1])[0])" },
	  "013" },
	{ { JLOAD, "console.log(data.length, Object.keys(data[0]))",
	    "console.log(data.filter((r) => r.n > 1).length)" },
	  "02" },
	{ { JLOAD,
	    "const s = data.reduce((a, r) => { a[r.k] = r.n; return a }, {}); console.log(s)",
	    "console.log(data.map((r) => r.n).sort().join())" },
	  "02" },
	{ { "let n = 1", "n += 2", "console.log(n)" }, "012" },
	{ { "let n = 1", "let m = n + 1\nm", "console.log(n)" }, "02" },
	{ { "let t = 1", "let t = 2", "console.log(t)" }, "12" },
	{ { "const f = (x) => x * k", "let k = 3", "let z = 1", "console.log(f(2))" }, "013" },
	{ { JLOAD, "fs.writeFileSync('/out/b', '1')", "console.log(data.length)" }, "02" },
	/* What cannot be told is kept. */
	{ { JLOAD, "data.sort((a, b) => a.n - b.n); console.log(1)", "console.log(data[0])" },
	  "012" },
	{ { JLOAD, "for (const r of data) r.n *= 2", "console.log(data[0])" }, "012" },
	{ { JLOAD, "data.forEach((r) => { r.n = 0 })", "console.log(data[0])" }, "012" },
	{ { JLOAD, "const first = data[0]; first.n = 5", "console.log(data[0])" }, "012" },
	{ { JLOAD, "const some = data.filter((r) => r.n)", "some[0].n = 5",
	    "console.log(data[0])" },
	  "0123" },
	{ { JLOAD, "const put = (l) => { l[0].n = 5 }", "put(data)", "console.log(data[0])" },
	  "0123" },
	{ { JLOAD, "function put(l) { l.push(5) }", "put(data)", "console.log(data.length)" },
	  "0123" },
	{ { "let n = 0", "function inc() { n++ }", "inc()", "console.log(n)" }, "0123" },
	{ { "class C { constructor() { this.n = 0 } step() { this.n++; return this } }",
	    "const c = new C()", "c.step()", "console.log(c.n)" },
	  "0123" },
	{ { "const rows = [1]", "const other = rows; other.push(2)", "console.log(rows)" }, "012" },
	{ { "const a = [1]", "const b = { a }", "b.a.push(2)", "console.log(a)" }, "0123" },
	{ { "const a = [3, 1]", "const [x, ...l] = [a, a]", "l[0].sort()", "console.log(a)" },
	  "0123" },
	{ { "const a = {}", "Object.assign(a, { n: 1 })", "console.log(a)" }, "012" },
	{ { "const a = {}", "const t = 1", "globalThis.a.n = 1", "console.log(a)" }, "0123" },
	{ { "const a = [2, 1]", "[a].forEach((l) => l.sort())", "console.log(a)" }, "012" },
	{ { "const a = [2, 1]", "const m = new Map([[1, a]])",
	    "for (const v of m.values()) v.reverse()", "console.log(a)" },
	  "0123" },
	{ { "const fs = require('fs')", "fs.writeFileSync('a', '1')",
	    "console.log(fs.readFileSync('a', 'utf8'))" },
	  "012" },
	{ { "let a = 1", "({ a } = { a: 5 })", "console.log(a)" }, "012" },
	{ { "let a = [1]", "delete a[0]", "console.log(a)" }, "012" },
	/* What runs where no call is seen changes what it names. */
	{ { "let n = 1", "const o = { get v() { n = 42; return 1 } }", "console.log(o.v)",
	    "console.log(n)" },
	  "0123" },
	{ { "let a = [1]", "const o = { toString() { a.push(42); return '' } }",
	    "console.log(`${o}`)", "console.log(a)" },
	  "0123" },
	{ { "let n = 1", "class A { constructor() { n = 42 } }",
	    "const x = new A();\nconsole.log(1)", "console.log(n)" },
	  "0123" },
	{ { "let n = 1", "const o = { f() { n = 42 } }", "[1].forEach(o.f)", "console.log(n)" },
	  "0123" },
	{ { "let n = 1", "const o = { toJSON() { n = 42 } }", "console.log(JSON.stringify(o))",
	    "console.log(n)" },
	  "0123" },
	{ { "let n = 1", "class A { get v() { return 7 } }", "console.log(new A().v)",
	    "console.log(n)" },
	  "03" },
};

static const struct slices of_bash[] = {
	{ { "total=$(wc -l </in/a)", "ls -l /in; head -n 3 /in/a | cut -c1-9", "echo $total" },
	  "02" },
	{ { "n=5", "m=6 # of it", "echo \"$n\" 'a b' 2>/dev/null", "echo $n" }, "03" },
	{ { "n=5", "printf '%s\\n' \"$n\" >&2", "echo $n" }, "02" },
	/* What cannot be told is kept. */
	{ { "n=5", "n=6", "echo $n" }, "012" },
	{ { "n=5", "echo 1 >a", "echo $n" }, "012" },
	{ { "n=5", "echo 1 >>a.txt; ls", "echo $n" }, "012" },
	{ { "n=5", "cd /in", "pwd" }, "12" },
	{ { "n=5", "sort -o a a", "cat a" }, "12" },
	{ { "n=5", "printf -v n 6", "echo $n" }, "012" },
	{ { "n=5", "echo ${n:=6} \"$(touch a)\"", "ls" }, "012" },
	{ { "n=5", "for f in a; do n=6; done", "echo $n" }, "012" },
	{ { "n=5", "f() { n=6; }", "f; echo $n" }, "012" },
	{ { "n=5", "cat <<E >a\n1\nE", "echo $n" }, "012" },
	{ { "n=5", "ls | tee a", "echo $n" }, "012" },
	{ { "n=5", "find . -delete", "ls; echo $n" }, "012" },
	{ { "n=5", "awk '{ print > \"a\" }' /in/a", "echo $n" }, "012" },
	{ { "n=5", "sleep 1 & echo", "echo $n" }, "012" },
	{ { "n=5", "set -e; ls", "echo $n" }, "012" },
	{ { "n=5", "read -r n <a", "echo $n" }, "012" },
	{ { "n=5", "LC_ALL=C", "ls; echo $n" }, "012" },
	{ { "set -euo pipefail", "n=5", "m=6", "echo \"${a[@]} $m\"", "echo $n" }, "014" },
	{ { "n=5", "m=6", "set | tail -n 1" }, "012" },
	{ { "b=1", "echo \"${x:b++}\"", "echo \"$b\"" }, "012" },
	{ { "b=1", "a=${b:=42}", "echo \"$b\"" }, "012" },
	{ { "b=1", "echo $[b=42]", "echo \"$b\"" }, "012" },
	{ { "b=1", "echo \"$[b=42]\"", "echo \"$b\"" }, "012" },
	{ { "b=1", "echo \"${x[b=42]}\"", "echo \"$b\"" }, "012" },
	{ { "x1=5", "y=6", "n=1; p=x$n; echo \"${!p}\"" }, "012" },
	{ { "x1=5", "y=6", "n=1; echo $((x$n))" }, "012" },
	{ { "x1=5", "y=6", "declare -p | tail -n 3" }, "012" },
	{ { "echo 1 >/work/f", "xxd f /work/g", "cat /work/g" }, "012" },
	{ { "x=5", "y=6", "echo \"$x\" $((x + 1))" }, "02" },
};

static void needed(const char *lang, const struct slices *slices, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct cell list[CELLS_MAX];
		cleanup_slice struct slice s = { .count = 0 };
		char used[CELLS_MAX + 1] = "", *to = used;
		size_t n = 0;

		for (; n < CELLS_MAX && slices[i].cells[n]; n++)
			list[n] = (struct cell){ .code = slices[i].cells[n],
						 .len = strlen(slices[i].cells[n]) };
		cells_slice(sandbox, -1, language_find(lang), list, n, false, &s);
		for (size_t u = 0; u < n; u++)
			if (s.used[u])
				*to++ = (char)('0' + u);
		if (strcmp(used, slices[i].used))
			fail_msg("%s: %s, not %s: of %s; %s", lang, used, slices[i].used,
				 slices[i].cells[1], s.why_all ? s.why_all : "");
	}
}

static void test_python(void **state)
{
	(void)state;
	needed("python", of_python, ARRAY_SIZE(of_python));
}

static void test_javascript(void **state)
{
	(void)state;
	needed("javascript", of_javascript, ARRAY_SIZE(of_javascript));
}

static void test_bash(void **state)
{
	(void)state;
	needed("bash", of_bash, ARRAY_SIZE(of_bash));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_javascript),
		cmocka_unit_test(test_bash),
	};

	return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
