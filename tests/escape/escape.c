/*
 * Runs every case of a folder in the sandbox and compares what came of it with
 * what the case says must. TAP on stdout, for prove.
 *
 *	escape FOLDER [NAME...]
 *
 * A case is a program. Its header lines begin with "# " or "// ":
 *
 *	threat: 44 mounts are refused
 *	outcome: exit              the outcome's name; default exit
 *	exit: 0                    default 0 when the outcome is exit
 *	forbidden: mount umount2   each must be named in the result
 *	forbidden-arch: i386       of the first
 *	limit: memory_mib=64 processes=16 wall_ms=500 disk_mib=1 inodes=100 ...
 *	slower: 2500               fails when the run took longer than this many ms
 *	cgroup-only: memory        without that controller any outcome but a clean
 *	                           exit will do
 *	out: LINE                  stdout must be exactly these lines
 *
 * Every case refuses to start outside the sandbox; one that does not is not run.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSAL "refuses to run outside the sandbox"

struct expectation {
	char threat[128], outcome[32], forbidden[256], arch[16], cgroup_only[16];
	int exit_code;
	int64_t slower_ms;
	struct buf out;
	bool has_out;
	struct sandbox_limits limits;
};

static const struct { const char *name; size_t offset; int64_t unit; } limit_names[] = {
	{ "wall_ms", offsetof(struct sandbox_limits, wall_ms), 1 },
	{ "cpu_ms", offsetof(struct sandbox_limits, cpu_ms), 1 },
	{ "memory_mib", offsetof(struct sandbox_limits, memory_bytes), 1 << 20 },
	{ "processes", offsetof(struct sandbox_limits, processes), 1 },
	{ "open_files", offsetof(struct sandbox_limits, open_files), 1 },
	{ "disk_mib", offsetof(struct sandbox_limits, disk_bytes), 1 << 20 },
	{ "inodes", offsetof(struct sandbox_limits, inodes), 1 },
};

static void set_limits(struct sandbox_limits *limits, char *text)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		size_t n = strcspn(word, "=");

		for (size_t i = 0; i < ARRAY_SIZE(limit_names); i++) {
			int64_t value = strtoll(word + n + 1, NULL, 10) * limit_names[i].unit;

			if (strncmp(word, limit_names[i].name, n) == 0 &&
			    limit_names[i].name[n] == '\0')
				memcpy((char *)limits + limit_names[i].offset, &value,
				       sizeof(value));
		}
	}
}

static void set_key(struct expectation *e, const char *key, char *value)
{
	if (strcmp(key, "threat") == 0)
		snprintf(e->threat, sizeof(e->threat), "%s", value);
	else if (strcmp(key, "outcome") == 0)
		snprintf(e->outcome, sizeof(e->outcome), "%s", value);
	else if (strcmp(key, "exit") == 0)
		e->exit_code = atoi(value);
	else if (strcmp(key, "forbidden") == 0)
		snprintf(e->forbidden, sizeof(e->forbidden), "%s", value);
	else if (strcmp(key, "forbidden-arch") == 0)
		snprintf(e->arch, sizeof(e->arch), "%s", value);
	else if (strcmp(key, "slower") == 0)
		e->slower_ms = atoll(value);
	else if (strcmp(key, "cgroup-only") == 0)
		snprintf(e->cgroup_only, sizeof(e->cgroup_only), "%s", value);
	else if (strcmp(key, "limit") == 0)
		set_limits(&e->limits, value);
	else if (strcmp(key, "out") == 0) {
		e->has_out = true;
		buf_addf(&e->out, "%s\n", value);
	}
}

/* The header ends at the first line that is no "# key: value". */
static void read_header(const char *code, struct expectation *e)
{
	*e = (struct expectation){ .outcome = "exit", .out = BUF_INIT(65536) };
	sandbox_limits_default(&e->limits);
	for (const char *line = code; *line == '#' || *line == '/';) {
		size_t skip = *line == '#' ? 1 : 2, len = strcspn(line, "\n");
		cleanup_free char *text = mem_strndup(line + skip, len - skip);
		char *key = text + strspn(text, " "), *colon = strstr(key, ": ");

		if (colon != NULL) {
			*colon = '\0';
			set_key(e, key, colon + 2);
		}
		line += len + (line[len] == '\n');
	}
}

