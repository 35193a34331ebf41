/*
 * Tasks as people give them: arguments, options, what is piped, members of a JSON object. Files are
 * given_files.c's; an unknown member is the user's own, for the log. No member of the wrong type
 * may be guessed at: that is an error.
 */
#include "agent/cli/task_given.h"

#include "agent/cli/app.h"
#include "agent/cli/piped.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_BYTES_MAX ((size_t)256 << 20)

/* A prompt above its limit is still read, so that the message can say its size. */
#define PROMPT_READ_MAX ((size_t)64 << 20)

int task_prompt_argument(struct task *task, const struct options *options, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(PROMPT_READ_MAX);
	bool from_stdin = options->arg_count == 1 && !strcmp(options->args[0], "-");

	if (!options->arg_count && !isatty(STDIN_FILENO))
		from_stdin = true;
	if (from_stdin) {
		if (io_read_file("-", &text, err) < 0) {
			err->kind = ERR_USAGE; /* as of any other prompt that is none */
			return -1;
		}
		return task_set_prompt(task, text.data, text.len, "standard input", err);
	}
	if (!options->arg_count)
		return error_set(err, ERR_USAGE,
				 "no prompt: give it as an argument, or - for standard input");
	for (size_t i = 0; i < options->arg_count; i++)
		buf_addf(&text, "%s%s", i ? " " : "", options->args[i]);
	return task_set_prompt(task, text.data, text.len, "the prompt", err);
}

int task_set_stdin(struct task *task, const char *path, struct app *app, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(INPUT_BYTES_MAX);

	if (piped_read_file(path, app, &bytes, err) < 0) {
		cleanup_free char *why = mem_strdup(err->message);

		if (err->errnum == EFBIG)
			error_set(err, err->kind, "%s; --%s takes a file of any size", why,
				  option_table[OPT_FILE].name);
		return -1;
	}
	task->stdin_bytes = buf_take(&bytes, &task->stdin_len);
	return 0;
}

int task_take_piped(struct task *task, const struct settings *settings, struct error *err)
{
	if (piped_is_taken(settings) || settings->options->given[OPT_STDIN].count || !piped_stdin())
		return 0;
	if (task_set_stdin(task, "-", settings->app, err) < 0)
		return -1;
	if (!task->stdin_len) {
		free(task->stdin_bytes);
		task->stdin_bytes = NULL;
		return 0;
	}
	term_note(&settings->app->terminal, TERM_DIM,
		  "standard input, %zu byte%s, is what the program reads\n", task->stdin_len,
		  task->stdin_len == 1 ? "" : "s");
	return 0;
}

/* --- a task's keys --- */

const char *const task_keys[] = {
	"prompt", "id",	      "lang",	"files",  "stdin", "tests",
	"expect", "expected", "checks", "limits", "tags",
};
const size_t task_key_count = ARRAY_SIZE(task_keys);

bool task_key_known(const char *key)
{
	for (size_t i = 0; i < task_key_count; i++)
		if (!strcmp(task_keys[i], key))
			return true;
	return false;
}

static int wrong_type(const char *key, const char *wanted, struct error *err)
{
	return error_set(err, ERR_USAGE, "\"%s\" must be %s", key, wanted);
}

static int take_lang(struct task *t, const struct json *value, struct error *err)
{
	const char *name = json_string(value);
	const struct language *language = name ? language_find(name) : NULL;
	cleanup_buf struct buf names = BUF_INIT(4096);

	if (!language) {
		lang_list(&names, ", ", " or ");
		return error_set(err, ERR_USAGE, "\"lang\": \"%.40s\" is not known; %s",
				 name ? name : "", names.data);
	}
	t->lang = language->name;
	return 0;
}

static int take_files(struct task *t, const struct json *value, const struct task_place *place,
		      struct error *err)
{
	if (json_type(value) != JSON_ARRAY)
		return wrong_type("files", "a list of paths", err);
	for (const struct json *item = json_first(value); item; item = json_next(item)) {
		const char *path = json_string(item);

		if (!path)
			return wrong_type("files", "a list of paths", err);
		if (task_add_named(t, place, path, err) < 0)
			return -1;
	}
	return 0;
}

