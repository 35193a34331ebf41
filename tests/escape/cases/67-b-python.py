# threat: 67 nothing planted by the run before has an effect
# out: clean
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import json
assert os.listdir("/work") == ["main.py"] and os.listdir("/tmp") == [] and os.listdir("/out") == [] and os.listdir("/dev/shm") == []
print("clean")
