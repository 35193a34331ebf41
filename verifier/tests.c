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
	const char *source;	/* in the source tree, embedded */
	const char *file;	/* beside the program: the entry */
	const char *tests;	/* beside the program: the tests */
	bool stubs;		/* can empty the program's functions itself */
} harnesses[] = {
	{ "python", "verifier/harness/python.py", "assay_harness.py", "assay_tests.py", true },
	{ "javascript", "verifier/harness/javascript.js", "assay_harness.js", "assay_tests.js", false },
	{ "bash", "verifier/harness/bash.sh", "assay_harness.sh", "assay_tests.sh", false },
};

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
static char *fill_in(const struct embed *source, const char *const values[][2], size_t count)
{
	cleanup_buf struct buf b = BUF_INIT(1 << 20);
	const char *at = source->data;
	size_t i, n;

	while (at < source->end) {
		for (i = 0; i < count; i++)
			if (!strncmp(at, values[i][0], strlen(values[i][0])))
				break;
		if (i < count) {
			buf_addstr(&b, values[i][1]);
			at += strlen(values[i][0]);
		}
		n = i < count ? 0 : 1;
		buf_add(&b, at, n);
		at += n;
	}
	return buf_take(&b, NULL);
}

int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err)
{
	const struct harness *h = harness_find(language->name);
	const struct embed *source = h ? embed_find(h->source) : NULL;
	cleanup_free char *report = NULL;
	bool stub = t->stub;
	size_t i;

	if (!source)
		return error_set(err, ERR_USAGE, "tests cannot be run for %s", language->name);
	if (job->extra_count > TESTS_FILES_MAX - 2)
		return error_set(err, ERR_USAGE, "too many files beside the program");
	memset(t, 0, sizeof(*t));
	t->stub = stub;
	make_nonce(t->nonce);
	snprintf(t->report, sizeof(t->report), ".assay-tests-%s.json", t->nonce);
	report = mem_printf("/out/%s", t->report);
	t->harness = fill_in(source, (const char *const[][2]){
		{ "@REPORT@", report }, { "@SOLUTION@", language->file }, { "@TESTS@", h->tests },
		{ "@STUB@", stub && h->stubs ? "1" : "0" },
	}, 4);
	if (stub && !h->stubs) {
		job->code = "\n";
		job->code_len = 1;
	}
	t->files[0] = (struct sandbox_file){ h->file, t->harness, strlen(t->harness) };
	t->files[1] = (struct sandbox_file){ h->tests, tests, tests_len };
	for (i = 0; i < job->extra_count; i++)
		t->files[2 + i] = job->extras[i];
	job->extras = t->files;
	job->extra_count += 2;
	job->entry = h->file;
	return 0;
}

void tests_release(struct tests *t)
{
	free(t->harness);
	memset(t, 0, sizeof(*t));
}

/* --- the verdict --- */

/* The report's bytes, taken out of the artifacts: no user should see it. */
static char *take_report(const struct tests *t, struct sandbox_result *result, size_t *ret_len)
{
	size_t i;

	for (i = 0; i < result->artifact_count; i++) {
		struct sandbox_artifact *a = &result->artifacts[i];
		char *bytes;

		if (!a->path || strcmp(a->path, t->report) != 0)
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
		buf_addstr(&why, "The tests executed no assertion, so they prove nothing.");
	} else {
		r->verdict = VERDICT_PASS;
		buf_addf(&why, "%lld assertion%s passed.", (long long)assertions,
			 assertions == 1 ? "" : "s");
		say_lines(&why, report, true, " Lines of the tests: ");
	}
	r->detail = buf_take(&why, NULL);
}

void tests_judge(const struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret)
{
	struct check_result r = { .kind = "tests", .source = source };
	cleanup_free char *bytes = NULL;
	cleanup_json struct json *report = NULL;
	struct error err = ERROR_INIT;
	size_t len = 0;

	bytes = take_report(t, result, &len);
	if (bytes)
		report = json_parse(bytes, len, 0, &err);
	if (report) {
		judge_report(report, result, &r);
	} else {
		r.verdict = VERDICT_FAIL;
		r.detail = mem_printf("The tests did not finish (outcome %s, exit code %d).",
				      sandbox_outcome_name(result->outcome), result->exit_code);
	}
	*ret = r;
}
