/*
 * assay log export --html: a run as one page that needs nothing else: question, answer, when
 * what happened, and of every event what was recorded of it (prompts, replies, programs, outputs,
 * checks, walls, images). All that a model, a program or a server said goes through html.h.
 */
#include "agent/cli/log/html.h"
#include "agent/cli/log/log.h"
#include "agent/cli/log/moments.h"

#include "agent/cli/terminal/term.h"
#include "agent/status.h"
#include "base/io.h"
#include "base/mem.h"

#include <string.h>

#define CONTENT_MAX  BUF_MAX_DEFAULT
#define ARTIFACT_KEY "artifact_"
#define FILE_KEY     "file_"

struct page {
	struct audit *audit;
	const struct audit_row *row;
	struct moments moments;
	struct buf out;
};

static void page_release(struct page *p)
{
	moments_release(&p->moments);
	buf_release(&p->out);
}

/* --- contents --- */

/* What an event's member refers to, or NULL: {"sha256", "size"}. */
static const char *content_of(const struct json *member)
{
	const char *sha256 = json_get_string(member, "sha256");

	return sha256 && json_get(member, "size") && json_count(member) == 2 ? sha256 : NULL;
}

/* The bytes of a content; false, and said on the page, when the log has lost them. */
static bool load(struct page *p, const char *sha256, struct buf *bytes)
{
	struct error problem = ERROR_INIT;

	if (audit_blob(p->audit, sha256, bytes, &problem) == 0)
		return true;
	buf_addstr(&p->out, "<p class=\"bad\">");
	html_string(&p->out, problem.message);
	buf_addstr(&p->out, "</p>\n");
	return false;
}

static void title(struct page *p, const char *name)
{
	buf_addstr(&p->out, "<h3>");
	html_string(&p->out, name);
	buf_addstr(&p->out, "</h3>\n");
}

/* What a model was told: a heading for each role. */
static bool add_messages(struct page *p, const struct buf *bytes)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *messages = json_parse(bytes->data, bytes->len, 0, &ignored);

	if (json_type(messages) != JSON_ARRAY)
		return false;
	for (const struct json *m = json_first(messages); m; m = json_next(m)) {
		const char *content = json_get_string(m, "content");

		title(p, json_get_string(m, "role"));
		html_pre(&p->out, content ? content : "", content ? strlen(content) : 0);
	}
	return true;
}

static void add_content(struct page *p, const struct json *data, const struct json *member)
{
	const char *name = json_key(member), *lang = json_get_string(data, "language");
	cleanup_buf struct buf bytes = BUF_INIT(CONTENT_MAX);

	if (!strncmp(name, ARTIFACT_KEY, strlen(ARTIFACT_KEY)) && json_get(data, "artifacts"))
		return; /* shown with the list of artifacts */
	if (!load(p, content_of(member), &bytes) || !bytes.len)
		return;
	if (!strcmp(name, "messages") && add_messages(p, &bytes))
		return;
	if (!strncmp(name, FILE_KEY, strlen(FILE_KEY))) {
		buf_addstr(&p->out, "<details><summary>");
		html_string(&p->out, name);
		buf_addstr(&p->out, "</summary>\n");
		html_content(&p->out, bytes.data, bytes.len);
		buf_addstr(&p->out, "</details>\n");
		return;
	}
	title(p, name);
	if (!strcmp(name, "code"))
		html_code(&p->out, lang ? lang : "", bytes.data, bytes.len);
	else
		html_content(&p->out, bytes.data, bytes.len);
}

static void add_blocks(struct page *p, const struct json *blocks)
{
	for (const struct json *b = json_first(blocks); b; b = json_next(b)) {
		const char *code = json_get_string(b, "code"), *lang = json_get_string(b, "lang");

		title(p, json_get_string(b, "why"));
		if (code)
			html_code(&p->out, lang ? lang : "", code, strlen(code));
	}
}

