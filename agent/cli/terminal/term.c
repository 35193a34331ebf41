/*
 * Writing to the terminal. All text from outside passes here on its way to one, and none does
 * with a control character in it. Nothing here reads, and nothing decides what is said.
 */
#include "agent/cli/terminal/term.h"

#include "agent/cli/terminal/fold.h"
#include "agent/cli/terminal/highlight.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX	((size_t)4 << 20)
#define COLUMNS_DEFAULT 80
#define ROWS_DEFAULT	24
#define UTF8_LEN_MAX	sizeof(((struct term_held *)NULL)->bytes)

/* The live line of a stage that says nothing by itself: a timer shows how long
 * it has taken. Written by the main program, read by the signal handler, which is given
 * a number and nothing else: a process has one such timer, and who drew last has it. */
static struct {
	char line[256]; /* with its escape sequences, without the time */
	size_t len, width;
	time_t began; /* CLOCK_MONOTONIC, seconds */
	volatile sig_atomic_t on;
	const struct terminal *of; /* no other stops it */
} ticking;

static const char *const sequences[] = {
	[TERM_PLAIN] = "",	  [TERM_BOLD] = "\033[1m",   [TERM_DIM] = "\033[2m",
	[TERM_RED] = "\033[31m",  [TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m",
	[TERM_BLUE] = "\033[34m", [TERM_CYAN] = "\033[36m",
};
#define SEQUENCE_OFF "\033[0m"

void term_set(struct terminal *term, bool color, bool quiet)
{
	term->color = color;
	term->quiet = quiet ? TERM_QUIET : 0;
}

bool term_hush(struct terminal *term, bool hushed)
{
	bool before = term->quiet & TERM_HUSHED;

	if (before != hushed)
		term->quiet = (term->quiet & TERM_QUIET) | (hushed ? TERM_HUSHED : 0);
	return before;
}

bool term_has_color(const struct terminal *term)
{
	return term->color;
}

void term_set_out(struct terminal *term, bool color)
{
	term->out_color = color;
}

void term_set_out_visible(struct terminal *term)
{
	term->out_visible = true;
}

static bool window_size(struct winsize *ret)
{
	return ioctl(STDERR_FILENO, TIOCGWINSZ, ret) == 0 ||
	       ioctl(STDOUT_FILENO, TIOCGWINSZ, ret) == 0;
}

size_t term_columns(void)
{
	struct winsize size;

	return window_size(&size) && size.ws_col ? size.ws_col : COLUMNS_DEFAULT;
}

size_t term_rows(void)
{
	struct winsize size;

	return window_size(&size) && size.ws_row ? size.ws_row : ROWS_DEFAULT;
}

/* --- stderr: there is nowhere left to report that it cannot be written --- */

static void to_stderr(const char *bytes, size_t len)
{
	struct error ignored = ERROR_INIT;

	io_write_all(STDERR_FILENO, bytes, len, &ignored);
}

/* How many rows a line takes by now: a terminal that was made narrower has wrapped it. */
static size_t rows_of(size_t width, size_t columns)
{
	return width > columns && columns ? (width + columns - 1) / columns : 1;
}

/* The cursor is on the last line. */
static void erase_status(struct terminal *term)
{
	static const char erase[] = "\r\033[K", up[] = "\033[A";

	if (ticking.of == term)
		ticking.on = 0;
	if (!term->block_lines)
		return;
	size_t columns = term_columns();
	size_t rows = 0;
	for (size_t i = 0; i < term->block_lines; i++)
		rows += rows_of(term->block_widths[i], columns);
	term->block_lines = 0;
	for (; rows; rows--) {
		to_stderr(erase, sizeof(erase) - 1);
		if (rows > 1)
			to_stderr(up, sizeof(up) - 1);
	}
}

__attribute__((format(printf, 2, 0))) static void add_format(struct buf *out, const char *fmt,
							     va_list args)
{
	char *text = NULL;
	int len = vasprintf(&text, fmt, args);

	if (len < 0)
		mem_exhausted();
	buf_add(out, text, (size_t)len);
	mem_cleanup_free(&text);
}

/* Whatever is said may quote a program, a model or a file. */
__attribute__((format(printf, 2, 0))) static void add_visible_format(struct buf *out,
								     const char *fmt, va_list args)
{
	cleanup_buf struct buf text = BUF_INIT(MESSAGE_MAX);

	add_format(&text, fmt, args);
	utf8_visible(out, text.data, text.len);
}

/* The newline stays outside the colour: a cut line must not colour the next. */
static void add_styled(struct buf *out, bool color, enum term_style style, const char *text,
		       size_t len)
{
	size_t body = len && text[len - 1] == '\n' ? len - 1 : len;

	if (!color || style == TERM_PLAIN || !body) {
		buf_add(out, text, len);
		return;
	}
	buf_addstr(out, sequences[style]);
	buf_add(out, text, body);
	buf_addstr(out, SEQUENCE_OFF);
	buf_add(out, text + body, len - body);
}

__attribute__((format(printf, 3, 0))) static void tell(struct terminal *term, enum term_style style,
						       const char *fmt, va_list args)
{
	cleanup_buf struct buf text = BUF_INIT(MESSAGE_MAX), line = BUF_INIT(MESSAGE_MAX);

	add_visible_format(&text, fmt, args);
	add_styled(&line, term->color, style, text.data, text.len);
	erase_status(term);
	to_stderr(line.data, line.len);
}

void term_note(struct terminal *term, enum term_style style, const char *fmt, ...)
{
	if (term->quiet)
		return;
	va_list args;
	va_start(args, fmt);
	tell(term, style, fmt, args);
	va_end(args);
}

static void add_folded(struct buf *out, const char *text, size_t len, size_t at)
{
	if (isatty(STDERR_FILENO))
		fold_words(out, text, len, at, term_columns() - 1);
	else
		buf_add(out, text, len);
}

void term_line(struct terminal *term, enum term_style style, size_t at, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT(MESSAGE_MAX), line = BUF_INIT(MESSAGE_MAX);
	cleanup_buf struct buf folded = BUF_INIT(MESSAGE_MAX);

	if (term->quiet)
		return;
	va_list args;
	va_start(args, fmt);
	add_visible_format(&text, fmt, args);
	va_end(args);
	add_folded(&folded, text.data, text.len, at);
	buf_addch(&folded, '\n');
	add_styled(&line, term->color, style, folded.data, folded.len);
	erase_status(term);
	to_stderr(line.data, line.len);
}

void term_ask(struct terminal *term, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(term, TERM_BOLD, fmt, args);
	va_end(args);
}

void term_error(struct terminal *term, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT(MESSAGE_MAX), line = BUF_INIT(MESSAGE_MAX);
	va_list args;

	va_start(args, fmt);
	add_visible_format(&text, fmt, args);
	va_end(args);
	add_styled(&line, term->color, TERM_RED, "assay:", strlen("assay:"));
	buf_addch(&line, ' ');
	add_folded(&line, text.data, text.len, strlen("assay: "));
	buf_addch(&line, '\n');
	erase_status(term);
	to_stderr(line.data, line.len);
}

void term_visible(struct terminal *term, const char *bytes, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	if (term->quiet)
		return;
	utf8_visible(&shown, bytes, len);
	erase_status(term);
	to_stderr(shown.data, shown.len);
}

static time_t monotonic_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Async-signal-safe: no stdio, no allocation, one write. */
static void on_tick(int number)
{
	size_t n = ticking.len;
	int saved = errno;

	(void)number;
	if (!ticking.on)
		return;
	struct winsize size;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col < ticking.width)
		return; /* it would wrap */
	long seconds = (long)(monotonic_seconds() - ticking.began);
	char line[sizeof(ticking.line) + 32];
	memcpy(line, ticking.line, n);
	char digits[24];
	size_t d = 0;
	for (line[n++] = ' '; seconds || !d; seconds /= 10)
		digits[d++] = (char)('0' + seconds % 10);
	while (d)
		line[n++] = digits[--d];
	line[n++] = ' ';
	line[n++] = 's';
	if (write(STDERR_FILENO, line, n) < 0)
		ticking.on = 0;
	errno = saved;
}

