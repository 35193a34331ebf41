/* Walks tests/cases/{extract,check,failure,screen}; the format is in
 * tests/cases/README. */
#include "tests/unit/test_verifier_sandbox.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verifier/check.h"
#include "verifier/extract.h"
#include "verifier/failure.h"
#include "verifier/screen.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 24

struct one_case {
	const char *name;
	char *keys[KEYS_MAX], *values[KEYS_MAX];
	size_t count;
};

static const char *get(const struct one_case *c, const char *key)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!strcmp(c->keys[i], key))
			return c->values[i];
	return NULL;
}

static long number(const struct one_case *c, const char *key, long otherwise)
{
	const char *value = get(c, key);

	return value ? strtol(value, NULL, 10) : otherwise;
}

/* A section: the lines up to the next mark, which ends at its newline. */
static char *take_section(char *at, char **ret_body)
{
	char *end = at;

	while (*end && strncmp(end, "--- ", 4) != 0 && strncmp(end, "=== ", 4) != 0) {
		end = strchr(end, '\n');
		end = end ? end + 1 : at + strlen(at);
	}
	*ret_body = mem_strndup(at, (size_t)(end - at));
	return end;
}

static char *parse_case(char *at, struct one_case *c)
{
	while (*at && strncmp(at, "=== ", 4) != 0) {
		char *nl = strchr(at, '\n'), *space;

		assert_non_null(nl);
		assert_true(c->count < KEYS_MAX);
		*nl = '\0';
		if (!strncmp(at, "--- ", 4)) {
			c->keys[c->count] = mem_strdup(at + 4);
			at = take_section(nl + 1, &c->values[c->count++]);
			continue;
		}
		space = strchr(at, ' ');
		if (space) {
			c->keys[c->count] = mem_strndup(at, (size_t)(space - at));
			c->values[c->count++] = mem_strdup(space + 1);
		}
		at = nl + 1;
	}
	return at;
}

static bool same(const struct one_case *c, const char *key, const char *is)
{
	const char *want = get(c, key);

	if (!want || (is && !strcmp(want, is)))
		return true;
	print_error("%s: %s is \"%s\", expected \"%s\"\n", c->name, key, is ? is : "(none)", want);
	return false;
}

static bool says(const struct one_case *c, const char *is)
{
	const char *want = get(c, "says");

	if (!want || (is && strstr(is, want)))
		return true;
	print_error("%s: says \"%s\", not \"%s\"\n", c->name, is ? is : "(none)", want);
	return false;
}

static bool same_number(const struct one_case *c, const char *key, long is)
{
	if (!get(c, key) || number(c, key, 0) == is)
		return true;
	print_error("%s: %s is %ld, expected %s\n", c->name, key, is, get(c, key));
	return false;
}

static bool run_extract(const struct one_case *c)
{
	struct extract_options options = { get(c, "want"), number(c, "truncated", 0) != 0 };
	const char *reply = get(c, "reply");
	const struct code_block *chosen;
	struct extraction x = { 0 };
	struct error err = ERROR_INIT;
	bool ok;

	assert_int_equal(extract_code(reply, strlen(reply), &options, &x, &err), 0);
	chosen = extraction_chosen(&x);
	ok = same(c, "status", extract_status_name(x.status)) &&
	     same(c, "code", chosen ? chosen->code : NULL) &&
	     same_number(c, "blocks", (long)x.count);
	extraction_release(&x);
	return ok;
}

