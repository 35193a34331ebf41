/* May it run? */
#ifndef AGENT_STAGES_SCREEN_H
#define AGENT_STAGES_SCREEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct language;
struct run;

int stage_screen(struct run *r, struct error *err);
/* Other code under the same rules, of whichever stage: *ret_allowed, and why not in *ret_reason
 * (owned). Whoever is asked may edit *code. */
int run_screen_code(struct run *r, const char *stage, const struct language *language, char **code,
		    size_t *len, bool *ret_allowed, char **ret_reason, struct error *err);

#endif
