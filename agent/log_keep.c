/* assay log stats, diff, verify, rm, prune, backup. */
#include "agent/log.h"

#include "agent/compare.h"
#include "agent/status.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/mem.h"

#include <string.h>

/* --- stats --- */

/* Times for people; every other member as it is. Caller frees. */
static char *stat_text(const struct json *member)
{
	const char *key = json_key(member), *text = json_string(member);
	size_t len = strlen(key);
	char when[CLOCK_TEXT_LEN + 1];

	if (json_type(member) == JSON_NUMBER && len > 3 && !strcmp(key + len - 3, "_ms")) {
		clock_format(json_int(member, 0), when);
		return mem_strdup(when);
	}
	return text ? mem_strdup(text) : json_print(member);
}

int log_stats(const struct log *log, struct error *err)
{
	struct json *stats = NULL;
	const struct json *m;

	if (audit_stats(log->audit, &stats, err) < 0)
		return exit_code_of_error(err);
	if (log->settings->json)
		return log_print(stats, err) < 0 ? (int)exit_code_of_error(err) : EXIT_OK;
	for (m = json_first(stats); m && err->kind == ERR_NONE; m = json_next(m)) {
		cleanup_free char *text = stat_text(m);

		term_outf(err, "%-20s %s\n", json_key(m), text);
	}
	json_free(stats);
	return exit_code_of_error(err);
}

/* --- runs by name, or all --- */

struct ids {
	char **list;	/* owned */
	size_t count;
	int64_t before_ms;	/* only runs that began before; 0: any */
};

static void ids_release(struct ids *ids)
{
	size_t i;

	for (i = 0; i < ids->count; i++)
		mem_cleanup_free(&ids->list[i]);
	mem_cleanup_free(&ids->list);
}

static int add_id(void *self, const struct audit_row *row)
{
	struct ids *ids = self;

	if (ids->before_ms && row->started_ms >= ids->before_ms)
		return 0;
	ids->list = mem_array(ids->list, ids->count + 1, sizeof(*ids->list));
	ids->list[ids->count++] = mem_strdup(row->id);
	return 0;
}

static int find_named(const struct log *log, struct ids *ids, struct error *err)
{
	size_t i;

	for (i = 0; i < log->count; i++) {
		struct audit_row row;

		if (audit_find(log->audit, log->args[i], &row, err) < 0)
			return -1;
		add_id(ids, &row);
		audit_row_release(&row);
	}
	return 0;
}

static int find_all(const struct log *log, struct ids *ids, struct error *err)
{
	const struct audit_filter filter = {
		.status = settings_text(log->settings, OPT_STATUS, NULL),
		.tag = settings_text(log->settings, OPT_TAG, NULL),
	};

	return audit_list(log->audit, &filter, add_id, ids, err);
}

/* --- verify --- */

static int verify_one(const struct log *log, const char *id, struct json *rows, bool *ret_ok,
		      struct error *err)
{
	cleanup_free char *bad = NULL;
	struct json *row;

	if (audit_verify(log->audit, id, &bad, err) < 0)
		return -1;
	*ret_ok = !bad;
	if (log->settings->json) {
		row = json_object();
		json_set_string(row, "run", id);
		json_set_bool(row, "intact", !bad);
		json_set_string(row, "problem", bad);
		json_append(rows, row);
		return 0;
	}
	return bad ? term_out_style(TERM_RED, err, "%s  %s\n", id, bad) : 0;
}

int log_verify(const struct log *log, struct error *err)
{
	struct ids ids = { .count = 0 };
	struct json *rows = json_array();
	size_t i, broken = 0;
	int rc;

	rc = log->count ? find_named(log, &ids, err) : find_all(log, &ids, err);
	for (i = 0; i < ids.count && !rc; i++) {
		bool ok = true;

		rc = verify_one(log, ids.list[i], rows, &ok, err);
		broken += !ok;
	}
	if (!rc && log->settings->json)
		rc = log_print(json_copy(rows), err);
	else if (!rc)
		rc = term_outf(err, "%zu run%s checked, %zu broken\n", ids.count,
			       ids.count == 1 ? "" : "s", broken);
	json_free(rows);
	ids_release(&ids);
	if (rc < 0)
		return exit_code_of_error(err);
	return broken ? EXIT_FAILED : EXIT_OK;
}

