/*
 * What the log costs as it grows: runs written by the real writer, then each thing that people do
 * with it. Without syncs that wait (in memory, unless a folder is given): the disk is not measured.
 *   bench_audit [RUNS [FOLDER]]     (100,000 in /dev/shm)
 */
#include "bench.h"

#include "audit/audit.h"
#include "base/clock.h"

#include <string.h>
#include <unistd.h>

#define RUNS	100000
#define FOLDER	"/dev/shm"
#define TAGGED	1000 /* every so many runs have a tag */
#define REMOVED 1000
#define WORDS	5000

static struct audit *audit;
static char middle[ULID_LEN + 1], path[256];

static void must(int rc, const struct error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bench_audit: %s\n", err->message);
	exit(1);
}

static struct json *parse(const char *text)
{
	struct error err = ERROR_INIT;

	return json_parse(text, strlen(text), 0, &err);
}

static void append(const char *run, const char *phase, const struct json *data, const char *name,
		   const char *text)
{
	const struct audit_blob blob = { name, "text/plain", text, strlen(text) };
	const struct audit_event event = { .stage = "execute",
					   .attempt = 1,
					   .phase = phase,
					   .data = data,
					   .blobs = &blob,
					   .blob_count = 1 };
	struct error err = ERROR_INIT;

	must(audit_append(audit, run, &event, &err), &err);
}

static void begin_run(long i, struct audit_run *run)
{
	static const char *const tags[] = { "some", NULL };
	static struct json *config;
	cleanup_free char *prompt = mem_printf("question %ld about word%ld", i, i % WORDS);
	struct error err = ERROR_INIT;

	if (!config)
		config = parse("{\"limits\":{\"wall_ms\":10000},\"profile\":\"standard\"}");
	*run = (struct audit_run){ .kind = i % 3 ? "batch" : "exec",
				   .prompt = prompt,
				   .prompt_len = strlen(prompt),
				   .provider = "script",
				   .model = i % 2 ? "model-a" : "model-b",
				   .config = config,
				   .tags = i % TAGGED ? NULL : tags };
	ulid_new(clock_wall_ms(), run->id);
	must(audit_run_begin(audit, run, &err), &err);
}

static void write_run(long i)
{
	static struct json *started, *done;
	cleanup_free char *code = mem_printf("print(%ld * 6)\n", i % 700);
	cleanup_free char *output = mem_printf("%ld\n", i * 6);
	const struct audit_end end = { .status = i % 10 ? "success" : "failed",
				       .level = "ran",
				       .answer = output,
				       .answer_len = strlen(output),
				       .code = code,
				       .code_len = strlen(code),
				       .output = output,
				       .output_len = strlen(output),
				       .attempts = 1,
				       .input_tokens = 10,
				       .output_tokens = 20,
				       .cost_micro_usd = 30 };
	struct error err = ERROR_INIT;
	struct audit_run run;

	if (!started) {
		started = parse("{\"language\":\"python\",\"wall_limit_ms\":10000,\"files\":[]}");
		done = parse("{\"outcome\":\"exit\",\"exit_code\":0,\"stdout_bytes\":3,\"metrics\":"
			     "{\"wall_ms\":5.5,\"user_ms\":1},\"isolation\":{\"userns\":true,"
			     "\"seccomp\":\"75112da1c8a860fb7e14a1b45c02dfdd\",\"cgroup\":\"v1\"},"
			     "\"environment\":{\"language\":\"python\",\"version\":\"3.11.2\"}}");
	}
	begin_run(i, &run);
	append(run.id, "started", started, "code", code);
	must(audit_commit(audit, &err), &err);
	append(run.id, "done", done, "stdout", output);
	must(audit_run_end(audit, run.id, &end, &err), &err);
	must(audit_commit(audit, &err), &err);
	memcpy(middle, run.id, sizeof(middle));
}

static int ignore_row(void *self, const struct audit_row *row)
{
	(void)self;
	(void)row;
	return 0;
}

static int ignore_event(void *self, struct audit_record *record)
{
	(void)self;
	(void)record;
	return 0;
}

static void list(const struct audit_filter *filter)
{
	struct error err = ERROR_INIT;

	must(audit_list(audit, filter, ignore_row, NULL, &err), &err);
}

static void list_newest(void)
{
	list(&(struct audit_filter){ .limit = 20 });
}

static void list_status(void)
{
	list(&(struct audit_filter){ .limit = 20, .status = "failed" });
}

static void list_no_status(void)
{
	list(&(struct audit_filter){ .limit = 20, .status = "denied" });
}

static void list_no_model(void)
{
	list(&(struct audit_filter){ .limit = 20, .model = "model-c" });
}

static void list_no_tag(void)
{
	list(&(struct audit_filter){ .limit = 20, .tag = "none" });
}

static void list_future(void)
{
	list(&(struct audit_filter){ .limit = 20, .since_ms = clock_wall_ms() + 1000000 });
}

static void list_since(void)
{
	list(&(struct audit_filter){ .limit = 20, .since_ms = 1 });
}

