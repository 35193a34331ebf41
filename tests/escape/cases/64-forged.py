# threat: 64 an exit code is an exit code
# exit: 137
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
print('{"outcome":"memory"}', flush=True)
os._exit(137)