#define TICK_COLUMNS ((size_t)8) /* " 86400 s" */

static void start_ticking(const struct terminal *term, const char *text, size_t len, time_t began)
{
	static const struct itimerval every_second = { { 1, 0 }, { 1, 0 } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	ticking.width = utf8_width(text, len) + TICK_COLUMNS;
	if (len > sizeof(ticking.line) - 8 || ticking.width > term_columns())
		return;
	ticking.on = 0;
	ticking.of = term;
	memcpy(ticking.line, "\r\033[K", 4);
	memcpy(ticking.line + 4, text, len);
	ticking.len = len + 4;
	ticking.began = began;
	if (sigaction(SIGALRM, &action, NULL) == 0 &&
	    setitimer(ITIMER_REAL, &every_second, NULL) == 0)
		ticking.on = 1;
	/* One that is drawn every second would never be seen to tick. */
	if (monotonic_seconds() > began)
		on_tick(0);
}

bool term_can_block(const struct terminal *term)
{
	const char *type = getenv("TERM");

	return !term->quiet && isatty(STDERR_FILENO) && type && *type && strcmp(type, "dumb");
}

/* Instead of the lines that are shown; whatever they hold was made visible. */
static void draw(struct terminal *term, const char *const *lines, size_t count, bool first_plain)
{
	cleanup_buf struct buf out = BUF_INIT(MESSAGE_MAX);
	size_t columns = term_columns(), rows = term_rows();

	if (!term_can_block(term) || rows < 2 || columns < 2)
		return;
	count = count < rows - 1 ? count : rows - 1;
	count = count < TERM_BLOCK_MAX ? count : TERM_BLOCK_MAX;
	erase_status(term);
	for (size_t i = 0; i < count; i++) {
		size_t fits = utf8_fit(lines[i], strlen(lines[i]), columns - 1);
		term->block_widths[i] = (unsigned short)utf8_width(lines[i], fits);
		buf_addstr(&out, i ? "\n" : "");
		add_styled(&out, term->color, i || !first_plain ? TERM_DIM : TERM_PLAIN, lines[i],
			   fits);
	}
	to_stderr(out.data, out.len);
	term->block_lines = count;
}

/* A line's text for a terminal, a tab as a blank; the caller frees. */
static char *visible_line(const char *text)
{
	struct buf shown = BUF_INIT(MESSAGE_MAX);

	utf8_visible(&shown, text, strlen(text));
	for (size_t i = 0; i < shown.len; i++)
		if (shown.data[i] == '\t' || shown.data[i] == '\n')
			shown.data[i] = ' ';
	return buf_take(&shown, NULL);
}

static void draw_visible(struct terminal *term, const char *const *lines, size_t count,
			 bool first_plain)
{
	count = count < TERM_BLOCK_MAX ? count : TERM_BLOCK_MAX;
	char *shown[TERM_BLOCK_MAX];
	size_t i;
	for (i = 0; i < count; i++)
		shown[i] = visible_line(lines[i]);
	draw(term, (const char *const *)shown, count, first_plain);
	while (i)
		free(shown[--i]);
}

void term_live(struct terminal *term, const char *const *lines, size_t count, const char *status,
	       int64_t began_ms)
{
	if (!term_can_block(term))
		return;
	const char *all[TERM_BLOCK_MAX];
	size_t n = 0;
	while (n < count && n + 1 < TERM_BLOCK_MAX) {
		all[n] = lines[n];
		n++;
	}
	all[n++] = status;
	draw_visible(term, all, n, false);
	cleanup_free char *shown = visible_line(status);
	start_ticking(term, shown, strlen(shown), (time_t)(began_ms / 1000));
}

void term_busy(struct terminal *term, const char *text)
{
	if (term_can_block(term))
		term_live(term, NULL, 0, text, (int64_t)monotonic_seconds() * 1000);
	else if (isatty(STDERR_FILENO))
		term_note(term, TERM_PLAIN, "%s\n", text);
}

void term_status(struct terminal *term, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT(MESSAGE_MAX);

	if (!fmt) {
		erase_status(term);
		return;
	}
	if (!term_can_block(term))
		return;
	va_list args;
	va_start(args, fmt);
	add_format(&text, fmt, args);
	va_end(args);
	const char *line = text.data;
	draw_visible(term, &line, 1, false);
}

void term_block(struct terminal *term, const char *const *lines, size_t count)
{
	if (term_can_block(term))
		draw_visible(term, lines, count, true);
}

/* --- text from outside, piece by piece --- */

/* Bytes at the end of text that begin a character whose rest is not there. */
static size_t unfinished(const char *text, size_t len)
{
	for (size_t back = 1; back < UTF8_LEN_MAX && back <= len; back++) {
		unsigned char c = (unsigned char)text[len - back];

		if ((c & 0xc0) == 0x80)
			continue;
		if (c < 0xc2)
			return 0;
		return back < (size_t)(c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4) ? back : 0;
	}
	return 0;
}

static void add_visible_piece(struct buf *out, struct term_held *held, const char *bytes,
			      size_t len)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_MAX_DEFAULT);

	buf_add(&whole, held->bytes, held->len);
	buf_add(&whole, bytes, len);
	size_t keep = unfinished(whole.data, whole.len);
	memcpy(held->bytes, whole.data + whole.len - keep, keep);
	held->len = keep;
	utf8_visible(out, whole.data, whole.len - keep);
}