static void add_artifacts(struct page *p, const struct json *data, const struct json *artifacts)
{
	if (json_count(artifacts))
		html_table(&p->out, artifacts);
	size_t i = 0;
	for (const struct json *a = json_first(artifacts); a; a = json_next(a), i++) {
		cleanup_free char *key = mem_printf(ARTIFACT_KEY "%zu", i);
		const char *sha256 = content_of(json_get(data, key));
		cleanup_buf struct buf bytes = BUF_INIT(CONTENT_MAX);

		if (!sha256 || !load(p, sha256, &bytes))
			continue;
		title(p, json_get_string(a, "path"));
		html_content(&p->out, bytes.data, bytes.len);
	}
}

/* --- an event --- */

static bool is_scalar(const struct json *value)
{
	return json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY;
}

/* Programs, outputs, replies: what a reader came for. */
static void add_text(struct page *p, const struct json *data, const struct json *m)
{
	if (content_of(m)) {
		add_content(p, data, m);
	} else if (!strcmp(json_key(m), "blocks")) {
		add_blocks(p, m);
	} else if (!strcmp(json_key(m), "artifacts") && json_count(m)) {
		title(p, json_key(m));
		add_artifacts(p, data, m);
	}
}

static bool is_text(const struct json *m)
{
	return content_of(m) || !strcmp(json_key(m), "blocks") || !strcmp(json_key(m), "artifacts");
}

static void add_facts(struct page *p, const struct json *m)
{
	const char *name = json_key(m);

	title(p, !strcmp(name, "isolation") ? "walls" : name);
	if (json_type(m) == JSON_OBJECT || json_type(json_first(m)) == JSON_OBJECT) {
		html_table(&p->out, m);
	} else {
		cleanup_free char *text = json_print(m);
		html_pre(&p->out, text, strlen(text));
	}
}

static void add_data(struct page *p, const struct json *data)
{
	buf_addstr(&p->out, "<table>\n");
	for (const struct json *m = json_first(data); m; m = json_next(m))
		if (is_scalar(m) && json_type(m) != JSON_NULL)
			html_pair(&p->out, json_key(m), m);
	buf_addstr(&p->out, "</table>\n");
	for (const struct json *m = json_first(data); m; m = json_next(m))
		if (!is_scalar(m) && is_text(m))
			add_text(p, data, m);
	for (const struct json *m = json_first(data); m; m = json_next(m))
		if (!is_scalar(m) && json_count(m) && !is_text(m))
			add_facts(p, m);
}

static void add_name(struct page *p, const struct moment *m)
{
	html_string(&p->out, m->stage);
	if (m->attempt > 0)
		buf_addf(&p->out, " %d", m->attempt);
}

static void add_moment(struct page *p, const struct moment *m)
{
	/* What begins holds the prompt, and of a run without an extraction the program. */
	bool open = !moment_is_start(m) || !strcmp(p->row->kind, "exec");

	buf_addf(&p->out, "<details id=\"e%lld\"%s><summary>", (long long)m->seq,
		 open ? " open" : "");
	add_name(p, m);
	buf_addstr(&p->out, " <span class=\"dim\">");
	html_string(&p->out, m->phase);
	int64_t after_ms;
	if (log_span(p->row->started_ms, m->at_ms, &after_ms))
		buf_addf(&p->out, ", +%.3f s", (double)after_ms / 1000);
	buf_addstr(&p->out, "</span></summary>\n");
	add_data(p, m->data);
	buf_addstr(&p->out, "</details>\n");
}

/* --- the timeline --- */

static double percent(int64_t part_ms, int64_t whole_ms)
{
	double share = whole_ms > 0 ? 100.0 * (double)part_ms / (double)whole_ms : 0;

	return share < 0 ? 0 : share > 100 ? 100 : share;
}

