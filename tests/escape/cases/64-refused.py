# threat: 64 a mapping that is too large, caught, and an exit code of choice: the outcome is its own
# exit: 137
import os
assert os.getpid() == 2 and os.uname().nodename == "assay", "refuses to run outside the sandbox"
import mmap, sys

try:
    held = mmap.mmap(-1, 1 << 40)
except OSError:
    pass
sys.exit(137)
