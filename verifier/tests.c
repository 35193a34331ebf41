/*
 * Deciding tests: the harness put together for a mode, and the judge's report read. The report
 * counts only with the nonce that the program never saw; anything else is undecided.
 */
#include "verifier/tests.h"

#include "base/embed.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "base/clock.h"
#include "base/hash.h"
#include "verifier/lang/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {
	[TESTS_PROGRAM] = "program", [TESTS_JUDGE] = "judge", [TESTS_TOGETHER] = "together",
	[TESTS_STUB] = "stub",	     [TESTS_SHOW] = "show",   [TESTS_CELL] = "cell",
};

/* What is recorded of a run: a name that no file can have. */
#define REPORT_NAME ".assay-report/"
/* The same of a cell's, which is always the last of its artifacts. */
#define STATE_NAME ".assay-state/"
/* What the name of a run's file begins with, before the nonce. */
#define REPORT_MARK ".assay-tests-"

static const struct lang_harness *harness_find(const char *name)
{
	const struct lang *lang = lang_find(name);

	return lang && lang->harness.tests ? &lang->harness : NULL;
}

/* 128 bits that the guest cannot guess: a hash over a ULID's 80 random ones. */
static void make_nonce(char ret[TESTS_NONCE_LEN + 1])
{
	char ulid[ULID_LEN + 1];

	ulid_new(clock_wall_ms(), ulid);
	char hex[HASH_HEX_LEN + 1];
	hash_sha256(ulid, ULID_LEN, hex);
	memcpy(ret, hex, TESTS_NONCE_LEN);
	ret[TESTS_NONCE_LEN] = '\0';
}

/* What follows the next mark; NULL when there is none with room for a nonce. */
static char *next_nonce(char *at, const char *end)
{
	size_t mark = strlen(REPORT_MARK);

	at = memmem(at, (size_t)(end - at), REPORT_MARK, mark);
	return at && (size_t)(end - at) >= mark + TESTS_NONCE_LEN ? at + mark : NULL;
}

void tests_take_nonce(char *text, size_t len, char ret[TESTS_NONCE_LEN + 1])
{
	char *at = next_nonce(text, text + len);

	*ret = '\0';
	if (!at)
		return;
	memcpy(ret, at, TESTS_NONCE_LEN);
	ret[TESTS_NONCE_LEN] = '\0';
	memset(at, '0', TESTS_NONCE_LEN);
}

bool tests_give_nonce(char *bytes, size_t len, const char *nonce)
{
	char *at = next_nonce(bytes, bytes + len);

	if (!*nonce)
		return !at;
	if (!at || next_nonce(at, bytes + len) || strspn(at, "0") < TESTS_NONCE_LEN)
		return false;
	memcpy(at, nonce, TESTS_NONCE_LEN);
	return true;
}

/* Fills in the places the harness leaves for its parameters. */
static void fill_in(struct buf *b, const struct embed *source, const char *const values[][2],
		    size_t count)
{
	const char *at = source->data, *mark;

	while ((mark = memchr(at, '@', (size_t)(source->end - at)))) {
		size_t i;

		buf_add(b, at, (size_t)(mark - at));
		for (i = 0; i < count; i++)
			if (!strncmp(mark, values[i][0], strlen(values[i][0])))
				break;
		buf_addstr(b, i < count ? values[i][1] : "@");
		at = mark + (i < count ? strlen(values[i][0]) : 1);
	}
	buf_add(b, at, (size_t)(source->end - at));
}

static char *harness_text(const struct lang_harness *h, const struct lang_entry *entry,
			  const struct tests *t)
{
	cleanup_free char *report = mem_printf("/out/%s", t->report);
	const char *const values[][2] = {
		{ "@REPORT@", report },
		{ "@TESTS@", h->tests },
		{ "@SOLUTION@", t->language->file },
		{ "@MODE@", mode_names[t->mode] },
	};
	cleanup_buf struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < LANG_SOURCES_MAX && entry->source[i]; i++) {
		cleanup_free char *path =
			mem_printf("verifier/lang/%s/%s", t->language->name, entry->source[i]);
		const struct embed *source = embed_find(path);

		if (source)
			fill_in(&b, source, values, ARRAY_SIZE(values));
	}
	return buf_take(&b, NULL);
}

/* What a copy of a harness that holds reads (sandbox.h): where to report, in a line, and the
 * program. */
static void make_resume(struct tests *t, const struct lang_entry *entry, struct sandbox_job *job)
{
	struct buf b = BUF_INIT(job->code_len + sizeof(t->report) + 16);

	free(t->resume);
	t->resume = NULL;
	if (!entry->holds)
		return;
	buf_addf(&b, "/out/%s\n", t->report);
	buf_add(&b, job->code, job->code_len);
	t->resume = buf_take(&b, &job->resume_len);
	job->resume = t->resume;
}

