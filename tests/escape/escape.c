/*
 * Runs every case of a folder in the sandbox and compares what came of it with what the case says
 * must (README has the words of its header). TAP on stdout, for prove.
 *
 *	escape FOLDER [NAME...]
 *
 * Every case refuses to start outside the sandbox; one that does not is not run.
 */
#include "tests/escape/expectation.h"
#include "tests/escape/turn.h"
#include "tests/unit/test_native.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define REFUSAL "refuses to run outside the sandbox"
#define PROBE	"#include \"probe.h\"" /* has that guard */
#define TRIES	24

/* What a busy machine may be the reason of. */
static const char late[] = "later than its limit", slow[] = "too slow",
		  greedy[] = "too much CPU time", unfinished[] = "its time ran out first";

static const char *has_forbidden(const struct expectation *e, const struct sandbox_result *r)
{
	static char missing[64];
	cleanup_free char *names = mem_strdup(e->forbidden);
	char *save = NULL;

	for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		bool found = false;

		for (size_t i = 0; i < r->forbidden_count; i++)
			found |= !strcmp(r->forbidden[i].syscall, name);
		if (!found) {
			snprintf(missing, sizeof(missing), "%s was not named", name);
			return missing;
		}
	}
	if (*e->forbidden_arch &&
	    (r->forbidden_count == 0 || strcmp(r->forbidden[0].arch, e->forbidden_arch)))
		return "another architecture was named";
	return NULL;
}

/* Without a controller another outcome may be the honest one. */
static void apply_fallbacks(struct expectation *e, const struct sandbox_isolation *i)
{
	const struct {
		const char *fact;
		const struct fallback *then;
	} rows[] = {
		{ "memory_limit", &e->without_memory },
		{ "pids_limit", &e->without_pids },
		{ "cpu_limit", &e->without_cpu },
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++)
		if (!strcmp(sandbox_fact(i, rows[n].fact), "rlimit") && *rows[n].then->outcome) {
			snprintf(e->outcome, sizeof(e->outcome), "%s", rows[n].then->outcome);
			e->exit_code = rows[n].then->exit_code;
		}
}

/* Its kernel has no mount namespaces, and tells of no call that was refused. */
static bool is_gvisor(const struct sandbox_isolation *i)
{
	return !strcmp(sandbox_fact(i, "forbidden_calls"), "refused, not told");
}

/* "OUTCOME or OUTCOME CODE; WHY": of these ends one, and what it printed. */
static const char *ends_as_in_gvisor(const struct expectation *e, const struct sandbox_result *r)
{
	cleanup_free char *ends = mem_strndup(e->gvisor, strcspn(e->gvisor, ";"));
	char *save = NULL;

	for (char *word = strtok_r(ends, " ", &save); word;) {
		bool same = !strcmp(word, sandbox_outcome_name(r->outcome));
		char *code = strtok_r(NULL, " ", &save);

		if (code && strcmp(code, "or")) {
			same = same && r->exit_code == atoi(code);
			code = strtok_r(NULL, " ", &save);
		}
		if (same)
			return strstr(r->out.bytes, e->gvisor_out) ||
					       strstr(r->err.bytes, e->gvisor_out) ?
				       NULL :
				       "another output there";
		word = code ? strtok_r(NULL, " ", &save) : NULL;
	}
	return "another end than is written for gVisor";
}

/* "none" and a limit held by a group, or the reverse, would be a lie. */
static const char *has_honest_isolation(const struct sandbox_isolation *i)
{
	static const char *const layers[] = { "userns", "pidns", "netns",	"mountns",
					      "ipcns",	"utsns", "no_new_privs" };
	static const char *const limits[] = { "memory_limit", "pids_limit", "cpu_limit" };
	bool any = false;

	for (size_t n = 0; n < ARRAY_SIZE(limits); n++)
		any |= !strcmp(sandbox_fact(i, limits[n]), "cgroup");
	for (size_t n = 0; n < ARRAY_SIZE(layers); n++)
		if (strcmp(sandbox_fact(i, layers[n]), "yes") &&
		    !(is_gvisor(i) && !strcmp(sandbox_fact(i, layers[n]), "no") &&
		      (!strcmp(layers[n], "userns") || !strcmp(layers[n], "mountns"))))
			return "a layer is missing";
	if (strlen(sandbox_fact(i, "seccomp")) != 64)
		return "a layer is missing";
	return any == !strcmp(sandbox_fact(i, "cgroup"), "none") ?
		       "the isolation contradicts itself" :
		       NULL;
}

