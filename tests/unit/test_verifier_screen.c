/*
 * The rules' own examples, and how often real programs are flagged. No program that is screened may
 * run: the sandbox runs the parser alone.
 */
#include "tests/unit/test_verifier_screening.h"
#include "tests/unit/test_verifier_trees.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verifier/screen/rules.h"
#include "verifier/screen/tree.h"
#include "verifier/lang/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- examples --- */

static int try_example(const char *lang, const struct rule *r, const struct rule_example *e,
		       const struct tree *tree)
{
	struct screen_options options = { .profile = SCREEN_STRICT, .tree = tree };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(screen_code(lang, e->code, strlen(e->code), &options, &s, &err), 0);
	bool match = has_finding(&s, r->id);
	screening_release(&s);
	if (match == e->match)
		return 0;
	print_error("%s: %s match: %s\n", r->id, e->match ? "must" : "must not", e->code);
	return 1;
}

/* A rule for where there is no tree. */
static bool is_of_text(const struct rule *r)
{
	return r->when == RULE_UNPARSED && !r->tree;
}

#define EXAMPLES_MAX 1000

static int try_examples(const char *lang, const struct ruleset *set, size_t *ret_count)
{
	static const char *codes[EXAMPLES_MAX];
	static struct tree trees[EXAMPLES_MAX];
	bool has_tree = tree_has_reader(lang);
	size_t k, n = 0;
	int bad = 0;

	for (size_t i = 0; i < set->count; i++)
		for (k = 0; k < set->rules[i].example_count && n < EXAMPLES_MAX; k++)
			codes[n++] = set->rules[i].examples[k].code;
	if (has_tree)
		read_trees(lang, codes, n, trees);
	*ret_count += n;
	n = 0;
	for (size_t i = 0; i < set->count; i++) {
		assert_true(set->rules[i].example_count >= 2);
		for (k = 0; k < set->rules[i].example_count; k++, n++)
			bad += try_example(lang, &set->rules[i], &set->rules[i].examples[k],
					   has_tree && !is_of_text(&set->rules[i]) ? &trees[n] :
										     NULL);
	}
	for (size_t i = 0; has_tree && i < n; i++)
		tree_release(&trees[i]);
	return bad;
}

static void test_rule_examples(void **state)
{
	struct error err = ERROR_INIT;
	size_t examples = 0;
	int bad = 0;

	(void)state;
	for (size_t i = 0; lang_at(i); i++) {
		const struct ruleset *set = ruleset_builtin(lang_at(i)->name, &err);

		if (!set)
			print_error("%s\n", err.message);
		assert_non_null(set);
		bad += try_examples(lang_at(i)->name, set, &examples);
	}
	printf("%zu examples\n", examples);
	assert_int_equal(bad, 0);
}

