#!/usr/bin/python3
# An interpreter forked from a template does what one does that was started cold: the same bytes on
# stdout and stderr, the same status and forbidden calls, for public programs and for some that print
# what they can see of their interpreter. Both are run by the keeper of test_sandbox_template, with
# every wall but control groups.
import os
import re
import subprocess
import sys
sys.dont_write_bytecode = True
import corpus
import tap
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm"))
import seen

DRIVER = os.path.join(os.path.dirname(tap.ASSAY), "tests/unit/test_sandbox_template")
# What may differ, by the end of a program's name, and why.
INTENDED = [
    ("sorted(sys.modules)", "modules of the template are there before they are imported"),
    ("sorted(c.__name__ for c in object.__subclasses__())", "and so are their classes"),
    ("sorted(c.__name__ for c in Exception.__subclasses__())", "and so are their classes"),
    ("len(copyreg.dispatch_table)", "and so is what they registered"),
    ("re._cache if hasattr(re, '_cache') else 0", "patterns of modules were compiled, and forgotten"),
    ("sorted(sys.path_importer_cache)", "folders of modules that need not be read again"),
    ("if '/' in l})", "the object that made the template, and libraries of its modules"),
    ("if '/' in l and '.so' not in l})", "the object that made the template, and libraries of its modules"),
    ("/proc/self/environ').read()", "the kernel keeps what the template was started with"),
    ("gc.get_count()", "how many objects were made since the last collection"),
    ("gc.get_stats()", "how often there was a collection"),
    ("[sorted(s) for s in gc.get_stats()]", "how often there was a collection"),
]


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([DRIVER, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, text):
        """(status, stdout, stderr, calls), cold and warm."""
        program = text.encode("utf-8", "surrogatepass")
        self.process.stdin.write(b"%d\n" % len(program) + program)
        self.process.stdin.flush()
        return [self.read() for _ in range(2)]

    def read(self):
        words = self.process.stdout.readline().split()
        if len(words) != 5:
            raise RuntimeError("the driver ended")
        return (int(words[1]), *(self.process.stdout.read(int(n)) for n in words[2:]))


# Addresses differ from one cold start to the next.
def comparable(result):
    return tuple(re.sub(rb"0x[0-9a-f]{6,}", b"0x...", part) if isinstance(part, bytes) else part
                 for part in result)


# One that prints times or takes chances differs from itself.
def is_steady(driver, text, cold):
    return all(comparable(driver.run(text)[0]) == cold for _ in range(2))


def same(driver, name, programs, intended=()):
    bad, excused = [], set()
    for ident, text in programs:
        cold, warm = map(comparable, driver.run(text))
        if cold == warm:
            continue
        reasons = [why for end, why in intended if ident.endswith(end)]
        excused.update(reasons)
        if not reasons and is_steady(driver, text, cold):
            bad.append("%s\n  cold %s\n  warm %s" % (ident, str(cold)[:700], str(warm)[:700]))
    tap.ok(not bad, "%s: %d programs, warm as cold" % (name, len(programs)), "\n".join(bad))
    for why in sorted(excused):
        tap.diag("%s: intended: %s" % (name, why))


def humaneval():
    return [(r["task_id"], "%s%s\n%s\ncheck(%s)\nprint('passed')\n" %
             (r["prompt"], r["canonical_solution"], r["test"], r["entry_point"]))
            for r in corpus.load("humaneval.jsonl")]


def mbpp():
    return [(str(r["task_id"]), "\n".join([r["code"], r["test_setup_code"], *r["test_list"], "print(1)"]))
            for r in corpus.load("mbpp.jsonl")]


def cruxeval():
    return [(r["id"], "%s\n\nprint(repr(f(%s)))\n" % (r["code"], r["input"]))
            for r in corpus.load("cruxeval.jsonl")]


def benign():
    return [(r["id"], r["code"]) for r in corpus.load("benign.jsonl")
            if r["lang"] == "python" and r["source"] not in ("humaneval", "mbpp", "cruxeval")][::4]


# Wrong ones: a traceback is as long, and of the same lines.
def wrong():
    return [(ident, text.replace("return", "return None or 1 //", 1)) for ident, text in humaneval()[::4]]


def body():
    if not os.access(DRIVER, os.X_OK):
        raise tap.SkipAll("no %s: `make units`" % DRIVER)
    driver = Driver()
    rows = list(seen.programs())
    tap.ok(len(rows) >= 300, "there are 300 programs that look")
    same(driver, "what a program sees", rows, INTENDED)
    for name, programs in (("humaneval", humaneval), ("mbpp", mbpp), ("cruxeval", cruxeval),
                           ("benign", benign), ("wrong", wrong)):
        same(driver, name, programs())


tap.main(body)
