/*
 * Denied system calls arrive here by user notification: named, counted and
 * refused. So do those to be granted. A round trip costs us some microseconds,
 * so a flood is answered at a bounded rate, which falls when an answer takes us
 * long: the callers wait, nothing is lost, and our share of the processor stays
 * small.
 */
#include "sandbox/native/keeper/notify.h"

#include "sandbox/native/keeper/crash.h"
#include "sandbox/native/keeper/util.h"

#define SECCOMP_WANT_NAMES
#include "sandbox/native/seccomp_filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#define BURST	       4000 /* tokens: what is answered at once */
#define PER_MS	       20   /* what after that */
#define OFFENCE	       4    /* the price of one; all else is 1 */
#define ANSWER_SHARE   8    /* one part in so many of the time goes into answers */
#define X32_BIT	       0x40000000
#define COUNT(a)       ((int)(sizeof(a) / sizeof((a)[0])))
#define TTY_FAKE_INPUT 0x5412u /* TIOCSTI */
#define TTY_LINUX      0x541cu /* TIOCLINUX */
#define NEW_NAMESPACE                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | 0x80u /* CLONE_NEWTIME */)

struct call {
	const char *name; /* NULL: newer than our table */
	const char *arch;
	int number;
	bool foreign;
};

/* A number below zero is no system call of anybody. */
static bool is_x32(const struct seccomp_data *data)
{
	return data->nr >= X32_BIT;
}

static const char *name_of(const char (*names)[sizeof(seccomp_names[0])], int count, int number)
{
	return number >= 0 && number < count && names[number][0] != '\0' ? names[number] : NULL;
}

static struct call identify(const struct seccomp_data *data)
{
	struct call call = { .number = data->nr, .arch = SECCOMP_ARCH_NAME };

	if (data->arch != SECCOMP_ARCH_NATIVE) {
		call.foreign = true;
		call.arch = data->arch == SECCOMP_ARCH_FOREIGN ? SECCOMP_FOREIGN_NAME : "foreign";
		call.name = name_of(seccomp_foreign_names, COUNT(seccomp_foreign_names), data->nr);
		return call;
	}
	if (is_x32(data)) {
		call.number &= ~X32_BIT;
		call.arch = "x32";
	}
	call.name = name_of(seccomp_names, COUNT(seccomp_names), call.number);
	return call;
}

static void record(struct protocol_result *result, const struct call *call,
		   const struct seccomp_data *data)
{
	struct protocol_forbidden f = { .count = 1 };

	if (call->name)
		snprintf(f.syscall, sizeof(f.syscall), "%s", call->name);
	else
		snprintf(f.syscall, sizeof(f.syscall), "#%d", call->number);
	snprintf(f.arch, sizeof(f.arch), "%s", call->arch);
	for (uint32_t i = 0; i < result->forbidden_count; i++) {
		struct protocol_forbidden *seen = &result->forbidden[i];

		if (!strcmp(seen->syscall, f.syscall) && !strcmp(seen->arch, f.arch)) {
			seen->count++;
			return;
		}
	}
	if (result->forbidden_count == PROTOCOL_FORBIDDEN_MAX)
		return;
	for (size_t i = 0; i < 6; i++)
		f.args[i] = data->args[i];
	result->forbidden[result->forbidden_count++] = f;
}

#define DONE 4096 /* no errno: the call returns 0, and is not made */

#define SHARED_ANONYMOUS (MAP_SHARED | MAP_ANONYMOUS)

static bool is_fork(const char *name, const struct seccomp_data *data)
{
	return !strcmp(name, "fork") || !strcmp(name, "vfork") ||
	       (!strcmp(name, "clone") && (data->args[0] & NEW_NAMESPACE) == 0);
}

/* What the kernel would refuse whatever we say, and so often as it is asked. */
static bool is_invalid_fork(const char *name, const struct seccomp_data *data)
{
	uint64_t flags = data->args[0];

	return !strcmp(name, "clone") && (((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND)) ||
					  ((flags & CLONE_SIGHAND) && !(flags & CLONE_VM)));
}

/* Of itself, and without asking for the old one: to fill that in is the kernel's. */
static bool sets_core_limit(const char *name, const struct seccomp_data *data,
			    uint64_t *ret_address)
{
	bool plain = !strcmp(name, "setrlimit");

	if (!plain &&
	    (strcmp(name, "prlimit64") || (uint32_t)data->args[0] != 0 || data->args[3] != 0))
		return false;
	*ret_address = data->args[plain ? 1 : 2];
	return (uint32_t)data->args[plain ? 0 : 1] == RLIMIT_CORE;
}

