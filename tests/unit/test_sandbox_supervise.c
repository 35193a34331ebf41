/*
 * What the keeper counts where no control group does. No keeper runs, and no limit is enforced:
 * numbers are compared.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>

static int queue_of_new_socket(int fd, int level, int name, void *ret, socklen_t *size)
{
	(void)fd;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_SNDBUF);
	memcpy(ret, &(int){ 8 << 20 }, *size);
	return 0;
}

#define getsockopt queue_of_new_socket
#include "sandbox/native/keeper/kill.c"
#include "sandbox/native/keeper/processes.c"
#include "sandbox/native/keeper/supervise.c"
#undef getsockopt

ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size)
{
	(void)dirfd;
	(void)path;
	(void)ret_text;
	(void)size;
	return -1;
}

void close_all(int *fds, size_t count)
{
	(void)fds;
	(void)count;
}

int64_t aside_count(int proc, int64_t (*of)(int proc, const void *what), const void *what)
{
	return of(proc, what);
}

bool relation_shares_memory(int proc, pid_t init, pid_t pid, pid_t parent)
{
	(void)proc;
	(void)init;
	(void)pid;
	(void)parent;
	return false;
}

void ledger_begin(struct ledger *l)
{
	(void)l;
}

void ledger_see(struct ledger *l, pid_t pid, long threads, int64_t us, bool zombie)
{
	(void)l;
	(void)pid;
	(void)threads;
	(void)us;
	(void)zombie;
}

void ledger_settle(struct ledger *l)
{
	(void)l;
}

/* One message may begin while as much is queued. */
static void test_sockets_hold_what_the_host_lets_them(void **state)
{
	(void)state;
	assert_true(supervise_socket_bytes() >= 2 * (8ll << 20));
	assert_true(supervise_socket_bytes() <= 3 * (8ll << 20));
}

int main(void)
{
	const struct CMUnitTest sandbox_supervise_tests[] = {
		cmocka_unit_test(test_sockets_hold_what_the_host_lets_them),
	};

	return cmocka_run_group_tests_name("sandbox_supervise", sandbox_supervise_tests, NULL,
					   NULL);
}
