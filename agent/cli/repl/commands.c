/*
 * What a line that starts with "/" does: one table row each. A command's failure is told and ends
 * nothing.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/command.h"
#include "agent/cli/terminal/edit.h"
#include "agent/cli/log/log.h"
#include "agent/cli/paths.h"
#include "agent/cli/task_given.h"
#include "agent/record/render.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_SHOWN 60 /* bytes of one that is taken back */

struct repl_row {
	const char *name, *argument, *help;
	void (*run)(struct repl *r, const char *argument);
};

static void do_model(struct repl *r, const char *argument)
{
	struct policy *p = &r->session.policy;

	if (*argument) {
		free(p->model);
		p->model = mem_strdup(argument);
	}
	term_note(r->term, TERM_PLAIN, "%s, model %s\n", r->session.llm.provider,
		  p->model ? p->model : "(default)");
}

static void do_attach(struct repl *r, const char *argument)
{
	if (!*argument)
		term_error(r->term, "/attach needs a path");
	else
		repl_attach(r, argument);
}

static void do_detach(struct repl *r, const char *argument)
{
	if (!*argument)
		term_error(r->term, "/detach needs a name; /files lists them");
	else
		repl_detach(r, argument);
}

static void do_files(struct repl *r, const char *argument)
{
	(void)argument;
	if (!r->files.file_count)
		term_note(r->term, TERM_DIM, "no files; /attach PATH adds one\n");
	for (size_t i = 0; i < r->files.file_count; i++)
		repl_list_file(r->term, &r->files.files[i]);
}

/* The last question may have ended before there was one, which does not undo those before it. */
static const char *none_of_last(const struct repl *r, const char *none)
{
	return r->turn_count && r->before[r->turn_count - 1].has_last ?
		       "the last question came to no program; /undo goes back to the one before" :
		       none;
}

static bool need_code(const struct repl *r)
{
	static const char none[] = "there is no program yet";

	if (!repl_need_last(r, none))
		return false;
	if (!r->last.code)
		term_error(r->term, "%s", none_of_last(r, none));
	return r->last.code;
}

static void do_code(struct repl *r, const char *argument)
{
	(void)argument;
	if (need_code(r))
		term_code(r->term, r->last.language, r->last.code, r->last.code_len);
}

/* What came out is part of the conversation: its files are there for the next
 * question, and the model reads what was run and what it printed. Of code, what the program was
 * before it was edited, is taken. */
static void keep_run(struct repl *r, const char *question, struct loop_result *result, char **code)
{
	char *first = NULL;

	/* Run again and again, it would push the conversation out. */
	if (r->own_turn) {
		first = TAKE_PTR(r->before[r->turn_count - 1].code);
		repl_undo_turn(r);
	}
	r->replaces = true;
	repl_keep_turn(r, question, result);
	r->replaces = false;
	r->own_turn = true;
	r->before[r->turn_count - 1].code = first ? first : TAKE_PTR(*code);
	struct error err = ERROR_INIT;
	if (session_save_artifacts(r->term, settings_text(r->given, OPT_OUT, NULL),
				   r->given->db_path, result, &err) < 0)
		term_error(r->term, "%s", err.message);
	repl_show_pictures(r, result);
}

static const char *outcome_text(const struct failure *f)
{
	return f->class == FAILURE_NONE ? "it ended well" : "it failed";
}

/* What the last program did now, and that in the conversation. */
static void show_run(struct repl *r, const char *did, struct loop_result *result, char **code)
{
	const struct failure *f = &result->failure;
	cleanup_free char *question =
		f->message ? mem_printf("(%s; %s: %s)", did, outcome_text(f), f->message) :
			     mem_printf("(%s; %s)", did, outcome_text(f));

	if (!result->executed) {
		term_error(r->term, "%s", result->reason);
		return;
	}
	console_output(r->term, &result->execution.out, REPL_WHOLE_OUTPUT);
	term_note(r->term, TERM_DIM, "run %s\n", result->run);
	keep_run(r, question, result, code);
}

/* Runs the last program again, as it stands or edited, without the model; code: as it was before
 * that, or NULL. */
static void run_code(struct repl *r, const char *did, char **code)
{
	const struct task_program program = { .code = r->last.code, .len = r->last.code_len };
	struct context view;
	const struct task task = {
		.context = repl_before_last(r, &view),
		.prompt = r->last.code,
		.lang = r->last.language,
		.program = &program,
		.files = r->files.files,
		.file_count = r->files.file_count,
	};
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct error err = ERROR_INIT;

	if (session_run(&r->session, &task, &result, &err) == 0)
		show_run(r, did, &result, code);
	else
		term_error(r->term, "%s", err.message);
}

