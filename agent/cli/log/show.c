/*
 * assay log show: what happened in a run, stage by stage. It shows what was recorded, damaged or
 * not, and computes nothing anew.
 */
#include "agent/cli/log/log.h"

#include "agent/record/render.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX    ((size_t)64 << 20)
#define LINES_SHOWN 60
#define ASKED_SHOWN ((size_t)600) /* bytes of what a model was asked */

struct show {
	const struct log *log;
	const struct audit_row *row;
	char *open_stage;   /* begun and not ended; owned */
	bool program_shown; /* of a run without an extraction */
	struct error *err;
};

/* --- pieces --- */

/* Text indented by two blanks, at most LINES_SHOWN lines of it. */
static int put_text(struct terminal *term, const char *text, size_t len, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(TEXT_MAX);
	const char *end = text + len;
	size_t lines = 0, rest = 0;

	for (const char *line = text; line < end; lines++) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		size_t n = nl ? (size_t)(nl - line) : (size_t)(end - line);

		if (lines < LINES_SHOWN) {
			buf_addstr(&out, "  ");
			utf8_visible(&out, line, n);
			buf_addch(&out, '\n');
		} else {
			rest++;
		}
		line += n + 1;
	}
	if (rest)
		buf_addf(&out, "  ... %zu more lines (--json has all)\n", rest);
	return term_out(term, out.data, out.len, err);
}

static int put_blob(struct show *s, const struct json *data, const char *name, const char *title)
{
	cleanup_buf struct buf bytes = BUF_INIT(TEXT_MAX);

	if (!json_get(data, name))
		return 0;
	struct error problem = ERROR_INIT;
	if (audit_blob_of(s->log->audit, data, name, &bytes, &problem) < 0)
		return term_outf(s->log->term, s->err, "  %s: %s\n", title, problem.message);
	if (!bytes.len)
		return 0;
	if (*title && term_out_style(s->log->term, TERM_DIM, s->err, "  %s:\n", title) < 0)
		return -1;
	return put_text(s->log->term, bytes.data, bytes.len, s->err);
}

static int put_code(struct terminal *term, const char *lang, const char *code, size_t len,
		    struct error *err)
{
	if (term_outf(term, err, "\n") < 0 || term_out_code(term, lang, code, len, err) < 0)
		return -1;
	return term_outf(term, err, "\n");
}

/* --- one stage's result each --- */

static int show_reply(struct show *s, const struct json *data)
{
	const struct json *usage = json_get(data, "usage"), *failure = json_get(data, "failure");
	const char *model = json_get_string(data, "model"),
		   *stop = json_get_string(data, "stop_reason");
	const char *message = json_string(failure);

	if (term_out_style(s->log->term, TERM_DIM, s->err,
			   "  %s%s%s, %" PRId64 " tokens in (%" PRId64 " cached), %" PRId64 " out, "
			   "%" PRId64 " ms\n",
			   model ? model : "", model ? ", " : "", stop ? stop : "no reply",
			   json_get_int(usage, "input_tokens", 0),
			   json_get_int(usage, "cached_tokens", 0),
			   json_get_int(usage, "output_tokens", 0),
			   json_get_int(data, "duration_ms", 0)) < 0)
		return -1;
	message = message ? message : json_get_string(failure, "message");
	if (message && term_out_style(s->log->term, TERM_RED, s->err, "  %s\n", message) < 0)
		return -1;
	return put_blob(s, data, "text", "");
}