void term_guest_stderr(struct terminal *term, const char *bytes, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	erase_status(term);
	if (!isatty(STDERR_FILENO)) {
		to_stderr(bytes, len);
		return;
	}
	add_visible_piece(&shown, &term->guest, bytes, len);
	to_stderr(shown.data, shown.len);
}

/* --- stdout --- */

static bool out_is_shown(const struct terminal *term)
{
	return term->out_visible || isatty(STDOUT_FILENO);
}

static int to_stdout(struct terminal *term, const char *bytes, size_t len, struct error *err)
{
	erase_status(term);
	if (len && io_write_all(STDOUT_FILENO, bytes, len, err) < 0) {
		term->reader_left = term->reader_left || err->errnum == EPIPE;
		err->kind = ERR_FAILED;
		return error_wrap(err, "standard output");
	}
	return 0;
}

bool term_reader_left(const struct terminal *term)
{
	return term->reader_left;
}

int term_out(struct terminal *term, const char *bytes, size_t len, struct error *err)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	if (!out_is_shown(term))
		return to_stdout(term, bytes, len, err);
	add_visible_piece(&shown, &term->out, bytes, len);
	return to_stdout(term, shown.data, shown.len, err);
}

int term_out_end(struct terminal *term, struct error *err)
{
	cleanup_buf struct buf shown = BUF_INIT(64);

	utf8_visible(&shown, term->out.bytes, term->out.len);
	term->out.len = 0;
	return to_stdout(term, shown.data, shown.len, err);
}

