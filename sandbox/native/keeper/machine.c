/*
 * A near end's COMMAND for a machine of its own: QEMU's microvm with a kernel of Debian's, this
 * program as its pid 1 (boot.c) and an image as its root, both read-only. Its serial port is our
 * standard input and output; it has no network, no other device, and no file that it can write.
 *
 *	wrapper   this process: in namespaces made for QEMU, waits for the end of its input or of
 *	          QEMU, and sees to it that the other follows
 *	QEMU      pid 1 of its pid namespace, as a user who owns nothing, with its own filter of
 *	          calls, in a root with this host's /usr read-only. It dies with the wrapper.
 *
 * Nobody asks the machine to end: when nothing can come from us any more it is given a moment.
 */
#include "sandbox/native/keeper/boot.h"

#include "sandbox/native/keeper/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define QEMU	   "/usr/bin/qemu-system-x86_64"
#define END_MS	   1500	    /* for the machine to end by itself */
#define MEASURE_NS 20000000 /* of the processor's counter */

struct machine {
	const char *modules, *memory;
	bool kvm;
	int kernel, image, initramfs, errors; /* the last is our standard error */
};

static int complain(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

/* --- what QEMU is started with --- */

/* Software emulation shows the guest this processor's own counter, and the guest cannot measure
 * how fast that is on a busy host; told, it does without a timer that it would need for this. */
static long counter_khz(void)
{
#if defined(__x86_64__)
	const struct timespec pause = { .tv_nsec = MEASURE_NS };
	struct timespec a;

	clock_gettime(CLOCK_MONOTONIC, &a);
	unsigned long long first = __rdtsc();
	nanosleep(&pause, NULL);
	struct timespec b;
	clock_gettime(CLOCK_MONOTONIC, &b);
	unsigned long long last = __rdtsc();
	return (long)((double)(last - first) * 1e6 /
		      ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)));
#else
	return 0;
#endif
}

struct words {
	char text[2048];
	size_t used, count;
	char *list[64];
};

static void add(struct words *w, const char *word)
{
	size_t len = strlen(word) + 1;

	if (w->count + 2 > sizeof(w->list) / sizeof(w->list[0]) || w->used + len > sizeof(w->text))
		abort(); /* all of it is ours */
	memcpy(w->text + w->used, word, len);
	w->list[w->count++] = w->text + w->used;
	w->used += len;
}

static void add_all(struct words *w, const char *const *words)
{
	for (; *words; words++)
		add(w, *words);
}

static void describe_machine(const struct machine *m, struct words *w)
{
	static const char *const fixed[] = {
		QEMU,
		"-nodefaults",
		"-no-user-config",
		"-no-reboot",
		"-display",
		"none",
		"-smp",
		"1",
		"-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-M",
		"microvm,x-option-roms=off,pit=off,pic=off,isa-serial=off",
		"-device",
		"virtio-blk-device,drive=root",
		"-device",
		"virtio-serial-device,max_ports=3",
		"-chardev",
		"stdio,id=stream,signal=off",
		"-device",
		"virtserialport,chardev=stream,nr=1",
		"-chardev",
		"file,id=errors,path=/dev/fdset/2,append=on",
		"-device",
		"virtserialport,chardev=errors,nr=2",
		NULL,
	};

	add_all(w, fixed);
	add_all(w,
		m->kvm ? (const char *const[]){ "-accel", "kvm", "-cpu", "host", NULL } :
			 (const char *const[]){ "-accel", "tcg,tb-size=128", "-cpu", "max", NULL });
	add_all(w, (const char *const[]){ "-m", m->memory, "-add-fd", NULL });
	char word[256];
	snprintf(word, sizeof(word), "set=2,fd=%d", m->errors);
	add_all(w, (const char *const[]){ word, "-add-fd", NULL });
	snprintf(word, sizeof(word), "set=1,fd=%d", m->image);
	add_all(w, (const char *const[]){ word, "-drive",
					  "if=none,id=root,file=/dev/fdset/1,format=raw,"
					  "readonly=on,file.locking=off",
					  "-kernel", NULL });
	snprintf(word, sizeof(word), "/proc/self/fd/%d", m->kernel);
	add_all(w, (const char *const[]){ word, "-initrd", NULL });
	snprintf(word, sizeof(word), "/proc/self/fd/%d", m->initramfs);
	add_all(w, (const char *const[]){ word, "-append", NULL });
	snprintf(word, sizeof(word), "quiet panic=-1 reboot=t random.trust_cpu=on");
	if (!m->kvm)
		snprintf(word + strlen(word), sizeof(word) - strlen(word),
			 " no_timer_check tsc=reliable tsc_early_khz=%ld", counter_khz());
	add(w, word);
}

/* --- QEMU --- */

static void keep(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

static void become_qemu(const struct machine *m, int alive)
{
	static struct words w;
	struct protocol_failure failure = { .step = "" };
	const struct rlimit none = { 0, 0 };
	char *env[] = { NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	char byte;
	/* Whose parent died before that is told now. */
	if (read(alive, &byte, 1) >= 0 || errno != EAGAIN)
		_exit(1);
	if (root_machine(&failure) < 0) {
		errno = failure.errnum;
		_exit(complain(failure.step));
	}
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	keep(m->kernel);
	keep(m->image);
	keep(m->initramfs);
	keep(m->errors);
	describe_machine(m, &w);
	confine_fix_privileges(true);
	execve(QEMU, w.list, env);
	_exit(complain(QEMU));
}

/* Nothing can come any more: its input has ended, and nobody waits for what it says. */
static void wait_for_end(pid_t qemu)
{
	int child = (int)syscall(SYS_pidfd_open, qemu, 0);
	struct pollfd fds[] = { { .fd = 0 }, { .fd = child, .events = POLLIN } };

	while (poll(fds, 2, fds[0].fd < 0 ? END_MS : -1) > 0 && !fds[1].revents)
		fds[0].fd = -1; /* events of none: it was hung up */
	if (!fds[1].revents)
		kill(qemu, SIGKILL);
	while (waitpid(qemu, NULL, 0) < 0 && errno == EINTR)
		;
}

static int start(const struct machine *m)
{
	int alive[2];

	if (pipe2(alive, O_CLOEXEC | O_NONBLOCK) < 0)
		return complain("pipe");
	pid_t qemu = fork();
	if (qemu < 0)
		return complain("fork");
	if (qemu == 0) {
		close(alive[1]);
		become_qemu(m, alive[0]);
	}
	close(alive[0]);
	wait_for_end(qemu);
	return 0;
}

int machine_main(char **arguments)
{
	struct machine m = { .modules = arguments[2],
			     .memory = arguments[3],
			     .kvm = !strcmp(arguments[4], "kvm") };
	struct protocol_failure failure = { .step = "" };

	m.errors = fcntl(2, F_DUPFD_CLOEXEC, 3); /* QEMU takes none of the first three */
	m.kernel = open(arguments[0], O_RDONLY | O_CLOEXEC);
	if (m.kernel < 0)
		return complain(arguments[0]);
	m.image = open(arguments[1], O_RDONLY | O_CLOEXEC);
	if (m.image < 0)
		return complain(arguments[1]);
	if (initramfs_make(m.modules, false, &m.initramfs) < 0)
		return complain("initramfs");
	if (root_machine_spaces(m.kvm, &failure) < 0) {
		fprintf(stderr, "%s: %s; %s\n", failure.step, strerror(failure.errnum),
			failure.remedy);
		return 1;
	}
	return start(&m);
}
