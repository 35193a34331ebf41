# threat: 32 34 38 44 48 49 50 51 52 55 58 refused with EPERM, and named
# forbidden: unshare ptrace process_vm_readv mount umount2 pivot_root chroot setns io_uring_setup userfaultfd perf_event_open bpf keyctl add_key kexec_load open_by_handle_at init_module socket pidfd_getfd personality
# limit: wall_ms=20000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = dict(unshare=272, ptrace=101, process_vm_readv=310, mount=165, umount2=166, pivot_root=155,
           chroot=161, fsopen=430, open_tree=428, move_mount=429, setns=308, io_uring_setup=425,
           userfaultfd=323, perf_event_open=298, bpf=321, keyctl=250, add_key=248, kexec_load=246,
           open_by_handle_at=304, init_module=175, pidfd_getfd=438, socket=41)
arm = dict(unshare=97, ptrace=117, process_vm_readv=270, mount=40, umount2=39, pivot_root=41,
           chroot=51, fsopen=430, open_tree=428, move_mount=429, setns=268, io_uring_setup=425,
           userfaultfd=282, perf_event_open=241, bpf=280, keyctl=219, add_key=217, kexec_load=104,
           open_by_handle_at=265, init_module=105, pidfd_getfd=438, socket=198)
for name, number in (x86 if platform.machine() == "x86_64" else arm).items():
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) != -1 or ctypes.get_errno() != 1:
        print(name, ctypes.get_errno())
        sys.exit(1)
libc.personality(0x0040000)
for family in (2, 10, 16, 17, 40):
    assert libc.socket(family, 2, 0) == -1 and ctypes.get_errno() == 1, family
