/*
 * What this machine has (host.h), as its kernel says. Nothing is kept: it is another a moment
 * later.
 */
#include "base/host.h"

#include "base/io.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 10)

int64_t host_memory_available(void)
{
	static const char name[] = "MemAvailable:";
	cleanup_buf struct buf text = BUF_INIT(FILE_MAX);
	struct error ignored = ERROR_INIT;

	if (io_read_file("/proc/meminfo", &text, &ignored) < 0)
		return -1;
	const char *at = strstr(text.data, name);
	return at ? strtoll(at + strlen(name), NULL, 10) * 1024 : -1;
}
