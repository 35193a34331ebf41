/*
 * Whether a template is what every run may be a copy of. It may only look. Each doubt is a no: then
 * interpreters are started cold.
 */
#include "sandbox/native/warm/warm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* How many numbers a folder of /proc has but those in known; -1: it cannot be read. */
static int count_others(const char *path, const int *known, size_t known_count)
{
	DIR *dir = opendir(path);

	if (!dir)
		return -1;
	const struct dirent *entry;
	int count = 0;
	while ((entry = readdir(dir))) {
		bool is_known = entry->d_name[0] == '.';

		for (size_t i = 0; i < known_count; i++)
			is_known = is_known || atoi(entry->d_name) == known[i];
		is_known = is_known || (known_count > 0 && atoi(entry->d_name) == dirfd(dir));
		count += !is_known;
	}
	closedir(dir);
	return count;
}

/* A file that a guest has, too, or of no name that tells of the host. */
static bool path_is_known(const char *path)
{
	static const char *const known[] = { "/usr/", "/lib", "/bin/", "/memfd:" };

	for (size_t i = 0; path && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(path, known[i], strlen(known[i])))
			return true;
	return !path;
}

/* Not memory that a fork would share with us, or that is both written and run. */
static bool map_is_private(const char *line)
{
	const char *mode = strchr(line, ' ');

	if (!mode || strlen(mode) < 5 || !path_is_known(strchr(line, '/')))
		return false;
	return mode[2] != 'w' || (mode[3] != 'x' && mode[4] != 's');
}

static bool maps_are_private(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool good = maps != NULL;

	while (good && getline(&line, &size, maps) > 0)
		good = map_is_private(line);
	free(line);
	if (maps)
		fclose(maps);
	return good;
}

/* One that was joined may be there for a moment. */
static bool is_alone(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int n = 0; n < 100; n++) {
		if (count_others("/proc/self/task", NULL, 0) == 1)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

int check_template(const struct warm_start *start, struct protocol_failure *failure)
{
	const int known[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, start->orders,
			      start->printed };

	errno = 0;
	if (!is_alone())
		return failure_set(failure, "template: a module started a thread", "");
	if (count_others("/proc/self/fd", known, sizeof(known) / sizeof(known[0])) != 0)
		return failure_set(failure, "template: a module opened a descriptor", "");
	if (!maps_are_private())
		return failure_set(failure, "template: memory that is shared or of an unknown file",
				   "");
	int printed = 0;
	if (ioctl(start->printed, FIONREAD, &printed) < 0 || printed != 0)
		return failure_set(failure, "template: a module printed something", "");
	if (!confine_is_fixed())
		return failure_set(failure, "template: privileges are not fixed", "");
	return 0;
}
