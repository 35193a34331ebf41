/*
 * What the input files and standard input hold, for the prompts: a model that has to guess the
 * columns of a table guesses wrong. Short text is shown; whatever else there is was looked into in
 * the sandbox, for its columns, tables, sheets, members or names, and is bounded, whatever the
 * input's size. What is no text may not be parsed anywhere else.
 */
#include "agent/prompt/preview.h"

#include "agent/execution.h"
#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREVIEW_LINES 20
#define PREVIEW_BYTES ((size_t)2000)
#define PREVIEW_FILES 8
#define PREVIEWS_MAX  ((size_t)1 << 20)
#define LOOK_BYTES    ((size_t)4096)

enum content { CONTENT_UTF8, CONTENT_8BIT, CONTENT_OTHER };

static bool is_control(unsigned char c)
{
	return c < 0x20 && !strchr("\t\n\v\f\r\033", c);
}

static enum content content_of(const char *bytes, size_t len)
{
	size_t look = len < LOOK_BYTES ? len : LOOK_BYTES;
	size_t cut = look < len ? 3 : 0; /* of a character whose end is not looked at */

	if (memchr(bytes, '\0', look))
		return CONTENT_OTHER;
	if (utf8_valid_prefix(bytes, look) + cut >= look)
		return CONTENT_UTF8;
	for (size_t i = 0; i < look; i++)
		if (is_control((unsigned char)bytes[i]))
			return CONTENT_OTHER;
	return CONTENT_8BIT;
}

static size_t count_lines(const struct task_file *file)
{
	const char *at = file->bytes, *end = at + file->len;
	size_t lines = 0;

	for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
		lines++;
	return lines + (file->len && file->bytes[file->len - 1] != '\n');
}

/* What Windows-1252 has where Latin-1 has controls; 0: nothing. */
static const uint16_t cp1252[0x20] = {
	0x20ac, 0,	0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
	0x2039, 0x0152, 0,	0x017d, 0,	0,	0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
	0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,	0x017e, 0x0178,
};

/* Whether some of it is a character in Windows-1252 only, and all of it is one there. */
static bool is_cp1252(const char *bytes, size_t len)
{
	bool some = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < 0x80 || c >= 0xa0)
			continue;
		if (!cp1252[c - 0x80])
			return false;
		some = true;
	}
	return some;
}

