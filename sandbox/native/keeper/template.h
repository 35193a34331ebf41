/*
 * The templates of interpreters as the rest of the keeper knows them: they can be asked for one
 * that waits, count in the groups for as much as template_bytes says, and may be gone at any
 * moment. Theory: template.c; what it does itself: sandbox/native/warm/README.md.
 */
#ifndef SANDBOX_KEEPER_TEMPLATE_H
#define SANDBOX_KEEPER_TEMPLATE_H

#include "sandbox/native/keeper/orders.h"

#include <stdbool.h>
#include <stdint.h>

struct keeper;

/* Whether one can make an interpreter for a job that is started as the payload of this PREPARE
 * says, with the modules and the code it names: template_fork is of that one then. If there is
 * none, it is ordered, and can for those that come after. */
bool template_serves(const struct keeper *k, const int *fds);
/* Waits for the one that was asked for last, as long as anybody would; whether it can now. */
bool template_await(void);
/* Has it make one in that init, behind the walls of that launch. The socket to it is the
 * caller's, and the filter's listener. -1: the template is no more. */
int template_fork(const struct keeper *k, int init, const struct launch *launch, int *ret_go,
		  int *ret_listener);
/* Before a run: waits until one that starts is ready, or stands still; what it does is no run's.
 * After it, true: those that stood still may go on (template_go_on) when the groups' limits are as
 * large as template_bytes says now. */
void template_before_run(void);
bool template_after_run(void);
void template_go_on(void);
/* False when one died, and it is none then. */
bool template_all_live(void);
/* Until assay speaks, or there is none that was used within so long. */
void template_idle(const struct keeper *k, int64_t idle_ms);
/* What the run's group counts of them; 0: there is none. */
int64_t template_bytes(void);
int64_t template_pids(void);
/* Why one of those that were asked for is none; an empty step: none failed. */
struct protocol_failure template_failure(void);

#endif
