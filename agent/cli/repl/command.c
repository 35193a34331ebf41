/*
 * assay, alone: a conversation at the terminal. Each question is a run of its own; a Ctrl-C ends
 * that run, never the conversation with its turns.
 */
#include "agent/cli/command.h"

#include "agent/cli/conversation.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/line.h"
#include "agent/cli/repl/repl.h"
#include "agent/cli/task_given.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TWICE_MS 2000

/* --- asking --- */

static void show(struct terminal *term, const struct loop_result *result, struct error *err)
{
	console_evidence(term, result, REPL_WHOLE_OUTPUT);
	if (result->answer && *result->answer)
		term_note(term, TERM_PLAIN, "\n");
	console_answer(term, result, REPL_WHOLE_OUTPUT, err);
	console_conclusion(term, result);
}

void repl_ask(struct repl *r, const char *question)
{
	struct loop_result result = { .answer = NULL };
	cleanup_free char *text = repl_take_files(r, question);

	if (!text || !repl_renew_files(r))
		return;
	/* The task borrows the conversation for this question. */
	struct task task = (struct task){
		.files = r->files.files,
		.file_count = r->files.file_count,
		.turns = r->turns,
		.turn_count = r->turn_count,
		.lang = r->given->policy.lang,
		.context = r->fresh ? NULL : &r->context,
	};
	struct error err = ERROR_INIT;
	if (task_set_prompt(&task, text, strlen(text), "the question", &err) < 0) {
		term_error(r->term, "%s", err.message);
		return;
	}
	if (session_run(&r->session, &task, &result, &err) < 0) {
		term_error(r->term, "%s", err.message);
		free(task.prompt);
		r->quit = err.kind == ERR_LOG;
		return;
	}
	show(r->term, &result, &err);
	if (session_save_artifacts(r->term, settings_text(r->given, OPT_OUT, NULL),
				   r->given->db_path, &result, &err) < 0)
		term_error(r->term, "%s", err.message);
	size_t cells_before = r->context.count;
	repl_show_pictures(r, &result);
	repl_keep_turn(r, text, &result);
	repl_keep_last(r, &result, cells_before);
	r->own_turn = false;
	r->usage.input_tokens += result.usage.input_tokens;
	r->usage.output_tokens += result.usage.output_tokens;
	r->usage.cached_tokens += result.usage.cached_tokens;
	r->uncounted = r->uncounted || result.usage.source != LLM_USAGE_REPORTED;
	if (result.cost_micro_usd > 0)
		r->cost_micro_usd += result.cost_micro_usd;
	free(r->last_question);
	r->last_question = mem_strdup(question);
	free(task.prompt);
}

/* --- the terminal --- */

static void open_lines(struct repl *r)
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	cleanup_free char *path = NULL;

	cleanup_free char *folder = base && *base == '/' ? mem_printf("%s/assay", base) :
				    home && *home ? mem_printf("%s/.local/state/assay", home) :
						    NULL;
	struct error ignored = ERROR_INIT;
	if (folder && io_make_dirs(folder, 0700, &ignored) == 0)
		path = mem_printf("%s/history", folder);
	line_open(&r->lines, r->term, r->given->app->cancel_fd, path);
	r->lines.chooser = (struct chooser){ repl_choices, r };
}

/* A word alone that many type to leave or to be helped, and that is no question to pay for. With a
 * blank first it is one. NULL: none of these. */
static const char *command_of_word(const char *line)
{
	static const char *const words[][2] = { { "help", "/help" },
						{ "quit", "/quit" },
						{ "exit", "/quit" } };
	size_t len = strcspn(line, " \t\r\n");

	if (line[len + strspn(line + len, " \t\r\n")])
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i][0]) == len && !strncmp(line, words[i][0], len))
			return words[i][1];
	return NULL;
}

static void take_line(struct repl *r, const char *line)
{
	const char *word = command_of_word(line);

	if (strspn(line, " \t\r\n") == strlen(line))
		return;
	line_history_add(&r->lines, line);
	if (repl_is_dropped(line))
		repl_attach(r, line);
	else if (word || *line == '/')
		repl_command(r, word ? word : line);
	else
		repl_ask(r, line);
	term_note(r->term, TERM_PLAIN, "\n");
	/* A Ctrl-C ended the run or the command, not the session. */
	command_signal_clear();
}

