/* One sandbox for all tests of a program. */
#ifndef TEST_VERIFIER_SANDBOX_H
#define TEST_VERIFIER_SANDBOX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sandbox/sandbox.h"

static struct sandbox *sandbox;

static int open_sandbox(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	if (!sandbox_open(&sandbox, NULL, &err))
		return 0;
	print_error("%s\n", err.message);
	return -1;
}

static int close_sandbox(void **state)
{
	(void)state;
	sandbox_close(sandbox);
	return 0;
}

#endif
