/*
 * Waiting for the disk, for oneself and for others: of several processes that wait, one syncs and
 * the rest find that it was done. It writes nothing, and holds no lock of SQLite's.
 */
#include "audit/durable.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One page that processes share, since one forked the others. A process counts its commit when it
 * is written; who syncs notes the count of before, so that what was noted is on the disk.
 */
struct audit_group {
	pthread_mutex_t one; /* syncs at a time; robust: its holder may be killed */
	atomic_uint_least64_t written, synced;
};

struct audit_group *audit_group_new(void)
{
	struct audit_group *group = mmap(NULL, sizeof(*group), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (group == MAP_FAILED)
		return NULL;
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&group->one, &attr);
	pthread_mutexattr_destroy(&attr);
	return group;
}

void audit_group_free(struct audit_group *group)
{
	if (group)
		munmap(group, sizeof(*group));
}

static int sync_file(int fd, const char *path, struct error *err)
{
	if (io_datasync(fd) < 0)
		return error_set_errno(err, ERR_LOG, errno,
				       "audit log %s: what was written may not be on the disk "
				       "(check the disk, or name another log with --db)",
				       path);
	return 0;
}

/* Until what was counted up to place is on the disk. */
static int sync_group(struct audit_group *group, uint64_t place, int fd, const char *path,
		      struct error *err)
{
	if (atomic_load(&group->synced) >= place)
		return 0;
	if (pthread_mutex_lock(&group->one) == EOWNERDEAD)
		pthread_mutex_consistent(&group->one); /* it noted nothing that it had not done */
	int rc = 0;
	if (atomic_load(&group->synced) < place) {
		uint64_t written = atomic_load(&group->written);
		rc = sync_file(fd, path, err);
		if (!rc)
			atomic_store(&group->synced, written);
	}
	pthread_mutex_unlock(&group->one);
	return rc;
}

char *durable_wal_of(const char *path)
{
	struct stat st;
	cleanup_free char *file =
		lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;

	return mem_printf("%s-wal", file ? file : path);
}

int audit_group_sync(struct audit_group *group, const char *path, struct error *err)
{
	cleanup_free char *wal = durable_wal_of(path);
	uint64_t place = atomic_load(&group->written);

	if (atomic_load(&group->synced) >= place)
		return 0;
	int fd = io_open(wal, O_RDONLY, 0);
	if (fd < 0 && errno == ENOENT)
		return 0; /* who removes it (another program of SQLite's) has moved all into the
			     file */
	if (fd < 0)
		return error_set_errno(err, ERR_LOG, errno, "%s", wal);
	int rc = sync_group(group, place, fd, path, err);
	io_close(fd);
	return rc;
}

int durable_choose(struct audit *audit, struct error *err)
{
	audit->defers = !strcmp(audit->journal, "wal");
	return db_exec(audit,
		       audit->defers ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
		       "configure", err);
}

/* Opened before the first sync of ours: a failure to write is told once to each who had the file
 * open by then. SQLite has no lock on this file that closing it could drop. */
static void open_wal(struct audit *audit)
{
	cleanup_free char *wal = durable_wal_of(audit->path);

	if (audit->wal_fd < 0)
		audit->wal_fd = io_open(wal, O_RDONLY, 0);
}

void durable_written(struct audit *audit)
{
	if (!audit->defers)
		return;
	open_wal(audit);
	audit->unsynced = true;
	if (audit->group)
		audit->place = atomic_fetch_add(&audit->group->written, 1) + 1;
}

void durable_emptied(struct audit *audit)
{
	audit->unsynced = false;
}

int durable_sync(struct audit *audit, struct error *err)
{
	if (!audit->unsynced)
		return 0;
	if (audit->wal_fd < 0)
		return error_set(err, ERR_LOG, "audit log %s: %s-wal cannot be opened", audit->path,
				 audit->path);
	int rc = audit->group ?
			 sync_group(audit->group, audit->place, audit->wal_fd, audit->path, err) :
			 sync_file(audit->wal_fd, audit->path, err);
	if (!rc)
		audit->unsynced = false;
	return rc;
}

int durable_finish(struct audit *audit, struct error *err)
{
	struct stat st;

	/* The last to close it emptied it, and synced all before that. */
	if (audit->wal_fd >= 0 && fstat(audit->wal_fd, &st) == 0 && !st.st_size)
		durable_emptied(audit);
	int rc = durable_sync(audit, err);
	if (audit->wal_fd >= 0)
		io_close(audit->wal_fd);
	audit->wal_fd = -1;
	return rc;
}