/* --- removal --- */

static int remove_all(const struct log *log, struct ids *ids, struct error *err)
{
	cleanup_free const char **list = mem_array(NULL, ids->count + 1, sizeof(*list));
	size_t i, n = 0, j;

	for (i = 0; i < ids->count; i++) {	/* a run named twice is removed once */
		for (j = 0; j < n; j++)
			if (!strcmp(list[j], ids->list[i]))
				break;
		if (j == n)
			list[n++] = ids->list[i];
	}
	if (n && audit_remove_all(log->audit, list, n, err) < 0)
		return -1;
	term_note(TERM_GREEN, "%zu run%s removed\n", n, n == 1 ? "" : "s");
	return 0;
}

int log_rm(const struct log *log, struct error *err)
{
	struct ids ids = { .count = 0 };

	if (!log->count)
		error_set(err, ERR_USAGE, "log rm needs RUN...");
	else if (find_named(log, &ids, err) == 0)
		remove_all(log, &ids, err);
	ids_release(&ids);
	return exit_code_of_error(err);
}

int log_prune(const struct log *log, struct error *err)
{
	struct ids ids = { .count = 0 };

	if (log_since(log->settings, &ids.before_ms, err) < 0)
		return exit_code_of_error(err);
	if (!ids.before_ms || log->count)
		error_set(err, ERR_USAGE, "log prune needs --since TIME: runs older than that go");
	else if (find_all(log, &ids, err) == 0)
		remove_all(log, &ids, err);
	ids_release(&ids);
	return exit_code_of_error(err);
}

int log_backup(const struct log *log, struct error *err)
{
	if (log->count != 1)
		error_set(err, ERR_USAGE, "log backup needs one FILE");
	else if (audit_backup(log->audit, log->args[0], err) == 0)
		term_note(TERM_GREEN, "copied to %s\n", log->args[0]);
	return exit_code_of_error(err);
}

/* --- diff --- */

static int print_value(const char *sign, enum term_style style, const struct json *value,
		       struct error *err)
{
	cleanup_free char *text =
		json_string(value) ? mem_strdup(json_string(value)) : json_print(value);

	return term_out_style(style, err, "    %s %s\n", sign, text);
}

static int print_stages(const struct json *stages, struct error *err)
{
	const struct json *s, *d;

	for (s = json_first(stages); s && err->kind == ERR_NONE; s = json_next(s)) {
		bool same = json_get_bool(s, "same", false);

		term_out_style(same ? TERM_DIM : TERM_BOLD, err, "%s %lld: %s\n",
			       json_get_string(s, "stage"),
			       (long long)json_get_int(s, "attempt", 0), same ? "same" : "differs");
		for (d = json_first(json_get(s, "differences")); d && err->kind == ERR_NONE;
		     d = json_next(d)) {
			term_outf(err, "  %s\n", json_get_string(d, "field"));
			print_value("-", TERM_RED, json_get(d, "before"), err);
			print_value("+", TERM_GREEN, json_get(d, "after"), err);
		}
	}
	return err->kind == ERR_NONE ? 0 : -1;
}

static int compare(const struct log *log, const struct recording *a, const struct recording *b,
		   bool *ret_same, struct error *err)
{
	cleanup_json struct json *stages = NULL, *first = NULL;
	struct json *object;

	compare_runs(a, b, &stages, &first);
	*ret_same = !first;
	if (!log->settings->json)
		return print_stages(stages, err);
	object = json_object();
	json_set_string(object, "before", a->row.id);
	json_set_string(object, "after", b->row.id);
	json_set_bool(object, "same", !first);
	json_set(object, "stages", TAKE_PTR(stages));
	json_set(object, "first_divergence", first ? TAKE_PTR(first) : json_new_null());
	return log_print(object, err);
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
