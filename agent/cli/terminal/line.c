/*
 * Reading a line that a person types. readline is loaded when the first source is opened, and
 * stays; what it has but one of for a process (its table, whose line it reads) is said where it
 * stands. Nothing here knows what a line means.
 */
#include "agent/cli/terminal/line.h"

#include "agent/cli/terminal/keyboard.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_MAX ((size_t)1 << 20)

enum key { KEY_READ, KEY_END, KEY_INTERRUPTED, KEY_NONE };

/* Waits for a byte of stdin: KEY_READ; KEY_NONE when a signal came that ends nothing. */
static enum key wait_for_input(int cancel_fd)
{
	struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { cancel_fd, POLLIN, 0 } };

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? KEY_NONE : KEY_READ;
	return fds[1].revents ? KEY_INTERRUPTED : KEY_READ;
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

/* KEY_NONE: the size of the terminal may have changed. */
static enum key next_key(const struct line_source *s, unsigned char *ret)
{
	if (keyboard_held(ret))
		return KEY_READ;
	ssize_t n;
	do {
		enum key waited = wait_for_input(s->cancel_fd);
		if (waited != KEY_READ)
			return waited;
		n = read(s->terminal < 0 ? STDIN_FILENO : s->terminal, ret, 1);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n == 1 ? KEY_READ : KEY_END;
}

/* --- without an editor --- */

/* What was typed too early, which the terminal did not show. */
static enum key held_key(unsigned char *ret)
{
	if (!keyboard_held(ret))
		return KEY_NONE;
	*ret = *ret == '\r' ? '\n' : *ret;
	if (*ret == '\n' || *ret >= ' ')
		fputc(*ret, stderr);
	return KEY_READ;
}

static enum line_end read_plain(const struct line_source *s, const char *prompt, char **ret_line)
{
	cleanup_buf struct buf line = BUF_INIT(PLAIN_MAX);

