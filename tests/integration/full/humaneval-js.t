#!/usr/bin/python3
# HumanEval-X in JavaScript through the whole loop. Its tests use console.assert, so a failure
# leaves exit code 0 and shows on standard error only.
import sys
sys.dont_write_bytecode = True
import corpus
import tap

records = []


def tasks(body):
    return [(r["task_id"], "Complete this program.\n\n" + r["prompt"], r["prompt"] + body(r),
             {"tests": r["test"]}) for r in records]


def body():
    records.extend(corpus.load("humaneval-js.jsonl"))
    tap.same(len(records), 50, "the corpus is whole")
    corpus.all_verified("humaneval-js", tasks(lambda r: r["canonical_solution"]), "javascript")
    corpus.none_verified("humaneval-js emptied", tasks(lambda r: "}\n"), "javascript", "tests")
    # To leave before the tests, with exit code 0, is not to pass them.
    corpus.none_verified("humaneval-js that exits", tasks(lambda r: "}\nprocess.exit(0)\n")[::4],
                         "javascript", "tests", ("fail", "error"))


tap.main(body)