static int take_checks(struct task *t, const struct json *value, struct error *err)
{
	if (json_type(value) != JSON_ARRAY)
		return wrong_type("checks", "a list of {\"kind\", \"arg\"}", err);
	for (const struct json *item = json_first(value); item; item = json_next(item)) {
		const char *kind = json_get_string(item, "kind");

		if (!kind)
			return wrong_type("checks", "a list of {\"kind\", \"arg\"}", err);
		if (check_add(&t->checks, kind, json_get(item, "arg"), CHECK_TASK, err) < 0)
			return -1;
	}
	return 0;
}

/* Whether text is a number and nothing else, as JSON writes one. */
static bool is_number(const char *text)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *value = json_parse(text, strlen(text), 0, &ignored);

	return json_type(value) == JSON_NUMBER;
}

/* Short for an object of checks: a text is the output, a number its last number, a list
 * its value as JSON. Datasets write their numbers as texts, under "expected". */
static int take_expect(struct task *t, const struct json *value, struct error *err)
{
	bool dataset = !strcmp(json_key(value), "expected");
	cleanup_json struct json *object = json_object();
	enum json_type type = json_type(value);

	if (type == JSON_OBJECT)
		return check_add_expect(&t->checks, value, CHECK_TASK, err);
	if (type == JSON_NUMBER ||
	    (type == JSON_STRING && dataset && is_number(json_string(value)))) {
		cleanup_free char *text =
			type == JSON_STRING ? mem_strdup(json_string(value)) : json_print(value);

		json_set(object, "number", json_parse(text, strlen(text), 0, err));
	} else if (type == JSON_STRING || type == JSON_ARRAY) {
		json_set(object, type == JSON_STRING ? "equals" : "json", json_copy(value));
	} else {
		return wrong_type(json_key(value), "a text, a number, a list or an object", err);
	}
	return check_add_expect(&t->checks, object, CHECK_TASK, err);
}

static int take_text(char **to, const struct json *value, const char *key, struct error *err)
{
	const char *text = json_string(value);

	if (!text)
		return wrong_type(key, "a text", err);
	*to = mem_strdup(text);
	return 0;
}

static int take_member(struct task *t, const struct json *member, const struct task_place *place,
		       struct error *err)
{
	const char *key = json_key(member);

	if (json_type(member) == JSON_NULL)
		return 0;
	if (!strcmp(key, "lang"))
		return take_lang(t, member, err);
	if (!strcmp(key, "files"))
		return take_files(t, member, place, err);
	if (!strcmp(key, "expect") || !strcmp(key, "expected"))
		return take_expect(t, member, err);
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
	/* The batch reads the others; what is not known is the user's own, for the log. */
	if (!task_key_known(key)) {
		t->extra = t->extra ? t->extra : json_object();
		json_set(t->extra, key, json_copy(member));
	}
	return 0;
}

int task_from_json(struct task *ret, const struct json *object, const char *id,
		   const struct task_place *place, struct error *err)
{
	struct task t = { .id = mem_strdup(id) };
	const char *prompt = json_get_string(object, "prompt");

	int rc = prompt ? task_set_prompt(&t, prompt, strlen(prompt), id, err) :
			  error_set(err, ERR_USAGE, "\"prompt\" is missing or not a text");
	if (!rc && json_type(json_get(object, "expect")) != JSON_NULL &&
	    json_type(json_get(object, "expected")) != JSON_NULL)
		rc = error_set(err, ERR_USAGE,
			       "\"expect\" and \"expected\" are both there: drop one");
	for (const struct json *member = json_first(object); member && !rc;
	     member = json_next(member))
		rc = take_member(&t, member, place, err);
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

	if (given[OPT_EXPECT].count &&
	    add_text(task, "equals", given[OPT_EXPECT].values[0], err) < 0)
		return -1;
	if (given[OPT_EXPECT_REGEX].count &&
	    add_text(task, "regex", given[OPT_EXPECT_REGEX].values[0], err) < 0)
		return -1;
	if (given[OPT_EXPECT_NUMBER].count &&
	    add_number(task, given[OPT_EXPECT_NUMBER].values[0], err) < 0)
		return -1;
	for (size_t i = 0; i < given[OPT_CHECK].count; i++)
		if (check_add_text(&task->checks, given[OPT_CHECK].values[i], CHECK_USER, err) < 0)
			return -1;
	for (size_t i = 0; i < given[OPT_ARTIFACT].count; i++)
		if (add_text(task, "artifact", given[OPT_ARTIFACT].values[i], err) < 0)
			return -1;
	return 0;
}