	fputs(prompt, stderr);
	keyboard_lend();
	enum key key;
	unsigned char c;
	do {
		key = held_key(&c);
		key = key == KEY_NONE ? next_key(s, &c) : key;
		if (key == KEY_READ && c != '\n')
			buf_addch(&line, (char)c);
	} while (key == KEY_NONE || (key == KEY_READ && c != '\n'));
	keyboard_take_back();
	if (key == KEY_INTERRUPTED || (key == KEY_END && !line.len)) {
		fputs("\n", stderr);
		/* What stood in the line was the terminal's, which has dropped it. */
		return key == KEY_END ? LINE_EOF : LINE_INTERRUPTED;
	}
	*ret_line = buf_take(&line, NULL);
	return LINE_GIVEN;
}

#ifdef LINE_EDITOR_readline

#include <readline/history.h>
#include <readline/readline.h>

/* --- with readline --- */

#define LIBRARY	    "libreadline.so.8"
#define HISTORY_MAX 10000
#define PASTE_MAX   ((size_t)64 << 20)

/* What of it is in use, found once: only the conversation needs it, and loading it with the
 * program would cost every command a quarter of a millisecond. */
static struct api {
	__typeof__(readline) *readline;
	__typeof__(rl_initialize) *rl_initialize;
	__typeof__(rl_bind_key) *rl_bind_key;
	__typeof__(rl_bind_keyseq) *rl_bind_keyseq;
	__typeof__(rl_variable_bind) *rl_variable_bind;
	__typeof__(rl_insert_text) *rl_insert_text;
	__typeof__(rl_replace_line) *rl_replace_line;
	__typeof__(rl_getc_function) *rl_getc_function;
	__typeof__(rl_readline_name) *rl_readline_name;
	__typeof__(rl_catch_signals) *rl_catch_signals;
	__typeof__(rl_outstream) *rl_outstream;
	__typeof__(rl_done) *rl_done;
	__typeof__(rl_line_buffer) *rl_line_buffer;
	__typeof__(rl_point) *rl_point;
	__typeof__(rl_end) *rl_end;
	__typeof__(rl_read_key) *rl_read_key;
	__typeof__(rl_delete_text) *rl_delete_text;
	__typeof__(rl_on_new_line) *rl_on_new_line;
	__typeof__(rl_redisplay) *rl_redisplay;
	__typeof__(rl_ding) *rl_ding;
	__typeof__(rl_resize_terminal) *rl_resize_terminal;
	__typeof__(rl_forced_update_display) *rl_forced_update_display;
	__typeof__(rl_tty_set_echoing) *rl_tty_set_echoing;
	__typeof__(rl_prep_term_function) *rl_prep_term_function;
	__typeof__(rl_deprep_term_function) *rl_deprep_term_function;
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
	SYMBOL(readline),
	SYMBOL(rl_initialize),
	SYMBOL(rl_bind_key),
	SYMBOL(rl_bind_keyseq),
	SYMBOL(rl_variable_bind),
	SYMBOL(rl_insert_text),
	SYMBOL(rl_replace_line),
	SYMBOL(rl_getc_function),
	SYMBOL(rl_readline_name),
	SYMBOL(rl_catch_signals),
	SYMBOL(rl_outstream),
	SYMBOL(rl_done),
	SYMBOL(rl_line_buffer),
	SYMBOL(rl_point),
	SYMBOL(rl_end),
	SYMBOL(rl_read_key),
	SYMBOL(rl_delete_text),
	SYMBOL(rl_on_new_line),
	SYMBOL(rl_redisplay),
	SYMBOL(rl_ding),
	SYMBOL(rl_resize_terminal),
	SYMBOL(rl_forced_update_display),
	SYMBOL(rl_tty_set_echoing),
	SYMBOL(rl_prep_term_function),
	SYMBOL(rl_deprep_term_function),
	SYMBOL(using_history),
	SYMBOL(stifle_history),
	SYMBOL(read_history),
	SYMBOL(write_history),
	SYMBOL(append_history),
	SYMBOL(add_history),
	SYMBOL(history_get),
	SYMBOL(history_base),
	SYMBOL(history_length),
	SYMBOL(history_comment_char),
	SYMBOL(history_write_timestamps),
};

/* Whose line is being read: readline asks for a key without saying for whom. */
static struct line_source *reading;

/* False: not installed, or not as this was compiled for. */
static bool load(void)
{
	static enum { UNTRIED, LOADED, MISSING } state;

	if (state != UNTRIED)
		return state == LOADED;
	state = MISSING;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return false;
		/* A pointer to data and one to a function have one size wherever we run. */
		memcpy((char *)&api + symbols[i].offset, &symbol, sizeof(symbol));
	}
	state = library ? LOADED : MISSING;
	return state == LOADED;
}

/* Moves below all lines of what is typed, which stays to be seen. */
static void leave_line(const char *mark)
{
	*api.rl_point = *api.rl_end;
	api.rl_redisplay();
	fprintf(stderr, "%s\n", mark);
}

