/*
 * Which run's replay diverged last: the log has what both did, so it is compared again.
 * Nothing is run.
 */
#include "agent/cli/replay/replay.h"

#include <string.h>

struct search {
	struct audit *audit;
	char *found; /* ULID_LEN + 1 bytes; "" until it is */
};

static bool differ(struct audit *audit, const char *before, const char *after, struct error *err)
{
	struct recording a = { .audit = NULL }, b = { .audit = NULL };
	struct json *stages = NULL, *first = NULL;

	if (recording_load(&a, audit, before, err) == 0 &&
	    recording_load(&b, audit, after, err) == 0)
		compare_runs(&a, &b, &stages, &first);
	bool found = first;
	json_free(stages);
	json_free(first);
	recording_release(&a);
	recording_release(&b);
	return found;
}

/* By a person, before it could be told whether it diverges. */
static bool was_cut_short(const struct audit_row *row)
{
	return row->status && !strcmp(row->status, run_status_name(RUN_CANCELLED));
}

static int each_row(void *self, const struct audit_row *row)
{
	struct search *s = self;
	struct error gone = ERROR_INIT; /* an original that was removed */

	if (!row->replay_of || json_get(row->config, "from") || was_cut_short(row) ||
	    !differ(s->audit, row->replay_of, row->id, &gone))
		return 0;
	memcpy(s->found, row->replay_of, ULID_LEN + 1);
	return 1;
}

int replay_last_diverged(struct audit *audit, char ret[ULID_LEN + 1], struct error *err)
{
	const struct audit_filter all = { .limit = 0 };
	struct search s = { audit, ret };

	*ret = '\0';
	if (audit_list(audit, &all, each_row, &s, err) < 0)
		return -1;
	return *ret ? 0 : error_set(err, ERR_USAGE, "no replay in the log diverged");
}
