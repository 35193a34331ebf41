/* To kill and to stop the processes of a run, through its /proc. */
#ifndef SANDBOX_KEEPER_KILL_H
#define SANDBOX_KEEPER_KILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Kills every process of a run by itself, through its /proc. */
void supervise_kill(int proc);

/* Stops it; whether it is stopped by now. */
bool supervise_stop_one(int proc, pid_t pid);
/* Its threads; -1: it is not there. */
int64_t supervise_threads(int proc, pid_t pid);
/* When it began, in ticks since the host did; 0: it is not there. */
uint64_t supervise_since(int proc, pid_t pid);

/* Those of a run that its own had stopped already, as far as there is room. */
#define STOPPED_MAX 1024
struct stopped {
	long pids[STOPPED_MAX];
	size_t count;
};

/* All but init and those: killed; how many there are, -1: not to be had. */
void supervise_kill_others(int proc, struct stopped *spared);
int64_t supervise_others(int proc, struct stopped *spared);
void supervise_stopped(int proc, struct stopped *ret);
/* Stops every process but init, and has all go on that were not stopped before. */
void supervise_stop(int proc);
void supervise_continue(int proc, struct stopped *before);

#endif
