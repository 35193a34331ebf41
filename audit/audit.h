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
 * disk, or audit_commit_later, when it is written. The first append after a commit takes the write
 * lock, and the commit gives it back: nothing that can take long may stand between them, so callers
 * append when they are about to commit (agent/record/journal.h). Every failure is
 * ERR_LOG: the caller stops the run.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include "audit/redact/redact.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/ulid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit;
struct audit_group;
struct redactor;

struct audit_options {
	const char *path; /* created 0600, folder 0700 */
	bool read_only;
	bool foreign;  /* with read_only: from elsewhere, and what is wrong is remedied there */
	bool existing; /* to be changed, not made: refused when it is not there */
	bool brief;    /* one run, and over: the write-ahead log stays, while it is short, so
			  that the disk is waited for less often */
	const struct audit_secret *secrets;
	size_t secret_count;
	const char *const *patterns; /* of secrets, as redactor_add_pattern takes them */
	size_t pattern_count;
	const char *app_version;
	const struct stop *stop;   /* as audit_set_stop */
	struct audit_group *group; /* borrowed; NULL: syncs for itself */
};

/*
 * Refuses: not a database, another application's, a newer version, read-only
 * place, a file other users can read (made 0600 when ours, else refused). What
 * is refused is as it was, and so is its folder: a file is changed in no way
 * before its header says that it is a log, or it is empty and to be one.
 */
int audit_open(struct audit **ret, const struct audit_options *options, struct error *err);
void audit_close(struct audit *audit); /* uncommitted events are rolled back; NULL allowed */
void audit_cleanup(struct audit **audit);
#define cleanup_audit __attribute__((cleanup(audit_cleanup)))

/*
 * When queries must end: a log from elsewhere can make them as long as it likes.
 * Reading and removing end at once, with stop_check's errors. What a run writes
 * is given two seconds first, since its own end is part of its record, and ends
 * as ERR_LOG. Copied; NULL is never.
 */
void audit_set_stop(struct audit *audit, const struct stop *stop);

/* What takes secrets out of what the log is given, for what else is made of a run
 * (audit/redact/redact.h): the log's own, and one to keep when the log is closed, freed
 * with redactor_free. NULL of a log for reading. */
const struct redactor *audit_redactor(const struct audit *audit); /* NULL allowed */
struct redactor *audit_take_redactor(struct audit *audit);	  /* nothing is appended after it */

/* A line the user should see (secrets too short to be taken out), or NULL. */
const char *audit_note(const struct audit *audit);

/* Where the log is by default: $XDG_DATA_HOME/assay/log.db. Caller frees; NULL
 * without HOME. */
char *audit_default_path(void);

/* --- append --- */

struct audit_run {
	char id[ULID_LEN + 1]; /* made by the caller with ulid_new */
	const char *kind;      /* "ask", "repl", "batch", "exec", "complete", "replay" */
	const char *session;   /* ULID of the conversation or batch, or NULL */
	const char *item;      /* task id of a batch, or NULL */
	const char *replay_of; /* run id, or NULL */
	const char *tier;      /* of a replay, or NULL */
	const char *prompt;    /* the question; searchable */
	size_t prompt_len;
	const char *provider, *model; /* or NULL */
	const struct json *config;    /* everything effective that decides the run: limits,
					 roles, profile, prompts' hashes, versions */
	const char *const *tags;      /* NULL-terminated, or NULL */
	int64_t started_ms;	      /* 0: now */
	const char *app_version;      /* NULL: this program's */
};
int audit_run_begin(struct audit *audit, const struct audit_run *run, struct error *err);

struct audit_blob {
	const char *name;	/* member of data it becomes: {"sha256":…,"size":…} */
	const char *media_type; /* "text/plain" */
	const void *bytes;
	size_t len;
};

struct audit_event {
	int64_t at_ms;		 /* Unix time; 0: now */
	const char *stage;	 /* plan code extract screen approve execute verify answer ... */
	int attempt;		 /* from 1; 0 outside an attempt */
	const char *phase;	 /* "started", "done" or "note" */
	const struct json *data; /* object; copied; may be NULL */
	const struct audit_blob *blobs;
	size_t blob_count;
};
int audit_append(struct audit *audit, const char *run, const struct audit_event *event,
		 struct error *err);

