/* What a job brings: how its program is started, and the files of /in and /work. */
#ifndef SANDBOX_KEEPER_PAYLOAD_H
#define SANDBOX_KEEPER_PAYLOAD_H

#include "sandbox/native/keeper/guest.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes /in and /work and fills program, which points into the payload. */
struct payload {
	void *map; /* NULL: none */
	size_t len;
};

/* fds: those of a run, up to its standard input. forked: what its guest was forked for, which has
 * run already what that says; NULL: it is no fork. */
int payload_unpack(const int *fds, const struct payload *forked, struct payload *ret_payload,
		   struct program *ret_program, const char **ret_step);
/* The same, but that inputs are not made read-only, if there are any. */
int payload_lay_out(const int *fds, const struct payload *forked, struct payload *ret_payload,
		    struct program *ret_program, bool *ret_inputs, const char **ret_step);
void payload_unmap(struct payload *payload);
/* Before all else in an init. */
void payload_begin(void);
/* Whether who opens that waits for a lease on the file itself, which is released; it is an error
 * when there was none any more. */
bool payload_holds(void);
int payload_release(void);
/* The path of the program that a waiting interpreter opens, below /work; NULL: none. */
const char *payload_waits_for(const struct payload *payload);
/* The bytes of that file of /work; -1: it has no such file. */
int payload_find_work(const struct payload *payload, const char *path, const char **ret_bytes,
		      size_t *ret_len);
/* What of it is a template's alone. */
struct payload_warm {
	const char *modules; /* it imports; NULL: the usual ones */
	const char *ahead;   /* the name of the code it runs; NULL: none */
};
/* Reads how a program is started, and a template of it; writes nothing. */
int payload_read(int fd, struct payload *ret_payload, struct program *ret_program,
		 struct payload_warm *ret_warm);
/* Of a job that goes on in a copy: what that reads, in the map of ret_payload. */
int payload_read_resume(int fd, struct payload *ret_payload, const char **ret_bytes,
			size_t *ret_len);
/* Its inputs that came as bytes, below the folder in; and away again. */
int payload_lay_inputs(const struct payload *payload, int in);
void payload_take_inputs(const struct payload *payload, int in);

/* Whether it would be started in the same way. */
bool payload_same_program(const struct program *a, const struct program *b);

#endif
