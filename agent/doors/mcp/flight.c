/*
 * A call of a tool, from its request to its answer: waiting in the queue, worked on by a worker,
 * cancelled, or watched. Of one that was cancelled nothing more is sent.
 */
#include "agent/doors/mcp/peer.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define FLIGHT_BYTES_MAX ((size_t)64 << 20) /* of all messages of one client that are worked on */
#define TELL_MS		 500
#define SILENT_MS	 10000

void tool_result_release(struct tool_result *r)
{
	json_free(r->structured);
	json_free(r->content);
	json_free(r->asked);
	free(r->text);
	*r = (struct tool_result){ .text = NULL };
}

static void flight_free(struct flight *f)
{
	message_release(&f->message);
	json_free(f->answer);
	json_free(f->wanted);
	if (f->cancel_fd >= 0)
		io_close(f->cancel_fd);
	pthread_mutex_destroy(&f->telling);
	free(f);
}

void flight_cancel(struct flight *f)
{
	f->cancelled = true;
	uint64_t one = 1;
	(void)!io_write(f->cancel_fd, &one, sizeof(one));
	pthread_cond_broadcast(&f->peer->changed);
}

const char *flight_tool_name(const struct flight *f)
{
	return json_get_string(f->message.params, "name");
}

/* --- the answer --- */

void flight_send(struct flight *f, struct json *message)
{
	peer_send(f->peer, &f->sink, message);
}

static struct json *text_block(const char *text)
{
	struct json *block = json_object();

	json_set_string(block, "type", "text");
	json_set_string(block, "text", text);
	return block;
}

/* What is structured is a text, too, for clients that know no structure; it comes first. */
static struct json *make_result(struct tool_result *r, bool modern)
{
	if (r->asked)
		return peer_complete(modern, TAKE_PTR(r->asked));
	struct json *result = json_object();
	struct json *content = json_array();
	cleanup_free char *text = r->structured ? json_print(r->structured) : TAKE_PTR(r->text);
	json_append(content, text_block(text ? text : ""));
	for (struct json *block = json_first(r->content); block; block = json_next(block))
		json_append(content, json_copy(block));
	json_set(result, "content", content);
	if (r->structured)
		json_set(result, "structuredContent", TAKE_PTR(r->structured));
	json_set_bool(result, "isError", r->failed);
	return peer_complete(modern, result);
}

/* Out of the client's list: from here on nobody can cancel it. */
static bool land(struct flight *f)
{
	struct peer *p = f->peer;

	pthread_mutex_lock(&p->lock);
	struct flight **at;
	for (at = &p->flights; *at != f; at = &(*at)->next)
		;
	*at = f->next;
	bool wanted = !f->cancelled;
	pthread_mutex_unlock(&p->lock);
	return wanted;
}

