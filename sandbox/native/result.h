/* What happened. */
#ifndef NATIVE_RESULT_H
#define NATIVE_RESULT_H

#include "sandbox/sandbox.h"

struct pump;

/* What happened, after the end. Fails when the guest never ran. */
int pump_result(struct pump *p, struct sandbox_result *ret_result, struct error *err);

#endif
