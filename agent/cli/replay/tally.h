/* What many replays came to, counted. */
#ifndef AGENT_TALLY_H
#define AGENT_TALLY_H

#include "agent/cli/settings.h"
#include "agent/record/divergence.h"
#include "base/json.h"

struct tally_run {
	const char *run;	   /* its id */
	const struct json *report; /* of assay replay --json, or {"error"}; NULL: none came */
	const char *problem;	   /* why none came */
	int64_t duration_ms;
};

struct tally {
	struct json *runs; /* [{"run","replay","outcome","class","stage","error","duration_ms"}] */
	size_t same, diverged, not_replayed;
	size_t by_class[DIVERGENCE_COUNT];
};

void tally_add(struct tally *t, const struct tally_run *r);
size_t tally_count(const struct tally *t);
void tally_release(struct tally *t);

/* As words, or with --json as one document; and with --junit as a report. The exit code: of
 * a divergence when there is one; else of what could not be replayed when nothing could. */
int tally_tell(struct tally *t, const struct settings *settings, struct error *err);

#endif
