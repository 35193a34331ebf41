/* The subcommands of assay log. Internal to agent/cli/. */
#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#include "agent/cli/settings.h"
#include "audit/audit.h"

struct log {
	const struct settings *settings;
	struct audit *audit;
	const char *const *args; /* after the subcommand */
	size_t count;
	struct terminal *term; /* of these settings' app */
};

/* Each returns the exit code, with err set when it failed. */
int log_list(const struct log *log, struct error *err);
int log_contexts(const struct log *log, struct error *err);
int log_search(const struct log *log, struct error *err);
int log_show(const struct log *log, struct error *err);
int log_export(const struct log *log, struct error *err);
int log_diff(const struct log *log, struct error *err);
int log_stats(const struct log *log, struct error *err);
int log_verify(const struct log *log, struct error *err);
int log_rm(const struct log *log, struct error *err);
int log_save(const struct log *log, struct error *err);
int log_prune(const struct log *log, struct error *err);
int log_reindex(const struct log *log, struct error *err);
int log_backup(const struct log *log, struct error *err);
int log_import(const struct log *log, struct error *err);
int log_merge(const struct log *log, struct error *err);

/* Ids of runs: as the arguments name them, or of all that the options choose. */
struct log_ids {
	char **list; /* owned */
	size_t count;
	int64_t before_ms; /* only runs that began before; 0: any */
};
void log_ids_add(struct log_ids *ids, const char *run);
int log_ids_named(const struct log *log, struct log_ids *ids, struct error *err);
int log_ids_all(const struct log *log, struct log_ids *ids, struct error *err);
void log_ids_release(struct log_ids *ids);

/* Which runs: what --status, --tag, --level, --model and --cost-above say, errors ERR_USAGE.
 * Points into itself and the settings: it stays where it is read. */
struct log_filter {
	struct audit_filter filter;
	int64_t cost_micro_usd;
};
int log_filter_read(const struct settings *settings, struct log_filter *ret, struct error *err);

#define LOG_DAY_MS ((int64_t)86400000)
/* --since: "30m", "12h", "7d" before now, or YYYY-MM-DD (local midnight); 0 when not given. */
int log_since(const struct settings *settings, int64_t *ret_wall_ms, struct error *err);

/* Local time, with the year and the zone or without, or "(no such date)" where
 * the log has a number that is none. */
#define LOG_WHEN_SIZE 64
void log_when(int64_t wall_ms, bool in_full, char ret[LOG_WHEN_SIZE]);
/* The same for JSON, in UTC: null for none and for no date. */
struct json *log_date_json(int64_t wall_ms);
/* The time between two dates, and that of a run: false when there is none to tell. */
bool log_span(int64_t from_ms, int64_t to_ms, int64_t *ret_ms);
bool log_took(const struct audit_row *row, int64_t *ret_ms);

/* A run as JSON, without its events. Caller frees. */
struct json *log_row_json(const struct audit_row *row);

/* A run with its events and the contents they refer to. Caller frees; NULL on failure. */
struct json *log_run_json(struct audit *audit, const struct audit_row *row, struct error *err);

/* agent/cli/log/show_stage.c: all that "NAME" or "NAME:ATTEMPT" has in the record;
 * ERR_USAGE, naming those there are, when it has none. */
int log_show_stage(const struct log *log, const struct audit_row *row, const char *stage,
		   struct error *err);

/* One record as log show has it. */
int log_show_record(const struct log *log, const struct audit_row *row, struct audit_record *record,
		    struct error *err);

/* Status for people: this for a run without an end. */
#define LOG_UNFINISHED "unfinished"
const char *log_status(const struct audit_row *row);

/* A run as a trace: one OTLP request. Caller frees; NULL on failure. */
struct json *log_trace_json(struct audit *audit, const struct audit_row *row, struct error *err);

/* A run as one HTML page, to where log_export_to writes. */
int log_page(const struct log *log, const struct audit_row *row, struct error *err);

/* What an export made, to --output, which is replaced as a whole, or to standard output. */
int log_export_to(const struct log *log, const char *bytes, size_t len, struct error *err);

/* Prints a document and a newline; takes it. */
int log_print(struct terminal *term, struct json *document, struct error *err);

#endif
