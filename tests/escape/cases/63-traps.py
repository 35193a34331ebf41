# threat: 61 62 63 what would hurt a collector that follows, opens or waits
# artifact: fine.csv kept
# artifact: link a symbolic link is not followed
# artifact: pipe a named pipe
# artifact: socket a socket
# artifact: folder-link a symbolic link is not followed
# artifact: sparse over the limit
# slower: 3000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import socket
os.chdir("/out")
with open("fine.csv", "w") as f: f.write("a,b\n1,2\n")
os.symlink("/etc/passwd", "link"); os.symlink("/", "folder-link"); os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
with open("sparse", "wb") as f: f.truncate(1 << 50)
for target in ("/etc/passwd", "/usr/bin/env", "/proc/self/environ"):
    try: os.link(target, "hard"); sys.exit("a hard link to " + target)
    except OSError: pass
for path in ("/usr/bin/env", "/work", "/out", "fine.csv"):
    try: os.chown(path, 0, 0); sys.exit("gave away " + path)
    except OSError: pass
os.mkdir("closed"); open("closed/x", "w").close(); os.chmod("closed", 0)
os.mkdir("sticky"); os.chmod("sticky", 0o1777)