static void do_run(struct repl *r, const char *argument)
{
	(void)argument;
	char *code = NULL;
	if (need_code(r) && repl_renew_files(r))
		run_code(r, REPL_RAN, &code);
}

static void do_edit(struct repl *r, const char *argument)
{
	(void)argument;
	if (!need_code(r) || !repl_renew_files(r))
		return;
	struct error err = ERROR_INIT;
	char *edited = NULL;
	if (edit_text(r->last.language, r->last.code, r->last.code_len, &edited, &err) < 0) {
		term_error(r->term, "%s", err.message);
		return;
	}
	cleanup_free char *code = r->last.code;
	r->last.code = edited;
	r->last.code_len = strlen(edited);
	run_code(r, REPL_EDITED, &code);
}

static void do_screen(struct repl *r, const char *argument)
{
	const struct screen_options options = { .profile = r->session.policy.screen_profile,
						.rules = r->session.policy.rules,
						.allow = r->session.policy.allow };
	cleanup_screening struct screening s = { .lang = NULL };

	(void)argument;
	if (!need_code(r))
		return;
	struct error err = ERROR_INIT;
	if (screen_program(r->session.sandbox, r->given->app->cancel_fd, r->last.language,
			   r->last.code, r->last.code_len, &options, &s, &err) < 0) {
		term_error(r->term, "%s", err.message);
		return;
	}
	for (size_t i = 0; i < s.count; i++)
		term_note(r->term, TERM_YELLOW, "line %zu: %s [%s]\n", s.findings[i].line,
			  s.findings[i].message, s.findings[i].rule);
	term_note(r->term, TERM_PLAIN, "%s by the %s profile\n", screen_action_name(s.verdict),
		  screen_profile_name(s.profile));
}

static void do_approve(struct repl *r, const char *argument)
{
	struct policy *p = &r->session.policy;
	int mode = approve_mode_parse(argument);

	if (mode >= 0) {
		p->approve = (enum approve_mode)mode;
		approvals_release(&r->session.approver.approvals);
	} else if (*argument) {
		term_error(r->term, "/approve: \"%.40s\" is not auto, ask or never", argument);
	}
	term_note(r->term, TERM_PLAIN, "approve: %s (auto, ask or never)\n",
		  approve_mode_name(p->approve));
}

/* "memory 2G": as a batch line has it, for the questions to come. */
static void set_limits(struct repl *r, const char *argument)
{
	cleanup_free char *text = mem_strdup(argument);
	cleanup_json struct json *limits = json_object();
	char *at = text, *name = strsep(&at, " \t="), *value = at;

	value = value ? value + strspn(value, " \t=") : NULL;
	if (!value || !*value) {
		term_error(r->term, "/limits %s needs a value, as in: /limits memory 2G", name);
		return;
	}
	char *end;
	double number = strtod(value, &end);
	if (*end)
		json_set_string(limits, name, value);
	else
		json_set_number(limits, name, number);
	struct error err = ERROR_INIT;
	if (settings_apply_limits(&r->session.policy, limits, &err) < 0)
		term_error(r->term, "%s", err.message);
}

static void do_limits(struct repl *r, const char *argument)
{
	const struct sandbox_limits *l = &r->session.policy.limits;
	const struct budget_limits *b = &r->session.policy.budget;

	if (*argument)
		set_limits(r, argument);
	term_line(r->term, TERM_PLAIN, 0,
		  "%.3g s wall, %.3g s CPU, %" PRId64 " MiB memory, %" PRId64 " processes, %" PRId64
		  " MiB disk, %" PRId64 " KiB output",
		  (double)l->wall_ms / 1000, (double)l->cpu_ms / 1000, l->memory_bytes >> 20,
		  l->processes, l->disk_bytes >> 20, l->stdout_bytes >> 10);
	term_line(r->term, TERM_PLAIN, 0,
		  "per question: %" PRId64 " attempts, %" PRId64 " calls, %" PRId64
		  " tokens, %.3g s of execution",
		  b->attempts, b->calls, b->tokens, (double)b->exec_ms / 1000);
}

static void do_cost(struct repl *r, const char *argument)
{
	const struct llm_usage *u = &r->usage;
	const struct policy *p = &r->session.policy;
	const struct price price = price_of(&r->session.loop.means->prices, p->model);
	cleanup_buf struct buf cost = BUF_INIT(64), line = BUF_INIT(BUF_MAX_DEFAULT);

	(void)argument;
	if (r->uncounted && !u->input_tokens && !u->output_tokens)
		buf_addstr(&line, "tokens unknown: the model does not report them");
	else
		buf_addf(&line, "%s%" PRId64 " tokens in (%" PRId64 " cached), %" PRId64 " out",
			 r->uncounted ? "at least " : "", u->input_tokens, u->cached_tokens,
			 u->output_tokens);
	render_cost(r->cost_micro_usd, &cost);
	if (r->cost_micro_usd)
		buf_addf(&line, ", %s%s%s", r->uncounted ? "at least " : "", cost.data,
			 price.listed ? " at the list prices of " PRICES_DATE : "");
	else if (!price.known)
		buf_addf(&line,
			 "; cost unknown: no price of %s is known ([prices] in the configuration)",
			 p->model ? p->model : "the model");
	else
		buf_addstr(&line, r->uncounted ? "; cost unknown" : ", $0");
	term_line(r->term, TERM_PLAIN, 0, "%s", line.data);
}