static const char *has_artifacts(const struct expectation *e, const struct sandbox_result *r)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < r->artifact_count; i++)
		kept += r->artifacts[i].kept ? r->artifacts[i].size : 0;
	if (e->kept_bytes > 0 && kept > (uint64_t)e->kept_bytes)
		return "too many bytes of artifacts";
	for (size_t n = 0; n < e->artifact_count; n++) {
		size_t len = strcspn(e->artifacts[n], " ");
		const char *want = e->artifacts[n] + len + 1;
		bool found = false;

		for (size_t i = 0; i < r->artifact_count; i++) {
			const struct sandbox_artifact *a = &r->artifacts[i];

			if (strncmp(a->path, e->artifacts[n], len) || a->path[len] != '\0')
				continue;
			found |= a->kept ? !strcmp(want, "kept") : !!strstr(a->why_not, want);
		}
		if (!found)
			return e->artifacts[n];
	}
	return NULL;
}

static const char *has_streams(const struct expectation *e, const struct sandbox_result *r)
{
	const struct sandbox_stream *s = !strcmp(e->truncated, "stderr") ? &r->err : &r->out;
	int64_t limit =
		!strcmp(e->truncated, "stderr") ? e->limits.stderr_bytes : e->limits.stdout_bytes;

	if (e->has_out && strcmp(r->out.bytes, e->out.data))
		return "another output";
	if (*e->truncated && (!s->truncated || s->len != (size_t)limit || s->total <= s->len))
		return "not cut, or not told so";
	return NULL;
}

static long our_memory_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static const char *has_costs(const struct expectation *e, const struct sandbox_result *r,
			     int64_t ms, long grown_kb)
{
	if (e->slower_ms > 0 && ms > e->slower_ms)
		return slow;
	if (e->overshoot_ms > 0 &&
	    r->metrics.wall_ms > (double)(e->limits.wall_ms + e->overshoot_ms))
		return late;
	if (e->cpu_below_ms > 0 &&
	    r->metrics.user_ms + r->metrics.system_ms > (double)e->cpu_below_ms)
		return greedy;
	if (e->peak_below_mib > 0 && r->metrics.peak_memory_bytes >= e->peak_below_mib << 20)
		return "its recorded peak of memory is too high";
	return e->our_memory_mib > 0 && grown_kb > e->our_memory_mib * 1024 ? "our memory grew" :
									      NULL;
}

/* NULL when all is as the case says. */
static const char *judge(struct expectation *e, const struct sandbox_result *r)
{
	const char *why = has_honest_isolation(&r->isolation);

	apply_fallbacks(e, &r->isolation);
	if (why)
		return why;
	if (*e->gvisor && is_gvisor(&r->isolation)) {
		e->slower_ms = e->overshoot_ms = e->cpu_below_ms = e->peak_below_mib = 0;
		return ends_as_in_gvisor(e, r);
	}
	if (strcmp(sandbox_outcome_name(r->outcome), e->outcome))
		return r->outcome == SANDBOX_TIMEOUT_WALL ? unfinished : "another outcome";
	if (r->outcome == SANDBOX_EXIT && r->exit_code != e->exit_code)
		return "another exit code";
	if (e->signal != 0 && r->signal != e->signal)
		return "another signal";
	why = has_streams(e, r);
	if (!why)
		why = has_artifacts(e, r);
	return !why && !is_gvisor(&r->isolation) ? has_forbidden(e, r) : why;
}

static void explain(const char *why, const struct sandbox_result *r, int64_t ms)
{
	printf("# %s: %s, exit %d, signal %d, %s, %lld ms\n# stdout: %.800s\n# stderr: %.800s\n",
	       why, sandbox_outcome_name(r->outcome), r->exit_code, r->signal, r->detail,
	       (long long)ms, r->out.bytes, r->err.bytes);
	for (size_t i = 0; i < r->forbidden_count; i++)
		printf("# forbidden %s (%s) x %llu\n", r->forbidden[i].syscall,
		       r->forbidden[i].arch, (unsigned long long)r->forbidden[i].count);
	for (size_t i = 0; i < r->artifact_count && i < ARTIFACTS; i++)
		printf("# artifact %.80s: %s\n", r->artifacts[i].path,
		       r->artifacts[i].kept ? "kept" : r->artifacts[i].why_not);
}

