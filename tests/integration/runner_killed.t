#!/usr/bin/python3
# A runner that is killed (sandbox/remote/runner.py, what services run jobs with) leaves no program
# running, and neither does one that ends well, whatever session a process went to.
import base64
import json
import os
import signal
import subprocess
import sys
import time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import tap

RUNNER = os.path.join(tap.TOP, "sandbox/remote/runner.py")
LIMITS = {"wall_ms": 600000, "cpu_ms": 10000, "memory_bytes": 1 << 29, "processes": 64, "open_files": 64, "disk_bytes": 1 << 26,
          "inodes": 1000, "stdout_bytes": 65536, "stderr_bytes": 65536, "artifacts": 4, "artifact_bytes": 65536}


def start(code):
    """A runner with such a job, and where its answer goes."""
    job = {"file": "main.py", "code": base64.b64encode(code.encode()).decode(), "interpreters": [sys.executable], "limits": LIMITS,
           "inputs": [], "extras": []}
    asked, told = (os.path.join(tap.work, name) for name in ("asked", "told"))
    with open(asked, "w") as f:
        json.dump({"assay_job": 1, "action": "run", "jobs": [job]}, f)
    return subprocess.Popen([sys.executable, RUNNER, asked, told], env=dict(os.environ, TMPDIR=tap.work)), told


def until(true, what):
    for _ in range(600):
        if true():
            return tap.ok(True, what)
        time.sleep(0.1)
    return tap.ok(False, what)


def runs(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pids_in(path):
    try:
        with open(path) as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


PROGRAM = """import os, subprocess, time
one = subprocess.Popen(["sleep", "600"], start_new_session=True)
two = subprocess.Popen(["sh", "-c", "setsid sleep 600 & echo $!"], stdout=subprocess.PIPE)
third = int(two.stdout.readline())
with open(%r + ".new", "w") as f:
    f.write("%%d %%d %%d" %% (os.getpid(), one.pid, third))
os.rename(%r + ".new", %r)
%s
"""

# The runner sleeps after each look at what runs: it has looked when it has gone to sleep twice more.
LOOKED_AT = """def sleeps():
    with open("/proc/%d/status" % os.getppid()) as f:
        return [int(line.split()[1]) for line in f if line.startswith("voluntary")][0]
now = sleeps()
while sleeps() < now + 3:
    time.sleep(0.01)
print('done')"""


def body():
    for name, end in (("KILL", signal.SIGKILL), ("TERM", signal.SIGTERM)):
        place = os.path.join(tap.work, "pids-" + name)
        runner, _ = start(PROGRAM % (place, place, place, "time.sleep(600)"))
        until(lambda: len(pids_in(place)) == 3, name + ": a program runs, with two more in sessions of their own")
        all_ = pids_in(place)
        tap.same([runs(p) for p in all_], [True] * 3, name + ": all of them")
        runner.send_signal(end)
        runner.wait()
        until(lambda: not any(map(runs, all_)), name + ": when its runner is killed, they end")
    place = os.path.join(tap.work, "pids-well")
    runner, told = start(PROGRAM % (place, place, place, LOOKED_AT))
    tap.same(runner.wait(), 0, "one that ends well")
    with open(told) as f:
        got = json.load(f)["results"][0]
    tap.same((got["outcome"], got["exit_code"], base64.b64decode(got["stdout"]["base64"])), ("exit", 0, b"done\n"), "says so")
    tap.same([runs(p) for p in pids_in(place)], [False] * 3, "and what it left is ended")
    tap.ok(1 <= got["metrics"]["peak_pids"] <= 5, "the guard is not counted", got["metrics"])


tap.main(body)
