/* Secrets to plant, and a text without them. */
#ifndef TEST_AUDIT_REDACT_H
#define TEST_AUDIT_REDACT_H

#include "test_audit_fixture.h"

#include "audit/redact/redact.h"

#define SECRET	"hunter2/pass+word\"with=odd"
#define SECRET2 "plain-secret-value-0042"

static const struct audit_secret secrets[] = {
	{ "OPENAI_API_KEY", SECRET }, { "OTHER_KEY", SECRET2 }, { "PIN", "908172635445" },
	{ "SHORT", "abc" },	      { "EMPTY", "" },
};

static inline struct redactor *make(void)
{
	return redactor_new(secrets, ARRAY_SIZE(secrets), "0123456789abcdef");
}

static inline char *redact(const char *text)
{
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found = redact_bytes(r, text, strlen(text), &out);

	redactor_free(r);
	return found ? buf_take(&out, NULL) : mem_strdup(text);
}

#endif
