/*
 * The sandbox of an `assay serve` or a conversation of the same user, for whom its waiting
 * interpreters save the start of one. What it runs is what would run here, so that what the record
 * says of it is the same. A job that it may have begun is never begun again; as long as it cannot
 * have, it runs here instead.
 */
#include "sandbox/backend.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/input.h"
#include "sandbox/remote/remote.h"
#include "sandbox/remote/wire.h"
#include "sandbox/socket/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MAX ((size_t)16 << 20) /* what a server takes */
#define AROUND_MS   120000	       /* beside the run's own time: others may be before it */
#define ASK_MS	    30000

struct served {
	char *path;
	struct sandbox_socket socket;
	struct sandbox_options options; /* of home */
	char *cache_dir, *name;
	int fd;			   /* connected, and nothing asked yet; -1: none */
	struct sandbox *home;	   /* NULL: they run at the server */
	struct json *environments; /* what it has; NULL: not asked yet */
};

/* --- here instead --- */

/* Nothing of the job can have begun there. */
static int go_home(struct served *s, const struct error *why, struct error *err)
{
	const struct error told = *why;

	s->socket.absent(s->socket.self, &told);
	error_clear(err);
	return sandbox_open(&s->home, &s->options, err);
}

static int connect_to(struct served *s, struct error *err)
{
	int fd = s->fd >= 0 ? s->fd : peer_connect(s->path, err);

	s->fd = -1;
	return fd;
}

static bool is_absent(const struct error *err)
{
	return err->errnum == ENOENT || err->errnum == ECONNREFUSED || err->errnum == EAGAIN;
}

/* --- asking --- */

static int refused(const struct served *s, struct error *err)
{
	const struct error why = *err;

	return error_set_known(err, ERR_SANDBOX, why.errnum, "--socket %s: %.300s", s->path,
			       why.message);
}

static int lost(const struct served *s, struct error *err)
{
	refused(s, err);
	err->begun = true;
	return -1;
}

/* 0 with the answer; 1: it is here now that jobs run; -1 with err. */
static int ask(struct served *s, const struct json *request, int64_t answer_ms, int cancel_fd,
	       struct events *events, struct error *err)
{
	cleanup_free char *body = json_print(request);

	if (strlen(body) > REQUEST_MAX)
		return error_set(err, ERR_USAGE,
				 "--socket %s: program and files are %zu MiB as a request, and a "
				 "server takes %zu MiB: run it without --socket",
				 s->path, (strlen(body) >> 20) + 1, REQUEST_MAX >> 20);
	int fd = connect_to(s, err);
	if (fd < 0)
		return !is_absent(err) ? -1 : go_home(s, err, err) < 0 ? -1 : 1;
	switch (peer_post(fd, body, clock_mono_ms() + answer_ms, cancel_fd, events, err)) {
	case PEER_ANSWERED:
		return 0;
	case PEER_ABSENT:
	case PEER_BUSY:
		return go_home(s, err, err) < 0 ? -1 : 1;
	case PEER_CANCELLED:
		return error_set(err, ERR_CANCELLED, "cancelled");
	case PEER_LOST:
	case PEER_LATE:
		return lost(s, err);
	case PEER_REFUSED:
		break;
	}
	return refused(s, err);
}

/* The answer's JSON, borrowed of events, unless it says that nothing came of it. */
static const struct json *read_answer(const struct served *s, const struct events *events,
				      struct error *err)
{
	const struct json *answer = events->answer;
	cleanup_buf struct buf text = BUF_INIT(1 << 16);

	if (json_get(answer, "assay_job"))
		return wire_check_answer(answer, err) < 0 ? NULL : answer;
	cleanup_free char *printed = json_print(answer);
	buf_addstr(&text, printed);
	cleanup_free char *said = call_message(&text);
	error_set(err, ERR_SANDBOX, "--socket %s: the server refuses: %s", s->path, said);
	return NULL;
}

/* --- what it has --- */

static int check_environment(const struct served *s, const struct json *e, struct error *err)
{
	const char *name = json_get_string(e, "sandbox"), *from = json_get_string(e, "from");

	if (!name || strcmp(name, s->name))
		return error_set(err, ERR_SANDBOX,
				 "--socket %s: the server runs programs in the sandbox %.60s, and "
				 "%s is meant: name the same with --sandbox, where it is started "
				 "or here",
				 s->path, name ? name : "?", s->name);
	if (from)
		return error_set(err, ERR_SANDBOX,
				 "--socket %s: the server has interpreters or modules of its own "
				 "(%.200s): what they run would not be what runs here",
				 s->path, from);
	return remote_check_held(e, s->options.weaker, err);
}

