/* What a line that starts with "/" does: one table row each. */
#include "agent/repl.h"

#include "agent/command.h"
#include "agent/edit.h"
#include "agent/log.h"
#include "agent/task.h"
#include "agent/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct repl_row {
	const char *name, *argument, *help;
	void (*run)(struct repl *r, const char *argument);
};

static void do_model(struct repl *r, const char *argument)
{
	struct settings *s = &r->session.settings;

	if (*argument) {
		free(s->model);
		s->model = mem_strdup(argument);
	}
	term_note(TERM_PLAIN, "%s, model %s\n", r->session.llm.provider,
		  s->model ? s->model : "(default)");
}

static void list_file(const struct task_file *f)
{
	term_visible("/in/", 4);
	term_visible(f->path, strlen(f->path));
	term_note(TERM_DIM, "  %zu byte%s\n", f->len, f->len == 1 ? "" : "s");
}

static void do_attach(struct repl *r, const char *argument)
{
	struct error err = ERROR_INIT;

	if (!*argument)
		term_error("/attach needs a path");
	else if (task_add_file(&r->files, argument, &err) < 0)
		term_error("%s", err.message);
	else
		list_file(&r->files.files[r->files.file_count - 1]);
}

static void do_files(struct repl *r, const char *argument)
{
	size_t i;

	(void)argument;
	if (!r->files.file_count)
		term_note(TERM_DIM, "no files; /attach PATH adds one\n");
	for (i = 0; i < r->files.file_count; i++)
		list_file(&r->files.files[i]);
}

static bool need_code(const struct repl *r)
{
	if (r->has_last && r->last.code)
		return true;
	term_error("there is no program yet");
	return false;
}

static void do_code(struct repl *r, const char *argument)
{
	(void)argument;
	if (need_code(r))
		term_code(r->last.language, r->last.code, r->last.code_len);
}

/* Runs the last program again, as it stands or edited, without the model. */
static void run_code(struct repl *r, const char *code, size_t len)
{
	cleanup_free struct sandbox_file *inputs = task_inputs(&r->files);
	struct sandbox_job job = {
		.language = language_find(r->last.language),
		.code = code,
		.code_len = len,
		.inputs = inputs,
		.input_count = r->files.file_count,
		.limits = r->session.settings.limits,
	};
	struct audit_run run = {
		.kind = "exec", .session = r->session_id, .prompt = code, .prompt_len = len,
	};
	struct audit_end end = { .level = "ran", .cost_micro_usd = -1, .status = "failed" };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	cleanup_failure struct failure f = { .type = NULL };
	struct error err = ERROR_INIT;
	cleanup_journal struct journal j = { .audit = NULL };

	if (journal_begin(&j, r->session.audit, &run, r->given, &err) < 0 ||
	    journal_execution_start(&j, 1, &job, &err) < 0 ||
	    r->session.loop.execute.run(r->session.loop.execute.self, 1, &job, &x, &err) < 0) {
		term_error("%s", err.message);
		return;
	}
	failure_find(job.language->name, job.language->file, &x, &f);
	end.status = f.class == FAILURE_NONE ? "success" : "failed";
	if (journal_execution(&j, 1, &x, &f, &err) < 0 || journal_end(&j, &end, &err) < 0)
		term_error("%s", err.message);
	r->session.loop.progress.result(r->session.loop.progress.self, 1, &x, &f);
	console_output(&x.out);
	term_note(TERM_DIM, "run %s\n", j.run);
}

static void do_run(struct repl *r, const char *argument)
{
	(void)argument;
	if (need_code(r))
		run_code(r, r->last.code, r->last.code_len);
}

static void do_edit(struct repl *r, const char *argument)
{
	struct error err = ERROR_INIT;
	char *edited = NULL;

	(void)argument;
	if (!need_code(r))
		return;
	if (edit_text(r->last.language, r->last.code, r->last.code_len, &edited, &err) < 0) {
		term_error("%s", err.message);
		return;
	}
	free(r->last.code);
	r->last.code = edited;
	r->last.code_len = strlen(edited);
	run_code(r, r->last.code, r->last.code_len);
}

static void do_screen(struct repl *r, const char *argument)
{
	const struct screen_options options = { .profile = r->session.settings.screen_profile,
						.rules = r->session.settings.rules,
						.allow = r->session.settings.allow };
	cleanup_screening struct screening s = { .lang = NULL };
	struct error err = ERROR_INIT;
	size_t i;

	(void)argument;
	if (!need_code(r))
		return;
	if (screen_program(r->session.sandbox, command_cancel_fd(), r->last.language, r->last.code,
			   r->last.code_len, &options, &s, &err) < 0) {
		term_error("%s", err.message);
		return;
	}
	for (i = 0; i < s.count; i++)
		term_note(TERM_YELLOW, "line %zu: %s [%s]\n", s.findings[i].line,
			  s.findings[i].message, s.findings[i].rule);
	term_note(TERM_PLAIN, "%s by the %s profile\n", screen_action_name(s.verdict),
		  screen_profile_name(s.profile));
}

