# What is measured. A row has a way to measure ours in a given build, perhaps the same bare, and
# perhaps a command that other sandboxes can be put before. A way returns milliseconds and, where
# it is known, the processor time; or raises Failed.
import json
import os
import shutil
import subprocess

from walls import PLAYED

PYTHON = "/usr/bin/python3"
LOOP = "code to result, sandbox open"
EXEC = "as a process: assay exec"
INPUT = "exec with inputs; bare: without"
BATCH = "all of a data set, 2 at a time"
LOG = "the log, each on the disk"
WALLS = "an empty program, by sandbox"
REDACT = "no secret in 1 MiB of"
FLOOR = "floors: without assay"
MEMORY = "private memory, MiB"


class Failed(Exception):
    pass


class Probe:
    """A process that answers questions (tests/bench/probe.h)."""

    def __init__(self, argv, env, cwd):
        self.argv = argv
        try:
            self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            text=True)
        except OSError as error:
            raise Failed("%s: %s" % (argv[0], error.strerror))

    def ask(self, *words):
        try:
            self.process.stdin.write("\t".join(words) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split(None, 1)
        except BrokenPipeError:
            answer = []
        if not answer:
            said = self.process.stderr.read().strip().split("\n")[-1]
            raise Failed("%s ended%s" % (os.path.basename(self.argv[0]), said and ": " + said))
        if answer[0] != "ok":
            raise Failed(answer[1].strip() if len(answer) > 1 else "no reason given")
        took = [float(word) for word in answer[1].split()]
        return took[0], took[1] if len(took) > 1 else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def played():
    """{name: sandbox} of services in whose place something was started here: BENCH_PLAYED="lambda=lambda:FUNCTION"."""
    return dict(one.split("=", 1) for one in os.environ.get("BENCH_PLAYED", "").split())


# What those are reached by, by the beginnings of their variables.
VARIABLES = {"e2b": "E2B_", "lambda": "AWS_", "azure": "AZURE_", "modal": "MODAL_"}


def of_services():
    begin = tuple(VARIABLES[name] for name in played())
    return {name: value for name, value in os.environ.items() if name.startswith(begin)}


class Place:
    """A folder to work in, and an environment that is the same for all."""

    def __init__(self, folder):
        self.folder = folder
        self.home = os.path.join(folder, "home")
        os.makedirs(self.home, exist_ok=True)
        # node reads certificates when a variable says so; proxies and keys are nobody's business.
        self.env = {"PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin",
                    "HOME": self.home, "LC_ALL": "C.UTF-8"}
        for name in ("ASSAY_SSH_CONFIG", "DOCKER_HOST", "BENCH_NODE_MODULES"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.env.update(of_services())
        if "BENCH_CACHE" in os.environ:  # where a machine's image was made already
            self.env["XDG_CACHE_HOME"] = os.environ["BENCH_CACHE"]

    def why(self, argv):
        """What a command that failed says, run again to hear it."""
        try:
            done = subprocess.run(argv, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", timeout=600)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        said = done.stderr.strip().split("\n")[-1]
        return ": " + said if said else ""


class Build(Place):
    """An assay that was built in a tree, and its probes."""

    def __init__(self, tree, folder):
        Place.__init__(self, folder)
        self.tree = tree
        self.assay = os.path.join(tree, "build", "assay")
        self.probes = {}
        self.help = {}
        self.server = self.other = None
        self.env["ASSAY_SERVE_KEY"] = "assay-%064d" % 7

    def probe(self, name, *arguments):
        if name not in self.probes:
            self.probes[name] = Probe([os.path.join(self.tree, "build/tests/bench", name),
                                       *arguments], self.env, self.folder)
        return self.probes[name]

    def has_option(self, command, option):
        """Whether this assay knows it: an older one may not."""
        if command not in self.help:
            self.help[command] = subprocess.run([self.assay, command, "--help"], env=self.env,
                                                capture_output=True, text=True).stdout
        return option in self.help[command]

    def socket(self):
        """Where an `assay serve` of this build listens, with the log and cache of its place."""
        path = os.path.join(self.folder, "socket")
        if self.server is None:
            self.server = subprocess.Popen([self.assay, "serve", "--parallel", "1", "--socket", path],
                                           env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for line in self.server.stderr:
                if line.startswith("listening on"):
                    return path
        if self.server.poll() is not None or not os.path.exists(path):
            raise Failed("no `assay serve --socket` here")
        return path

    def service(self):
        """The address of an `assay serve` of this build that runs what the sandbox `http` sends."""
        if self.other is None:
            keys = os.path.join(self.folder, "keys")
            with open(os.open(keys, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
                out.write("bench %s\n" % self.env["ASSAY_SERVE_KEY"])
            self.other = subprocess.Popen(
                [self.assay, "serve", "--profile", "off", "--listen", "0", "--key-file", keys,
                 "--db", os.path.join(self.folder, "other.db")], env=self.env, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.address = next((line.split()[-1] for line in self.other.stderr
                                 if "listening on" in line), "http://127.0.0.1:1")
        return self.address

    def close(self):
        for probe in self.probes.values():
            probe.close()
        for server in filter(None, (self.server, self.other)):
            server.terminate()
            server.wait()
            server.stderr.close()


class Spawner:
    """Times commands in the environment of a place."""

    def __init__(self, binary):
        self.binary = binary
        self.probes = {}

    def time(self, place, argv, explain=True):
        """explain: what fails is run again to hear why."""
        if place.folder not in self.probes:
            self.probes[place.folder] = Probe([self.binary], place.env, place.folder)
        try:
            return self.probes[place.folder].ask(*argv)
        except Failed as failed:
            raise Failed(str(failed) + (place.why(argv) if explain else ""))

    def close(self):
        for probe in self.probes.values():
            probe.close()


class Row:
    """ours: None where there is no assay in it. times: in how many of the rounds, None in all.
    bare: a way that needs no build. argv: what other sandboxes run. skipped: why it is not
    measured here."""

    unit = "ms"

    def __init__(self, ident, group, what, ours, bare=None, argv=None, times=None, skipped=None):
        self.id, self.group, self.what = ident, group, what
        self.ours, self.bare, self.argv, self.times = ours, bare, argv, times
        self.skipped = skipped

    def takes(self, peer):
        """The others run the same programs whichever way ours does: once is enough."""
        return self.group == LOOP or peer == "bubblewrap"


# --- one program ---

PROGRAMS = [  # id, what, the program itself, language and code as the loop has them, file for exec
    ("true", "/bin/true", ["/bin/true"], None, None),
    ("bash", "bash, :", ["/usr/bin/bash", "-c", ":"], ("bash", ":"), "bench.sh"),
    ("python-I-S", "python3 -I -S, print(1)", [PYTHON, "-I", "-S", "-c", "print(1)"], None, None),
    ("python", "python3, print(1)", [PYTHON, "-s", "-B", "-c", "print(1)"],
     ("python", "print(1)"), "bench.py"),
    ("node", "node, 0", ["/usr/bin/node", "-e", "0"], ("javascript", "0"), "bench.js"),
]


def loop_rows(spawner, place):
    for ident, what, argv, code, _ in PROGRAMS:
        words = ("code", *code) if code else ("program", *argv)
        yield Row("loop-" + ident, LOOP, what,
                  ours=lambda build, words=words: build.probe("probe_sandbox").ask(*words),
                  bare=lambda argv=argv: spawner.time(place, argv), argv=argv,
                  skipped=None if os.path.exists(argv[0]) else "no " + argv[0])


WAITING = ("python", "node", "bash")  # of the programs, those whose interpreter can have started before


def waiting_rows(spawner, place, build):
    if not build.has_option("batch", "--warm"):
        return
    for ident, what, argv, code, _ in PROGRAMS:
        if ident not in WAITING:
            continue
        words = ("waiting", *code)
        yield Row("waiting-" + ident, LOOP, what.split(",")[0] + ", it waited",
                  ours=lambda build, words=words: build.probe("probe_sandbox").ask(*words),
                  bare=lambda argv=argv: spawner.time(place, argv),
                  skipped=None if os.path.exists(argv[0]) else "no " + argv[0])
    bare = [PYTHON, "-I", "-S", "-c", "print(1)"]
    for ident, what, question in (("result", "python3 -I -S, it waited", "waiting"),
                                  ("first", "to its first byte", "first")):
        yield Row("forked-" + ident, LOOP, what,
                  ours=lambda build, q=question: build.probe("probe_sandbox").ask(q, "python", "print(1)"),
                  bare=lambda: spawner.time(place, bare),
                  skipped=None if os.path.exists(PYTHON) else "no " + PYTHON)
    yield from asked("forked", "refill", LOOP, "the next one, processor", "print(1)", no_python())
    yield from pandas_rows(spawner, place)
    yield from asked("forked", "memory", MEMORY, "python3 that waits", "print(1)", no_python())
    yield from asked("pandas", "memory", MEMORY, "with pandas", PANDAS, no_pandas())


def no_python():
    return None if os.path.exists(PYTHON) else "no " + PYTHON


def no_pandas():
    done = subprocess.run([PYTHON, "-I", "-c", "import numpy, pandas"], capture_output=True)
    return None if done.returncode == 0 else "no python3-pandas"


def asked(name, question, group, what, code, skipped):
    """Of one that waits, what the probe says to a question."""
    row = Row("%s-%s" % (name, question), group, what,
              ours=lambda build: build.probe("probe_sandbox").ask(question, "python", code),
              skipped=skipped)
    row.unit = "MiB" if group == MEMORY else "ms"
    yield row


# What was imported is used, so that nobody is quick by not importing it.
PANDAS_USED = "print(pd.DataFrame({'a': np.arange(3)}).a.sum())"
PANDAS = "import numpy as np, pandas as pd; " + PANDAS_USED
PANDAS_WAITS = "import sys, numpy as np, pandas as pd; exec(sys.stdin.read())"


def pandas_rows(spawner, place):
    bare = [PYTHON, "-s", "-B", "-c", PANDAS]
    for ident, what, question in (("result", "numpy and pandas, it waited", "waiting"),
                                  ("first", "to its first byte", "first")):
        yield Row("pandas-" + ident, LOOP, what,
                  ours=lambda build, q=question: build.probe("probe_sandbox").ask(q, "python", PANDAS),
                  bare=lambda: spawner.time(place, bare), argv=bare if ident == "result" else None,
                  skipped=no_pandas())
    yield from asked("pandas", "refill", LOOP, "the next one, processor", PANDAS, no_pandas())


def exec_rows(spawner, place, build):
    yield Row("start", EXEC, "assay --version, /bin/true",
              ours=lambda build: spawner.time(build, [build.assay, "--version"]),
              bare=lambda: spawner.time(place, ["/bin/true"]))
    for ident, what, argv, code, name in PROGRAMS:
        if not name:
            continue
        path = os.path.join(place.folder, name)
        with open(path, "w") as out:
            out.write(code[1] + "\n")
        yield Row("exec-" + ident, EXEC, what,
                  ours=lambda build, path=path: spawner.time(build,
                                                             [build.assay, "exec", "-q", path]),
                  bare=lambda argv=argv: spawner.time(place, argv), argv=argv,
                  skipped=None if os.path.exists(argv[0]) else "no " + argv[0])
    if build.has_option("exec", "--socket"):
        yield from socket_rows(spawner, place)


def socket_rows(spawner, place):
    """In what waits at a server of the same user's; most of it is the process that asks, and its log."""
    def ours(build):
        return spawner.time(build, [build.assay, "exec", "-q", "--warm", "2", "--socket",
                                    build.socket(), path])

    path = os.path.join(place.folder, "bench.py")
    for ident, what, argv in (("exec-socket", "python3, --socket", [PYTHON, "-s", "-B", "-c", "print(1)"]),
                              ("exec-socket-I-S", "the same; -I -S", [PYTHON, "-I", "-S", "-c", "print(1)"])):
        yield Row(ident, EXEC, what, ours=ours, bare=lambda argv=argv: spawner.time(place, argv),
                  skipped=no_python())


# --- other sandboxes of ours ---

class Other:
    """A sandbox, what `assay exec` wants for it, and an empty program. rounds: of those that take long.
    target: of a build, where it is; box: what is to be named instead."""

    def __init__(self, name, *options, language="bash", keeps=True, rounds=None, target=None, box=None):
        self.name, self.options, self.language = name, options, language
        self.keeps, self.rounds, self.target, self.box = keeps, rounds, target, box or name

    def at(self, build):
        return self.box + (":" + self.target(build) if self.target else "")

    def cold(self, build, path):
        return [build.assay, "exec", "-q", "--sandbox", self.at(build), "--lang", self.language, *self.options, path]


def installed(runtime):
    return any(os.path.exists(os.path.join(folder, runtime))
               for folder in ("/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"))


def has_restricted():
    return not no_python() and subprocess.run([PYTHON, "-c", "import RestrictedPython"],
                                              stderr=subprocess.DEVNULL).returncode == 0


def sandboxes(build):
    """Those for which nothing has to be there before, and what BENCH_SANDBOXES names:
    "ssh:HOST docker:IMAGE microvm:FOLDER"."""
    yield Other("native")
    for runtime in filter(installed, ("runc", "crun")):
        yield Other("oci:" + runtime)
    if installed("runsc"):
        yield Other("oci:runsc", "--weaker", rounds=5)
    for name in os.environ.get("BENCH_SANDBOXES", "").split():
        machine = name.startswith("microvm")
        yield Other(name, keeps=machine, rounds=5 if machine else None)  # of the others' memory most is not here
    if build.has_option("exec", "--weaker"):
        yield Other("http", keeps=False, target=Build.service)
    for name, box in played().items():
        yield Other(PLAYED % name, "--weaker", keeps=False, rounds=10, box=box)
    if has_restricted():
        yield Other("restricted", language="python", keeps=False)
    if "BENCH_NODE_MODULES" in build.env:
        yield Other("pyodide", "--node-modules", build.env["BENCH_NODE_MODULES"], language="python",
                    keeps=False, rounds=3)


def walls_rows(spawner, place, build):
    """Cold is a process that starts it; open is a run in one that is there already; memory is what that
    one takes between two."""
    if not build.has_option("exec", "--oci-runtime"):
        return
    files, code = {}, {"bash": ":", "python": "pass"}
    for language, text in code.items():
        files[language] = os.path.join(place.folder, "walls." + language)
        with open(files[language], "w") as out:
            out.write(text + "\n")
    for one in sandboxes(build):
        yield Row("walls-cold-" + one.name, WALLS, one.name + ", cold", times=one.rounds,
                  ours=lambda build, one=one: spawner.time(build, one.cold(build, files[one.language])))
        yield Row("walls-open-" + one.name, WALLS, one.name + ", open", times=one.rounds,
                  ours=lambda build, one=one: build.probe("probe_sandbox").ask(
                      "in", one.at(build), one.language, code[one.language]))
        if one.keeps:
            kept = Row("walls-memory-" + one.name, WALLS, one.name + ", memory", times=one.rounds,
                       ours=lambda build, one=one: build.probe("probe_sandbox").ask("kept", one.name))
            kept.unit = "MiB"
            yield kept


# --- inputs where they are ---

def large_file(path):
    """4 GiB, without a byte on the disk, and old enough that its digest, which the first run
    computes, is kept; made when it is first needed."""
    if not os.path.exists(path):
        with open(path, "wb") as out:
            out.truncate(4 << 30)
        os.utime(path, (10 ** 9, 10 ** 9))
    return path


def folder_of_many(many):
    """10,000 files, in the same way."""
    if os.path.exists(many):
        return many
    for n in range(10000):
        path = os.path.join(many, str(n // 100), "%d.txt" % n)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write("%d\n" % n)
        os.utime(path, (10 ** 9, 10 ** 9))
    for n in range(100):
        os.utime(os.path.join(many, str(n)), (10 ** 9, 10 ** 9))
    return many


def input_rows(spawner, place, build):
    if not build.has_option("exec", "--keep-inputs"):
        return
    path = os.path.join(place.folder, "input.sh")
    with open(path, "w") as out:
        out.write(":\n")
    large, many = os.path.join(place.folder, "large.bin"), os.path.join(place.folder, "many")
    for ident, what, make in (("file", "a file of 4 GiB", lambda: large_file(large)),
                              ("folder", "a folder of 10,000 files", lambda: folder_of_many(many))):
        yield Row("input-" + ident, INPUT, what,
                  ours=lambda build, make=make: spawner.time(build, [build.assay, "exec", "-q",
                                                                     "-f", make(), path]),
                  bare=lambda: spawner.time(place, [build.assay, "exec", "-q", path]))


# --- a data set ---

def humaneval(record):
    """Id, prompt, program, tests."""
    return (record["task_id"], "Complete this program.\n\n" + record["prompt"],
            record["prompt"] + record["canonical_solution"],
            "%s\ncheck(%s)\n" % (record["test"], record["entry_point"]))


def mbpp(record):
    return ("mbpp/%d" % record["task_id"], record["text"], record["code"],
            "\n".join([record["test_setup_code"], *record["test_list"]]) + "\n")


def wrong_results(path):
    """Of those that are not as they must be what is said of them; how many there are."""
    if not os.path.exists(path):
        return [], 0
    with open(path) as lines:
        results = [json.loads(line) for line in lines]
    return ["%s: %s, level %s: %s" % (r["id"], r["status"], r["level"], r.get("error"))
            for r in results if r["level"] != "expected"], len(results)


class DataSet:
    """Tasks and a scripted model that writes the right programs; the same programs with their
    tests as files, to be run bare."""

    def __init__(self, source, reader, folder):
        os.makedirs(folder)
        self.folder = folder
        self.tasks, self.script = (os.path.join(folder, n) for n in ("tasks.jsonl", "script"))
        self.bare = os.path.join(folder, "bare")
        os.mkdir(self.bare)
        with open(source) as lines:
            records = [reader(json.loads(line)) for line in lines]
        with open(self.tasks, "w") as tasks, open(self.script, "w") as script:
            for number, (ident, prompt, code, tests) in enumerate(records):
                json.dump({"id": ident, "prompt": prompt, "lang": "python", "tests": tests}, tasks)
                json.dump({"stage": "code", "id": ident,
                           "reply": "A program:\n\n```python\n%s\n```\n" % code.rstrip()}, script)
                tasks.write("\n")
                script.write("\n")
                with open(os.path.join(self.bare, "%03d.py" % number), "w") as out:
                    out.write(code.rstrip() + "\n\n" + tests)
        self.count = len(records)

    def run_bare(self, spawner, place):
        return spawner.time(place, ["/bin/sh", "-c", "cd '%s' && ls *.py | xargs -P2 -n1 %s -B" %
                                    (self.bare, PYTHON)])

    def run_ours(self, spawner, build, *options):
        """With a log and results of its own, to be thrown away."""
        folder = os.path.join(self.folder, "out")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        argv = [build.assay, "batch", self.tasks, "--script", self.script, "-q", "-j", "2",
                "--out", folder + "/results", "--db", folder + "/log.db", *options]
        failed = took = None
        try:
            took = spawner.time(build, argv, explain=False)
        except Failed as error:
            failed = "%s; " % error
        bad, count = wrong_results(folder + "/results")
        if bad or count != self.count:
            raise Failed("%s%d of %d tasks reached the level expected%s" % (
                failed or "", count - len(bad), self.count, "; " + bad[0] if bad else ""))
        if failed:
            raise Failed(failed + "all tasks reached the level expected")
        return took


SETS = [  # id, what, file, how a record is read, in how many rounds
    ("humaneval", "HumanEval, 164 tasks", "humaneval.jsonl", humaneval, 3),
    ("mbpp", "MBPP, 474 tasks", "mbpp.jsonl", mbpp, 2),
]


def batch_rows(spawner, place, data, build):
    """With interpreters that wait, where this build has them, and without."""
    for ident, what, name, reader, times in SETS:
        source = os.path.join(data, name)
        if not os.path.exists(source):
            yield Row("batch-" + ident, BATCH, what, ours=None,
                      skipped="no %s (its folder is $ASSAY_DATA)" % source)
            continue
        made = DataSet(source, reader, os.path.join(place.folder, ident))

        def cold(some, made=made):
            options = ["--warm", "0"] if some.has_option("batch", "--warm") else []
            return made.run_ours(spawner, some, *options)

        yield Row("batch-" + ident, BATCH, what, times=times,
                  ours=lambda some, made=made: made.run_ours(spawner, some),
                  bare=lambda made=made: made.run_bare(spawner, place))
        yield Row("batch-%s-floor" % ident, BATCH, "floor: forks, walls, syncs", times=times,
                  ours=None, bare=lambda made=made: build.probe("probe_floor", build.folder).ask(
                      "tasks", str(made.count)))
        if build.has_option("batch", "--warm"):
            yield Row("cold-" + ident, BATCH, what.split(",")[0] + ", --warm 0", times=times,
                      ours=cold)


# --- the log, and secrets ---

def log_rows(plain):
    def ask(build, question):
        return build.probe("probe_log", build.folder).ask(question)

    yield Row("log-append", LOG, "write a run; bare: 2 syncs",
              ours=lambda build: ask(build, "append"), bare=lambda: ask(plain, "floor"))
    yield Row("log-verify", LOG, "verify a run's chain", ours=lambda build: ask(build, "verify"))


def redact_rows():
    for text in ("code", "JSON lines", "random", "hex", "base64 of random", "base64 of code"):
        yield Row("redact-" + text.replace(" ", "-").lower(), REDACT, text,
                  ours=lambda build, text=text: build.probe("probe_redact").ask(text))


def floor_rows(build):
    """What nobody can go below: a process, its namespaces, a wait for the disk, an interpreter that
    waits bare."""
    group = own_group()
    waits = ["print(1)", PYTHON, "-I", "-S", "-"]
    for ident, what, question in (("fork", "fork, exit, wait", ["fork"]),
                                  ("large", "the same with 64 MiB", ["large"]),
                                  ("namespaces", "and in empty namespaces", ["namespaces"]),
                                  ("attach", "join a control group", ["attach", group or ""]),
                                  ("sync", "write 4 KiB, one fdatasync", ["sync"]),
                                  ("first", "python3 waits: first byte", ["first", *waits]),
                                  ("end", "the same to its end", ["end", *waits]),
                                  ("pandas", "with numpy and pandas, to its end",
                                   ["loaded", PANDAS_USED, PYTHON, "-s", "-B", "-c", PANDAS_WAITS])):
        skipped = "no control group may be written to" if ident == "attach" and not group else None
        if ident == "pandas":
            skipped = no_pandas()
        yield Row("floor-" + ident, FLOOR, what, ours=None,
                  bare=lambda q=question: build.probe("probe_floor", build.folder).ask(*q),
                  skipped=no_python() if waits[0] in question else skipped)


def own_group():
    """The file by which a process joins the group that we are in; None: it cannot."""
    try:
        with open("/proc/self/cgroup") as lines:
            rows = [line.strip().split(":", 2) for line in lines]
    except OSError:
        return None
    for number, names, path in rows:
        for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified") if not names else ("/sys/fs/cgroup/" + names,):
            found = "%s%s/cgroup.procs" % (top, path.rstrip("/"))
            if os.access(found, os.W_OK):
                return found
    return None


def rows(spawner, place, data, build):
    """All of them, in the order of the table. build: which of its options can be asked for, and
    whose probe syncs a plain file."""
    return [*loop_rows(spawner, place), *waiting_rows(spawner, place, build), *exec_rows(spawner, place, build),
            *walls_rows(spawner, place, build), *input_rows(spawner, place, build),
            *batch_rows(spawner, place, data, build), *log_rows(build), *redact_rows(),
            *floor_rows(build)]
