/*
 * SandboxFusion's wire (github.com/bytedance/SandboxFusion): programs and notebooks, as its clients
 * ask for them; what its files share.
 */
#ifndef AGENT_DOORS_FUSION_H
#define AGENT_DOORS_FUSION_H

#include "agent/doors/http/http.h"

extern const struct route fusion_routes[]; /* ends with a NULL method */

/* --- agent/doors/fusion/fusion.c and jupyter.c --- */
void fusion_run_code(struct exchange *x, struct worker *w);
void fusion_run_jupyter(struct exchange *x, struct worker *w);
void fusion_ping(struct exchange *x);
void fusion_not_here(struct exchange *x); /* what that server has, and this one has not */
/* An error as that server has it. */
void fusion_refuse(struct exchange *x, unsigned status, const char *message);
/* The same of a body that is not what is wanted: 422, as its validation says it. */
void fusion_refuse_body(struct exchange *x, const char *message);
/* What is asked for, out of a body; limits become those that hold. */
struct program;
int fusion_read(struct program *ret, const struct json *body, struct sandbox_limits *limits,
		struct error *err);
/* The cells of a notebook, of which it reads the bounds; its files into given, which may be begun
 * where it fails. */
int fusion_read_notebook(const struct json *body, struct sandbox_limits *limits,
			 int64_t *ret_all_ms, struct task *given, struct error *err);
/* Of both: files of a request, and those that are asked for, from what a run left. */
int fusion_add_files(struct task *task, const struct json *files, struct error *err);
void fusion_fetch(const struct loop_result *result, const struct json *wanted, struct json *files);

#endif
