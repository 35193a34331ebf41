/*
 * The template of interpreters as the rest of the keeper knows it: it can be asked for one that
 * waits, counts in the groups for as much as template_bytes says, and may be gone at any moment.
 * Theory: template.c; what it does itself: sandbox/native/warm/README.md.
 */
#ifndef SANDBOX_KEEPER_TEMPLATE_H
#define SANDBOX_KEEPER_TEMPLATE_H

#include "sandbox/native/keeper/keeper.h"

/* With an order to the launcher: what it is to be started as, the object that makes it one, and
 * the socket by which it is told what to do. */
enum template_fd { TEMPLATE_PAYLOAD, TEMPLATE_OBJECT, TEMPLATE_ORDERS, TEMPLATE_FDS };

/* Whether it can make an interpreter for a job that is started as this payload says. If there
 * is none, it is ordered, and can for those that come after. */
bool template_serves(const struct keeper *k, int payload, int object);
/* Has it make one in that init, behind the walls of that launch. The socket to it is the
 * caller's, and the filter's listener. -1: the template is no more. */
int template_fork(const struct keeper *k, int init, const struct launch *launch, int *ret_go,
		  int *ret_listener);
/* Waits until one that was ordered is ready, or is none: what it does until then is no run's. */
void template_settle(void);
/* False when it died, and it is none then, or when there was none. */
bool template_lives(void);
/* Until assay speaks, or it was unused for so long and is no more. */
void template_idle(const struct keeper *k, int64_t idle_ms);
/* What the run's group counts of it; 0: there is none. */
int64_t template_bytes(void);
int64_t template_pids(void);
/* Why there is none; an empty step where there is, or nobody asked for it. */
struct protocol_failure template_failure(void);

/* Becomes one, in a child of the launcher. Returns only on failure. */
int template_exec(const int *fds);

#endif
