/*
 * A conversation with --socket PATH lends a sandbox to this user's `assay exec --socket PATH`: one
 * beside its own, with interpreters that wait, so that neither is in the other's way or in its
 * walls. It answers nothing else there, has no log open (who asks keeps the record), and is opened
 * before the conversation reads a key. Nothing here decides how a program runs.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/command.h"
#include "agent/cli/doors/listen.h"
#include "agent/cli/terminal/term.h"
#include "agent/doors/http/http.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>

#define QUEUE	16 /* that may wait for the one worker; others run at home */
#define IDLE_MS 60000

struct lent {
	const struct settings *settings;
	struct listen_place place;
	struct service_ends ends;
	struct service *service;
	struct guard guard;
	struct server *server;
};

static int open_sandbox(void *self, struct sandbox **ret, struct error *err)
{
	const struct lent *l = self;
	int64_t warm = 0;

	return settings_amount(l->settings, OPT_WARM, &warm, err) < 0 ?
		       -1 :
		       command_open_sandbox_of(ret, &l->settings->policy, l->settings, (size_t)warm,
					       err);
}

/* The conversation's own is open in this process. */
static int open_no_log(void *self, struct audit **ret, struct error *err)
{
	(void)self;
	(void)err;
	*ret = NULL;
	return 0;
}

static int start(struct lent *l, struct error *err)
{
	const struct service_options options = { .policy = &l->settings->policy,
						 .means = &l->settings->means,
						 .ends = &l->ends,
						 .parallel = 1,
						 .queue = QUEUE,
						 .contexts = { 1, IDLE_MS, IDLE_MS } };
	static const struct route *const routes[] = { http_lent_routes, NULL };
	struct server_options server = { .guard = &l->guard, .routes = routes };
	/* Sets the process's mode: no thread is there yet. */
	int fd = listen_path(settings_text(l->settings, OPT_SOCKET, NULL), &l->place, err);

	if (fd < 0)
		return -1;
	if (service_open(&l->service, &options, err) < 0) {
		io_close(fd);
		return -1;
	}
	server.service = l->service;
	server.listen_fd = fd;
	return server_open(&l->server, &server, err);
}

int lent_open(struct lent **ret, const struct settings *settings, struct error *err)
{
	*ret = NULL;
	if (!settings_text(settings, OPT_SOCKET, NULL))
		return 0;
	struct lent *l = mem_alloc(sizeof(*l));
	*l = (struct lent){
		.settings = settings,
		.ends = { .open_sandbox = open_sandbox, .open_log = open_no_log, .self = l },
		.guard = { .open = true }
	};
	if (start(l, err) < 0) {
		lent_close(l);
		return -1;
	}
	*ret = l;
	return 0;
}

static void tell_busy(void *self)
{
	struct terminal *term = self;

	term_note(term, TERM_DIM, "(a program of `assay exec` still runs here; Ctrl-C ends it)\n");
}

void lent_close(struct lent *l)
{
	struct error ignored = ERROR_INIT; /* there is no log whose end could fail */

	if (!l)
		return;
	if (l->server)
		server_drain(l->server, l->settings->app->cancel_fd, tell_busy,
			     &l->settings->app->terminal);
	server_close(l->server);
	service_close(l->service, &ignored);
	guard_release(&l->guard);
	listen_leave(&l->place);
	free(l);
}
