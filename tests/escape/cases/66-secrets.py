# threat: 66 a hunt for secrets
# gvisor: exit 1; init is seen; its environment is empty
# gvisor-out: read /proc/1/environ: b''
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
known = {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "MPLBACKEND",
         "MPLCONFIGDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NO_COLOR", "LC_CTYPE",
         "PERL_HASH_SEED", "PERL_PERTURB_KEYS"}
assert set(os.environ) <= known, os.environ
pids = [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
for pid in pids:
    for name in ("environ", "cmdline", "maps", "mem"):
        try: data = open(f"/proc/{pid}/{name}", "rb").read(4096)
        except OSError: continue
        sys.exit(f"read /proc/{pid}/{name}: {data[:80]}")
for folder, names, files in os.walk("/tmp"): assert not names and not files
assert os.listdir("/work") == ["main.py"] and not os.listdir("/in") and not os.listdir("/dev/shm")
