/* Files that a program wrote, on the disk of who asked. */
#ifndef AGENT_ARTIFACTS_H
#define AGENT_ARTIFACTS_H

#include "base/error.h"
#include "sandbox/sandbox.h"

/* Writes kept artifacts below folder (made when needed), all but those whose
 * name leads out of it, could harm who lists it, is hidden or reads as an
 * option, or is there already: the count written, or -1. tell (may be NULL) hears of each, why_not
 * NULL when it was written. */
int artifacts_save(const struct sandbox_result *result, const char *folder,
		   void (*tell)(const char *folder, const struct sandbox_artifact *a,
				const char *why_not),
		   struct error *err);

#endif