/* Python, in the sandbox: what it prints and writes to /out is what is checked. */
static void run_program(const struct one_case *c, struct sandbox_result *ret)
{
	const char *code = get(c, "program");
	struct sandbox_job job = { .language = language_find("python"), .code = code,
				   .code_len = strlen(code) };
	struct sandbox_watch watch = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = 30000;	/* generous: the machine may be busy */
	if (sandbox_run(sandbox, &job, &watch, ret, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	if (ret->outcome != SANDBOX_EXIT || ret->exit_code)
		fail_msg("%s: %s %s %.*s", c->name, sandbox_outcome_name(ret->outcome), ret->detail,
			 (int)ret->err.len, ret->err.bytes);
}

static bool run_check(const struct one_case *c)
{
	const char *output = get(c, "output");
	cleanup_free char *bytes = mem_strdup(output ? output : "");
	struct sandbox_result result = { .outcome = SANDBOX_EXIT };
	struct check_list list = { 0 };
	struct check_result r = { 0 };
	struct error err = ERROR_INIT;
	cleanup_json struct json *expect = NULL;
	int rc;
	bool ok;

	if (get(c, "program")) {
		run_program(c, &result);
	} else {
		result.out = (struct sandbox_stream){ TAKE_PTR(bytes), strlen(output ? output : ""),
						      strlen(output ? output : ""), false };
		result.metrics.wall_ms = (double)number(c, "wall_ms", 1);
	}
	if (get(c, "expect")) {
		expect = json_parse(get(c, "expect"), strlen(get(c, "expect")),
				    JSON_BIG_AS_STRING, &err);
		rc = check_add_expect(&list, expect, CHECK_TASK, &err);
	} else {
		rc = check_add_text(&list, get(c, "check"), CHECK_USER, &err);
	}
	if (rc)
		print_error("%s: %s\n", c->name, err.message);
	assert_int_equal(rc, 0);
	check_evaluate(&list.checks[0], &result, &r);
	ok = same(c, "verdict", verdict_name(r.verdict)) && says(c, r.detail);
	check_result_release(&r);
	check_list_release(&list);
	sandbox_result_release(&result);
	return ok;
}

static bool run_failure(const struct one_case *c)
{
	const char *text = get(c, "stderr"), *outcome = get(c, "outcome");
	const char *file = get(c, "file");
	cleanup_free char *bytes = mem_strdup(text ? text : "");
	struct sandbox_forbidden forbidden = { .count = 1 };
	struct sandbox_result result = { .exit_code = (int)number(c, "exit", 1) };
	struct failure f = { 0 };
	cleanup_json struct json *o = NULL;
	bool ok;

	if (outcome)
		result.outcome = (enum sandbox_outcome)sandbox_outcome_parse(outcome);
	result.err = (struct sandbox_stream){ bytes, strlen(bytes), strlen(bytes), false };
	if (get(c, "forbidden")) {
		snprintf(forbidden.syscall, sizeof(forbidden.syscall), "%s", get(c, "forbidden"));
		result.forbidden = &forbidden;
		result.forbidden_count = 1;
	}
	failure_find(get(c, "lang"), file ? file : "main.py", &result, &f);
	o = failure_json(&f);
	ok = same(c, "class", json_get_string(o, "class")) && same(c, "type", f.type) &&
	     same_number(c, "line", f.line) && same_number(c, "column", f.column) &&
	     says(c, f.message);
	failure_release(&f);
	return ok;
}

static bool run_screen(const struct one_case *c)
{
	const char *code = get(c, "code"), *profile = get(c, "profile");
	struct screen_options options = { .profile = (enum screen_profile)
					  screen_profile_parse(profile ? profile : "standard") };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;
	bool ok, found = !get(c, "rule");
	size_t i;

	if (screen_program(sandbox, -1, get(c, "lang"), code, strlen(code), &options, &s, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	for (i = 0; !found && i < s.count; i++)
		found = !strcmp(s.findings[i].rule, get(c, "rule")) &&
			(!get(c, "line") || (size_t)number(c, "line", 0) == s.findings[i].line);
	if (!found)
		print_error("%s: no finding %s\n", c->name, get(c, "rule"));
	ok = same(c, "verdict", screen_action_name(s.verdict)) &&
	     same(c, "syntax", s.syntax_type) && found &&
	     same(c, "flagged", s.verdict >= SCREEN_CONFIRM ? "yes" : "no");
	if (!ok)
		for (i = 0; i < s.count; i++)
			print_error("%s: %s, line %zu\n", c->name, s.findings[i].rule,
				    s.findings[i].line);
	screening_release(&s);
	return ok;
}

static int run_file(const char *path, bool (*run)(const struct one_case *), size_t *total)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	char *at;
	int bad = 0;
	size_t i;

	assert_int_equal(io_read_file(path, &text, &err), 0);
	at = strstr(text.data, "=== ");
	while (at && *at) {
		struct one_case c = { .name = at + 4 };
		char *nl = strchr(at, '\n');

		*nl = '\0';
		at = parse_case(nl + 1, &c);
		bad += !run(&c);
		++*total;
		for (i = 0; i < c.count; i++) {
			free(c.keys[i]);
			free(c.values[i]);
		}
	}
	return bad;
}

static void run_folder(const char *folder, bool (*run)(const struct one_case *))
{
	cleanup_free char *pattern = mem_printf("tests/cases/%s/*.case", folder);
	size_t i, total = 0;
	glob_t found;
	int bad = 0;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++)
		bad += run_file(found.gl_pathv[i], run, &total);
	globfree(&found);
	printf("%s: %zu cases\n", folder, total);
	assert_int_equal(bad, 0);
}

static void test_extract_cases(void **state)
{
	(void)state;
	run_folder("extract", run_extract);
}

static void test_check_cases(void **state)
{
	(void)state;
	run_folder("check", run_check);
}

static void test_failure_cases(void **state)
{
	(void)state;
	run_folder("failure", run_failure);
}

static void test_screen_cases(void **state)
{
	(void)state;
	run_folder("screen", run_screen);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_extract_cases),
		cmocka_unit_test(test_check_cases),
		cmocka_unit_test(test_failure_cases),
		cmocka_unit_test(test_screen_cases),
	};

	return cmocka_run_group_tests(cases, open_sandbox, close_sandbox);
}
