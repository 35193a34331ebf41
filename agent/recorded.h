/*
 * The recorded ends: a run's events played back to the loop. The loop cannot
 * tell them from the live ones, and below tier `model` no network call can
 * happen because there is no live model to make it.
 */
#ifndef AGENT_RECORDED_H
#define AGENT_RECORDED_H

#include "agent/loop.h"

struct recorded_event {
	char *stage, *phase;	/* owned */
	int attempt;
	struct json *data;	/* owned */
	bool used;		/* played back */
};

struct recording {
	struct audit *audit;	/* borrowed */
	struct audit_row row;
	struct recorded_event *events;	/* oldest first; owned */
	size_t count;
	/* A fork: from this stage on the live model answers (NULL: never). */
	const char *from;
	struct llm *live;
	bool forked;
	char *divergence;	/* what the loop asked for that the record lacks; owned */
};

/* Loads a run. ERR_USAGE for an unknown one. */
int recording_load(struct recording *ret, struct audit *audit, const char *which,
		   struct error *err);
void recording_release(struct recording *r);

/* The first event of that stage and phase (attempt -1: any), or NULL. */
const struct recorded_event *recording_find(const struct recording *r, const char *stage,
					    int attempt, const char *phase);

/* The task as it was given: ERR_LOG when the record lacks it or was purged. */
int recording_task(const struct recording *r, struct task *ret, struct error *err);

/* The bytes of an event's blob, NUL-terminated; caller frees. ret_len may be NULL. */
int recording_blob(const struct recording *r, const struct json *data, const char *name,
		   char **ret_bytes, size_t *ret_len, struct error *err);
/* The input files of an event ("files" and its file_N blobs) into ret. */
int recording_files(const struct recording *r, const struct json *data, struct task *ret,
		    struct error *err);

void recorded_llm(struct llm *ret, struct recording *r);
void recorded_execute(struct execute_ops *ret, struct recording *r);
void recorded_clock(struct clock_ops *ret, struct recording *r);
void recorded_approve(struct approve_ops *ret, struct recording *r);
/* The wall limit of the next execution of an attempt: what the budgets had left
 * then is not what they leave now. */
int64_t recorded_wall_limit(struct recording *r, int attempt, int64_t otherwise_ms);
/* What that execution took of them; asked once after each. */
double recorded_spent_ms(struct recording *r, int attempt, double otherwise_ms);
/* Only what is installed and what the inputs hold, from the record: for live
 * execution under recorded prompts. */
int recorded_describe(void *self, const struct language *language,
		      struct sandbox_environment *ret, struct error *err);
int recorded_inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		     struct inspection *ret, struct error *err);

#endif
