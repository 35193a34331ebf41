/*
 * assay log export: runs with their events and contents, as JSON, traces, a page or a bundle.
 * Bytes that are no UTF-8 go as base64; nothing is left out unsaid.
 */
#include "agent/cli/log/carry.h"
#include "agent/cli/log/log.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/term.h"
#include "base/base64.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CONTENT_MAX BUF_MAX_DEFAULT
#define PRIVATE	    0600 /* as the log is */

struct export
{
	struct terminal *term; /* for each_run */
	struct audit *audit;
	struct json *events;
	struct json *contents; /* by SHA-256 */
	struct json *(*make)(struct audit * audit, const struct audit_row *row, struct error *err);
	int fd; /* of a file; -1: standard output */
	struct error *err;
};

static void add_content(struct export *x, const char *sha256)
{
	cleanup_buf struct buf bytes = BUF_INIT(CONTENT_MAX);

	if (json_get(x->contents, sha256))
		return;
	struct json *content = json_object();
	struct error problem = ERROR_INIT;
	if (audit_blob(x->audit, sha256, &bytes, &problem) < 0) {
		json_set_string(content, "error", problem.message);
	} else if (utf8_valid(bytes.data, bytes.len)) {
		json_set_bytes(content, "text", bytes.data, bytes.len);
	} else {
		cleanup_free char *text = base64_text(bytes.data, bytes.len);
		json_set_string(content, "base64", text);
	}
	json_set(x->contents, sha256, content);
}

static int each_event(void *self, struct audit_record *record)
{
	struct export *x = self;
	struct json *event = json_object();

	json_set_int(event, "seq", record->seq);
	json_set(event, "at", log_date_json(record->at_ms));
	json_set_string(event, "stage", record->stage);
	json_set_int(event, "attempt", record->attempt);
	json_set_string(event, "phase", record->phase);
	for (const struct json *member = json_first(record->data); member;
	     member = json_next(member)) {
		const char *sha256 = json_get_string(member, "sha256");

		if (sha256 && json_get(member, "size") && json_count(member) == 2)
			add_content(x, sha256);
	}
	json_set(event, "data", TAKE_PTR(record->data));
	json_append(x->events, event);
	return 0;
}

struct json *log_run_json(struct audit *audit, const struct audit_row *row, struct error *err)
{
	struct json *object = log_row_json(row);
	struct export x = {
		.audit = audit, .events = json_array(), .contents = json_object(), .err = err
	};

	json_set(object, "config", row->config ? json_copy(row->config) : json_new_null());
	json_set(object, "events", x.events);
	json_set(object, "contents", x.contents);
	if (audit_events(audit, row->id, each_event, &x, err) < 0) {
		json_free(object);
		return NULL;
	}
	return object;
}

static int each_run(void *self, const struct audit_row *row)
{
	struct export *x = self;
	cleanup_json struct json *object = x->make(x->audit, row, x->err);
	cleanup_free char *text = object ? json_print(object) : NULL;

	if (!object)
		return -1;
	if (x->fd < 0)
		return term_out_json(x->term, text, x->err);
	return io_write_all(x->fd, text, strlen(text), x->err) < 0 ?
		       -1 :
		       io_write_all(x->fd, "\n", 1, x->err);
}

int log_export_to(const struct log *log, const char *bytes, size_t len, struct error *err)
{
	const char *path = settings_text(log->settings, OPT_OUTPUT, NULL);

	if (!path)
		return term_out(log->term, bytes, len, err);
	if (io_replace_file(path, bytes, len, PRIVATE, err) < 0)
		return error_wrap(err, "--output %s", path);
	term_note(log->term, TERM_GREEN, "written to %s\n", path);
	return 0;
}

static int export_page(const struct log *log, struct error *err)
{
	if (log->count > 1)
		return error_set(err, ERR_USAGE, "log export --html takes one RUN (default: last)");
	struct audit_row row;
	if (audit_find(log->audit, log->count ? log->args[0] : "last", &row, err) < 0)
		return -1;
	int rc = log_page(log, &row, err);
	audit_row_release(&row);
	return rc;
}

static int export_runs(const struct log *log, int fd, struct error *err)
{
	bool traces = log->settings->flags->given[OPT_OTEL].count > 0;
	struct export x = { .term = log->term,
			    .audit = log->audit,
			    .make = traces ? log_trace_json : log_run_json,
			    .fd = fd,
			    .err = err };
	struct log_filter which;

	if (log_filter_read(log->settings, &which, err) < 0 ||
	    log_since(log->settings, &which.filter.since_ms, err) < 0)
		return -1;
	if (!log->count)
		return audit_list(log->audit, &which.filter, each_run, &x, err) < 0 ||
				       err->kind != ERR_NONE ?
			       -1 :
			       0;
	for (size_t i = 0; i < log->count && err->kind == ERR_NONE; i++) {
		struct audit_row row;

		if (audit_find(log->audit, log->args[i], &row, err) < 0)
			return -1;
		each_run(&x, &row);
		audit_row_release(&row);
	}
	return err->kind == ERR_NONE ? 0 : -1;
}

/* As they come, into a file that has its name when it is whole. */
static int export_json(const struct log *log, struct error *err)
{
	const char *path = settings_text(log->settings, OPT_OUTPUT, NULL);
	cleanup_free char *part = path ? mem_printf("%s.part-%ld", path, (long)getpid()) : NULL;

	if (!path)
		return export_runs(log, -1, err);
	int fd = io_open(part, O_WRONLY | O_CREAT | O_EXCL, PRIVATE);
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "--output %s", path);
	int rc = export_runs(log, fd, err);
	if (!rc && io_fsync(fd) < 0 && errno != EINVAL)
		rc = error_set_errno(err, ERR_FAILED, errno, "--output %s", path);
	if (io_close(fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "--output %s", path);
	if (!rc && io_rename(part, path) < 0)
		rc = error_set_errno(err, ERR_FAILED, errno, "--output %s", path);
	if (rc < 0)
		io_unlink(part);
	else
		term_note(log->term, TERM_GREEN, "written to %s\n", path);
	return rc;
}

int log_export(const struct log *log, struct error *err)
{
	const struct option_values *given = log->settings->flags->given;

	if (given[OPT_HTML].count + given[OPT_BUNDLE].count + given[OPT_OTEL].count > 1)
		error_set(err, ERR_USAGE, "log export: one of --html, --bundle and --otel");
	else if (given[OPT_HTML].count)
		export_page(log, err);
	else if (given[OPT_BUNDLE].count)
		log_bundle(log, err);
	else
		export_json(log, err);
	return exit_code_of_error(err);
}
