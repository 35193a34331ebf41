/*
 * What was asked, as a name that stands beside each result: a resume takes a result
 * over only when task and settings are those that it came from. What may be spent does
 * not count (budgets, retries, the number of workers): a question is no other because
 * more may be paid for its answer.
 */
#include "agent/cli/batch/key.h"

#include "agent/cli/provider.h"
#include "agent/cli/tools_given.h"
#include "agent/prompt/prompt.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Each part ends, so that no two lists of parts are one text. */
static void add(struct hash *h, const char *text)
{
	hash_add(h, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_json(struct hash *h, const struct json *value)
{
	cleanup_free char *text = json_print(value);

	add(h, text);
}

static void finish(struct hash *h, char ret[BATCH_KEY_HALF + 1])
{
	char whole[HASH_HEX_LEN + 1];

	hash_finish(h, whole);
	memcpy(ret, whole, BATCH_KEY_HALF);
	ret[BATCH_KEY_HALF] = '\0';
}

/* --- settings --- */

/* Who is asked: found out where nobody named it. A script stands for any model. */
static void add_model(struct hash *h, const struct settings *s)
{
	cleanup_json struct json *choice = provider_choice_json(s);
	const char *provider = json_get_string(choice, "name");

	add(h, provider);
	add(h, provider && strcmp(provider, "script") ? json_get_string(choice, "url") : NULL);
	add(h, json_get_string(choice, "model"));
}

/* A file of bad lines alone asks nobody, and no model is looked for. */
static bool asks_model(const struct batch *batch)
{
	for (size_t i = 0; i < batch->tasks->count; i++)
		if (!batch->tasks->lines[i].problem)
			return true;
	return false;
}

int batch_settings_key(const struct batch *batch, char ret[BATCH_KEY_HALF + 1], struct error *err)
{
	const struct settings *settings = batch->settings;
	cleanup_json struct json *policy = policy_json(&settings->policy);
	cleanup_json struct json *prompts = NULL;
	const struct option_values *checks = &settings->options->given[OPT_CHECK];

	if (settings->means.prompts_dir) {
		prompts = prompt_texts(
			&(struct prompt_source){ .dir = settings->means.prompts_dir }, err);
		if (!prompts)
			return -1;
	}
	json_remove(policy, "budget");
	json_remove(policy, "provider");
	json_remove(policy, "model");
	if (settings->policy.images == IMAGES_AUTO) /* results of before it was a setting */
		json_remove(policy, "images");
	struct hash *h = hash_start();
	add_json(h, policy);
	add_json(h, prompts);
	if (asks_model(batch))
		add_model(h, settings);
	for (size_t i = 0; i < checks->count; i++)
		add(h, checks->values[i]);
	int rc = tools_hash(settings, h, err);
	finish(h, ret);
	return rc;
}

/* --- a task --- */

static bool decides(const char *key)
{
	return task_key_known(key) && strcmp(key, "id") && strcmp(key, "tags");
}

static int by_key(const void *a, const void *b)
{
	const struct json *const *x = a, *const *y = b;

	return strcmp(json_key(*x), json_key(*y));
}

static void add_members(struct hash *h, const struct json *object)
{
	cleanup_free const struct json **members =
		mem_array(NULL, json_count(object) + 1, sizeof(*members));
	size_t count = 0;

	for (const struct json *m = json_first(object); m; m = json_next(m))
		if (decides(json_key(m)))
			members[count++] = m;
	qsort(members, count, sizeof(*members), by_key);
	for (size_t i = 0; i < count; i++) {
		add(h, json_key(members[i]));
		add_json(h, members[i]);
	}
}

/* What the files hold; of one that cannot be had, why not. */
static void add_files(struct hash *h, const struct batch *batch, const struct json *object)
{
	for (const struct json *file = json_first(json_get(object, "files")); file;
	     file = json_next(file)) {
		struct task task = { .id = NULL };

		if (!json_string(file))
			continue;
		struct error err = ERROR_INIT;
		if (task_add_named(&task, &batch->place, json_string(file), &err) < 0) {
			add(h, err.message);
		} else if (task.files[0].input) {
			add(h, task.files[0].input->stamp);
		} else {
			char digest[HASH_HEX_LEN + 1];

			hash_sha256(task.files[0].bytes, task.files[0].len, digest);
			add(h, digest);
		}
		task_release(&task);
	}
}

void batch_key(const struct batch *batch, const struct task_line *line, char ret[BATCH_KEY_LEN + 1])
{
	struct hash *h = hash_start();

	add(h, line->problem);
	if (line->object) {
		add_members(h, line->object);
		add_files(h, batch, line->object);
	}
	finish(h, ret);
	ret[BATCH_KEY_HALF] = '-';
	memcpy(ret + BATCH_KEY_HALF + 1, batch->settings_key, BATCH_KEY_HALF + 1);
}
