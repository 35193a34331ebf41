/*
 * From an image file to the terminal: decoded in the sandbox, drawn by the library, written as it
 * draws. What comes out of the sandbox is a size and so many pixels, or nothing. No file may be
 * decoded outside of it.
 */
#include "agent/cli/terminal/picture.h"

#include "agent/cli/terminal/chafa.h"
#include "agent/cli/terminal/keyboard.h"
#include "agent/cli/terminal/term.h"
#include "base/embed.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SOURCE	       "agent/cli/terminal/picture.py"
#define WIDTH_MAX      1280 /* where each pixel is shown */
#define HEIGHT_MAX     960
#define BLOCKS_WIDTH   640
#define BLOCKS_HEIGHT  480
#define NO_PILLOW      3 /* exit code of SOURCE */
#define DECODE_MS      10000
#define DRAWING_MAX    ((size_t)64 << 20)
#define COLUMNS_MAX    100
#define CELL_WIDTH     10 /* where the terminal does not say */
#define CELL_HEIGHT    20
#define ANSWER_MS      1500
#define ASK_VERSION    "\033[>q"
#define ASK_KITTY      "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\"
#define ASK_ATTRIBUTES "\033[c" /* last: what every terminal answers */

bool picture_is(const char *type)
{
	return type && !strncmp(type, "image/", 6) && !strstr(type, "svg");
}

/* The number among the primary attributes: "\033[?62;4c". */
static bool has_attribute(const char *answer, const char *number)
{
	const char *at = strstr(answer, "\033[?");
	size_t len = at ? strcspn(at, "c") : 0, n = strlen(number);

	for (size_t i = 3; i + n <= len; i++)
		if (!strncmp(at + i, number, n) && strchr("?;", at[i - 1]) &&
		    strchr(";c", at[i + n]))
			return true;
	return false;
}

/* A terminal within another takes the question of kitty for a title. */
static bool is_within(const char *answer)
{
	const char *type = getenv("TERM");

	return strstr(answer, "tmux") || strstr(answer, "screen") ||
	       (type && (!strncmp(type, "tmux", 4) || !strncmp(type, "screen", 6)));
}

enum picture_form picture_form_of_terminal(void)
{
	cleanup_buf struct buf first = BUF_INIT(65536), second = BUF_INIT(65536);

	if (!keyboard_ask(ASK_VERSION ASK_ATTRIBUTES, ANSWER_MS, &first))
		return PICTURE_BLOCKS;
	if (strstr(first.data, "iTerm2") || strstr(first.data, "WezTerm"))
		return PICTURE_ITERM2;
	if (!is_within(first.data) && keyboard_ask(ASK_KITTY ASK_ATTRIBUTES, ANSWER_MS, &second) &&
	    strstr(second.data, "\033_Gi=31;OK"))
		return PICTURE_KITTY;
	return has_attribute(first.data, "4") ? PICTURE_SIXEL : PICTURE_BLOCKS;
}

/* "WIDTH HEIGHT\n", and as many pixels: false when it is anything else. */
static bool read_pixels(const struct sandbox_result *x, struct chafa_drawing *d)
{
	const char *nl = x->out.len ? memchr(x->out.bytes, '\n', x->out.len) : NULL;
	size_t head = nl ? (size_t)(nl - x->out.bytes) + 1 : 0;

	if (!nl || sscanf(x->out.bytes, "%4d %4d", &d->width, &d->height) != 2 || d->width < 1 ||
	    d->height < 1 || d->width > WIDTH_MAX || d->height > HEIGHT_MAX)
		return false;
	d->pixels = (const unsigned char *)x->out.bytes + head;
	return x->out.len - head == (size_t)d->width * (size_t)d->height * 3;
}

static int decode(struct sandbox *sandbox, int cancel_fd, const struct sandbox_file *file,
		  bool blocks, struct sandbox_result *ret, struct error *err)
{
	const struct embed *source = embed_find(SOURCE);
	cleanup_free char *wide = mem_printf("%d", blocks ? BLOCKS_WIDTH : WIDTH_MAX);
	cleanup_free char *high = mem_printf("%d", blocks ? BLOCKS_HEIGHT : HEIGHT_MAX);
	const char *const argv[] = { file->path, wide, high, NULL };
	struct sandbox_watch watch = { .cancel_fd = cancel_fd };
	struct sandbox_job job = {
		.language = language_find("python"),
		.code = source->data,
		.code_len = embed_len(source),
		.argv = argv,
		.inputs = file,
		.input_count = 1,
	};

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = job.limits.cpu_ms = DECODE_MS;
	job.limits.stdout_bytes = (int64_t)4 << 20;
	job.limits.artifacts = 0;
	return sandbox_run(sandbox, &job, &watch, ret, err);
}

/* As large as half the screen, in its own proportions. */
static void measure(struct chafa_drawing *d)
{
	struct winsize size = { 0 };
	int columns = (int)term_columns() - 1, rows = (int)term_rows() / 2;

	d->cell_width = CELL_WIDTH;
	d->cell_height = CELL_HEIGHT;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_xpixel && size.ws_ypixel &&
	    size.ws_col && size.ws_row) {
		d->cell_width = size.ws_xpixel / size.ws_col ? size.ws_xpixel / size.ws_col : 1;
		d->cell_height = size.ws_ypixel / size.ws_row ? size.ws_ypixel / size.ws_row : 1;
	}
	columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
	d->columns = columns > 1 ? columns : 1;
	d->rows = d->columns * d->cell_width * d->height / (d->width * d->cell_height);
	if (d->rows > rows) {
		d->rows = rows;
		d->columns = rows * d->cell_height * d->width / (d->height * d->cell_width);
	}
	d->rows = d->rows > 1 ? d->rows : 1;
	d->columns = d->columns > 1 ? d->columns : 1;
}

int picture_show(struct terminal *term, struct sandbox *sandbox, int cancel_fd,
		 const struct sandbox_file *file, enum picture_form form, struct error *err)
{
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	cleanup_buf struct buf drawing = BUF_INIT(DRAWING_MAX);
	const char *colors = getenv("COLORTERM");
	struct chafa_drawing d = { .form = form,
				   .color = term_has_color(term),
				   .true_color = colors && (!strcmp(colors, "truecolor") ||
							    !strcmp(colors, "24bit")) };
	struct error ignored = ERROR_INIT; /* as everywhere on stderr */

	if (decode(sandbox, cancel_fd, file, form == PICTURE_BLOCKS, &x, err) < 0)
		return -1;
	if (x.outcome == SANDBOX_EXIT && x.exit_code == NO_PILLOW)
		return error_set(err, ERR_FAILED,
				 "an image that is no PNG is shown with Pillow alone (Debian: "
				 "python3-pil), which the sandbox's Python does not have");
	if (x.outcome != SANDBOX_EXIT || x.exit_code || !read_pixels(&x, &d))
		return error_set(err, ERR_FAILED, "it is no image that can be shown here");
	measure(&d);
	if (chafa_draw(&d, &drawing, err) < 0)
		return -1;
	term_status(term, NULL);
	io_write_all(STDERR_FILENO, drawing.data, drawing.len, &ignored);
	io_write_all(STDERR_FILENO, "\033[0m\n", 5, &ignored);
	return 0;
}
