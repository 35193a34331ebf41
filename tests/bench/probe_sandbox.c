/*
 * Times one execution as the loop makes it: the sandbox is open, the code comes, the result is
 * complete. A question is "code LANGUAGE CODE"; "waiting LANGUAGE CODE", the same in an interpreter
 * that had time to get ready; "first LANGUAGE CODE", of that until the first byte of output is
 * here; "refill LANGUAGE CODE", the processor time of getting the next ready; "memory LANGUAGE
 * CODE", the MiB that one that waits has for itself; "in SANDBOX LANGUAGE
 * CODE", in another sandbox that is open; or "program PATH [ARGUMENT...]", which runs that program
 * itself in the place of an interpreter.
 */
#include "tests/bench/probe.h"

#include "base/mem.h"

#include <dirent.h>
#include <stdlib.h>
#if __has_include("sandbox/native/internal.h")
#if __has_include("sandbox/native/connection.h")
#include "sandbox/native/connection.h"
#endif
#include "sandbox/native/internal.h"
#include "sandbox/native/run.h"
#include "sandbox/native/waiting.h"
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

/* Of what foresight had prepared: the next is made from scratch. */
static void let_go(struct sandbox *in)
{
	waiting_release(KEEPER_OF(in));
}

static bool has_waited(const struct sandbox_result *result)
{
	return strcmp(sandbox_fact(&result->isolation, "start"), "cold");
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

static void let_go(struct sandbox *in)
{
	(void)in;
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
static char *primed; /* the code that the interpreters waited for last */

/* --- processor time --- */

#define PROCESSES_MAX 64 /* below a keeper where nothing runs */

static pid_t parent_of(pid_t pid)
{
	cleanup_free char *path = mem_printf("/proc/%ld/stat", (long)pid);
	FILE *f = fopen(path, "r");
	char text[512] = "", *end;

	if (!f)
		return 0;
	end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return !end || strlen(end) < 4 ? 0 : (pid_t)strtol(end + 4, NULL, 10);
}

static double cpu_ms_of(pid_t pid)
{
	cleanup_free char *path = mem_printf("/proc/%ld/schedstat", (long)pid);
	FILE *f = fopen(path, "r");
	double ns = 0;

	if (f && fscanf(f, "%lf", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns / 1e6;
}

static bool is_below(pid_t pid, pid_t top)
{
	while (pid > 1 && pid != top)
		pid = parent_of(pid);
	return pid == top;
}

struct used {
	pid_t pid;
	double ms;
};

/* Of the keeper and all it started that lives; how many. */
static size_t look_below(pid_t keeper, struct used ret[PROCESSES_MAX])
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (proc && (entry = readdir(proc)) && count < PROCESSES_MAX) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 1 && is_below(pid, keeper))
			ret[count++] = (struct used){ pid, cpu_ms_of(pid) };
	}
	if (proc)
		closedir(proc);
	return count;
}

/* By those that live now: what is gone since took what it did before. */
static double used_since(pid_t keeper, const struct used *before, size_t count)
{
	struct used now[PROCESSES_MAX];
	double sum = 0;

	for (size_t i = look_below(keeper, now); i-- > 0;) {
		sum += now[i].ms;
		for (size_t n = 0; n < count; n++)
			if (before[n].pid == now[i].pid)
				sum -= before[n].ms;
	}
	return sum;
}

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

static double first_ms;

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	(void)self;
	(void)is_stderr;
	(void)bytes;
	if (first_ms <= 0 && len > 0)
		first_ms = probe_now_ms();
}

static void run_code(struct sandbox *in, const char *name, const char *code, bool waiting,
		     bool first)
{
	const struct sandbox_watch watch = { .output = on_output, .cancel_fd = -1 };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct sandbox_job job = { .language = language_find(name),
				   .code = code,
				   .code_len = strlen(code) };
	struct error err = ERROR_INIT;

	if (!job.language) {
		probe_no("no such language");
		return;
	}
	sandbox_limits_default(&job.limits);
	if (waiting)
		prepare(in, &job);
	first_ms = 0;
	const double began = probe_now_ms();
	const int rc = sandbox_run(in, &job, first ? &watch : NULL, &result, &err);
	const double took_ms = (first ? first_ms : probe_now_ms()) - began;
	if (rc == 0 && waiting && !has_waited(&result))
		probe_no("it did not run in an interpreter that waited");
	else
		tell(took_ms, rc, &result, &err);
}

/* The first that waits has a template made, whose forks the others are. */
static void prime(struct sandbox *with, const char *name, const char *code)
{
	struct sandbox_job job = { .language = language_find(name),
				   .code = code,
				   .code_len = strlen(code) };
	struct error err = ERROR_INIT;

	if (!job.language)
		return;
	sandbox_limits_default(&job.limits);
	for (int n = 0; n < 2; n++) {
		cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };

		prepare(with, &job);
		sandbox_run(with, &job, NULL, &result, &err);
	}
}

static void run_refill(struct sandbox *with, const char *name, const char *code)
{
	struct sandbox_job job = { .language = language_find(name),
				   .code = code,
				   .code_len = strlen(code) };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (!job.language) {
		probe_no("no such language");
		return;
	}
	sandbox_limits_default(&job.limits);
	let_go(with);
	struct used before[PROCESSES_MAX];
	size_t count = look_below(KEEPER_OF(with)->keeper, before);
	prepare(with, &job);
	double used_ms = used_since(KEEPER_OF(with)->keeper, before, count);
	if (sandbox_run(with, &job, NULL, &result, &err) < 0)
		probe_no(err.message);
	else
		probe_ok(used_ms);
}