static void test_limits(void **state)
{
	static const char with_nul[] = "print(1)\0print(2)";
	struct screen_options standard = { .profile = SCREEN_STANDARD },
			      off = { .profile = SCREEN_OFF };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(screen_code("python", with_nul, sizeof(with_nul) - 1, &standard, &s, &err),
			 0);
	assert_int_equal(s.verdict, SCREEN_DENY);
	assert_true(has_finding(&s, "limit.nul"));
	screening_release(&s);
	assert_int_equal(screen_code("python", "\xff\xfe", 2, &standard, &s, &err), 0);
	assert_true(has_finding(&s, "limit.encoding"));
	screening_release(&s);
	assert_int_equal(screen_code("cobol", "x", 1, &standard, &s, &err), -1);
	assert_int_equal(screen_code("python", "import socket", 13, &off, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_ALLOW);
	assert_int_equal(strlen(s.ruleset), 64);
	screening_release(&s);
}

/* Ordinary computation must pass. */
static const char *const ordinary[] = {
	"import csv, json, os, sys\nwith open('/in/data.csv') as f:\n    rows = "
	"list(csv.reader(f))\n"
	"os.makedirs('/out/a', exist_ok=True)\njson.dump(rows, open(os.path.join('/out', 'x'), "
	"'w'))\n",
	"from pathlib import Path\nimport re, math, collections\nprint(Path('/in/a').read_text())\n"
	"print(re.compile('a').findall('b'), len(os.listdir('/in')))\n",
	"import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
	"plt.plot([1]); plt.savefig('/out/plot.png')\n",
	"import asyncio, threading, multiprocessing, tempfile, sqlite3\nprint(__name__, "
	"__file__)\n",
	"path = '/in/status'\nfor line in open(path, encoding='utf-8', errors='replace'):\n"
	"    print(line.split(':')[0])\n",
};

static void test_ordinary(void **state)
{
	struct tree trees[ARRAY_SIZE(ordinary)];

	(void)state;
	read_trees("python", ordinary, ARRAY_SIZE(ordinary), trees);
	for (size_t i = 0; i < ARRAY_SIZE(ordinary); i++) {
		struct screen_options options = { .tree = &trees[i] };
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(trees[i].state, TREE_READ);
		assert_int_equal(screen_code("python", ordinary[i], strlen(ordinary[i]), &options,
					     &s, &err),
				 0);
		if (s.verdict > SCREEN_WARN)
			print_error("%s: %s\n", s.findings[0].rule, s.findings[0].excerpt);
		assert_true(s.verdict <= SCREEN_WARN);
		screening_release(&s);
		tree_release(&trees[i]);
	}
}

/* --- the table --- */

struct row {
	const char *name;
	const char *file;
	const char *lang;
	const char *sources; /* between bars */
	int os_touching;     /* 1, 0; -1: any */
	double min, max;     /* bounds on the share flagged */
	size_t total, by_text, flagged;
};

static struct row rows[] = {
	{ "HumanEval MBPP CRUXEval", "benign.jsonl", "python", "|humaneval|mbpp|cruxeval|", -1, 0,
	  0.002 },
	{ "TheAlgorithms/Python", "benign.jsonl", "python", "|thealgorithms-python|", -1, 0, 0.03 },
	{ "Python examples", "benign.jsonl", "python", "|python3.11-examples|", -1, 0, 1 },
	{ "HumanEval-X JavaScript", "benign.jsonl", "javascript", "|humaneval-x-js|", -1, 0, 0.02 },
	{ "pure-bash-bible", "benign.jsonl", "bash", "|pure-bash-bible|", -1, 0, 1 },
	{ "os-touching Python", "hostile.jsonl", "python", "|redcode-python|", 1, 0.90, 1 },
	{ "other RedCode Python", "hostile.jsonl", "python", "|redcode-python|", 0, 0, 1 },
	{ "os-touching shell", "hostile.jsonl", "bash", "|redcode-bash|", 1, 0.85, 1 },
	{ "shell injections", "hostile.jsonl", "bash", "|patt-cmdexec-lines|payloadsallthethings|",
	  -1, 0, 1 },
	{ "Python jail payloads", "hostile.jsonl", "python",
	  "|payloadsallthethings|smolagents-security|", -1, 0.90, 1 },
	{ "JavaScript payloads", "hostile.jsonl", "javascript",
	  "|payloadsallthethings|codeshield-rules|", -1, 0, 1 },
};

static bool row_takes(const struct row *row, const struct json *r)
{
	cleanup_free char *source = mem_printf("|%s|", json_get_string(r, "source"));

	if (strcmp(row->lang, json_get_string(r, "lang")) || !strstr(row->sources, source))
		return false;
	return row->os_touching < 0 || json_get_bool(r, "os_touching", false) == row->os_touching;
}

/* ASSAY_SCREEN_SHOW=ROW prints what a row let pass or flagged. */
static void show(const struct row *row, const struct json *r, const struct screening *s)
{
	const char *want = getenv("ASSAY_SCREEN_SHOW");

	if (!want || strcmp(want, row->name))
		return;
	printf("%s %s\n", json_get_string(r, "id"), screen_action_name(s->verdict));
	for (size_t i = 0; i < s->count; i++)
		printf("    %s %s | %s\n", screen_action_name(s->findings[i].action),
		       s->findings[i].rule, s->findings[i].excerpt);
}

static bool is_flagged(const struct row *row, const struct json *r, const struct tree *tree)
{
	const char *code = json_get_string(r, "code");
	struct screen_options options = { .tree = tree };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(screen_code(row->lang, code, strlen(code), &options, &s, &err), 0);
	bool flagged = s.verdict >= SCREEN_CONFIRM;
	if (tree || !tree_has_reader(row->lang))
		show(row, r, &s);
	screening_release(&s);
	return flagged;
}

static void count_record(const char *file, const struct json *r, const struct tree *tree)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row *row = &rows[i];

		if (strcmp(row->file, file) || !row_takes(row, r))
			continue;
		row->total++;
		row->by_text += is_flagged(row, r, NULL);
		row->flagged += is_flagged(row, r, tree->state == TREE_NONE ? NULL : tree);
	}
}

