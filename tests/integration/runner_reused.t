#!/usr/bin/python3
# A runner whose process serves one run after another, as a function that is kept or a container does: a run
# finds nothing of the one before, or there is none (sandbox/remote/runner.py, deploy/). Its machine is played by
# namespaces of its own, whose folders for all are its alone.
import base64
import json
import os
import subprocess
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import tap
from tap import ok, same

REMOTE = os.path.join(tap.TOP, "sandbox/remote")
LIMITS = {"wall_ms": 60000, "cpu_ms": 60000, "memory_bytes": 1 << 29, "processes": 64, "open_files": 64, "disk_bytes": 1 << 26,
          "inodes": 1000, "stdout_bytes": 65536, "stderr_bytes": 65536, "artifacts": 4, "artifact_bytes": 65536}
# One answer after another, in one process; what of it is left at the end.
SERVER = """import json, sys
import runner
for line in sys.stdin:
    print(json.dumps(runner.answer(json.loads(line))), flush=True)
"""
# A machine of its own: these folders are empty, and seen by nobody else. The runner may lie below one of them.
MACHINE = """mount --bind "$PYTHONPATH" /srv && export PYTHONPATH=/srv || exit 99
for d in /tmp /var/tmp /run/lock /dev/shm; do mount -t tmpfs none $d || exit 99; done
mount -t mqueue none /mnt || exit 99
echo before >/tmp/before
exec "$@"
"""


FOLDERS = "/tmp:/var/tmp:/run/lock:/dev/shm"


def served(codes, places=FOLDERS + ":/mnt:ipc:keys", server=SERVER, as_who=()):
    """What those programs came to, in order; of the last: the lines that it printed."""
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": REMOTE, **({"ASSAY_RUNNER_PLACES": places} if places else {})}
    asked = [{"assay_job": 1, "action": "run", "jobs": [{
        "file": "main.py", "code": base64.b64encode(code.encode()).decode(), "interpreters": ["/usr/bin/python3"], "limits": LIMITS,
        "inputs": [], "extras": []}]} for code in codes]
    got = subprocess.run(["unshare", "-rmi", "sh", "-c", MACHINE, "sh", *as_who, "/usr/bin/python3", "-B", "-c", server], env=env,
                         input="".join(json.dumps(a) + "\n" for a in asked).encode(), stdout=subprocess.PIPE, timeout=300)
    return [said(json.loads(line)) for line in got.stdout.splitlines()]


def said(answer):
    if "error" in answer:
        return answer["error"]["message"]
    result = answer["results"][0]
    return base64.b64decode(result["stdout"]["base64"]).decode() + base64.b64decode(result["stderr"]["base64"]).decode()


LOOK = """import ctypes, os
def words_of(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as f:
            return f.read()
    except OSError:
        return b""
libc = ctypes.CDLL(None)
print([n for d in ("/tmp", "/var/tmp", "/run/lock", "/dev/shm", "/mnt", os.environ["ASSAY_OUT"], ".") for n in sorted(os.listdir(d))
       if not n.startswith(("assay-run-", "main.py", "before"))])
print(open("/tmp/before").read().strip(), sum(len(list(open("/proc/sysvipc/" + k))) - 1 for k in ("shm", "sem", "msg")))
print(sum(b"left-behind" in words_of(p) for p in os.listdir("/proc") if p.isdigit()))
print(sorted(n for n in os.environ if n.startswith("LEFT")), [libc.syscall(250, 10, ring, b"user", b"left", 0) > 0
      for ring in (-4, libc.syscall(250, 22, -1, -3))])
"""
LEAVE = """import ctypes, os, subprocess
libc = ctypes.CDLL(None)
for d in ("/tmp", "/var/tmp", "/run/lock", "/dev/shm", os.environ["ASSAY_OUT"], "."):
    os.makedirs(d + "/shut/within")
    open(d + "/shut/within/f", "w").write("left")
    os.symlink("/etc", d + "/link")
    os.mkfifo(d + "/pipe")
    os.chmod(d + "/shut", 0)
os.close(os.open("/mnt/queue", os.O_CREAT | os.O_RDWR, 0o000))
deep = "/tmp/deep"
os.mkdir(deep)
os.chdir(deep)
for _ in range(3000):
    os.mkdir("d" * 60)
    os.chdir("d" * 60)
os.chdir(os.environ["HOME"])
assert libc.shmget(0, 4096, 0o1600) >= 0 and libc.semget(0, 1, 0o1600) >= 0 and libc.msgget(0, 0o1600) >= 0
subprocess.Popen(["setsid", "python3", "-c", "import time; time.sleep(600)  # left-behind"])
os.environ["LEFT"] = "1"
for ring in (-4, libc.syscall(250, 22, -1, -3)):
    libc.syscall(248, b"user", b"left", b"x", 1, ring)
print("left")
"""
NOTHING = "[]\nbefore 0\n0\n[] [False, False]\n"
MAKE_QUEUE = """import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
print(libc.mq_open(b"/queue", 0o102, 0o600, None) >= 0 or errno.errorcode[ctypes.get_errno()])
"""
# What calls say where they cannot be tried so: another machine's name, and a key that stays.
ELSEWHERE = "import os\nos.uname = lambda now=os.uname(): os.uname_result((*now[:4], 'vax'))\n" + SERVER
KEYS_STAY = SERVER.replace("import runner\n", """import runner
runner.Keys.keyctl = lambda self, *args: -1
""")


