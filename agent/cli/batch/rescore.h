/* Runs checked and judged again. */
#ifndef AGENT_BATCH_RESCORE_H
#define AGENT_BATCH_RESCORE_H

#include "base/error.h"

struct batch_earlier;
struct batch_rescore;
struct policy;
struct session;
struct task;
struct task_lines;

/* The tasks of results, where no file has them: an id and the run each. */
void batch_rescore_tasks(struct task_lines *ret, const struct batch_earlier *results);

/* A run whose coder is not asked again: its replies and what its last program printed
 * are the record's, and only what checks them is live. */
/* NULL with err when the log has no such run, or no program or answer of it. */
struct batch_rescore *batch_rescore_begin(struct session *s, const char *run, struct error *err);
/* The recorded task, as task; or, of another, whether it asks the same. */
int batch_rescore_task(struct batch_rescore *x, struct task *task, struct error *err);
int batch_rescore_check(struct batch_rescore *x, const struct task *task, struct error *err);
/* The policy under which its calls come as they are recorded; whether there is a judge is said
 * now. ERR_LOG when the recorded one cannot be read. */
int batch_rescore_policy(const struct batch_rescore *x, struct policy *policy, struct error *err);
/* Frees, and gives the session its own ends back, when the result, which may refer to
 * the record, is done with; x may be NULL. */
void batch_rescore_end(struct batch_rescore *x);

#endif
