/*
 * The template between its start and its end: says that it is ready, or why not, and makes one
 * interpreter for each order. It dies with the socket, reads nothing else, and runs no code but
 * the modules it imported.
 */
#include "sandbox/native/warm/warm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void fail(int orders, const struct protocol_failure *failure)
{
	struct event event = { .kind = EVENT_FAILED, .failure = *failure };

	message_send(orders, &event, sizeof(event), NULL, 0);
}

/* What we fork has it from us: the kernel's choice is a guest, never we. */
static int open_oom_score(void)
{
	return open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
}

static void set_oom_score(int fd, const char *score)
{
	if (fd >= 0)
		(void)!pwrite(fd, score, strlen(score), 0);
}

/* True in the new interpreter. */
static bool serve(const struct warm_start *start, const struct warm_order *order, int *fds, int oom)
{
	struct event born = { .kind = EVENT_BORN, .pid = 2 };
	struct protocol_failure failure = { .errnum = 0 };

	set_oom_score(oom, "1000");
	python_before_fork();
	int made = spawn(fds[WARM_INIT], order->namespaces, &failure);
	if (made == 0) {
		close_all((int[]){ start->orders, fds[WARM_INIT], oom }, 3);
		return true;
	}
	python_after_fork();
	set_oom_score(oom, "0");
	close_all(fds, WARM_ORDER_FDS);
	born.at_us = now_us();
	if (made < 0)
		fail(start->orders, &failure);
	else
		message_send(start->orders, &born, sizeof(born), NULL, 0);
	return false;
}

bool is_ours(const char *script)
{
	const char *name = strrchr(script, '/');

	return name && !strncmp(name + 1, OWN_FILES, strlen(OWN_FILES));
}

void template_main(const struct warm_start *start)
{
	static struct warm_order order;
	struct event ready = { .kind = EVENT_WAITING };
	struct protocol_failure failure = { .errnum = 0 };

	if (python_warm(start, &failure) < 0 || check_template(start, &failure) < 0) {
		fail(start->orders, &failure);
		_exit(1);
	}
	message_send(start->orders, &ready, sizeof(ready), NULL, 0);
	/* It touches few pages, and all that a rehearsed end would have made ready would be copied
	 * in vain. */
	if (!is_ours(start->script))
		rehearse();
	close(start->printed);
	int oom = open_oom_score();
	ready.kind = EVENT_READY;
	ready.at_us = now_us();
	message_send(start->orders, &ready, sizeof(ready), NULL, 0);
	int fds[WARM_ORDER_FDS];
	for (;;) {
		if (message_receive(start->orders, &order, sizeof(order), fds, WARM_ORDER_FDS) !=
		    sizeof(order))
			_exit(0);
		if (serve(start, &order, fds, oom))
			break;
	}
	child_main(start, &order.launch, fds[WARM_SOCKET]);
}
