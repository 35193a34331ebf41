#!/usr/bin/python3
# HumanEval through the whole loop: what is right is verified, what is empty is not.
import sys
sys.dont_write_bytecode = True
import corpus

records = corpus.load("humaneval.jsonl")


def tasks(body):
    return [(r["task_id"], "Complete this program.\n\n" + r["prompt"], r["prompt"] + body(r),
             {"tests": "%s\ncheck(%s)\n" % (r["test"], r["entry_point"])}) for r in records]


def body():
    corpus.same(len(records), 164, "the corpus is whole")
    corpus.all_verified("humaneval", tasks(lambda r: r["canonical_solution"]), "python")
    corpus.none_verified("humaneval with pass", tasks(lambda r: "    pass\n"), "python", "tests")


corpus.main(body)
