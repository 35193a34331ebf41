/*
 * assay serve: assay as a service, over HTTP on this machine or on a socket. What is needed to
 * come in is said once, on standard error; nothing is written to standard output.
 */
#include "agent/cli/command.h"

#include "agent/cli/doors/doors.h"
#include "agent/cli/doors/listen.h"
#include "agent/cli/doors/supervise.h"
#include "agent/cli/terminal/term.h"
#include "agent/doors/e2b/e2b.h"
#include "agent/doors/fusion/fusion.h"
#include "agent/doors/http/http.h"
#include "agent/doors/service/kept.h"
#include "base/io.h"
#include "base/mem.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_DEFAULT "127.0.0.1:8317"
#define PEM_MAX	       ((size_t)1 << 20)
#define LARGE_BYTES    (1 << 20)

struct serve {
	const struct settings *settings;
	struct guard guard;
	const char **hosts; /* owned, NULL-terminated */
	const char *socket; /* a path, or NULL */
	struct listen_place place;
	char *address; /* owned; NULL with a socket */
	int fd;
	unsigned restarts;
	struct buf cert, key;
	struct doors doors;
};

/* --- before anything is served --- */

static char *key_path(const struct settings *s)
{
	const char *given = settings_text(s, OPT_KEY_FILE, NULL), *home = getenv("HOME");
	const char *base = getenv("XDG_CONFIG_HOME");

	if (given)
		return mem_strdup(given);
	if (base && *base == '/')
		return mem_printf("%s/assay/serve-keys", base);
	return home && *home ? mem_printf("%s/.config/assay/serve-keys", home) : NULL;
}

static int load_keys(struct serve *x, struct error *err)
{
	cleanup_free char *path = key_path(x->settings), *made = NULL;

	if (x->socket) {
		x->guard.open = true;
		return 0;
	}
	if (!path)
		return error_set(err, ERR_CONFIG,
				 "keys have no place: neither --key-file nor HOME is set");
	if (guard_load(&x->guard, path, &made, err) < 0)
		return -1;
	if (made) {
		term_note(&x->settings->app->terminal, TERM_PLAIN, "key: %s\n", made);
		term_note(&x->settings->app->terminal, TERM_DIM,
			  "It is kept in %s, and not shown again.\n", path);
		explicit_bzero(made, strlen(made));
	}
	return 0;
}

static void take_hosts(struct serve *x)
{
	const struct option_values *given = &x->settings->options->given[OPT_HOST];

	x->hosts = mem_alloc((given->count + 1) * sizeof(*x->hosts));
	for (size_t i = 0; i < given->count; i++)
		x->hosts[i] = given->values[i];
	x->guard.hosts = x->hosts;
}

static int read_tls(struct serve *x, struct error *err)
{
	const char *cert = settings_text(x->settings, OPT_TLS_CERT, NULL);
	const char *key = settings_text(x->settings, OPT_TLS_KEY, NULL);

	if (!cert != !key)
		return error_set(err, ERR_USAGE, "--tls-cert and --tls-key go together");
	return cert && (io_read_file(cert, &x->cert, err) < 0 ||
			io_read_file(key, &x->key, err) < 0) ?
		       -1 :
		       0;
}

static int start_listening(struct serve *x, struct error *err)
{
	const char *text = settings_text(x->settings, OPT_LISTEN, NULL);

	if (x->socket && text)
		return error_set(err, ERR_USAGE, "--listen or --socket: not both");
	bool local = true;
	x->fd = x->socket ? listen_path(x->socket, &x->place, err) :
			    listen_address(text ? text : LISTEN_DEFAULT, &x->address, &local, err);
	if (x->fd >= 0 && !local)
		term_note(&x->settings->app->terminal, TERM_YELLOW,
			  "%s can be reached from other machines: who has a key runs "
			  "programs here%s\n",
			  x->address,
			  x->cert.len ? "" : ", and without --tls-cert it can be read on the way");
	return x->fd < 0 ? -1 : 0;
}

/* --- serving --- */

static void forget_signal(void *self)
{
	(void)self;
	command_signal_clear();
}

static void tell_where(const struct serve *x)
{
	if (x->socket)
		term_note(&x->settings->app->terminal, TERM_PLAIN, "listening on %s\n", x->socket);
	else
		term_note(&x->settings->app->terminal, TERM_PLAIN, "listening on %s://%s\n",
			  x->cert.len ? "https" : "http", x->address);
}

static int serve(struct serve *x, struct error *err)
{
	static const struct route *const routes[] = { http_routes, fusion_routes,
						      e2b_control_routes, NULL };
	const struct mcp_options mcp_options = { x->doors.service, x->doors.has_model,
						 x->doors.tools };
	int fd = TAKE_FD(x->fd);
	struct server_options options = { .service = x->doors.service,
					  .guard = &x->guard,
					  .routes = routes,
					  .listen_fd = fd,
					  .restarts = x->restarts,
					  .cert = x->cert.len ? x->cert.data : NULL,
					  .cert_key = x->cert.len ? x->key.data : NULL };
	int rc = mcp_open(&options.mcp, &mcp_options, err);

	struct boxes *boxes = NULL;
	if (!rc)
		boxes_open(&boxes, service_contexts(x->doors.service), &x->doors.contexts,
			   sandbox_cache_dir(service_first(x->doors.service)->sandbox));
	struct guests guests;
	e2b_guests(&guests, boxes);
	options.guests = &guests;
	struct server *server = NULL;
	if (!rc)
		rc = server_open(&server, &options, err);
	bool drained = true;
	if (!rc) {
		tell_where(x);
		drained = server_run(server, x->settings->app->cancel_fd, forget_signal, NULL);
		server_close(server);
	}
	boxes_close(boxes);
	mcp_close(options.mcp);
	if (rc < 0)
		return exit_code_of_error(err);
	return drained ? (int)EXIT_OK : (int)EXIT_TERMINATED;
}

static int run(struct serve *x, struct error *err)
{
	/* A socket first, whose mode is the process's: no thread is there yet. */
	if (read_tls(x, err) < 0 || start_listening(x, err) < 0 || load_keys(x, err) < 0)
		return exit_code_of_error(err);
	take_hosts(x);
	struct kept_contexts *kept = kept_new(); /* of the server, and those after it */
	struct supervised s;
	if (supervise(x->settings->app, &x->fd, &s, err) < 0)
		return exit_code_of_error(err);
	if (!s.serves)
		return s.code;
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES); /* what is larger goes back when it is let go */
	x->restarts = s.died;
	x->place = (struct listen_place){ .path = NULL }; /* the supervisor removes it */
	int code = doors_open(&x->doors, x->settings, kept, err) < 0 ?
			   (int)exit_code_of_error(err) :
			   serve(x, err);
	return doors_close(&x->doors, code, err);
}

int cmd_serve(const struct settings *settings, struct error *err)
{
	struct serve x = { .settings = settings,
			   .socket = settings_text(settings, OPT_SOCKET, NULL),
			   .fd = -1,
			   .cert = BUF_INIT(PEM_MAX),
			   .key = BUF_INIT(PEM_MAX) };
	int code;

	if (settings->options->arg_count)
		code = (error_set(err, ERR_USAGE, "no argument is taken: \"%s\"",
				  settings->options->args[0]),
			exit_code_of_error(err));
	else
		code = run(&x, err);
	if (x.fd >= 0)
		io_close(x.fd);
	listen_leave(&x.place);
	explicit_bzero(x.key.data, x.key.len);
	buf_release(&x.cert);
	buf_release(&x.key);
	guard_release(&x.guard);
	free(x.hosts);
	free(x.address);
	return code;
}