static void do_approve(struct repl *r, const char *argument)
{
	static const char *const names[] = { "auto", "ask", "never" };
	struct settings *s = &r->session.settings;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], argument)) {
			s->approve = (enum approve_mode)i;
			r->session.live.always = false;
			break;
		}
	if (*argument && i == ARRAY_SIZE(names))
		term_error("/approve: \"%.40s\" is not auto, ask or never", argument);
	term_note(TERM_PLAIN, "approve: %s (auto, ask or never)\n", names[s->approve]);
}

static void do_limits(struct repl *r, const char *argument)
{
	const struct sandbox_limits *l = &r->session.settings.limits;
	const struct budget_limits *b = &r->session.settings.budget;

	(void)argument;
	term_note(TERM_PLAIN,
		  "%.3g s wall, %.3g s CPU, %" PRId64 " MiB memory, %" PRId64 " processes, %" PRId64
		  " MiB disk, %" PRId64 " KiB output\n",
		  (double)l->wall_ms / 1000, (double)l->cpu_ms / 1000, l->memory_bytes >> 20,
		  l->processes, l->disk_bytes >> 20, l->stdout_bytes >> 10);
	term_note(TERM_PLAIN, "per question: %" PRId64 " attempts, %" PRId64 " calls, %" PRId64
		  " tokens, %.3g s of execution\n", b->attempts, b->calls, b->tokens,
		  (double)b->exec_ms / 1000);
}

static void do_cost(struct repl *r, const char *argument)
{
	(void)argument;
	term_note(TERM_PLAIN, "%" PRId64 " tokens in, %" PRId64 " out", r->usage.input_tokens,
		  r->usage.output_tokens);
	if (r->cost_micro_usd)
		term_note(TERM_PLAIN, ", $%.4f\n", (double)r->cost_micro_usd / 1e6);
	else
		term_note(TERM_PLAIN, "; cost unknown (no price in the configuration)\n");
}

/* The last turn is taken back; its question is asked again by /retry. */
static void do_undo(struct repl *r, const char *argument)
{
	(void)argument;
	if (!repl_undo_turn(r)) {
		term_error("nothing to undo");
		return;
	}
	term_note(TERM_DIM, "the last question is forgotten (the log keeps it)\n");
}

static void do_retry(struct repl *r, const char *argument)
{
	cleanup_free char *question = mem_strdup(r->last_question);

	if (!question) {
		term_error("nothing to retry");
		return;
	}
	if (r->turn_count)
		do_undo(r, argument);
	repl_ask(r, question);
}

static void do_reset(struct repl *r, const char *argument)
{
	(void)argument;
	repl_reset(r);
	term_note(TERM_DIM, "a new conversation\n");
}

#define WORDS_MAX 8

/* A command of the program, inside the session: "log", "show 01J..." */
static void run_command(struct repl *r, const char *name, const char *word, const char *arguments)
{
	const struct command *command = command_find(name);
	cleanup_free char *text = mem_printf("%s %s", word, arguments);
	char db[] = "--db", *argv[WORDS_MAX + 2], *at = text, *next;
	struct options options;
	struct settings settings;
	struct error err = ERROR_INIT;
	int n = 0;

	while (n < WORDS_MAX && (next = strsep(&at, " ")))
		if (*next)
			argv[n++] = next;
	argv[n++] = db;
	argv[n++] = r->session.settings.db_path;
	if (options_parse(&options, n, argv, command->bit, &err) == 0) {
		if (settings_load(&settings, &options, &err) == 0) {
			command->run(&settings, &err);
			settings_release(&settings);
		}
		options_release(&options);
	}
	if (err.kind != ERR_NONE)
		term_error("%s", err.message);
}

static void do_runs(struct repl *r, const char *argument)
{
	run_command(r, "log", "list", argument);
}

static void do_show(struct repl *r, const char *argument)
{
	run_command(r, "log", "show", *argument ? argument : "last");
}

static void do_diff(struct repl *r, const char *argument)
{
	run_command(r, "log", "diff", argument);
}

static void do_replay_run(struct repl *r, const char *argument)
{
	run_command(r, "replay", "", *argument ? argument : "last");
}

static void do_tag(struct repl *r, const char *argument)
{
	free(r->tag);
	r->tag = *argument ? mem_strdup(argument) : NULL;
	term_note(TERM_DIM, r->tag ? "runs from now on are tagged %s\n" : "no tag%s\n",
		  r->tag ? r->tag : "");
}

static void do_save(struct repl *r, const char *argument)
{
	struct error err = ERROR_INIT;

	if (!need_code(r))
		return;
	if (!*argument)
		term_error("/save needs a path");
	else if (io_replace_file(argument, r->last.code, r->last.code_len, 0644, &err) < 0)
		term_error("%s", err.message);
	else
		term_note(TERM_DIM, "the program is in %s\n", argument);
}

