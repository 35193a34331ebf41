// threat: 74 46 49 no other way to have the kernel start a program of the host
// forbidden: socket socketpair mount fsopen add_key request_key keyctl init_module finit_module
// gvisor: exit 1; ioctl is refused with another error
// gvisor-out: ioctl(fd, requests[i], &interface) < 0 && errno == ENOTTY: errno 1
// mknodat reboot quotactl bpf
#include "probe.h"
#include <sys/ioctl.h>

/* modprobe: a family, a protocol, a driver, a line discipline, a file system that is
 * not there yet. */
static void modules(void)
{
	/* all of a unix socket that the kernel would ask for before it looks who asks:
	 * bridge, VLAN, DLCI, names and numbers of interfaces, private ones */
	static const unsigned long requests[] = { 0x8940, 0x8941, 0x8982, 0x8983, 0x8980, 0x8910,
						  0x8933, 0x8913, 0x8946, 0x8990, 0x89f0, 0x8b01 };
	static const int lines[] = { 0, 1, 2, 3, 5, 16, 17, 21, 30 };
	struct ifreq {
		char name[16], rest[24];
	} interface = { "nobody0" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	must(fd >= 0);
	for (int family = 2; family < 50; family++) {
		must(socket(family, SOCK_DGRAM, 0) < 0 && errno == EPERM);
		must(socketpair(family, SOCK_DGRAM, 0, (int[2]){ 0 }) < 0 && errno == EPERM);
	}
	must(socket(AF_UNIX, SOCK_RAW, 99) < 0 && socket(AF_UNIX, 10, 0) < 0);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		must(ioctl(fd, requests[i], &interface) < 0 && errno == ENOTTY);
		must(ioctl(fd, requests[i] | 1ul << 32, &interface) < 0 && errno == ENOTTY);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		must(ioctl(0, 0x5423 /* TIOCSETD */, &lines[i]) < 0 && errno == ENOTTY);
	for (int name = 1; name < 64; name++) /* TCP_ULP, TCP_CONGESTION, tables of filters */
		must(setsockopt(fd, 6, name, "nobody", 7) < 0 &&
		     setsockopt(fd, 0, name, "nobody", 7) < 0);
	must(mount("none", "/tmp", "nobody", 0, NULL) < 0 && errno == EPERM);
	must(mount("none", "/tmp", "binfmt_misc", 0, NULL) < 0 && errno == EPERM);
	must(mount("none", "/tmp", "cgroup", 0, "memory") < 0 && errno == EPERM);
	must(syscall(SYS_fsopen, "nobody", 0) < 0 && errno == EPERM);
	must(syscall(SYS_quotactl, 0x800002, "/dev/null", 0, NULL) < 0 && errno == EPERM);
	must(syscall(SYS_init_module, "", 0, "") < 0 && errno == EPERM);
	must(syscall(SYS_finit_module, 0, "", 0) < 0 && errno == EPERM);
	must(syscall(SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM);
	must(mknod("/tmp/driver", S_IFCHR | 0666, 0xea00) < 0 && errno == EPERM);
	must(mknod("/tmp/disk", S_IFBLK | 0666, 0xea00) < 0 && errno == EPERM);
}

/* /sbin/request-key, and that of an orderly power-off. */
static void upcalls(void)
{
	must(syscall(SYS_request_key, "user", "nobody", "call out", -4) < 0 && errno == EPERM);
	must(syscall(SYS_request_key, "dns_resolver", "nobody", "", 0) < 0 && errno == EPERM);
	must(syscall(SYS_add_key, "user", "nobody", "x", 1, -4) < 0 && errno == EPERM);
	must(syscall(SYS_keyctl, 0, -4, 1) < 0 && errno == EPERM);
	must(syscall(SYS_reboot, 0xfee1dead, 672274793, 0x4321fedc, NULL) < 0 && errno == EPERM);
}

/* Where a program of the host is named, or a rule that leads to one. */
static void settings(void)
{
	static const char *const files[] = {
		"/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/core_pipe_limit",
		"/proc/sys/kernel/modprobe",
		"/proc/sys/kernel/hotplug",
		"/proc/sys/kernel/poweroff_cmd",
		"/proc/sys/fs/suid_dumpable",
		"/proc/sys/fs/binfmt_misc/register",
		"/proc/sys/fs/binfmt_misc/status",
		"/proc/sysrq-trigger",
		"/sys/kernel/uevent_helper",
		"/sys/module/kernel/uevent",
		"/sys/class/mem/null/uevent",
		"/sys/fs/cgroup/release_agent",
		"/sys/fs/cgroup/memory/release_agent",
		"/sys/fs/cgroup/pids/release_agent",
		"/sys/fs/cgroup/systemd/release_agent",
		"/dev/kmsg",
		"/dev/net/tun",
		"/dev/loop-control",
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		must(open(files[i], O_WRONLY) < 0);
	must(access("/sys", F_OK) < 0);
}

int main(void)
{
	modules();
	upcalls();
	settings();
}
