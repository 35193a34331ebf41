/*
 * Where an interpreter really is. Only paths the guest's root has count, so a
 * version manager's copy in somebody's home is never taken.
 */
#include "sandbox/native/interpreter.h"

#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_in_root(const char *path)
{
	static const char *const roots[] = { "/usr/", "/bin/", "/lib/", "/sbin/", "/lib64/" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	return false;
}

char *interpreter_find(const struct language *language)
{
	for (const char *const *c = language->interpreters; *c; c++) {
		char real[PATH_MAX];

		if (realpath(*c, real) && is_in_root(real) && access(real, X_OK) == 0)
			return mem_strdup(real);
	}
	return NULL;
}