/* The runs of this session, as assay log export prints them. */
struct export {
	struct audit *audit;
	char **lines;	/* newest first; owned */
	size_t count;
	struct error *err;
};

static int export_run(void *self, const struct audit_row *row)
{
	struct export *x = self;
	cleanup_json struct json *run = log_run_json(x->audit, row, x->err);

	if (!run)
		return -1;
	x->lines = mem_array(x->lines, x->count + 1, sizeof(*x->lines));
	x->lines[x->count++] = json_print(run);
	return 0;
}

static void do_export(struct repl *r, const char *argument)
{
	struct error err = ERROR_INIT;
	struct export x = { .audit = r->session.audit, .err = &err };
	const struct audit_filter filter = { .session = r->session_id };
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	size_t runs;

	if (!*argument) {
		term_error("/export needs a path");
		return;
	}
	audit_list(x.audit, &filter, export_run, &x, &err);
	for (runs = x.count; x.count; free(x.lines[x.count]))
		buf_addf(&text, "%s\n", x.lines[--x.count]);
	free(x.lines);
	if (err.kind == ERR_NONE && text.overflow)
		error_set(&err, ERR_FAILED, "this session is too long for one file");
	if (err.kind == ERR_NONE)
		io_replace_file(argument, text.data, text.len, 0600, &err);
	if (err.kind != ERR_NONE)
		term_error("%s", err.message);
	else
		term_note(TERM_DIM, "%zu run%s of this session in %s\n", runs, runs == 1 ? "" : "s",
			  argument);
}

static void do_quit(struct repl *r, const char *argument)
{
	(void)argument;
	r->quit = true;
}

static void do_help(struct repl *r, const char *argument);

static const struct repl_row rows[] = {
	{ "help", "", "this list", do_help },
	{ "model", "[NAME]", "show or change the model", do_model },
	{ "attach", "PATH", "give the code a file, under /in", do_attach },
	{ "files", "", "the files the code can read", do_files },
	{ "code", "", "the last program", do_code },
	{ "edit", "", "edit the last program and run it", do_edit },
	{ "run", "", "run the last program again", do_run },
	{ "screen", "", "screen the last program", do_screen },
	{ "approve", "[WHEN]", "auto, ask or never", do_approve },
	{ "limits", "", "limits and budgets", do_limits },
	{ "cost", "", "tokens and cost of this session", do_cost },
	{ "retry", "", "ask the last question again", do_retry },
	{ "undo", "", "forget the last question", do_undo },
	{ "reset", "", "a new conversation", do_reset },
	{ "runs", "", "list runs", do_runs },
	{ "show", "[RUN]", "a run of the log", do_show },
	{ "replay", "[RUN]", "run it again and compare", do_replay_run },
	{ "diff", "RUN RUN", "compare two runs", do_diff },
	{ "tag", "[T]", "tag the runs to come", do_tag },
	{ "save", "PATH", "write the last program to a file", do_save },
	{ "export", "PATH", "write the runs of this session to a file, as JSON", do_export },
	{ "quit", "", "leave (Ctrl-D does too)", do_quit },
	{ NULL, NULL, NULL, NULL },
};

static void do_help(struct repl *r, const char *argument)
{
	const struct repl_row *row;

	(void)r;
	(void)argument;
	for (row = rows; row->name; row++)
		term_note(TERM_PLAIN, "  /%-8s %-12s %s\n", row->name, row->argument, row->help);
	term_note(TERM_DIM,
		  "Enter sends; Alt-Enter or Ctrl-J starts a new line; Ctrl-C cancels.\n");
}

static void unknown(const char *name, size_t len)
{
	cleanup_free char *word = mem_strndup(name, len);
	const char *names[ARRAY_SIZE(rows)], *nearest;
	size_t n;

	for (n = 0; rows[n].name; n++)
		names[n] = rows[n].name;
	nearest = option_nearest(word, names, n);
	if (nearest)
		term_error("no such command: /%.40s; did you mean /%s?", word, nearest);
	else
		term_error("no such command: /%.40s; /help lists them, and a blank first makes it "
			   "a question", word);
}

void repl_command(struct repl *r, const char *line)
{
	size_t len = strcspn(line + 1, " \t\n");
	const char *argument = line + 1 + len;
	const struct repl_row *row;
	cleanup_free char *trimmed = NULL;
	size_t n;

	argument += strspn(argument, " \t\n");
	n = strlen(argument);
	while (n && strchr(" \t\n", argument[n - 1]))
		n--;
	trimmed = mem_strndup(argument, n);
	for (row = rows; row->name; row++)
		if (strlen(row->name) == len && !memcmp(row->name, line + 1, len)) {
			row->run(r, trimmed);
			return;
		}
	unknown(line + 1, len);
}
