#include "agent/line.h"

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
static int terminal(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? STDIN_FILENO : fd;
}

enum key { KEY_READ, KEY_END, KEY_INTERRUPTED };

static enum key next_key(int cancel_fd, unsigned char *ret)
{
	ssize_t n;

	do {
		if (!wait_for_input(cancel_fd))
			return KEY_INTERRUPTED;
		n = read(terminal(), ret, 1);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n == 1 ? KEY_READ : KEY_END;
}

/* --- without an editor --- */

static enum line_end read_plain(const char *prompt, int cancel_fd, char **ret_line)
{
	size_t len = 0, cap = 0;
	enum key key;
	unsigned char c;
	char *line = NULL;

	fputs(prompt, stderr);
	while ((key = next_key(cancel_fd, &c)) == KEY_READ && c != '\n') {
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

#define LIBRARY "libreadline.so.8"
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

#define SYMBOL(name) { #name, offsetof(struct api, name) }
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	SYMBOL(readline), SYMBOL(rl_initialize), SYMBOL(rl_bind_key), SYMBOL(rl_bind_keyseq),
	SYMBOL(rl_variable_bind), SYMBOL(rl_insert), SYMBOL(rl_insert_text),
	SYMBOL(rl_replace_line), SYMBOL(rl_getc_function),
	SYMBOL(rl_readline_name), SYMBOL(rl_catch_signals), SYMBOL(rl_outstream), SYMBOL(rl_done),
	SYMBOL(using_history), SYMBOL(stifle_history), SYMBOL(read_history),
	SYMBOL(write_history), SYMBOL(append_history), SYMBOL(add_history), SYMBOL(history_get),
	SYMBOL(history_base), SYMBOL(history_length), SYMBOL(history_comment_char),
	SYMBOL(history_write_timestamps),
};

static int reader_cancel_fd = -1;
static bool interrupted;
static char *history_path;

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
	enum key key = next_key(reader_cancel_fd, &c);

	(void)stream;
	if (key == KEY_READ)
		return c;
	if (key == KEY_END)
		return EOF;
	interrupted = true;
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
	static bool done;

	if (done)
		return;
	done = true;
	*api.rl_readline_name = "assay";
	*api.rl_catch_signals = 0;
	*api.rl_getc_function = read_key;
	*api.rl_outstream = stderr;
	api.rl_variable_bind("enable-bracketed-paste", "on");
	api.rl_initialize();
	api.rl_bind_key('\n', insert_newline);		/* Ctrl-J; Enter sends \r */
	api.rl_bind_keyseq("\\e\\C-m", insert_newline);	/* Alt-Enter */
	api.rl_bind_key('\t', api.rl_insert);
}

enum line_end line_read(const char *prompt, int cancel_fd, char **ret_line)
{
	char *line;

	if (!load())
		return read_plain(prompt, cancel_fd, ret_line);
	set_up();
	reader_cancel_fd = cancel_fd;
	interrupted = false;
	line = api.readline(prompt);
	if (interrupted) {
		free(line);
		return LINE_INTERRUPTED;
	}
	if (!line)
		return LINE_EOF;
	*ret_line = line;
	return LINE_GIVEN;
}

void line_history_open(const char *path)
{
	if (!load())
		return;
	api.using_history();
	/* Times between entries: those of several lines stay whole. */
	*api.history_comment_char = '#';
	*api.history_write_timestamps = 1;
	api.stifle_history(HISTORY_MAX);
	history_path = mem_strdup(path);
	if (path)
		api.read_history(path);
}

static const char *newest(void)
{
	const HIST_ENTRY *entry = *api.history_length == 0 ? NULL :
		api.history_get(*api.history_base + *api.history_length - 1);

	return entry ? entry->line : NULL;
}

void line_history_add(const char *line)
{
	mode_t mask;

	if (!load() || (newest() && !strcmp(newest(), line)))
		return;
	api.add_history(line);
	if (!history_path)
		return;
	mask = umask(077);
	if (api.append_history(1, history_path) != 0)
		api.write_history(history_path);	/* the first time: there is no file yet */
	umask(mask);
}

#else

enum line_end line_read(const char *prompt, int cancel_fd, char **ret_line)
{
	return read_plain(prompt, cancel_fd, ret_line);
}

void line_history_open(const char *path)
{
	(void)path;
}

void line_history_add(const char *line)
{
	(void)line;
}

#endif