/* The last turn is taken back; its question is asked again by /retry. */
static void do_undo(struct repl *r, const char *argument)
{
	(void)argument;
	if (!r->turn_count) {
		term_error(r->term, "nothing to undo");
		return;
	}
	repl_tell_undone(r->term, &r->turns[r->turn_count - 1]);
	bool undone = r->before[r->turn_count - 1].asked;
	if (r->before[r->turn_count - 1].unknown)
		term_line(r->term, TERM_YELLOW, 0,
			  "what the program before it was edited left is not in the log of this "
			  "conversation, and forgotten, too");
	repl_undo_turn(r);
	r->undone = undone || r->undone;
}

/* What is sent; and what the programs to come find, as the model is told. */
static void do_context(struct repl *r, const char *argument)
{
	cleanup_free char *there = context_there(&r->context);
	size_t count = r->context.count - r->context.from;

	repl_context(r, argument);
	if (r->fresh)
		term_note(r->term, TERM_DIM, "--fresh: each program starts from nothing\n");
	else if (!count)
		term_note(r->term, TERM_DIM, "no program has left anything yet\n");
	else
		term_note(r->term, TERM_DIM, "%zu program%s; what they left:\n", count,
			  count == 1 ? "" : "s");
	term_visible(r->term, there, strlen(there));
}

/* The hint is part of the question then: whoever writes, repairs and judges reads it. */
static void do_retry(struct repl *r, const char *argument)
{
	if (!r->last_question) {
		term_error(r->term, "nothing to retry");
		return;
	}
	cleanup_free char *question =
		*argument ? mem_printf("%s\n\nHint: %s", r->last_question, argument) :
			    mem_strdup(r->last_question);
	if (r->own_turn)
		repl_undo_turn(r);
	if (r->turn_count && !r->undone)
		do_undo(r, "");
	repl_ask(r, question);
}

static void do_reset(struct repl *r, const char *argument)
{
	(void)argument;
	repl_reset(r);
	sandbox_forget_states(r->session.sandbox);
	term_note(r->term, TERM_DIM, "a new conversation\n");
}

#define WORDS_MAX 8

/* A command of the program, inside the session: "log", "show 01J..." */
static void run_command(struct repl *r, const char *name, const char *word, const char *arguments)
{
	const struct command *command = command_find(name);
	cleanup_free char *text = mem_printf("%s %s", word, arguments);
	char *argv[WORDS_MAX + 2], *at = text, *next;
	int n = 0;

	while (n < WORDS_MAX && (next = strsep(&at, " ")))
		if (*next)
			argv[n++] = next;
	char db[] = "--db";
	argv[n++] = db;
	argv[n++] = r->given->db_path;
	struct options options;
	struct error err = ERROR_INIT;
	if (options_parse(&options, n, argv, command->bit, &err) == 0) {
		struct settings settings;

		if (settings_load(&settings, &options, &err) == 0) {
			settings.app = r->given->app;
			command->run(&settings, &err);
			settings_release(&settings);
		}
		options_release(&options);
	}
	if (err.kind != ERR_NONE)
		term_error(r->term, "%s", err.message);
}

static void do_runs(struct repl *r, const char *argument)
{
	run_command(r, "log", "list", argument);
}

static void show_output(const struct repl *r)
{
	static const char none[] = "no program ran yet";

	if (!repl_need_last(r, none))
		return;
	struct error err = ERROR_INIT;
	if (!r->last.executed)
		term_error(r->term, "%s", none_of_last(r, none));
	else if (console_whole_output(r->term, &r->last.execution, &err) < 0)
		term_error(r->term, "%s", err.message);
}

static void do_show(struct repl *r, const char *argument)
{
	if (!strcmp(argument, "output")) {
		show_output(r);
		return;
	}
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
	r->tags[0] = r->tag;
	r->session.loop.tags = r->tags;
	term_note(r->term, TERM_DIM, r->tag ? "runs from now on are tagged %s\n" : "no tag%s\n",
		  r->tag ? r->tag : "");
}

static void do_save(struct repl *r, const char *argument)
{
	cleanup_free char *path = paths_of_new_file(argument);

	if (!need_code(r))
		return;
	if (!*path)
		term_error(r->term, "/save needs a path");
	else
		repl_save(r, path);
}