struct audit_end {
	const char *status; /* success unverified failed budget denied ... */
	const char *level;
	const char *reason; /* or NULL */
	const char *answer; /* or NULL; searchable */
	size_t answer_len;
	const char *code; /* final code, searchable, or NULL */
	size_t code_len;
	const char *output; /* final stdout, searchable, or NULL */
	size_t output_len;
	int exit_code; /* of the program that ran it; -1: none is known, stored NULL */
	int attempts;
	int64_t input_tokens, output_tokens;
	int64_t cost_micro_usd; /* -1: unknown, stored NULL */
	int64_t ended_ms;	/* 0: now */
};
int audit_run_end(struct audit *audit, const char *run, const struct audit_end *end,
		  struct error *err);

/* For a moment in which nobody waits for the log, as while a program runs: what the end of a run is
 * written by is made ready, so that then there is only writing to do. It writes nothing and holds
 * no lock when it returns. */
void audit_get_ready(struct audit *audit);

/* Ends the transaction, and waits until it and all before it are on the disk. */
int audit_commit(struct audit *audit, struct error *err);
/* Ends the transaction: who reads sees it, and no kill takes it back. A power cut may, until the
 * next audit_commit or audit_finish, but only it and what came after: never from between. */
int audit_commit_later(struct audit *audit, struct error *err);
/* Closes the file, and waits until all is on the disk. Only audit_redactor and audit_close may
 * follow. */
int audit_finish(struct audit *audit, struct error *err);

/*
 * Processes that wait for the disk together: made before they are forked, and given to the
 * audit_open of each (of one log); a sync by one of them is then one for all. NULL without memory.
 */
struct audit_group *audit_group_new(void);
void audit_group_free(struct audit_group *group); /* NULL allowed */
/* Waits until all that any of them committed to the log at path is on the disk. */
int audit_group_sync(struct audit_group *group, const char *path, struct error *err);

/* --- read --- */

struct audit_row {
	char id[ULID_LEN + 1];
	int64_t started_ms, ended_ms; /* ended 0: still running or crashed */
	char *kind, *status, *level, *reason, *provider, *model, *item, *replay_of, *session;
	char *prompt; /* all owned; NULL when absent */
	size_t prompt_len;
	char *answer;
	size_t answer_len;
	struct json *config; /* owned */
	int exit_code;	     /* -1: none was recorded */
	int attempts;
	int64_t input_tokens, output_tokens, cost_micro_usd; /* cost -1: unknown */
};
void audit_row_release(struct audit_row *row);

/* A run by its id, a unique prefix or suffix of at least 4 characters, "last",
 * or "last~N", counted among those that are no replays. ERR_USAGE when unknown or ambiguous (naming
 * the candidates). */
int audit_find(struct audit *audit, const char *which, struct audit_row *ret, struct error *err);

struct audit_filter {
	const char *status, *kind, *tag, *session, *item, *replay_of; /* NULL: any */
	const char *level;					      /* NULL: any */
	const char *model;		     /* as GLOB has it: "claude-*"; NULL: any */
	const int64_t *cost_above_micro_usd; /* none whose cost is unknown; NULL: any */
	int64_t since_ms, before_ms;	     /* when they began; 0: any */
	int64_t limit;			     /* 0: all */
	const char *match;		     /* full-text query, of runs that ended; or NULL */
};
/* Newest first; each returning non-zero stops. */
int audit_list(struct audit *audit, const struct audit_filter *filter,
	       int (*each)(void *self, const struct audit_row *row), void *self, struct error *err);

/* The last programs of the newest runs that ended with one and are no replays, `limit` of them at
 * most, newest first; those that were purged are left out. Each returning non-zero stops. */
int audit_programs(struct audit *audit, int64_t limit,
		   int (*each)(void *self, const char *code, size_t len), void *self,
		   struct error *err);

/*
 * Appends where a run's texts have the words of a full-text query: some 16 words of them, each
 * hit between two of `mark`, which the text cannot know beforehand. Nothing when the index does
 * not have the run.
 */
int audit_snippet(struct audit *audit, const char *run, const char *match, const char *mark,
		  struct buf *out, struct error *err);