/* The client may be gone as soon as this is done. */
static void landed(struct peer *p, size_t bytes)
{
	pthread_mutex_lock(&p->lock);
	p->flight_count--;
	p->flight_bytes -= bytes;
	uint64_t one = 1;
	(void)!io_write(p->fd, &one, sizeof(one));
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void end(struct flight *f, struct tool_result *r)
{
	struct peer *p = f->peer;
	size_t bytes = f->bytes;

	if (land(f))
		flight_send(f, message_result(f->message.id, make_result(r, f->modern)));
	flight_free(f);
	landed(p, bytes);
}

/* --- progress --- */

/* Each is more than the one before, in the order in which they are sent. */
static void tell(struct flight *f, const char *what)
{
	struct json *params = json_object();

	pthread_mutex_lock(&f->telling);
	pthread_mutex_lock(&f->peer->lock);
	bool wanted = !f->cancelled;
	f->told_ms = clock_mono_ms();
	json_set_int(params, "progress", ++f->progress);
	pthread_mutex_unlock(&f->peer->lock);
	json_set(params, "progressToken", json_copy(f->progress_token));
	json_set_string(params, "message", what);
	if (wanted)
		flight_send(f, message_notification("notifications/progress", params));
	else
		json_free(params);
	pthread_mutex_unlock(&f->telling);
}

/* Whether nothing was said of it for so long. */
static bool is_silent(struct flight *f, int64_t ms)
{
	pthread_mutex_lock(&f->peer->lock);
	bool silent = clock_mono_ms() - f->told_ms >= ms;
	pthread_mutex_unlock(&f->peer->lock);
	return silent;
}

/* A program may compute for long and say nothing: who waits for it hears that it goes on, lest it
 * be taken for lost. */
static void *keep_telling(void *self)
{
	struct flight *f = self;
	struct pollfd landed = { .fd = f->landed_fd, .events = POLLIN };
	int64_t begun_ms = clock_mono_ms();

	while (poll(&landed, 1, SILENT_MS / 4) <= 0) {
		if (!is_silent(f, SILENT_MS))
			continue;
		cleanup_free char *what = mem_printf("under way for %" PRId64 " seconds",
						     (clock_mono_ms() - begun_ms) / 1000);
		tell(f, what);
	}
	return NULL;
}

static void on_stage(void *self, const char *stage, int attempt)
{
	cleanup_free char *what =
		attempt > 1 ? mem_printf("%s, attempt %d", stage, attempt) : mem_strdup(stage);

	tell(self, what);
}

/* A program is there, and is looked at before it runs. */
static void on_code(void *self, int attempt, const char *lang, const char *code, size_t len)
{
	(void)lang;
	(void)code;
	(void)len;
	on_stage(self, stage_name(STAGE_SCREEN), attempt);
}

/* How much was printed, not what: that is the result's. */
static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct flight *f = self;

	(void)is_stderr;
	(void)bytes;
	f->printed += (int64_t)len;
	if (!is_silent(f, TELL_MS))
		return;
	cleanup_free char *what =
		mem_printf("the program has printed %" PRId64 " bytes", f->printed);
	tell(f, what);
}

void flight_call(struct flight *f, struct call *ret, int64_t wall_ms, const struct task *task)
{
	f->task = task;
	*ret = (struct call){
		.cancel_fd = f->cancel_fd,
		.approve = { approval_ask, f, approval_present },
		.tags = f->peer->tags,
		.owner = f->peer->owner,
		.wall_ms = wall_ms,
	};
	if (f->progress_token)
		ret->progress = (struct progress){
			.stage = on_stage, .code = on_code, .output = on_output, .self = f
		};
}

/* --- its time in a worker --- */

static bool is_cancelled(struct flight *f)
{
	pthread_mutex_lock(&f->peer->lock);
	bool cancelled = f->cancelled;
	pthread_mutex_unlock(&f->peer->lock);
	return cancelled;
}

/* Without a thread to say so it is silent, and runs. */
static void work_on(struct flight *f, struct worker *worker, struct tool_result *r)
{
	uint64_t one = 1;

	f->told_ms = clock_mono_ms();
	f->landed_fd = f->progress_token ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	pthread_t teller;
	bool tells = f->landed_fd >= 0 && !pthread_create(&teller, NULL, keep_telling, f);
	tools_run(f, worker, r);
	if (tells) {
		(void)!io_write(f->landed_fd, &one, sizeof(one));
		pthread_join(teller, NULL);
	}
	if (f->landed_fd >= 0)
		io_close(f->landed_fd);
}

static void run(struct work *work, struct worker *worker)
{
	struct flight *f = (struct flight *)work; /* its first member */
	struct tool_result r = { .text = NULL };

	if (!is_cancelled(f) && !tools_at_once(f, &r))
		work_on(f, worker, &r);
	end(f, &r);
	tool_result_release(&r);
}

/* --- taking off --- */

