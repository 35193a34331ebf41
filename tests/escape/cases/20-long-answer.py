# threat: 20 a long answer is no flood: cut, counted, and the program ends as it wants
# exit: 3
# truncated: stdout
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
print("x" * 3000000); sys.exit(3)
