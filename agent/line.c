#include "agent/line.h"

#include "base/mem.h"

#include <errno.h>
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

#ifdef LINE_EDITOR_readline

#include <readline/history.h>
#include <readline/readline.h>

#define HISTORY_MAX 10000

static int reader_cancel_fd = -1;
static bool interrupted;
static char *history_path;

static int read_key(FILE *stream)
{
	if (!wait_for_input(reader_cancel_fd)) {
		interrupted = true;
		rl_replace_line("", 0);
		rl_done = 1;
		return 0;
	}
	return rl_getc(stream);
}

static int insert_newline(int count, int key)
{
	(void)count;
	(void)key;
	rl_insert_text("\n");
	return 0;
}

static void set_up(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	rl_readline_name = "assay";
	rl_catch_signals = 0;
	rl_getc_function = read_key;
	rl_outstream = stderr;
	rl_variable_bind("enable-bracketed-paste", "on");
	rl_initialize();
	rl_bind_key('\n', insert_newline);		/* Ctrl-J; Enter sends \r */
	rl_bind_keyseq("\\e\\C-m", insert_newline);	/* Alt-Enter */
	rl_bind_key('\t', rl_insert);
}

enum line_end line_read(const char *prompt, int cancel_fd, char **ret_line)
{
	char *line;

	set_up();
	reader_cancel_fd = cancel_fd;
	interrupted = false;
	line = readline(prompt);
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
	using_history();
	history_comment_char = '#';	/* times between entries: those of several lines stay whole */
	history_write_timestamps = 1;
	stifle_history(HISTORY_MAX);
	history_path = mem_strdup(path);
	if (path)
		read_history(path);
}

void line_history_add(const char *line)
{
	const HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
	mode_t mask;

	if (last && !strcmp(last->line, line))
		return;
	add_history(line);
	if (!history_path)
		return;
	mask = umask(077);
	if (append_history(1, history_path) != 0)
		write_history(history_path);	/* the first time: there is no file yet */
	umask(mask);
}

#else

enum line_end line_read(const char *prompt, int cancel_fd, char **ret_line)
{
	size_t len = 0, cap = 0;
	char *line = NULL, c;

	fputs(prompt, stderr);
	for (;;) {
		if (!wait_for_input(cancel_fd)) {
			free(line);
			return LINE_INTERRUPTED;
		}
		if (read(STDIN_FILENO, &c, 1) != 1) {
			if (len)
				break;
			free(line);
			return LINE_EOF;
		}
		if (c == '\n')
			break;
		if (len + 1 >= cap) {
			cap = cap ? cap * 2 : 256;
			line = mem_realloc(line, cap);
		}
		line[len++] = c;
	}
	line = mem_realloc(line, len + 1);
	line[len] = '\0';
	*ret_line = line;
	return LINE_GIVEN;
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