/* Why not, or NULL. With the peer's lock held. */
static const char *objection(const struct peer *p, const struct flight *f)
{
	for (const struct flight *other = p->flights; other; other = other->next)
		if (json_equal(other->message.id, f->message.id))
			return "a request of this id is under way";
	return NULL;
}

/* What a program waits for that goes on in a context. */
static void set_context(struct flight *f)
{
	const char *id = json_get_string(f->arguments, "context");
	struct contexts *contexts = service_contexts(f->peer->mcp->options.service);

	if (!id || !contexts_look(contexts, id, f->peer->owner, &f->work.place))
		return;
	snprintf(f->work.alone, sizeof(f->work.alone), "%s", id);
}

/* Whether it is done without a worker. */
static bool is_done_at_once(struct flight *f)
{
	struct tool_result r = { .text = NULL };

	if (!tools_at_once(f, &r))
		return false;
	end(f, &r);
	tool_result_release(&r);
	return true;
}

static void refuse_busy(struct flight *f)
{
	struct tool_result r = {
		.text = mem_strdup("Nothing ran: as many calls as are taken at once are waiting "
				   "already. Try again when one of them has ended."),
		.failed = true,
	};

	end(f, &r);
	tool_result_release(&r);
}

/* Among those that are under way; else why not. */
static const char *take_on(struct flight *f, bool *ret_full)
{
	struct peer *p = f->peer;

	pthread_mutex_lock(&p->lock);
	const char *problem = f->cancel_fd < 0 ? "no descriptor is left" : objection(p, f);
	*ret_full = p->flight_bytes + f->bytes > FLIGHT_BYTES_MAX;
	if (!problem) {
		f->next = p->flights;
		p->flights = f;
		p->flight_count++;
		p->flight_bytes += f->bytes;
	}
	pthread_mutex_unlock(&p->lock);
	return problem;
}

static struct flight *flight_new(struct incoming *in, const struct json *tool, bool modern,
				 bool elicits)
{
	struct flight *f = mem_alloc(sizeof(*f));
	struct message *m = in->message;
	const struct json *token = json_get(json_get(m->params, "_meta"), "progressToken");
	bool wanted = (!in->remote || in->remote->streams) &&
		      (json_string(token) || json_type(token) == JSON_NUMBER);

	*f = (struct flight){
		.work = { .run = run, .owner = in->peer->owner },
		.peer = in->peer,
		.sink = *in->sink,
		.has_left = in->remote ? in->remote->has_left : NULL,
		.message = *m,
		.bytes = in->bytes,
		.tool = tool,
		.arguments = json_get(m->params, "arguments"),
		.progress_token = wanted ? token : NULL,
		.modern = modern,
		.elicits = elicits,
		.cancel_fd = in->remote ? fcntl(in->remote->cancel_fd, F_DUPFD_CLOEXEC, 0) :
					  eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	pthread_mutex_init(&f->telling, NULL);
	*m = (struct message){ .kind = MESSAGE_BAD };
	return f;
}

void flight_start(struct incoming *in, const struct json *tool, bool modern, bool elicits)
{
	struct flight *f = flight_new(in, tool, modern, elicits);
	bool full;
	const char *problem = take_on(f, &full);

	if (problem) {
		flight_send(f, message_error(f->message.id, MESSAGE_INVALID, problem, NULL));
		flight_free(f);
		return;
	}
	set_context(f);
	if (!full && is_done_at_once(f))
		return;
	if (!full && in->remote)
		in->flight = f;
	else if (full || !service_submit(f->peer->mcp->options.service, &f->work))
		refuse_busy(f);
}

/* --- a remote one --- */

const struct work *flight_work(const struct flight *f)
{
	return &f->work;
}

void flight_fly(struct flight *f, struct worker *worker)
{
	run(&f->work, worker);
}

void flight_drop(struct flight *f)
{
	struct peer *p = f->peer;
	size_t bytes = f->bytes;

	land(f);
	flight_free(f);
	landed(p, bytes);
}
