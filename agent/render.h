/* JSON documents of INTERFACE.md that are made of several modules' parts. */
#ifndef AGENT_RENDER_H
#define AGENT_RENDER_H

#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/failure.h"

/* What runs the code: language, interpreter, version, digest. Caller frees. */
struct json *render_environment(const struct sandbox_environment *e);
/* The object of `assay exec --json`. With_streams false leaves stdout and
 * stderr texts out (the log keeps them as blobs). Caller frees. */
struct json *render_execution(const struct sandbox_result *result, const struct failure *failure,
			      bool with_streams);

/* The inverse for the recorded sandbox: everything but bytes, which the caller
 * adds from blobs. environment strings stay NULL
 * but for interpreter, version and digest, which live as long as value. */
int render_execution_read(const struct json *value, struct sandbox_result *ret, struct error *err);

/* One line for people: "exit 0 in 12 ms", "memory limit of 512 MiB reached". */
void render_outcome(const struct sandbox_result *result, struct buf *out);

/* Isolation in force, one line: "user, mount, pid, net, ipc, uts, cgroup
 * namespaces; seccomp; landlock 7; memory by cgroup v1". */
void render_isolation(const struct sandbox_isolation *isolation, struct buf *out);

/* Writes kept artifacts below folder (made when needed), all but those whose
 * name leads out of it, could harm who lists it, is hidden or reads as an
 * option, or is there already: the count written, or -1. tell (may be NULL) hears of each, why_not NULL when it
 * was written. */
int render_save_artifacts(const struct sandbox_result *result, const char *folder,
			  void (*tell)(const char *folder, const struct sandbox_artifact *a,
				       const char *why_not),
			  struct error *err);

#endif
