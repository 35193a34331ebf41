/*
 * The insides of assay-warm.so, which is loaded into an interpreter before all else and makes a
 * template of it. Theory of operation: README.md. Like the keeper, whose code it shares, it is
 * libc only and allocates nothing of its own.
 */
#ifndef SANDBOX_WARM_WARM_H
#define SANDBOX_WARM_WARM_H

#include "sandbox/native/keeper/keeper.h"

#include <stdbool.h>

/* What the constructor found. */
struct warm_start {
	const char *script;  /* the interpreter's last argument; NULL: this is no template */
	const char *modules; /* to be imported besides; "-": not even the usual ones */
	const void *ahead;   /* code to be run besides, marshalled; NULL: none */
	size_t ahead_len;
	int orders;  /* socket to the keeper */
	int printed; /* what stdout and stderr of the template lead to */
};

/* --- python.c --- */

/* Imports the modules and runs what is to be run ahead. */
int python_warm(const struct warm_start *start, struct protocol_failure *failure);
/* Around a fork. The child's may run Python code and names what failed. */
void python_before_fork(void);
void python_after_fork(void);
int python_after_fork_child(struct protocol_failure *failure);
/* In a child that is thrown away: a short program, and Python's end. */
void python_live(void);
/* The last of ours that runs Python, when the program is known: len bytes of it. NULL: it is one of
 * ours, which has all as a cold start has it but its end, which it leaves to the kernel. */
int python_suit(const char *program, size_t len, struct protocol_failure *failure);

/* A function of the interpreter, or false. */
bool python_look_up(void *ret_function, const char *name);

/* --- ending.c --- */

/* In the template: those modules that are there now are its own. */
void ending_keep(void);
/* In an interpreter: they are not to be let go of at its end; or they are. */
void ending_arm(void);
void ending_forget(void);

/* --- check.c --- */

/* A template that may make interpreters: one thread, no descriptor, no memory shared with
 * anybody, nothing printed, and no privilege that a program could use. */
int check_template(const struct warm_start *start, struct protocol_failure *failure);

/* --- rehearse.c --- */

/* Finds out what a short life of a copy touches. */
void rehearse(void);
/* Has that ready in this copy. */
void rehearsed_make_ready(void);

/* --- spawn.c --- */

/* Forks into the namespaces of init. 0 in the new process, a child of init with the pid
 * that a guest has; in the template 1, or -1 with the failure. */
int spawn(int init, uint32_t namespaces, struct protocol_failure *failure);

/* --- template.c --- */

/* Whether what is started is a program of ours: it lets go of nothing when it ends. */
bool is_ours(const char *script);
/* Serves orders. Returns in a new interpreter that may open its script. */
void template_main(const struct warm_start *start);

/* --- child.c --- */

/* Confines itself, waits for the job and takes it. Returns when the program may run. */
void child_main(const struct warm_start *start, const struct launch *launch, int socket);

#endif
