/*
 * assay exec: code in the sandbox, without a model, but not without a record. The program's
 * streams and exit code are passed on; ours are told apart from them.
 */
#include "agent/cli/commands/exec.h"

#include "agent/calls.h"
#include "agent/cli/command.h"
#include "agent/cli/option_names.h"
#include "agent/cli/piped.h"
#include "agent/cli/session.h"
#include "agent/cli/source.h"
#include "agent/cli/task_given.h"
#include "agent/cli/tools_given.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/render.h"
#include "audit/redact/redact.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the task --- */

static int check_env(const char *text, struct error *err)
{
	size_t len = strcspn(text, "="), i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			break;
	if (!len || i < len || !text[len] || isdigit((unsigned char)*text))
		return error_set(err, ERR_USAGE, "--env \"%.100s\": NAME=VALUE expected", text);
	return 0;
}

int exec_read_inputs(struct exec *x, struct error *err)
{
	const struct options *o = x->settings->options;
	const struct option_values *input = &o->given[OPT_STDIN];
	const struct option_values *env = &o->given[OPT_ENV];

	if (piped_check_once(x->settings, err) < 0 ||
	    task_add_files(&x->task, x->settings, err) < 0 ||
	    (input->count && task_set_stdin(&x->task, input->values[0], x->settings->app, err) < 0))
		return -1;
	x->env = mem_alloc((env->count + 1) * sizeof(*x->env));
	for (size_t i = 0; i < env->count; i++) {
		if (check_env(env->values[i], err) < 0)
			return -1;
		x->env[i] = env->values[i];
	}
	return 0;
}

/* Without --profile nothing is screened: what is one's own needs no yes. */
int exec_read_screening(struct exec *x, struct error *err)
{
	/* The last two are about calls of tools, too. */
	static const enum option_id belong[] = { OPT_RULES, OPT_ALLOW, OPT_APPROVE };
	const struct option_values *given = x->settings->flags->given;
	bool tools = false;

	if (settings_switch(x->settings, OPT_TOOLS, &tools, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(belong) && !given[OPT_PROFILE].count; i++)
		if (given[belong[i]].count && !(tools && belong[i] != OPT_RULES))
			return error_set(err, ERR_USAGE,
					 "--%s is about screening, which exec does "
					 "only with --profile",
					 option_table[belong[i]].name);
	x->program.screened =
		given[OPT_PROFILE].count && x->settings->policy.screen_profile != SCREEN_OFF;
	return 0;
}

/* The question of this run in the log. */
char *exec_title(const char *path)
{
	cleanup_free char *text = mem_printf("exec %s", path);
	cleanup_buf struct buf visible = BUF_INIT(1 << 16);

	utf8_visible(&visible, text, strlen(text));
	return buf_take(&visible, NULL);
}

static void make_program(struct exec *x)
{
	const struct options *o = x->settings->options;

	x->argv = mem_alloc((o->arg_count + 1) * sizeof(*x->argv));
	for (size_t i = 1; i < o->arg_count; i++)
		x->argv[i - 1] = o->args[i];
	x->program.code = x->code.data;
	x->program.len = x->code.len;
	x->program.argv = x->argv;
	x->program.env = x->env;
	x->task.program = &x->program;
	x->task.prompt = exec_title(x->path);
}

/* What is screened is read in the sandbox before it runs there. */
static int open_sandbox(struct exec *x, struct error *err)
{
	const struct policy *policy = &x->settings->policy;
	const struct settings *settings = x->settings;
	int64_t states = 0;

	if (settings_amount(x->settings, OPT_STATES, &states, err) < 0)
		return -1;
	if (x->socket)
		return command_open_sandbox_at(&x->sandbox, policy, settings, x->socket, err);
	if (x->in_context)
		return command_open_sandbox_among(&x->sandbox, policy, settings, 0, (size_t)states,
						  NULL, err);
	return x->program.screened ?
		       command_open_sandbox_of(&x->sandbox, policy, settings, 0, err) :
		       command_open_sandbox_once(&x->sandbox, policy, settings, err);
}

/* Whether, and where, a server's waiting interpreters are asked for. */
static int read_socket(struct exec *x, struct error *err)
{
	const struct settings *s = x->settings;
	const char *path = settings_text(s, OPT_SOCKET, NULL);
	int64_t warm = 0;

	if (settings_amount(s, OPT_WARM, &warm, err) < 0)
		return -1;
	if (!path && warm > 0 && s->flags->given[OPT_WARM].count)
		return error_set(err, ERR_USAGE,
				 "--warm of exec is about interpreters that wait at a server: it "
				 "needs --socket PATH of your `assay serve`");
	if (path && s->options->given[OPT_CONTEXT].count)
		return error_set(err, ERR_USAGE,
				 "--socket is for one program: the states of a --context are kept "
				 "where its cells run");
	x->socket = warm > 0 ? path : NULL;
	return 0;
}

int exec_check_tools(const struct language *language, struct error *err)
{
	return calls_check(language, err) < 0 ?
		       error_wrap(err, "--%s", option_table[OPT_TOOLS].name) :
		       0;
}

static int prepare(struct exec *x, struct error *err)
{
	const struct options *o = x->settings->options;

	if (!o->arg_count)
		return error_set(err, ERR_USAGE, "FILE is missing (\"-\" for standard input)");
	if (x->raw && x->settings->json)
		return error_set(err, ERR_USAGE, "--raw and --json exclude each other");
	if (exec_read_screening(x, err) < 0 || tools_given(x->settings, &x->tools, err) < 0)
		return -1;
	x->path = o->args[0];
	if (io_read_file(x->path, &x->code, err) < 0)
		return -1;
	const struct language *language =
		source_language(x->settings, x->path, x->code.data, x->code.len, err);
	if (!language || (x->tools && exec_check_tools(language, err) < 0))
		return -1;
	struct error later = ERROR_INIT;
	/* It starts while the inputs are looked at; when it does not, open_ends says why. */
	open_sandbox(x, &later);
	if (exec_read_inputs(x, err) < 0)
		return -1;
	x->task.lang = language->name;
	make_program(x);
	return 0;
}

/* --- running --- */

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct exec *x = self;

	if (!len)
		return;
	x->last_byte = bytes[len - 1];
	if (is_stderr)
		term_guest_stderr(&x->settings->app->terminal, bytes, len);
	else if (x->output.kind == ERR_NONE && (!x->raw || isatty(STDOUT_FILENO)))
		term_out(&x->settings->app->terminal, bytes, len, &x->output);
	else if (x->output.kind == ERR_NONE)
		io_write_all(STDOUT_FILENO, bytes, len, &x->output);
	if (x->output.kind != ERR_NONE)
		command_cancel(); /* nobody reads any more */
}

