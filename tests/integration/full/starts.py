# Programs run in every way an interpreter can start (tests/escape/starts.c), and compared: the same
# bytes on stdout and stderr, status, outcome and forbidden calls. What may differ is a row with its
# reason. For tests that use tap.
import os
import re
import subprocess
import threading

import tap

DRIVER = os.path.join(os.path.dirname(tap.ASSAY), "tests/escape/starts")
WORKERS = 2
ENOUGH = 10  # times the limit, for what some of its ways keep and others do not
NPROC = "where no group counts processes, a template is one more of their user"
ENDING = 3  # of a result: outcome, exit, signal, which nothing excuses
# What may differ in a fork, by the end of a program's name, and why.
INTENDED = [
    ("len(copyreg.dispatch_table)", "what modules of the template registered"),
    ("re._cache if hasattr(re, '_cache') else 0", "patterns of modules were compiled, and forgotten"),
    ("if '/' in l})", "the object that made the template, and libraries of its modules"),
    ("if '/' in l and '.so' not in l})", "the object that made the template, and libraries of its modules"),
    ("/proc/self/environ').read()", "the kernel keeps what the template was started with"),
    ("[resource.getrlimit(n) for n in range(16)]", NPROC),
    ("/proc/self/limits').read()", NPROC),
    ("ulimit -a; ls /proc/self/fd; trap'], capture_output=True).stdout", NPROC),
    ("gc.get_count()", "how many objects were made since the last collection"),
    ("gc.get_stats()", "how often there was a collection"),
    ("[sorted(s) for s in gc.get_stats()]", "how often there was a collection"),
    ("redcode-python-0783", "what tracemalloc counts: a few objects of pandas are there already"),
    ("redcode-python-0787", "what tracemalloc counts: a few objects of pandas are there already"),
    ("redcode-python-0452", "it prints how long a line took, mostly the same fraction of a microsecond"),
]


class Driver:
    def __init__(self, ways):
        self.ways = ways
        self.process = subprocess.Popen([DRIVER, *ways], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=tap.environment())

    def run(self, text, wall_ms, language):
        """(outcome, exit, signal, stdout, stderr, calls, detail) of each way, and how each started."""
        program = text.encode("utf-8", "surrogatepass")
        self.process.stdin.write(b"%d %d %s\n" % (len(program), wall_ms, language.encode()) +
                                 program)
        self.process.stdin.flush()
        return [self.read(way) for way in self.ways]

    def read(self, way):
        words = self.process.stdout.readline().decode().split()
        if len(words) != 9 or words[0] != way:
            raise RuntimeError("the driver ended")
        return words[1], (*words[2:5], *(self.process.stdout.read(int(n)) for n in words[5:]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# Addresses differ from one cold start to the next, and the host's number of its user from one keeper
# to the next.
def comparable(result):
    return tuple(re.sub(rb"0x[0-9a-f]{6,}|\b210[0-9]{7}\b", b"...", part) if isinstance(part, bytes)
                 else part for part in result)


class Comparison:
    def __init__(self, intended, language):
        self.intended, self.language, self.lock = intended, language, threading.Lock()
        self.bad, self.excused, self.started, self.unsteady = [], set(), {}, []

    # One that prints times or takes chances differs from itself.
    def is_steady(self, driver, text, wall_ms, cold):
        for _ in range(2):
            if comparable(driver.run(text, wall_ms, self.language)[0][1]) != cold:
                return False
        return True

    def one(self, driver, ident, text, wall_ms):
        found = driver.run(text, wall_ms, self.language)
        if len({result[0] == "timeout_wall" for _, result in found}) > 1:
            # Only some ran out of time: that is near what it takes here, or by chance.
            wall_ms *= ENOUGH
            found = driver.run(text, wall_ms, self.language)
        cold = comparable(found[0][1])
        with self.lock:
            for start, _ in found[1:]:
                self.started[start] = self.started.get(start, 0) + 1
        for way, (_, result) in zip(driver.ways[1:], found[1:]):
            if comparable(result) == cold:
                continue
            reasons = {why for end, why in self.intended if ident.endswith(end)}
            reasons = reasons if result[:ENDING] == cold[:ENDING] else set()
            steady = reasons or self.is_steady(driver, text, wall_ms, cold)
            with self.lock:
                self.excused |= reasons
                if not steady:
                    self.unsteady.append(ident)
                elif not reasons:
                    self.bad.append("%s\n  cold %s\n  %s %s" % (ident, str(cold)[:700], way,
                                                                str(comparable(result))[:700]))

    def some(self, programs, ways, wall_ms):
        driver = Driver(ways)
        try:
            for ident, text, *own in programs:
                self.one(driver, ident, text, *(own or [wall_ms]))
        except (OSError, RuntimeError) as error:
            with self.lock:
                self.bad.append("%s: %s" % (ident, error))
        driver.close()


def same(name, programs, intended=(), ways=("cold", "forked"), least=0.95, wall_ms=10000,
         language="python"):
    """Two tests: each as cold, and so many at least started as they were asked to. A program is a name
    and a text, or these and its own wall_ms."""
    programs = list(programs)
    c = Comparison(intended, language)
    workers = [threading.Thread(target=c.some, args=(programs[n::WORKERS], ways, wall_ms))
               for n in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tap.ok(not c.bad, "%s: %d programs, %s as cold" % (name, len(programs), " and ".join(ways[1:])),
           "\n".join(c.bad))
    asked = sum(c.started.get(way, 0) for way in ways[1:])
    tap.ok(asked >= least * len(programs) * (len(ways) - 1), name + ": they started so", str(c.started))
    for why in sorted(c.excused):
        tap.diag("%s: intended: %s" % (name, why))
    if c.unsteady:
        tap.diag("%s: differ from themselves: %s" % (name, ", ".join(c.unsteady)))


def available():
    if not os.access(DRIVER, os.X_OK):
        raise tap.SkipAll("no %s: `make units`" % DRIVER)
