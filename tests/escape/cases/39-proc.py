# threat: 39 45 46 57 60 /proc, read-only binds and devices
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
def refused(path, mode="r+b"):
    try: open(path, mode).close()
    except OSError: return
    sys.exit(f"opened {path}")
for path in ("/proc/1/mem", "/proc/1/environ", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/dev/mem", "/dev/kvm", "/dev/fuse", "/dev/tty", "/proc/kcore", "/sys/fs/cgroup/release_agent"):
    refused(path)
for path in ("/usr/bin/env", "/etc/passwd", "/usr/new", "/new", "/dev/new", "/proc/self/exe", "/proc/self/oom_score_adj"):
    refused(path, "wb")
assert os.listdir("/home") == ["user"] and os.readlink("/home/user") == "../tmp/user"
assert not os.path.exists("/home/user")
for path in ("/root", "/var", "/run", "/sys", "/boot", "/opt", "/mnt"):
    assert not os.path.exists(path), path
for make in (lambda: os.mknod("/tmp/d", 0o20666, os.makedev(1, 1)), lambda: os.mknod("/tmp/b", 0o60666, os.makedev(8, 0))):
    try: make()
    except PermissionError: continue
    sys.exit("made a device")
