/* Files that a program wrote, on the disk of who asked. */
#ifndef AGENT_ARTIFACTS_H
#define AGENT_ARTIFACTS_H

#include "base/error.h"
#include "base/json.h"
#include "sandbox/sandbox.h"

struct terminal;

/* Where they go when nobody says otherwise: a folder in it for each run, named by the end of its
 * id. */
#define ARTIFACTS_FOLDER "assay-out"
/* That of a run; the caller frees. */
char *artifacts_folder(const char *run);

/* Writes kept artifacts below folder (made when needed), all but those whose
 * name leads out of it, could harm who lists it, is hidden or reads as an
 * option, or is there already: the count written, or -1. tell (may be NULL) hears of each, why_not
 * NULL when it was written. */
int artifacts_save(const struct sandbox_result *result, const char *folder,
		   void (*tell)(struct terminal *term, const char *folder,
				const struct sandbox_artifact *a, const char *why_not),
		   struct terminal *term, struct error *err);

/* The names of those that artifacts_save would write to folder now. Caller frees. */
struct json *artifacts_to_save(const struct sandbox_result *result, const char *folder);

/* Removes what artifacts_save wrote to folder: the file of that name, when it has the bytes of that
 * SHA-256, and the folders between that are empty then. False when it is left, or not there. */
bool artifacts_remove(const char *folder, const char *path, const char *sha256);

#endif
