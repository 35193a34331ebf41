#include "agent/task.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT_BYTES_MAX ((size_t)1 << 20)
#define INPUT_BYTES_MAX ((size_t)256 << 20)
#define INPUT_COUNT_MAX 1000

void task_turn_release(struct task_turn *turn)
{
	free(turn->question);
	free(turn->code);
	free(turn->output);
	free(turn->answer);
	*turn = (struct task_turn){ .question = NULL };
}

void task_release(struct task *task)
{
	size_t i;

	free(task->id);
	free(task->prompt);
	free(task->stdin_bytes);
	free(task->tests);
	for (i = 0; i < task->file_count; i++) {
		free(task->files[i].path);
		free(task->files[i].bytes);
	}
	free(task->files);
	for (i = 0; i < task->turn_count; i++)
		task_turn_release(&task->turns[i]);
	free(task->turns);
	check_list_release(&task->checks);
	json_free(task->extra);
	*task = (struct task){ .id = NULL };
}

struct sandbox_file *task_inputs(const struct task *task)
{
	struct sandbox_file *inputs = mem_array(NULL, task->file_count, sizeof(*inputs));
	size_t i;

	for (i = 0; i < task->file_count; i++)
		inputs[i] = (struct sandbox_file){ task->files[i].path, task->files[i].bytes,
						   task->files[i].len };
	return inputs;
}

int task_set_prompt(struct task *task, const char *text, size_t len, const char *where,
		    struct error *err)
{
	if (len > PROMPT_BYTES_MAX)
		return error_set(err, ERR_USAGE,
				 "%s: the prompt has %zu bytes; the limit is %zu. Give data as a "
				 "file with -f",
				 where, len, PROMPT_BYTES_MAX);
	if (memchr(text, '\0', len))
		return error_set(err, ERR_USAGE, "%s: the prompt holds a NUL byte: not text",
				 where);
	if (!utf8_valid(text, len))
		return error_set(err, ERR_USAGE, "%s: the prompt is not valid UTF-8 (byte %zu)",
				 where, utf8_valid_prefix(text, len) + 1);
	if (strspn(text, " \t\r\n") >= len)
		return error_set(err, ERR_USAGE, "%s: the prompt is empty", where);
	free(task->prompt);
	task->prompt = mem_strndup(text, len);
	return 0;
}

/* A prompt above its limit is still read, so that the message can say its size. */
#define PROMPT_READ_MAX ((size_t)64 << 20)

int task_prompt_argument(struct task *task, const struct options *options, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(PROMPT_READ_MAX);
	bool from_stdin = options->arg_count == 1 && !strcmp(options->args[0], "-");
	size_t i;

	if (!options->arg_count && !isatty(STDIN_FILENO))
		from_stdin = true;
	if (from_stdin) {
		if (io_read_file("-", &text, err) < 0) {
			err->kind = ERR_USAGE;	/* as of any other prompt that is none */
			return -1;
		}
		return task_set_prompt(task, text.data, text.len, "standard input", err);
	}
	if (!options->arg_count)
		return error_set(err, ERR_USAGE,
				 "no prompt: give it as an argument, or - for standard input");
	for (i = 0; i < options->arg_count; i++)
		buf_addf(&text, "%s%s", i ? " " : "", options->args[i]);
	return task_set_prompt(task, text.data, text.len, "the prompt", err);
}

int task_add_file(struct task *task, const char *path, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(INPUT_BYTES_MAX);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct task_file *file;
	size_t i;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return error_set(err, ERR_USAGE, "%s: is a directory; name a file", path);
	for (i = 0; i < task->file_count; i++)
		if (!strcmp(task->files[i].path, name))
			return error_set(err, ERR_USAGE,
					 "%s: another input file is called %s too; both "
					 "would be /in/%s",
					 path, name, name);
	if (task->file_count >= INPUT_COUNT_MAX)
		return error_set(err, ERR_USAGE, "%s: more than %d input files", path,
				 INPUT_COUNT_MAX);
	if (io_read_file(path, &bytes, err) < 0)
		return -1;
	task->files = mem_array(task->files, task->file_count + 1, sizeof(*task->files));
	file = &task->files[task->file_count++];
	file->path = mem_strdup(name);
	file->len = bytes.len;
	file->bytes = buf_take(&bytes, NULL);
	return 0;
}

int task_add_files(struct task *task, const struct settings *settings, struct error *err)
{
	const struct option_values *files = &settings->options->given[OPT_FILE];
	size_t i;

	for (i = 0; i < files->count; i++)
		if (task_add_file(task, files->values[i], err) < 0)
			return -1;
	return 0;
}

/* --- a task's keys --- */

static int wrong_type(const char *key, const char *wanted, struct error *err)
{
	return error_set(err, ERR_USAGE, "\"%s\" must be %s", key, wanted);
}

static int take_lang(struct task *t, const struct json *value, struct error *err)
{
	const char *name = json_string(value);
	const struct language *language = name ? language_find(name) : NULL;

	if (!language)
		return error_set(err, ERR_USAGE,
				 "\"lang\": \"%.40s\" is not known; python, javascript or "
				 "bash",
				 name ? name : "");
	t->lang = language->name;
	return 0;
}

