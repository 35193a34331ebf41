/*
 * The parts of sandbox/ that decide without running anything. Outcomes of real runs are
 * test_sandbox.c's.
 */
#include "sandbox/native/internal.h"
#include "sandbox/native/outcome.h"
#include "sandbox/native/payload.h"

#include "sandbox/filetype.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- outcomes --- */

#define EXITED(code) ((code) << 8)

struct outcome_case {
	struct protocol_result facts;
	enum sandbox_outcome outcome;
	int exit_code, signal;
};

static const struct outcome_case outcome_cases[] = {
	{ { .has_status = 1, .wait_status = EXITED(0) }, SANDBOX_EXIT, 0, 0 },
	{ { .has_status = 1, .wait_status = EXITED(137) }, SANDBOX_EXIT, 137, 0 },
	{ { .has_status = 1, .wait_status = SIGSEGV }, SANDBOX_SIGNAL, -1, SIGSEGV },
	{ { .has_status = 1, .wait_status = SIGKILL }, SANDBOX_SIGNAL, -1, SIGKILL },
	{ { .has_status = 1, .wait_status = SIGKILL, .oom_kills = 1 },
	  SANDBOX_MEMORY,
	  -1,
	  SIGKILL },
	{ { .has_status = 1, .wait_status = EXITED(0), .oom_kills = 1 }, SANDBOX_MEMORY, 0, 0 },
	{ { .reason = PROTOCOL_KILL_MEMORY }, SANDBOX_MEMORY, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_WALL }, SANDBOX_TIMEOUT_WALL, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_WALL, .oom_kills = 3 }, SANDBOX_MEMORY, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_WALL, .pids_refused = 9 }, SANDBOX_PROCESS_LIMIT, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_CPU }, SANDBOX_TIMEOUT_CPU, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_OUTPUT, .disk_full = 1 }, SANDBOX_OUTPUT_LIMIT, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_FORBIDDEN }, SANDBOX_FORBIDDEN_SYSCALL, -1, SIGKILL },
	{ { .reason = PROTOCOL_KILL_CANCELLED, .oom_kills = 1 }, SANDBOX_CANCELLED, -1, SIGKILL },
	{ { .has_status = 1, .wait_status = EXITED(1), .pids_refused = 2 },
	  SANDBOX_PROCESS_LIMIT,
	  1,
	  0 },
	{ { .has_status = 1, .wait_status = EXITED(0), .pids_refused = 2 }, SANDBOX_EXIT, 0, 0 },
	{ { .has_status = 1, .wait_status = EXITED(1), .disk_full = 1 }, SANDBOX_DISK_LIMIT, 1, 0 },
	{ { .has_status = 1, .wait_status = EXITED(0), .disk_full = 1 }, SANDBOX_EXIT, 0, 0 },
	{ { .has_status = 1, .wait_status = EXITED(137), .memory_refused = 2 },
	  SANDBOX_EXIT,
	  137,
	  0 },
	{ { .has_status = 1, .wait_status = SIGBUS, .memory_refused = 2 },
	  SANDBOX_MEMORY,
	  -1,
	  SIGBUS },
	{ { .reason = PROTOCOL_KILL_WALL, .memory_refused = 2 },
	  SANDBOX_TIMEOUT_WALL,
	  -1,
	  SIGKILL },
	{ { .has_status = 1, .wait_status = EXITED(0), .memory_refused = 2 }, SANDBOX_EXIT, 0, 0 },
	{ { .has_status = 0 }, SANDBOX_SIGNAL, -1, SIGKILL },
};

static void test_outcomes(void **state)
{
	struct sandbox_limits limits;

	(void)state;
	sandbox_limits_default(&limits);
	for (size_t i = 0; i < ARRAY_SIZE(outcome_cases); i++) {
		const struct outcome_case *c = &outcome_cases[i];
		struct sandbox_result r = { .exit_code = -1 };

		outcome_decide(&c->facts, &limits, true, &r);
		if (r.outcome != c->outcome || r.exit_code != c->exit_code || r.signal != c->signal)
			fail_msg("case %zu: %s, exit %d, signal %d", i,
				 sandbox_outcome_name(r.outcome), r.exit_code, r.signal);
		if (r.outcome != SANDBOX_EXIT)
			assert_true(r.detail[0] != '\0');
	}
}

static void test_outcome_names(void **state)
{
	(void)state;
	for (int i = SANDBOX_EXIT; i <= SANDBOX_CANCELLED; i++) {
		const char *name = sandbox_outcome_name((enum sandbox_outcome)i);

		assert_int_equal(sandbox_outcome_parse(name), i);
	}
	assert_int_equal(sandbox_outcome_parse("success"), -1);
}

