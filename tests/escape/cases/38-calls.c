// threat: 38 44 48 49 50 51 52 55 57 58 EPERM, in a grandchild too, and named
// limit: processes=8
// forbidden: ptrace process_vm_writev mount umount2 pivot_root chroot setns io_uring_setup bpf
// add_key keyctl kexec_load open_by_handle_at init_module socket mknodat setuid
#include "probe.h"
int main(void)
{
	static const long calls[] = {
		SYS_ptrace,	   SYS_process_vm_writev,
		SYS_mount,	   SYS_umount2,
		SYS_pivot_root,	   SYS_chroot,
		SYS_setns,	   SYS_io_uring_setup,
		SYS_userfaultfd,   SYS_perf_event_open,
		SYS_bpf,	   SYS_add_key,
		SYS_request_key,   SYS_keyctl,
		SYS_kexec_load,	   SYS_open_by_handle_at,
		SYS_init_module,   SYS_finit_module,
		SYS_delete_module, SYS_swapon,
		SYS_reboot,	   SYS_acct,
		SYS_quotactl,	   SYS_syslog,
		SYS_setuid,
	};
	pid_t pid = fork();
	int status;
	if (pid == 0) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			must(syscall(calls[i], -1, -1, -1, -1, -1) < 0 && errno == EPERM);
		/* AF_VSOCK is 40, packet 17, netlink 16 */
		for (int family = 2; family < 46; family++)
			must(socket(family, SOCK_STREAM, 0) < 0 && errno == EPERM);
		must(mknod("/tmp/disk", S_IFBLK | 0666, 0x800) < 0 && errno == EPERM);
		must(mknod("/tmp/mem", S_IFCHR | 0666, 0x101) < 0 && errno == EPERM);
		must(access("/dev/kvm", F_OK) < 0 && access("/dev/fuse", F_OK) < 0 &&
		     access("/dev/mem", F_OK) < 0);
		exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && status == 0);
}
