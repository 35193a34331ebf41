# threat: 76 are not charged to the next run
# alone: what it leaves is counted for its user until it is collected
# limit: memory_mib=64
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
bytearray(40 << 20)
