/*
 * One anonymous map and one robust mutex. It knows nothing of what is in it, and nobody waits here
 * for anything but the lock.
 */
#include "base/shared.h"

#include <errno.h>
#include <sys/mman.h>

void *shared_new(size_t size)
{
	struct shared *shared =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return NULL;
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return shared;
}

void shared_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void shared_lock(struct shared *shared)
{
	if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->lock);
}

void shared_unlock(struct shared *shared)
{
	pthread_mutex_unlock(&shared->lock);
}
