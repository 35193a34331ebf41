/* The events of a run at hand, and which of them began what another ended. */
#ifndef AGENT_LOG_MOMENTS_H
#define AGENT_LOG_MOMENTS_H

#include "audit/audit.h"

struct moment {
	int64_t seq, at_ms;
	char *stage, *phase; /* owned, as data is */
	int attempt;
	struct json *data;
};

struct moments {
	struct moment *list; /* oldest first */
	size_t count;
};

int moments_load(struct moments *ret, struct audit *audit, const char *run, struct error *err);
void moments_release(struct moments *m);
/* The start of what ended at index; NULL when nothing says so. */
const struct moment *moments_start(const struct moments *m, size_t index);
bool moment_is_start(const struct moment *m);

#endif
