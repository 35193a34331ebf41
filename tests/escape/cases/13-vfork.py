# threat: 13 71 a process that starts others is not counted twice while they share its memory
# alone: what others have read is not charged to it
# limit: memory_mib=256 wall_ms=20000 cpu_ms=20000
# out: ok
import os
assert os.getpid() == 2 and os.uname().nodename == "assay", "refuses to run outside the sandbox"
import subprocess, time

held = bytearray(150 << 20)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    subprocess.run(["/bin/true"], check=True)
print("ok")
