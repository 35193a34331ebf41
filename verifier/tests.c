#include "verifier/tests.h"

#include "base/embed.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A language that tests can be run for is a row. */
static const struct harness {
	const char *lang;
	const char *source[3];	/* in the source tree, embedded; one after the other */
	const char *file;	/* beside the program: the entry */
	const char *tests;	/* beside the program: the tests */
	bool stubs;		/* can empty the program's functions itself */
} harnesses[] = {
	{ "python",
	  { "verifier/harness/python_calls.py", "verifier/harness/python_stubs.py",
	    "verifier/harness/python.py" },
	  "assay_harness.py", "assay_tests.py", true },
	{ "javascript", { "verifier/harness/javascript.js" }, "assay_harness.js", "assay_tests.js",
	  false },
	{ "bash", { "verifier/harness/bash.sh" }, "assay_harness.sh", "assay_tests.sh", false },
};

static const char *const mode_names[] = {
	[TESTS_TOGETHER] = "together", [TESTS_STUB] = "stub", [TESTS_ANSWER] = "answer",
	[TESTS_CONFIRM] = "confirm",
};

/* What is recorded of a run: names that no file can have. */
#define REPORT_NAME ".assay-report/"

static const struct harness *harness_find(const char *lang)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(harnesses); i++)
		if (!strcmp(harnesses[i].lang, lang))
			return &harnesses[i];
	return NULL;
}

/* 128 bits that the guest cannot guess: a hash over a ULID's 80 random ones. */
static void make_nonce(char ret[33])
{
	char ulid[ULID_LEN + 1], hex[HASH_HEX_LEN + 1];

	ulid_new(clock_wall_ms(), ulid);
	hash_sha256(ulid, ULID_LEN, hex);
	memcpy(ret, hex, 32);
	ret[32] = '\0';
}

/* Fills in the places the harness leaves for its parameters. */
static void fill_in(struct buf *b, const struct embed *source, const char *const values[][2],
		    size_t count)
{
	const char *at = source->data;
	size_t i, n;

	while (at < source->end) {
		for (i = 0; i < count; i++)
			if (!strncmp(at, values[i][0], strlen(values[i][0])))
				break;
		if (i < count) {
			buf_addstr(b, values[i][1]);
			at += strlen(values[i][0]);
		}
		n = i < count ? 0 : 1;
		buf_add(b, at, n);
		at += n;
	}
}

static char *harness_text(const struct harness *h, const struct tests *t)
{
	cleanup_free char *report = mem_printf("/out/%s", t->report);
	cleanup_free char *data = mem_printf("/out/%s", t->data);
	const char *const values[][2] = {
		{ "@REPORT@", report },	  { "@DATA@", data },
		{ "@TESTS@", h->tests },  { "@SOLUTION@", t->language->file },
		{ "@MODE@", mode_names[t->mode] },
	};
	cleanup_buf struct buf b = BUF_INIT(1 << 20);
	const struct embed *source;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(h->source) && h->source[i]; i++) {
		source = embed_find(h->source[i]);
		if (!source)
			continue;
		fill_in(&b, source, values, ARRAY_SIZE(values));
	}
	return buf_take(&b, NULL);
}

/* The tests are not where the answers are made, nor the program where they are judged. */
static size_t list_files(struct tests *t, const struct harness *h, const char *tests, size_t len)
{
	size_t n = 0;

	t->files[n++] = (struct sandbox_file){ h->file, t->harness, strlen(t->harness) };
	if (t->mode != TESTS_ANSWER)
		t->files[n++] = (struct sandbox_file){ h->tests, tests, len };
	if (t->mode >= TESTS_ANSWER)
		t->files[n++] = (struct sandbox_file){ "assay_calls", t->calls, t->calls_len };
	if (t->mode == TESTS_CONFIRM)
		t->files[n++] =
			(struct sandbox_file){ "assay_answers", t->answers, t->answers_len };
	return n;
}

int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err)
{
	const struct harness *h = harness_find(language->name);
	char nonce[33];
	size_t n, i;

	if (!h)
		return error_set(err, ERR_USAGE, "tests cannot be run for %s", language->name);
	make_nonce(nonce);
	snprintf(t->report, sizeof(t->report), ".assay-tests-%s.json", nonce);
	make_nonce(nonce);
	snprintf(t->data, sizeof(t->data), ".assay-data-%s", nonce);
	t->language = language;
	free(t->harness);
	t->harness = harness_text(h, t);
	if ((t->mode == TESTS_STUB && !h->stubs) || t->mode == TESTS_CONFIRM) {
		job->code = "\n";
		job->code_len = 1;
	}
	n = list_files(t, h, tests, tests_len);
	if (job->extra_count > TESTS_FILES_MAX - n)
		return error_set(err, ERR_USAGE, "too many files beside the program");
	for (i = 0; i < job->extra_count; i++)
		t->files[n + i] = job->extras[i];
	job->extras = t->files;
	job->extra_count += n;
	job->entry = h->file;
	return 0;
}