/* What no other process has, in KiB. */
static double private_kib(pid_t pid)
{
	cleanup_free char *path = mem_printf("/proc/%ld/smaps_rollup", (long)pid);
	FILE *f = fopen(path, "r");
	double own = 0, part;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_%*[a-zA-Z]: %lf kB", &part) == 1)
			own += part;
	if (f)
		fclose(f);
	return own;
}

/* Of the interpreter that waits, who is the youngest below the keeper's init, in MiB. */
static double private_mib(pid_t keeper)
{
	struct used all[PROCESSES_MAX];
	size_t count = look_below(keeper, all);
	double kib = 0;

	for (size_t i = 0; i < count; i++) {
		const pid_t parent = parent_of(all[i].pid);
		double own = parent == keeper || parent_of(parent) != keeper ?
				     0 :
				     private_kib(all[i].pid);

		kib = own > kib ? own : kib;
	}
	return kib / 1024;
}

static void run_memory(struct sandbox *with, const char *name, const char *code)
{
	struct sandbox_job job = { .language = language_find(name),
				   .code = code,
				   .code_len = strlen(code) };

	if (!job.language) {
		probe_no("no such language");
		return;
	}
	sandbox_limits_default(&job.limits);
	prepare(with, &job);
	double mib = private_mib(KEEPER_OF(with)->keeper);
	if (mib > 0)
		probe_ok(mib);
	else
		probe_no("none waits");
}

static void run_waiting(const char *how, const char *name, const char *code)
{
	static struct sandbox *with;
	struct error err = ERROR_INIT;

	if (!with && open_waiting(&with, &err) < 0) {
		probe_no(err.message);
		return;
	}
	if (!primed || strcmp(primed, code)) {
		prime(with, name, code);
		free(primed);
		primed = mem_strdup(code);
	}
	if (!strcmp(how, "memory"))
		run_memory(with, name, code);
	else if (!strcmp(how, "refill"))
		run_refill(with, name, code);
	else
		run_code(with, name, code, true, !strcmp(how, "first"));
}

#if __has_include("sandbox/backend.h")
#define PLACES_MAX 16

/* In MiB, of all that the sandbox has on this host between two runs: of an engine's container,
 * which the engine started, there is only who speaks to it. */
static void tell_kept(struct sandbox *with)
{
	struct used all[PROCESSES_MAX];
	double kib = 0;

#if __has_include("sandbox/native/connection.h")
	struct error err = ERROR_INIT;

	if (connection_open(KEEPER_OF(with), &err) < 0) { /* one that follows is there */
		probe_no(err.message);
		return;
	}
#endif
	for (size_t i = look_below(KEEPER_OF(with)->keeper, all); i-- > 0;)
		kib += private_kib(all[i].pid);
	probe_ok(kib / 1024);
}

/* In the sandbox of that name, which is open from the first question on; or, without code, what it
 * takes meanwhile. */
static void run_in(const char *name, const char *language, const char *code)
{
	static struct place {
		const char *name;
		struct sandbox *sandbox;
	} places[PLACES_MAX];
	/* Others have modules of their own, and refuse these. */
	const bool asks_modules = !strcmp(name, "pyodide");
	const struct sandbox_options options = {
		.name = name,
		.weaker = true,
		.node_modules = asks_modules ? getenv("BENCH_NODE_MODULES") : NULL,
	};
	struct error err = ERROR_INIT;
	size_t i = 0;

	while (i < PLACES_MAX && places[i].name && strcmp(places[i].name, name))
		i++;
	if (i == PLACES_MAX) {
		probe_no("too many sandboxes");
		return;
	}
	if (!places[i].name) {
		if (sandbox_open(&places[i].sandbox, &options, &err) < 0) {
			probe_no(err.message);
			return;
		}
		places[i].name = mem_strdup(name);
	}
	if (code)
		run_code(places[i].sandbox, language, code, false, false);
	else
		tell_kept(places[i].sandbox);
}
#else /* before there was another */
static void run_in(const char *name, const char *language, const char *code)
{
	(void)language;
	(void)code;
	probe_no(name);
}
#endif

static void run_program(char *const *argv)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	const char *flags[PROBE_WORDS] = { NULL };
	const struct language language = { .name = argv[0], .flags = flags, .file = "program" };
	struct sandbox_job job = { .language = &language, .code = "", .code_len = 0 };
	struct error err = ERROR_INIT;

	for (size_t i = 1; argv[i]; i++)
		flags[i - 1] = argv[i];
	sandbox_limits_default(&job.limits);
	const double began = probe_now_ms();
	const int rc = run_bare(KEEPER_OF(sandbox), &job, argv[0], NULL, &result, &err);
	tell(probe_now_ms() - began, rc, &result, &err);
}

static void answer(char *const *words, size_t count)
{
	if (count == 3 && !strcmp(words[0], "code"))
		run_code(sandbox, words[1], words[2], false, false);
	else if (count == 3 && (!strcmp(words[0], "waiting") || !strcmp(words[0], "first") ||
				!strcmp(words[0], "refill") || !strcmp(words[0], "memory")))
		run_waiting(words[0], words[1], words[2]);
	else if (count == 4 && !strcmp(words[0], "in"))
		run_in(words[1], words[2], words[3]);
	else if (count == 2 && !strcmp(words[0], "kept"))
		run_in(words[1], NULL, NULL);
	else if (count >= 2 && !strcmp(words[0], "program"))
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
