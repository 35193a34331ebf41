/*
 * /save, /open and /copy: the last program to a file, what it left to another program and to the
 * clipboard. Only files that were saved of it are opened, by their place, and by the person's own
 * opener without a shell.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/app.h"
#include "agent/cli/artifacts.h"
#include "agent/cli/save.h"
#include "agent/cli/save_recorded.h"
#include "agent/cli/terminal/sequence.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPENER	     "xdg-open"
#define OPENER_MS    2000
#define PICTURES_MAX 3

static char *folder_of(const struct repl *r)
{
	const char *out = settings_text(r->given, OPT_OUT, NULL);

	return out ? mem_strdup(out) : artifacts_folder(r->last.run);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Where the nth file was saved; NULL when it was not. */
static char *saved_path(const struct repl *r, size_t n)
{
	const struct sandbox_artifact *a = &r->last.execution.artifacts[n];
	cleanup_free char *folder = folder_of(r);
	char *path = a->kept ? mem_printf("%s/%s", folder, a->path) : NULL;

	if (path && is_there(path))
		return path;
	free(path);
	return NULL;
}

static size_t saved_count(const struct repl *r)
{
	return r->has_last && r->last.executed ? r->last.execution.artifact_count : 0;
}

/* What is not there any more, or was saved in another folder before the turn was continued. */
static void save_again(const struct repl *r)
{
	struct error err = ERROR_INIT;

	if (session_save_artifacts(r->term, settings_text(r->given, OPT_OUT, NULL),
				   r->given->db_path, &r->last, &err) < 0)
		term_error(r->term, "%s", err.message);
}

/* The one of that name, or the first where none is named; NULL: none. */
static char *chosen(const struct repl *r, const char *name)
{
	for (size_t i = 0; i < saved_count(r); i++) {
		if (*name && strcmp(r->last.execution.artifacts[i].path, name))
			continue;
		char *path = saved_path(r, i);
		if (path)
			return path;
		save_again(r);
		return saved_path(r, i);
	}
	return NULL;
}

/* Of a program that ends soon its exit code; -1: it goes on, and shows the file itself. */
static int early_exit(pid_t pid, int cancel_fd)
{
	cleanup_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
				{ .fd = cancel_fd, .events = POLLIN } };
	siginfo_t info = { .si_pid = 0 };

	if (fd >= 0)
		poll(fds, ARRAY_SIZE(fds), OPENER_MS);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) < 0 || !info.si_pid)
		return -1;
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static int open_with(const char *opener, char *path, pid_t *ret_pid)
{
	cleanup_free char *program = mem_strdup(opener);
	char *argv[] = { program, path, NULL };
	posix_spawn_file_actions_t nowhere;

	posix_spawn_file_actions_init(&nowhere);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&nowhere, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_t alone;
	posix_spawnattr_init(&alone);
	posix_spawnattr_setflags(&alone, POSIX_SPAWN_SETSID);
	extern char **environ;
	int rc = posix_spawnp(ret_pid, opener, &nowhere, &alone, argv, environ);
	posix_spawnattr_destroy(&alone);
	posix_spawn_file_actions_destroy(&nowhere);
	return rc;
}

void repl_open(struct repl *r, const char *argument)
{
	cleanup_free char *path = chosen(r, argument), *whole = path ? realpath(path, NULL) : NULL;

	if (!whole && *argument)
		term_error(r->term, "the last program left no file %s that was saved", argument);
	else if (!whole)
		term_error(r->term, "the last program left no file that was saved");
	if (!whole)
		return;
	pid_t pid;
	int rc = open_with(OPENER, whole, &pid);
	int status = rc ? 0 : early_exit(pid, r->given->app->cancel_fd);
	if (rc)
		term_error(r->term, OPENER " (Debian: xdg-utils): %s; the file is %s", strerror(rc),
			   whole);
	else if (status > 0)
		term_error(r->term,
			   OPENER " ended with status %d and opened nothing; the file is %s",
			   status, whole);
	else if (status < 0)
		term_note(r->term, TERM_DIM, "opening %s\n", path);
	else
		term_note(r->term, TERM_DIM, "opened %s\n", path);
}

/* False when another would not be shown either. */
static bool show_picture(struct repl *r, const struct sandbox_artifact *a)
{
	const struct sandbox_file file = { "picture", a->bytes, (size_t)a->size };

	if (!r->asked_form)
		r->form = picture_form_of_terminal();
	r->asked_form = true;
	term_busy(r->term, "drawing ...");
	struct error err = ERROR_INIT;
	if (picture_show(r->term, r->session.sandbox, r->given->app->cancel_fd, &file, r->form,
			 &err) == 0)
		return true;
	term_note(r->term, TERM_DIM, "%s\n", err.message);
	return err.kind == ERR_FAILED;
}

