# threat: 59 a program run from memory is confined and counted too
# without-memory: exit 1
# gvisor: exit 0; /proc tells nothing of no_new_privs
# gvisor-out: Name:
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
fd = os.memfd_create("x", 0)
with open("/bin/cat", "rb") as f: os.write(fd, f.read())
if os.fork() == 0: os.execve(fd, ["cat", "/proc/self/status"], {})
assert os.wait()[1] == 0
