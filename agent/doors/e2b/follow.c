/*
 * Connect of E2B's envd: who asks for a command that another request started has what it prints
 * from then on, and how it ended. Frames are kept for followers alone, in the sandbox; each reads
 * them at its own pace, asked again and again by the worker that only looks.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SAID_MAX 65536

/* How far one is; one piece of memory, since it is the exchange's, which frees it. */
struct follower {
	int64_t pid;
	struct pulse pulse;
	size_t at;
	int64_t looked_ms;
};

/* --- of the command --- */

static void tell_followers(struct exchange *x, struct box_process *p, const struct buf *frame)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	pulse_said(&p->pulse);
	if (p->followed && !p->lost && !box_keep(box, &p->told, frame->data, frame->len)) {
		p->lost = true; /* a part of it is of use to nobody */
		box_keep_none(box, &p->told);
	}
	pthread_mutex_unlock(&box->lock);
}

void e2b_tell(struct exchange *x, struct box_process *p, unsigned flag, struct json *message)
{
	cleanup_buf struct buf frame = BUF_INIT(BUF_MAX_DEFAULT);

	e2b_frame(&frame, flag, message);
	exchange_send(x, frame.data, frame.len);
	tell_followers(x, p, &frame);
}

void e2b_tell_followers(struct exchange *x, struct box_process *p, unsigned flag,
			struct json *message)
{
	cleanup_buf struct buf frame = BUF_INIT(BUF_MAX_DEFAULT);

	e2b_frame(&frame, flag, message);
	tell_followers(x, p, &frame);
}

/* Its stream has frames of the command alone, so that it is not told to others. */
void box_keep_alive(struct box_process *p)
{
	if (!pulse_is_due(&p->pulse))
		return;
	e2b_send_frame(p->x, 0, e2b_keepalive());
	pulse_said(&p->pulse);
}

struct json *e2b_keepalive(void)
{
	struct json *message = json_object(), *event = json_object();

	json_set(event, "keepalive", json_object());
	json_set(message, "event", event);
	return message;
}

void e2b_told(struct box *box, struct box_process *p)
{
	struct box_ended *e = &box->ended[box->ended_count % BOX_ENDED];

	if (!p->followed)
		return;
	box->ended_count++;
	box_keep_none(box, &e->told);
	e->pid = p->pid;
	e->lost = p->lost;
	e->told = p->told;
	p->told = (struct buf)BUF_INIT(0);
}

/* --- of a follower --- */

/* What is kept of the command, with the sandbox's lock held; NULL: there is none. *ret_lost: it
 * was more than is kept. */
static struct buf *told_of(struct box *box, int64_t pid, bool *ret_ended, bool *ret_lost)
{
	*ret_ended = *ret_lost = false;
	for (struct box_process *p = box->processes; p; p = p->next)
		if (p->pid == pid) {
			p->followed = true;
			*ret_lost = p->lost;
			return &p->told;
		}
	*ret_ended = true;
	for (size_t i = 0; i < BOX_ENDED; i++)
		if (box->ended[i].pid == pid) {
			*ret_lost = box->ended[i].lost;
			return &box->ended[i].told;
		}
	return NULL;
}

static struct follower *begin(struct exchange *x)
{
	const struct buf *body = exchange_body(x);
	struct error err = ERROR_INIT;
	cleanup_json struct json *request =
		body->len <= SAID_MAX ? e2b_unframe(body->data, body->len, &err) : NULL;
	int64_t pid = json_get_int(json_get(request, "process"), "pid", -1);
	struct json *message = json_object(), *event = json_object(), *start = json_object();
	struct box *box = exchange_box(x);
	struct follower *f = mem_alloc(sizeof(*f));

	json_set_int(start, "pid", pid);
	json_set(event, "start", start);
	json_set(message, "event", event);
	pthread_mutex_lock(&box->lock);
	bool ended, lost;
	struct buf *told = told_of(box, pid, &ended, &lost);
	*f = (struct follower){ .pid = pid, .at = told && !ended ? told->len : 0 };
	pthread_mutex_unlock(&box->lock);
	bool room = boxes_kept(box->of) < BOXES_KEPT_MAX;
	if (told && !ended && room && !lost) {
		pulse_begin(&f->pulse, x);
		*exchange_memory(x) = f;
		e2b_send_frame(x, 0, message);
		return f;
	}
	json_free(message);
	free(f);
	if (!told || ended)
		e2b_send_last(x, "not_found", "there is no such process");
	else
		e2b_send_last(
			x, "resource_exhausted",
			"as much is kept of what commands print as may be: end some, or those "
			"who follow one");
	return NULL;
}

/* Its end is told with the last frames, all at once: what is there when it has ended is all. */
void e2b_follow(struct exchange *x, struct worker *w)
{
	struct follower *f = *exchange_memory(x);
	struct box *box = exchange_box(x);

	(void)w;
	if (!f)
		f = begin(x);
	if (!f)
		return;
	pthread_mutex_lock(&box->lock);
	bool ended = true, lost = false;
	struct buf *told = told_of(box, f->pid, &ended, &lost);
	bool whole = told && !lost;
	bool cut = ended && box->over; /* as the command's own request is (process.c) */
	if (whole && told->len > f->at) {
		exchange_send(x, told->data + f->at, told->len - f->at);
		f->at = told->len;
		pulse_said(&f->pulse);
	}
	pthread_mutex_unlock(&box->lock);
	if (!ended && whole && pulse_is_due(&f->pulse)) {
		e2b_send_frame(x, 0, e2b_keepalive());
		pulse_said(&f->pulse);
	}
	if (cut)
		exchange_cut(x);
	else if (!whole)
		e2b_send_last(x, "data_loss", "what it printed is not kept any more");
	else if (!ended && pulse_is_over(&f->pulse))
		e2b_send_last(x, PULSE_OVER, PULSE_OVER_TEXT);
	else if (!ended && http_looks_on(x, &f->looked_ms))
		exchange_again(x);
	else if (!ended)
		e2b_send_last(x, "unavailable", "the server is about to end");
}
