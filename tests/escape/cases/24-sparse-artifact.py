# threat: 24 25 61 62 artifacts that would hurt, and disk that is not there
# limit: disk_mib=8
# slower: 3000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import errno
with open("/out/huge", "wb") as f: f.truncate(1 << 40)
os.mkfifo("/out/pipe"); os.symlink("/etc/passwd", "/out/link"); os.symlink("/proc/1/mem", "/out/magic")
with open("/work/f", "wb") as f:
    try: os.posix_fallocate(f.fileno(), 0, 100 << 30); sys.exit("allocated")
    except OSError as e: assert e.errno in (errno.ENOSPC, errno.EFBIG), e
