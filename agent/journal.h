/*
 * A run's own page of the audit log: what the loop and the small commands
 * (exec, complete) append to. Every function fails with ERR_LOG, and the
 * caller stops: nothing runs unlogged.
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include "agent/settings.h"
#include "audit/audit.h"

struct journal {
	struct audit *audit;	/* borrowed */
	char run[ULID_LEN + 1];
	int64_t begun_mono_ms;
	bool standalone;	/* kind "exec": no task event holds the inputs */
};

/* Opens the log of the settings with every secret known for redaction. */
int journal_open_log(struct audit **ret, const struct settings *settings, bool read_only,
		     struct error *err);

/* Fills run's id and begins it. run->config is set from settings when NULL. */
int journal_begin(struct journal *j, struct audit *audit, struct audit_run *run,
		  const struct settings *settings, struct error *err);

/*
 * Appends and commits an event. data is borrowed; "elapsed_ms" since the run's
 * begin is added. `started` goes before the side effect it announces.
 */
int journal_event(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err);
/* The same without the commit, for stages without a side effect. */
int journal_queue(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err);

/* The execute stage's done event: exec JSON, stdout, stderr and kept artifacts
 * as blobs. */
struct failure;
int journal_execution(struct journal *j, int attempt, const struct sandbox_result *result,
		      const struct failure *failure, struct error *err);

/* The execute stage's started event: what is about to run. */
int journal_execution_start(struct journal *j, int attempt, const struct sandbox_job *job,
			    struct error *err);

int journal_end(struct journal *j, const struct audit_end *end, struct error *err);

#endif