/* Where the answers are given there are no tests, and where they are judged
 * there is nothing of the program, nor of what it is given. */
static void list_files(struct tests *t, const struct lang_harness *h,
		       const struct lang_entry *entry, const char *tests, size_t len,
		       struct sandbox_job *job)
{
	size_t n = 0;

	t->files[n++] = (struct sandbox_file){ entry->file, t->harness, strlen(t->harness) };
	if (t->mode != TESTS_PROGRAM && t->mode != TESTS_SHOW && t->mode != TESTS_CELL)
		t->files[n++] = (struct sandbox_file){ h->tests, tests, len };
	if (t->mode == TESTS_JUDGE) {
		job->stdin_bytes = NULL;
		job->stdin_len = 0;
		job->inputs = NULL;
		job->input_count = 0;
	}
	if (t->mode == TESTS_JUDGE || (t->mode == TESTS_STUB && !h->stubs)) {
		job->code = "\n";
		job->code_len = 1;
	}
	job->extras = t->files;
	job->extra_count = n;
	job->entry = entry->file;
	job->flags = entry->flags;
	if (t->mode == TESTS_CELL) {
		cells_add(&t->cells, job);
		make_resume(t, entry, job);
	}
}

int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err)
{
	const struct lang_harness *h = harness_find(language->name);

	if (!h)
		return error_set(err, ERR_USAGE, "tests cannot be run for %s", language->name);
	char nonce[TESTS_NONCE_LEN + 1];
	make_nonce(nonce);
	snprintf(t->report, sizeof(t->report), REPORT_MARK "%s.json", nonce);
	t->language = language;
	const struct lang_entry *entry = t->mode == TESTS_PROGRAM ? &h->program :
					 t->mode == TESTS_JUDGE	  ? &h->judge :
					 t->mode == TESTS_SHOW	  ? &h->show :
					 t->mode == TESTS_CELL	  ? &h->context :
								    &h->together;
	if (!entry->file)
		return error_set(err, ERR_USAGE, "%s has no %s", language->name,
				 t->mode == TESTS_CELL ? "contexts" : "value to show");
	free(t->harness);
	t->harness = harness_text(h, entry, t);
	list_files(t, h, entry, tests, tests_len, job);
	return 0;
}

bool tests_can_show(const struct language *language)
{
	const struct lang_harness *h = harness_find(language->name);

	return h && h->show.file;
}

bool tests_can_follow(const struct language *language)
{
	const struct lang_harness *h = harness_find(language->name);

	return h && h->context.file;
}

char *tests_that_follow(void)
{
	struct buf names = BUF_INIT(4096);
	const struct language *l;

	for (size_t i = 0; (l = language_at(i)); i++)
		if (tests_can_follow(l))
			buf_addf(&names, "%s%s", names.len ? ", " : "", l->name);
	return buf_take(&names, NULL);
}

void tests_release(struct tests *t)
{
	free(t->harness);
	free(t->resume);
	cells_release(&t->cells);
	memset(t, 0, sizeof(*t));
}

/* --- what the harness left --- */

static void rename_artifact(struct sandbox_artifact *a, const char *is, const char *becomes)
{
	if (!a->path || strcmp(a->path, is))
		return;
	free(a->path);
	a->path = mem_strdup(becomes);
}

void tests_collect(const struct tests *t, struct sandbox_result *result)
{
	const char *name = t->mode == TESTS_CELL ? STATE_NAME : REPORT_NAME;
	size_t n = result->artifact_count;

	for (size_t i = 0; i < n; i++)
		rename_artifact(&result->artifacts[i], t->report, name);
	for (size_t i = 0; i < n; i++) {
		struct sandbox_artifact a = result->artifacts[i];

		if (!tests_is_state(a.path))
			continue;
		memmove(&result->artifacts[i], &result->artifacts[i + 1], (n - i - 1) * sizeof(a));
		result->artifacts[n - 1] = a;
		break;
	}
}

