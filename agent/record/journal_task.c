/*
 * The task of a run, written: what was asked, with its inputs, and all that it is asked with beside
 * the settings. What reads it again is recorded_task.c. It finds nothing out but what is installed,
 * and asks nobody.
 */
#include "agent/record/journal_task.h"

#include "agent/record/cells.h"
#include "agent/run.h"
#include "base/mem.h"

#include <string.h>

static struct json *checks_json(const struct check_list *list)
{
	struct json *array = json_array();

	for (size_t i = 0; i < list->count; i++) {
		struct json *check = json_object();
		json_set_string(check, "kind", list->checks[i].kind);
		json_set(check, "arg",
			 list->checks[i].arg ? json_copy(list->checks[i].arg) : json_new_null());
		json_set_string(check, "source", check_source_name(list->checks[i].source));
		json_append(array, check);
	}
	return array;
}

static struct json *turns_json(const struct task *task)
{
	struct json *array = json_array();

	for (size_t i = 0; i < task->turn_count; i++) {
		struct json *turn = json_object();
		json_set_string(turn, "question", task->turns[i].question);
		json_set_string(turn, "code", task->turns[i].code);
		if (task->turns[i].lang) /* a record of before has none */
			json_set_string(turn, "language", task->turns[i].lang);
		json_set_string(turn, "output", task->turns[i].output);
		json_set_string(turn, "notes", task->turns[i].notes);
		json_set_string(turn, "answer", task->turns[i].answer);
		json_append(array, turn);
	}
	return array;
}

char *journal_rules_text(const struct basis *basis)
{
	if (!basis || !basis->rules)
		return mem_strdup(rulebook_print());
	cleanup_json struct json *texts = rulebook_copy(basis->rules);
	return json_print(texts);
}

/* {"python":{"numpy":"1.24.2"}}: with what a version of a package can be told from another later.
 * It is the same for all runs of an environment, and stored once. NULL: nobody can say. */
static char *packages_text(const struct run *r)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_json struct json *all = json_object();
	const struct language *language;

	for (size_t i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment e = { .language = NULL };
		struct error ignored = ERROR_INIT;

		if (ops->describe(ops->self, language, &e, &ignored) < 0 || !e.installed)
			continue;
		struct json *installed = json_parse(e.installed, strlen(e.installed), 0, &ignored);
		if (installed)
			json_set(all, language->name, installed);
	}
	return json_count(all) ? json_print(all) : NULL;
}

/* Which of the files nobody gave. */
static void add_made(struct json *data, const struct task *t)
{
	struct json *made = json_array();

	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].made)
			json_append(made, json_new_string(t->files[i].path));
	if (json_count(made))
		json_set(data, "made", made);
	else
		json_free(made);
}

int journal_task(struct run *r, const struct json *texts, struct error *err)
{
	const struct task *t = r->task;
	cleanup_json struct json *data = json_object();
	cleanup_free struct sandbox_file *files = task_inputs(t);
	size_t kept = context_blobs(t->context);
	cleanup_free struct audit_blob *blobs =
		mem_array(NULL, 6 + t->file_count + kept, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((t->file_count + 1) * JOURNAL_NAME_SIZE);
	cleanup_cells_text struct cells_text of_cells = { .names = NULL };
	cleanup_free char *templates = json_print(texts),
			  *rules = journal_rules_text(r->loop->basis);
	cleanup_free char *packages = packages_text(r);

	json_set_string(data, "id", t->id);
	json_set_string(data, "lang", t->lang);
	json_set(data, "checks", checks_json(&t->checks));
	json_set(data, "turns", turns_json(t));
	if (t->extra)
		json_set(data, "extra", json_copy(t->extra));
	json_set_string(data, "mark", r->mark);
	if (r->tools)
		json_set(data, LOOP_TOOLS, json_copy(r->tools));
	json_set(data, "environments", json_copy(r->environments));
	size_t n = 0;
	blobs[n++] = (struct audit_blob){ "prompt", "text/plain", t->prompt, strlen(t->prompt) };
	blobs[n++] = (struct audit_blob){ JOURNAL_TEMPLATES, "application/json", templates,
					  strlen(templates) };
	blobs[n++] = (struct audit_blob){ JOURNAL_RULES, "application/json", rules, strlen(rules) };
	if (packages)
		blobs[n++] = (struct audit_blob){ JOURNAL_PACKAGES, "application/json", packages,
						  strlen(packages) };
	if (t->stdin_bytes)
		blobs[n++] = (struct audit_blob){ "stdin", "application/octet-stream",
						  t->stdin_bytes, t->stdin_len };
	if (t->tests)
		blobs[n++] =
			(struct audit_blob){ "tests", "text/plain", t->tests, strlen(t->tests) };
	n += journal_add_files(data, files, t->file_count, blobs + n, names);
	add_made(data, t);
	context_record(data, t->context, blobs + n, &of_cells);
	return journal_queue(&r->journal, stage_name(STAGE_TASK), 0, "done", data, blobs, n + kept,
			     err);
}
