/* What a job is given: its files, its standard streams, its limits. */
#ifndef NATIVE_PAYLOAD_H
#define NATIVE_PAYLOAD_H

#include "base/error.h"
#include "sandbox/native/protocol.h"
#include "sandbox/sandbox.h"

struct own_environment; /* sandbox/native/internal.h */

/* How the inputs of a job that are sources are seen. */
struct input_share {
	int tree;			   /* the mount with all that are; -1: none */
	int env;			   /* the one with the user's own environment; -1: none */
	const struct own_environment *own; /* that; NULL with it */
	struct input_way {
		bool mounted;
		char *why; /* it is to be copied; owned; NULL: it is no source, or mounted */
	} * ways;	   /* one an input; owned; NULL: there is no source */
	size_t count;
	size_t mounted, mapped, copied;
};

/* ERR_USAGE for a name that leads out of where it is to be. */
int payload_check_path(const struct sandbox_file *file, struct error *err);
/* A sealed memfd of the job, and how many bytes /in takes in memory. What could not be shared is
 * copied; shared may be NULL when the job has no sources. */
int payload_make(const struct sandbox_job *job, const char *interpreter,
		 const struct input_share *shared, int *ret_fd, int64_t *ret_input_bytes,
		 struct error *err);
/* The same of a job that has no files yet; modules of a template besides the usual, or NULL. */
int payload_make_waiting(const struct sandbox_job *job, const char *interpreter,
			 const char *modules, int *ret_fd, struct error *err);
/* Of a job that goes on in a copy of a state: what that reads, and the inputs that are bytes. */
int payload_make_resume(const struct sandbox_job *job, int *ret_fd, struct error *err);
/* A sealed memfd of what the job has run ahead. */
int payload_ahead(const struct sandbox_job *job, int *ret_fd, struct error *err);
/* Descriptor the guest reads as its stdin. */
int payload_stdin(const struct sandbox_job *job, int *ret_fd, struct error *err);

/* What a job with that input gets, and still empty: payload_fill_stdin makes it whole. */
int payload_empty_stdin(bool has_bytes, int *ret_fd, struct error *err);
int payload_fill_stdin(const struct sandbox_job *job, int fd, struct error *err);

/* A pipe for a guest's output; the reading end, ours, does not block. */
int payload_output(int *ret_read, int *ret_write, struct error *err);
struct protocol_limits payload_limits(const struct sandbox_limits *limits);

#endif
