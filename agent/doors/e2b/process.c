/*
 * process.Process of E2B's envd: a command is a program of bash, in walls of its own with a copy of
 * the sandbox's files, and what it changed there is the sandbox's afterwards, however it ended. Its
 * answer is a stream of Connect's frames. No command may begin that was not screened. One that
 * takes input, or has a terminal, is fed as that comes (input.c).
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/e2b/input.h"
#include "agent/doors/service/program.h"
#include "base/base64.h"
#include "base/embed.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN	  "agent/doors/e2b/begin.sh"
#define FIRST	  ". /in/.e2b/begin; " /* of each command */
#define FEEDER	  "agent/doors/e2b/terminal.py"
#define TITLE	  "serve e2b command"
#define ENVS_MAX  200
#define ENVS_OURS 5    /* and a NULL */
#define GRACE_MS  2000 /* in which a command whose client's time is over leaves its files */

static void send_event(struct exchange *x, struct box_process *p, const char *name,
		       struct json *event)
{
	struct json *message = json_object(), *of = json_object();

	json_set(of, name, event);
	json_set(message, "event", of);
	e2b_tell(x, p, 0, message);
}

/* --- what is asked --- */

/* A word of a shell, whatever is in it. */
static void add_word(struct buf *out, const char *word)
{
	buf_addch(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_addstr(out, "'\\''");
		else
			buf_addch(out, *word);
	buf_addch(out, '\'');
}

static const char *name_of(const char *cmd)
{
	return strrchr(cmd, '/') ? strrchr(cmd, '/') + 1 : cmd;
}

static bool is_shell(const char *cmd)
{
	return language_find(name_of(cmd)) == e2b_shell();
}

char *e2b_word(const char *word)
{
	struct buf out = BUF_INIT((size_t)4 << 20);

	add_word(&out, word);
	return buf_take(&out, NULL);
}

/* The command of `bash -l -c COMMAND`; NULL: it is another program. */
static const char *shell_command(const char *cmd, const struct json *args)
{
	const struct json *arg = json_first(args);

	if (!is_shell(cmd))
		return NULL;
	bool c = false;
	for (; arg && json_string(arg) && *json_string(arg) == '-'; arg = json_next(arg)) {
		if (strcmp(json_string(arg), "-c") && strcmp(json_string(arg), "-l"))
			return NULL;
		c = c || !strcmp(json_string(arg), "-c");
	}
	return c && arg && !json_next(arg) ? json_string(arg) : NULL;
}

/* The program of a request; NULL with err. Caller frees. */
static char *program_of(const struct json *process, bool is_terminal, struct error *err)
{
	const char *cmd = json_get_string(process, "cmd");
	const struct json *args = json_get(process, "args");
	const char *command = cmd ? shell_command(cmd, args) : NULL;
	struct buf out = BUF_INIT((size_t)4 << 20);

	if (!cmd || !*cmd) {
		error_set(err, ERR_USAGE, "process.cmd is missing");
		return NULL;
	}
	buf_addstr(&out, FIRST);
	if (command) {
		buf_addstr(&out, command);
	} else {
		add_word(&out, is_shell(cmd) ? name_of(cmd) : cmd);
		if (is_terminal && is_shell(cmd)) /* or it would echo what terminal.py does */
			buf_addstr(&out, " --noediting");
		for (const struct json *arg = json_first(args); arg; arg = json_next(arg)) {
			buf_addch(&out, ' ');
			add_word(&out, json_string(arg) ? json_string(arg) : "");
		}
	}
	buf_addch(&out, '\n');
	if (!out.overflow)
		return buf_take(&out, NULL);
	buf_release(&out);
	error_set(err, ERR_USAGE, "the command is too long");
	return NULL;
}

static bool is_name(const char *name)
{
	return *name && !strchr("0123456789", *name) &&
	       !name[strspn(name,
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789")];
}

/* Where it begins: below the home that is there already, or it does not begin, as envd has it;
 * elsewhere it finds out itself. NULL with err; caller frees. */
static char *folder_of(struct box *box, const struct json *process, struct error *err)
{
	const char *cwd = json_get_string(process, "cwd");
	struct error elsewhere = ERROR_INIT;
	cleanup_free char *path = home_path(cwd ? cwd : "", &elsewhere);

	if (!path)
		return mem_strdup(cwd);
	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, path);
	bool there = !*path || (node && node->folder);
	pthread_mutex_unlock(&box->lock);
	if (there)
		return mem_printf(HOME_PATH "%s%s", *path ? "/" : "", path);
	error_set(err, ERR_USAGE, "cwd '" HOME_PATH "/%.200s' does not exist", path);
	return NULL;
}

/* What a program has beyond the fixed set: "NAME=value", owned, with a NULL behind. */
static char **variables_of(const struct box *box, const struct box_process *p, const char *cwd)
{
	const struct json *of[] = { box->env, json_get(p->config, "envs") };
	char **list = mem_alloc((ENVS_OURS + ENVS_MAX + 1) * sizeof(*list));
	size_t n = 0;

	list[n++] = mem_printf("ASSAY_CWD=%s", cwd);
	list[n++] = mem_strdup("E2B_SANDBOX=true");
	list[n++] = mem_printf("E2B_SANDBOX_ID=%s", box->id);
	list[n++] = mem_printf("E2B_TEMPLATE_ID=%s", box->template_id);
	if (p->pulse.asked_ms)
		list[n++] = mem_printf("ASSAY_SECONDS=%.3f", (double)p->pulse.asked_ms / 1000);
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		for (const struct json *e = json_first(of[i]); e && n < ENVS_OURS + ENVS_MAX;
		     e = json_next(e))
			if (json_string(e) && is_name(json_key(e)) &&
			    strncmp(json_key(e), "ASSAY_", 6))
				list[n++] = mem_printf("%s=%s", json_key(e), json_string(e));
	return list;
}

/* --- those under way --- */

/* False: the sandbox was killed or paused meanwhile, and nothing runs in it. */
static bool enter(struct box *box, struct box_process *p)
{
	pthread_mutex_lock(&box->lock);
	bool gone = box->gone;
	if (!gone) {
		p->pid = ++box->last_pid;
		p->next = box->processes;
		box->processes = p;
	}
	pthread_mutex_unlock(&box->lock);
	return !gone;
}

static void leave(struct box *box, struct box_process *p)
{
	struct box_process **at = &box->processes;

	pthread_mutex_lock(&box->lock);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	e2b_told(box, p);
	box_keep_none(box, &p->told);
	box_keep_none(box, &p->input);
	pthread_mutex_unlock(&box->lock);
}

/* --- running one --- */

static void send_data(struct exchange *x, struct box_process *p, bool is_stderr, const char *bytes,
		      size_t len)
{
	struct json *data = json_object();
	cleanup_free char *text = base64_text(bytes, len);

	json_set_string(data, p->is_terminal ? "pty" : is_stderr ? "stderr" : "stdout", text);
	send_event(x, p, "data", data);
}

struct telling {
	struct exchange *x;
	struct box_process *process;
	const struct worker *worker;
};

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	cleanup_buf struct buf room = BUF_INIT(BUF_MAX_DEFAULT);
	const struct telling *t = self;

	bytes = call_redact(t->worker, bytes, &len, &room);
	send_data(t->x, t->process, is_stderr, bytes, len);
}

/* text may be NULL. */
static void tell(struct exchange *x, struct box_process *p, const char *text)
{
	if (text)
		send_data(x, p, true, text, strlen(text));
}

static void send_end(struct exchange *x, struct box_process *p, const struct loop_result *r,
		     const struct json *document)
{
	const struct sandbox_result *s = &r->execution;
	const char *detail = json_get_string(document, "detail");
	bool exited = r->executed && s->outcome == SANDBOX_EXIT && !p->killed;
	bool killed = p->killed || r->status == RUN_CANCELLED;
	int code = exited ? s->exit_code : killed ? -1 : !r->executed ? 126 : 124;
	cleanup_free char *status =
		exited ? mem_printf("exit status %d", code) :
		killed ? mem_printf("signal: %s", p->signal ? p->signal : "killed") :
			 mem_printf("assay: %s", detail ? detail : "refused");
	struct json *end = json_object();

	if (!exited && !p->killed && detail) {
		cleanup_free char *line = mem_printf("assay: %s\n", detail);

		tell(x, p, line);
		if (json_get(document, "refused"))
			tell(x, p,
			     "assay: where it is started, --allow RULE approves a rule that wants "
			     "a yes, and --profile off screens nothing\n");
	}
	json_set_int(end, "exitCode", code);
	json_set_bool(end, "exited", exited);
	json_set_string(end, "status", status);
	if (code)
		json_set_string(end, "error", status);
	send_event(x, p, "end", end);
}

/* What is too large for a copy stays where it is; with the sandbox's lock held. */
static int add_shown(const struct home *home, struct task *task, struct error *err)
{
	for (size_t i = 0; i < home->count; i++) {
		if (!home_shows(&home->nodes[i]))
			continue;
		cleanup_free char *name = e2b_shown_name(&home->nodes[i]);
		if (e2b_show_file(task, name, &home->nodes[i], err) < 0)
			return -1;
	}
	return 0;
}

static int add_files(struct box *box, struct task *task, struct home_given *ret, struct error *err)
{
	const struct embed *begin = embed_find(BEGIN);

	pthread_mutex_lock(&box->lock);
	size_t len;
	int rc = add_shown(&box->home, task, err);
	char *archive = rc < 0 ? NULL : home_archive(&box->home, &len, err);
	home_give(&box->home, ret);
	pthread_mutex_unlock(&box->lock);
	if (!archive)
		return -1;
	task_add_bytes(task, ".e2b/home.tar", archive, len);
	task_add_bytes(task, ".e2b/begin", mem_strndup(begin->data, embed_len(begin)),
		       embed_len(begin));
	return 0;
}

static void add_text(struct task *task, const char *name, const char *text)
{
	task_add_bytes(task, name, mem_strdup(text), strlen(text));
}

/* One of a command; code begins with FIRST. */
struct command {
	const char *code, *cwd;
	const char *const *env;
	struct handed handed;
	char *allow; /* owned; or NULL: as the policy has it */
};

static void command_release(struct command *c)
{
	handed_release(&c->handed);
	free(c->allow);
}
#define cleanup_command __attribute__((cleanup(command_release)))

/* A program that it hands to an interpreter is screened as one. */
static int screen_handed(struct exchange *x, struct worker *w, struct command *c, struct error *err)
{
	if (!handed_is_usual(c->env) ||
	    !handed_read(&c->handed, exchange_box(x), c->code + strlen(FIRST), c->cwd))
		return 0;
	return handed_screen(&c->handed, w, exchange_cancel_fd(x), &c->allow, err);
}

/* What runs: the command itself, or, where it takes input, what feeds it. */
static int set_program(struct exchange *x, struct worker *w, struct box_process *p,
		       struct command *c, struct program *program, struct error *err)
{
	const struct embed *feed = embed_find(FEEDER);
	const char *code = c->code;

	if (handed_screen_env(w, exchange_cancel_fd(x), c->env, err) < 0 ||
	    screen_handed(x, w, c, err) < 0)
		return -1;
	if (!p->takes_input)
		return program_set(program, e2b_shell()->name, code, strlen(code), TITLE, err);
	if (e2b_screen(w, exchange_cancel_fd(x), e2b_shell(), "the command", code, strlen(code),
		       c->allow ? c->allow : w->policy.allow, err) < 0 ||
	    program_set(program, e2b_notebook()->name, feed->data, embed_len(feed), TITLE, err) < 0)
		return -1;
	cleanup_free char *size = p->is_terminal ?
					  mem_printf("{\"cols\": %lld, \"rows\": %lld}",
						     (long long)p->cols, (long long)p->rows) :
					  mem_strdup("null");
	program->given.screened = false;
	add_text(&program->task, ".e2b/terminal", size);
	add_text(&program->task, ".e2b/command", code);
	return 0;
}

/* How long it may take: as long as its client waits, or as its sandbox is there. */
static int64_t lasts_ms(const struct box_process *p, int64_t most)
{
	int64_t asked = p->pulse.asked_ms + GRACE_MS;

	return p->pulse.asked_ms && asked < most ? asked : most;
}

/* Its client is told as envd tells it, and its followers that it was killed. */
static void send_over(struct exchange *x, struct box_process *p)
{
	struct json *message = json_object(), *of = json_object(), *end = json_object();

	json_set_int(end, "exitCode", -1);
	json_set_bool(end, "exited", false);
	json_set_string(end, "status", "signal: killed");
	json_set_string(end, "error", "signal: killed");
	json_set(of, "end", end);
	json_set(message, "event", of);
	e2b_tell_followers(x, p, 0, message);
	e2b_tell_followers(x, p, E2B_FRAME_END, e2b_last_message(NULL, NULL));
	e2b_send_last(x, PULSE_OVER, PULSE_OVER_TEXT);
}

/* What a rule has against it, or who killed it before: as what never ran. */
static void send_refused(struct exchange *x, struct box_process *p, const struct error *err)
{
	struct loop_result none = { .status = RUN_DENIED };
	cleanup_json struct json *document = json_object();

	json_set_string(document, "detail", err->message);
	send_end(x, p, &none, document);
	e2b_tell(x, p, E2B_FRAME_END, e2b_last_message(NULL, NULL));
}

static int check_given(const struct command *c, const struct home_given *given, struct error *err)
{
	return !c->allow || handed_is_given(&c->handed, given) ?
		       0 :
		       error_set(err, ERR_DENIED,
				 HOME_PATH "/%.200s was refused: it was written to while it was "
					   "screened (run the command again)",
				 c->handed.path);
}

static void run(struct exchange *x, struct worker *w, struct box_process *p, struct command *c)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };
	cleanup_home_given struct home_given given = { .nodes = NULL };
	struct telling telling = { x, p, w };
	cleanup_free char *lost = NULL;
	struct call call;
	const char *tags[3];

	exchange_call(x, &call, tags, p->pulse.asked_ms ? p->pulse.asked_ms + GRACE_MS : 0);
	call.progress = (struct progress){ .output = on_output, .self = &telling };
	struct error err = ERROR_INIT;
	if (set_program(x, w, p, c, &program, &err) < 0 ||
	    add_files(exchange_box(x), &program.task, &given, &err) < 0 ||
	    check_given(c, &given, &err) < 0) {
		if (box_has_ended(exchange_box(x)))
			exchange_cut(x);
		else if (err.kind == ERR_DENIED || p->killed)
			send_refused(x, p, &err);
		else
			e2b_tell(x, p, E2B_FRAME_END,
				 e2b_last_message("invalid_argument", err.message));
		return;
	}
	program.given.env = c->env;
	call.allow = c->allow;
	struct live_input input;
	live_input_init(&input, exchange_box(x), p);
	call.tools = p->takes_input ? &input.ops : NULL;
	struct service_load load;
	service_look(w->service, &load);
	int64_t most = boxes_last(exchange_box(x)->of, exchange_box(x), load.parallel);
	call.lasts_ms = most ? lasts_ms(p, most) : 0;
	int rc = call_run(w, &call, &program.task, &result, &err);
	if (most)
		boxes_lasted(exchange_box(x)->of, exchange_box(x));
	live_input_release(&input);
	cleanup_json struct json *document = call_program_json(w, &result, rc < 0 ? &err : NULL);
	if (box_has_ended(exchange_box(x))) {
		exchange_cut(x); /* and clients then ask whether the sandbox is still there */
		return;
	}
	cleanup_free char *cut = e2b_cut(&result);
	tell(x, p, cut);
	e2b_take_files(exchange_box(x), &result, &given, NULL, 0, &lost);
	tell(x, p, lost);
	if (result.executed && !p->killed && pulse_is_over(&p->pulse)) {
		send_over(x, p);
		return;
	}
	send_end(x, p, &result, document);
	e2b_tell(x, p, E2B_FRAME_END, e2b_last_message(NULL, NULL));
}

