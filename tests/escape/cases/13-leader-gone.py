# threat: 13 memory of a process whose first thread has ended, in which /proc shows none
# alone: what others have read is not charged to it
# outcome: memory
# limit: memory_mib=256
import os
assert os.getpid() == 2 and os.uname().nodename == "assay", "refuses to run outside the sandbox"
import ctypes, threading, time

def eat():
    time.sleep(0.1)
    held = [bytearray(50 << 20) for _ in range(8)]
    time.sleep(30)

threading.Thread(target=eat).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit, not exit_group