static int show_extract(struct show *s, const struct json *data)
{
	const char *convention = json_get_string(data, "convention");
	const char *joined = json_get_string(json_get(data, "program"), "why");

	if (term_outf(s->log->term, s->err, "  %s%s%s\n", json_get_string(data, "status"),
		      convention ? ", found by: " : "", convention ? convention : "") < 0 ||
	    (joined && term_out_style(s->log->term, TERM_DIM, s->err, "  %s\n", joined) < 0))
		return -1;
	for (const struct json *b = json_first(json_get(data, "blocks")); b; b = json_next(b)) {
		bool chosen = json_get_bool(b, "chosen", false);
		const char *lang = json_get_string(b, "lang"), *why = json_get_string(b, "why");
		const char *code = json_get_string(b, "code");

		if (term_out_style(s->log->term, TERM_DIM, s->err,
				   "  lines %" PRId64 "-%" PRId64 " %s: %s\n",
				   json_get_int(b, "start_line", 0), json_get_int(b, "end_line", 0),
				   lang ? lang : "", why ? why : "") < 0)
			return -1;
		if (chosen && code &&
		    put_code(s->log->term, lang ? lang : "", code, strlen(code), s->err) < 0)
			return -1;
	}
	return 0;
}

static int show_screen(struct show *s, const struct json *data)
{
	if (term_outf(s->log->term, s->err, "  %s\n", json_get_string(data, "verdict")) < 0)
		return -1;
	for (const struct json *f = json_first(json_get(data, "findings")); f; f = json_next(f))
		if (term_out_style(s->log->term, TERM_YELLOW, s->err,
				   "  line %" PRId64 ": %s: %s [%s]\n", json_get_int(f, "line", 0),
				   json_get_string(f, "action"), json_get_string(f, "message"),
				   json_get_string(f, "rule")) < 0)
			return -1;
	return 0;
}

static int show_approve(struct show *s, const struct json *data)
{
	const char *reason = json_get_string(data, "reason");

	return term_outf(s->log->term, s->err, "  %s%s%s\n", json_get_string(data, "decision"),
			 reason ? ": " : "", reason ? reason : "");
}

static int show_artifacts(struct show *s, const struct json *data)
{
	for (const struct json *a = json_first(json_get(data, "artifacts")); a; a = json_next(a)) {
		const char *type = json_get_string(a, "type"),
			   *why_not = json_get_string(a, "why_not");

		if (term_outf(s->log->term, s->err, "  artifact %s, %" PRId64 " bytes%s%s%s%s\n",
			      json_get_string(a, "path"), json_get_int(a, "size", 0),
			      type ? ", " : "", type ? type : "", why_not ? ", not kept: " : "",
			      why_not ? why_not : "") < 0)
			return -1;
	}
	return 0;
}

static int show_execution(struct show *s, const struct json *data)
{
	cleanup_buf struct buf line = BUF_INIT(TEXT_MAX), isolation = BUF_INIT(4096);
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	const struct json *failure = json_get(data, "error");
	const char *type = json_get_string(failure, "type");
	const char *message = json_get_string(failure, "message");

	if (render_execution_read(data, &r, s->err) < 0)
		return -1;
	bool good = r.outcome == SANDBOX_EXIT && !r.exit_code;
	render_outcome(&r, &line);
	render_isolation(&r.isolation, &isolation);
	if (term_out_style(s->log->term, good ? TERM_GREEN : TERM_RED, s->err, "  %s\n",
			   line.data) < 0 ||
	    (!good && message &&
	     term_out_style(s->log->term, TERM_RED, s->err, "  %s%s%s\n", type ? type : "",
			    type ? ": " : "", message) < 0) ||
	    put_blob(s, data, "stdout", "stdout") < 0 ||
	    put_blob(s, data, "stderr", "stderr") < 0 || show_artifacts(s, data) < 0)
		return -1;
	if (r.environment.interpreter &&
	    term_out_style(s->log->term, TERM_DIM, s->err, "  %s %s\n", r.environment.interpreter,
			   r.environment.version ? r.environment.version : "") < 0)
		return -1;
	return term_out_style(s->log->term, TERM_DIM, s->err, "  %s\n", isolation.data);
}

