# threat: 40 writing through /proc/self/exe and those of others (CVE-2019-5736)
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import hashlib
before = hashlib.sha256(open("/proc/self/exe", "rb").read()).hexdigest()
for pid in ["self", "thread-self"] + [p for p in os.listdir("/proc") if p.isdigit()] + ["1"]:
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        try: os.open(f"/proc/{pid}/exe", flags)
        except OSError: continue
        sys.exit(f"opened /proc/{pid}/exe for writing")
try: os.readlink("/proc/1/exe"); sys.exit("sees the supervisor's program")
except OSError: pass
assert hashlib.sha256(open("/proc/self/exe", "rb").read()).hexdigest() == before
