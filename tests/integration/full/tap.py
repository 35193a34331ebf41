# lib.sh for tests in Python: TAP, a home of one's own, the program run as a person would.
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
DATA = os.environ.get("ASSAY_DATA") or os.path.join(TOP, "../shared/data")
ASSAY = os.path.abspath(os.environ.get("ASSAY") or os.path.join(TOP, "build/assay"))

PATIENCE = 120  # the machine may be busy

count = failures = 0
work = None

# A shell that runs tests in the background has told them to ignore it, which what they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


class SkipAll(Exception):
    """Nothing here can be tested, for the reason given."""


def diag(text):
    for line in str(text).splitlines()[:30]:
        print("# " + line[:1000], flush=True)


def ok(good, name, detail=""):
    global count, failures
    count += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    if not good:
        diag(detail)
    return good


def skip(name, why):
    """One test that cannot be made here."""
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, name, why), flush=True)


def same(got, want, name):
    return ok(got == want, name, "got:  %r\nwant: %r" % (got, want))


def environment(**more):
    """A home below the work folder, and nobody's keys."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENAI_", "ANTHROPIC_", "ASSAY_")) and k != "NO_COLOR"}
    env["HOME"] = os.path.join(work, "home")
    cache = os.environ.get("ASSAY_TEST_CACHE") or os.path.join(env["HOME"], "cache")
    env.update(XDG_CONFIG_HOME=env["HOME"] + "/config", XDG_DATA_HOME=env["HOME"] + "/data",
               XDG_STATE_HOME=env["HOME"] + "/state", XDG_CACHE_HOME=cache, **more)
    return env


def write(name, content, mode=0o644):
    """A file of the work folder, of text or bytes; returns its path."""
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, mode)
    return path


def until(true):
    """Waits until that is so, and says whether it is."""
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def dump(path, records):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def lines(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


class Done:
    """What a run of the program left: code, out, err, and out as JSON."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            diag("not JSON (exit code %d): %r; %s" % (self.code, self.out[:500], self.err[-500:]))
            return {}

    def __str__(self):
        return "exit code %d\n%s\n%s" % (self.code, self.out, self.err)


def assay(*args, timeout=600, **more):
    return Done(subprocess.run([ASSAY, *args], stdin=subprocess.DEVNULL, capture_output=True,
                               env=environment(**more), cwd=work, timeout=timeout))


def main(body):
    global work
    # prove ends a test by SIGTERM; what it started has to end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work = tempfile.mkdtemp(prefix="assay-test.")
    try:
        body()
    except SkipAll as reason:
        print("1..0 # SKIP %s" % reason)
        sys.exit(0)
    finally:
        shutil.rmtree(work)
    print("1..%d" % count)
    sys.exit(1 if failures else 0)
