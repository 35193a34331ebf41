# threat: 28 five hundred orphans in turn: reaped, or the limit of 16 would be reached
# out: 500
# limit: processes=16 wall_ms=20000 cpu_ms=20000
# gvisor: timeout_cpu or timeout_wall; CPU time is counted in full for each that waits for a processor
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import time
made = 0
while made < 500:
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        for attempt in range(1000):     # the reaper may be a little behind
            try:
                if os.fork() == 0: os.write(w, b"x")
                break
            except BlockingIOError: time.sleep(0.001)
        os._exit(0)
    os.close(w); os.waitpid(pid, 0); made += len(os.read(r, 1)); os.close(r)
print(made)
