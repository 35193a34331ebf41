/* assay exec: code in the sandbox, without a model, but not without a record. */
#include "agent/command.h"

#include "agent/console.h"
#include "agent/journal.h"
#include "agent/render.h"
#include "agent/source.h"
#include "agent/task.h"
#include "agent/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/failure.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_BYTES_MAX ((size_t)16 << 20)

struct exec {
	const struct settings *settings;
	const char *path;	/* of the code, or "-" */
	struct buf code;
	const struct language *language;
	struct task task;	/* files and standard input */
	struct sandbox_file *inputs;	/* views of task.files */
	const char **argv, **env;	/* NULL-terminated */
	struct sandbox_job job;
	bool by_deadline;	/* --deadline is the tighter limit */

	struct sandbox *sandbox;
	struct audit *audit;
	struct journal journal;
	struct sandbox_result result;
	struct failure failure;

	bool raw, stream;
	char last_byte;		/* of what was streamed */
	struct error output;	/* the first failure to pass on what it printed */
};

/* --- the job --- */

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

static int read_inputs(struct exec *x, struct error *err)
{
	const struct options *o = x->settings->options;
	const struct option_values *input = &o->given[OPT_STDIN];
	const struct option_values *env = &o->given[OPT_ENV];
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	size_t i;

	if (task_add_files(&x->task, x->settings, err) < 0)
		return -1;
	if (input->count) {
		if (!strcmp(x->path, "-") && !strcmp(input->values[0], "-"))
			return error_set(err, ERR_USAGE,
					 "code and --stdin cannot both be standard input");
		if (io_read_file(input->values[0], &bytes, err) < 0)
			return -1;
		x->task.stdin_bytes = buf_take(&bytes, &x->task.stdin_len);
	}
	x->env = mem_alloc((env->count + 1) * sizeof(*x->env));
	for (i = 0; i < env->count; i++) {
		if (check_env(env->values[i], err) < 0)
			return -1;
		x->env[i] = env->values[i];
	}
	return 0;
}

static void make_job(struct exec *x)
{
	const struct settings *s = x->settings;
	int64_t deadline_ms = s->budget.deadline_ms;
	size_t i;

	x->inputs = task_inputs(&x->task);
	x->argv = mem_alloc((s->options->arg_count + 1) * sizeof(*x->argv));
	for (i = 1; i < s->options->arg_count; i++)
		x->argv[i - 1] = s->options->args[i];
	x->job = (struct sandbox_job){
		.language = x->language,
		.code = x->code.data,
		.code_len = x->code.len,
		.argv = x->argv,
		.stdin_bytes = x->task.stdin_bytes,
		.stdin_len = x->task.stdin_len,
		.inputs = x->inputs,
		.input_count = x->task.file_count,
		.env = x->env,
		.limits = s->limits,
	};
	x->by_deadline = deadline_ms && deadline_ms < s->limits.wall_ms;
	if (x->by_deadline)
		x->job.limits.wall_ms = deadline_ms;
}

static int prepare(struct exec *x, struct error *err)
{
	const struct options *o = x->settings->options;

	if (!o->arg_count)
		return error_set(err, ERR_USAGE, "FILE is missing (\"-\" for standard input)");
	if (x->raw && x->settings->json)
		return error_set(err, ERR_USAGE, "--raw and --json exclude each other");
	x->path = o->args[0];
	if (io_read_file(x->path, &x->code, err) < 0)
		return -1;
	x->language = source_language(x->settings, x->path, x->code.data, x->code.len, err);
	if (!x->language || read_inputs(x, err) < 0)
		return -1;
	make_job(x);
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
		term_guest_stderr(bytes, len);
	else if (x->output.kind == ERR_NONE && !x->raw)
		term_out(bytes, len, &x->output);
	else if (x->output.kind == ERR_NONE)
		io_write_all(STDOUT_FILENO, bytes, len, &x->output);
	if (x->output.kind != ERR_NONE)
		command_cancel();	/* nobody reads any more */
}

static int begin(struct exec *x, struct error *err)
{
	cleanup_free char *title = mem_printf("exec %s", x->path);
	cleanup_free char *prompt = NULL;
	cleanup_buf struct buf text = BUF_INIT(1 << 16);
	struct audit_run run = { .kind = "exec" };

	utf8_visible(&text, title, strlen(title));
	prompt = buf_take(&text, &run.prompt_len);
	run.prompt = prompt;
	if (command_open_sandbox(&x->sandbox, err) < 0 ||
	    journal_open_log(&x->audit, x->settings, false, err) < 0)
		return -1;
	console_log(x->audit);
	if (journal_begin(&x->journal, x->audit, &run, x->settings, err) < 0)
		return -1;
	return journal_execution_start(&x->journal, 1, &x->job, err);
}

static int end(struct exec *x, enum exit_code code, const char *reason, struct error *err)
{
	const struct sandbox_result *r = &x->result;
	bool good = r->outcome == SANDBOX_EXIT && r->exit_code == 0;
	enum run_status status = good ? RUN_SUCCESS :
				 r->outcome == SANDBOX_SETUP_FAILED ? RUN_SANDBOX_ERROR :
				 r->outcome == SANDBOX_CANCELLED    ? RUN_CANCELLED :
								      RUN_FAILED;
	struct audit_end ending = {
		.status = run_status_name(status),
		.level = level_name(good ? LEVEL_RAN : LEVEL_NONE),
		.reason = good ? NULL : reason,
		.code = x->code.data,
		.code_len = x->code.len,
		.output = r->out.bytes,
		.output_len = r->out.len,
		.exit_code = (int)code,
		.attempts = 1,
		.cost_micro_usd = -1,
	};

	if (journal_execution(&x->journal, 1, r, &x->failure, err) < 0)
		return -1;
	return journal_end(&x->journal, &ending, err);
}