static bool is_invalid_mapping(const struct seccomp_data *data)
{
	return data->args[1] == 0 || (data->args[3] & MAP_TYPE) != MAP_SHARED;
}

/* Calls that are no offence, unrecorded: 0 when they may go on, or the error
 * they get, or DONE; -1: it is an offence. An ioctl that is neither of the two that type
 * on a terminal (CVE-2017-5226) gets what any file says that has no such thing;
 * where splice and its like come here they pin pages nobody counts, and callers
 * fall back to copying; huge pages, which no group for memory counts, are not to be had. */
static int tolerate(struct grants *g, pid_t thread, const char *name,
		    const struct seccomp_data *data)
{
	uint32_t request = (uint32_t)data->args[1];

	if (!strcmp(name, "exit_group"))
		return 0;
	if (is_fork(name, data))
		return is_invalid_fork(name, data) ? EINVAL : grant_fork(g);
	if (!strcmp(name, "mmap") && (data->args[3] & MAP_HUGETLB))
		return ENOMEM;
	if (!strcmp(name, "mmap") && (data->args[3] & SHARED_ANONYMOUS) == SHARED_ANONYMOUS)
		return is_invalid_mapping(data) ? EINVAL : grant_shared(g, thread, data->args[1]);
	if (!strcmp(name, "splice") || !strcmp(name, "tee") || !strcmp(name, "sendfile"))
		return EINVAL;
	if (!strcmp(name, "socketpair") && (uint32_t)data->args[0] == AF_UNIX)
		return grant_sockets(g, 2);
	if ((!strcmp(name, "socket") && (uint32_t)data->args[0] == AF_UNIX) ||
	    !strcmp(name, "connect")) /* the listener's end is one more */
		return grant_sockets(g, 1);
	uint64_t address;
	if (sets_core_limit(name, data, &address)) {
		int error = crash_answer_limit(g->proc, thread, address);

		return error == 0 ? DONE : error;
	}
	if (!strcmp(name, "ioctl") && request != TTY_FAKE_INPUT && request != TTY_LINUX)
		return ENOTTY;
	return -1;
}

/* 0 when the call may go on, or the error it gets, or DONE. A native number nobody has
 * a name for is a probe and gets ENOSYS, unrecorded. */
static int answer(struct notify *n, pid_t thread, const struct seccomp_data *data)
{
	struct call call = identify(data);
	int error = -1;

	if (call.foreign)
		n->foreign = true;
	else if (!call.name && !is_x32(data))
		return ENOSYS;
	else if (call.name && !is_x32(data))
		error = tolerate(n->grants, thread, call.name, data);
	if (error == 0)
		ledger_propose(n->ledger, thread, call.name, data->args[0]);
	if (error >= 0)
		return error;
	record(n->result, &call, data);
	n->tokens -= OFFENCE - 1;
	return EPERM;
}

/* Ours, and of those who count for us: what others have of the processor meanwhile
 * is no price of an answer. */
static int64_t cpu_us(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)(t.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000 +
	       t.tv_nsec / 1000 + children.ru_utime.tv_usec + children.ru_stime.tv_usec;
}

static void refill(struct notify *n)
{
	int64_t now = now_us();
	int64_t more = (now - n->refilled_us) * PER_MS / 1000;

	if (more <= 0)
		return;
	n->tokens = n->tokens + more > BURST ? BURST : n->tokens + more;
	n->refilled_us = now;
}

int64_t notify_wait_us(const struct notify *n)
{
	int64_t at = n->refilled_us + 2000;

	if (n->tokens > 0)
		return 0;
	int64_t now = now_us();
	return at > now ? at - now : 0;
}

void notify_answer(struct notify *n)
{
	if (n->refilled_us == 0) {
		n->refilled_us = now_us();
		n->tokens = BURST;
	}
	refill(n);
	if (n->tokens <= 0)
		return;
	n->tokens--;
	struct seccomp_notif request;
	memset(&request, 0, sizeof(request));
	if (ioctl(n->listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* the caller died meanwhile */
	struct seccomp_notif_resp response;
	memset(&response, 0, sizeof(response));
	response.id = request.id;
	int64_t start = cpu_us();
	int error = answer(n, (pid_t)request.pid, &request.data);
	n->tokens -= (cpu_us() - start) * ANSWER_SHARE * PER_MS / 1000;
	if (error == 0)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (error != DONE)
		response.error = -error;
	/* A foreign caller gets no answer: it dies waiting. Nor does one that is no
	 * more, or that a signal called away (before 5.19). */
	if (!n->foreign && ioctl(n->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 &&
	    error == 0)
		ledger_commit(n->ledger);
}