static int show_verify(struct show *s, const struct json *data)
{
	for (const struct json *c = json_first(json_get(data, "checks")); c; c = json_next(c)) {
		const char *verdict = json_get_string(c, "verdict"),
			   *detail = json_get_string(c, "detail");
		bool pass = verdict && !strcmp(verdict, "pass");

		if (term_out_style(s->log->term, pass ? TERM_GREEN : TERM_RED, s->err, "  %s",
				   verdict ? verdict : "-") < 0 ||
		    term_outf(s->log->term, s->err, "  %s (%s)%s%s\n", json_get_string(c, "kind"),
			      json_get_string(c, "source"), detail ? ": " : "",
			      detail ? detail : "") < 0)
			return -1;
	}
	if (json_get_string(data, "carried_by") &&
	    term_outf(s->log->term, s->err, "  carried by %s\n",
		      json_get_string(data, "carried_by")) < 0)
		return -1;
	return term_outf(s->log->term, s->err, "  level %s\n", json_get_string(data, "level"));
}

/* Whatever else is recorded, as it is. */
static int show_data(struct show *s, const struct json *data)
{
	cleanup_free char *text = json_print(data);

	return put_text(s->log->term, text, strlen(text), s->err);
}

static int show_task(struct show *s, const struct json *data)
{
	for (const struct json *f = json_first(json_get(data, "files")); f; f = json_next(f))
		if (term_outf(s->log->term, s->err, "  file %s\n", json_string(f)) < 0)
			return -1;
	for (const struct json *f = json_first(json_get(data, "checks")); f; f = json_next(f)) {
		cleanup_free char *arg = json_print(json_get(f, "arg"));

		if (term_outf(s->log->term, s->err, "  check %s %s\n", json_get_string(f, "kind"),
			      arg) < 0)
			return -1;
	}
	return 0;
}

static int show_inspection(struct show *s, const struct json *data)
{
	const char *file = json_get_string(data, "file"), *text = json_get_string(data, "text");

	if (file && term_outf(s->log->term, s->err, "  file %s\n", file) < 0)
		return -1;
	return text ? put_text(s->log->term, text, strlen(text), s->err) : 0;
}

/* It is screened, and then it runs. */
static int show_look(struct show *s, const struct json *data)
{
	return json_get(data, "outcome") ? show_execution(s, data) : show_screen(s, data);
}

static int show_tool(struct show *s, const struct json *data)
{
	const char *tool = json_get_string(data, "tool"),
		   *decision = json_get_string(data, "decision");
	const char *message = json_get_string(json_get(data, "error"), "message");

	if (term_outf(s->log->term, s->err, "  call %lld: %s, %s\n",
		      (long long)json_get_int(data, "call", 0), tool ? tool : "?",
		      decision ? decision : "?") < 0)
		return -1;
	return message ? put_text(s->log->term, message, strlen(message), s->err) : 0;
}

static int (*const shows[STAGE_COUNT])(struct show *s, const struct json *data) = {
	[STAGE_PLAN] = show_reply,	  [STAGE_CODE] = show_reply,
	[STAGE_REPAIR] = show_reply,	  [STAGE_TESTS] = show_reply,
	[STAGE_CROSS_CHECK] = show_reply, [STAGE_JUDGE] = show_reply,
	[STAGE_ANSWER] = show_reply,	  [STAGE_COMPLETE] = show_reply,
	[STAGE_TASK] = show_task,	  [STAGE_INSPECT] = show_inspection,
	[STAGE_LOOK] = show_look,	  [STAGE_EXTRACT] = show_extract,
	[STAGE_SCREEN] = show_screen,	  [STAGE_APPROVE] = show_approve,
	[STAGE_EXECUTE] = show_execution, [STAGE_VERIFY] = show_verify,
	[STAGE_TOOL] = show_tool,	  [STAGE_INPUTS] = show_data,
	[STAGE_END] = show_data,
};

static int show_result(struct show *s, const struct audit_record *record)
{
	int stage = strcmp(record->phase, "done") ? -1 : stage_parse(record->stage);

	return stage >= 0 ? shows[stage](s, record->data) : show_data(s, record->data);
}

/* --- events --- */