int term_outf(struct terminal *term, struct error *err, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	va_list args;

	va_start(args, fmt);
	add_format(&text, fmt, args);
	va_end(args);
	return term_out(term, text.data, text.len, err);
}

int term_out_json(struct terminal *term, const char *json, struct error *err)
{
	cleanup_buf struct buf line = BUF_INIT(SIZE_MAX / 2);

	if (isatty(STDOUT_FILENO))
		utf8_escape(&line, json, strlen(json));
	else
		buf_addstr(&line, json);
	buf_addch(&line, '\n');
	return to_stdout(term, line.data, line.len, err);
}

int term_out_style(struct terminal *term, enum term_style style, struct error *err, const char *fmt,
		   ...)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT), shown = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_buf struct buf line = BUF_INIT(BUF_MAX_DEFAULT);
	va_list args;

	va_start(args, fmt);
	add_format(&text, fmt, args);
	va_end(args);
	if (out_is_shown(term))
		utf8_visible(&shown, text.data, text.len);
	else
		buf_add(&shown, text.data, text.len);
	add_styled(&line, term->out_color, style, shown.data, shown.len);
	return to_stdout(term, line.data, line.len, err);
}

/* --- code --- */

static void add_code(struct buf *out, bool color, const char *lang, const char *code, size_t len)
{
	struct highlight spans;

	highlight_start(&spans, color ? lang : "", code, len);
	size_t at = 0;
	while (at < len) {
		size_t end;
		enum term_style style = highlight_next(&spans, at, &end);

		if (color && style != TERM_PLAIN)
			buf_addstr(out, sequences[style]);
		utf8_visible(out, code + at, end - at);
		if (color && style != TERM_PLAIN)
			buf_addstr(out, SEQUENCE_OFF);
		at = end;
	}
	highlight_release(&spans);
	if (len && code[len - 1] != '\n')
		buf_addch(out, '\n');
}

void term_code(struct terminal *term, const char *lang, const char *code, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	if (term->quiet)
		return;
	add_code(&shown, term->color, lang, code, len);
	erase_status(term);
	to_stderr(shown.data, shown.len);
}

int term_out_code(struct terminal *term, const char *lang, const char *code, size_t len,
		  struct error *err)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	if (!term->out_color && !out_is_shown(term)) {
		if (to_stdout(term, code, len, err) < 0)
			return -1;
		return len && code[len - 1] != '\n' ? to_stdout(term, "\n", 1, err) : 0;
	}
	add_code(&shown, term->out_color, lang, code, len);
	return to_stdout(term, shown.data, shown.len, err);
}
