/* The summary, and the JUnit report. */
#ifndef AGENT_BATCH_REPORT_H
#define AGENT_BATCH_REPORT_H

#include "base/error.h"
#include "base/json.h"

#include <stdint.h>

struct batch_results;
struct terminal;

struct json *batch_report_summary(const struct batch_results *r, int64_t duration_ms);
/* The same for people, on stderr. */
void batch_report_tell(struct terminal *term, const struct batch_results *r, int64_t duration_ms);
/* The results kept from before are in it, too. */
int batch_report_junit(const struct batch_results *r, const char *path, const char *suite,
		       struct error *err);

#endif