static const char *has_forbidden(const struct expectation *e, const struct sandbox_result *r)
{
	static char missing[64];
	cleanup_free char *names = mem_strdup(e->forbidden);
	char *save = NULL;

	for (char *name = strtok_r(names, " ", &save); name != NULL;
	     name = strtok_r(NULL, " ", &save)) {
		bool found = false;

		for (size_t i = 0; i < r->forbidden_count; i++)
			found |= strcmp(r->forbidden[i].syscall, name) == 0;
		if (!found) {
			snprintf(missing, sizeof(missing), "%s was not named", name);
			return missing;
		}
	}
	if (e->arch[0] != '\0' && (r->forbidden_count == 0 ||
				   strcmp(r->forbidden[0].arch, e->arch) != 0))
		return "another architecture was named";
	return NULL;
}

static bool is_excused(const struct expectation *e, const struct sandbox_result *r)
{
	const char *how = strcmp(e->cgroup_only, "memory") == 0 ? r->isolation.memory_limit :
		strcmp(e->cgroup_only, "pids") == 0 ? r->isolation.pids_limit : "cgroup";

	return strcmp(how, "rlimit") == 0 && !(r->outcome == SANDBOX_EXIT && r->exit_code == 0);
}

/* NULL when all is as the case says. */
static const char *judge(const struct expectation *e, const struct sandbox_result *r, int64_t ms)
{
	if (e->slower_ms > 0 && ms > e->slower_ms)
		return "too slow";
	if (is_excused(e, r))
		return NULL;
	if (strcmp(sandbox_outcome_name(r->outcome), e->outcome) != 0)
		return "another outcome";
	if (r->outcome == SANDBOX_EXIT && r->exit_code != e->exit_code)
		return "another exit code";
	if (e->has_out && strcmp(r->out.bytes, e->out.data) != 0)
		return "another output";
	return has_forbidden(e, r);
}

static void explain(const char *why, const struct sandbox_result *r, int64_t ms)
{
	printf("# %s: %s, exit %d, signal %d, %s, %lld ms\n# stdout: %.800s\n# stderr: %.800s\n",
	       why, sandbox_outcome_name(r->outcome), r->exit_code, r->signal, r->detail,
	       (long long)ms, r->out.bytes, r->err.bytes);
	for (size_t i = 0; i < r->forbidden_count; i++)
		printf("# forbidden %s (%s) x %llu\n", r->forbidden[i].syscall,
		       r->forbidden[i].arch, (unsigned long long)r->forbidden[i].count);
}

static const struct language *language_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot != NULL && language_at(i) != NULL; i++)
		if (strcmp(language_at(i)->extension, dot) == 0)
			return language_at(i);
	return NULL;
}

static bool run_case(struct sandbox *sandbox, const char *folder, const char *name, int number)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);
	cleanup_buf struct buf code = BUF_INIT(1 << 20);
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = { .language = language_of(name) };
	struct error err = ERROR_INIT;
	struct expectation e;
	const char *why;
	int64_t start;

	if (io_read_file(path, &code, &err) < 0 || strstr(code.data, REFUSAL) == NULL) {
		printf("not ok %d - %s # has no guard\n", number, name);
		return false;
	}
	read_header(code.data, &e);
	job.code = code.data;
	job.code_len = code.len;
	job.limits = e.limits;
	start = clock_mono_ms();
	if (sandbox_run(sandbox, &job, NULL, &r, &err) < 0) {
		printf("not ok %d - %s\n# %s\n", number, name, err.message);
		buf_release(&e.out);
		return false;
	}
	start = clock_mono_ms() - start;
	why = judge(&e, &r, start);
	printf("%sok %d - %s: %s\n", why == NULL ? "" : "not ", number, name, e.threat);
	if (why != NULL)
		explain(why, &r, start);
	fflush(stdout);
	buf_release(&e.out);
	return why == NULL;
}

static int is_case(const struct dirent *entry)
{
	return language_of(entry->d_name) != NULL;
}

static bool is_wanted(const char *name, char **wanted)
{
	for (char **w = wanted; *w != NULL; w++)
		if (strstr(name, *w) != NULL)
			return true;
	return *wanted == NULL;
}

int main(int argc, char **argv)
{
	struct sandbox_options options = { .cache_dir = getenv("ASSAY_TEST_CACHE") };
	cleanup_sandbox struct sandbox *sandbox = NULL;
	struct error err = ERROR_INIT;
	struct dirent **entries;
	int count, failed = 0, number = 0;

	count = argc < 2 ? -1 : scandir(argv[1], &entries, is_case, alphasort);
	if (count < 0 || sandbox_open(&sandbox, &options, &err) < 0) {
		fprintf(stderr, "escape FOLDER: %s\n", err.message);
		return 2;
	}
	for (int i = 0; i < count; i++) {
		if (is_wanted(entries[i]->d_name, argv + 2))
			failed += !run_case(sandbox, argv[1], entries[i]->d_name, ++number);
		free(entries[i]);
	}
	free(entries);
	printf("1..%d\n", number);
	return failed > 0;
}