static int heading(struct show *s, const struct audit_record *record)
{
	cleanup_free char *attempt =
		record->attempt > 0 ? mem_printf(" attempt %d", record->attempt) : mem_strdup("");
	bool note = !strcmp(record->phase, "note");

	if (term_out_style(s->log->term, TERM_BOLD, s->err, "\n%s%s%s", record->stage, attempt,
			   note ? " note" : "") < 0)
		return -1;
	int64_t after_ms;
	if (!log_span(s->row->started_ms, record->at_ms, &after_ms))
		return term_out_style(s->log->term, TERM_DIM, s->err, "  (no such time)\n");
	return term_out_style(s->log->term, TERM_DIM, s->err, "  +%.3f s\n",
			      (double)after_ms / 1000);
}

/* The code of a run without an extraction, exec's own: where it comes first, which
 * is before it was screened or when it was started. */
static int show_program(struct show *s, const struct audit_record *record)
{
	cleanup_buf struct buf code = BUF_INIT(TEXT_MAX);
	const char *lang = json_get_string(record->data, "language");
	struct error ignored = ERROR_INIT;

	if (s->program_shown || strcmp(s->row->kind, "exec") ||
	    audit_blob_of(s->log->audit, record->data, "code", &code, &ignored) < 0)
		return 0;
	s->program_shown = true;
	if (term_out_style(s->log->term, TERM_BOLD, s->err, "\ncode\n") < 0)
		return -1;
	return term_out_code(s->log->term, lang ? lang : "", code.data, code.len, s->err);
}

/* What a model was asked last; --stage shows all that it was told. */
static int show_question(struct show *s, const struct audit_record *record)
{
	cleanup_buf struct buf text = BUF_INIT(TEXT_MAX), shown = BUF_INIT(TEXT_MAX);
	struct error ignored = ERROR_INIT;

	if (!json_get(record->data, "messages") ||
	    audit_blob_of(s->log->audit, record->data, "messages", &text, &ignored) < 0)
		return 0;
	cleanup_json struct json *messages = json_parse(text.data, text.len, 0, &ignored);
	const struct json *question = NULL;
	for (const struct json *m = json_first(messages); m; m = json_next(m))
		question = m;
	const char *content = json_get_string(question, "content");
	if (!content)
		return 0;
	size_t len = strlen(content);
	size_t keep = utf8_valid_prefix(content, len < ASKED_SHOWN ? len : ASKED_SHOWN);
	buf_add(&shown, content, keep);
	if (keep < len)
		buf_addf(&shown, "\n... %zu more bytes (--stage %s:%d has all)", len - keep,
			 record->stage, record->attempt);
	if (term_out_style(s->log->term, TERM_BOLD, s->err, "\n%s attempt %d is asked\n",
			   record->stage, record->attempt) < 0)
		return -1;
	return put_text(s->log->term, shown.data, shown.len, s->err);
}

static int each_event(void *self, struct audit_record *record)
{
	struct show *s = self;

	if (!strcmp(record->phase, "started")) {
		free(s->open_stage);
		s->open_stage = mem_strdup(record->stage);
		return show_program(s, record) < 0 ? -1 : show_question(s, record);
	}
	if (!strcmp(record->stage, stage_name(STAGE_TASK)) && show_program(s, record) < 0)
		return -1;
	if (s->open_stage && !strcmp(s->open_stage, record->stage))
		s->open_stage = (free(s->open_stage), NULL);
	return heading(s, record) < 0 ? -1 : show_result(s, record);
}

int log_show_record(const struct log *log, const struct audit_row *row, struct audit_record *record,
		    struct error *err)
{
	struct show s = { .log = log, .row = row, .err = err };
	int rc = each_event(&s, record);

	free(s.open_stage);
	return rc;
}

/* --- head and foot --- */

static int head(struct terminal *term, const struct audit_row *row, struct error *err)
{
	char when[LOG_WHEN_SIZE];

	log_when(row->started_ms, true, when);
	if (term_out_style(term, TERM_BOLD, err, "run %s", row->id) < 0 ||
	    term_outf(term, err, "  %s\n  started %s", row->kind, when) < 0)
		return -1;
	int64_t took_ms;
	if (log_took(row, &took_ms) &&
	    term_outf(term, err, ", took %.3f s", (double)took_ms / 1000) < 0)
		return -1;
	if (row->provider && term_outf(term, err, "\n  model %s %s", row->provider,
				       row->model ? row->model : "") < 0)
		return -1;
	if (row->item && term_outf(term, err, "\n  task %s", row->item) < 0)
		return -1;
	if (row->replay_of && term_outf(term, err, "\n  replay of %s", row->replay_of) < 0)
		return -1;
	if (term_out_style(term, TERM_BOLD, err, "\n\nquestion\n") < 0)
		return -1;
	return row->prompt ? put_text(term, row->prompt, row->prompt_len, err) : 0;
}

