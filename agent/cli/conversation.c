/*
 * The last conversation, out of the log: the record of its newest question has the turns before it,
 * and is one itself. Nothing is run and nobody is asked.
 */
#include "agent/cli/conversation.h"

#include "agent/cli/terminal/term.h"
#include "agent/record/recorded_cells.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_SIZE ((size_t)4096)

struct newest {
	char id[ULID_LEN + 1], session[ULID_LEN + 1];
	char *answer; /* owned */
};

static int is_question(void *self, const struct audit_row *row)
{
	struct newest *n = self;

	if ((strcmp(row->kind, "ask") && strcmp(row->kind, "repl")) || row->replay_of ||
	    !row->ended_ms)
		return 0;
	snprintf(n->id, sizeof(n->id), "%s", row->id);
	snprintf(n->session, sizeof(n->session), "%s", row->session ? row->session : row->id);
	n->answer = row->answer ? mem_strndup(row->answer, row->answer_len) : NULL;
	return 1;
}

char *conversation_title(const char *question, size_t used)
{
	struct buf shown = BUF_INIT(QUESTION_SIZE * 8);
	size_t columns = term_columns(), len = strcspn(question, "\n");
	size_t room = columns > used + 8 ? columns - used : 8;

	utf8_visible(&shown, question, len < QUESTION_SIZE ? len : QUESTION_SIZE);
	size_t whole = shown.len;
	if (utf8_fit(shown.data, whole, room) < whole || question[len]) {
		buf_truncate(&shown, utf8_fit(shown.data, whole, room - 1));
		buf_addstr(&shown, "…");
	}
	return buf_take(&shown, NULL);
}

void conversation_tell_dropped(struct terminal *term, const struct task_turn *turn)
{
	cleanup_free char *question = conversation_title(turn->question, 46);

	term_line(term, TERM_YELLOW, 0,
		  "no longer sent to the model, which is told %zu turns: \"%s\"",
		  CONVERSATION_TURNS, question);
}

/* The last event of that phase of the stage that runs programs. */
static const struct recorded_event *last_execution(const struct recording *r, const char *phase)
{
	for (size_t i = r->count; i-- > 0;)
		if (!strcmp(r->events[i].stage, stage_name(STAGE_EXECUTE)) &&
		    !strcmp(r->events[i].phase, phase))
			return &r->events[i];
	return NULL;
}

/* The last one of its own program, and its announcement: tests and a second program are run after
 * one that ended well. */
static const struct recorded_event *own_execution(const struct recording *r,
						  const struct recorded_event **ret_started)
{
	const struct recorded_event *done = context_execution(r, ret_started);
	const struct recorded_event *last = last_execution(r, "started");

	if (!last || (done && last->attempt == done->attempt))
		return done;
	*ret_started = last;
	return last_execution(r, "done");
}

/* NULL where there is none, or it was purged. */
static char *text_of(const struct recording *r, const struct recorded_event *e, const char *name)
{
	struct error ignored = ERROR_INIT;
	char *text = NULL;

	if (!e || !json_get(e->data, name) ||
	    recording_blob(r, e->data, name, &text, NULL, &ignored) < 0 || !*text) {
		free(text);
		return NULL;
	}
	return text;
}

/* The language of the program; NULL where there is none. */
static const char *lang_of(const struct recorded_event *started)
{
	const char *name = started ? json_get_string(started->data, "language") : NULL;
	const struct language *language = name ? language_find(name) : NULL;

	return language ? language->name : NULL;
}

static void add_turn(struct terminal *term, struct conversation *c, struct task_turn *turn)
{
	c->turns = mem_array(c->turns, c->turn_count + 1, sizeof(*c->turns));
	c->turns[c->turn_count++] = *turn;
	if (c->turn_count <= CONVERSATION_TURNS)
		return;
	conversation_tell_dropped(term, &c->turns[0]);
	task_turn_release(&c->turns[0]);
	memmove(c->turns, c->turns + 1, --c->turn_count * sizeof(*c->turns));
}

/* In place of one of that name. */
static void add_file(struct conversation *c, struct task_file *file)
{
	size_t i;

	for (i = 0; i < c->file_count && strcmp(c->files[i].path, file->path); i++)
		;
	if (i < c->file_count) {
		task_file_release(&c->files[i]);
	} else {
		c->files = mem_array(c->files, c->file_count + 1, sizeof(*c->files));
		c->file_count++;
	}
	c->files[i] = *file;
}

