#!/usr/bin/python3
# An interpreter forked from a template does what one does that was started cold, in the product, with
# every wall: all of HumanEval, MBPP and CRUXEval, 435 programs that print what they can see of their
# interpreter, all hostile programs and those of tests/escape, and a seeded sample of the benign ones.
# With ASSAY_TEST_SOME every fourth of MBPP and CRUXEval and every second hostile one, which are run whole in
# one way elsewhere, and half the sample.
import os
import random
import sys
sys.dont_write_bytecode = True
import corpus
import starts
import tap
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm"))
import attempts
import seen

SEED = 12
BENIGN = 120
EACH = 4 if os.environ.get("ASSAY_TEST_SOME") else 1


def humaneval():
    return [(r["task_id"], "%s%s\n%s\ncheck(%s)\nprint('passed')\n" %
             (r["prompt"], r["canonical_solution"], r["test"], r["entry_point"]))
            for r in corpus.load("humaneval.jsonl")]


def mbpp():
    return [(str(r["task_id"]), "\n".join([r["code"], r["test_setup_code"], *r["test_list"], "print(1)"]))
            for r in corpus.load("mbpp.jsonl")[::EACH]]


def cruxeval():
    return [(r["id"], "%s\n\nprint(repr(f(%s)))\n" % (r["code"], r["input"]))
            for r in corpus.load("cruxeval.jsonl")[::EACH]]


def rows_of(name):
    return [(r["id"], r["code"]) for r in corpus.load(name)
            if r["lang"] == "python" and r["source"] not in ("humaneval", "mbpp", "cruxeval")]


# One that draws lots and pauses ends before its limit or after it, as these fall.
def benign():
    sample = random.Random(SEED).sample(rows_of("benign.jsonl"), BENIGN)
    return [r for r in sample[::2 if EACH > 1 else 1] if "plt.pause" not in r[1]]


# Wrong ones: a traceback is as long, and of the same lines.
def wrong():
    return [(ident, text.replace("return", "return None or 1 //", 1)) for ident, text in humaneval()[::4]]


def body():
    starts.available()
    for name in ("humaneval.jsonl", "mbpp.jsonl", "cruxeval.jsonl"):
        corpus.load(name)  # before anything is tested: without it all is skipped
    rows = list(seen.programs())
    tap.ok(len(rows) >= 300, "there are 300 programs that look")
    starts.same("what a program sees", rows, starts.INTENDED)
    # Another user has other walls, which programs see and attack; what they compute is the same.
    if os.environ.get("ASSAY_TEST_PHASE") != "ordinary":
        for name, programs in (("humaneval", humaneval), ("mbpp", mbpp), ("cruxeval", cruxeval),
                               ("wrong", wrong)):
            starts.same(name, programs())
    starts.same("benign, sample %d" % SEED, benign())
    starts.same("hostile", rows_of("hostile.jsonl")[::2 if EACH > 1 else 1], starts.INTENDED, wall_ms=2000)
    with attempts.alone():
        starts.same("tests/escape", attempts.programs(".py"), attempts.VARIES)


tap.main(body)
