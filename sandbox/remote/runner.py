# A runner: a job of assay (sandbox/remote/wire.h) as JSON in, its result as JSON out. It is what is
# deployed where only a function can be (function.py beside it says how), and what assay sends along
# where nothing is deployed. Python's standard library only, from 3.8 on.
#
# Theory of operation: the program runs as a child in a session of its own, in a folder of its own, with
# none of the variables of this process. What is left of it, in whatever session, comes back to this
# process (a subreaper) and is killed. Should this process be killed itself, a guard that it forked
# beforehand ends what it started. A thread each takes what it prints; this one looks 50 times a
# second at the clock, and at CPU time and memory of all its processes.
#
# What it holds: wall time, CPU time, output, artifacts, open files. What it cannot for all of a run, and
# says nothing else about: memory (looked at, and of each process limited), processes, disk, network.
# It is no wall: who runs beside it as the same user can reach it. The wall is the machine around.
#
# A runner whose process or machine is used again has to be told what on that machine is its own
# (ASSAY_RUNNER_PLACES, see Leavings): what a run leaves there is removed before the next. One that was not
# told, or that could not remove something, serves no second run.
import base64
import ctypes
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

VERSION = 1
LOOK_S = 0.02
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
DEPTH_MAX, ENTRIES_MAX = 16, 2000


def data(text):
    return base64.b64decode(text) if text is not None else None


def text(bytes_):
    return base64.b64encode(bytes_).decode()


def words(given):
    return [os.fsdecode(data(w)) for w in given or []]


# --- folders ---

def remove(path):
    """Whatever it is, however deep, and with whatever rights; links are not followed."""
    if os.path.isdir(path) and not os.path.islink(path):
        subprocess.run(["chmod", "-R", "u+rwx", "--", path], stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", "--", path], stderr=subprocess.DEVNULL)


class Folders:
    """/in, /work and /out where the machine has them, else below a folder of this run's own."""

    def __init__(self):
        self.base = None
        if not all(os.path.isdir(os.path.realpath(p)) and os.access(p, os.W_OK) for p in ("/in", "/work", "/out")):
            self.base = tempfile.mkdtemp(prefix="assay-run-")
        for name in ("in", "work", "out"):
            path = self.path(name)
            os.makedirs(path, exist_ok=True)
            self.empty(path)

    def path(self, name):
        return os.path.join(self.base or "/", name)

    def empty(self, path):
        for name in os.listdir(path):
            remove(os.path.join(path, name))

    def put(self, folder, given, mode):
        path = os.path.join(self.path(folder), os.fsdecode(data(given["path"])))
        if ".." in path.split("/"):
            raise ValueError("a path that leads out of its folder")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data(given["base64"]))
        os.chmod(path, mode)

    def close(self):
        if self.base:
            remove(self.base)
        else:
            for name in ("in", "work", "out"):
                self.empty(self.path(name))


# --- processes ---

