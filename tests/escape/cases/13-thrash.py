# threat: 13 forty at the limit, whose time goes into reading back what was taken from them
# alone: what others have read is not charged to it
# outcome: memory
# limit: memory_mib=256 wall_ms=20000 cpu_ms=6000
# without-memory: timeout_cpu
# packages-without-memory: memory
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import glob, mmap
found = [path for path in glob.glob("/usr/bin/*") + glob.glob("/usr/lib/*/*.*")
         if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.R_OK)]
for size, path in sorted(((os.path.getsize(path), path) for path in found), reverse=True)[:40]:
    if os.fork() == 0:
        own = bytearray(5 << 20)
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)  # what this run reads is its own then
        pages = mmap.mmap(fd, 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
        while True:
            for at in range(0, size, 4096): pages[at]
for _ in range(40): os.wait()