static int exit_code_of(const struct exec *x)
{
	const struct sandbox_result *r = &x->result;

	if (r->outcome == SANDBOX_SETUP_FAILED)
		return EXIT_SANDBOX;
	if (r->outcome == SANDBOX_CANCELLED)
		return command_signal() == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
	if (r->outcome == SANDBOX_TIMEOUT_WALL && x->by_deadline)
		return EXIT_DEADLINE;
	if (x->settings->options->given[OPT_PROPAGATE].count) {
		if (r->outcome == SANDBOX_EXIT)
			return r->exit_code;
		if (r->outcome == SANDBOX_SIGNAL)
			return 128 + r->signal;
	}
	return r->outcome == SANDBOX_EXIT && r->exit_code == 0 ? EXIT_OK : EXIT_FAILED;
}

/* --- telling --- */

static int save_artifacts(const struct exec *x, struct error *err)
{
	const struct option_values *out = &x->settings->options->given[OPT_OUT];
	cleanup_free char *folder = out->count ? mem_strdup(out->values[0]) :
						 mem_printf("assay-out/%s", x->journal.run);

	return render_save_artifacts(&x->result, folder, console_artifact, err) < 0 ? -1 : 0;
}

static int show(struct exec *x, struct error *err)
{
	cleanup_buf struct buf line = BUF_INIT(1 << 20);
	cleanup_json struct json *object = NULL;
	cleanup_free char *text = NULL;
	bool good = x->result.outcome == SANDBOX_EXIT && x->result.exit_code == 0;

	if (x->settings->json) {
		object = render_execution(&x->result, &x->failure, true);
		json_set_string(object, "run", *x->journal.run ? x->journal.run : NULL);
		text = json_print(object);
		if (term_outf(err, "%s\n", text) < 0)
			return -1;
	}
	if (x->result.outcome == SANDBOX_SETUP_FAILED)	/* why is told as the error that it is */
		buf_addstr(&line, "nothing ran");
	else
		render_outcome(&x->result, &line);
	if (x->stream && x->last_byte && x->last_byte != '\n' && isatty(STDERR_FILENO))
		term_note(TERM_PLAIN, "\n");
	term_note(good ? TERM_GREEN : TERM_RED, "%s", line.data);
	term_note(TERM_DIM, "  (run %s)\n", x->journal.run);
	return 0;
}

/* Nothing ran, because our side failed: the result that says so. */
static void set_up_failed(struct exec *x, const struct error *why)
{
	x->result = (struct sandbox_result) { .outcome = SANDBOX_SETUP_FAILED, .exit_code = -1 };
	snprintf(x->result.detail, sizeof(x->result.detail), "%.*s",
		 (int)sizeof(x->result.detail) - 1, why->message);
}

static int execute(struct exec *x, struct error *err)
{
	struct sandbox_watch watch = { .output = x->stream ? on_output : NULL, .self = x,
				       .cancel_fd = command_cancel_fd() };
	struct error failed = ERROR_INIT;
	int code;

	if (begin(x, err) < 0)
		return exit_code_of_error(err);
	if (sandbox_run(x->sandbox, &x->job, &watch, &x->result, &failed) < 0) {
		set_up_failed(x, &failed);
	} else {
		failure_find(x->language->name, x->language->file, &x->result, &x->failure);
	}
	sandbox_finish(x->sandbox);
	code = exit_code_of(x);
	if (end(x, (enum exit_code)code, *failed.message ? failed.message : x->result.detail, err) <
	    0)
		return exit_code_of_error(err);
	if (show(x, err) < 0 || save_artifacts(x, err) < 0)
		return exit_code_of_error(err);
	if (failed.kind != ERR_NONE || x->output.kind != ERR_NONE)
		*err = failed.kind != ERR_NONE ? failed : x->output;
	return err->kind != ERR_NONE ? (int)exit_code_of_error(err) : code;
}

/* Code that could not begin has a document, too, and its usual exit code. */
static int could_not_begin(struct exec *x, const struct error *why)
{
	struct error ignored = ERROR_INIT;	/* why is what the user must hear of */

	if (x->settings->json && why->kind == ERR_SANDBOX) {
		set_up_failed(x, why);
		show(x, &ignored);
	}
	return exit_code_of_error(why);
}

int cmd_exec(const struct settings *settings, struct error *err)
{
	struct exec x = { .settings = settings, .code = BUF_INIT(CODE_BYTES_MAX),
			  .raw = settings->options->given[OPT_RAW].count > 0 };
	int code;

	x.stream = !settings->json;
	code = prepare(&x, err) < 0 ? could_not_begin(&x, err) : execute(&x, err);
	sandbox_result_release(&x.result);
	failure_release(&x.failure);
	journal_release(&x.journal);
	audit_close(x.audit);
	sandbox_close(x.sandbox);
	task_release(&x.task);
	buf_release(&x.code);
	free(x.inputs);
	free(x.argv);
	free(x.env);
	return code;
}
