/*
 * From JSON to a task that is a program. Names of files are the client's words: none leaves /in,
 * none is taken twice, and no file of the host is ever read for one.
 */
#include "agent/doors/service/program.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CODE_BYTES_MAX	((size_t)4 << 20)
#define FILES_BYTES_MAX ((size_t)12 << 20)
#define FILES_MAX	256
#define WALL_MS_MAX	((int64_t)24 * 3600 * 1000)

void program_release(struct program *p)
{
	task_release(&p->task);
	free(p->code);
	free(p->argv);
	*p = (struct program){ .code = NULL };
}

/* --- files --- */

/* Relative, and no part of it empty, "." or "..". */
static bool is_below(const char *path)
{
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, "/");
		if (!len || len > NAME_MAX || (len == 1 && *path == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (!path[len])
			return true;
	}
}

/* One name may not be another's folder. */
static bool clashes(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;

	return !strncmp(a, b, least) && (n == m || (n > m ? a[least] : b[least]) == '/');
}

int program_check_clash(const struct task *task, size_t count, const char *name, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (clashes(task->files[i].path, name))
			return error_set(err, ERR_USAGE,
					 "files: \"%.100s\" and \"%.100s\" cannot both be there",
					 name, task->files[i].path);
	return 0;
}

int program_check_name(const struct task *task, const char *name, struct error *err)
{
	if (strlen(name) >= PATH_MAX / 2 || !is_below(name) || !utf8_valid(name, strlen(name)))
		return error_set(err, ERR_USAGE,
				 "files: \"%.100s\" is no name of a file; give a relative path "
				 "without \"..\", as data.csv or data/a.csv",
				 name);
	if (task->file_count >= FILES_MAX)
		return error_set(err, ERR_USAGE, "files: more than %d", FILES_MAX);
	return program_check_clash(task, task->file_count, name, err);
}

static int hex_value(char c)
{
	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

static int hex_decode(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i += 2) {
		int high = hex_value(text[i]), low = i + 1 < len ? hex_value(text[i + 1]) : -1;

		if (high < 0 || low < 0 || buf_addch(out, (char)(high << 4 | low)) < 0)
			return -1;
	}
	return 0;
}

static int decode(struct buf *out, const char *text, const char *encoding)
{
	size_t len = strlen(text);

	if (!encoding || !strcmp(encoding, "utf8") || !strcmp(encoding, "utf-8") ||
	    !strcmp(encoding, "text"))
		return buf_add(out, text, len);
	if (!strcmp(encoding, "base64"))
		return base64_decode(out, text, len);
	return !strcmp(encoding, "hex") ? hex_decode(out, text, len) : -1;
}

int program_add_file(struct task *task, const char *name, const struct json *content,
		     const char *encoding, struct error *err)
{
	struct buf bytes = BUF_INIT(FILES_BYTES_MAX);
	const char *text = json_string(content);

	if (program_check_name(task, name, err) < 0)
		return -1;
	if (!text)
		return error_set(err, ERR_USAGE,
				 "files: \"%.100s\" needs its content as a text; no file of this "
				 "machine is read",
				 name);
	if (decode(&bytes, text, encoding) < 0) {
		buf_release(&bytes);
		return error_set(err, ERR_USAGE,
				 "files: \"%.100s\": the content is not %s, or has more than %zu "
				 "bytes; encoding is utf8, base64 or hex",
				 name, encoding ? encoding : "utf8", FILES_BYTES_MAX);
	}
	size_t len;
	text = buf_take(&bytes, &len);
	task_add_bytes(task, name, (char *)(uintptr_t)text, len);
	return 0;
}

static int add_one(struct task *task, const struct json *file, struct error *err)
{
	const char *name = json_key(file), *encoding = NULL;
	const struct json *content = file;

	if (json_type(file) == JSON_OBJECT) {
		content = json_get(file, "content");
		encoding = json_get_string(file, "encoding");
		if (!name)
			name = json_get_string(file, "path") ? json_get_string(file, "path") :
							       json_get_string(file, "name");
	}
	if (!name)
		return error_set(err, ERR_USAGE,
				 "files: each needs a name and its content: {\"data.csv\": "
				 "\"a,b\\n1,2\\n\"}, or [{\"path\": \"data.csv\", \"content\": "
				 "\"...\", \"encoding\": \"base64\"}]");
	return program_add_file(task, name, content, encoding, err);
}

int program_add_files(struct task *task, const struct json *files, struct error *err)
{
	const struct json *file;

	switch (json_type(files)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		for (file = json_first(files); file; file = json_next(file))
			if (add_one(task, file, err) < 0)
				return -1;
		return 0;
	case JSON_NULL:
		return 0;
	case JSON_BOOL:
	case JSON_NUMBER:
	case JSON_STRING:
	default:
		return error_set(err, ERR_USAGE, "files is an object of names and contents");
	}
}

/* --- the program --- */

