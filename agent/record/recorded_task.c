/*
 * What a recorded run was given: its question, or the program of `assay exec` and of a
 * conversation's /run. With it a replay needs nothing but the log and those inputs that the log has
 * not whole: what lies in their place now may not pass for the same.
 */
#include "agent/record/recording.h"

#include "agent/input/input.h"
#include "agent/record/recorded_cells.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What that run found of it at its end; NULL: nothing. */
static const struct json *recorded_input(const struct recording *r, const char *name)
{
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_INPUTS), 0, "done");

	for (const struct json *one = json_first(json_get(e ? e->data : NULL, "inputs")); one;
	     one = json_next(one))
		if (!strcmp(json_get_string(one, "name"), name))
			return one;
	return NULL;
}

/* One that the record has not whole: what is at its place now, if that can be had, with what it
 * was. Whether it is the same is for whoever runs it to look at (task_file.was). */
static void find_input(struct task_file *f, const struct json *source, const struct json *found)
{
	const char *path = json_get_string(source, "path");
	struct error ignored = ERROR_INIT;
	cleanup_close int fd = path ? input_open_path(path, &ignored) : -1;

	f->was = json_copy(source);
	json_set_string(f->was, "digest", json_get_string(found, "digest"));
	json_set_bool(f->was, "changed", json_get_bool(found, "changed", false));
	f->len = (size_t)json_get_int(source, "bytes", 0);
	if (fd >= 0 && input_open_fd(&f->input, fd, path, &ignored) < 0)
		f->input = NULL;
}

static bool is_made(const struct json *data, const char *path)
{
	const struct json *made = json_first(json_get(data, "made"));

	while (made && path && strcmp(json_string(made), path))
		made = json_next(made);
	return made;
}

/* The input files of an event ("files" and its file_N blobs). */
static int load_files(const struct recording *r, const struct json *data, struct task *t,
		      struct error *err)
{
	char name[32];

	for (const struct json *file = json_first(json_get(data, "files")); file;
	     file = json_next(file)) {
		const struct json *source =
			json_get(json_get(data, JOURNAL_SOURCES), json_string(file));

		snprintf(name, sizeof(name), "file_%zu", t->file_count);
		t->files = mem_array(t->files, t->file_count + 1, sizeof(*t->files));
		struct task_file *f = &t->files[t->file_count++];
		*f = (struct task_file){ .path = mem_strdup(json_string(file)),
					 .made = is_made(data, json_string(file)) };
		if (source)
			find_input(f, source, recorded_input(r, f->path));
		else if (recording_blob(r, data, name, &f->bytes, &f->len, err) < 0)
			return -1;
		else
			f->changed = json_get_bool(recorded_input(r, f->path), "changed", false);
	}
	return 0;
}

static enum check_source source_of(const char *name)
{
	for (int i = CHECK_PLANNER; i <= CHECK_CROSS_CHECK; i++)
		if (name && !strcmp(check_source_name((enum check_source)i), name))
			return (enum check_source)i;
	return CHECK_PLANNER;
}

static int load_checks(const struct json *data, struct task *t, struct error *err)
{
	for (const struct json *check = json_first(json_get(data, "checks")); check;
	     check = json_next(check)) {
		const struct json *arg = json_get(check, "arg");

		if (check_add(&t->checks, json_get_string(check, "kind"),
			      json_type(arg) == JSON_NULL ? NULL : arg,
			      source_of(json_get_string(check, "source")), err) < 0)
			return -1;
	}
	return 0;
}

static const char *language_of(const char *name)
{
	const struct language *language = name ? language_find(name) : NULL;

	return language ? language->name : NULL;
}

static void load_turns(const struct json *data, struct task *t)
{
	for (const struct json *turn = json_first(json_get(data, "turns")); turn;
	     turn = json_next(turn)) {
		t->turns = mem_array(t->turns, t->turn_count + 1, sizeof(*t->turns));
		t->turns[t->turn_count++] = (struct task_turn){
			.question = mem_strdup(json_get_string(turn, "question")),
			.code = mem_strdup(json_get_string(turn, "code")),
			.lang = language_of(json_get_string(turn, "language")),
			.output = mem_strdup(json_get_string(turn, "output")),
			.notes = mem_strdup(json_get_string(turn, "notes")),
			.answer = mem_strdup(json_get_string(turn, "answer")),
		};
	}
}