def body():
    if subprocess.run(["unshare", "-rmi", "mount", "-t", "tmpfs", "none", "/tmp"], stderr=subprocess.DEVNULL).returncode:
        raise tap.SkipAll("no namespaces to play a machine in")
    same(served([LOOK]), [NOTHING], "a machine that nothing ran on")
    same(served([LEAVE, LOOK, LEAVE, LOOK]), ["left\n", NOTHING] * 2,
         "a run finds no file, process, variable, key or IPC object of the one before")
    same(served(["import os\nprint(os.getpid() > 0)"] * 3), ["True\n"] * 3, "and runs that leave nothing follow each other")

    got = served(["print(1)", "print(2)"], places=None)
    ok(got[0] == "1\n" and "ran a program already" in got[1] and "ASSAY_RUNNER_PLACES" in got[1],
       "who was not told what is its own serves one run, and says why not two", got)
    for code, what in (("open('/tmp/before', 'a').write('more')", "a file that was there before was changed"),
                       ("import os\nos.remove('/tmp/before')", "one was removed"),
                       ("import os\nos.rename('/tmp/before', '/tmp/b')\nos.mkdir('/tmp/before')", "one became a folder")):
        got = served([code, "print(2)", "print(3)"])
        ok(got[0] == "" and all("serves no more" in g and "/tmp/before" in g for g in got[1:]),
           what + ": nothing runs there any more", got)
    got = served(["print(1)"], places="tmp:/tmp")
    ok("folders, ipc and keys" in got[0], "a place that is none is refused", got)
    queues(FOLDERS + ":ipc")
    got = served(["print(1)"], server=ELSEWHERE)
    ok("on vax are not known" in got[0], "keys are refused on a machine whose calls are not known, before anything runs", got)
    got = served(["print(1)", "print(2)"], server=KEYS_STAY)
    ok(got[0] == "1\n" and "serves no more" in got[1] and "keyring -4" in got[1],
       "keys that stay: the result is told, and nothing runs there any more", got)


def queues(unseen):
    """Those of POSIX are seen where their file system is mounted; elsewhere a program is to make none."""
    got = served([MAKE_QUEUE, MAKE_QUEUE.replace("0o102", "0o2")])
    same(got, ["True\n", "ENOENT\n"], "a message queue is not there for the next run")
    got = served(["print(1)"], places=unseen)
    ok("mount -t mqueue" in got[0], "who could raise limits has to have queues mounted, and is told", got)
    got = served([MAKE_QUEUE] * 2, places=unseen, as_who=("setpriv", "--bounding-set=-sys_resource"))
    same(got, ["EMFILE\n"] * 2, "and who could not makes none")


tap.main(body)
