/*
 * Reading a context again (reread.h): its last run that ended well says what it started from, what
 * it was, and which files it had. Nothing is run here.
 */
#include "agent/doors/service/reread.h"

#include "agent/record/recorded_cells.h"
#include "base/mem.h"
#include "base/ulid.h"

#include <stdlib.h>
#include <string.h>

/* What replays one of its runs is in its session, and no part of it. */
static int take_id(void *self, const struct audit_row *row)
{
	if (row->replay_of)
		return 0;
	memcpy(self, row->id, sizeof(row->id));
	return 1;
}

static int read_files(struct held *held, const struct recording *r, struct error *err)
{
	cleanup_recorded_task struct recorded_task task = { .argv = NULL };

	if (recording_task(r, &task, err) < 0)
		return -1;
	return held_add_files(held, &task.task, err);
}

static int read_run(struct held *held, const struct recording *r, struct error *err)
{
	struct context context;
	int rc = context_after(r, &context, err);

	if (!rc) {
		free(context.name);
		context.name = mem_strdup(held->id);
		context_release(&held->context);
		held->context = context;
		rc = read_files(held, r, err);
	}
	if (rc < 0)
		return error_wrap(err,
				  "context %s cannot be made again from run %s, after its server "
				  "died: close it, and open another",
				  held->id, r->row.id);
	return 0;
}

/* Made again it would be another one. */
static int refuse(struct held *held, const char *why, struct error *err)
{
	held->lost = why;
	return error_set(
		err, ERR_FAILED,
		"context %s cannot be made again, after its server died: %s: close it, and "
		"open another",
		held->id, why);
}

int held_reread(struct held *held, struct audit *audit, struct error *err)
{
	cleanup_free char *session = held_session(held);
	const struct audit_filter filter = { .session = session,
					     .status = run_status_name(RUN_SUCCESS) };
	char run[ULID_LEN + 1] = "";

	if (!held->from_log)
		return 0;
	if (held->lost)
		return refuse(held, held->lost, err);
	if (audit_list(audit, &filter, take_id, run, err) < 0)
		return -1;
	if (strcmp(run, held->last) < 0)
		return refuse(held, "its last run is not in the log any more", err);
	if (*run) {
		struct recording r;
		int64_t redactions = 0;

		if (recording_load(&r, audit, run, err) < 0)
			return -1;
		r.redactions = &redactions;
		int rc = read_run(held, &r, err);
		if (!rc && redactions)
			rc = refuse(held,
				    "its programs or files have secrets, of which the log has none",
				    err);
		recording_release(&r);
		if (rc < 0)
			return -1;
		held->kept = held->reread = held->context.count > held->context.from;
	}
	held->from_log = false;
	return 0;
}