/* What stayed where it was is given as what it is now. It may be there no more: then there is
 * nothing to give. */
static void give_again(struct terminal *term, struct conversation *c, struct task_file *file)
{
	file->changed = false;
	if (!file->was || file->input) {
		json_free(TAKE_PTR(file->was));
		add_file(c, file);
		return;
	}
	term_note(term, TERM_YELLOW, "/in/");
	term_visible(term, file->path, strlen(file->path));
	term_note(term, TERM_YELLOW, " is gone and not given any more\n");
	task_file_release(file);
}

/* What the program wrote is there for the next question. */
static void add_artifacts(const struct recording *r, const struct recorded_event *e,
			  struct conversation *c)
{
	const struct json *a = e ? json_first(json_get(e->data, "artifacts")) : NULL;

	for (size_t i = 0; a; a = json_next(a), i++) {
		const char *path = json_get_string(a, "path"),
			   *slash = path ? strrchr(path, '/') : NULL;
		struct task_file file = { .path = mem_strdup(slash ? slash + 1 : path),
					  .made = true };
		struct error ignored = ERROR_INIT; /* it was not kept */

		char name[32];
		snprintf(name, sizeof(name), "artifact_%zu", i);
		if (path && json_get(e->data, name) &&
		    recording_blob(r, e->data, name, &file.bytes, &file.len, &ignored) == 0)
			add_file(c, &file);
		else
			task_file_release(&file);
	}
}

/* Those that it has: of others there is nothing to be opened. */
static void add_left(const struct recording *r, const struct recorded_event *e,
		     struct conversation *c)
{
	const struct json *a = e ? json_first(json_get(e->data, "artifacts")) : NULL;

	for (size_t i = 0; a; a = json_next(a), i++) {
		char name[32];
		struct error ignored = ERROR_INIT;
		const char *path = json_get_string(a, "path");
		char *bytes = NULL;
		size_t len;

		snprintf(name, sizeof(name), "artifact_%zu", i);
		if (!path || !json_get(e->data, name) ||
		    recording_blob(r, e->data, name, &bytes, &len, &ignored) < 0)
			continue;
		c->artifacts =
			mem_array(c->artifacts, c->artifact_count + 1, sizeof(*c->artifacts));
		c->artifacts[c->artifact_count++] = (struct sandbox_artifact){
			.path = mem_strdup(path),
			.size = len,
			.type = "",
			.kept = true,
			.bytes = bytes,
		};
	}
}

/* A last turn that left nothing is no reason not to go on. */
static void take_context(struct terminal *term, struct recording *r, const struct recorded_task *t,
			 struct conversation *c)
{
	struct error nothing = ERROR_INIT;
	int64_t secrets = 0;

	r->redactions = &secrets;
	int rc = context_after(r, &c->context, &nothing);
	r->redactions = NULL;
	if (rc < 0)
		return;
	if (c->context.count)
		conversation_tell_secrets(term, secrets);
	free(c->context.name);
	c->context.name = mem_strdup(c->session);
	c->cells = t->task.context ? t->task.context->count : 0;
	c->from = t->task.context ? t->task.context->from : 0;
}

static int read_back(struct terminal *term, struct recording *r, struct newest *n,
		     struct conversation *c, struct error *err)
{
	const struct recorded_event *started, *done = own_execution(r, &started);
	cleanup_recorded_task struct recorded_task t;
	int rc = recording_task(r, &t, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; i < t.task.turn_count; i++)
		add_turn(term, c, &t.task.turns[i]);
	t.task.turn_count = 0;
	for (size_t i = 0; i < t.task.file_count; i++)
		give_again(term, c, &t.task.files[i]);
	t.task.file_count = 0;
	struct task_turn turn = (struct task_turn){
		.question = mem_strdup(t.task.prompt),
		.code = text_of(r, started, "code"),
		.lang = lang_of(started),
		.output = text_of(r, done, "stdout"),
		.notes = text_of(r, done, "stderr"),
		.answer = n->answer,
	};
	n->answer = NULL;
	add_turn(term, c, &turn);
	snprintf(c->session, sizeof(c->session), "%s", n->session);
	snprintf(c->run, sizeof(c->run), "%s", n->id);
	c->lang = lang_of(started);
	c->executed = done;
	add_left(r, done, c);
	take_context(term, r, &t, c);
	if (!c->context.count) /* else the files are where the state is */
		add_artifacts(r, done, c);
	return 0;
}