struct corpus {
	struct json **records;
	const char **codes;
	struct tree *trees;
	size_t count;
};

#define BATCH 200

/* Of the programs in a language that has a reader. */
static void read_corpus_trees(struct corpus *c, const char *lang)
{
	const char *codes[BATCH];
	size_t where[BATCH], n = 0;

	for (size_t i = 0; i <= c->count; i++) {
		if (i < c->count && !strcmp(json_get_string(c->records[i], "lang"), lang)) {
			codes[n] = json_get_string(c->records[i], "code");
			where[n++] = i;
		}
		if (n < BATCH && (i < c->count || !n))
			continue;
		struct tree trees[BATCH];
		read_trees(lang, codes, n, trees);
		for (size_t k = 0; k < n; k++)
			c->trees[where[k]] = trees[k];
		n = 0;
	}
}

static bool load_corpus(const char *file, struct corpus *c)
{
	const char *dir = getenv("ASSAY_DATA");
	cleanup_free char *path = mem_printf("%s/%s", dir ? dir : "../shared/data", file);
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	char *line;

	*c = (struct corpus){ 0 };
	if (io_read_file(path, &text, &err)) {
		printf("skipped: %s\n", err.message);
		return false;
	}
	for (char *rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
		struct json *r = json_parse(line, strlen(line), JSON_BIG_AS_STRING, &err);

		if (!r)
			continue;
		c->records = mem_array(c->records, c->count + 1, sizeof(*c->records));
		c->records[c->count++] = r;
	}
	c->trees = mem_alloc(c->count * sizeof(*c->trees));
	memset(c->trees, 0, c->count * sizeof(*c->trees));
	return true;
}

static bool count_file(const char *file)
{
	struct corpus c;

	if (!load_corpus(file, &c))
		return false;
	for (size_t i = 0; lang_at(i); i++)
		if (tree_has_reader(lang_at(i)->name))
			read_corpus_trees(&c, lang_at(i)->name);
	for (size_t i = 0; i < c.count; i++) {
		count_record(file, c.records[i], &c.trees[i]);
		json_free(c.records[i]);
		tree_release(&c.trees[i]);
	}
	free(c.records);
	free(c.trees);
	return true;
}

static void test_table(void **state)
{
	int bad = 0;

	(void)state;
	if (!count_file("benign.jsonl") || !count_file("hostile.jsonl"))
		skip();
	printf("%-26s %21s %9s %9s\n", "flagged by", "text", "and tree", "bounds");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double text = (double)rows[i].by_text / (double)rows[i].total;
		double share = (double)rows[i].flagged / (double)rows[i].total;
		bool ok = share >= rows[i].min && share <= rows[i].max;

		printf("%-26s %4zu of %4zu %6.2f %% %6.2f %%  %.1f to %.1f%s\n", rows[i].name,
		       rows[i].flagged, rows[i].total, text * 100, share * 100, rows[i].min * 100,
		       rows[i].max * 100, ok ? "" : "  OUT OF BOUNDS");
		bad += !ok;
	}
	assert_int_equal(bad, 0);
}

/* --- a user's rules --- */

static const struct {
	const char *text, *says; /* NULL: good */
} files[] = {
	{ "rule no.numpy\nlang python\nstandard deny\nmatch \\bnumpy\\b\nmessage no numpy\n",
	  NULL },
	{ "# only a comment\r\n\r\n", NULL },
	{ "rule a\nstandard deny\ntree ^import numpy\nmessage m\n", NULL },
	{ "rule a\nstandard never\n", "line 2: unknown action \"never\"" },
	{ "rule a\nmatch (\n", "line 2: " },
	{ "rule a\ntree ^use \nunless ^use a$\nunless ^use b$\nmessage m\n", NULL },
	{ "rule a\ntree ^use \nmessage m\nunless (\n", "line 1: rule a: " },
	{ "standard deny\n", "line 1: \"standard\" before the first rule" },
	{ "rule a\nlang cobol\n", "line 2: unknown language \"cobol\"" },
	{ "\nrule a\nmessage m\n", "line 2: rule a has no pattern" },
	{ "rule a\nmatch x\n", "line 1: rule a has no message" },
	{ "rule a\ncolour red\n", "line 2: unknown key \"colour\"" },
	{ "rule\n", "line 1: \"rule\" has no value" },
	{ "allow networkx*\n", NULL },
	{ "allow\n", "line 1: \"allow\" has no value" },
	{ "rule a\nwhen unparsed\nmatch x\nmessage m\n", NULL },
	{ "rule a\nwhen tired\n", "line 2: unknown condition \"tired\"" },
};