static void add_8bit(struct buf *out, const char *bytes, size_t len, bool windows)
{
	for (size_t i = 0; i < len; i++) {
		unsigned int c = (unsigned char)bytes[i];

		if (windows && c >= 0x80 && c < 0xa0)
			c = cp1252[c - 0x80];
		if (c >= 0x800)
			buf_addch(out, (char)(0xe0 | c >> 12));
		if (c >= 0x800)
			buf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
		else if (c >= 0x80)
			buf_addch(out, (char)(0xc0 | c >> 6));
		buf_addch(out, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
	}
}

/* Lines of which none ends in a line feed. */
static bool has_returns_alone(const struct task_file *file)
{
	return memchr(file->bytes, '\r', file->len) && !memchr(file->bytes, '\n', file->len);
}

/* What a program that reads lines and names of columns must know, and nobody sees. */
static void add_unseen(struct buf *out, const struct task_file *file)
{
	const char *end = memchr(file->bytes, '\n', file->len);

	if (file->len >= 3 && !memcmp(file->bytes, "\xef\xbb\xbf", 3))
		buf_addstr(out, ", begins with a byte order mark");
	if (end && end > file->bytes && end[-1] == '\r')
		buf_addstr(out, ", lines end in CR LF");
	if (has_returns_alone(file))
		buf_addstr(out, ", lines end in CR alone, shown as LF");
}

static void describe_text(struct buf *out, const struct task_file *given, enum content content)
{
	cleanup_free char *lines_of =
		has_returns_alone(given) ? mem_strndup(given->bytes, given->len) : NULL;
	struct task_file shown = *given, *file = &shown;
	bool windows = content == CONTENT_8BIT && is_cp1252(file->bytes, file->len);

	for (size_t i = 0; lines_of && i < given->len; i++)
		if (lines_of[i] == '\r')
			lines_of[i] = '\n';
	shown.bytes = lines_of ? lines_of : given->bytes;
	buf_addf(out, ", %zu lines", count_lines(file));
	add_unseen(out, given);
	if (content == CONTENT_8BIT)
		buf_addf(out, ", not UTF-8: shown as %s, which is a guess",
			 windows ? "Windows-1252 (cp1252)" : "Latin-1");
	buf_addstr(out, ")");
	size_t end = 0, lines = 0;
	while (end < file->len && end < PREVIEW_BYTES && lines < PREVIEW_LINES)
		lines += file->bytes[end++] == '\n';
	buf_addstr(out, end < file->len ? ", its beginning:\n" : ", all of it:\n");
	if (content == CONTENT_8BIT)
		add_8bit(out, file->bytes, end, windows);
	else
		utf8_repair(out, file->bytes, end);
	if (end && file->bytes[end - 1] != '\n')
		buf_addch(out, '\n');
}

static int record_look(struct run *r, const char *file, const char *text, double wall_ms,
		       struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct json *metrics = json_object();

	json_set_string(data, "file", file);
	json_set_string(data, "text", text);
	json_set_number(metrics, "wall_ms", wall_ms);
	json_set(data, "metrics", metrics);
	return journal_queue(&r->journal, stage_name(STAGE_INSPECT), 0, "done", data, NULL, 0, err);
}

/* "" when there is no time left to look. */
static int look_into(struct run *r, const struct task_file *file, double *left_ms, struct buf *text,
		     struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	const struct sandbox_file input = { file->path, file->bytes, file->len,
					    file->input ? &file->input->source : NULL };
	int64_t wall_ms = (int64_t)*left_ms;
	cleanup_json struct json *data = json_object();

	if (wall_ms <= 0)
		return 0;
	json_set_string(data, "file", file->path);
	struct inspection seen;
	if (execution_reserve(r, stage_name(STAGE_INSPECT), &wall_ms, NULL, err) < 0 ||
	    journal_event(&r->journal, stage_name(STAGE_INSPECT), 0, "started", data, NULL, 0,
			  err) < 0 ||
	    ops->inspect(ops->self, &input, wall_ms, &seen, err) < 0)
		return -1;
	*left_ms -= seen.wall_ms;
	budget_settle_exec(&r->budget, seen.wall_ms);
	utf8_repair(text, seen.text, strlen(seen.text));
	free(seen.text);
	return record_look(r, file->path, text->data, seen.wall_ms, err);
}

/* Its bytes are the task's; a file of the same name has others. */
static bool is_stdin(const struct run *r, const struct task_file *file)
{
	return file->bytes && file->bytes == r->task->stdin_bytes;
}

/* A table of which more is to be told than how it begins. */
static bool is_table(const struct task_file *file)
{
	static const char *const endings[] = { ".csv",	 ".tsv",    ".tab",    ".json",
					       ".jsonl", ".ndjson", ".geojson" };
	const char *dot = strrchr(file->path, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++)
		if (!strcasecmp(dot, endings[i]))
			return true;
	return false;
}

static bool is_kept(const struct task_file *file)
{
	return !file->input && !file->was;
}

static bool is_folder(const struct task_file *file)
{
	return file->input ? file->input->source.folder : json_get_bool(file->was, "folder", false);
}

/* What it is by its bytes; of what stays where it is no byte is read here. */
static enum content content_of_file(const struct task_file *file)
{
	return is_kept(file) ? content_of(file->bytes, file->len) : CONTENT_OTHER;
}

static void describe_told(struct buf *out, const struct task_file *file, const char *kind,
			  const char *told)
{
	size_t len = strlen(told);

	buf_addf(out, "%s)%s\n%s", kind, len ? ", what is in it:" : "", told);
	if (len && told[len - 1] != '\n')
		buf_addch(out, '\n');
	if (!len && !is_kept(file))
		buf_addstr(out, "(it was not looked into)\n");
}

static int preview(struct run *r, struct buf *out, const struct task_file *file, double *left_ms,
		   struct error *err)
{
	enum content content = content_of_file(file);
	bool is_long = is_table(file) && file->len > PREVIEW_BYTES;
	cleanup_buf struct buf told = BUF_INIT(PREVIEWS_MAX);

	cleanup_free char *path = mem_printf("%s%s", is_stdin(r, file) ? "" : "/in/", file->path);
	buf_addstr(out, "--- ");
	context_add_path(out, path);
	buf_addf(out, " (%s%zu bytes", is_folder(file) ? "a folder, " : "", file->len);
	if ((content == CONTENT_OTHER || is_long) && look_into(r, file, left_ms, &told, err) < 0)
		return -1;
	if (content == CONTENT_OTHER)
		describe_told(out, file, is_kept(file) ? ", not text" : "", told.data);
	else if (told.len)
		describe_told(out, file, "", told.data);
	else
		describe_text(out, file, content);
	return 0;
}

int run_previews(struct run *r, char **ret, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(PREVIEWS_MAX);
	char name[] = "standard input";
	const struct task_file input = { .path = name,
					 .bytes = r->task->stdin_bytes,
					 .len = r->task->stdin_len };
	double left_ms = INSPECT_WALL_MS;

	if (input.len && preview(r, &out, &input, &left_ms, err) < 0)
		return -1;
	for (size_t i = 0; i < r->task->file_count && i < PREVIEW_FILES; i++)
		if (preview(r, &out, &r->task->files[i], &left_ms, err) < 0)
			return -1;
	if (r->task->file_count > PREVIEW_FILES)
		buf_addf(&out, "--- (%zu more files, of which nothing is told here)\n",
			 r->task->file_count - PREVIEW_FILES);
	*ret = buf_take(&out, NULL);
	return 0;
}
