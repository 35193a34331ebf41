/* The processes of a run, by the /proc of its pid namespace, a directory. */
#ifndef SANDBOX_KEEPER_PROCESSES_H
#define SANDBOX_KEEPER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct usage;

/* Calls visit for every process, init too; -1: there is no such directory any more. */
int processes_visit(int proc, void (*visit)(int proc, const char *pid, struct usage *usage),
		    struct usage *usage);
/* What a file of one says, ended by a null byte; -1 with errno. */
ssize_t processes_read(int proc, const char *pid, const char *file, char *ret, size_t size);
bool processes_is_init(const char *pid);

#endif
