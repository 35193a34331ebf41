/* Inputs that are given as what they are on the host (struct sandbox_source), for backends that
 * cannot show them there: read after all, within a limit. */
#ifndef SANDBOX_INPUT_H
#define SANDBOX_INPUT_H

#include "sandbox/sandbox.h"

/* The most of a file that is copied when it cannot be seen where it is. */
#define INPUT_COPY_MAX ((size_t)256 << 20)

/* The whole of a file, by its descriptor, which keeps its place; the caller frees *ret_bytes.
 * ERR_SANDBOX, with why (for people), for a folder, for one above the limit, and when it cannot
 * be read. */
int input_copy(const struct sandbox_file *file, const char *why, char **ret_bytes, size_t *ret_len,
	       struct error *err);

/* What a job has as sources, as copies instead, for a backend that takes bytes only: the job's
 * new inputs, owned by the caller (input_copies_free), or NULL when it has no source. */
int input_copies(const struct sandbox_job *job, const char *backend,
		 struct sandbox_file **ret_inputs, struct error *err);
void input_copies_free(struct sandbox_file *inputs, const struct sandbox_job *job);

#endif