static int converse(struct repl *r)
{
	int64_t interrupted_ms = -TWICE_MS - 1, now_ms; /* long ago */

	while (!r->quit) {
		cleanup_free char *line = NULL;

		switch (line_read(&r->lines, "assay> ", &line)) {
		case LINE_GIVEN:
			take_line(r, line);
			break;
		case LINE_CLEARED:
			if (command_signal() != 2)
				return EXIT_TERMINATED;
			interrupted_ms = -TWICE_MS - 1;
			command_signal_clear();
			break;
		case LINE_INTERRUPTED:
			now_ms = clock_mono_ms();
			if (command_signal() != 2 || now_ms - interrupted_ms <= TWICE_MS)
				return command_signal() == 2 ? EXIT_OK : EXIT_TERMINATED;
			interrupted_ms = now_ms;
			command_signal_clear();
			term_note(r->term, TERM_DIM, "(Ctrl-C again, Ctrl-D or /quit leaves)\n");
			break;
		case LINE_EOF:
		default:
			return EXIT_OK;
		}
	}
	return EXIT_OK;
}

/* What the code finds here, as far as that is known at once. */
static void greet_packages(const struct repl *r)
{
	for (size_t i = 0; language_at(i); i++) {
		struct sandbox_environment e = { .language = NULL };
		struct error ignored = ERROR_INIT; /* doctor tells more */

		if (sandbox_describe(r->session.sandbox, language_at(i), &e, &ignored) < 0)
			continue;
		term_line(r->term, TERM_DIM, 0, "%s %s%s%s", language_at(i)->name, e.version,
			  *e.packages ? " with " : "", e.packages);
	}
}

static void greet(const struct repl *r)
{
	const char *model = r->session.policy.model;

	term_note(r->term, TERM_BOLD, "assay %s", ASSAY_VERSION);
	term_line(r->term, TERM_DIM, strlen("assay " ASSAY_VERSION),
		  " - %s%s%s; code runs in the sandbox, every run is logged",
		  r->session.llm.provider, model ? ", " : "", model ? model : "");
	greet_packages(r);
	for (size_t i = 0; i < r->files.file_count; i++)
		term_note(r->term, TERM_DIM, "%s/in/%s",
			  i ? ", " : "files: ", r->files.files[i].path);
	if (r->files.file_count)
		term_note(r->term, TERM_DIM, "\n");
	if (r->session.tools)
		term_line(r->term, TERM_DIM, 0, "programs may call tools; /tools lists them");
	if (r->lent)
		term_line(r->term, TERM_DIM, 0, "assay exec --socket runs in what waits here, too");
	term_line(r->term, TERM_DIM, 0, "Ask a question. /help lists the commands, Ctrl-D leaves.");
}

static int open_session(struct repl *r, struct error *err)
{
	if (session_open(&r->session, r->given, "repl", err) < 0)
		return -1;
	if (session_take_tools(&r->session, r->given, err) == 0)
		return 0;
	session_close(&r->session);
	return -1;
}

int cmd_repl(const struct settings *settings, struct error *err)
{
	struct repl r = { .given = settings, .term = &settings->app->terminal };

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		error_set(err, ERR_USAGE,
			  "no command, and no terminal for a conversation: assay "
			  "ask \"QUESTION\"; assay --help lists the commands");
		return exit_code_of_error(err);
	}
	bool goes_on;
	const char *run;
	if (conversation_choose(settings->options, &goes_on, &run, err) < 0)
		return exit_code_of_error(err);
	if (task_add_files(&r.files, r.given, err) < 0 || lent_open(&r.lent, settings, err) < 0 ||
	    open_session(&r, err) < 0) {
		task_release(&r.files);
		lent_close(r.lent);
		return exit_code_of_error(err);
	}
	ulid_new(clock_wall_ms(), r.session_id);
	r.session.loop.session = r.session_id;
	if (goes_on && repl_continue(&r, run, err) < 0) {
		repl_reset(&r);
		context_release(&r.context);
		session_close(&r.session);
		lent_close(r.lent);
		return exit_code_of_error(err);
	}
	free(r.context.name);
	r.context.name = mem_strdup(r.session_id);
	r.fresh = settings->options->given[OPT_FRESH].count > 0;
	open_lines(&r);
	greet(&r);
	console_log(&settings->app->terminal, r.session.audit);
	int code = converse(&r);
	line_close(&r.lines);
	repl_reset(&r);
	context_release(&r.context);
	if (r.has_last)
		loop_result_release(&r.last);
	free(r.last_question);
	free(r.tag);
	session_close(&r.session);
	lent_close(r.lent);
	return code;
}
