/*
 * A backend: one way to build the walls of sandbox.h. It is a table and a folder,
 * and a row of backend_list; nothing else knows that it exists.
 *
 * Each function has the meaning and the failures of its namesake in sandbox.h;
 * self is what open returned. Who calls through sandbox.h has been checked already:
 * a job names a state only where states are kept, and what a row leaves out is
 * refused in the backend's name.
 */
#ifndef SANDBOX_BACKEND_H
#define SANDBOX_BACKEND_H

#include "sandbox/sandbox.h"

struct backend {
	const char *name;
	const char *summary; /* one line: what the walls are made of */
	/* Where that is, in words that neighbours of the list may share: "in a container"; NULL:
	 * here. */
	const char *place;
	const char *target; /* ":HOST": what a name may have behind it; NULL: nothing */
	bool needs_target;
	bool elsewhere; /* what it is given leaves this machine */
	/* What it cannot hold or keep out, by name, for all of a run ("memory", "network"); NULL:
	 * nothing; else NULL-terminated. */
	const char *const *lacks;
	/* The same of a target (NULL: none was named), where targets differ; NULL: they do not. */
	const char *const *(*target_lacks)(const char *target);
	bool keeps_state;   /* honours state_from of a job */
	bool copies_state;  /* of a job that rebuilds, if it has that state, else makes it again */
	bool takes_own;	    /* environments of the user's own (struct sandbox_options) */
	bool takes_sources; /* of a job's inputs: else it is given copies */
	bool has_port;	    /* honours port of a job */
	int (*open)(void **ret_self, const struct sandbox_options *options, struct error *err);
	/* Its environment is described already: the result's environment is the same. */
	int (*run)(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
		   struct sandbox_result *ret_result, struct error *err);
	int (*run_pair)(void *self, const struct sandbox_job jobs[2], /* NULL: it cannot */
			const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
			struct error *err);
	void (*prepare)(void *self, const struct sandbox_job *job); /* NULL: it cannot */
	/* NULL: it cannot */
	void (*foresee)(void *self, const struct sandbox_job *job, const struct sandbox_hint *hint);
	bool (*ask)(void *self, const struct sandbox_job *job, const void *question, size_t len,
		    int cancel_fd, struct buf *ret_answer);	       /* NULL: it cannot */
	bool (*expect_ask)(void *self, const struct sandbox_job *job); /* NULL with it */
	void (*forget_states)(void *self);			       /* NULL: it keeps none */
	void (*forget_state)(void *self, const char *id);	       /* NULL with it */
	int (*describe)(void *self, const struct language *language,
			struct sandbox_environment *ret, struct error *err);
	int (*doctor)(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		      struct error *err);
	int (*wall)(void *self, const char *wall, const char **ret_text, /* NULL: none */
		    struct error *err);
	/* After each job or question: what is not to wait for another may go. NULL: nothing does.
	 */
	void (*rest)(void *self);
	void (*finish)(void *self);
	void (*close)(void *self); /* never NULL */
};

struct sandbox {
	const struct backend *backend;
	void *self;
	char *name;	 /* owned; with its target */
	char *not_held;	 /* owned; what it lacks and the user does without; NULL: nothing */
	char *cache_dir; /* owned; NULL: none kept */
};

/* What there is, the one that is meant when none is named first; NULL-terminated.
 * A program that links another list of that name, as tests do, has others. */
extern const struct backend *const backend_list[];

/* Whether a path is below its folder: relative, no empty, "." or ".." part, every part short enough
 * for a file. */
bool sandbox_path_is_safe(const char *path);

/* Of a backend that no name stands for: it is open already, under the name of another. Takes
 * self. */
struct sandbox *sandbox_of(const struct backend *backend, void *self,
			   const struct sandbox_options *options);

#endif
