# threat: 70 stdin that nobody gave ends at once
# out: b''
# slower: 2500
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
print(sys.stdin.buffer.read())