/* A file's bytes, taken out of the artifacts: no user should see it. */
static char *take_file(struct sandbox_result *result, const char *name, size_t *ret_len)
{
	*ret_len = 0;
	for (size_t i = 0; i < result->artifact_count; i++) {
		struct sandbox_artifact *a = &result->artifacts[i];

		if (!a->path || strcmp(a->path, name))
			continue;
		char *bytes = TAKE_PTR(a->bytes);
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
#define LINES_SHOWN    40

/* "line 3: left is 1, right is 2; line 7: ...": what did not hold. */
static void say_failures(struct buf *out, const struct json *report)
{
	const struct json *f = json_first(json_get(report, "failures"));

	if (!f)
		buf_addstr(out, "without a message");
	for (size_t shown = 0; f && shown < FAILURES_SHOWN; f = json_next(f), shown++) {
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
	buf_addf(out, "%lld assertion%s passed.", (long long)assertions,
		 assertions == 1 ? "" : "s");
	say_lines(out, report, true, " Lines of the tests: ");
}

/* Why the judge could not decide, of its first assertion that it could not; or NULL. */
static char *why_undecided(const struct json *report)
{
	const struct json *list = json_get(report, "undecided"), *first = json_first(list);
	const char *unlike = json_get_string(report, "unlike");
	const char *why = json_get_string(first, "why");

	if (unlike && *unlike)
		return mem_printf("Apart from the program the tests cannot be judged: %.600s",
				  unlike);
	if (!first)
		return NULL;
	size_t count = 0;
	for (; first; first = json_next(first))
		count++;
	return mem_printf("%zu of the tests' assertions %s decided by the program's own objects, "
			  "which proves nothing (line %lld: %.400s).",
			  count, count == 1 ? "is" : "are",
			  (long long)json_get_int(json_first(list), "line", 0),
			  why ? why : "no reason given");
}

static void judge_report(const struct json *report, const struct sandbox_result *result,
			 struct check_result *r)
{
	int64_t assertions = json_get_int(report, "assertions", -1);
	int64_t failed = json_get_int(report, "failed", -1);
	cleanup_free char *undecided = why_undecided(report);
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
	} else if (undecided) {
		r->verdict = VERDICT_SKIPPED;
		buf_addstr(&why, undecided);
	} else if (!assertions) {
		r->verdict = VERDICT_ERROR;
		buf_addstr(&why, "The tests executed no assertion, so they prove nothing.");
	} else {
		r->verdict = VERDICT_PASS;
		say_passed(&why, report, assertions);
	}
	r->detail = buf_take(&why, NULL);
}

bool tests_is_state(const char *path)
{
	return path && !strcmp(path, STATE_NAME);
}

void tests_add_state(struct sandbox_result *result, char *bytes, size_t len)
{
	result->artifacts = mem_array(result->artifacts, result->artifact_count + 1,
				      sizeof(*result->artifacts));
	struct sandbox_artifact *a = &result->artifacts[result->artifact_count++];
	*a = (struct sandbox_artifact){ .path = mem_strdup(STATE_NAME),
					.size = len,
					.type = "application/json",
					.bytes = bytes,
					.kept = true };
}

struct json *tests_look_at_state(const struct sandbox_result *result)
{
	if (!result->artifact_count)
		return NULL;
	const struct sandbox_artifact *last = &result->artifacts[result->artifact_count - 1];
	struct error ignored = ERROR_INIT;
	return tests_is_state(last->path) && last->bytes ?
		       json_parse(last->bytes, (size_t)last->size, 0, &ignored) :
		       NULL;
}

struct json *tests_take_state(struct sandbox_result *result)
{
	struct json *report = tests_look_at_state(result);
	size_t len;

	free(take_file(result, STATE_NAME, &len));
	return report;
}

void tests_judge(const struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret)
{
	struct check_result r = { .kind = "tests", .source = source };
	cleanup_json struct json *report = NULL;

	(void)t;
	size_t len = 0;
	cleanup_free char *bytes = take_file(result, REPORT_NAME, &len);
	struct error err = ERROR_INIT;
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

/* --- a pair --- */

static bool ended_well(const struct sandbox_result *x)
{
	return x->outcome == SANDBOX_EXIT && x->exit_code == 0;
}

void tests_judge_pair(const struct tests *judge, const struct sandbox_result *program,
		      struct sandbox_result *judged, enum check_source source,
		      struct check_result *ret)
{
	tests_judge(judge, judged, source, ret);
	if (ended_well(program))
		return;
	char *said = ret->detail;
	ret->verdict = VERDICT_FAIL;
	ret->detail = mem_printf("The program did not end well (%s, exit code %d). %s",
				 sandbox_outcome_name(program->outcome), program->exit_code, said);
	free(said);
}

void tests_weigh(struct check_result *c, struct check_result *together)
{
	char *said = c->detail;

	if (together->verdict == VERDICT_FAIL) {
		c->verdict = VERDICT_FAIL;
		c->detail = TAKE_PTR(together->detail);
	} else {
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_printf("The tests pass beside the program, where it could forge "
				       "that; apart from it they do not. %.800s",
				       said);
	}
	free(said);
	check_result_release(together);
}
