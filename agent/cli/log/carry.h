/* Runs carried from log to log: what import, bundles and merge share. Internal to agent/cli/log. */
#ifndef AGENT_LOG_CARRY_H
#define AGENT_LOG_CARRY_H

#include "agent/cli/command.h"
#include "agent/cli/log/log.h"

struct carry_runs {
	char **ids; /* whole, newest first; owned */
	size_t count;
};
void carry_runs_release(struct carry_runs *runs);

/* How many runs came to what (enum audit_copied). */
struct carried {
	size_t by[AUDIT_COPY_OPEN + 1];
};

/* Another log than the settings name. */
int carry_open(struct audit **ret, const struct settings *settings, const char *path,
	       enum log_use use, struct error *err);

int carry_list(struct audit *audit, const struct audit_filter *filter, struct carry_runs *ret,
	       struct error *err);
/* Whether all of them could be carried; nothing is written. */
int carry_check(struct audit *to, struct audit *from, const struct carry_runs *runs,
		struct error *err);
int carry_all(struct audit *to, struct audit *from, const struct carry_runs *runs,
	      struct carried *ret, struct error *err);

/* A log that was made in vain: the file, and what SQLite may have left beside it. */
void carry_unlink(const char *path);

void carry_json(struct json *object, const struct carried *c);
void carry_tell(struct terminal *term, const struct carried *c, const char *where);

/* log export --bundle; -1 with err. */
int log_bundle(const struct log *log, struct error *err);

#endif
