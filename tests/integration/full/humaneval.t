#!/usr/bin/python3
# HumanEval through the whole loop: what is right is verified, what is empty is not.
import os
import sys
sys.dont_write_bytecode = True
import corpus
import tap

records = []


def tasks(body):
    return [(r["task_id"], "Complete this program.\n\n" + r["prompt"], r["prompt"] + body(r),
             {"tests": "%s\ncheck(%s)\n" % (r["test"], r["entry_point"])}) for r in records]


def body():
    records.extend(corpus.load("humaneval.jsonl"))
    tap.same(len(records), 164, "the corpus is whole")
    which = os.environ.get("ASSAY_TEST_SET")  # over another sandbox (walls_attacked.t, gvisor.t)
    right = tasks(lambda r: r["canonical_solution"])
    corpus.all_verified("humaneval", right[::41] if which == "sample" else right, "python")
    if which in ("right", "sample"):
        return
    beyond = corpus.overhead()
    tap.ok(beyond < 6 * 1024, "a run takes under 6 KiB of the log beyond its contents",
           "%.0f bytes" % beyond)
    tap.diag("%.0f bytes a run beyond its contents" % beyond)
    corpus.none_verified("humaneval with pass", tasks(lambda r: "    pass\n"), "python", "tests")
    # To leave before the tests, with exit code 0, is not to pass them.
    for name, leave in (("exits", "raise SystemExit(0)\n"), ("quits", "quit()\n")):
        corpus.none_verified("humaneval that " + name,
                             tasks(lambda r: "    pass\n\n" + leave)[::8], "python", "tests",
                             ("fail", "error"))


tap.main(body)