static int read_key(FILE *stream)
{
	(void)stream;
	unsigned char c;
	enum key key;
	while ((key = next_key(reading, &c)) == KEY_NONE) {
		api.rl_resize_terminal();
		if (keyboard_came_back())
			api.rl_forced_update_display();
	}
	if (key == KEY_READ)
		return c;
	if (key == KEY_END)
		return EOF;
	if (!reading->interrupted) {
		reading->interrupted = true;
		reading->typed = *api.rl_end > 0;
		leave_line("^C");
	}
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

/* The text up to the mark that ends it; false when it was given up. */
static bool read_paste(struct buf *text)
{
	static const char end[] = "\033[201~";
	const size_t len = sizeof(end) - 1;
	size_t matched = 0;

	while (matched < len) {
		int c = api.rl_read_key();

		if (c < 0 || reading->interrupted)
			return false;
		buf_addch(text, (char)(c == '\r' ? '\n' : c));
		matched = c == end[matched] ? matched + 1 : (size_t)(c == *end);
	}
	if (!text->overflow)
		buf_truncate(text, text->len - len);
	return !memchr(text->data, '\0', text->len);
}

static int on_paste(int count, int key)
{
	cleanup_buf struct buf text = BUF_INIT(PASTE_MAX);

	(void)count;
	(void)key;
	if (!read_paste(&text) || text.overflow) {
		api.rl_ding();
		return 0;
	}
	cleanup_free char *shown =
		pastes_fold(&reading->pastes, text.data ? text.data : "", text.len);
	api.rl_insert_text(shown);
	return 0;
}

static void list_choices(const struct choices *c)
{
	cleanup_buf struct buf list = BUF_INIT((size_t)1 << 20);
	int point = *api.rl_point;

	choices_list(c, term_columns(), &list);
	leave_line("");
	fputs(list.data, stderr);
	*api.rl_point = point;
	api.rl_on_new_line();
	api.rl_redisplay();
}

static int on_tab(int count, int key)
{
	const struct chooser *who = &reading->chooser;
	cleanup_free char *line = mem_strndup(*api.rl_line_buffer, (size_t)*api.rl_point);
	cleanup_choices struct choices c = { .words = NULL };

	(void)count;
	(void)key;
	if (who->find)
		who->find(who->self, line, &c);
	size_t common = choices_common(&c);
	if (!c.count)
		return api.rl_ding();
	if (c.count > 1 && common <= strlen(line) - c.from) {
		list_choices(&c);
		return 0;
	}
	cleanup_free char *word =
		mem_printf("%.*s%s", (int)common, c.words[0],
			   c.count == 1 && common && c.words[0][common - 1] != '/' ? " " : "");
	api.rl_delete_text((int)c.from, *api.rl_point);
	*api.rl_point = (int)c.from;
	api.rl_insert_text(word);
	return 0;
}

/* The keyboard is in its modes between two lines, too (keyboard.h). */
static void prepare_terminal(int meta)
{
	(void)meta;
	keyboard_prepare();
	keyboard_came_back();
	api.rl_tty_set_echoing(1);
}

static void leave_terminal(void)
{
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
	api.rl_bind_key('\t', on_tab);
	api.rl_bind_keyseq("\\e[200~", on_paste);
	*api.rl_prep_term_function = prepare_terminal;
	*api.rl_deprep_term_function = leave_terminal;
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
	/* What has no width is marked so for readline. */
	cleanup_free char *bold = mem_printf("\001\033[1m\002%s\001\033[0m\002", prompt);

	reading = s;
	s->interrupted = s->typed = false;
	char *line = api.readline(term_has_color(s->term) ? bold : prompt);
	reading = NULL;
	if (s->interrupted) {
		free(line);
		return s->typed ? LINE_CLEARED : LINE_INTERRUPTED;
	}
	if (!line) {
		fputs("\n", stderr);
		return LINE_EOF;
	}
	*ret_line = pastes_unfold(&s->pastes, line);
	free(s->folded);
	s->folded = *ret_line ? line : NULL;
	*ret_line = *ret_line ? *ret_line : line;
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
	if (newest() && !strcmp(newest(), line))
		return;
	api.add_history(s->folded ? s->folded : line);
	if (!s->history || s->folded) /* what its word stands for ends with the session */
		return;
	/* The first time there is no file yet, and it is nobody else's to read. */
	cleanup_close int fd = io_open(s->history, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		api.append_history(1, s->history);
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

void line_open(struct line_source *s, struct terminal *term, int cancel_fd,
	       const char *history_path)
{
	*s = (struct line_source){ .term = term,
				   .cancel_fd = cancel_fd,
				   .terminal = open_terminal(),
				   .history = mem_strdup(history_path),
				   .editor = open_editor(history_path) };
	keyboard_open(s->terminal, s->editor);
}

void line_close(struct line_source *s)
{
	keyboard_close();
	if (s->terminal >= 0)
		close(s->terminal);
	pastes_release(&s->pastes);
	free(s->folded);
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
