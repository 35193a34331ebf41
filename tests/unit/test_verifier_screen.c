/* The rules' own examples, and how often real programs are flagged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verifier/rules.h"
#include "verifier/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const langs[] = { "python", "javascript", "bash" };

static bool has_finding(const struct screening *s, const char *rule)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (!strcmp(s->findings[i].rule, rule))
			return true;
	return false;
}

static int try_example(const char *lang, const struct rule *r, const struct rule_example *e)
{
	struct screening s = { 0 };
	struct error err = ERROR_INIT;
	bool match;

	assert_int_equal(screen_code(lang, e->code, strlen(e->code), SCREEN_STRICT, &s, &err), 0);
	match = has_finding(&s, r->id);
	screening_release(&s);
	if (match == e->match)
		return 0;
	print_error("%s: %s match: %s\n", r->id, e->match ? "must" : "must not", e->code);
	return 1;
}

static void test_rule_examples(void **state)
{
	struct error err = ERROR_INIT;
	size_t i, j, k, examples = 0;
	int bad = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(langs); i++) {
		const struct ruleset *set = ruleset_builtin(langs[i], &err);

		if (!set)
			print_error("%s\n", err.message);
		assert_non_null(set);
		for (j = 0; j < set->count; j++) {
			const struct rule *r = &set->rules[j];

			assert_true(r->example_count >= 2);
			for (k = 0; k < r->example_count; k++, examples++)
				bad += try_example(langs[i], r, &r->examples[k]);
		}
	}
	printf("%zu examples\n", examples);
	assert_int_equal(bad, 0);
}

static void test_limits(void **state)
{
	static const char with_nul[] = "print(1)\0print(2)";
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(screen_code("python", with_nul, sizeof(with_nul) - 1, SCREEN_STANDARD, &s,
				     &err), 0);
	assert_int_equal(s.verdict, SCREEN_DENY);
	assert_true(has_finding(&s, "limit.nul"));
	screening_release(&s);
	assert_int_equal(screen_code("python", "\xff\xfe", 2, SCREEN_STANDARD, &s, &err), 0);
	assert_true(has_finding(&s, "limit.encoding"));
	screening_release(&s);
	assert_int_equal(screen_code("cobol", "x", 1, SCREEN_STANDARD, &s, &err), -1);
	assert_int_equal(screen_code("python", "import socket", 13, SCREEN_OFF, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_ALLOW);
	assert_int_equal(strlen(s.ruleset), 64);
	screening_release(&s);
}

/* Ordinary computation must pass. */
static const char *const ordinary[] = {
	"import csv, json, os, sys\nwith open('/in/data.csv') as f:\n    rows = list(csv.reader(f))\n"
	"os.makedirs('/out/a', exist_ok=True)\njson.dump(rows, open(os.path.join('/out', 'x'), 'w'))\n",
	"from pathlib import Path\nimport re, math, collections\nprint(Path('/in/a').read_text())\n"
	"print(re.compile('a').findall('b'), len(os.listdir('/in')))\n",
	"import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
	"plt.plot([1]); plt.savefig('/out/plot.png')\n",
	"import asyncio, threading, multiprocessing, tempfile, sqlite3\nprint(__name__, __file__)\n",
	"path = '/in/status'\nfor line in open(path, encoding='utf-8', errors='replace'):\n"
	"    print(line.split(':')[0])\n",
};

static void test_ordinary(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ordinary); i++) {
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(screen_code("python", ordinary[i], strlen(ordinary[i]),
					     SCREEN_STANDARD, &s, &err), 0);
		if (s.verdict > SCREEN_WARN)
			print_error("%s: %s\n", s.findings[0].rule, s.findings[0].excerpt);
		assert_true(s.verdict <= SCREEN_WARN);
		screening_release(&s);
	}
}

/* --- the table --- */

struct row {
	const char *name;
	const char *file;
	const char *lang;
	const char *sources;	/* between bars */
	int os_touching;	/* 1, 0; -1: any */
	double min, max;	/* bounds on the share flagged */
	size_t total, flagged;
};

