#!/usr/bin/python3
# CRUXEval through the whole loop, by "expect": f(input) must print the output that is known.
import sys
sys.dont_write_bytecode = True
import corpus
import tap

records = []


def tasks(some, output):
    return [(r["id"], "What does f(%s) return?" % r["input"],
             "%s\n\nprint(repr(f(%s)))\n" % (r["code"], r["input"]),
             {"expect": {"equals": output(r)}}) for r in some]


def body():
    records.extend(corpus.load("cruxeval.jsonl"))
    tap.same(len(records), 266, "the corpus is whole")
    corpus.all_verified("cruxeval", tasks(records, lambda r: r["output"]), "python")
    # The output of the record after it, where that differs: never right.
    other = {r["id"]: after["output"] for r, after in zip(records, records[1:] + records[:1])}
    differ = [r for r in records if other[r["id"]] != r["output"]]
    corpus.none_verified("cruxeval, another's output",
                         tasks(differ, lambda r: other[r["id"]]), "python", "equals")


tap.main(body)
