/*
 * For a backend that is the keeper somewhere else: a command whose standard input and
 * output are a stream to `assay-keeper --stream` (keeper/stream.h). All else of the
 * backend is the native one, whose functions stand in its table by NATIVE_ROWS.
 */
#ifndef SANDBOX_NATIVE_FAR_H
#define SANDBOX_NATIVE_FAR_H

#include "sandbox/backend.h"

struct native_far {
	/* What is started, by its path, and all of its environment; NULL-terminated, owned.
	 * It ends, with all it started, when its standard input does: nothing else is
	 * certain to reach it. */
	char **command, **env;
	/* A word of the command that is made anew for each start (there may be two at once, for
	 * a pair, and one after another); the word is freed, what it names is the command's. */
	int (*fresh)(const struct native_far *far, char **ret_word, struct error *err);
	size_t fresh_at;
	char *program; /* that holds the walls, for fresh; owned; may be NULL */
	/* Interpreters there are this host's own files, under the same paths. */
	bool same_files;
	/* It is in namespaces of its own (pid, net, mount, ipc, uts): the doctor tries. */
	bool has_namespaces;
	bool is_machine; /* it has a kernel of its own: the doctor tries */
	bool maps_root;	 /* what is started is root of a user namespace; for fresh */
	bool is_kernel;	 /* the same, and that is a program (gVisor): as /proc/version tells */
	/* What the names of folders begin with in which the command makes once what it needs, and
	 * what that is, in words; owned; NULL: nothing of the kind. */
	char *making_at;
	const char *making;
	int start_ms; /* until it must have said hello; 0: as any */
	/* What a run may have of memory there; a larger limit is refused. 0: not known. */
	int64_t memory_bytes;
	/* True of what is around the keeper's own walls; told of every run. Each has a layer. */
	struct sandbox_isolation outer;
};

/* Takes far, which was allocated, whatever comes of it. Does not wait for what it starts. */
int native_open_far(void **ret_self, struct native_far *far, const struct sandbox_options *options,
		    struct error *err);
void native_far_free(struct native_far *far); /* NULL is allowed */
/* One more at the end of command or env, which may be NULL; takes text. */
void native_far_add(char ***list, char *text);
/* NAME=value of this process, where it has one. */
void native_far_inherit(struct native_far *far, const char *name);
/* Where the program that holds the walls is; owned by the caller; NULL and err: nowhere. */
char *native_keeper_path(const struct sandbox_options *options, struct error *err);

int native_self_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
		    struct sandbox_result *ret_result, struct error *err);
int native_self_run_pair(void *self, const struct sandbox_job jobs[2],
			 const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
			 struct error *err);
int native_self_describe(void *self, const struct language *language,
			 struct sandbox_environment *ret, struct error *err);
int native_self_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		       struct error *err);
int native_self_wall(void *self, const char *wall, const char **ret_text, struct error *err);
void native_self_rest(void *self);
void native_self_finish(void *self);
void native_self_close(void *self);

#define NATIVE_ROWS                                                                               \
	.has_port = true, .run = native_self_run, .run_pair = native_self_run_pair,               \
	.describe = native_self_describe, .doctor = native_self_doctor, .wall = native_self_wall, \
	.rest = native_self_rest, .finish = native_self_finish, .close = native_self_close

#endif