static const struct language *language_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && language_at(i); i++)
		if (!strcmp(language_at(i)->extension, dot))
			return language_at(i);
	return NULL;
}

/* --- running one --- */

/* What `make attacks` made of it, unless it was changed since. */
static bool is_compiled(const char *path, char **ret_binary)
{
	const char *name = strrchr(path, '/') + 1;
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat source, binary;

	self[len > 0 ? len : 0] = '\0';
	*ret_binary = mem_printf("%s/cases/%.*s", dirname(self), (int)strlen(name) - 2, name);
	return !stat(path, &source) && !stat(*ret_binary, &binary) &&
	       binary.st_mtime >= source.st_mtime;
}

static int compile(const char *path, struct buf *ret_binary, struct error *err)
{
	char binary[] = "/tmp/assay-probe-XXXXXX";
	cleanup_free char *compiled = NULL;

	if (is_compiled(path, &compiled))
		return io_read_file(compiled, ret_binary, err);
	int fd = mkstemp(binary);
	if (fd < 0)
		return error_set(err, ERR_SANDBOX, "no temporary file");
	close(fd);
	cleanup_free char *command =
		mem_printf("${CC:-cc} -O1 -w -D_GNU_SOURCE -pthread -o %s '%s'", binary, path);
	int rc = system(command) ? error_set(err, ERR_SANDBOX, "%s does not compile", path) :
				   io_read_file(binary, ret_binary, err);
	unlink(binary);
	return rc;
}

struct attempt {
	struct sandbox_job job;
	struct sandbox_file binary;
	struct buf code, probe, input;
	struct expectation e;
};

static void attempt_release(struct attempt *a)
{
	buf_release(&a->code);
	buf_release(&a->probe);
	buf_release(&a->input);
	buf_release(&a->e.out);
}

static int attempt_prepare(struct attempt *a, const char *path, struct error *err)
{
	static const char start[] = "chmod +x probe; exec ./probe";
	size_t len = strlen(path);

	*a = (struct attempt){ .code = BUF_INIT(1 << 20),
			       .probe = BUF_INIT(4 << 20),
			       .input = BUF_INIT(1 << 28) };
	if (io_read_file(path, &a->code, err) < 0)
		return -1;
	read_header(a->code.data, &a->e);
	if (!strstr(a->code.data, REFUSAL) && !strstr(a->code.data, PROBE))
		return error_set(err, ERR_USAGE, "has no guard");
	a->job = (struct sandbox_job){ .language = language_of(path),
				       .code = a->code.data,
				       .code_len = a->code.len,
				       .limits = a->e.limits };
	if (!strcmp(path + len - 2, ".c")) {
		if (compile(path, &a->probe, err) < 0)
			return -1;
		a->binary = (struct sandbox_file){ .path = "probe",
						   .bytes = a->probe.data,
						   .len = a->probe.len };
		a->job.language = language_find("bash");
		a->job.code = start;
		a->job.code_len = strlen(start);
		a->job.extras = &a->binary;
		a->job.extra_count = 1;
	}
	if (a->e.stdin_mib > 0) {
		memset(buf_room(&a->input, (size_t)a->e.stdin_mib << 20), 0,
		       (size_t)a->e.stdin_mib << 20);
		buf_grew(&a->input, (size_t)a->e.stdin_mib << 20);
		a->job.stdin_bytes = a->input.data;
		a->job.stdin_len = a->input.len;
	}
	return 0;
}

/* How those in Python started: in forks of a template, and in all; and the last of them. */
static size_t forked, pythons;
static bool was_forked;

static void note_start(const struct attempt *a, const struct sandbox_result *r)
{
	if (strcmp(a->job.language->name, "python"))
		return;
	pythons++;
	was_forked = !strcmp(sandbox_fact(&r->isolation, "start"), "forked");
	forked += was_forked;
}

/* NULL when it went as it must, else why not. */
static const char *attempt_once(struct sandbox *sandbox, struct attempt *a)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;
	int64_t start = clock_mono_ms(), ms;
	long kb = our_memory_kb();

	sandbox_prepare(sandbox, &a->job);
	if (sandbox_run(sandbox, &a->job, NULL, &r, &err) < 0) {
		printf("# %s\n", err.message);
		return "did not run";
	}
	ms = clock_mono_ms() - start;
	note_start(a, &r);
	const char *why = judge(&a->e, &r);
	/* Until a fork of a large template is there takes longer than the others wait for theirs.
	 */
	if (!why && !native_of(sandbox)->modules)
		why = has_costs(&a->e, &r, ms, our_memory_kb() - kb);
	if (why)
		explain(why, &r, ms);
	return why;
}

