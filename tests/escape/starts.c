/*
 * Runs programs in the ways an interpreter can start, for tests that compare them. Arguments are
 * the ways: cold, waiting, forked. Each program comes on stdin as "LENGTH WALL_MS LANGUAGE\n" and
 *its bytes; for each way comes
 *
 *	HOW START OUTCOME EXIT SIGNAL OUT ERR CALLS DETAIL\n
 *
 * and the bytes: HOW was asked for, START is what the record says, the last four are lengths.
 */
#include "tests/unit/test_native.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM_MAX (4 << 20)
#define TRIES	    3 /* one whose template died has another made */

enum way { COLD, WAITING, FORKED, WAYS };

static const char *const names[WAYS] = { "cold", "waiting", "forked" };
static struct sandbox *in[WAYS];

static bool is_wanted(enum way way, char **wanted)
{
	while (*wanted && strcmp(*wanted, names[way]))
		wanted++;
	return *wanted != NULL;
}

static int open_all(char **wanted)
{
	struct error err = ERROR_INIT;

	for (int way = 0; way < WAYS; way++) {
		struct sandbox_options options = { .cache_dir = getenv("ASSAY_TEST_CACHE"),
						   .warm = way == COLD ? 0 : WAYS };

		if (!is_wanted((enum way)way, wanted))
			continue;
		if (sandbox_open(&in[way], &options, &err) < 0) {
			fprintf(stderr, "%s\n", err.message);
			return -1;
		}
	}
	if (in[WAITING])
		forget_templates(in[WAITING]);
	return 0;
}

static bool is_as_asked(enum way way, const struct sandbox_result *r)
{
	return !strcmp(sandbox_fact(&r->isolation, "start"), names[way]);
}

static int run(enum way way, const struct sandbox_job *job, struct sandbox_result *ret,
	       struct error *err)
{
	for (int n = 0; n < TRIES; n++) {
		sandbox_prepare(in[way], job);
		if (sandbox_run(in[way], job, NULL, ret, err) < 0)
			return -1;
		if (is_as_asked(way, ret))
			break;
		if (way == FORKED && native_of(in[way])->no_template.step[0] != '\0')
			fprintf(stderr, "# %s: %s\n", native_of(in[way])->no_template.step,
				strerror(native_of(in[way])->no_template.errnum));
		if (n + 1 == TRIES)
			break;
		sandbox_result_release(ret);
	}
	return 0;
}

static void tell(enum way way, const struct sandbox_result *r)
{
	cleanup_buf struct buf calls = BUF_INIT(1 << 20);

	for (size_t i = 0; i < r->forbidden_count; i++)
		buf_addf(&calls, "%s %s %llu\n", r->forbidden[i].syscall, r->forbidden[i].arch,
			 (unsigned long long)r->forbidden[i].count);
	printf("%s %s %s %d %d %zu %zu %zu %zu\n", names[way], sandbox_fact(&r->isolation, "start"),
	       sandbox_outcome_name(r->outcome), r->exit_code, r->signal, r->out.len, r->err.len,
	       calls.len, strlen(r->detail));
	fwrite(r->out.bytes, 1, r->out.len, stdout);
	fwrite(r->err.bytes, 1, r->err.len, stdout);
	if (calls.len > 0)
		fwrite(calls.data, 1, calls.len, stdout);
	fputs(r->detail, stdout);
}

int main(int argc, char **argv)
{
	static char program[PROGRAM_MAX];
	struct sandbox_job job = { .code = program };
	long long wall_ms;
	char name[32];

	if (argc < 2 || open_all(argv + 1) < 0)
		return 1;
	sandbox_limits_default(&job.limits);
	while (scanf("%zu %lld %31s", &job.code_len, &wall_ms, name) == 3 && getchar() == '\n' &&
	       (job.language = language_find(name)) && job.code_len <= sizeof(program) &&
	       fread(program, 1, job.code_len, stdin) == job.code_len) {
		job.limits.wall_ms = job.limits.cpu_ms = wall_ms;
		for (int way = 0; way < WAYS; way++) {
			cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
			struct error err = ERROR_INIT;

			if (!in[way])
				continue;
			if (run((enum way)way, &job, &r, &err) < 0) {
				fprintf(stderr, "%s\n", err.message);
				return 1;
			}
			tell((enum way)way, &r);
		}
		fflush(stdout);
	}
	for (int way = 0; way < WAYS; way++)
		sandbox_close(in[way]);
	return 0;
}