static void test_user_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct ruleset set = { 0 };
		struct error err = ERROR_INIT;
		int rc = ruleset_parse(files[i].text, strlen(files[i].text), &set, &err);

		assert_int_equal(rc, files[i].says ? -1 : 0);
		if (files[i].says && strncmp(err.message, files[i].says, strlen(files[i].says)))
			fail_msg("%s: %s", files[i].says, err.message);
		ruleset_release(&set);
	}
}

static void test_user_rules_apply(void **state)
{
	struct screen_options options = { .profile = SCREEN_STANDARD };
	struct ruleset set = { 0 };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(screen_code("python", "import numpy", 12, &options, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_ALLOW);
	char digest[65];
	memcpy(digest, s.ruleset, sizeof(digest));
	screening_release(&s);
	assert_int_equal(ruleset_parse(files[0].text, strlen(files[0].text), &set, &err), 0);
	options.rules = &set;
	assert_int_equal(screen_code("python", "import numpy", 12, &options, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_DENY);
	assert_string_not_equal(s.ruleset, digest);
	screening_release(&s);
	assert_int_equal(screen_code("bash", "import numpy", 12, &options, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_ALLOW);
	screening_release(&s);
	ruleset_release(&set);
}

/* What is not on the list is allowed by a user's line, name by name. */
static void test_user_allows(void **state)
{
	static const char *const codes[] = { "import turtle\nturtle.forward(1)\n" };
	static const struct {
		const char *text;
		enum screen_action verdict;
	} lists[] = {
		{ "allow turtle\nallow turtle.*\n", SCREEN_ALLOW },
		{ "allow turtle\nallow forward\n", SCREEN_DENY },
		{ "allow turtles\n", SCREEN_DENY },
	};
	struct tree tree;

	(void)state;
	read_trees("python", codes, 1, &tree);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct screen_options options = { .profile = SCREEN_STRICT, .tree = &tree };
		struct ruleset set = { 0 };
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(ruleset_parse(lists[i].text, strlen(lists[i].text), &set, &err),
				 0);
		options.rules = &set;
		assert_int_equal(
			screen_code("python", codes[0], strlen(codes[0]), &options, &s, &err), 0);
		assert_int_equal(s.verdict, lists[i].verdict);
		screening_release(&s);
		ruleset_release(&set);
	}
	tree_release(&tree);
}

static void strict_denies(const char *code, const struct tree *tree)
{
	struct screen_options options = { .profile = SCREEN_STRICT, .tree = tree };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(screen_code("python", code, strlen(code), &options, &s, &err), 0);
	assert_int_equal(s.verdict, SCREEN_DENY);
	screening_release(&s);
}

/* A parser that did not do its work, and a chain that it can read and the list
 * cannot follow. */
static void test_strict_fails_closed(void **state)
{
	cleanup_buf struct buf code = BUF_INIT(1 << 20);
	struct tree tree = { 0 };

	(void)state;
	tree_parse("{}", 2, &tree);
	strict_denies("print(1)", &tree);
	tree_release(&tree);
	buf_addstr(&code, "x = y");
	for (int i = 0; i < 2000; i++)
		buf_addstr(&code, ".a");
	const char *text = code.data;
	read_trees("python", &text, 1, &tree);
	strict_denies(text, &tree);
	tree_release(&tree);
}

int main(void)
{
	const struct CMUnitTest screen[] = {
		cmocka_unit_test(test_rule_examples),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_user_files),
		cmocka_unit_test(test_user_rules_apply),
		cmocka_unit_test(test_user_allows),
		cmocka_unit_test(test_strict_fails_closed),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(screen, open_sandbox, close_sandbox);
}
