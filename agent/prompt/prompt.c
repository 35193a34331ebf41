/*
 * Prompts out of files: parts, names, sections. A file of the user's that is there and cannot be
 * used is an error; assay's own never stands in for it silently.
 */
#include "agent/prompt/prompt.h"

#include "agent/stage.h"
#include "base/embed.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PROMPT_BYTES_MAX ((size_t)1 << 20)
/* Filled in: files' beginnings, code and output are cut before they get here. */
#define FILLED_BYTES_MAX ((size_t)16 << 20)

/* What no role alone is called by; each role has a prompt of its name, too. */
static const char *const common_names[] = { "contract", "solve" };

/* The prompt's text: the record's, else the user's if the folder has it, else the
 * embedded one. */
static int load(const struct prompt_source *source, const char *name, struct buf *out,
		struct error *err)
{
	const char *dir = source->dir, *recorded = json_get_string(source->texts, name);
	cleanup_free char *path = mem_printf("%s/%s.md", dir ? dir : "prompts", name);

	if (recorded)
		return buf_addstr(out, recorded);
	if (dir && io_read_file(path, out, err) == 0) {
		if (!utf8_valid(out->data, out->len) || memchr(out->data, '\0', out->len))
			return error_set(err, ERR_CONFIG, "%s: it is no UTF-8 text", path);
		return 0;
	}
	if (dir && err->errnum != ENOENT) {
		err->kind = ERR_CONFIG;
		return -1;
	}
	error_clear(err);
	mem_cleanup_free(&path);
	path = mem_printf("prompts/%s.md", name);
	const struct embed *file = embed_find(path);
	if (!file)
		return error_set(err, ERR_CONFIG, "no prompt named %s", name);
	return buf_add(out, file->data, embed_len(file));
}

static const struct prompt_value *find(const struct prompt_value *values, size_t count,
				       const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(values[i].name) == len && !memcmp(values[i].name, name, len))
			return &values[i];
	return NULL;
}

struct fill {
	const char *file;
	const struct prompt_value *values;
	size_t count;
	struct error *err;
};

/* The end of the section that opens before text: its "{{/name}}". */
static const char *section_end(const char *text, const char *end, const char *name, size_t len)
{
	cleanup_free char *close = mem_printf("{{/%.*s}}", (int)len, name);

	return memmem(text, (size_t)(end - text), close, strlen(close));
}

static int fill_text(const struct fill *f, const char *text, const char *end, struct buf *out)
{
	const char *open;

	while ((open = memmem(text, (size_t)(end - text), "{{", 2))) {
		buf_add(out, text, (size_t)(open - text));
		const char *name = open + 2;
		const char *close = memmem(name, (size_t)(end - name), "}}", 2);
		if (!close)
			return error_set(f->err, ERR_CONFIG, "prompt %s: \"{{\" without \"}}\"",
					 f->file);
		bool section = *name == '#' || *name == '^';
		size_t len = (size_t)(close - name) - section;
		const struct prompt_value *value = find(f->values, f->count, name + section, len);
		if (!value)
			return error_set(f->err, ERR_CONFIG, "prompt %s: unknown name {{%.*s}}",
					 f->file, (int)(close - name), name);
		bool shown = value->value && *value->value;
		text = close + 2;
		if (!section) {
			buf_addstr(out, value->value ? value->value : "");
			continue;
		}
		const char *stop = section_end(text, end, name + 1, len);
		if (!stop)
			return error_set(f->err, ERR_CONFIG, "prompt %s: {{%.*s}} is never closed",
					 f->file, (int)(close - name), name);
		if (shown == (*name == '#') && fill_text(f, text, stop, out) < 0)
			return -1;
		text = stop + len + 5;
	}
	buf_add(out, text, (size_t)(end - text));
	if (out->overflow)
		return error_set(f->err, ERR_FAILED, "prompt %s: larger than %zu bytes", f->file,
				 FILLED_BYTES_MAX);
	return 0;
}

/* Sections that are not shown leave their line ends behind. */
static char *take_trimmed(struct buf *out)
{
	size_t len;
	char *text = buf_take(out, &len);

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	return text;
}

char *prompt_fill_text(const struct prompt_source *source, const char *name,
		       const struct prompt_value *values, size_t count, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);
	cleanup_buf struct buf out = BUF_INIT(FILLED_BYTES_MAX);
	struct fill f = { name, values, count, err };

	if (load(source, name, &text, err) < 0 ||
	    fill_text(&f, text.data, text.data + text.len, &out) < 0)
		return NULL;
	return take_trimmed(&out);
}

int prompt_fill(struct prompt *ret, const struct prompt_source *source, const char *name,
		const struct prompt_value *values, size_t count, struct error *err)
{
	static const char system_mark[] = "=== system\n", user_mark[] = "\n=== user\n";
	cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);
	cleanup_buf struct buf system = BUF_INIT(FILLED_BYTES_MAX);
	cleanup_buf struct buf user = BUF_INIT(FILLED_BYTES_MAX);
	struct fill f = { name, values, count, err };

	if (load(source, name, &text, err) < 0)
		return -1;
	const char *split = strstr(text.data, user_mark);
	if (strncmp(text.data, system_mark, strlen(system_mark)) || !split)
		return error_set(
			err, ERR_CONFIG,
			"prompt %s: a line \"=== system\" first and a line \"=== user\" after it "
			"are needed",
			name);
	const char *body = text.data + strlen(system_mark);
	if (fill_text(&f, body, split, &system) < 0 ||
	    fill_text(&f, split + strlen(user_mark), text.data + text.len, &user) < 0)
		return -1;
	hash_sha256(text.data, text.len, ret->sha256);
	ret->system = take_trimmed(&system);
	ret->user = take_trimmed(&user);
	return 0;
}

void prompt_release(struct prompt *p)
{
	free(p->system);
	free(p->user);
	*p = (struct prompt){ .system = NULL };
}

static int add_text(struct json *object, const struct prompt_source *source, const char *name,
		    struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);

	if (load(source, name, &text, err) < 0)
		return -1;
	json_set_bytes(object, name, text.data, text.len);
	return 0;
}

struct json *prompt_texts(const struct prompt_source *source, struct error *err)
{
	cleanup_json struct json *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(common_names); i++)
		if (add_text(object, source, common_names[i], err) < 0)
			return NULL;
	for (int i = 0; i < ROLE_COUNT; i++)
		if (add_text(object, source, role_name((enum role)i), err) < 0)
			return NULL;
	return TAKE_PTR(object);
}

struct json *prompt_hashes(const struct json *texts)
{
	struct json *object = json_object();

	for (const struct json *member = json_first(texts); member; member = json_next(member)) {
		const char *text = json_string(member);
		char hex[HASH_HEX_LEN + 1];

		hash_sha256(text ? text : "", text ? strlen(text) : 0, hex);
		json_set_string(object, json_key(member), hex);
	}
	return object;
}
