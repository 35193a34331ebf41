/* A log in a folder of its own, and runs to put into it. */
#ifndef TEST_AUDIT_FIXTURE_H
#define TEST_AUDIT_FIXTURE_H

#include "audit/audit.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	char folder[64];
	char path[80];
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));

	snprintf(f->folder, sizeof(f->folder), "/tmp/assay-audit-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/log.db", f->folder);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *command = mem_printf("rm -rf '%s'", f->folder);
	int rc = system(command); /* a journal of some kind may be left beside the log */

	free(f);
	return rc;
}

#define assert_ok(call, err)                                      \
	do {                                                      \
		if ((call) != 0)                                  \
			fail_msg("%s: %s", #call, (err).message); \
	} while (0)

static inline struct audit *fixture_open(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	assert_ok(audit_open(&audit,
			     &(struct audit_options){ .path = f->path, .app_version = "1.2.3" },
			     &err),
		  err);
	return audit;
}

static inline void fixture_begin(struct audit *audit, const char *prompt, char ret[ULID_LEN + 1])
{
	struct error err = ERROR_INIT;
	struct audit_run run = { .kind = "ask",
				 .prompt = prompt,
				 .prompt_len = strlen(prompt),
				 .provider = "script",
				 .model = "m" };

	ulid_new(clock_wall_ms(), run.id);
	assert_ok(audit_run_begin(audit, &run, &err), err);
	memcpy(ret, run.id, sizeof(run.id));
}

static inline void fixture_event(struct audit *audit, const char *run, const char *stage,
				 const char *phase, const char *json, const char *blob)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *data = json ? json_parse(json, strlen(json), 0, &err) : NULL;
	const struct audit_blob blobs[] = {
		{ "stdout", "text/plain", blob, blob ? strlen(blob) : 0 },
	};
	const struct audit_event event = { .stage = stage,
					   .attempt = 1,
					   .phase = phase,
					   .data = data,
					   .blobs = blobs,
					   .blob_count = blob ? 1 : 0 };

	assert_int_equal(err.kind, ERR_NONE);
	assert_ok(audit_append(audit, run, &event, &err), err);
}

static inline void fixture_commit(struct audit *audit)
{
	struct error err = ERROR_INIT;

	assert_ok(audit_commit(audit, &err), err);
}

static inline void fixture_end(struct audit *audit, const char *run, const char *answer)
{
	static const char code[] = "print(sum(range(10)))", output[] = "fortyfive 45\n";
	struct error err = ERROR_INIT;
	const struct audit_end end = {
		.status = "success",
		.level = "checked",
		.answer = answer,
		.answer_len = strlen(answer),
		.code = code,
		.code_len = sizeof(code) - 1,
		.output = output,
		.output_len = sizeof(output) - 1,
		.attempts = 1,
		.input_tokens = 10,
		.output_tokens = 20,
		.cost_micro_usd = -1,
	};

	assert_ok(audit_run_end(audit, run, &end, &err), err);
	fixture_commit(audit);
}

/* A whole small run with an execution whose output is `output`. */
static inline void fixture_run(struct audit *audit, const char *prompt, const char *output,
			       char ret[ULID_LEN + 1])
{
	fixture_begin(audit, prompt, ret);
	fixture_event(audit, ret, "execute", "started", NULL, NULL);
	fixture_commit(audit);
	fixture_event(audit, ret, "execute", "done", "{\"outcome\":\"exit\",\"exit_code\":0}",
		      output);
	fixture_event(audit, ret, "verify", "done",
		      "{\"checks\":[{\"kind\":\"regex\","
		      "\"source\":\"user\",\"verdict\":\"pass\",\"detail\":\"ok\"}],"
		      "\"level\":\"checked\"}",
		      NULL);
	fixture_end(audit, ret, "the answer");
}

static inline int fixture_remove(struct audit *audit, const char *run, struct error *err)
{
	return audit_remove_all(audit, &run, 1, err);
}

/* How often the bytes occur in a file (0 when there is no such file). */
static inline size_t fixture_scan(const char *path, const char *what)
{
	struct error err = ERROR_INIT;
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	size_t count = 0;

	if (io_read_file(path, &bytes, &err) < 0)
		return 0;
	const char *p = bytes.data;
	while ((p = memmem(p, bytes.len - (size_t)(p - bytes.data), what, strlen(what)))) {
		count++;
		p++;
	}
	return count;
}

#endif
