/* The plan: one JSON object, alone or in a block of the reply marked "json plan". */
#ifndef AGENT_PLAN_H
#define AGENT_PLAN_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct plan {
	bool usable; /* a JSON object with needs_code was found */
	bool needs_code;
	const char *language; /* canonical, static; NULL: none or unknown */
	char *question;	      /* restated in full; owned or NULL */
	char *approach;	      /* owned or NULL */
	char *answer;	      /* owned or NULL */
	struct json *checks;  /* array; owned or NULL */
};

/* Never fails: what is not a plan is usable = false, needs_code = true. */
void plan_read(struct plan *ret, const char *reply, size_t len);
/* The same of a reply that holds the program, too: the plan's own block, which is
 * blanked in the reply so that nobody takes it for the program. */
void plan_take(struct plan *ret, char *reply, size_t len);
void plan_release(struct plan *p);

#endif
