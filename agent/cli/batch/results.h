/* The results file. */
#ifndef AGENT_BATCH_RESULTS_H
#define AGENT_BATCH_RESULTS_H

#include "agent/cli/batch/earlier.h"
#include "audit/audit.h"
#include "verifier/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct settings;

struct batch_results {
	int fd;	      /* of the results; -1: none are written */
	bool table;   /* there is no file but a terminal, which gets a table in the end */
	bool answers; /* are kept, for a table or a vote */
	bool vote;
	size_t repeats;		 /* as in struct batch */
	const char *path;	 /* for messages; NULL: standard output */
	struct audit_group *log; /* where the runs are that the results name; borrowed, or NULL */
	const char *log_path;
	off_t good_len;	     /* of the file, in whole lines */
	int64_t unsynced_ms; /* since when a line may be lost with the power; 0: none may */
	struct batch_earlier earlier;
	size_t standing[STANDING_COUNT];
	struct batch_outcome *outcomes; /* owned */
	size_t count;
	size_t success, failed, skipped;
	size_t skipped_failed; /* of those skipped, without success */
	size_t not_run;	       /* to be done, but the batch ended before */
	size_t failed_before;  /* kept results of an earlier batch, without success */
	size_t others_before;  /* and those of tasks that the file does not have */
	size_t unfinished;     /* of those failed: the next --resume runs them again */
	enum error_kind cause; /* of those: ERR_SANDBOX when it was that of any */
	size_t died, retries;  /* workers, with a task tried again; tries of model calls */
	size_t levels[LEVEL_EXPECTED + 1];
	int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
	double cost_usd;
	bool cost_known;
};

/* Reads what --out holds, and keeps other batches from it (ERR_FAILED names who has
 * it); a file that exists needs --resume or --retry-failed. */
int batch_results_begin(struct batch_results *r, const struct settings *settings,
			struct error *err);
/* Opens --out for what is to come, without the earlier results that were dropped. */
int batch_results_open(struct batch_results *r, const struct settings *settings, struct error *err);
/* Appends text as a line, whole or not at all, and counts what line says. */
int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err);
/* How long the lines written may yet wait to be synced: -1 when none does, 0: now. */
int batch_results_sync_in(const struct batch_results *r, int64_t now_ms);
int batch_results_sync(struct batch_results *r, struct error *err);
int batch_results_close(struct batch_results *r, struct error *err);

#endif