static int load_inputs(const struct recording *r, const struct json *data, struct task *t,
		       struct error *err)
{
	if (json_get(data, "stdin") &&
	    recording_blob(r, data, "stdin", &t->stdin_bytes, &t->stdin_len, err) < 0)
		return -1;
	return load_files(r, data, t, err);
}

/* --- a question --- */

static int load_question(const struct recording *r, struct task *t, struct error *err)
{
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_TASK), 0, "done");

	if (!e)
		return error_set(err, ERR_USAGE,
				 "run %s: its record has no task, so that it can only be viewed",
				 r->row.id);
	t->id = mem_strdup(json_get_string(e->data, "id"));
	t->mark = mem_strdup(json_get_string(e->data, "mark"));
	t->lang = language_of(json_get_string(e->data, "lang"));
	load_turns(e->data, t);
	struct recording uncounted = *r; /* no program starts from what was asked */
	uncounted.redactions = NULL;
	if (recording_blob(&uncounted, e->data, "prompt", &t->prompt, NULL, err) < 0 ||
	    load_inputs(r, e->data, t, err) < 0 ||
	    (json_get(e->data, "tests") &&
	     recording_blob(&uncounted, e->data, "tests", &t->tests, NULL, err) < 0))
		return -1;
	return load_checks(e->data, t, err);
}

/* --- a program --- */

/* An array of strings as main() is given one; the strings stay the array's. */
static const char **words_of(const struct json *list)
{
	const char **words = mem_array(NULL, json_count(list) + 1, sizeof(*words));
	size_t n = 0;

	for (const struct json *word = json_first(list); word; word = json_next(word))
		if (json_string(word))
			words[n++] = json_string(word);
	words[n] = NULL;
	return words;
}

/* One that was screened is a record of its own; else the first thing that was done
 * was to run it. */
static int load_program(const struct recording *r, struct recorded_task *t, struct error *err)
{
	const struct recorded_event *screened =
		recording_find(r, stage_name(STAGE_TASK), 0, "done");
	const struct recorded_event *e =
		screened ? screened : recording_find(r, stage_name(STAGE_EXECUTE), -1, "started");

	t->task.lang = e ? language_of(json_get_string(e->data, "language")) : NULL;
	if (!t->task.lang)
		return error_set(err, ERR_USAGE,
				 "run %s never began to execute, so that it can only be viewed",
				 r->row.id);
	t->task.prompt = mem_strndup(r->row.prompt, r->row.prompt_len);
	t->task.program = &t->program;
	t->argv = words_of(json_get(e->data, "args"));
	t->env = words_of(json_get(e->data, "env"));
	if (recording_blob(r, e->data, "code", &t->code, &t->program.len, err) < 0)
		return -1;
	t->program.code = t->code;
	t->program.argv = t->argv;
	t->program.env = t->env;
	t->program.state_from = json_get_string(e->data, "state_from");
	t->program.screened = screened;
	return load_inputs(r, e->data, &t->task, err);
}

int recording_task(const struct recording *r, struct recorded_task *ret, struct error *err)
{
	*ret = (struct recorded_task){ .code = NULL };
	if ((strcmp(r->row.kind, "exec") ? load_question(r, &ret->task, err) :
					   load_program(r, ret, err)) < 0)
		return -1;
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_TASK), 0, "done");
	e = e ? e : recording_find(r, stage_name(STAGE_EXECUTE), -1, "started");
	if (!e || !context_recorded(e->data))
		return 0;
	ret->task.context = &ret->context;
	return context_load(r, e->data, &ret->context, err);
}

void recorded_task_release(struct recorded_task *t)
{
	task_release(&t->task);
	context_release(&t->context);
	free(t->code);
	free(t->argv);
	free(t->env);
}
