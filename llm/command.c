/*
 * Any program as the model.
 *
 * Theory of operation: the conversation is written to an anonymous file (memfd) that becomes the
 * program's standard input, so there is no pipe to block on or to be killed by. Standard output and
 * error are pipes read here. The program leads its own process group; when the call ends, in
 * whatever way, the group is killed and the leader reaped. A pidfd wakes us when the leader ends
 * although a grandchild still holds its pipes. None of the group may outlive the call.
 */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "llm/wire/decode.h"
#include "llm/split.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_TIMEOUT_MS	 600000
#define STDERR_KEPT	 ((size_t)64 << 10)
#define STDERR_QUOTED	 400 /* bytes of it in an error message */
#define OUTPUT_MAX_BYTES ((size_t)16 << 20)
#define GRACE_MS	 300 /* between SIGTERM and SIGKILL */

extern char **environ;

struct command {
	char **argv;
	bool json;
};

enum command_end { COMMAND_DONE, COMMAND_TIMEOUT, COMMAND_CANCELLED, COMMAND_TOO_MUCH };

/* One run of the program. */
struct run {
	const struct llm_request *request;
	const struct llm_sink *sink;
	pid_t pid;
	int pid_fd, out_fd, err_fd; /* -1: closed or not to be had */
	int status;		    /* of wait */
	int64_t start_ms, deadline_ms, first_ms;
	struct decode decode;
	struct buf errors;
	size_t out_bytes;
	enum command_end end;
};

static void command_free(void *self)
{
	struct command *c = self;

	split_free(c->argv);
	free(c);
}

static const char *heading_of(const char *role)
{
	if (!strcmp(role, "system"))
		return "# System\n\n";
	return !strcmp(role, "assistant") ? "# Assistant\n\n" : "# User\n\n";
}

static void write_text(const struct llm_request *request, struct buf *out)
{
	for (size_t i = 0; i < request->message_count; i++) {
		buf_addstr(out, i > 0 ? "\n\n" : "");
		buf_addstr(out, heading_of(request->messages[i].role));
		buf_addstr(out, request->messages[i].content);
	}
	buf_addch(out, '\n');
}

static void write_json(const struct llm_request *request, struct buf *out)
{
	struct json *array = json_array();
	struct json *value = json_object();

	for (size_t i = 0; i < request->message_count; i++) {
		const struct llm_message *m = &request->messages[i];
		struct json *message = json_object();

		json_set_string(message, "role", m->role);
		json_set_bytes(message, "content", m->content, strlen(m->content));
		json_append(array, message);
	}
	json_set_string(value, "stage", request->stage);
	json_set_string(value, "task", request->task);
	json_set(value, "messages", array);
	if (request->max_tokens > 0)
		json_set_int(value, "max_tokens", request->max_tokens);
	else
		json_set_null(value, "max_tokens");
	char *text = json_print(value);
	buf_addstr(out, text);
	buf_addch(out, '\n');
	free(text);
	json_free(value);
}

/* A descriptor that reads the conversation from its start, or -1. */
static int open_input(const struct command *c, const struct llm_request *request, struct error *err)
{
	struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_close int fd = memfd_create("conversation", MFD_CLOEXEC);

	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "memfd_create");
	if (c->json)
		write_json(request, &text);
	else
		write_text(request, &text);
	int rc = -1;
	if (text.overflow)
		error_set(err, ERR_FAILED, "the conversation is too long for a command");
	else
		rc = io_write_all(fd, text.data, text.len, err);
	buf_release(&text);
	if (rc < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return TAKE_FD(fd);
}

/* The environment with ASSAY_STAGE and ASSAY_TASK set; the strings are two, owned. */
static char **make_environ(const struct llm_request *request, char *ret_own[2])
{
	size_t count = 0;

	while (environ[count])
		count++;
	char **env = mem_array(NULL, count + 3, sizeof(*env));
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "ASSAY_STAGE=", 12) &&
		    strncmp(environ[i], "ASSAY_TASK=", 11))
			env[n++] = environ[i];
	ret_own[0] = mem_printf("ASSAY_STAGE=%s", request->stage);
	ret_own[1] = mem_printf("ASSAY_TASK=%s", request->task ? request->task : "");
	env[n++] = ret_own[0];
	env[n++] = ret_own[1];
	env[n] = NULL;
	return env;
}

