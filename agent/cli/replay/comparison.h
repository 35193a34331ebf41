/* assay compare: forks of recorded runs, by model. Internal to agent/cli/replay/. */
#ifndef AGENT_COMPARISON_H
#define AGENT_COMPARISON_H

#include "agent/cli/settings.h"
#include "audit/audit.h"

enum way { WAY_MODEL, WAY_PROVIDER, WAY_MODEL_COMMAND, WAY_BASE_URL, WAY_SCRIPT, WAY_COUNT };

/* A model and how it is reached: of what is NULL the settings' own. Borrowed. */
struct contender {
	const char *by[WAY_COUNT];
};

/* What one fork came to. */
struct fork_outcome {
	char fork[ULID_LEN + 1]; /* its id; "": it was not made, or not yet */
	struct audit_row row;	 /* of the log, once all are there */
	int64_t duration_ms;
};

struct comparison {
	const struct settings *settings;
	const char *from; /* the stage they go on live from */
	size_t repeats;
	struct contender *contenders; /* owned */
	size_t contender_count;
	char (*runs)[ULID_LEN + 1]; /* owned */
	size_t run_count;
	struct fork_outcome *forks; /* by run, then repeat, then contender; owned */
	size_t fork_count, ended;
	struct batch_pool *pool; /* of what all may spend; owned; NULL: no cap */
	int failed;		 /* the exit code of one that could not be made; or 0 */
};

/* What a contender is called. */
const char *contender_name(const struct contender *c);
/* Whose fork the i-th is. */
size_t comparison_contender_at(const struct comparison *c, size_t i);
size_t comparison_run_at(const struct comparison *c, size_t i);
size_t comparison_repeat_at(const struct comparison *c, size_t i);
bool fork_outcome_success(const struct fork_outcome *f);

/* --- agent/cli/replay/comparison_tell.c --- */
/* A table, or with --json one document. */
int comparison_tell(const struct comparison *c, struct error *err);

#endif
