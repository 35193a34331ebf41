# threat: 41 only 0, 1, 2
# out: [0, 1, 2]
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
found = []
for fd in range(0, 4096):
    try: os.fstat(fd)
    except OSError: continue
    found.append(fd)
print(found)
