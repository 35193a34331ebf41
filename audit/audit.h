/*
 * The audit log: one SQLite file, append, query, chain, purge.
 *
 * A run is a row of `runs` and a chain of events. Each stage of the loop
 * appends a `started` event before its side effect and a `done` event after
 * it; a started event without its done says where a crash happened. Bytes
 * (prompts, replies, code, outputs, inputs, artifacts) are blobs, stored once
 * by SHA-256. Everything is redacted before it is written.
 *
 * What is appended is one transaction until audit_commit, when it is on the
 * disk. The first append after a commit takes the write lock, and the commit
 * gives it back: nothing that can take long may stand between them, so callers
 * append when they are about to commit (agent/journal.h). Every failure is
 * ERR_LOG: the caller stops the run.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/ulid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit;

/* Secrets to take out before writing. Values are exact; copied. Patterns for
 * key-shaped strings (sk-..., AKIA..., ghp_..., PEM private keys, ...) are
 * built in. A placeholder is stable: [REDACTED:NAME:first 8 hex of SHA-256
 * of a per-database salt and the value]. */
struct audit_secret {
	const char *name;	/* "OPENAI_API_KEY" */
	const char *value;
};

struct audit_options {
	const char *path;	/* created 0600, folder 0700 */
	bool read_only;
	const struct audit_secret *secrets;
	size_t secret_count;
	const char *app_version;
};

/* Refuses: not a database, another application's, a newer version, read-only
 * place, a file other users can read (made 0600 when ours, else refused). */
int audit_open(struct audit **ret, const struct audit_options *options, struct error *err);
void audit_close(struct audit *audit);	/* uncommitted events are rolled back; NULL allowed */
void audit_cleanup(struct audit **audit);
#define cleanup_audit __attribute__((cleanup(audit_cleanup)))

/* A line the user should see (secrets too short to be taken out), or NULL. */
const char *audit_note(const struct audit *audit);

/* Where the log is by default: $XDG_DATA_HOME/assay/log.db. Caller frees; NULL
 * without HOME. */
char *audit_default_path(void);

/* --- append --- */

struct audit_run {
	char id[ULID_LEN + 1];	/* made by the caller with ulid_new */
	const char *kind;	/* "ask", "repl", "batch", "exec", "complete", "replay" */
	const char *session;	/* ULID of the conversation or batch, or NULL */
	const char *item;	/* task id of a batch, or NULL */
	const char *replay_of;	/* run id, or NULL */
	const char *tier;	/* of a replay, or NULL */
	const char *prompt;	/* the question; searchable */
	size_t prompt_len;
	const char *provider, *model;	/* or NULL */
	const struct json *config;	/* everything effective that decides the run: limits,
					   roles, profile, prompts' hashes, versions */
	const char *const *tags;	/* NULL-terminated, or NULL */
};
int audit_run_begin(struct audit *audit, const struct audit_run *run, struct error *err);

struct audit_blob {
	const char *name;	/* member of data it becomes: {"sha256":…,"size":…} */
	const char *media_type;	/* "text/plain" */
	const void *bytes;
	size_t len;
};

struct audit_event {
	int64_t at_ms;		/* Unix time; 0: now */
	const char *stage;	/* plan code extract screen approve execute verify answer ... */
	int attempt;		/* from 1; 0 outside an attempt */
	const char *phase;	/* "started", "done" or "note" */
	const struct json *data;	/* object; copied; may be NULL */
	const struct audit_blob *blobs;
	size_t blob_count;
};
int audit_append(struct audit *audit, const char *run, const struct audit_event *event,
		 struct error *err);

struct audit_end {
	const char *status;	/* success unverified failed budget denied ... */
	const char *level;
	const char *reason;	/* or NULL */
	const char *answer;	/* or NULL; searchable */
	size_t answer_len;
	const char *code;	/* final code, searchable, or NULL */
	size_t code_len;
	const char *output;	/* final stdout, searchable, or NULL */
	size_t output_len;
	int exit_code;
	int attempts;
	int64_t input_tokens, output_tokens;
	int64_t cost_micro_usd;	/* -1: unknown, stored NULL */
};
int audit_run_end(struct audit *audit, const char *run, const struct audit_end *end,
		  struct error *err);

int audit_commit(struct audit *audit, struct error *err);

/* --- read --- */

struct audit_row {
	char id[ULID_LEN + 1];
	int64_t started_ms, ended_ms;	/* ended 0: still running or crashed */
	char *kind, *status, *level, *reason, *provider, *model, *item, *replay_of, *session;
	char *prompt;		/* all owned; NULL when absent */
	size_t prompt_len;
	char *answer;
	size_t answer_len;
	struct json *config;	/* owned */
	int exit_code, attempts;
	int64_t input_tokens, output_tokens, cost_micro_usd;	/* cost -1: unknown */
};
void audit_row_release(struct audit_row *row);

/* A run by its id, a unique prefix or suffix of at least 4 characters, "last",
 * or "last~N". ERR_USAGE when unknown or ambiguous (naming the candidates). */
int audit_find(struct audit *audit, const char *which, struct audit_row *ret, struct error *err);

struct audit_filter {
	const char *status, *kind, *tag, *session, *item, *replay_of;	/* NULL: any */
	int64_t since_ms;	/* 0: any */
	int64_t limit;		/* 0: all */
	const char *match;	/* full-text query, of runs that ended; or NULL */
};
/* Newest first; each returning non-zero stops. */
int audit_list(struct audit *audit, const struct audit_filter *filter,
	       int (*each)(void *self, const struct audit_row *row), void *self,
	       struct error *err);

struct audit_record {
	int64_t seq, at_ms;
	const char *stage, *phase;
	int attempt;
	struct json *data;	/* the callee may keep it by setting it to NULL */
};
/* Oldest first. */
int audit_events(struct audit *audit, const char *run,
		 int (*each)(void *self, struct audit_record *record), void *self,
		 struct error *err);

/* Bytes of a blob by hash; ERR_LOG when missing or purged. */
int audit_blob(struct audit *audit, const char *sha256, struct buf *out, struct error *err);
/* The blob that member `name` of an event's data refers to. */
int audit_blob_of(struct audit *audit, const struct json *data, const char *name, struct buf *out,
		  struct error *err);

/* Checks the event chain of a run and the hashes of its blobs. 0 and *ret_bad
 * NULL when intact; *ret_bad says what is wrong otherwise (caller frees). */
int audit_verify(struct audit *audit, const char *run, char **ret_bad, struct error *err);

/* --- purge and upkeep --- */

/* Removes runs: their events, blobs no other run needs, full-text rows; the bytes
 * are overwritten (secure_delete). One transaction: all or none. */
int audit_remove_all(struct audit *audit, const char *const *runs, size_t count,
		     struct error *err);
/* A consistent copy (online backup API). */
int audit_backup(struct audit *audit, const char *path, struct error *err);
/* Counts and sizes: runs by status, blobs, bytes, tokens, cost. Caller frees. */
int audit_stats(struct audit *audit, struct json **ret, struct error *err);

#endif
