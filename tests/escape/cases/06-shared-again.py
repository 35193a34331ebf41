# threat: 6 71 shared memory that is given back may be had again
# limit: memory_mib=128 processes=8
# out: ok
import os
assert os.getpid() == 2 and os.uname().nodename == "assay", "refuses to run outside the sandbox"
import mmap, time

for i in range(40):
    held = mmap.mmap(-1, 16 << 20)
    held[0] = 1
    held.close()
    time.sleep(0.02)  # somebody looks
print("ok")