/* The runs of this session, as assay log export prints them. */
struct export
{
	struct audit *audit;
	char **lines; /* newest first; owned */
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
	cleanup_free char *path = paths_of_new_file(argument);

	if (!*path) {
		term_error(r->term, "/export needs a path");
		return;
	}
	audit_list(x.audit, &filter, export_run, &x, &err);
	size_t runs;
	for (runs = x.count; x.count; free(x.lines[x.count]))
		buf_addf(&text, "%s\n", x.lines[--x.count]);
	free(x.lines);
	if (err.kind == ERR_NONE && text.overflow)
		error_set(&err, ERR_FAILED, "this session is too long for one file");
	if (err.kind == ERR_NONE)
		io_replace_file(path, text.data, text.len, 0600, &err);
	if (err.kind != ERR_NONE)
		term_error(r->term, "%s", err.message);
	else
		term_note(r->term, TERM_DIM, "%zu run%s of this session in %s\n", runs,
			  runs == 1 ? "" : "s", path);
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
	{ "attach", "PATH...", "files for the code, under /in, read when it runs", do_attach },
	{ "detach", "NAME", "take a file away again", do_detach },
	{ "files", "", "the files the code can read", do_files },
	{ "code", "", "the last program", do_code },
	{ "edit", "", "edit the last program and run it", do_edit },
	{ "run", "", "run the last program again", do_run },
	{ "screen", "", "screen the last program", do_screen },
	{ "approve", "[WHEN]", "auto, ask or never", do_approve },
	{ "tools", "[on|off]", "what programs may call (--tools)", repl_tools },
	{ "limits", "[NAME VALUE]", "limits and budgets; memory 2G sets one", do_limits },
	{ "context", "", "what is sent, in tokens, and what programs left", do_context },
	{ "cost", "", "tokens and cost of this session", do_cost },
	{ "retry", "[HINT]", "ask the last question again, with a hint", do_retry },
	{ "undo", "", "forget the last question", do_undo },
	{ "reset", "", "a new conversation", do_reset },
	{ "open", "[FILE]", "open a file that the last program left", repl_open },
	{ "copy", "[WHAT]", "the answer, code or output to the clipboard", repl_copy },
	{ "runs", "", "list runs", do_runs },
	{ "show", "[RUN|output]", "a run of the log, or all that the last program printed",
	  do_show },
	{ "replay", "[RUN]", "run it again and compare", do_replay_run },
	{ "diff", "RUN RUN", "compare two runs", do_diff },
	{ "tag", "[T]", "tag the runs to come", do_tag },
	{ "save", "PATH", "write the last program with all it needs; prove it", do_save },
	{ "export", "PATH", "write the runs of this session to a file, as JSON", do_export },
	{ "quit", "", "leave (Ctrl-D does too)", do_quit },
	{ NULL, NULL, NULL, NULL },
};

const char *repl_command_name(size_t n)
{
	return n < ARRAY_SIZE(rows) ? rows[n].name : NULL;
}

static void do_help(struct repl *r, const char *argument)
{
	(void)r;
	(void)argument;
	for (const struct repl_row *row = rows; row->name; row++)
		term_line(r->term, TERM_PLAIN, 0, "  /%-8s %-12s %s", row->name, row->argument,
			  row->help);
	term_line(r->term, TERM_DIM, 0,
		  "Enter sends; Alt-Enter or Ctrl-J starts a new line; Tab completes; Ctrl-C "
		  "clears the line or cancels the run. What is typed during a run waits for its "
		  "turn.");
}

static void unknown(struct terminal *term, const char *name, size_t len)
{
	cleanup_free char *word = mem_strndup(name, len);
	const char *names[ARRAY_SIZE(rows)];
	size_t n;

	for (n = 0; rows[n].name; n++)
		names[n] = rows[n].name;
	const char *nearest = option_nearest(word, names, n);
	if (nearest)
		term_error(term, "no such command: /%.40s; did you mean /%s?", word, nearest);
	else
		term_error(term,
			   "no such command: /%.40s; /help lists them, and a blank first makes it "
			   "a question",
			   word);
}

void repl_command(struct repl *r, const char *line)
{
	size_t len = strcspn(line + 1, " \t\n");
	const char *argument = line + 1 + len;

	argument += strspn(argument, " \t\n");
	size_t n = strlen(argument);
	while (n && strchr(" \t\n", argument[n - 1]))
		n--;
	cleanup_free char *trimmed = mem_strndup(argument, n);
	for (const struct repl_row *row = rows; row->name; row++)
		if (strlen(row->name) == len && !memcmp(row->name, line + 1, len)) {
			row->run(r, trimmed);
			return;
		}
	unknown(r->term, line + 1, len);
}