void tests_release(struct tests *t)
{
	free(t->harness);
	free(t->calls);
	free(t->answers);
	memset(t, 0, sizeof(*t));
}

/* --- what the harness left --- */

static void rename_artifact(struct sandbox_artifact *a, const char *is, const char *becomes)
{
	if (!a->path || strcmp(a->path, is) != 0)
		return;
	free(a->path);
	a->path = mem_strdup(becomes);
}

void tests_collect(const struct tests *t, struct sandbox_result *result)
{
	size_t i;

	for (i = 0; i < result->artifact_count; i++) {
		rename_artifact(&result->artifacts[i], t->report, REPORT_NAME);
		rename_artifact(&result->artifacts[i], t->data, TESTS_DATA_FOLDER);
	}
}

/* A file's bytes, taken out of the artifacts: no user should see it. */
static char *take_file(struct sandbox_result *result, const char *name, size_t *ret_len)
{
	size_t i;

	*ret_len = 0;
	for (i = 0; i < result->artifact_count; i++) {
		struct sandbox_artifact *a = &result->artifacts[i];
		char *bytes;

		if (!a->path || strcmp(a->path, name) != 0)
			continue;
		bytes = TAKE_PTR(a->bytes);
		*ret_len = bytes ? (size_t)a->size : 0;
		free(a->path);
		free(a->why_not);
		memmove(a, a + 1, (result->artifact_count - i - 1) * sizeof(*a));
		result->artifact_count--;
		return bytes;
	}
	return NULL;
}

/* --- the verdict --- */

#define FAILURES_SHOWN 5
#define LINES_SHOWN 40

/* "line 3: left is 1, right is 2; line 7: ...": what did not hold. */
static void say_failures(struct buf *out, const struct json *report)
{
	const struct json *f = json_first(json_get(report, "failures"));
	size_t shown;

	if (!f)
		buf_addstr(out, "without a message");
	for (shown = 0; f && shown < FAILURES_SHOWN; f = json_next(f), shown++) {
		const char *message = json_get_string(f, "message");
		int64_t line = json_get_int(f, "line", 0);

		buf_addstr(out, shown ? "; " : "");
		if (line > 0)
			buf_addf(out, "line %lld of the tests: ", (long long)line);
		buf_addf(out, "%.400s", message ? message : "without a message");
	}
	if (f)
		buf_addstr(out, "; and more");
}

/* The lines whose assertions did, or did not, hold. */
static void say_lines(struct buf *out, const struct json *report, bool held, const char *words)
{
	const struct json *line = json_first(json_get(report, "lines"));
	size_t shown = 0;

	for (; line && shown < LINES_SHOWN; line = json_next(line)) {
		const struct json *number = json_first(line);

		if (json_bool(json_next(number), !held) != held || json_int(number, 0) < 1)
			continue;
		buf_addf(out, "%s%lld", shown++ ? ", " : words, (long long)json_int(number, 0));
	}
	if (shown)
		buf_addch(out, '.');
}

static void say_failed(struct buf *out, const struct json *report, int64_t assertions,
		       int64_t failed)
{
	if (assertions >= failed)
		buf_addf(out, "The tests failed: %lld of %lld assertions did not hold: ",
			 (long long)failed, (long long)assertions);
	else
		buf_addf(out, "The tests failed after %lld assertions: ", (long long)assertions);
	say_failures(out, report);
	if (out->data[out->len - 1] != '.')
		buf_addch(out, '.');
	say_lines(out, report, true, " Those in these lines held: ");
}

static void say_passed(struct buf *out, const struct json *report, int64_t assertions)
{
	int64_t own = json_get_int(report, "own", 0);

	buf_addf(out, "%lld assertion%s passed.", (long long)assertions,
		 assertions == 1 ? "" : "s");
	say_lines(out, report, true, " Lines of the tests: ");
	if (own > 0)
		buf_addf(out, " %lld more, decided by the program's own objects, do not count.",
			 (long long)own);
}

static void judge_report(const struct json *report, const struct sandbox_result *result,
			 struct check_result *r)
{
	int64_t assertions = json_get_int(report, "assertions", -1);
	int64_t failed = json_get_int(report, "failed", -1);
	struct buf why = BUF_INIT((size_t)64 << 10);