struct audit_record {
	int64_t seq, at_ms;
	const char *stage, *phase;
	int attempt;
	struct json *data; /* the callee may keep it by setting it to NULL */
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
/* How many secrets were taken out of it; ERR_LOG as above. */
int audit_blob_redactions(struct audit *audit, const struct json *data, const char *name,
			  int64_t *ret, struct error *err);

/* Checks the event chain of a run, the hashes of its blobs, and what the log's own chain says of
 * it. 0 and *ret_bad NULL when intact; *ret_bad says what is wrong otherwise (caller frees). */
int audit_verify(struct audit *audit, const char *run, char **ret_bad, struct error *err);

/* The end of the log's own chain, and the runs that had none then: of those the chain says nothing
 * yet. Kept elsewhere, it says later whether the log still has what it had: who can write the file
 * can write all its hashes, but not these. */
struct audit_open_run {
	char id[ULID_LEN + 1];
	int64_t events;	    /* that it had */
	char cover[64 + 1]; /* over them, its opening, its tags and what their blobs are */
	char whole[64 +
		   1]; /* over all blobs that are kept for it as well: while it does not go on */
};
struct audit_head {
	int64_t place; /* 0: none */
	char link[64 + 1];
	struct audit_open_run *open; /* owned */
	size_t open_count;
};
void audit_head_release(struct audit_head *head);
#define cleanup_audit_head __attribute__((cleanup(audit_head_release)))

/* Checks what no run can say of itself: the file, the log's own chain, that no run is missing,
 * that nothing belongs to none, the counters. Each problem is told; returns 0 whatever was found.
 * kept: a head of before, or NULL. The runs themselves: audit_verify. *ret_head is to be released.
 */
int audit_verify_log(struct audit *audit, const struct audit_head *kept,
		     struct audit_head *ret_head, int (*each)(void *self, const char *problem),
		     void *self, struct error *err);

/* Makes the full-text index anew, when it was damaged: in steps, so that who writes waits for one
 * at most. Who ends it leaves an index that lacks runs, as verification says. */
int audit_reindex(struct audit *audit, struct error *err);

/* --- purge --- */

/* Removes runs: their events, blobs no other run needs, full-text rows; the bytes
 * are overwritten (secure_delete). A run that is not there is refused before any goes. In steps:
 * what went before a failure is gone, and each run is gone or there. */
int audit_remove_all(struct audit *audit, const char *const *runs, size_t count, struct error *err);
/* What to keep: nothing that began before a time (0: any), no more than so many bytes of contents
 * and events (0: any); what did not succeed, whatever its age and size. */
struct audit_retention {
	int64_t before_ms, max_bytes;
	bool failed;
};
/* The ended runs that need not be kept, newest first. */
int audit_outdated(struct audit *audit, const struct audit_retention *keep,
		   int (*each)(void *self, const char *run), void *self, struct error *err);
/* --- from log to log --- */

enum audit_copied {
	AUDIT_COPY_NEW,	  /* it was not there, and now is */
	AUDIT_COPY_THERE, /* it was there, the same */
	AUDIT_COPY_OPEN	  /* it has not ended, and stays where it is */
};
/*
 * A run (its whole id) of another log into this one, as it is: with its times, its hashes and its
 * placeholders. It is verified before, and its seal compared after; one transaction. ERR_FAILED
 * when it is not intact, or another run has its id here.
 */
int audit_copy(struct audit *to, struct audit *from, const char *run, enum audit_copied *ret,
	       struct error *err);
/* What audit_copy would find, without writing anything; to NULL: in a log without runs. */
int audit_copy_check(struct audit *to, struct audit *from, const char *run, enum audit_copied *ret,
		     struct error *err);

/* --- upkeep --- */

/* A consistent copy (online backup API). */
int audit_backup(struct audit *audit, const char *path, struct error *err);
/* What runs of one kind came to; replays are not among them. -1: unknown, or none. */
struct audit_bucket {
	const char *name; /* NULL: those that have none (no model, no tag) */
	int64_t runs, success, unfinished;
	int64_t median_ms, p95_ms; /* of those that ended; nearest rank */
	int64_t input_tokens, output_tokens;
	int64_t cost_micro_usd, cost_unknown; /* sum, and runs without */
	int64_t tokens_unknown;		      /* runs whose model did not count them */
};
enum audit_by {
	AUDIT_BY_ALL,
	AUDIT_BY_MODEL,
	AUDIT_BY_DAY, /* local */
	AUDIT_BY_TAG, /* a run is in each of its tags */
	AUDIT_BY_STATUS,
	AUDIT_BY_LEVEL,
	AUDIT_BY_KIND,
	AUDIT_BY_COUNT
};
const char *audit_by_name(enum audit_by by);
int audit_by_parse(const char *name); /* -1 when unknown; never AUDIT_BY_ALL */
/* By name, those without one last. Of the filter: status, level, model, cost, since, tag and
 * limit (the newest). Each returning non-zero stops. */
int audit_buckets(struct audit *audit, enum audit_by by, const struct audit_filter *filter,
		  int (*each)(void *self, const struct audit_bucket *bucket), void *self,
		  struct error *err);
/* Counts and sizes: runs by status, blobs, bytes, tokens, cost. Caller frees. */
int audit_stats(struct audit *audit, struct json **ret, struct error *err);

#endif
