/*
 * assay log contexts: the names that `assay exec --context` was given, the last used first. A
 * session of the log may be any text: what could be no such name is not listed.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/session.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>

#define RUNS_MAX 2000 /* that are looked at: a shell asks while somebody types */

struct names {
	struct json *rows; /* one for each, the names in them are distinct */
};

static bool has(const struct names *n, const char *name)
{
	for (const struct json *row = json_first(n->rows); row; row = json_next(row))
		if (!strcmp(json_get_string(row, "context"), name))
			return true;
	return false;
}

static int each_run(void *self, const struct audit_row *row)
{
	struct names *n = self;
	const char *name = session_context(row->session);

	if (!name || has(n, name))
		return 0;
	struct json *object = json_object();
	json_set_string(object, "context", name);
	json_set_string(object, "run", row->id);
	json_set(object, "started", log_date_json(row->started_ms));
	json_append(n->rows, object);
	return 0;
}

static int print_names(const struct log *log, const struct json *rows, struct error *err)
{
	for (const struct json *row = json_first(rows); row; row = json_next(row))
		if (term_outf(log->term, err, "%s\n", json_get_string(row, "context")) < 0)
			return -1;
	return 0;
}

int log_contexts(const struct log *log, struct error *err)
{
	const struct audit_filter filter = { .kind = "exec", .limit = RUNS_MAX };
	cleanup_json struct json *rows = json_array();
	struct names names = { .rows = rows };

	if (log->count)
		error_set(err, ERR_USAGE, "log contexts takes no argument");
	else if (audit_list(log->audit, &filter, each_run, &names, err) == 0 &&
		 !log->settings->json)
		print_names(log, rows, err);
	else if (err->kind == ERR_NONE)
		log_print(log->term, TAKE_PTR(rows), err);
	return exit_code_of_error(err);
}
