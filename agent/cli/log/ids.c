/*
 * Runs as the arguments name them, or as the options choose them: their ids. It reads the log and
 * changes nothing; what is done with them is the caller's.
 */
#include "agent/cli/log/log.h"

#include "base/mem.h"

void log_ids_release(struct log_ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		mem_cleanup_free(&ids->list[i]);
	mem_cleanup_free(&ids->list);
}

void log_ids_add(struct log_ids *ids, const char *run)
{
	ids->list = mem_one_more(ids->list, ids->count, sizeof(*ids->list));
	ids->list[ids->count++] = mem_strdup(run);
}

static int add_row(void *self, const struct audit_row *row)
{
	struct log_ids *ids = self;

	if (!ids->before_ms || row->started_ms < ids->before_ms)
		log_ids_add(ids, row->id);
	return 0;
}

int log_ids_named(const struct log *log, struct log_ids *ids, struct error *err)
{
	for (size_t i = 0; i < log->count; i++) {
		struct audit_row row;

		if (audit_find(log->audit, log->args[i], &row, err) < 0)
			return -1;
		add_row(ids, &row);
		audit_row_release(&row);
	}
	return 0;
}

int log_ids_all(const struct log *log, struct log_ids *ids, struct error *err)
{
	struct log_filter which;

	if (log_filter_read(log->settings, &which, err) < 0)
		return -1;
	return audit_list(log->audit, &which.filter, add_row, ids, err);
}
