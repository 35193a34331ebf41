#include "agent/prompt.h"

#include "base/embed.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT_BYTES_MAX ((size_t)1 << 20)
/* Filled in: files' beginnings, code and output are cut before they get here. */
#define FILLED_BYTES_MAX ((size_t)16 << 20)

static const char *const prompt_names[] = {
	"contract", "plan", "code", "repair", "judge", "answer", "tests", "cross_check",
};

/* The file's text: the user's if the folder has it, else the embedded one. */
static int load(const char *dir, const char *name, struct buf *out, struct error *err)
{
	cleanup_free char *path = mem_printf("%s/%s.md", dir ? dir : "prompts", name);
	const struct embed *file;

	if (dir && access(path, F_OK) == 0) {
		if (io_read_file(path, out, err) == 0)
			return 0;
		err->kind = ERR_CONFIG;
		return -1;
	}
	mem_cleanup_free(&path);
	path = mem_printf("prompts/%s.md", name);
	file = embed_find(path);
	if (!file)
		return error_set(err, ERR_CONFIG, "no prompt named %s", name);
	return buf_add(out, file->data, embed_len(file));
}

static const struct prompt_value *find(const struct prompt_value *values, size_t count,
				       const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < count; i++)
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
	const struct prompt_value *value;
	const char *open, *close, *name, *stop;
	bool section, shown;
	size_t len;

	while ((open = memmem(text, (size_t)(end - text), "{{", 2))) {
		buf_add(out, text, (size_t)(open - text));
		name = open + 2;
		close = memmem(name, (size_t)(end - name), "}}", 2);
		if (!close)
			return error_set(f->err, ERR_CONFIG, "prompt %s: \"{{\" without \"}}\"",
					 f->file);
		section = *name == '#' || *name == '^';
		len = (size_t)(close - name) - section;
		value = find(f->values, f->count, name + section, len);
		if (!value)
			return error_set(f->err, ERR_CONFIG, "prompt %s: unknown name {{%.*s}}",
					 f->file, (int)(close - name), name);
		shown = value->value && *value->value;
		text = close + 2;
		if (!section) {
			buf_addstr(out, value->value ? value->value : "");
			continue;
		}
		stop = section_end(text, end, name + 1, len);
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

char *prompt_fill_text(const char *dir, const char *name, const struct prompt_value *values,
		       size_t count, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);
	cleanup_buf struct buf out = BUF_INIT(FILLED_BYTES_MAX);
	struct fill f = { name, values, count, err };

	if (load(dir, name, &text, err) < 0 ||
	    fill_text(&f, text.data, text.data + text.len, &out) < 0)
		return NULL;
	return buf_take(&out, NULL);
}

int prompt_fill(struct prompt *ret, const char *dir, const char *name,
		const struct prompt_value *values, size_t count, struct error *err)
{
	static const char system_mark[] = "=== system\n", user_mark[] = "\n=== user\n";
	cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);
	cleanup_buf struct buf system = BUF_INIT(FILLED_BYTES_MAX);
	cleanup_buf struct buf user = BUF_INIT(FILLED_BYTES_MAX);
	struct fill f = { name, values, count, err };
	const char *body, *split;

	if (load(dir, name, &text, err) < 0)
		return -1;
	split = strstr(text.data, user_mark);
	if (strncmp(text.data, system_mark, strlen(system_mark)) || !split)
		return error_set(
			err, ERR_CONFIG,
			"prompt %s: a line \"=== system\" first and a line \"=== user\" after it "
			"are needed",
			name);
	body = text.data + strlen(system_mark);
	if (fill_text(&f, body, split, &system) < 0 ||
	    fill_text(&f, split + strlen(user_mark), text.data + text.len, &user) < 0)
		return -1;
	hash_sha256(text.data, text.len, ret->sha256);
	ret->system = buf_take(&system, NULL);
	ret->user = buf_take(&user, NULL);
	return 0;
}

void prompt_release(struct prompt *p)
{
	free(p->system);
	free(p->user);
	*p = (struct prompt){ .system = NULL };
}

struct json *prompt_hashes(const char *dir, struct error *err)
{
	struct json *object = json_object();
	char hex[HASH_HEX_LEN + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prompt_names); i++) {
		cleanup_buf struct buf text = BUF_INIT(PROMPT_BYTES_MAX);

		if (load(dir, prompt_names[i], &text, err) < 0) {
			json_free(object);
			return NULL;
		}
		hash_sha256(text.data, text.len, hex);
		json_set_string(object, prompt_names[i], hex);
	}
	return object;
}
