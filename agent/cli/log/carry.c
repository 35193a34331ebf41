/*
 * Runs from log to log: log export --bundle, log import and log merge. A bundle is a log of its
 * own with the runs named. What is brought in is looked at as a whole before anything is written:
 * every run intact, and none that the log has as another one. A log from elsewhere is data: it is
 * opened for reading, and nothing that its schema holds is run (audit/open.c).
 */
#include "agent/cli/log/carry.h"

#include "agent/cli/command.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int carry_open(struct audit **ret, const struct settings *settings, const char *path,
	       enum log_use use, struct error *err)
{
	cleanup_free char *copy = mem_strdup(path);
	struct settings other = *settings;
	struct stat st;

	/* What the log itself says of this is for who has none yet. */
	if (use == LOG_CARRY && stat(path, &st) < 0)
		return error_set_errno(err, ERR_LOG, errno, "%s", path);
	if (use == LOG_CARRY && S_ISREG(st.st_mode) && !st.st_size)
		return error_set(err, ERR_LOG, "%s: is empty, and no log or bundle", path);
	other.db_path = copy;
	return command_open_log(ret, &other, use, err);
}

static int add_run(void *self, const struct audit_row *row)
{
	struct carry_runs *runs = self;

	runs->ids = mem_one_more(runs->ids, runs->count, sizeof(*runs->ids));
	runs->ids[runs->count++] = mem_strdup(row->id);
	return 0;
}

int carry_list(struct audit *audit, const struct audit_filter *filter, struct carry_runs *ret,
	       struct error *err)
{
	return audit_list(audit, filter, add_run, ret, err);
}

void carry_runs_release(struct carry_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free(runs->ids[i]);
	free(runs->ids);
	*runs = (struct carry_runs){ .count = 0 };
}

int carry_check(struct audit *to, struct audit *from, const struct carry_runs *runs,
		struct error *err)
{
	for (size_t i = 0; i < runs->count; i++) {
		enum audit_copied what;

		if (audit_copy_check(to, from, runs->ids[i], &what, err) < 0)
			return -1;
	}
	return 0;
}

int carry_all(struct audit *to, struct audit *from, const struct carry_runs *runs,
	      struct carried *ret, struct error *err)
{
	for (size_t i = runs->count; i-- > 0;) { /* the oldest first, as they were made */
		enum audit_copied what;

		if (audit_copy(to, from, runs->ids[i], &what, err) < 0)
			return -1;
		ret->by[what]++;
	}
	return 0;
}

void carry_json(struct json *object, const struct carried *c)
{
	json_set_int(object, "imported", (int64_t)c->by[AUDIT_COPY_NEW]);
	json_set_int(object, "already", (int64_t)c->by[AUDIT_COPY_THERE]);
	json_set_int(object, "unfinished", (int64_t)c->by[AUDIT_COPY_OPEN]);
}

void carry_tell(struct terminal *term, const struct carried *c, const char *where)
{
	const size_t n = c->by[AUDIT_COPY_NEW];

	term_note(term, TERM_GREEN, "%zu run%s into %s\n", n, n == 1 ? "" : "s", where);
	if (c->by[AUDIT_COPY_THERE])
		term_note(term, TERM_DIM, "%zu there already\n", c->by[AUDIT_COPY_THERE]);
	if (c->by[AUDIT_COPY_OPEN])
		term_note(term, TERM_YELLOW, "%zu left out: they have not ended\n",
			  c->by[AUDIT_COPY_OPEN]);
}

/* --- log import --- */

/* The log is made, where there is none, when the bundle was found to be whole. */
static int import(const struct log *log, const char *path, struct carried *ret, struct error *err)
{
	__attribute__((cleanup(carry_runs_release))) struct carry_runs runs = { .count = 0 };
	const struct audit_filter all = { .limit = 0 };
	cleanup_audit struct audit *from = NULL, *to = NULL;

	if (carry_open(&from, log->settings, path, LOG_CARRY, err) < 0 ||
	    carry_list(from, &all, &runs, err) < 0 || carry_check(NULL, from, &runs, err) < 0 ||
	    command_open_log(&to, log->settings, LOG_RECORD, err) < 0)
		return -1;
	console_log(log->term, to);
	return carry_check(to, from, &runs, err) < 0 ? -1 : carry_all(to, from, &runs, ret, err);
}

int log_import(const struct log *log, struct error *err)
{
	struct carried done = { .by = { 0 } };

	if (log->count != 1) {
		error_set(err, ERR_USAGE,
			  "log import needs one FILE, as log export --bundle makes");
	} else if (import(log, log->args[0], &done, err) == 0) {
		carry_tell(log->term, &done, log->settings->db_path);
		if (log->settings->json) {
			struct json *object = json_object();
			carry_json(object, &done);
			log_print(log->term, object, err);
		}
	}
	return exit_code_of_error(err);
}

/* --- log export --bundle --- */

static int find_runs(const struct log *log, struct carry_runs *ret, struct error *err)
{
	if (!log->count) {
		struct log_filter which;

		if (log_filter_read(log->settings, &which, err) < 0 ||
		    log_since(log->settings, &which.filter.since_ms, err) < 0)
			return -1;
		return carry_list(log->audit, &which.filter, ret, err);
	}
	for (size_t i = 0; i < log->count; i++) {
		struct audit_row row;

		if (audit_find(log->audit, log->args[i], &row, err) < 0)
			return -1;
		add_run(ret, &row);
		audit_row_release(&row);
	}
	return 0;
}

void carry_unlink(const char *path)
{
	static const char *const endings[] = { "", "-journal", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		cleanup_free char *name = mem_printf("%s%s", path, endings[i]);

		io_unlink(name);
	}
}

static int fill_bundle(const struct log *log, const char *part, struct carried *ret,
		       struct error *err)
{
	__attribute__((cleanup(carry_runs_release))) struct carry_runs runs = { .count = 0 };
	cleanup_audit struct audit *to = NULL;

	if (find_runs(log, &runs, err) < 0 ||
	    carry_open(&to, log->settings, part, LOG_RECORD, err) < 0)
		return -1;
	return carry_all(to, log->audit, &runs, ret, err);
}

/* The file has its name when it is whole. */
static int name_bundle(const char *part, const char *path, struct error *err)
{
	if (link(part, path) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "--output %s", path);
	return 0;
}

int log_bundle(const struct log *log, struct error *err)
{
	const char *path = settings_text(log->settings, OPT_OUTPUT, NULL);
	struct carried done = { .by = { 0 } };

	if (!path)
		return error_set(err, ERR_USAGE, "log export --bundle needs -o FILE");
	if (access(path, F_OK) == 0)
		return error_set(err, ERR_USAGE,
				 "--output %s: is there already; a bundle is a new file", path);
	cleanup_free char *part = mem_printf("%s.part-%ld", path, (long)getpid());
	int rc = fill_bundle(log, part, &done, err);
	if (!rc)
		rc = name_bundle(part, path, err);
	carry_unlink(part);
	if (!rc)
		carry_tell(log->term, &done, path);
	return rc;
}
