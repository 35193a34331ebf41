/* One sandbox for all tests of a program. */
#ifndef TEST_VERIFIER_SANDBOX_H
#define TEST_VERIFIER_SANDBOX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>

static struct sandbox *sandbox;
static size_t warm_interpreters;		    /* that may wait in it */
static char cache[] = "/tmp/assay-verifier-XXXXXX"; /* its cache_dir */

static int open_sandbox(void **state)
{
	const struct sandbox_options options = { .cache_dir = cache, .warm = warm_interpreters };
	struct error err = ERROR_INIT;

	(void)state;
	if (!mkdtemp(cache))
		return -1;
	if (!sandbox_open(&sandbox, &options, &err))
		return 0;
	print_error("%s\n", err.message);
	return -1;
}

static int close_sandbox(void **state)
{
	char command[64];

	(void)state;
	sandbox_close(sandbox);
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return system(command);
}

#endif
