/* The subcommands of assay log. Internal to agent/. */
#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#include "agent/settings.h"
#include "audit/audit.h"

struct log {
	const struct settings *settings;
	struct audit *audit;
	const char *const *args;	/* after the subcommand */
	size_t count;
};

/* Each returns the exit code, with err set when it failed. */
int log_list(const struct log *log, struct error *err);
int log_search(const struct log *log, struct error *err);
int log_show(const struct log *log, struct error *err);
int log_export(const struct log *log, struct error *err);
int log_diff(const struct log *log, struct error *err);
int log_stats(const struct log *log, struct error *err);
int log_verify(const struct log *log, struct error *err);
int log_rm(const struct log *log, struct error *err);
int log_prune(const struct log *log, struct error *err);
int log_backup(const struct log *log, struct error *err);

/* --since: "30m", "12h", "7d" before now, or YYYY-MM-DD (local midnight); 0 when not given. */
int log_since(const struct settings *settings, int64_t *ret_wall_ms, struct error *err);

/* A run as JSON, without its events. Caller frees. */
struct json *log_row_json(const struct audit_row *row);

/* A run with its events and the contents they refer to. Caller frees; NULL on failure. */
struct json *log_run_json(struct audit *audit, const struct audit_row *row, struct error *err);

/* Status for people: "unfinished" for a run without an end. */
const char *log_status(const struct audit_row *row);

/* Prints a document and a newline; takes it. */
int log_print(struct json *document, struct error *err);

#endif