static void on_note(void *self, const char *line)
{
	const struct exec *x = self;
	struct terminal *term = &x->settings->app->terminal;

	term_note(term, TERM_YELLOW, "note: ");
	term_visible(term, line, strlen(line));
	term_note(term, TERM_PLAIN, "\n");
}

static void on_handed(void *self)
{
	const struct exec *x = self;

	audit_get_ready(x->audit);
}

/* The keeper takes everything down while the record is written. */
static void on_result(void *self, int attempt, const struct sandbox_result *result,
		      const struct failure *failure)
{
	const struct exec *x = self;

	(void)attempt;
	(void)result;
	(void)failure;
	if (!x->in_context)
		sandbox_finish(x->sandbox);
}

int exec_open_ends(struct exec *x, struct error *err)
{
	const struct settings *s = x->settings;
	const struct stop stop = journal_stop(s->app->cancel_fd, &s->policy.budget);

	if ((!x->sandbox && open_sandbox(x, err) < 0) ||
	    command_open_log(&x->audit, s, LOG_RECORD_ONE, err) < 0)
		return -1;
	audit_set_stop(x->audit, &stop);
	console_log(&x->settings->app->terminal, x->audit);
	x->live = (struct live){
		.sandbox = x->sandbox,
		.cancel_fd = s->app->cancel_fd,
		.progress = &x->loop.progress,
	};
	x->approver = (struct approver){
		.term = &s->app->terminal,
		.cancel_fd = s->app->cancel_fd,
		.task = &x->task,
		.may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !s->json,
	};
	x->loop = (struct loop){
		.policy = &s->policy,
		.means = &s->means,
		.audit = x->audit,
		.cache_dir = sandbox_cache_dir(x->sandbox),
		.cancel_fd = s->app->cancel_fd,
		.names = &option_names,
		.exit_code = exit_code_of_run,
		.progress = { .output = x->stream ? on_output : NULL,
			      .handed = on_handed,
			      .result = on_result,
			      .note = on_note,
			      .self = x },
	};
	x->loop.tools = x->tools ? tools_end(x->tools) : NULL;
	live_execute(&x->loop.execute, &x->live);
	live_clock(&x->loop.clock, &x->live);
	approver_end(&x->loop.approve, &x->approver);
	return 0;
}

int exec_exit_code(const struct exec *x)
{
	const struct sandbox_result *r = &x->result.execution;

	if (x->result.executed && x->settings->options->given[OPT_PROPAGATE].count) {
		if (r->outcome == SANDBOX_EXIT)
			return r->exit_code;
		if (r->outcome == SANDBOX_SIGNAL)
			return 128 + r->signal;
	}
	return exit_code_of_run(x->result.status, x->result.ended_by);
}

/* --- telling --- */

/* The outcome of what never ran. */
static const char *not_run(const struct loop_result *r)
{
	return r->status == RUN_SANDBOX_ERROR ? sandbox_outcome_name(SANDBOX_SETUP_FAILED) :
	       r->status == RUN_CANCELLED     ? sandbox_outcome_name(SANDBOX_CANCELLED) :
						"not_run";
}