bool e2b_start_check(struct exchange *x)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	size_t n = 0;
	for (const struct box_process *p = box->processes; p; p = p->next)
		n++;
	pthread_mutex_unlock(&box->lock);
	if (n < BOX_PROCESSES_MAX)
		return true;
	e2b_refuse(x, 429, "resource_exhausted", "a sandbox has no more commands at once");
	return false;
}

static void run_entered(struct exchange *x, struct worker *w, struct box_process *p,
			const char *code, const char *cwd)
{
	struct json *event = json_object();
	char **env = variables_of(exchange_box(x), p, cwd);

	cleanup_command struct command command = { .code = code,
						   .cwd = cwd,
						   .env = (const char *const *)env };

	json_set_int(event, "pid", p->pid);
	send_event(x, p, "start", event);
	run(x, w, p, &command);
	e2b_free_variables(env);
}

int e2b_start_read(struct box *box, const struct json *request, struct box_process *p,
		   char **ret_code, char **ret_cwd, struct error *err)
{
	const struct json *pty = json_get(request, "pty");

	*ret_code = *ret_cwd = NULL;
	p->config = json_get(request, "process");
	p->tag = json_get_string(request, "tag");
	p->is_terminal = json_type(pty) != JSON_NULL;
	p->takes_input = p->is_terminal || json_get_bool(request, "stdin", false);
	if (!request)
		return -1;
	if (!e2b_is_text_map(json_get(p->config, "envs")))
		return error_set(err, ERR_USAGE, "process.envs is an object of texts");
	if (p->is_terminal && !input_read_size(pty, p))
		return error_set(err, ERR_USAGE, "pty.size is cols and rows, each above zero");
	*ret_code = program_of(p->config, p->is_terminal, err);
	if (*ret_code)
		*ret_cwd = folder_of(box, p->config, err);
	return *ret_cwd ? 0 : -1;
}

void e2b_start(struct exchange *x, struct worker *w)
{
	const struct buf *body = exchange_body(x);
	struct box_process p = { .x = x,
				 .cancel_fd = exchange_cancel_fd(x),
				 .input = BUF_INIT(BOX_STDIN_MAX),
				 .told = BUF_INIT(BOX_TOLD_MAX) };
	struct box *box = exchange_box(x);
	struct error err = ERROR_INIT;
	cleanup_json struct json *request = e2b_unframe(body->data, body->len, &err);
	cleanup_free char *code = NULL, *cwd = NULL;

	pulse_begin(&p.pulse, x);
	if (e2b_start_read(box, request, &p, &code, &cwd, &err) < 0) {
		e2b_send_last(x, "invalid_argument", err.message);
		return;
	}
	if (!enter(box, &p)) {
		e2b_send_last(x, "not_found", "the sandbox has ended or was paused");
		return;
	}
	run_entered(x, w, &p, code, cwd);
	leave(box, &p);
}
