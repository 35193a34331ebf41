/*
 * JUnit XML (junit.h). Whatever a name or message holds, the report is XML 1.0; it knows nothing
 * of what was tried.
 */
#include "agent/cli/junit.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

#define TEXT_MAX   ((size_t)16 << 20)
#define REPORT_MAX ((size_t)1 << 30)

/* XML 1.0 text: what it cannot hold is made visible first. */
static void xml(struct buf *out, const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT(TEXT_MAX);

	utf8_visible(&clean, text, strlen(text));
	for (const char *p = clean.len ? clean.data : ""; *p; p++) {
		if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			buf_addstr(out, "\xef\xbf\xbd"); /* no characters of XML's */
			p += 2;
			continue;
		}
		const char *entity = *p == '<' ? "&lt;" :
				     *p == '>' ? "&gt;" :
				     *p == '&' ? "&amp;" :
				     *p == '"' ? "&quot;" :
						 NULL;

		if (entity)
			buf_addstr(out, entity);
		else
			buf_addch(out, *p);
	}
}

void junit_init(struct junit *j)
{
	*j = (struct junit){ .cases = BUF_INIT(REPORT_MAX) };
}

static void add_fault(struct junit *j, const struct junit_case *c)
{
	const char *element = c->fault == JUNIT_FAILURE ? "failure" : "error";

	*(c->fault == JUNIT_FAILURE ? &j->failures : &j->errors) += 1;
	buf_addf(&j->cases, ">\n    <%s type=\"", element);
	xml(&j->cases, c->type);
	buf_addstr(&j->cases, "\" message=\"");
	xml(&j->cases, c->message);
	buf_addstr(&j->cases, "\"/>\n  </testcase>\n");
}

void junit_add(struct junit *j, const struct junit_case *c)
{
	j->tests++;
	j->total_ms += c->duration_ms;
	buf_addstr(&j->cases, "  <testcase name=\"");
	xml(&j->cases, c->name);
	buf_addstr(&j->cases, "\" classname=\"");
	xml(&j->cases, c->class_name);
	buf_addf(&j->cases, "\" time=\"%.3f\"", (double)c->duration_ms / 1000);
	if (c->fault == JUNIT_NONE)
		buf_addstr(&j->cases, "/>\n");
	else
		add_fault(j, c);
}

int junit_write(struct junit *j, const char *path, const char *suite, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(REPORT_MAX + TEXT_MAX);

	buf_addstr(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	xml(&out, suite);
	buf_addf(&out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n",
		 j->tests, j->failures, j->errors, (double)j->total_ms / 1000);
	buf_add(&out, j->cases.data, j->cases.len);
	buf_addstr(&out, "</testsuite>\n");
	buf_release(&j->cases);
	return io_replace_file(path, out.data, out.len, 0644, err);
}
