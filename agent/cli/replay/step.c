/*
 * assay replay --step: a person looks at each stage of a replay before the next begins.
 * What is shown is what the log has of it by then, as log show does; nothing is decided
 * here but whether to go on. A stage of the loop may have several in the record (a
 * verdict, an answer and the checks): they are shown one by one.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/app.h"
#include "agent/cli/log/log.h"
#include "agent/cli/terminal/keyboard.h"
#include "agent/cli/terminal/question.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MAX 64 /* bytes of what a person types */

/* A record that was not shown yet. */
struct unseen {
	struct audit_record record; /* its data is owned */
	char *stage, *phase;	    /* and its names; owned */
};

struct view {
	struct replay *replay;
	struct unseen *list; /* owned */
	size_t count;
	struct audit_row row;
	struct json *stages; /* of compare_runs, as far as the replay came; owned */
};

bool replay_steps(const struct replay *p)
{
	return p->given->flags->given[OPT_STEP].count;
}

int replay_check_step(const struct replay *p, struct error *err)
{
	if (!replay_steps(p))
		return 0;
	if (p->given->json || p->tier == TIER_VIEW)
		return error_set(err, ERR_USAGE, "--step and %s exclude each other",
				 p->given->json ? "--json" : "--tier view");
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
		return 0;
	return error_set(err, ERR_USAGE,
			 "--step asks at a terminal after each stage, and standard input, output "
			 "and error are not all one; without --step the replay runs through, and "
			 "assay log show has each of its stages");
}

/* --- what there is to show --- */

/* Copied, so that nobody who writes to the log waits for a person. */
static int each_record(void *self, struct audit_record *record)
{
	struct view *v = self;

	if (record->seq <= v->replay->step.seen)
		return 0;
	v->list = mem_one_more(v->list, v->count, sizeof(*v->list));
	struct unseen *at = &v->list[v->count++];
	*at = (struct unseen){ *record, mem_strdup(record->stage), mem_strdup(record->phase) };
	at->record.stage = at->stage;
	at->record.phase = at->phase;
	record->data = NULL;
	return 0;
}

static void view_release(struct view *v)
{
	for (size_t i = 0; i < v->count; i++) {
		free(v->list[i].stage);
		free(v->list[i].phase);
		json_free(v->list[i].record.data);
	}
	free(v->list);
	json_free(v->stages);
	if (*v->row.id)
		audit_row_release(&v->row);
}

/* A fork has nothing to be compared with. */
static int compare_so_far(struct view *v, const char *run, struct error *err)
{
	struct recording now = { .audit = NULL };

	if (v->replay->before.from)
		return 0;
	int rc = recording_load(&now, v->replay->audit, run, err);
	struct json *first = NULL;
	if (!rc)
		compare_runs(&v->replay->before, &now, &v->stages, &first);
	json_free(first);
	recording_release(&now);
	return rc;
}

static bool is_as_recorded(const struct view *v, const struct audit_record *record)
{
	for (const struct json *row = json_first(v->stages); row; row = json_next(row))
		if (!strcmp(json_get_string(row, "stage"), record->stage) &&
		    json_get_int(row, "attempt", 0) == record->attempt &&
		    !json_get_bool(row, "same", false))
			return false;
	return true;
}

/* --- asking --- */

static int quit(struct view *v, const struct audit_record *record, struct error *err)
{
	v->replay->step.quit = true;
	return error_set(err, ERR_CANCELLED, "stopped after %s", record->stage);
}

static int show_in_full(const struct view *v, const struct log *log,
			const struct audit_record *record, struct error *err)
{
	cleanup_free char *stage = mem_printf("%s:%d", record->stage, record->attempt);

	return log_show_stage(log, &v->row, stage, err);
}

static const char *verdict(const struct view *v, const struct audit_record *record)
{
	return !v->stages ? "" : is_as_recorded(v, record) ? ", as recorded" : ", differs";
}

static int ask(struct view *v, const struct log *log, const struct audit_record *record,
	       struct error *err)
{
	for (;;) {
		char answer[ANSWER_MAX];

		term_ask(log->term, "%s%s: [n]ext, [c]ontinue to the end, [s]how in full, [q]uit: ",
			 record->stage, verdict(v, record));
		if (question_read(v->replay->given->app->cancel_fd, answer, sizeof(answer)) <= 0)
			return quit(v, record, err);
		switch (*answer) {
		case '\0':
		case 'n':
			return 0;
		case 'c':
			v->replay->step.through = true;
			return 0;
		case 's':
			if (show_in_full(v, log, record, err) < 0)
				return -1;
			break;
		case 'q':
			return quit(v, record, err);
		default:
			break;
		}
	}
}

/* What was typed before the question is not its answer. */
static int ask_alone(struct view *v, const struct log *log, const struct audit_record *record,
		     struct error *err)
{
	keyboard_lend();
	int rc = ask(v, log, record, err);
	keyboard_take_back();
	return rc;
}

static int show_each(struct view *v, struct error *err)
{
	const struct log log = { .settings = v->replay->given,
				 .audit = v->replay->audit,
				 .term = v->replay->console.term };

	for (size_t i = 0; i < v->count && !v->replay->step.through; i++) {
		struct audit_record *record = &v->list[i].record;

		v->replay->step.seen = record->seq;
		if (log_show_record(&log, &v->row, record, err) < 0 ||
		    (!strcmp(record->phase, "done") && ask_alone(v, &log, record, err) < 0))
			return -1;
	}
	return 0;
}

static int pause_run(void *self, const char *run, struct error *err)
{
	struct replay *p = self;
	struct view v = { .replay = p };

	if (p->step.through)
		return 0;
	term_status(p->console.term, NULL);
	int rc = 0;
	if (audit_find(p->audit, run, &v.row, err) < 0 ||
	    audit_events(p->audit, run, each_record, &v, err) < 0 ||
	    compare_so_far(&v, run, err) < 0 || show_each(&v, err) < 0)
		rc = -1;
	view_release(&v);
	return rc;
}

void replay_step_end(struct replay *p, struct pause_ops *ret)
{
	*ret = (struct pause_ops){ pause_run, p };
}

int replay_tell_quit(const struct replay *p, struct error *err)
{
	error_clear(err);
	return term_outf(p->console.term, err, "%s: run %s%s%s\n", p->after.row.reason,
			 p->before.row.id, p->scratch ? "" : ", replayed so far as ",
			 p->scratch ? "" : p->run);
}