	if (assertions < 0 || failed < 0) {
		r->verdict = VERDICT_ERROR;
		buf_addstr(&why, "The report of the tests cannot be read.");
	} else if (failed) {
		r->verdict = VERDICT_FAIL;
		say_failed(&why, report, assertions, failed);
	} else if (result->outcome != SANDBOX_EXIT || result->exit_code != 0) {
		r->verdict = VERDICT_FAIL;
		buf_addf(&why, "The run of the tests ended with %s, not with exit code 0.",
			 sandbox_outcome_name(result->outcome));
	} else if (!assertions) {
		r->verdict = VERDICT_ERROR;
		buf_addstr(&why, json_get_int(report, "own", 0) > 0 ?
					 "Every assertion was decided by the program's own "
					 "objects, which proves nothing." :
					 "The tests executed no assertion, so they prove nothing.");
	} else {
		r->verdict = VERDICT_PASS;
		say_passed(&why, report, assertions);
	}
	r->detail = buf_take(&why, NULL);
}

/* Why a pass is not one yet, or NULL. */
static char *why_unlike(const struct json *report)
{
	const char *why = json_get_string(report, "unlike");

	return why && *why ? mem_strdup(why) : NULL;
}

/* A pass without calls to make elsewhere, or with the reason why they cannot be. */
static void cannot_confirm(struct check_result *c, const char *why)
{
	free(c->detail);
	c->verdict = VERDICT_SKIPPED;
	c->detail =
		mem_printf("The tests passed beside the program, where it could forge that; apart "
			   "from it they prove nothing: %.600s",
			   why);
}

void tests_judge(struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret)
{
	struct check_result r = { .kind = "tests", .source = source };
	cleanup_free char *bytes = NULL, *why = NULL, *data = NULL;
	cleanup_json struct json *report = NULL;
	struct error err = ERROR_INIT;
	size_t len = 0, data_len = 0;

	data = take_file(result, TESTS_DATA_FOLDER, &data_len);
	bytes = take_file(result, REPORT_NAME, &len);
	if (bytes)
		report = json_parse(bytes, len, 0, &err);
	if (report) {
		judge_report(report, result, &r);
		why = why_unlike(report);
	} else {
		r.verdict = VERDICT_FAIL;
		r.detail = mem_printf("The tests did not finish (outcome %s, exit code %d).",
				      sandbox_outcome_name(result->outcome), result->exit_code);
	}
	if (why && (r.verdict == VERDICT_PASS || t->mode == TESTS_CONFIRM))
		cannot_confirm(&r, why);
	if (t->mode == TESTS_TOGETHER && r.verdict == VERDICT_PASS && data) {
		free(t->calls);
		t->calls = TAKE_PTR(data);
		t->calls_len = data_len;
	}
	*ret = r;
}

/* --- confirming a pass --- */

/* The program's answers, or NULL and why there are none. */
static char *take_answers(struct sandbox_result *x, size_t *ret_len, char **ret_why)
{
	cleanup_free char *report = NULL;
	cleanup_json struct json *told = NULL;
	struct error err = ERROR_INIT;
	char *answers;
	size_t len;

	answers = take_file(x, TESTS_DATA_FOLDER, ret_len);
	report = take_file(x, REPORT_NAME, &len);
	told = report ? json_parse(report, len, 0, &err) : NULL;
	*ret_why = answers ? NULL :
			     mem_printf("the program alone did not answer the same calls (%s%s%s).",
					sandbox_outcome_name(x->outcome), told ? ", " : "",
					told && json_get_string(told, "unlike") ?
					json_get_string(told, "unlike") : "");
	return answers;
}

static int make_run(struct tests *t, enum tests_mode mode, tests_run_fn *run, void *self,
		    struct sandbox_result *ret, struct error *err)
{
	t->mode = mode;
	*ret = (struct sandbox_result){ .exit_code = -1 };
	return run(self, t, ret, err);
}

/* What the apart run says becomes the verdict; only its pass is one. */
static void take_verdict(struct check_result *c, struct check_result *apart)
{
	if (apart->verdict == VERDICT_PASS || apart->verdict == VERDICT_SKIPPED) {
		free(c->detail);
		c->detail = TAKE_PTR(apart->detail);
		c->verdict = apart->verdict;
	} else {
		cannot_confirm(c, apart->detail);
	}
	check_result_release(apart);
}

int tests_confirm(struct tests *t, tests_run_fn *run, void *self, struct check_result *c,
		  struct error *err)
{
	struct check_result apart = { .kind = NULL };
	cleanup_free char *why = NULL;
	struct sandbox_result x;

	if (c->verdict != VERDICT_PASS)
		return 0;
	if (!t->calls) {
		cannot_confirm(c, "its calls were not told.");
		return 0;
	}
	if (make_run(t, TESTS_ANSWER, run, self, &x, err) < 0)
		return -1;
	free(t->answers);
	t->answers = take_answers(&x, &t->answers_len, &why);
	sandbox_result_release(&x);
	if (!t->answers) {
		cannot_confirm(c, why);
		return 0;
	}
	if (make_run(t, TESTS_CONFIRM, run, self, &x, err) < 0)
		return -1;
	tests_judge(t, &x, c->source, &apart);
	sandbox_result_release(&x);
	take_verdict(c, &apart);
	return 0;
}