static bool is_by_the_clock(const char *why)
{
	return why == late || why == slow || why == greedy || why == unfinished;
}

static bool run_case(struct sandbox *sandbox, const char *folder, const char *name, int number)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);
	struct error err = ERROR_INIT;
	struct utsname host;
	struct attempt a;

	if (attempt_prepare(&a, path, &err) < 0) {
		printf("not ok %d - %s: %s\n", number, name, err.message);
		attempt_release(&a);
		return false;
	}
	uname(&host);
	if (*a.e.arch && strcmp(a.e.arch, host.machine)) {
		printf("ok %d - %s # SKIP only on %s\n", number, name, a.e.arch);
		attempt_release(&a);
		return true;
	}
	turn_take(*a.e.alone);
	const char *why = attempt_once(sandbox, &a);
	for (int try = 1; try < a.e.tries && why; try++)
		why = attempt_once(sandbox, &a);
	for (int try = 1; try < TRIES && is_by_the_clock(why); try++) {
		if (why == unfinished) {
			a.e.slower_ms += a.e.slower_ms ? a.job.limits.wall_ms : 0;
			a.job.limits.wall_ms *= 2;
		}
		why = attempt_once(sandbox, &a);
	}
	turn_leave();
	printf("%sok %d - %s: %s\n", why ? "not " : "", number, name, a.e.threat);
	fflush(stdout);
	attempt_release(&a);
	return !why;
}

static int is_case(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return language_of(entry->d_name) || (len > 2 && !strcmp(entry->d_name + len - 2, ".c"));
}

static bool is_wanted(const char *name, char **wanted)
{
	char **w = wanted;

	while (*w && !strstr(name, *w))
		w++;
	return *w || !*wanted;
}

/* Until a fork is had again, at the start and after an attack that took the template along. */
static void wait_for_template(struct sandbox *sandbox)
{
	struct sandbox_job job = { .language = language_find("python"),
				   .code = "print(1)",
				   .code_len = strlen("print(1)") };
	bool is_forked = false;

	sandbox_limits_default(&job.limits);
	for (int i = 0; !is_forked && i < 3000 && !*native_of(sandbox)->no_template.step; i++) {
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
		struct error err = ERROR_INIT;

		sandbox_prepare(sandbox, &job);
		if (sandbox_run(sandbox, &job, NULL, &r, &err) < 0)
			return;
		is_forked = !strcmp(sandbox_fact(&r.isolation, "start"), "forked");
		usleep(20000); /* while no run lasts it starts */
	}
}

int main(int argc, char **argv)
{
	const char *modules = getenv("ASSAY_TEST_MODULES");
	struct sandbox_options options = { .name = getenv("ASSAY_TEST_SANDBOX"),
					   .weaker = getenv("ASSAY_TEST_WEAKER") != NULL,
					   .cache_dir = getenv("ASSAY_TEST_CACHE"),
					   .warm = getenv("ASSAY_TEST_WARM") != NULL };
	cleanup_sandbox struct sandbox *sandbox = NULL;
	struct error err = ERROR_INIT;
	struct dirent **entries;
	int failed = 0, number = 0;

	int count = argc < 2 ? -1 : scandir(argv[1], &entries, is_case, alphasort);
	if (count < 0 || sandbox_open(&sandbox, &options, &err) < 0) {
		fprintf(stderr, "escape FOLDER: %s\n", err.message);
		return 2;
	}
	if (modules)
		native_of(sandbox)->modules = mem_strdup(modules);
	for (int i = 0; i < count; i++) {
		if (modules && !was_forked)
			wait_for_template(sandbox);
		if (is_wanted(entries[i]->d_name, argv + 2))
			failed += !run_case(sandbox, argv[1], entries[i]->d_name, ++number);
		free(entries[i]);
	}
	free(entries);
	/* The first has the template made; one that eats all memory may take it along. */
	if (options.warm > 0 && pythons > 10) {
		bool most = forked >= pythons * 3 / 4;

		failed += !most;
		printf("%s %d - %zu of %zu in Python were forked\n", most ? "ok" : "not ok",
		       ++number, forked, pythons);
	}
	printf("1..%d\n", number);
	return failed > 0;
}
