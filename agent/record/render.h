/* JSON documents (agent/cli/README.md) that are made of several modules' parts. */
#ifndef AGENT_RENDER_H
#define AGENT_RENDER_H

#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/failure.h"

/* What runs the code: language, interpreter, version, digest, sandbox. Caller frees. */
struct json *render_environment(const struct sandbox_environment *e);
/* The object of `assay exec --json`. With_streams false leaves stdout and
 * stderr texts out (the log keeps them as blobs). Caller frees. */
struct json *render_execution(const struct sandbox_result *result, const struct failure *failure,
			      bool with_streams);

/* The inverse for the recorded sandbox: everything but bytes, which the caller
 * adds from blobs. environment strings stay NULL
 * but for interpreter, version, digest and sandbox, which live as long as value. */
int render_execution_read(const struct json *value, struct sandbox_result *ret, struct error *err);

/* Dollars, as many digits as a small sum needs: "$0.00012", "$3.21". */
void render_cost(int64_t micro_usd, struct buf *out);

/* One line for people: "exit 0 in 12 ms", "memory limit of 512 MiB reached". */
void render_outcome(const struct sandbox_result *result, struct buf *out);

/* The messages of a call, as they are recorded, for people: each under its role. False,
 * with nothing added, when the text is none. */
bool render_messages(const char *text, size_t len, struct buf *out);

/* Isolation in force, one line: "user, mount, pid, net, ipc, uts, cgroup
 * namespaces; seccomp; landlock 7; memory by cgroup v1". */
void render_isolation(const struct sandbox_isolation *isolation, struct buf *out);
/* The "isolation" of an execution, and back. Caller frees either. */
struct json *render_isolation_json(const struct sandbox_result *result);
void render_isolation_read(const struct json *object, struct sandbox_isolation *ret);

#endif
