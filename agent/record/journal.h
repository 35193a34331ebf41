/*
 * A run's own page of the audit log: what the loop and a bare call of the model
 * (complete) append to. Every function fails with ERR_LOG, and the
 * caller stops: nothing runs unlogged.
 *
 * Records that have no side effect between them share one transaction: what is
 * queued waits, in memory, for the next record that announces a side effect, or
 * for the run's end. So a commit stands before everything that reaches outside
 * (a call, an execution, a look at a file or a program in the sandbox), a person
 * is waited for with everything written and no lock held, and a kill at any
 * moment leaves a log whose last `started` says where it was. Only before a
 * program runs is the disk waited for: see "What is durable when" in audit/README.md.
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include "agent/context.h"
#include "agent/policy.h"
#include "base/stop.h"
#include "audit/audit.h"
#include "llm/llm.h"
#include "sandbox/sandbox.h"

struct journal_record;

struct journal {
	struct audit *audit; /* borrowed */
	char run[ULID_LEN + 1];
	int64_t begun_mono_ms;
	const struct context *context; /* that the run goes on in; borrowed; NULL: none */
	bool anew;		       /* but its state is lost: from nothing */
	bool standalone;	       /* kind "exec": no task event holds the inputs */
	bool writing;		       /* the run's begin is not committed yet */
	struct journal_record *queue;  /* owned */
	size_t queued;
};

/* When what is about to be recorded must end. */
struct stop journal_stop(int cancel_fd, const struct budget_limits *limits);

/* Fills run's id and begins it, to be committed with the first event that is.
 * run->config is set from policy when NULL. */
int journal_begin(struct journal *j, struct audit *audit, struct audit_run *run,
		  const struct policy *policy, struct error *err);
/* The context's state is lost: what is recorded from here on begins from nothing. */
void journal_note_anew(struct journal *j);
/* Drops what is still queued. Not needed after journal_end. */
void journal_release(struct journal *j);
#define cleanup_journal __attribute__((cleanup(journal_release)))

/*
 * Commits what is queued, then this event: for `started`, before the
 * side effect it announces. data is borrowed; "elapsed_ms" since the run's
 * begin is added.
 */
int journal_event(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err);
/* The same, but written with what comes next: for results. Copies all it is given. */
int journal_queue(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err);
/* Commits what is queued: before a wait that has no record of its own. */
int journal_commit(struct journal *j, struct error *err);

/* A call of the model, announced; prompt_sha256 is its template's, or NULL. */
int journal_call_start(struct journal *j, int attempt, const struct llm_request *q,
		       const char *prompt_sha256, struct error *err);
/* Its reply, queued. failure is why there is none or not all of it, now the
 * event's; NULL when there was none. */
int journal_call(struct journal *j, const char *stage, int attempt, const struct llm_reply *reply,
		 struct json *failure, struct error *err);

/* Input files: their paths as "files" of data, their bytes as blobs named file_0
 * and on; those that are no bytes by where and what they are, as "sources" by path.
 * names has room for JOURNAL_NAME_SIZE bytes each and outlives blobs. Returns how many
 * blobs there are. */
#define JOURNAL_NAME_SIZE 32
#define JOURNAL_SOURCES	  "sources"
size_t journal_add_files(struct json *data, const struct sandbox_file *files, size_t count,
			 struct audit_blob *blobs, char *names);

/* An execution's done event, queued, of the stage execute or look: exec JSON, stdout, stderr and
 * kept artifacts as blobs. */
struct failure;
int journal_execution(struct journal *j, const char *stage, int attempt,
		      const struct sandbox_result *result, const struct failure *failure,
		      struct error *err);

/* Of that event, what a cell left, as its harness says: no artifact, and no result. */
#define JOURNAL_STATE "state"

/* Of a note of the judge: numbers of the cells that it is shown; of one of verify: of those that
 * the program ran again after (agent/stages/again.c). */
#define JOURNAL_NEEDED "needed"

/* Its started events, in one commit: what is about to run, at once. They are on
 * the disk, and all before them, when it returns. */
int journal_execution_start(struct journal *j, const char *stage, int attempt,
			    const struct sandbox_job *jobs, size_t count, struct error *err);

/* What a run's first event has, beside what is to be done, of this program: the texts of
 * prompts and rules, as blobs of these names. */
#define JOURNAL_TEMPLATES "templates"
#define JOURNAL_RULES	  "rules"
#define JOURNAL_PACKAGES  "packages"

/* A program that is not announced at once, because it is screened first, queued:
 * all that a replay needs of it, the rules' texts among it. */
int journal_program(struct journal *j, const struct sandbox_job *job, const char *rules,
		    struct error *err);

int journal_end(struct journal *j, const struct audit_end *end, struct error *err);

#endif