static void search_rare(void)
{
	list(&(struct audit_filter){ .limit = 20, .match = "word77" });
}

static void search_common(void)
{
	list(&(struct audit_filter){ .limit = 20, .match = "question" });
}

static void search_nothing(void)
{
	list(&(struct audit_filter){ .limit = 20, .match = "nosuchword" });
}

static void show(void)
{
	struct error err = ERROR_INIT;
	struct audit_row row;

	must(audit_find(audit, middle, &row, &err), &err);
	must(audit_events(audit, row.id, ignore_event, NULL, &err), &err);
	audit_row_release(&row);
}

static void show_tail(void)
{
	struct error err = ERROR_INIT;
	struct audit_row row;

	must(audit_find(audit, middle + ULID_LEN - 8, &row, &err), &err);
	audit_row_release(&row);
}

static void stats(void)
{
	struct error err = ERROR_INIT;
	struct json *json = NULL;

	must(audit_stats(audit, &json, &err), &err);
	json_free(json);
}

static void verify_one(void)
{
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;

	must(audit_verify(audit, middle, &bad, &err), &err);
	if (bad)
		fprintf(stderr, "bench_audit: %s\n", bad);
}

static void append_one(void)
{
	static long i = 1;

	write_run(-i++);
}

static void reopen(void)
{
	struct error err = ERROR_INIT;

	audit_close(audit);
	must(audit_open(&audit, &(struct audit_options){ .path = path, .app_version = "1" }, &err),
	     &err);
}

struct ids {
	char ids[REMOVED][ULID_LEN + 1];
	const char *list[REMOVED];
	size_t count;
};

static int collect(void *self, const struct audit_row *row)
{
	struct ids *ids = self;

	memcpy(ids->ids[ids->count], row->id, sizeof(row->id));
	ids->list[ids->count] = ids->ids[ids->count];
	ids->count++;
	return 0;
}

static void prune(void)
{
	static struct ids ids;
	struct error err = ERROR_INIT;

	must(audit_list(audit, &(struct audit_filter){ .limit = REMOVED, .status = "failed" },
			collect, &ids, &err),
	     &err);
	must(audit_remove_all(audit, ids.list, ids.count, &err), &err);
}

static void measure(const char *name, void (*act)(void), int rounds)
{
	double times[32];

	for (int i = 0; i < rounds; i++) {
		double start = bench_now_ms();

		act();
		times[i] = bench_now_ms() - start;
	}
	qsort(times, (size_t)rounds, sizeof(*times), bench_compare);
	printf("%-28s %9.2f ms\n", name, times[rounds / 2]);
}

static void fill(long runs)
{
	double start = bench_now_ms(), last = start;

	for (long i = 1; i <= runs; i++) {
		write_run(i);
		if (i % (runs / 4 ? runs / 4 : 1))
			continue;
		printf("%9ld runs: %.3f ms a run in the last quarter\n", i,
		       (bench_now_ms() - last) / ((double)runs / 4));
		fflush(stdout);
		last = bench_now_ms();
	}
}

static const struct {
	const char *name;
	void (*act)(void);
	int rounds;
} acts[] = {
	{ "open and close", reopen, 9 },
	{ "list", list_newest, 9 },
	{ "list --status", list_status, 9 },
	{ "list --status, no hit", list_no_status, 9 },
	{ "list by model, no hit", list_no_model, 9 },
	{ "list --tag, no hit", list_no_tag, 9 },
	{ "list --since, no hit", list_future, 9 },
	{ "list --since, all", list_since, 9 },
	{ "search, rare word", search_rare, 9 },
	{ "search, word of all", search_common, 9 },
	{ "search, no hit", search_nothing, 9 },
	{ "show by id", show, 9 },
	{ "find by the end of an id", show_tail, 9 },
	{ "stats", stats, 9 },
	{ "verify one run", verify_one, 9 },
	{ "append one run", append_one, 9 },
	{ "remove 1000 runs", prune, 1 },
};

int main(int argc, char **argv)
{
	const long runs = argc > 1 ? strtol(argv[1], NULL, 10) : RUNS;
	struct error err = ERROR_INIT;
	char folder[200];

	snprintf(folder, sizeof(folder), "%s/assay-bench-XXXXXX", argc > 2 ? argv[2] : FOLDER);
	if (!mkdtemp(folder))
		return perror(folder), 1;
	snprintf(path, sizeof(path), "%s/log.db", folder);
	must(audit_open(&audit, &(struct audit_options){ .path = path, .app_version = "1" }, &err),
	     &err);
	fill(runs);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		measure(acts[i].name, acts[i].act, acts[i].rounds);
	stats();
	audit_close(audit);
	for (size_t i = 0; i < 3; i++) {
		static const char *const ends[] = { "", "-wal", "-shm" };
		cleanup_free char *name = mem_printf("%s%s", path, ends[i]);

		unlink(name);
	}
	rmdir(folder);
	return 0;
}
