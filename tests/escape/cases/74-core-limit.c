// threat: 74 29 30 the limit that keeps the host's handler of crashes from being started stays
// forbidden: prlimit64
// gvisor: exit 1; the limit on core files cannot be asked about
// gvisor-out: errno == wanted[i].error : status == 0: errno 1
#include "probe.h"
#include <pthread.h>

#define HIGH (1l << 32) /* the kernel looks at the lower half of a resource */

static void unchanged(void)
{
	struct rlimit now = { 99, 99 };
	must(syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &now) == 0 && now.rlim_max <= 1);
	must(now.rlim_cur == now.rlim_max);
	must(getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur == now.rlim_max);
}

/* What is answered is another matter: whoever wants no core is told it is done. */
static const struct {
	struct rlimit limit;
	int error;
} wanted[] = {
	{ { 0, 0 }, 0 },     { { 0, 1 }, 0 },	  { { 1, 0 }, EINVAL },
	{ { 2, 2 }, EPERM }, { { 0, 2 }, EPERM }, { { RLIM_INFINITY, RLIM_INFINITY }, EPERM },
};

static void *attempt(void *unused)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct rlimit *w = &wanted[i].limit;
		int status = setrlimit(RLIMIT_CORE, w);
		must(wanted[i].error ? status < 0 && errno == wanted[i].error : status == 0);
		unchanged();
		syscall(SYS_setrlimit, RLIMIT_CORE, w);
		syscall(SYS_setrlimit, RLIMIT_CORE + HIGH, w);
		syscall(SYS_setrlimit, RLIMIT_CORE - HIGH, w);
		syscall(SYS_prlimit64, 0, RLIMIT_CORE + HIGH, w, NULL);
		syscall(SYS_prlimit64, HIGH, RLIMIT_CORE, w, NULL);
		struct rlimit old;
		must(syscall(SYS_prlimit64, 0, RLIMIT_CORE, w, &old) < 0 && errno == EPERM);
		must(syscall(SYS_prlimit64, getpid(), RLIMIT_CORE, w, NULL) < 0 && errno == EPERM);
		must(syscall(SYS_prlimit64, 1, RLIMIT_CORE, w, NULL) < 0 && errno == EPERM);
		unchanged();
	}
	return NULL;
}

/* What was read is not what would be set, were it set. */
static volatile int racing = 1;
static struct rlimit raced;
static void *race(void *unused)
{
	while (racing) {
		raced.rlim_max = 0;
		raced.rlim_max = 2;
	}
	return NULL;
}

static void attempt_in_a_race(void)
{
	pthread_t thread;
	must(pthread_create(&thread, NULL, race, NULL) == 0);
	for (int i = 0; i < 30; i++) {
		setrlimit(RLIMIT_CORE, &raced);
		unchanged();
	}
	racing = 0;
	must(pthread_join(thread, NULL) == 0);
	must(syscall(SYS_setrlimit, RLIMIT_CORE, NULL) < 0 && errno == EFAULT);
	must(syscall(SYS_setrlimit, RLIMIT_CORE, -16l) < 0 && errno == EFAULT);
}

/* An address whose lower half is zero is no null pointer. */
static void attempt_at_a_round_address(void)
{
	struct rlimit *at = mmap((void *)HIGH, 4096, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	must(at == (void *)HIGH);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, at, NULL);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, at, at + 1);
	unchanged();
}

int main(int argc, char **argv)
{
	static const int deaths[] = { SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE,
				      SIGSEGV, SIGBUS, SIGSYS,	SIGXCPU, SIGXFSZ };
	unchanged();
	attempt(NULL);
	attempt_at_a_round_address();
	attempt_in_a_race();
	pthread_t thread;
	must(pthread_create(&thread, NULL, attempt, NULL) == 0 && pthread_join(thread, NULL) == 0);
	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_DUMPABLE, 0);
			prctl(PR_SET_DUMPABLE, 1);
			attempt(NULL);
			kill(getpid(), deaths[i]);
			pause();
		}
		must(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == deaths[i]);
		must(!WCOREDUMP(status)); /* as it is when a handler took it */
	}
	/* The others are still one's own to lower. */
	must(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 99, 99 }) == 0);
	must(syscall(SYS_setrlimit, RLIMIT_STACK, &(struct rlimit){ 1 << 20, 1 << 20 }) == 0);
	must(syscall(SYS_prlimit64, 0, RLIMIT_DATA, &(struct rlimit){ 1 << 28, 1 << 28 },
		     &(struct rlimit){ 0, 0 }) == 0);
}
