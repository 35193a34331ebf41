/*
 * Reading a line that a person types. readline is loaded when the first source is opened, and
 * stays; what it has but one of for a process (its table, whose line it reads) is said where it
 * stands. Nothing here knows what a line means.
 */
#include "agent/cli/terminal/line.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Waits for a byte of stdin; false when a signal came first. */
static bool wait_for_input(int cancel_fd)
{
	struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { cancel_fd, POLLIN, 0 } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/*
 * The terminal once more, for reads that never block: Ctrl-C empties its queue,
 * so that what poll has seen may be gone before it is read, and a read that
 * waits then would wait for the next key with the interruption unseen. A flag
 * on stdin itself would be our parent's, too.
 */
static int open_terminal(void)
{
	return open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

enum key { KEY_READ, KEY_END, KEY_INTERRUPTED };

static enum key next_key(const struct line_source *s, unsigned char *ret)
{
	ssize_t n;

	do {
		if (!wait_for_input(s->cancel_fd))
			return KEY_INTERRUPTED;
		n = read(s->terminal < 0 ? STDIN_FILENO : s->terminal, ret, 1);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n == 1 ? KEY_READ : KEY_END;
}

/* --- without an editor --- */

static enum line_end read_plain(const struct line_source *s, const char *prompt, char **ret_line)
{
	size_t len = 0, cap = 0;
	enum key key;
	unsigned char c;
	char *line = NULL;

	fputs(prompt, stderr);
	while ((key = next_key(s, &c)) == KEY_READ && c != '\n') {
		if (len + 1 >= cap) {
			cap = cap ? cap * 2 : 256;
			line = mem_realloc(line, cap);
		}
		line[len++] = (char)c;
	}
	if (key == KEY_INTERRUPTED || (key == KEY_END && !len)) {
		free(line);
		return key == KEY_END ? LINE_EOF : LINE_INTERRUPTED;
	}
	line = mem_realloc(line, len + 1);
	line[len] = '\0';
	*ret_line = line;
	return LINE_GIVEN;
}

#ifdef LINE_EDITOR_readline

#include <readline/history.h>
#include <readline/readline.h>

/* --- with readline --- */

#define LIBRARY	    "libreadline.so.8"
#define HISTORY_MAX 10000

/* What of it is in use, found once: only the conversation needs it, and loading it with the
 * program would cost every command a quarter of a millisecond. */
static struct api {
	__typeof__(readline) *readline;
	__typeof__(rl_initialize) *rl_initialize;
	__typeof__(rl_bind_key) *rl_bind_key;
	__typeof__(rl_bind_keyseq) *rl_bind_keyseq;
	__typeof__(rl_variable_bind) *rl_variable_bind;
	__typeof__(rl_insert) *rl_insert;
	__typeof__(rl_insert_text) *rl_insert_text;
	__typeof__(rl_replace_line) *rl_replace_line;
	__typeof__(rl_getc_function) *rl_getc_function;
	__typeof__(rl_readline_name) *rl_readline_name;
	__typeof__(rl_catch_signals) *rl_catch_signals;
	__typeof__(rl_outstream) *rl_outstream;
	__typeof__(rl_done) *rl_done;
	__typeof__(using_history) *using_history;
	__typeof__(stifle_history) *stifle_history;
	__typeof__(read_history) *read_history;
	__typeof__(write_history) *write_history;
	__typeof__(append_history) *append_history;
	__typeof__(add_history) *add_history;
	__typeof__(history_get) *history_get;
	__typeof__(history_base) *history_base;
	__typeof__(history_length) *history_length;
	__typeof__(history_comment_char) *history_comment_char;
	__typeof__(history_write_timestamps) *history_write_timestamps;
} api;

#define SYMBOL(name)                              \
	{                                         \
#name, offsetof(struct api, name) \
	}
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	SYMBOL(readline),	  SYMBOL(rl_initialize),	SYMBOL(rl_bind_key),
	SYMBOL(rl_bind_keyseq),	  SYMBOL(rl_variable_bind),	SYMBOL(rl_insert),
	SYMBOL(rl_insert_text),	  SYMBOL(rl_replace_line),	SYMBOL(rl_getc_function),
	SYMBOL(rl_readline_name), SYMBOL(rl_catch_signals),	SYMBOL(rl_outstream),
	SYMBOL(rl_done),	  SYMBOL(using_history),	SYMBOL(stifle_history),
	SYMBOL(read_history),	  SYMBOL(write_history),	SYMBOL(append_history),
	SYMBOL(add_history),	  SYMBOL(history_get),		SYMBOL(history_base),
	SYMBOL(history_length),	  SYMBOL(history_comment_char), SYMBOL(history_write_timestamps),
};

/* Whose line is being read: readline asks for a key without saying for whom. */
static struct line_source *reading;

/* False: not installed, or not as this was compiled for. */
static bool load(void)
{
	static enum { UNTRIED, LOADED, MISSING } state;
	void *library, *symbol;
	size_t i;

	if (state != UNTRIED)
		return state == LOADED;
	state = MISSING;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (i = 0; library && i < ARRAY_SIZE(symbols); i++) {
		symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return false;
		/* A pointer to data and one to a function have one size wherever we run. */
		memcpy((char *)&api + symbols[i].offset, &symbol, sizeof(symbol));
	}
	state = library ? LOADED : MISSING;
	return state == LOADED;
}

static int read_key(FILE *stream)
{
	unsigned char c;
	enum key key = next_key(reading, &c);

	(void)stream;
	if (key == KEY_READ)
		return c;
	if (key == KEY_END)
		return EOF;
	reading->interrupted = true;
	api.rl_replace_line("", 0);
	*api.rl_done = 1;
	return 0;
}

static int insert_newline(int count, int key)
{
	(void)count;
	(void)key;
	api.rl_insert_text("\n");
	return 0;
}

static void set_up(void)
{
	*api.rl_readline_name = "assay";
	*api.rl_catch_signals = 0;
	*api.rl_getc_function = read_key;
	*api.rl_outstream = stderr;
	api.rl_variable_bind("enable-bracketed-paste", "on");
	api.rl_initialize();
	api.rl_bind_key('\n', insert_newline);		/* Ctrl-J; Enter sends \r */
	api.rl_bind_keyseq("\\e\\C-m", insert_newline); /* Alt-Enter */
	api.rl_bind_key('\t', api.rl_insert);
}

static void open_history(const char *path)
{
	api.using_history();
	/* Times between entries: those of several lines stay whole. */
	*api.history_comment_char = '#';
	*api.history_write_timestamps = 1;
	api.stifle_history(HISTORY_MAX);
	if (path)
		api.read_history(path);
}

static bool open_editor(const char *history_path)
{
	if (!load())
		return false;
	open_history(history_path);
	set_up();
	return true;
}

static enum line_end read_edited(struct line_source *s, const char *prompt, char **ret_line)
{
	char *line;

	reading = s;
	s->interrupted = false;
	line = api.readline(prompt);
	reading = NULL;
	if (s->interrupted) {
		free(line);
		return LINE_INTERRUPTED;
	}
	if (!line)
		return LINE_EOF;
	*ret_line = line;
	return LINE_GIVEN;
}

static const char *newest(void)
{
	const HIST_ENTRY *entry =
		*api.history_length == 0 ?
			NULL :
			api.history_get(*api.history_base + *api.history_length - 1);

	return entry ? entry->line : NULL;
}

static void keep_line(const struct line_source *s, const char *line)
{
	mode_t mask;

	if (newest() && !strcmp(newest(), line))
		return;
	api.add_history(line);
	if (!s->history)
		return;
	mask = umask(077);
	if (api.append_history(1, s->history) != 0)
		api.write_history(s->history); /* the first time: there is no file yet */
	umask(mask);
}

#else

static bool open_editor(const char *history_path)
{
	(void)history_path;
	return false;
}

static enum line_end read_edited(struct line_source *s, const char *prompt, char **ret_line)
{
	return read_plain(s, prompt, ret_line);
}

static void keep_line(const struct line_source *s, const char *line)
{
	(void)s;
	(void)line;
}

#endif

void line_open(struct line_source *s, int cancel_fd, const char *history_path)
{
	*s = (struct line_source){ .cancel_fd = cancel_fd,
				   .terminal = open_terminal(),
				   .history = mem_strdup(history_path),
				   .editor = open_editor(history_path) };
}

void line_close(struct line_source *s)
{
	if (s->terminal >= 0)
		close(s->terminal);
	free(s->history);
	*s = (struct line_source){ .cancel_fd = -1, .terminal = -1 };
}

enum line_end line_read(struct line_source *s, const char *prompt, char **ret_line)
{
	return s->editor ? read_edited(s, prompt, ret_line) : read_plain(s, prompt, ret_line);
}

void line_history_add(struct line_source *s, const char *line)
{
	if (s->editor)
		keep_line(s, line);
}