static int foot_status(struct terminal *term, const struct audit_row *row, struct error *err)
{
	const char *status = log_status(row);
	bool good = !strcmp(status, run_status_name(RUN_SUCCESS));
	cleanup_buf struct buf cost = BUF_INIT(64);

	if (!row->ended_ms)
		return term_out_style(term, TERM_YELLOW, err, "%s\n", status);
	char exit_code[32] = "";
	if (row->exit_code >= 0)
		snprintf(exit_code, sizeof(exit_code), ", exit code %d", row->exit_code);
	if (term_out_style(term, good ? TERM_GREEN : TERM_RED, err, "%s", status) < 0 ||
	    term_outf(term, err,
		      ", level %s%s, %d attempt%s, %" PRId64 " tokens in, %" PRId64 " out",
		      row->level ? row->level : "-", exit_code, row->attempts,
		      row->attempts == 1 ? "" : "s", row->input_tokens, row->output_tokens) < 0)
		return -1;
	if (row->cost_micro_usd >= 0)
		render_cost(row->cost_micro_usd, &cost);
	if (cost.len && term_outf(term, err, ", %s", cost.data) < 0)
		return -1;
	return term_outf(term, err, "%s%s\n", row->reason ? "\n  " : "",
			 row->reason ? row->reason : "");
}

static int foot(const struct show *s, struct error *err)
{
	const struct audit_row *row = s->row;
	cleanup_free char *bad = NULL;

	if (s->open_stage && !row->ended_ms &&
	    term_out_style(s->log->term, TERM_RED, err,
			   "\n%s began and never ended: it still runs, or assay was killed "
			   "there\n",
			   s->open_stage) < 0)
		return -1;
	if (row->answer_len && (term_out_style(s->log->term, TERM_BOLD, err, "\nanswer\n") < 0 ||
				put_text(s->log->term, row->answer, row->answer_len, err) < 0))
		return -1;
	if (term_outf(s->log->term, err, "\n") < 0 || foot_status(s->log->term, row, err) < 0 ||
	    audit_verify(s->log->audit, row->id, &bad, err) < 0)
		return -1;
	return bad ? term_out_style(s->log->term, TERM_RED, err, "the record is NOT intact: %s\n",
				    bad) :
		     term_out_style(s->log->term, TERM_DIM, err, "the record is intact\n");
}

static int show_run(const struct log *log, const struct audit_row *row, struct error *err)
{
	const char *stage = settings_text(log->settings, OPT_STAGE, NULL);
	struct show s = { .log = log, .row = row, .err = err };

	if (stage)
		return log_show_stage(log, row, stage, err);
	if (log->settings->json) {
		struct json *object = log_run_json(log->audit, row, err);
		return object ? log_print(log->term, object, err) : -1;
	}
	int rc = head(log->term, row, err);
	if (!rc)
		rc = audit_events(log->audit, row->id, each_event, &s, err);
	if (!rc && err->kind == ERR_NONE)
		rc = foot(&s, err);
	free(s.open_stage);
	return rc;
}

int log_show(const struct log *log, struct error *err)
{
	const char *last = "last";
	const char *const *which = log->count ? log->args : &last;
	size_t count = log->count ? log->count : 1;

	for (size_t i = 0; i < count && err->kind == ERR_NONE; i++) {
		struct audit_row row;

		if (audit_find(log->audit, which[i], &row, err) < 0)
			break;
		show_run(log, &row, err);
		audit_row_release(&row);
	}
	return exit_code_of_error(err);
}