/* --- types by content --- */

#define BYTES(s) s, sizeof(s) - 1

struct type_case {
	const char *path, *bytes;
	size_t len;
	const char *type;
};

static const struct type_case type_cases[] = {
	{ "a.png", BYTES("\x89PNG\r\n\x1a\n...."), "image/png" },
	{ "a.png", BYTES("not a picture"), "text/plain" },
	{ "a", BYTES("\xff\xd8\xff\xe0"), "image/jpeg" },
	{ "a", BYTES("GIF89a"), "image/gif" },
	{ "a", BYTES("%PDF-1.7"), "application/pdf" },
	{ "a", BYTES("PK\x03\x04...."), "application/zip" },
	{ "a", BYTES("PK\x03\x04[Content_Types].xml....xl/workbook.xml"),
	  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
	{ "a", BYTES("<?xml version=\"1.0\"?>\n<svg xmlns=\"\"></svg>"), "image/svg+xml" },
	{ "a", BYTES("  <svg></svg>"), "image/svg+xml" },
	{ "a", BYTES("<!DOCTYPE html><svg></svg>"), "text/html" },
	{ "a", BYTES("<?xml version=\"1.0\"?><x/>"), "application/xml" },
	{ "a", BYTES("{\"a\": [1, 2]}"), "application/json" },
	{ "a", BYTES("{not json}"), "text/plain" },
	{ "a.json", BYTES("12"), "application/json" },
	{ "a", BYTES("x,y\n1,2\n3,\"4,5\"\n"), "text/csv" },
	{ "a.d/table.data", BYTES("x,y\n1,2\n"), "text/csv" },
	{ "notes.txt", BYTES("Dear all,\nsome notes, \n"), "text/plain" },
	{ "poem.md", BYTES("Roses, red\nviolets, blue\n"), "text/plain" },
	{ "a", BYTES("Hello, world\nthis is text\n"), "text/plain" },
	{ "a", BYTES(""), "text/plain" },
	{ "a", BYTES("a\0b"), "application/octet-stream" },
	{ "a", BYTES("\xc3("), "application/octet-stream" },
	{ "a", BYTES("PK"), "text/plain" },
	{ "a", BYTES("RIFF....WEBP"), "image/webp" },
};

static void test_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(type_cases); i++) {
		const struct type_case *c = &type_cases[i];
		const char *type = filetype_guess(c->path, c->bytes, c->len);

		if (strcmp(type, c->type))
			fail_msg("%.20s is %s, not %s", c->bytes, c->type, type);
	}
}

/* --- languages --- */

static void test_languages(void **state)
{
	(void)state;
	assert_string_equal(language_find("PY")->name, "python");
	assert_string_equal(language_find("node")->name, "javascript");
	assert_string_equal(language_find("sh")->name, "bash");
	assert_null(language_find("cobol"));
	assert_null(language_find(""));
	assert_null(language_at(99));
	for (size_t i = 0; language_at(i); i++)
		assert_ptr_equal(language_find(language_at(i)->name), language_at(i));
}

/* --- the payload --- */

static void test_payload_is_sealed(void **state)
{
	const struct sandbox_file input = { "a", "12345", 5 };
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = "true",
				   .code_len = 4,
				   .inputs = &input,
				   .input_count = 1 };
	struct error err = ERROR_INIT;
	cleanup_close int fd = -1;
	int64_t bytes;

	(void)state;
	assert_int_equal(payload_make(&job, "/bin/bash", NULL, &fd, &bytes, &err), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(fcntl(fd, F_GET_SEALS),
			 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	assert_true(write(fd, "x", 1) < 0);
}

static void test_stdin(void **state)
{
	struct sandbox_job job = { .stdin_bytes = "abc", .stdin_len = 3 };
	struct error err = ERROR_INIT;
	cleanup_close int some = -1;
	cleanup_close int none = -1;
	char text[8];

	(void)state;
	assert_int_equal(payload_stdin(&job, &some, &err), 0);
	assert_int_equal(read(some, text, sizeof(text)), 3);
	job.stdin_bytes = NULL;
	assert_int_equal(payload_stdin(&job, &none, &err), 0);
	assert_int_equal(read(none, text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest sandbox_parts_tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_outcome_names),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_payload_is_sealed),
		cmocka_unit_test(test_stdin),
	};

	return cmocka_run_group_tests_name("sandbox_parts", sandbox_parts_tests, NULL, NULL);
}