static struct row rows[] = {
	{ "HumanEval MBPP CRUXEval", "benign.jsonl", "python",
	  "|humaneval|mbpp|cruxeval|", -1, 0, 0.002 },
	{ "TheAlgorithms/Python", "benign.jsonl", "python", "|thealgorithms-python|", -1, 0, 0.03 },
	{ "Python examples", "benign.jsonl", "python", "|python3.11-examples|", -1, 0, 1 },
	{ "HumanEval-X JavaScript", "benign.jsonl", "javascript", "|humaneval-x-js|", -1, 0, 0.02 },
	{ "pure-bash-bible", "benign.jsonl", "bash", "|pure-bash-bible|", -1, 0, 1 },
	{ "os-touching Python", "hostile.jsonl", "python", "|redcode-python|", 1, 0.90, 1 },
	{ "other RedCode Python", "hostile.jsonl", "python", "|redcode-python|", 0, 0, 1 },
	{ "os-touching shell", "hostile.jsonl", "bash", "|redcode-bash|", 1, 0.85, 1 },
	{ "shell injections", "hostile.jsonl", "bash",
	  "|patt-cmdexec-lines|payloadsallthethings|", -1, 0, 1 },
	{ "Python jail payloads", "hostile.jsonl", "python",
	  "|payloadsallthethings|smolagents-security|", -1, 0.90, 1 },
	{ "JavaScript payloads", "hostile.jsonl", "javascript",
	  "|payloadsallthethings|codeshield-rules|", -1, 0, 1 },
};

static bool row_takes(const struct row *row, const struct json *r)
{
	cleanup_free char *source = mem_printf("|%s|", json_get_string(r, "source"));

	if (strcmp(row->lang, json_get_string(r, "lang")) != 0 || !strstr(row->sources, source))
		return false;
	return row->os_touching < 0 || json_get_bool(r, "os_touching", false) == row->os_touching;
}

/* ASSAY_SCREEN_SHOW=ROW prints what a row let pass or flagged. */
static void show(const struct row *row, const struct json *r, const struct screening *s)
{
	const char *want = getenv("ASSAY_SCREEN_SHOW");

	if (!want || strcmp(want, row->name) != 0)
		return;
	printf("%s %s %s | %s\n", json_get_string(r, "id"), screen_action_name(s->verdict),
	       s->count ? s->findings[0].rule : "-", s->count ? s->findings[0].excerpt : "");
}

static void count_record(const char *file, const struct json *r)
{
	const char *code = json_get_string(r, "code"), *lang = json_get_string(r, "lang");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		if (strcmp(rows[i].file, file) != 0 || !row_takes(&rows[i], r))
			continue;
		assert_int_equal(screen_code(lang, code, strlen(code), SCREEN_STANDARD, &s, &err), 0);
		rows[i].total++;
		rows[i].flagged += s.verdict >= SCREEN_CONFIRM;
		show(&rows[i], r, &s);
		screening_release(&s);
	}
}

static bool count_file(const char *file)
{
	const char *dir = getenv("ASSAY_DATA");
	cleanup_free char *path = mem_printf("%s/%s", dir ? dir : "../shared/data", file);
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	char *rest, *line;

	if (io_read_file(path, &text, &err)) {
		printf("skipped: %s\n", err.message);
		return false;
	}
	for (rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
		cleanup_json struct json *r = json_parse(line, strlen(line), JSON_BIG_AS_STRING, &err);

		if (r)
			count_record(file, r);
	}
	return true;
}

static void test_table(void **state)
{
	size_t i;
	int bad = 0;

	(void)state;
	if (!count_file("benign.jsonl") || !count_file("hostile.jsonl"))
		skip();
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		double share = (double)rows[i].flagged / (double)rows[i].total;
		bool ok = share >= rows[i].min && share <= rows[i].max;

		printf("%-26s %4zu of %4zu flagged %6.2f %%  (%.1f to %.1f)%s\n", rows[i].name,
		       rows[i].flagged, rows[i].total, share * 100, rows[i].min * 100,
		       rows[i].max * 100, ok ? "" : "  OUT OF BOUNDS");
		bad += !ok;
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest screen[] = {
		cmocka_unit_test(test_rule_examples),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(screen, NULL, NULL);
}
