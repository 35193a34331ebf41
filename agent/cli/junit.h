/* A JUnit report: what CI systems read of many things tried. */
#ifndef AGENT_JUNIT_H
#define AGENT_JUNIT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct junit {
	struct buf cases;
	size_t tests, failures, errors;
	int64_t total_ms;
};

/* JUnit's two faults: what was tried went wrong; it could not be tried. */
enum junit_fault { JUNIT_NONE, JUNIT_FAILURE, JUNIT_ERROR };

struct junit_case {
	const char *name, *class_name; /* any text */
	int64_t duration_ms;
	enum junit_fault fault;
	const char *type, *message; /* of the fault */
};

void junit_init(struct junit *j);
void junit_add(struct junit *j, const struct junit_case *c);
/* In place of what path has; suite is any text. Releases j either way. */
int junit_write(struct junit *j, const char *path, const char *suite, struct error *err);

#endif
