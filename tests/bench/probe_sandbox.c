/*
 * Times one execution as the loop makes it: the sandbox is open, the code comes, the result is
 * complete. A question is "code LANGUAGE CODE"; "waiting LANGUAGE CODE", the same in an interpreter
 * that had time to get ready; or "program PATH [ARGUMENT...]", which runs that program itself in
 * the place of an interpreter.
 */
#include "tests/bench/probe.h"

#include "base/mem.h"
#if __has_include("sandbox/native/internal.h")
#include "sandbox/native/internal.h"
#define KEEPER_OF(sandbox) ((struct native *)(sandbox)->self)
#else /* before there were backends */
#include "sandbox/internal.h"
#define KEEPER_OF(sandbox) (sandbox)
#endif

#if __has_include("sandbox/native/foresight.c")
#include <unistd.h>
#define READY_US 150000 /* a model writes for longer */

static void prepare(struct sandbox *in, const struct sandbox_job *job)
{
	sandbox_prepare(in, job);
	usleep(READY_US);
}

static bool has_waited(const struct sandbox_result *result)
{
	return strcmp(sandbox_fact(&result->isolation, "start"), "cold") != 0;
}

static int open_waiting(struct sandbox **ret, struct error *err)
{
	return sandbox_open(ret, &(struct sandbox_options){ .warm = 1 }, err);
}
#else /* before interpreters waited */
static void prepare(struct sandbox *in, const struct sandbox_job *job)
{
	(void)in;
	(void)job;
}

static bool has_waited(const struct sandbox_result *result)
{
	(void)result;
	return false;
}

static int open_waiting(struct sandbox **ret, struct error *err)
{
	return sandbox_open(ret, NULL, err);
}
#endif

static struct sandbox *sandbox;

static void tell(double took_ms, int rc, const struct sandbox_result *result,
		 const struct error *err)
{
	if (rc < 0)
		probe_no(err->message);
	else if (result->outcome != SANDBOX_EXIT || result->exit_code != 0)
		printf("no %s, exit code %d\n", sandbox_outcome_name(result->outcome),
		       result->exit_code);
	else
		probe_ok(took_ms);
}

static void run_code(struct sandbox *in, const char *name, const char *code, bool waiting)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct sandbox_job job = { .language = language_find(name),
				   .code = code,
				   .code_len = strlen(code) };
	struct error err = ERROR_INIT;

	if (job.language == NULL) {
		probe_no("no such language");
		return;
	}
	sandbox_limits_default(&job.limits);
	if (waiting)
		prepare(in, &job);
	const double began = probe_now_ms();
	const int rc = sandbox_run(in, &job, NULL, &result, &err);
	const double took_ms = probe_now_ms() - began;
	if (rc == 0 && waiting && !has_waited(&result))
		probe_no("it did not run in an interpreter that waited");
	else
		tell(took_ms, rc, &result, &err);
}

static void run_waiting(const char *name, const char *code)
{
	static struct sandbox *with;
	struct error err = ERROR_INIT;

	if (with == NULL && open_waiting(&with, &err) < 0)
		probe_no(err.message);
	else
		run_code(with, name, code, true);
}

static void run_program(char *const *argv)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	const char *flags[PROBE_WORDS] = { NULL };
	const struct language language = { .name = argv[0], .flags = flags, .file = "program" };
	struct sandbox_job job = { .language = &language, .code = "", .code_len = 0 };
	struct error err = ERROR_INIT;

	for (size_t i = 1; argv[i] != NULL; i++)
		flags[i - 1] = argv[i];
	sandbox_limits_default(&job.limits);
	const double began = probe_now_ms();
	const int rc = run_bare(KEEPER_OF(sandbox), &job, argv[0], NULL, &result, &err);
	tell(probe_now_ms() - began, rc, &result, &err);
}

static void answer(char *const *words, size_t count)
{
	if (count == 3 && strcmp(words[0], "code") == 0)
		run_code(sandbox, words[1], words[2], false);
	else if (count == 3 && strcmp(words[0], "waiting") == 0)
		run_waiting(words[1], words[2]);
	else if (count >= 2 && strcmp(words[0], "program") == 0)
		run_program(words + 1);
	else
		probe_no("no such question");
}

int main(void)
{
	struct error err = ERROR_INIT;

	if (sandbox_open(&sandbox, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	probe_serve(answer);
	sandbox_close(sandbox);
	return 0;
}