def adopt():
    """Whatever the program leaves behind becomes a child of this process, whose memory and variables
    (a function's credentials are among them) no other process of this user may read from now on. Whether
    both hold."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.prctl(36, 1, 0, 0, 0) == 0 and libc.prctl(4, 0, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def end_abandoned(mark):
    """Ends every process whose environment has this mark."""
    for _ in range(100):
        found = False
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%d/environ" % int(name), "rb") as f:
                    if mark in b"\0" + f.read() and int(name) != os.getpid():
                        found = True
                        os.kill(int(name), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        if not found:
            return
        time.sleep(0.01)


class Guard:
    """A process that outlives this one by as long as it takes to end what this one has started: its pipe
    ends when this process does, however that is."""

    def __init__(self, mark):
        end, self.held = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                os.dup2(end, 0)
                os.closerange(1, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)
                os.read(0, 1)
                end_abandoned(mark)
            finally:
                os._exit(0)
        os.close(end)

    def close(self):
        os.close(self.held)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except OSError:
            pass


def descendants(but=None):
    """Every process below this one: (pid, ticks of CPU time, resident bytes)."""
    parents, facts = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        # its own time, and that of children it has waited for
        facts[int(name)] = (sum(map(int, fields[11:15])), int(fields[21]) * PAGE)
    found, frontier = [], [os.getpid()]
    while frontier:
        frontier = [p for p, parent in parents.items() if parent in frontier]
        found += [(p,) + facts[p] for p in frontier]
    return [one for one in found if one[0] != but]


def kill_all(guard):
    for _ in range(200):
        left = [p for p, _, _ in descendants(guard.pid)]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:  # 0 while the guard alone is there
                pass
        except OSError:
            pass
        if not left:
            return
        time.sleep(0.005)


class Output(threading.Thread):
    """The first bytes of what is printed, and how many there were."""

    def __init__(self, fd, limit):
        super().__init__(daemon=True)
        self.fd, self.limit, self.kept, self.total = fd, limit, bytearray(), 0

    def run(self):
        while True:
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                return
            if not got:
                return
            self.total += len(got)
            self.kept += got[:max(0, self.limit - len(self.kept))]

    def result(self):
        return {"base64": text(bytes(self.kept)), "total": self.total}


# --- one job ---

def confine(limits):
    def set_up():
        os.umask(0o022)
        files = limits["open_files"]
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits["disk_bytes"], limits["disk_bytes"]))
        data_limit = limits["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_DATA, (data_limit, data_limit))
    return set_up


def environment(job, folders):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
           "HOME": folders.path("work"), "TMPDIR": "/tmp", "USER": "guest", "LOGNAME": "guest",
           "ASSAY_IN": folders.path("in"), "ASSAY_OUT": folders.path("out")}
    for line in (job.get("fixed_env") or []) + words(job.get("env")):
        name, _, value = line.partition("=")
        env[name] = value
    return env


def interpreter_of(job):
    names = list(job["interpreters"]) + [os.path.basename(p) for p in job["interpreters"]]
    for name in names:
        found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/var/lang/bin")
        if found:
            return os.path.realpath(found)
    return None


class Watch:
    """Looks at a running program until it ends or has to."""

    def __init__(self, child, limits, outputs, guard):
        self.child, self.limits, self.outputs, self.guard = child, limits, outputs, guard
        self.began = time.monotonic()
        self.cpu, self.peak, self.pids = 0.0, 0, 0

    def over(self):
        now = descendants(self.guard.pid)
        # of what ended already, this process knows the sum
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = max(self.cpu, sum(t for _, t, _ in now) / TICK + ended.ru_utime + ended.ru_stime - self.before)
        memory = sum(m for _, _, m in now)
        self.peak, self.pids = max(self.peak, memory), max(self.pids, len(now))
        if self.cpu * 1000 > self.limits["cpu_ms"]:
            return "timeout_cpu"
        if (time.monotonic() - self.began) * 1000 > self.limits["wall_ms"]:
            return "timeout_wall"
        if memory > self.limits["memory_bytes"]:
            return "memory"
        if any(o.total > o.limit for o in self.outputs):
            return "output_limit"
        return None

    def wait(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.before = used.ru_utime + used.ru_stime
        while True:
            if self.child.poll() is not None:
                return "output_limit" if any(o.total > o.limit for o in self.outputs) else None
            why = self.over()
            if why:
                return why
            time.sleep(LOOK_S)


def artifact(root, path, limits, kept):
    name, full = os.fsencode(path), os.path.join(root, path)
    entry = {"path": text(name), "size": 0}
    if os.path.islink(full) or not os.path.isfile(full):
        entry["why_not"] = "a symbolic link" if os.path.islink(full) else "no regular file"
        return entry
    entry["size"] = os.path.getsize(full)
    if len(kept) >= limits["artifacts"]:
        entry["why_not"] = "more than %d files" % limits["artifacts"]
    elif sum(kept) + entry["size"] > limits["artifact_bytes"]:
        entry["why_not"] = "more than %d bytes in all" % limits["artifact_bytes"]
    else:
        with open(full, "rb") as f:
            content = f.read()
        entry["size"] = len(content)
        entry["base64"] = text(content)
        kept.append(len(content))
    return entry


def below(root, top=""):
    for one in sorted(os.listdir(os.path.join(root, top))):
        path = os.path.join(top, one)
        full = os.path.join(root, path)
        if os.path.isdir(full) and not os.path.islink(full) and path.count("/") < DEPTH_MAX:
            yield from below(root, path)
        else:
            yield path


def artifacts(folders, job, limits):
    """What is in /out, and in /work what was not put there."""
    kept, found, seen = [], [], set()
    given = {job["file"], "node_modules"}
    given |= {os.fsdecode(data(f["path"])).split("/")[0] for f in (job["inputs"] or []) + (job["extras"] or [])}
    for folder in ("out", "work"):
        root = folders.path(folder)
        for path in below(root):
            first = path.split("/")[0]
            if folder == "work" and (first in given or first[0] in "._" or path in seen):
                continue
            if len(found) >= ENTRIES_MAX:
                return found
            seen.add(path)
            found.append(artifact(root, path, limits, kept))
    return found


def lay_out(job, folders):
    code = job["code"]
    folders.put("work", {"path": text(os.fsencode(job["file"])), "base64": code}, 0o644)
    for one in job["extras"] or []:
        folders.put("work", one, 0o644)
    for one in job["inputs"] or []:
        folders.put("in", one, 0o444)
        path = os.fsdecode(data(one["path"]))
        beside = os.path.join(folders.path("work"), path)
        if not os.path.lexists(beside):
            os.makedirs(os.path.dirname(beside), exist_ok=True)
            os.symlink(os.path.join(folders.path("in"), path), beside)


def facts_of(interpreter, folders):
    return [{"name": "runner", "value": "assay %d, Python %d.%d" % ((VERSION,) + sys.version_info[:2])},
            {"name": "interpreter", "value": interpreter},
            {"name": "folders", "value": "/in /work /out" if not folders.base else "a folder of its own"}]


def run_in(job, folders):
    guard = Guard(b"\0ASSAY_OUT=" + os.fsencode(folders.path("out")) + b"\0")
    try:
        return run_guarded(job, folders, guard)
    finally:
        guard.close()


def run_guarded(job, folders, guard):
    limits = job["limits"]
    interpreter = interpreter_of(job)
    if not interpreter:
        return {"outcome": "exit", "exit_code": 127, "stdout": {"base64": "", "total": 0},
                "stderr": {"base64": "", "total": 0}, "artifacts": [], "facts": [], "metrics": {}}
    lay_out(job, folders)
    given = data(job.get("stdin"))
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given or b"")
        stdin.seek(0)
        out, err = os.pipe(), os.pipe()
        began = time.monotonic()
        child = subprocess.Popen([interpreter] + words(job.get("flags")) + [job.get("entry") or job["file"]] +
                                 words(job.get("argv")), cwd=folders.path("work"), env=environment(job, folders),
                                 stdin=stdin, stdout=out[1], stderr=err[1], start_new_session=True,
                                 preexec_fn=confine(limits))
    os.close(out[1])
    os.close(err[1])
    outputs = [Output(out[0], limits["stdout_bytes"]), Output(err[0], limits["stderr_bytes"])]
    for o in outputs:
        o.start()
    watch = Watch(child, limits, outputs, guard)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    why = watch.wait()
    kill_all(guard)
    child.wait()
    for o in outputs:
        o.join(5)
        os.close(o.fd)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not why and any(o.total > o.limit for o in outputs):
        why = "output_limit"
    code = child.returncode
    return {"outcome": why or ("signal" if code < 0 else "exit"),
            "exit_code": code if not why and code >= 0 else -1, "signal": -code if not why and code < 0 else 0,
            "stdout": outputs[0].result(), "stderr": outputs[1].result(),
            "artifacts": artifacts(folders, job, limits),
            "metrics": {"wall_ms": (time.monotonic() - began) * 1000,
                        "user_ms": (used.ru_utime - before.ru_utime) * 1000,
                        "system_ms": (used.ru_stime - before.ru_stime) * 1000,
                        "peak_memory_bytes": watch.peak or -1, "peak_pids": watch.pids or -1},
            "facts": facts_of(interpreter, folders),
            "detail": "" if not why else "%s reached" % why.replace("_", " ")}


# --- what a run leaves ---

SYSV = {"shm": lambda libc, n: libc.shmctl(n, 0, None), "sem": lambda libc, n: libc.semctl(n, 0, 0),
        "msg": lambda libc, n: libc.msgctl(n, 0, None)}
ADD_KEY = {"x86_64": 248, "aarch64": 217}  # request_key and keyctl are the two calls after it
KEYRINGS = (-4, -5, -3)  # of this user, of the user's sessions, of this session


def mounted(path):
    """What kind of file system is mounted there, last; None: nothing is."""
    kind = None
    with open("/proc/self/mountinfo") as f:
        for line in f:
            before, _, after = line.partition(" - ")
            if before.split()[4] == os.path.realpath(path):
                kind = after.split()[0]
    return kind


def may_raise_limits():
    with open("/proc/self/status") as f:
        held = next(line.split()[1] for line in f if line.startswith("CapEff:"))
    return bool(int(held, 16) >> 24 & 1)


class Keys:
    """The keyrings that outlive a session: calls by number, since libc has none."""

    def __init__(self):
        machine = os.uname().machine
        if machine not in ADD_KEY:
            raise ValueError("ASSAY_RUNNER_PLACES: keys, whose calls on %s are not known here" % machine)
        self.libc, self.first = ctypes.CDLL(None, use_errno=True), ADD_KEY[machine]

    def can_be(self):
        """Not where neither call that makes one gets as far as what it was given, which is nothing."""
        for call in (self.first, self.first + 1):
            if self.libc.syscall(call, None, None, None, 0, 0) < 0 and ctypes.get_errno() == errno.EFAULT:
                return True
        return False

    def keyctl(self, *args):
        return self.libc.syscall(self.first + 2, *args, *[0] * (5 - len(args)))

    def clear(self):
        """What could not be emptied, in words."""
        if not self.can_be():
            return []
        lasting = self.keyctl(22, -1, -3)  # that of this user which outlives all sessions, where there is such a thing
        left = ["lasting keyring"] if lasting < 0 and ctypes.get_errno() != errno.EOPNOTSUPP else []
        rings = ([lasting] if lasting >= 0 else []) + list(KEYRINGS)
        return left + ["keyring %d" % ring for ring in rings if self.keyctl(7, ring) < 0]


class Leavings:
    """What is on a machine before a run, so that what it leaves there can be removed: in folders that are for
    this runner alone, and, by the words "ipc" and "keys", System V's IPC and the user's keyrings. POSIX message
    queues are files where their file system is mounted; by "ipc" a program can make none where it is no place."""

    def __init__(self, places):
        self.folders = [p for p in places if os.path.isabs(p) and os.path.isdir(p)]
        self.words = set(places) & {"ipc", "keys"}
        if set(places) - self.words - set(p for p in places if os.path.isabs(p)):
            raise ValueError("ASSAY_RUNNER_PLACES: folders, ipc and keys, with colons between: %s" % ":".join(places))
        if "ipc" in self.words and not any(mounted(p) == "mqueue" for p in self.folders):
            self.forbid_queues()
        self.keys = Keys() if "keys" in self.words else None
        self.files, self.objects = self.look(), self.ipc()

    def forbid_queues(self):
        if may_raise_limits():
            raise ValueError("ASSAY_RUNNER_PLACES: ipc, but no place is where message queues are seen: "
                             "mount -t mqueue none /dev/mqueue, and name that, too")
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))

    def look(self):
        """Every path there: of what is no folder, what changes with it. A folder that is new is not looked into."""
        known, found, folders = getattr(self, "files", None), {}, list(self.folders)
        while folders:
            folder = folders.pop()
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                st = os.lstat(path)
                is_folder = os.path.isdir(path) and not os.path.islink(path)
                found[path] = (st.st_dev, st.st_ino, st.st_mode, st.st_uid) + \
                    (() if is_folder else (st.st_size, st.st_mtime_ns, st.st_ctime_ns))
                if is_folder and os.access(path, os.R_OK | os.X_OK) and (known is None or path in known):
                    folders.append(path)
        return found

    def ipc(self):
        found = set()
        for kind in SYSV if "ipc" in self.words else ():
            with open("/proc/sysvipc/" + kind) as f:
                found |= {(kind, int(line.split()[1])) for line in list(f)[1:]}
        return found

    def clean(self):
        """What could not be made as it was, in words; nothing: all could. Files and objects are looked for again,
        whatever those said that were to remove them; of keys only the calls can tell."""
        libc = ctypes.CDLL(None, use_errno=True)
        for path in sorted(set(self.look()) - set(self.files)):
            remove(path)
        for kind, number in self.ipc() - self.objects:
            SYSV[kind](libc, number)
        left = self.keys.clear() if self.keys else []
        left += sorted(p for p, what in self.look().items() if self.files.get(p) != what)
        left += sorted(set(self.files) - set(self.look()))
        return left + ["%s %d" % one for one in sorted(self.ipc() - self.objects)]


used = False
spoiled = None  # why no other program may run here


def places_of_this():
    given = os.environ.get("ASSAY_RUNNER_PLACES", "")
    return given.split(":") if given else None


def left_by(folders, leavings):
    """What a run leaves for the next though everything was removed, in words. What cannot be looked at counts."""
    try:
        folders.close()
        left = leavings.clean() + ["process %d" % p for p, _, _ in descendants()]
        return left + [n for n in ("in", "work", "out") if not folders.base and os.listdir(folders.path(n))]
    except (OSError, ValueError) as e:
        return ["%s: %s" % (type(e).__name__, e)]


def run(job):
    global used, spoiled
    if spoiled:
        raise RuntimeError("this runner serves no more: " + spoiled)
    places = places_of_this()
    if used and places is None:
        raise RuntimeError("this runner ran a program already, and what that left cannot be told from what is not its: "
                           "ASSAY_RUNNER_PLACES has to name the folders that it alone uses")
    leavings = Leavings(places or [])
    used, spoiled = True, "a run was not over"
    if not adopt() and places:
        raise RuntimeError("what a program leaves running could not be ended here")
    folders = Folders()
    try:
        return run_in(job, folders)
    finally:
        left = left_by(folders, leavings)
        spoiled = "a program left what cannot be removed (%s)" % ", ".join(left)[:200] if left else None


def answer(request):
    """The answer to one request; both are objects."""
    try:
        if request.get("assay_job") != VERSION:
            raise ValueError("a job of another version of assay: this is %d" % VERSION)
        if request.get("action") != "run":
            raise ValueError("a runner does not know how to %s" % request.get("action"))
        return {"assay_job": VERSION, "results": [run(job) for job in request["jobs"]]}
    except Exception as e:  # whoever asked is to hear of it
        return {"assay_job": VERSION, "error": {"kind": "sandbox", "message": "%s: %s" % (type(e).__name__, e)}}


if __name__ == "__main__" and len(sys.argv) == 3:
    with open(sys.argv[1]) as asked:
        got = answer(json.load(asked))
    with open(sys.argv[2], "w") as told:
        json.dump(got, told)