static int check_known(const struct json *object, const char *const *known, struct error *err)
{
	static const char *const own[] = { "code",	 "language", "files", "stdin",
					   "timeout_ms", "context",  NULL };

	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		const char *const *list = own;

		while (*list && strcmp(*list, json_key(member)))
			list++;
		for (list = *list || !known ? list : known; *list; list++)
			if (!strcmp(*list, json_key(member)))
				break;
		if (!*list)
			return error_set(err, ERR_USAGE,
					 "\"%.60s\" is not known here; there is code, language, "
					 "files, stdin, timeout_ms and context",
					 json_key(member));
	}
	return 0;
}

static char *language_names(void)
{
	struct buf names = BUF_INIT(4096);
	const struct language *l;

	for (size_t i = 0; (l = language_at(i)); i++)
		buf_addf(&names, "%s%s", i ? ", " : "", l->name);
	return buf_take(&names, NULL);
}

int program_check_size(size_t len, struct error *err)
{
	if (len > CODE_BYTES_MAX)
		return error_set(err, ERR_USAGE, "code has more than %zu bytes; give data as files",
				 CODE_BYTES_MAX);
	return 0;
}

int program_set(struct program *p, const char *lang, const char *code, size_t len,
		const char *title, struct error *err)
{
	const struct language *language = lang ? language_find(lang) : NULL;

	if (!language) {
		cleanup_free char *names = language_names();

		return error_set(err, ERR_USAGE, "language \"%.60s\": there is %s",
				 lang ? lang : "", names);
	}
	if (program_check_size(len, err) < 0)
		return -1;
	p->code = mem_strndup(code, len);
	p->given = (struct task_program){ .code = p->code, .len = len, .screened = true };
	p->task.program = &p->given;
	p->task.lang = language->name;
	p->task.prompt = mem_strdup(title);
	return 0;
}

static int read_time(struct program *p, const struct json *value, struct error *err)
{
	double ms = json_number(value, -1);

	if (json_type(value) == JSON_NULL)
		return 0;
	if (!(ms >= 1) || ms > (double)WALL_MS_MAX)
		return error_set(err, ERR_USAGE,
				 "timeout_ms is a number of milliseconds from 1 on");
	p->wall_ms = (int64_t)ms;
	return 0;
}

int program_read(struct program *p, const struct json *object, const char *lang,
		 const char *const *known, const char *title, struct error *err)
{
	const char *code = json_get_string(object, "code");
	const struct json *language = json_get(object, "language"), *in = json_get(object, "stdin");

	*p = (struct program){ .code = NULL };
	if (json_type(object) != JSON_OBJECT)
		return error_set(err, ERR_USAGE, "an object is wanted: {\"code\": ...}");
	if (check_known(object, known, err) < 0)
		return -1;
	if (!code)
		return error_set(err, ERR_USAGE, "code is missing: the program as a text");
	if (json_type(language) != JSON_NULL && !json_string(language))
		return error_set(err, ERR_USAGE, "language is a text");
	if (json_type(json_get(object, "context")) != JSON_NULL &&
	    !json_get_string(object, "context"))
		return error_set(err, ERR_USAGE, "context is a text: the id of one that is open");
	p->context = json_get_string(object, "context");
	if (json_type(in) != JSON_NULL && !json_string(in))
		return error_set(err, ERR_USAGE, "stdin is a text");
	if (program_set(p, json_string(language) ? json_string(language) : lang, code, strlen(code),
			title, err) < 0 ||
	    program_add_files(&p->task, json_get(object, "files"), err) < 0 ||
	    read_time(p, json_get(object, "timeout_ms"), err) < 0) {
		program_release(p);
		return -1;
	}
	if (json_string(in)) {
		p->task.stdin_bytes = mem_strdup(json_string(in));
		p->task.stdin_len = strlen(p->task.stdin_bytes);
	}
	return 0;
}

/* --- its identity --- */

static void add_part(struct hash *h, const void *bytes, size_t len)
{
	char size[32];
	struct buf text = BUF_INIT(sizeof(size));

	buf_addf(&text, "%zu:", len);
	hash_add(h, text.data, text.len);
	hash_add(h, bytes ? bytes : "", len);
	buf_release(&text);
}

void program_digest(const char *lang, const char *code, size_t len, const struct task *task,
		    char ret[PROGRAM_DIGEST_LEN + 1])
{
	struct hash *h = hash_start();

	add_part(h, lang, strlen(lang));
	add_part(h, code, len);
	add_part(h, task->stdin_bytes, task->stdin_len);
	const char *const *word = task->program ? task->program->argv : NULL;
	for (; word && *word; word++)
		add_part(h, *word, strlen(*word));
	for (size_t i = 0; i < task->file_count; i++) {
		add_part(h, task->files[i].path, strlen(task->files[i].path));
		add_part(h, task->files[i].bytes, task->files[i].len);
	}
	hash_finish(h, ret);
}
