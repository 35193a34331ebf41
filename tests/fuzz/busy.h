/* Workers of a service that have taken something and stay with it, so that what needs one is
 * refused. */
#ifndef FUZZ_BUSY_H
#define FUZZ_BUSY_H

#include "agent/doors/service/service.h"

#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t busy_taken;

static void busy_stay(struct work *work, struct worker *worker)
{
	(void)work;
	(void)worker;
	sem_post(&busy_taken);
	for (;;)
		pause();
}

/* Returns when a worker has it; work is static. */
static void busy_keep(struct service *service, struct work *work)
{
	work->run = busy_stay;
	sem_init(&busy_taken, 0, 0);
	if (!service_submit(service, work) || sem_wait(&busy_taken) < 0)
		abort();
}

#endif
