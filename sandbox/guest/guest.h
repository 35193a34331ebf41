/*
 * For a backend that is a mode in which a guest's program runs inside the native sandbox: another
 * program of ours is started there, which runs the guest's. The walls are the native ones, all of
 * them; the mode is one thing more that stands before them, and never a wall by itself.
 */
#ifndef SANDBOX_GUEST_H
#define SANDBOX_GUEST_H

#include "sandbox/backend.h"

/* A program that the mode is to refuse: it ends with an error. For the doctor. */
struct guest_try {
	const char *name, *code;
};

struct guest_mode {
	const char *name;
	const char *language; /* of the guest's programs: the only one there is */
	const char *driver;   /* the language of what is started */
	const char *source;   /* the driver's file in the source tree */
	const char *program;  /* what the guest's program is called beside it */
	bool describes;	      /* the driver itself says what there is, asked by "--describe" */
	bool only_guests;     /* assay's own programs run without it */
	const char *wheels;   /* a folder of node_modules whose wheels are part of what there is */
	const struct guest_try *tries; /* the last one has no name; NULL: none */
	const char *remedy;	       /* when the driver finds less than it needs */
};

/* The native sandbox is opened with the same options. Takes nothing. */
int guest_open(void **ret_self, const struct guest_mode *mode,
	       const struct sandbox_options *options, struct error *err);

int guest_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
	      struct sandbox_result *ret_result, struct error *err);
/* For a mode whose driver, with "--pair" before its words, gives the program what is joined there.
 */
int guest_run_pair(void *self, const struct sandbox_job jobs[2], const struct sandbox_watch *watch,
		   struct sandbox_result ret_results[2], struct error *err);
int guest_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		   struct error *err);
int guest_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		 struct error *err);
int guest_wall(void *self, const char *wall, const char **ret_text, struct error *err);
void guest_finish(void *self);
void guest_close(void *self);

#define GUEST_ROWS                                                                                \
	.run = guest_run, .describe = guest_describe, .doctor = guest_doctor, .wall = guest_wall, \
	.finish = guest_finish, .close = guest_close

#endif
