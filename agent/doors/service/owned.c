/*
 * Whose run it is: by its tag, which only the door that made it gives. What belongs to another is
 * told of in the words for what is not there.
 */
#include "agent/doors/service/owned.h"

#include <string.h>

struct search {
	const char *run;
	bool found;
};

static int is_it(void *self, const struct audit_row *row)
{
	struct search *s = self;

	s->found = !strcmp(row->id, s->run);
	return s->found;
}

static int no_such_run(const char *which, struct error *err)
{
	return error_set(err, ERR_USAGE, "there is no run \"%.60s\"", which);
}

static int check_owner(struct audit *audit, const struct audit_row *row, const char *owner,
		       bool *ret_is, struct error *err)
{
	const struct audit_filter filter = { .tag = owner,
					     .since_ms = row->started_ms,
					     .before_ms = row->started_ms + 1 };
	struct search s = { .run = row->id };
	int rc = audit_list(audit, &filter, is_it, &s, err);

	*ret_is = s.found;
	return rc < 0 && err->kind != ERR_NONE ? -1 : 0;
}

int owned_run(struct audit *audit, const char *which, const char *owner, struct audit_row *ret,
	      struct error *err)
{
	if (!owner)
		return audit_find(audit, which, ret, err);
	/* Candidates of others would be named. */
	if (strlen(which) != ULID_LEN || audit_find(audit, which, ret, err) < 0)
		return no_such_run(which, err);
	bool is = false;
	if (check_owner(audit, ret, owner, &is, err) == 0 && is)
		return 0;
	audit_row_release(ret);
	return err->kind == ERR_NONE ? no_such_run(which, err) : -1;
}

struct listing {
	const struct service_ends *ends;
	struct json *rows; /* borrowed */
};

static int add_row(void *self, const struct audit_row *row)
{
	struct listing *l = self;

	json_append(l->rows, l->ends->row(row));
	return 0;
}

int owned_list(const struct worker *w, const struct audit_filter *filter, struct json *rows,
	       struct error *err)
{
	struct listing l = { service_ends(w->service), rows };

	return audit_list(w->audit, filter, add_row, &l, err);
}
