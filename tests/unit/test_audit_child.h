/* Processes of a test that use a log, and what must be found of what they wrote. */
#ifndef TEST_AUDIT_CHILD_H
#define TEST_AUDIT_CHILD_H

#include "test_audit_fixture.h"

#include <sys/wait.h>

/* Runs fn in a child; its assertions' failure is the child's. */
static inline void in_child(void (*fn)(const struct fixture *f), const struct fixture *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		fn(f);
		fflush(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

#define CHILD_ASSERT(what)                                                             \
	do {                                                                           \
		if (!(what)) {                                                         \
			fprintf(stderr, "%d: %s: %s\n", __LINE__, #what, err.message); \
			_exit(1);                                                      \
		}                                                                      \
	} while (0)

static inline int count_events(void *self, struct audit_record *record)
{
	(void)record;
	++*(int *)self;
	return 0;
}

/* The newest run was broken off, and all that was committed of it is there. */
static inline void assert_intact(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;
	struct audit_row row = { 0 };
	char *bad = NULL;
	int events = 0;

	CHILD_ASSERT(audit_open(&audit,
				&(struct audit_options){ .path = f->path, .read_only = true },
				&err) == 0);
	CHILD_ASSERT(audit_find(audit, "last", &row, &err) == 0);
	CHILD_ASSERT(!strcmp(row.status, "started") && row.ended_ms == 0);
	CHILD_ASSERT(audit_verify(audit, row.id, &bad, &err) == 0 && !bad);
	CHILD_ASSERT(audit_events(audit, row.id, count_events, &events, &err) == 0 && events > 0);
	audit_row_release(&row);
	audit_close(audit);
}

#endif
