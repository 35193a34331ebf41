# threat: 70 100 MB of stdin, read
# stdin-mib: 100
# out: 104857600
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
n = 0
while chunk := os.read(0, 1 << 20): n += len(chunk)
print(n)