void repl_show_pictures(struct repl *r, const struct loop_result *result)
{
	if (!result->executed || !term_can_block(r->term))
		return;
	size_t shown = 0;
	for (size_t i = 0; i < result->execution.artifact_count && shown < PICTURES_MAX; i++) {
		const struct sandbox_artifact *a = &result->execution.artifacts[i];

		if (!a->kept || !picture_is(a->type))
			continue;
		shown++;
		if (!show_picture(r, a))
			return;
	}
}

void repl_copy(struct repl *r, const char *argument)
{
	const struct sandbox_stream *out = &r->last.execution.out;

	if (!repl_need_last(r, "nothing to copy yet"))
		return;
	struct error err = ERROR_INIT;
	int rc = 0;
	if (!strcmp(argument, "code") && r->last.code)
		rc = sequence_copy(r->term, r->last.code, r->last.code_len, &err);
	else if (!strcmp(argument, "output") && r->last.executed)
		rc = sequence_copy(r->term, out->bytes ? out->bytes : "", out->len, &err);
	else if (!*argument && r->last.answer)
		rc = sequence_copy(r->term, r->last.answer, strlen(r->last.answer), &err);
	else
		error_set(&err, ERR_USAGE,
			  "/copy takes code, output or nothing (the answer), of "
			  "what there is");
	if (rc < 0 || err.kind != ERR_NONE)
		term_error(r->term, "%s", err.message);
	else
		term_note(r->term, TERM_DIM, "copied\n");
}

void repl_offer_saved(struct repl *r, struct choices *c, const char *word)
{
	for (size_t i = 0; i < saved_count(r); i++) {
		cleanup_free char *path = saved_path(r, i);

		if (path)
			choices_add(c, word, r->last.execution.artifacts[i].path);
	}
}

/* The program of the last turn that was not taken back. */
static const char *kept_code(const struct repl *r)
{
	const struct task_turn *turn = r->turn_count ? &r->turns[r->turn_count - 1] : NULL;

	return turn && turn->code ? turn->code : r->last.code;
}

static const char *kept_lang(const struct repl *r)
{
	const struct task_turn *turn = r->turn_count ? &r->turns[r->turn_count - 1] : NULL;

	return turn && turn->code ? turn->lang : r->last.language;
}

/* Whether it is the context's last: what it stands on is saved with it. */
static bool is_last_cell(const struct repl *r)
{
	const struct context *c = &r->context;
	const struct context_cell *last = c->count > c->from ? &c->cells[c->count - 1] : NULL;
	const char *code = kept_code(r);

	return last && r->turn_count && last->len == strlen(code) &&
	       !memcmp(last->code, code, last->len);
}

/* The context is the conversation's, or the record's. */
static void save_cells(struct repl *r, const struct context *context, const struct task *task,
		       const char *path)
{
	const struct task_turn *turn = &r->turns[r->turn_count - 1];
	struct session *x = &r->session;
	cleanup_saved struct saved saved = { .reason = NULL };
	struct error err = ERROR_INIT;
	const struct save s = {
		.term = r->term,
		.loop = &x->loop,
		.live = &x->live,
		.context = context,
		.task = task,
		.question = turn->question,
		.answer = turn->answer,
		.output = turn->output ? turn->output : "",
		.output_len = turn->output ? strlen(turn->output) : 0,
		.could_call = x->loop.tools,
		.path = path,
	};

	if (save_context(&s, &saved, &err) < 0)
		term_error(r->term, "%s", err.message);
	else
		save_tell(&s, &saved);
}

static bool is_document(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".ipynb") || !strcmp(dot, ".md"));
}

/* Of a program that left nothing there is nothing to be proven. */
static void save_alone(const struct repl *r, const char *path, const char *why)
{
	const char *code = kept_code(r);
	struct error err = ERROR_INIT;

	if (is_document(path)) {
		term_error(r->term, "%s: %s; it can be saved as a program, by another ending", path,
			   why);
		return;
	}
	if (io_replace_file(path, code, strlen(code), 0644, &err) < 0) {
		term_error(r->term, "%s", err.message);
		return;
	}
	term_note(r->term, TERM_DIM, "the program is in %s\n", path);
	term_line(r->term, TERM_YELLOW, 0, "not run from nothing: %s", why);
	save_tell_ending(r->term, path, kept_lang(r));
}

/* With --fresh, what the program started from is in the record of its run. */
static void save_recorded(struct repl *r, const char *path)
{
	const char *run = r->turn_count ? r->before[r->turn_count - 1].run : "";
	cleanup_save_recorded struct save_recorded recorded = { .output = NULL };
	struct error err = ERROR_INIT;

	if (!*run)
		save_alone(r, path, "its run is not known any more");
	else if (save_recorded_load(&recorded, r->session.audit, run, &err) < 0)
		save_alone(r, path, err.message);
	else
		save_cells(r, &recorded.context, &recorded.task.task, path);
}

void repl_save(struct repl *r, const char *path)
{
	if (is_last_cell(r))
		save_cells(r, &r->context, &r->files, path);
	else
		save_recorded(r, path);
}
