/*
 * assay log diff, rm, prune, backup, reindex: what keeps a log. What removes says what it
 * removed, and asks the log for nothing but whole runs.
 */
#include "agent/cli/log/log.h"
#include "agent/cli/log/saved.h"

#include "agent/record/compare.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/places.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_DAYS_MAX 100000

/* --- removal --- */

static int by_id(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each once, in order. */
static size_t sort_ids(const struct log_ids *ids, const char **ret)
{
	qsort(ids->list, ids->count, sizeof(*ids->list), by_id);
	size_t n = 0;
	for (size_t i = 0; i < ids->count; i++)
		if (!n || strcmp(ret[n - 1], ids->list[i]))
			ret[n++] = ids->list[i];
	return n;
}

static int print_removed(const struct log *log, const char *const *list, size_t n, bool dry,
			 struct error *err)
{
	if (!log->settings->json) {
		for (size_t i = 0; dry && i < n; i++)
			if (term_outf(log->term, err, "%s\n", list[i]) < 0)
				return -1;
		term_note(log->term, dry ? TERM_DIM : TERM_GREEN, "%zu run%s %s\n", n,
			  n == 1 ? "" : "s", dry ? "would go" : "removed");
		return 0;
	}
	struct json *object = json_object();
	struct json *runs = json_array();
	for (size_t i = 0; i < n; i++)
		json_append(runs, json_new_string(list[i]));
	json_set_bool(object, "removed", !dry);
	json_set(object, "runs", runs);
	return log_print(log->term, object, err);
}

static int remove_all(const struct log *log, const struct log_ids *ids, struct error *err)
{
	cleanup_free const char **list = mem_array(NULL, ids->count + 1, sizeof(*list));
	bool dry = log->settings->flags->given[OPT_DRY_RUN].count > 0;
	cleanup_log_saved struct log_saved saved = { .count = 0 };
	size_t n = sort_ids(ids, list);

	if (n && !dry &&
	    (log_saved_find(&saved, log->audit, log->settings->db_path, list, n, err) < 0 ||
	     audit_remove_all(log->audit, list, n, err) < 0))
		return -1;
	log_saved_remove(log->term, &saved);
	if (!dry && places_forget(log->settings->db_path, list, n, err) < 0)
		return -1;
	return print_removed(log, list, n, dry, err);
}

/* Once: a forged log may have two that are replays of each other. */
static int add_replay(void *self, const struct audit_row *row)
{
	struct log_ids *ids = self;

	for (size_t i = 0; i < ids->count; i++)
		if (!strcmp(ids->list[i], row->id))
			return 0;
	log_ids_add(ids, row->id);
	return 0;
}

/* A replay holds what its run held; and one of a replay, too. */
static int add_replays(const struct log *log, struct log_ids *ids, struct error *err)
{
	const size_t named = ids->count;

	for (size_t i = 0; i < ids->count; i++) {
		const struct audit_filter filter = { .replay_of = ids->list[i] };

		if (audit_list(log->audit, &filter, add_replay, ids, err) < 0)
			return -1;
	}
	if (ids->count > named)
		term_note(log->term, TERM_DIM, "with %zu replay%s (--keep-replays leaves them)\n",
			  ids->count - named, ids->count - named == 1 ? "" : "s");
	return 0;
}

int log_rm(const struct log *log, struct error *err)
{
	const struct option_values *given = log->settings->flags->given;
	bool keep = given[OPT_KEEP_REPLAYS].count > 0;
	struct log_ids ids = { .count = 0 };

	if (!log->count)
		error_set(err, ERR_USAGE, "log rm needs RUN...");
	else if (keep && given[OPT_WITH_REPLAYS].count)
		error_set(err, ERR_USAGE, "--keep-replays and --with-replays: give one");
	else if (log_ids_named(log, &ids, err) == 0 && (keep || add_replays(log, &ids, err) == 0))
		remove_all(log, &ids, err);
	log_ids_release(&ids);
	return exit_code_of_error(err);
}

static int add_outdated(void *self, const char *run)
{
	log_ids_add(self, run);
	return 0;
}

/* By what is configured, or given as options. */
static int find_outdated(const struct log *log, struct log_ids *ids, struct error *err)
{
	struct audit_retention keep = { 0 };
	int64_t days = 0;

	if (settings_count(log->settings, OPT_KEEP_DAYS, &days, err) < 0 ||
	    settings_bytes(log->settings, OPT_KEEP_BYTES, &keep.max_bytes, err) < 0 ||
	    settings_switch(log->settings, OPT_KEEP_FAILED, &keep.failed, err) < 0)
		return -1;
	if (days > KEEP_DAYS_MAX)
		return error_set(err, ERR_USAGE, "--keep-days: %d at most", KEEP_DAYS_MAX);
	if (!days && !keep.max_bytes)
		return error_set(err, ERR_USAGE,
				 "log prune: nothing says what to keep; set keep-days or "
				 "keep-bytes in the configuration, or give --since TIME: runs "
				 "older than that go");
	keep.before_ms = days ? clock_wall_ms() - days * LOG_DAY_MS : 0;
	return audit_outdated(log->audit, &keep, add_outdated, ids, err);
}

int log_prune(const struct log *log, struct error *err)
{
	struct log_ids ids = { .count = 0 };
	int rc = -1;

	if (log->count)
		error_set(err, ERR_USAGE,
			  "log prune takes no argument; log rm RUN... removes runs");
	else if (log_since(log->settings, &ids.before_ms, err) == 0)
		rc = ids.before_ms ? log_ids_all(log, &ids, err) : find_outdated(log, &ids, err);
	if (!rc)
		remove_all(log, &ids, err);
	log_ids_release(&ids);
	return exit_code_of_error(err);
}

int log_backup(const struct log *log, struct error *err)
{
	if (log->count != 1)
		error_set(err, ERR_USAGE, "log backup needs one FILE");
	else if (audit_backup(log->audit, log->args[0], err) == 0)
		term_note(log->term, TERM_GREEN, "copied to %s\n", log->args[0]);
	return exit_code_of_error(err);
}

int log_reindex(const struct log *log, struct error *err)
{
	if (log->count)
		error_set(err, ERR_USAGE, "log reindex takes no argument");
	else if (audit_reindex(log->audit, err) == 0)
		term_note(log->term, TERM_GREEN, "the full-text index is made anew\n");
	return exit_code_of_error(err);
}

/* --- diff --- */

static int print_value(struct terminal *term, const char *sign, enum term_style style,
		       const struct json *value, struct error *err)
{
	cleanup_free char *text =
		json_string(value) ? mem_strdup(json_string(value)) : json_print(value);

	return term_out_style(term, style, err, "    %s %s\n", sign, text);
}

static int print_stages(struct terminal *term, const struct json *stages, struct error *err)
{
	for (const struct json *s = json_first(stages); s && err->kind == ERR_NONE;
	     s = json_next(s)) {
		bool same = json_get_bool(s, "same", false);

		term_out_style(term, same ? TERM_DIM : TERM_BOLD, err, "%s %lld: %s\n",
			       json_get_string(s, "stage"),
			       (long long)json_get_int(s, "attempt", 0), same ? "same" : "differs");
		for (const struct json *d = json_first(json_get(s, "differences"));
		     d && err->kind == ERR_NONE; d = json_next(d)) {
			term_outf(term, err, "  %s\n", json_get_string(d, "field"));
			print_value(term, "-", TERM_RED, json_get(d, "before"), err);
			print_value(term, "+", TERM_GREEN, json_get(d, "after"), err);
		}
	}
	return err->kind == ERR_NONE ? 0 : -1;
}

static int compare(const struct log *log, const struct recording *a, const struct recording *b,
		   bool *ret_same, struct error *err)
{
	cleanup_json struct json *stages = NULL, *first = NULL;

	compare_runs(a, b, &stages, &first);
	*ret_same = !first;
	if (!log->settings->json)
		return print_stages(log->term, stages, err);
	struct json *object = json_object();
	json_set_string(object, "before", a->row.id);
	json_set_string(object, "after", b->row.id);
	json_set_bool(object, "same", !first);
	json_set(object, "stages", TAKE_PTR(stages));
	json_set(object, "first_divergence", first ? TAKE_PTR(first) : json_new_null());
	return log_print(log->term, object, err);
}

int log_diff(const struct log *log, struct error *err)
{
	struct recording a = { .count = 0 }, b = { .count = 0 };
	bool same = true;

	if (log->count != 2)
		error_set(err, ERR_USAGE, "log diff needs two RUNs");
	else if (recording_load(&a, log->audit, log->args[0], err) == 0 &&
		 recording_load(&b, log->audit, log->args[1], err) == 0)
		compare(log, &a, &b, &same, err);
	recording_release(&a);
	recording_release(&b);
	if (err->kind != ERR_NONE)
		return exit_code_of_error(err);
	return same ? EXIT_OK : EXIT_FAILED;
}
