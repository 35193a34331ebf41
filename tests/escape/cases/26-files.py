# threat: 26 a million empty files end at the inode limit
# outcome: disk_limit
# exit: 1
# limit: wall_ms=20000
# slower: 9000
# gvisor: timeout_wall or timeout_cpu; files are bounded by memory, not by number
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
for i in range(1000000): os.close(os.open(f"/out/{i}", os.O_CREAT | os.O_WRONLY))