static int spawn(const struct command *c, struct run *r, const int fds[3])
{
	posix_spawnattr_t attr;
	char *own[2];
	char **env = make_environ(r->request, own);

	spawn_attributes(&attr, 0);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	int rc = posix_spawnp(&r->pid, c->argv[0], &actions, &attr, c->argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(own[0]);
	free(own[1]);
	free(env);
	return rc;
}

static int start(const struct command *c, struct run *r, struct error *err)
{
	cleanup_close int in = open_input(c, r->request, err);

	if (in < 0)
		return -1;
	int out[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "pipe");
	int errors[2];
	int rc;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		rc = errno;
		io_close(out[0]);
		io_close(out[1]);
		return error_set_errno(err, ERR_FAILED, rc, "pipe");
	}
	rc = spawn(c, r, (const int[]){ in, out[1], errors[1] });
	io_close(out[1]);
	io_close(errors[1]);
	r->out_fd = out[0];
	r->err_fd = errors[0];
	if (rc != 0)
		return error_set_errno(err, ERR_CONFIG, rc, "the model command %s", c->argv[0]);
	r->pid_fd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	fcntl(r->out_fd, F_SETFL, O_NONBLOCK);
	fcntl(r->err_fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		io_close(*fd);
	*fd = -1;
}

static void take_output(struct run *r, const char *bytes, size_t len)
{
	if (r->first_ms < 0)
		r->first_ms = clock_mono_ms() - r->start_ms;
	r->out_bytes += len;
	if (r->out_bytes > OUTPUT_MAX_BYTES)
		r->end = COMMAND_TOO_MUCH;
	else
		decode_text_bytes(&r->decode, bytes, len);
}

static void take_errors(struct run *r, const char *bytes, size_t len)
{
	size_t room = STDERR_KEPT - r->errors.len;

	buf_add(&r->errors, bytes, len < room ? len : room);
}

/* Reads what is there; closes *fd at its end. */
static void drain(struct run *r, int *fd, void (*take)(struct run *r, const char *, size_t))
{
	ssize_t n = 1;

	while (*fd >= 0 && r->end == COMMAND_DONE && n > 0) {
		char bytes[16384];

		n = io_read(*fd, bytes, sizeof(bytes));
		if (n > 0)
			take(r, bytes, (size_t)n);
		else if (n == 0 || errno != EAGAIN)
			close_fd(fd);
	}
}

/* Whether the leader has ended; it stays to be reaped. */
static bool ended(const struct run *r)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* Where there are no pidfds, the leader is looked after every so often. */
static int poll_ms(const struct run *r, int64_t left_ms)
{
	int64_t most_ms = r->pid_fd >= 0 ? 60000 : 20;

	return (int)(left_ms < most_ms ? left_ms : most_ms);
}

/* Reads until the program has ended, or must. */
static void collect(struct run *r)
{
	bool over = false;

	while (!over && r->end == COMMAND_DONE) {
		struct pollfd p[] = {
			{ .fd = r->request->cancel_fd, .events = POLLIN },
			{ .fd = r->pid_fd, .events = POLLIN },
			{ .fd = r->out_fd, .events = POLLIN },
			{ .fd = r->err_fd, .events = POLLIN },
		};
		int64_t left = r->deadline_ms - clock_mono_ms();

		if (left <= 0) {
			r->end = COMMAND_TIMEOUT;
			return;
		}
		if (poll(p, ARRAY_SIZE(p), poll_ms(r, left)) < 0)
			continue;
		if (p[0].revents) {
			r->end = COMMAND_CANCELLED;
			return;
		}
		over = ended(r); /* before reading, so that all it wrote is read */
		drain(r, &r->out_fd, take_output);
		drain(r, &r->err_fd, take_errors);
	}
}

/* Asks the group to end and gives the leader a moment to. */
static void terminate(const struct run *r)
{
	int64_t until_ms = clock_mono_ms() + GRACE_MS;

	kill(-r->pid, SIGTERM);
	while (!ended(r) && clock_mono_ms() < until_ms)
		poll(NULL, 0, 5);
}

/* The leader is reaped last: until then its process group cannot be anybody else's. */
static void stop(struct run *r)
{
	if (r->end != COMMAND_DONE)
		terminate(r);
	kill(-r->pid, SIGKILL);
	while (waitpid(r->pid, &r->status, 0) < 0 && errno == EINTR)
		continue;
}

static void run_release(struct run *r)
{
	close_fd(&r->out_fd);
	close_fd(&r->err_fd);
	close_fd(&r->pid_fd);
	buf_release(&r->errors);
	decode_release(&r->decode);
}

/* ": " and the end of stderr, where programs say what went wrong. */
static char *with_stderr(const struct run *r, char *message)
{
	const char *tail = r->errors.data;
	size_t len = r->errors.len;

	while (len > 0 && strchr("\n\r \t", tail[len - 1]))
		len--;
	if (len > STDERR_QUOTED) {
		tail += len - STDERR_QUOTED;
		len = STDERR_QUOTED;
	}
	if (len == 0)
		return message;
	char *longer = mem_printf("%s: %.*s", message, (int)len, tail);
	free(message);
	return longer;
}

static bool all_blank(const struct buf *b)
{
	return strspn(b->data, " \t\r\n") == b->len;
}

/* Thinking without an answer, or nothing at all, is what models reply, too. With
 * words on standard error it is the program that failed. */
static bool is_silence(const struct run *r)
{
	return r->decode.reasoning.len > 0 || all_blank(&r->errors);
}

/* NULL when the run was a success. */
static char *fault(const struct run *r, const char *name, enum llm_error_class *ret_class)
{
	*ret_class = LLM_ERROR_SERVER;
	if (r->end == COMMAND_TIMEOUT) {
		*ret_class = LLM_ERROR_TIMEOUT;
		return mem_printf("%s did not finish in time", name);
	}
	if (r->end == COMMAND_TOO_MUCH || r->decode.failed) {
		*ret_class = LLM_ERROR_PROTOCOL;
		return mem_printf("%s printed more than 16 MiB", name);
	}
	if (WIFSIGNALED(r->status))
		return mem_printf("%s was killed by signal %d", name, WTERMSIG(r->status));
	if (WEXITSTATUS(r->status) != 0)
		return mem_printf("%s ended with exit code %d", name, WEXITSTATUS(r->status));
	if (all_blank(&r->decode.text) && !is_silence(r)) {
		*ret_class = LLM_ERROR_PROTOCOL;
		return mem_printf("%s printed no reply", name);
	}
	return NULL;
}

static int conclude(const struct command *c, struct run *r, struct llm_reply *reply,
		    struct error *err)
{
	r->decode.terminal = r->end == COMMAND_DONE;
	decode_finish(&r->decode);
	enum llm_error_class class;
	char *message = fault(r, c->argv[0], &class);
	decode_into_reply(&r->decode, reply);
	reply->unmetered_tries = 1; /* no program says what it used */
	reply->first_token_ms = r->first_ms;
	reply->model = mem_strdup(c->argv[0]);
	reply->tries = mem_alloc(sizeof(*reply->tries));
	reply->try_count = 1;
	if (r->end == COMMAND_CANCELLED) {
		free(message);
		reply->stop = LLM_STOP_CANCELLED;
		return error_set(err, ERR_CANCELLED, "command: cancelled");
	}
	if (!message)
		return 0;
	message = with_stderr(r, message);
	llm_error_set(&reply->error, class, 0, message);
	reply->error.retryable = false;
	free(message);
	return llm_error_raise(&reply->error, "command", err);
}

static int command_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
			struct llm_reply *ret_reply, struct error *err)
{
	struct command *c = self;
	int64_t timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : CALL_TIMEOUT_MS;
	struct run r = { .request = request,
			 .sink = sink,
			 .pid_fd = -1,
			 .out_fd = -1,
			 .err_fd = -1,
			 .first_ms = -1,
			 .start_ms = clock_mono_ms() };

	r.deadline_ms = r.start_ms + timeout_ms;
	buf_init(&r.errors, STDERR_KEPT);
	decode_init(&r.decode, NULL, sink);
	int rc = start(c, &r, err);
	if (rc == 0) {
		collect(&r);
		stop(&r);
		rc = conclude(c, &r, ret_reply, err);
	}
	run_release(&r);
	return rc;
}

int llm_command_open(struct llm *ret_llm, const struct llm_command_options *options,
		     struct error *err)
{
	static const struct llm_ops ops = { .call = command_call, .free = command_free };
	char **argv = split_command(options->command, err);

	if (!argv)
		return -1;
	struct command *c = mem_alloc(sizeof(*c));
	c->argv = argv;
	c->json = options->json;
	*ret_llm = (struct llm){ .ops = &ops, .self = c, .provider = "command" };
	return 0;
}