/* 0, or as ask. */
static int ask_environments(struct served *s, struct error *err)
{
	cleanup_json struct json *request = wire_request("describe");
	cleanup_events struct events events = EVENTS_INIT(NULL, NULL);
	int status = ask(s, request, ASK_MS, -1, &events, err);

	err->begun = false; /* nothing runs of that */
	if (status != 0)
		return status;
	const struct json *answer = read_answer(s, &events, err);
	const struct json *all = json_get(answer, "environments");
	if (!answer)
		return -1;
	for (const struct json *e = json_first(all); e; e = json_next(e))
		if (check_environment(s, e, err) < 0)
			return -1;
	s->environments = all ? json_copy(all) : json_object();
	return 0;
}

static int describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	struct served *s = self;
	int status = s->home || s->environments ? 0 : ask_environments(s, err);

	if (status < 0)
		return -1;
	if (s->home)
		return sandbox_describe(s->home, language, ret, err);
	const struct json *e = json_get(s->environments, language->name);
	if (!e)
		return error_set(err, ERR_SANDBOX, "--socket %s: the server has no %s", s->path,
				 language->name);
	*ret = remote_environment(language, e);
	return 0;
}

/* --- running --- */

static void describe_where(const struct served *s, struct sandbox_result *r)
{
	sandbox_fact_add(&r->isolation, "socket", s->path, NULL);
}

static int read_result(const struct served *s, const struct sandbox_job *job, struct events *events,
		       struct sandbox_result *ret, struct error *err)
{
	const struct json *answer = read_answer(s, events, err);

	if (!answer)
		return -1;
	if (wire_read_result(ret, json_first(json_get(answer, "results")), job, err) < 0) {
		err->begun = true;
		return -1;
	}
	events_tell_rest(events, ret);
	describe_where(s, ret);
	return 0;
}

static int run_there(struct served *s, const struct sandbox_job *job,
		     const struct sandbox_watch *watch, struct sandbox_result *ret,
		     struct error *err)
{
	cleanup_json struct json *request = wire_request("run"), *jobs = json_array();
	cleanup_events struct events events = EVENTS_INIT(watch, NULL);

	json_append(jobs, wire_job(job));
	json_set(request, "jobs", TAKE_PTR(jobs));
	int status = ask(s, request, job->limits.wall_ms + AROUND_MS, watch ? watch->cancel_fd : -1,
			 &events, err);
	if (status == 0)
		return read_result(s, job, &events, ret, err);
	if (status > 0 || err->kind != ERR_CANCELLED)
		return status;
	error_clear(err);
	*ret = remote_cancelled();
	describe_where(s, ret);
	return 0;
}

static int run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret, struct error *err)
{
	struct served *s = self;
	struct sandbox_job sent = *job;
	struct sandbox_file *copies = NULL;
	int status = 1;

	if (!s->home) {
		if (input_copies(job, s->name, &copies, err) < 0)
			return -1;
		if (copies)
			sent.inputs = copies;
		status = run_there(s, &sent, watch, ret, err);
		if (status == 0 && copies)
			sandbox_fact_add(&ret->isolation, "inputs", "copied", NULL);
		input_copies_free(copies, job);
	}
	return status > 0 ? sandbox_run(s->home, job, watch, ret, err) : status;
}

static int doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err)
{
	(void)self;
	(void)ret_layers;
	(void)ret_count;
	return error_set(err, ERR_SANDBOX, "what a server holds, `assay doctor` asks elsewhere");
}

static void finish(void *self)
{
	struct served *s = self;

	if (s->home)
		sandbox_finish(s->home);
}

static void close_served(void *self)
{
	struct served *s = self;

	sandbox_close(s->home);
	if (s->fd >= 0)
		io_close(s->fd);
	json_free(s->environments);
	free(s->cache_dir);
	free(s->name);
	free(s->path);
	free(s);
}

static const struct backend served = {
	.name = "served",
	.summary = "the sandbox of an `assay serve` of the same user",
	.copies_state = true, /* times are home's to count; a server is given none to make again */
	.takes_sources = true,
	.run = run,
	.describe = describe,
	.doctor = doctor,
	.finish = finish,
	.close = close_served,
};

int sandbox_open_at(struct sandbox **ret, const struct sandbox_socket *socket,
		    const struct sandbox_options *options, struct error *err)
{
	if (options->python || options->node_modules)
		return error_set(err, ERR_USAGE,
				 "--socket runs programs with the interpreters that wait at the "
				 "server: --python and --node-modules are not for it");
	if (!sandbox_name_find(options->name))
		return sandbox_open(ret, options, err); /* which says what there is */
	struct served *s = mem_alloc(sizeof(*s));
	*s = (struct served){ .path = mem_strdup(socket->path),
			      .socket = *socket,
			      .options = *options,
			      .cache_dir = mem_strdup(options->cache_dir),
			      .name = mem_strdup(sandbox_name_find(options->name)) };
	s->options.cache_dir = s->cache_dir;
	s->options.name = s->name;
	s->fd = peer_connect(s->path, err);
	if (s->fd < 0 && (!is_absent(err) || go_home(s, err, err) < 0)) {
		close_served(s);
		return -1;
	}
	*ret = sandbox_of(&served, s, &s->options);
	return 0;
}