static void add_bar(struct page *p, size_t index, int64_t whole_ms)
{
	const struct moment *m = &p->moments.list[index];
	const struct moment *start = moments_start(&p->moments, index);
	int64_t began_ms = start ? start->at_ms : m->at_ms, from_ms, took_ms;

	if (!log_span(p->row->started_ms, began_ms, &from_ms) ||
	    !log_span(began_ms, m->at_ms, &took_ms))
		return;
	buf_addf(&p->out, "<div class=\"row\"><a href=\"#e%lld\">", (long long)m->seq);
	add_name(p, m);
	buf_addf(&p->out,
		 "</a><span class=\"lane\"><i style=\"left:%.2f%%;width:%.2f%%\"></i></span>"
		 "<span class=\"took\">%.3f s</span></div>\n",
		 percent(from_ms, whole_ms), percent(took_ms, whole_ms), (double)took_ms / 1000);
}

static void add_timeline(struct page *p)
{
	const struct moments *m = &p->moments;
	int64_t whole_ms = 0;

	if (!m->count || !log_span(p->row->started_ms, m->list[m->count - 1].at_ms, &whole_ms))
		return;
	buf_addstr(&p->out, "<h2>Timeline</h2>\n");
	for (size_t i = 0; i < m->count; i++)
		if (!moment_is_start(&m->list[i]))
			add_bar(p, i, whole_ms);
}

/* --- the whole --- */

static void add_head(struct page *p, const char *bad)
{
	const struct audit_row *row = p->row;
	bool good = !strcmp(log_status(row), run_status_name(RUN_SUCCESS));
	cleanup_json struct json *object = log_row_json(row);

	json_remove(object, "prompt");
	json_remove(object, "answer");
	buf_addstr(&p->out, "<h1>run ");
	html_string(&p->out, row->id);
	buf_addf(&p->out, " <span class=\"%s\">", good ? "good" : "bad");
	html_string(&p->out, log_status(row));
	buf_addstr(&p->out, "</span></h1>\n<table>\n");
	for (const struct json *m = json_first(object); m; m = json_next(m))
		if (json_type(m) != JSON_NULL)
			html_pair(&p->out, json_key(m), m);
	buf_addf(&p->out, "<tr%s><th>record</th><td>", bad ? " class=\"bad\"" : "");
	html_string(&p->out, bad ? bad : "intact when this page was made");
	buf_addstr(&p->out, "</td></tr>\n</table>\n");
}

static void add_texts(struct page *p)
{
	if (p->row->prompt) {
		buf_addstr(&p->out, "<h2>Question</h2>\n");
		html_pre(&p->out, p->row->prompt, p->row->prompt_len);
	}
	if (p->row->answer) {
		buf_addstr(&p->out, "<h2>Answer</h2>\n");
		html_pre(&p->out, p->row->answer, p->row->answer_len);
	}
}

static void add_config(struct page *p)
{
	if (!p->row->config)
		return;
	buf_addstr(&p->out, "<details><summary>settings</summary>\n");
	html_table(&p->out, p->row->config);
	buf_addstr(&p->out, "</details>\n");
}

static int write_page(struct page *p, struct error *err)
{
	cleanup_free char *name = mem_printf("assay run %s", p->row->id), *bad = NULL;

	if (audit_verify(p->audit, p->row->id, &bad, err) < 0 ||
	    moments_load(&p->moments, p->audit, p->row->id, err) < 0)
		return -1;
	html_begin(&p->out, name);
	add_head(p, bad);
	add_texts(p);
	add_timeline(p);
	buf_addstr(&p->out, "<h2>What happened</h2>\n");
	for (size_t i = 0; i < p->moments.count; i++)
		add_moment(p, &p->moments.list[i]);
	add_config(p);
	return buf_addstr(&p->out, "</body></html>\n") < 0 ?
		       error_set(err, ERR_FAILED, "the page of run %s is too long", p->row->id) :
		       0;
}

int log_page(const struct log *log, const struct audit_row *row, struct error *err)
{
	__attribute__((cleanup(page_release))) struct page p = { .audit = log->audit, .row = row };

	buf_init(&p.out, BUF_MAX_DEFAULT);
	if (write_page(&p, err) < 0)
		return -1;
	return log_export_to(log, p.out.data, p.out.len, err);
}