static int find_newest(struct audit *audit, struct newest *ret, struct error *err)
{
	const struct audit_filter any = { .limit = 0 };

	if (audit_list(audit, &any, is_question, ret, err) < 0)
		return -1;
	if (*ret->id)
		return 0;
	return error_set(err, ERR_USAGE,
			 "there is no conversation to go on with: the log has no question that was "
			 "answered");
}

static int find_run(struct audit *audit, const char *run, struct newest *ret, struct error *err)
{
	struct audit_row row;

	if (audit_find(audit, run, &row, err) < 0)
		return -1;
	int found = is_question(ret, &row);
	audit_row_release(&row);
	if (found)
		return 0;
	return error_set(err, ERR_USAGE,
			 "run %s is no question of a conversation that was answered: there is "
			 "nothing to go on with",
			 run);
}

int conversation_load(struct terminal *term, struct audit *audit, const char *run,
		      struct conversation *ret, struct error *err)
{
	struct newest newest = { .answer = NULL };
	struct conversation c = { .turns = NULL };

	if ((run ? find_run(audit, run, &newest, err) : find_newest(audit, &newest, err)) < 0)
		return -1;
	struct recording r;
	int rc = recording_load(&r, audit, newest.id, err);
	if (rc == 0) {
		rc = read_back(term, &r, &newest, &c, err);
		recording_release(&r);
	}
	free(newest.answer);
	if (rc < 0)
		conversation_release(&c);
	else
		*ret = c;
	return rc;
}

void conversation_tell_limits(struct terminal *term, const struct context *context,
			      const struct sandbox_limits *limits)
{
	cleanup_free char *raised = context_raised(context, limits);

	if (raised)
		term_note(
			term, TERM_YELLOW,
			"its record gives what is continued more than is set here: %s (what begins "
			"anew has what is set)\n",
			raised);
}

void conversation_tell_secrets(struct terminal *term, int64_t redactions)
{
	if (redactions)
		term_note(term, TERM_YELLOW,
			  "the log does not have the secrets of the earlier programs: where they "
			  "used "
			  "one, the state that is made again has [REDACTED...] instead\n");
}

int conversation_choose(const struct options *o, bool *ret_wanted, const char **ret_run,
			struct error *err)
{
	const struct option_values *from = &o->given[OPT_CONTINUE_FROM];
	bool last = o->given[OPT_CONTINUE].count > 0;

	if (last && from->count)
		return error_set(err, ERR_USAGE,
				 "--continue and --continue-from exclude each other");
	*ret_wanted = last || from->count;
	*ret_run = from->count ? from->values[0] : NULL;
	return 0;
}

void conversation_release(struct conversation *c)
{
	while (c->turn_count)
		task_turn_release(&c->turns[--c->turn_count]);
	while (c->file_count)
		task_file_release(&c->files[--c->file_count]);
	for (size_t i = 0; i < c->artifact_count; i++) {
		free(c->artifacts[i].path);
		free(c->artifacts[i].bytes);
	}
	free(c->artifacts);
	free(c->turns);
	free(c->files);
	context_release(&c->context);
	*c = (struct conversation){ .turns = NULL };
}

static bool has_file(const struct task *task, const char *path)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (!strcmp(task->files[i].path, path))
			return true;
	return false;
}

void conversation_give(struct conversation *c, struct task *task)
{
	for (size_t i = 0; i < c->file_count; i++) {
		if (has_file(task, c->files[i].path))
			continue;
		task->files = mem_array(task->files, task->file_count + 1, sizeof(*task->files));
		task->files[task->file_count++] = c->files[i];
		c->files[i] = (struct task_file){ .path = NULL };
	}
	if (c->context.count)
		task->context = &c->context;
	task->turns = TAKE_PTR(c->turns);
	task->turn_count = c->turn_count;
	c->turn_count = 0;
}
