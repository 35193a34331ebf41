/* A program of the user's and its guard: how it ended is told, its number is nobody else's while
 * something may still be sent to it, and all that it left is ended with it. */
#include "agent/tools/child.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct stop never = STOP_NEVER;

/* Its letter in proc(5); '-': there is no such process. */
static char state_of(pid_t pid)
{
	char path[64], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return '-';
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	const char *end = n ? strrchr(text, ')') : NULL;
	return end ? end[2] : '-';
}

static int status_of(struct child *c, const char *command)
{
	struct error err = ERROR_INIT;
	int status = -1;

	assert_int_equal(child_start(c, "t", command, NULL, &err), 0);
	assert_int_equal(child_wait(c, &never, &status, &err), 0);
	return status;
}

static void test_endings(void **state)
{
	struct child c;
	(void)state;

	int status = status_of(&c, "sh -c 'exit 3'");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	child_end(&c);
	status = status_of(&c, "sh -c 'kill -9 $$'");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	child_end(&c);
}

/* Its number is its group's: who ends the group must not meet a stranger. */
static void test_number_is_kept(void **state)
{
	struct child c;
	(void)state;

	status_of(&c, "sh -c 'sleep 300 & sleep 0; exit 3'");
	pid_t pid = c.pid;
	assert_int_equal(state_of(pid), 'Z');
	assert_int_equal(kill(-pid, 0), 0);
	child_end(&c);
	assert_int_equal(state_of(pid), '-');
	assert_int_equal(kill(-pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* What loses its parent before the program ends is not kept as a zombie. */
static void test_orphans_are_reaped(void **state)
{
	struct child c;
	struct error err = ERROR_INIT;
	(void)state;

	assert_int_equal(child_start(&c, "t",
				     "sh -c '(sh -c \"exit 0\" & echo $!); read x; exit 0'", NULL,
				     &err),
			 0);
	while (!c.output.len)
		assert_int_equal(child_step(&c, &never, &err), 0);
	buf_addch(&c.output, '\0');
	pid_t orphan = (pid_t)strtol(c.output.data, NULL, 10);
	assert_true(orphan > 1);
	for (int i = 0; i < 10000 && state_of(orphan) != '-'; i++)
		usleep(1000);
	assert_int_equal(state_of(orphan), '-');
	child_close_input(&c);
	int status = -1;
	assert_int_equal(child_wait(&c, &never, &status, &err), 0);
	child_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_number_is_kept),
		cmocka_unit_test(test_orphans_are_reaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
