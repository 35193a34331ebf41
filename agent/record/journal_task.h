/* The task of a run as its first event: with it a replay needs nothing but the log. Its reader is
 * recorded_task.c. */
#ifndef AGENT_JOURNAL_TASK_H
#define AGENT_JOURNAL_TASK_H

struct basis;
struct error;
struct json;
struct run;

/* Queues it. texts: of the prompts. */
int journal_task(struct run *r, const struct json *texts, struct error *err);

/* The rules that screen a run, but for the user's own, which are settings. Caller frees. */
char *journal_rules_text(const struct basis *basis);

#endif