struct json *exec_json(const struct exec *x)
{
	const struct loop_result *r = &x->result;
	struct sandbox_result none = { .outcome = SANDBOX_SETUP_FAILED,
				       .exit_code = -1,
				       .environment.sandbox = x->settings->policy.sandbox };
	struct json *object =
		render_execution(r->executed ? &r->execution : &none, &r->failure, true);

	if (!r->executed) {
		json_set_string(object, "outcome", not_run(r));
		json_set_string(object, "detail", r->reason);
	}
	json_set_string(object, "run", *r->run ? r->run : NULL);
	json_set(object, "changed_inputs",
		 r->changed_inputs ? json_copy(r->changed_inputs) : json_array());
	return object;
}

static int show_json(const struct exec *x, struct error *err)
{
	cleanup_json struct json *object = exec_json(x);
	cleanup_free char *text = redact_print(audit_redactor(x->audit), object);

	return term_out_json(&x->settings->app->terminal, text, err);
}

/* The reason of a sandbox that failed is told as the error that it is. */
static void say_line(const struct exec *x, struct buf *line)
{
	const struct loop_result *r = &x->result;

	if (r->executed) {
		render_outcome(&r->execution, line);
		if (r->status == RUN_DENIED && r->reason) {
			buf_addstr(line, ": ");
			utf8_visible(line, r->reason, strlen(r->reason));
		}
	} else {
		buf_addstr(line, r->begun ? "it began, and its end is not known" : "nothing ran");
		if (r->reason && r->status != RUN_SANDBOX_ERROR) {
			buf_addstr(line, ": ");
			utf8_visible(line, r->reason, strlen(r->reason));
		}
	}
}

void exec_tell(struct exec *x)
{
	cleanup_buf struct buf line = BUF_INIT(1 << 20);
	bool good = x->result.status == RUN_SUCCESS;
	struct terminal *term = &x->settings->app->terminal;

	say_line(x, &line);
	if (x->stream && x->last_byte && x->last_byte != '\n' && isatty(STDERR_FILENO))
		term_note(term, TERM_PLAIN, "\n");
	term_note(term, good ? TERM_GREEN : TERM_RED, "%s", line.data);
	if (*x->result.run)
		term_note(term, TERM_DIM, "  (run %s)", x->result.run);
	term_note(term, TERM_PLAIN, "\n");
}

static int show(struct exec *x, struct error *err)
{
	if (x->settings->json && show_json(x, err) < 0)
		return -1;
	exec_tell(x);
	return 0;
}

/* Code that could not begin has a document, too, and its usual exit code. */
int exec_could_not_begin(struct exec *x, const struct error *why)
{
	struct error ignored = ERROR_INIT; /* why is what the user must hear of */

	if (x->settings->json && why->kind == ERR_SANDBOX) {
		x->result.status = RUN_SANDBOX_ERROR;
		x->result.reason = mem_strdup(why->message);
		show(x, &ignored);
	}
	return exit_code_of_error(why);
}

static int execute(struct exec *x, struct error *err)
{
	const char *out = settings_text(x->settings, OPT_OUT, NULL);

	if (exec_open_ends(x, err) < 0 || loop_run(&x->loop, &x->task, &x->result, err) < 0)
		return exec_could_not_begin(x, err);
	*err = (struct error)ERROR_INIT; /* that is in the result */
	if (show(x, err) < 0 || session_save_artifacts(&x->settings->app->terminal, out,
						       x->settings->db_path, &x->result, err) < 0)
		return exit_code_of_error(err);
	if (x->result.status == RUN_SANDBOX_ERROR)
		error_set(err, ERR_SANDBOX, "%s", x->result.reason);
	else if (x->output.kind != ERR_NONE)
		*err = x->output;
	return err->kind != ERR_NONE ? (int)exit_code_of_error(err) : exec_exit_code(x);
}

int cmd_exec(const struct settings *settings, struct error *err)
{
	struct exec x = { .settings = settings,
			  .code = BUF_INIT(CODE_BYTES_MAX),
			  .raw = settings->options->given[OPT_RAW].count > 0,
			  .stream = !settings->json };
	int code;

	if (read_socket(&x, err) < 0)
		code = -1;
	else if (settings->options->given[OPT_CONTEXT].count)
		code = exec_in_context(&x, err);
	else if (settings->flags->given[OPT_FRESH].count)
		code = error_set(err, ERR_USAGE,
				 "--fresh is about a context: it needs --context NAME");
	else
		code = prepare(&x, err) < 0 ? (int)exit_code_of_error(err) : execute(&x, err);
	code = code < 0 ? (int)exit_code_of_error(err) : code;

	loop_result_release(&x.result);
	approvals_release(&x.approver.approvals);
	code = command_finish_log(x.audit, code, err);
	audit_close(x.audit);
	sandbox_close(x.sandbox);
	tools_close(x.tools);
	task_release(&x.task);
	buf_release(&x.code);
	free(x.argv);
	free(x.env);
	return code;
}
