/* Ends of a service whose workers run nothing and log nothing. */
#ifndef TESTS_SERVICE_ENDS_H
#define TESTS_SERVICE_ENDS_H

#include "agent/doors/service/service.h"

#include <stddef.h>

static int no_sandbox(void *self, struct sandbox **ret, struct error *err)
{
	(void)self;
	(void)err;
	*ret = NULL;
	return 0;
}

static int no_log(void *self, struct audit **ret, struct error *err)
{
	(void)self;
	(void)err;
	*ret = NULL;
	return 0;
}

#endif
