/*
 * Commands under way in a sandbox (process.Process of E2B's envd): listed, found by what a request
 * says of one, and ended. They are run by process.c.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/io.h"

#include <string.h>

void e2b_processes(struct exchange *x)
{
	struct box *box = exchange_box(x);
	struct json *o = json_object(), *list = json_array();

	pthread_mutex_lock(&box->lock);
	for (const struct box_process *p = box->processes; p; p = p->next) {
		struct json *row = json_object();

		json_set_int(row, "pid", p->pid);
		json_set(row, "config", json_copy(p->config));
		if (p->tag)
			json_set_string(row, "tag", p->tag);
		json_append(list, row);
	}
	pthread_mutex_unlock(&box->lock);
	json_set(o, "processes", list);
	exchange_answer(x, 200, o);
}

struct box_process *e2b_process(struct exchange *x)
{
	const struct json *selector = json_get(exchange_json(x), "process");
	int64_t pid = json_get_int(selector, "pid", -1);
	const char *tag = json_get_string(selector, "tag");
	struct box_process *p = exchange_box(x)->processes;

	while (p && (tag ? !p->tag || strcmp(p->tag, tag) : p->pid != pid))
		p = p->next;
	return p;
}

void e2b_answer_process(struct exchange *x, bool found, const char *problem)
{
	if (!found)
		e2b_refuse(x, 404, "not_found", "there is no such process");
	else if (problem)
		e2b_refuse(x, 400, "failed_precondition", problem);
	else
		exchange_answer(x, 200, json_object());
}

/* Of the two that envd knows, as Go says what it killed; NULL: another one. */
static const char *signal_of(const struct json *signal)
{
	const char *name = json_string(signal);
	int64_t number = json_int(signal, 0);

	return number == 9 || (name && !strcmp(name, "SIGNAL_SIGKILL"))	 ? "killed" :
	       number == 15 || (name && !strcmp(name, "SIGNAL_SIGTERM")) ? "terminated" :
									   NULL;
}

/* Whatever the signal is, it ends: a program of a sandbox is alone with its own processes. */
void e2b_signal(struct exchange *x)
{
	const char *signal = signal_of(json_get(exchange_json(x), "signal"));
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	uint64_t one = 1;
	struct box_process *p = e2b_process(x);
	if (p && p->killed) /* it is on its way out, and nobody's to kill */
		p = NULL;
	if (p && signal) {
		p->killed = true;
		p->signal = signal;
		(void)!io_write(p->cancel_fd, &one, sizeof(one));
		pthread_cond_broadcast(&box->changed);
	}
	pthread_mutex_unlock(&box->lock);
	if (p && !signal)
		e2b_refuse(x, 501, "unimplemented", "signal: SIGNAL_SIGKILL or SIGNAL_SIGTERM");
	else
		e2b_answer_process(x, p != NULL, NULL);
}
