/* Having something wait: prepared, used, learnt from. */
#ifndef NATIVE_WAITING_H
#define NATIVE_WAITING_H

#include "sandbox/native/standby.h"

/* Has the keeper prepare this job, if it is of a kind that can wait. link: its ends of a
 * pair's pipes, which stay the caller's, or NULL. A hint: whatever fails, nothing waits. */
void waiting_prepare(struct native *s, const struct sandbox_job *job, const char *interpreter,
		     const int link[2]);
/* The programs to come are likely to import these: has the keeper make a template of them. */
void waiting_expect(struct native *s, const struct sandbox_job *job, const char *interpreter,
		    unsigned packages);
/* How a job that was given w, or nothing, began. */
void waiting_learn(struct native *s, unsigned packages, const struct protocol_result *facts);
/* A job has run: those to come are likely to import what it did. */
void waiting_note(struct native *s, const struct sandbox_job *job);
/* Whether the halves of such a pair can each be a fork, with a template of its own; and has one
 * prepared, which gets its pipes with the job. */
bool waiting_can_fork_pair(struct native *s, const struct sandbox_job jobs[2]);
void waiting_prepare_half(struct native *s, const struct sandbox_job *job, const char *interpreter);
/* Of a pair that is there already, and that nothing waits for: both, if they can be forks. Who runs
 * it next waits for their templates. */
void waiting_prepare_first_pair(struct native *s, const struct sandbox_job jobs[2],
				const char *interpreter);
/* Whether what waits was prepared for this job, and would run it as a fresh one does. */
bool waiting_suits(const struct native *s, const struct sandbox_job *job, const char *interpreter,
		   bool linked);
/* What waits becomes the caller's (waiting_free); NULL when it does not suit, and is gone. */
struct waiting *waiting_take(struct native *s, const struct sandbox_job *job,
			     const char *interpreter, bool linked);

#endif
