/*
 * The digest of wheels beside an interpreter: what a program may import of them is in the record by
 * their bytes, for their names say a version only. They are read here and never opened as archives:
 * that is done by the guest.
 */
#include "sandbox/guest/wheels.h"

#include "base/io.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 18)

static int is_wheel(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".whl");
}

static int add_one(struct hash *h, const char *folder, const char *name, struct error *err)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name), *bytes = mem_alloc(CHUNK);
	cleanup_close int fd = io_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	ssize_t n = -1;

	hash_add(h, name, strlen(name) + 1);
	while (fd >= 0 && (n = io_read(fd, bytes, CHUNK)) > 0)
		hash_add(h, bytes, (size_t)n);
	return n < 0 ? error_set_errno(err, ERR_CONFIG, errno, "read %s", path) : 0;
}

int wheels_add(struct hash *h, const char *folder, struct error *err)
{
	struct dirent **names = NULL;
	int status = 0;

	const int count = scandir(folder, &names, is_wheel, alphasort);
	for (int i = 0; i < count; i++) {
		if (status == 0)
			status = add_one(h, folder, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	return status;
}
