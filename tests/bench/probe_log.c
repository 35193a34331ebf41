/*
 * Times what the log does, in a file of its own below FOLDER: "append" writes one run as an
 * execution does, begun and recorded before, recorded and ended after, each on the disk before it
 * goes on; "floor" syncs the same bytes of a plain file as often; "verify" checks the chain of one
 *run. probe_log FOLDER
 */
#include "tests/bench/probe.h"

#include "audit/audit.h"
#include "base/clock.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COMMITS	    2
#define FLOOR_BYTES 16384

static struct audit *audit;
static const char *folder;
static char newest[ULID_LEN + 1];

/* --- the log --- */

static struct json *parse(const char *text)
{
	struct error err = ERROR_INIT;

	return json_parse(text, strlen(text), 0, &err);
}

static int append(const char *phase, const struct json *data, const char *name, const char *text,
		  struct error *err)
{
	const struct audit_blob blob = { name, "text/plain", text, strlen(text) };
	const struct audit_event event = { .stage = "execute",
					   .attempt = 1,
					   .phase = phase,
					   .data = data,
					   .blobs = &blob,
					   .blob_count = 1 };

	return audit_append(audit, newest, &event, err);
}

static int begin_run(long number, struct error *err)
{
	cleanup_json struct json *config =
		parse("{\"limits\":{\"wall_ms\":10000},\"profile\":\"standard\"}");
	cleanup_free char *prompt = mem_printf("question %ld", number);
	struct audit_run run = {
		.kind = "exec", .prompt = prompt, .prompt_len = strlen(prompt), .config = config
	};

	ulid_new(clock_wall_ms(), run.id);
	memcpy(newest, run.id, sizeof(newest));
	return audit_run_begin(audit, &run, err);
}

static int write_run(struct error *err)
{
	static long number;
	cleanup_json struct json *started = parse("{\"language\":\"python\",\"files\":[]}");
	cleanup_json struct json *done =
		parse("{\"outcome\":\"exit\",\"exit_code\":0,\"metrics\":{\"wall_ms\":5.5},"
		      "\"environment\":{\"language\":\"python\",\"version\":\"3.11.2\"}}");
	cleanup_free char *code = mem_printf("print(%ld * 6)\n", ++number);
	cleanup_free char *output = mem_printf("%ld\n", number * 6);
	const struct audit_end end = { .status = "success",
				       .level = "ran",
				       .code = code,
				       .code_len = strlen(code),
				       .output = output,
				       .output_len = strlen(output),
				       .attempts = 1 };

	if (begin_run(number, err) < 0 || append("started", started, "code", code, err) < 0 ||
	    audit_commit(audit, err) < 0 || append("done", done, "stdout", output, err) < 0 ||
	    audit_run_end(audit, newest, &end, err) < 0)
		return -1;
	return audit_commit(audit, err);
}

static void time_append(void)
{
	struct error err = ERROR_INIT;
	const double began = probe_now_ms();
	const int rc = write_run(&err);

	if (rc < 0)
		probe_no(err.message);
	else
		probe_ok(probe_now_ms() - began);
}

static void time_floor(void)
{
	static const char bytes[FLOOR_BYTES];
	cleanup_free char *path = mem_printf("%s/floor", folder);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	const double began = probe_now_ms();
	bool good = fd >= 0;

	for (int i = 0; good && i < COMMITS; i++)
		good = pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
		       fdatasync(fd) == 0;
	if (good)
		probe_ok(probe_now_ms() - began);
	else
		probe_no("a plain file cannot be written");
	if (fd >= 0)
		close(fd);
}

static void time_verify(void)
{
	cleanup_free char *bad = NULL;
	struct error err = ERROR_INIT;

	if (newest[0] == '\0' && write_run(&err) < 0) {
		probe_no(err.message);
		return;
	}
	const double began = probe_now_ms();
	const int rc = audit_verify(audit, newest, &bad, &err);
	if (rc < 0 || bad)
		probe_no(rc < 0 ? err.message : bad);
	else
		probe_ok(probe_now_ms() - began);
}

static void answer(char *const *words, size_t count)
{
	if (count == 1 && !strcmp(words[0], "append"))
		time_append();
	else if (count == 1 && !strcmp(words[0], "floor"))
		time_floor();
	else if (count == 1 && !strcmp(words[0], "verify"))
		time_verify();
	else
		probe_no("no such question");
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;

	if (argc != 2)
		return 2;
	folder = argv[1];
	cleanup_free char *path = mem_printf("%s/log.db", folder);
	if (audit_open(&audit, &(struct audit_options){ .path = path, .app_version = "1" }, &err) <
	    0) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	probe_serve(answer);
	audit_close(audit);
	return 0;
}
