/* A recorded run, as data: what the log has of it. The ends that play it are in player.h. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include "agent/loop.h"

struct recorded_event {
	char *stage, *phase; /* owned */
	int attempt;
	struct json *data; /* owned */
	bool used;	   /* played back */
};

struct recording {
	struct audit *audit; /* borrowed */
	struct audit_row row;
	struct recorded_event *events; /* oldest first; owned */
	size_t count;
	/* It has no texts of its prompts (version 1), and those of here are others: what a model
	 * was asked cannot be made again, and is not compared. */
	bool prompts_unknown;
	/* A fork: from this stage on the live model answers (NULL: never), or, for "end",
	 * where the record has nothing more. */
	const char *from;
	const char *code; /* instead of that stage's first reply: a program; or NULL */
	struct llm *live;
	bool forked;
	/* Grows by the secrets that were taken out of what is read of it; borrowed. NULL: it is not
	 * asked. */
	int64_t *redactions;
};

/* Loads a run. ERR_USAGE for an unknown one. */
int recording_load(struct recording *ret, struct audit *audit, const char *which,
		   struct error *err);
void recording_release(struct recording *r);

/* The first event of that stage and phase (attempt -1: any), or NULL. */
const struct recorded_event *recording_find(const struct recording *r, const char *stage,
					    int attempt, const char *phase);

/* The first event not played yet of that stage, phase (NULL: any) and attempt
 * that `is` holds for (NULL: any). */
struct recorded_event *recording_next(struct recording *r, const char *stage, const char *phase,
				      int attempt, bool (*is)(const struct recorded_event *));
/* What ran next, a program or a look: they are played in their order. */
struct recorded_event *recording_next_execution(struct recording *r, const char *phase,
						int attempt);
/* A stage that asks for code has the call's record, too. */
bool recording_is_screening(const struct recorded_event *e);

/* Whether that stage asked its model. */
bool recording_asked(const struct recording *r, const char *stage);
/* Whether there is an answer of the language's parser to what that stage screens that is
 * not played back yet. */
bool recording_has_parse(struct recording *r, const char *stage, int attempt);
/* Whether there is an execution of that attempt that is not played back yet. */
bool recording_has_execution(struct recording *r, int attempt);
/* The language of the run's programs, as it is recorded first; NULL when none was. */
const char *recording_language(const struct recording *r);
/* Of a run without an end, the stage that its record ends with; else NULL. */
const char *recording_cut_off(const struct recording *r);
/* The loop goes where the record has not gone: sets the error of that kind and returns -1. Of a
 * run that was cut off nobody is to blame for that: what there is of it is played. */
int recording_lacks(const struct recording *r, enum error_kind kind, const char *what,
		    struct error *err);

/* The bytes of an event's blob, NUL-terminated; caller frees. ret_len may be NULL. */
int recording_blob(const struct recording *r, const struct json *data, const char *name,
		   char **ret_bytes, size_t *ret_len, struct error *err);

/* --- recorded_task.c --- */

/* A task out of the record, with what it borrows. */
struct recorded_task {
	struct task task;
	struct task_program program; /* the task's, when it is one */
	char *code;		     /* owned, as what follows but for the strings in it */
	const char **argv, **env;
	struct context context; /* the task's, when it has one */
};
/* The task as it was given: ERR_LOG when the record lacks it or was purged, ERR_USAGE
 * for a program that never began to execute. It may refer to the recording. */
int recording_task(const struct recording *r, struct recorded_task *ret, struct error *err);
void recorded_task_release(struct recorded_task *t);
#define cleanup_recorded_task __attribute__((cleanup(recorded_task_release)))

/* --- player_tools.c --- */

/* Whether its programs could call tools. */
bool recording_has_tools(const struct recording *r);
/* Whether a call of that attempt ended its program, for want of a yes; whether the run ended so
 * with nobody asked, and may go on. */
bool recording_stops(const struct recording *r, int attempt);
bool recording_waits(const struct recording *r);
/* What such a run's last execution came to is as if it had never been. */
void recording_drop_waiting(struct recording *r);

#endif
