/* assay log export: a run with its events and their contents, as JSON. */
#include "agent/log.h"

#include "agent/status.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

#define CONTENT_MAX BUF_MAX_DEFAULT

struct export {
	struct audit *audit;
	struct json *events;
	struct json *contents;	/* by SHA-256 */
	struct error *err;
};

/* RFC 4648, section 4. */
static char *base64(const char *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes;
	struct buf out = BUF_INIT(CONTENT_MAX * 2);
	size_t i;

	for (i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		unsigned int group = (unsigned int)in[i] << 16 | (have > 1 ? in[i + 1] : 0U) << 8 |
				     (have > 2 ? in[i + 2] : 0U);
		char four[4] = { digits[group >> 18], digits[group >> 12 & 63],
				 have > 1 ? digits[group >> 6 & 63] : '=',
				 have > 2 ? digits[group & 63] : '=' };

		buf_add(&out, four, sizeof(four));
	}
	return buf_take(&out, NULL);
}

static void add_content(struct export *x, const char *sha256)
{
	cleanup_buf struct buf bytes = BUF_INIT(CONTENT_MAX);
	struct error problem = ERROR_INIT;
	cleanup_free char *text = NULL;
	struct json *content;

	if (json_get(x->contents, sha256))
		return;
	content = json_object();
	if (audit_blob(x->audit, sha256, &bytes, &problem) < 0) {
		json_set_string(content, "error", problem.message);
	} else if (utf8_valid(bytes.data, bytes.len)) {
		json_set_bytes(content, "text", bytes.data, bytes.len);
	} else {
		text = base64(bytes.data, bytes.len);
		json_set_string(content, "base64", text);
	}
	json_set(x->contents, sha256, content);
}

static int each_event(void *self, struct audit_record *record)
{
	struct export *x = self;
	struct json *event = json_object();
	char at[CLOCK_TEXT_LEN + 1];
	const struct json *member;

	clock_format(record->at_ms, at);
	json_set_int(event, "seq", record->seq);
	json_set_string(event, "at", at);
	json_set_string(event, "stage", record->stage);
	json_set_int(event, "attempt", record->attempt);
	json_set_string(event, "phase", record->phase);
	for (member = json_first(record->data); member; member = json_next(member)) {
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
	struct export x = { audit, json_array(), json_object(), err };

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
	struct json *object = log_run_json(x->audit, row, x->err);

	return object ? log_print(object, x->err) : -1;
}

int log_export(const struct log *log, struct error *err)
{
	struct export x = { .audit = log->audit, .err = err };
	struct audit_filter filter = { .status = settings_text(log->settings, OPT_STATUS, NULL),
				       .tag = settings_text(log->settings, OPT_TAG, NULL) };
	size_t i;

	if (log_since(log->settings, &filter.since_ms, err) < 0)
		return exit_code_of_error(err);
	if (!log->count)
		audit_list(log->audit, &filter, each_run, &x, err);
	for (i = 0; i < log->count && err->kind == ERR_NONE; i++) {
		struct audit_row row;

		if (audit_find(log->audit, log->args[i], &row, err) < 0)
			break;
		each_run(&x, &row);
		audit_row_release(&row);
	}
	return exit_code_of_error(err);
}
