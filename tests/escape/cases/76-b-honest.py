# threat: 76 are not charged to the next run
# limit: memory_mib=64
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
bytearray(40 << 20)