static int take_files(struct task *t, const struct json *value, const char *folder,
		      struct error *err)
{
	const struct json *item;

	if (json_type(value) != JSON_ARRAY)
		return wrong_type("files", "a list of paths", err);
	for (item = json_first(value); item; item = json_next(item)) {
		const char *path = json_string(item);
		cleanup_free char *full = NULL;

		if (!path)
			return wrong_type("files", "a list of paths", err);
		full = *path == '/' ? mem_strdup(path) : mem_printf("%s/%s", folder, path);
		if (task_add_file(t, full, err) < 0)
			return -1;
	}
	return 0;
}

static int take_checks(struct task *t, const struct json *value, struct error *err)
{
	const struct json *item;

	if (json_type(value) != JSON_ARRAY)
		return wrong_type("checks", "a list of {\"kind\", \"arg\"}", err);
	for (item = json_first(value); item; item = json_next(item)) {
		const char *kind = json_get_string(item, "kind");

		if (!kind)
			return wrong_type("checks", "a list of {\"kind\", \"arg\"}", err);
		if (check_add(&t->checks, kind, json_get(item, "arg"), CHECK_TASK, err) < 0)
			return -1;
	}
	return 0;
}

static int take_text(char **to, const struct json *value, const char *key, struct error *err)
{
	const char *text = json_string(value);

	if (!text)
		return wrong_type(key, "a text", err);
	*to = mem_strdup(text);
	return 0;
}

static int take_member(struct task *t, const struct json *member, const char *folder,
		       struct error *err)
{
	const char *key = json_key(member);

	if (json_type(member) == JSON_NULL)
		return 0;
	if (!strcmp(key, "lang"))
		return take_lang(t, member, err);
	if (!strcmp(key, "files"))
		return take_files(t, member, folder, err);
	if (!strcmp(key, "expect"))
		return check_add_expect(&t->checks, member, CHECK_TASK, err);
	if (!strcmp(key, "checks"))
		return take_checks(t, member, err);
	if (!strcmp(key, "tests"))
		return take_text(&t->tests, member, key, err);
	if (!strcmp(key, "stdin")) {
		if (take_text(&t->stdin_bytes, member, key, err) < 0)
			return -1;
		t->stdin_len = strlen(t->stdin_bytes);
		return 0;
	}
	/* The batch reads these; what is left is the user's own, for the log. */
	if (strcmp(key, "prompt") && strcmp(key, "id") && strcmp(key, "limits") &&
	    strcmp(key, "tags")) {
		t->extra = t->extra ? t->extra : json_object();
		json_set(t->extra, key, json_copy(member));
	}
	return 0;
}

int task_from_json(struct task *ret, const struct json *object, const char *id, const char *folder,
		   struct error *err)
{
	struct task t = { .id = mem_strdup(id) };
	const char *prompt = json_get_string(object, "prompt");
	const struct json *member;
	int rc;

	rc = prompt ? task_set_prompt(&t, prompt, strlen(prompt), id, err) :
		      error_set(err, ERR_USAGE, "\"prompt\" is missing or not a text");
	for (member = json_first(object); member && !rc; member = json_next(member))
		rc = take_member(&t, member, folder, err);
	if (rc) {
		task_release(&t);
		return -1;
	}
	*ret = t;
	return 0;
}

/* --- the command line's checks --- */

static int add_text(struct task *task, const char *kind, const char *text, struct error *err)
{
	cleanup_json struct json *arg = json_new_string(text);

	return check_add(&task->checks, kind, arg, CHECK_USER, err);
}

static int add_number(struct task *task, const char *text, struct error *err)
{
	cleanup_json struct json *arg = json_new_string(text);
	struct error unreadable = ERROR_INIT;

	if (check_add(&task->checks, "number", arg, CHECK_USER, &unreadable) < 0)
		return error_set(err, ERR_USAGE,
				 "--expect-number \"%s\": N or N±T expected, as 3.14±0.01", text);
	return 0;
}

int task_add_flags(struct task *task, const struct settings *settings, struct error *err)
{
	const struct option_values *given = settings->options->given;
	size_t i;

	if (given[OPT_EXPECT].count &&
	    add_text(task, "equals", given[OPT_EXPECT].values[0], err) < 0)
		return -1;
	if (given[OPT_EXPECT_REGEX].count &&
	    add_text(task, "regex", given[OPT_EXPECT_REGEX].values[0], err) < 0)
		return -1;
	if (given[OPT_EXPECT_NUMBER].count &&
	    add_number(task, given[OPT_EXPECT_NUMBER].values[0], err) < 0)
		return -1;
	for (i = 0; i < given[OPT_CHECK].count; i++)
		if (check_add_text(&task->checks, given[OPT_CHECK].values[i], CHECK_USER, err) < 0)
			return -1;
	for (i = 0; i < given[OPT_ARTIFACT].count; i++)
		if (add_text(task, "artifact", given[OPT_ARTIFACT].values[i], err) < 0)
			return -1;
	return 0;
}
