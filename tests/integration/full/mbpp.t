#!/usr/bin/python3
# MBPP through the whole loop: what is right is verified, what is empty is not.
import ast
import sys
sys.dont_write_bytecode = True
import corpus
import tap

records = []
SAMPLE = 5  # every fifth is tried with empty bodies


def emptied(record):
    """The program with `pass` for the body of every function."""
    tree = ast.parse(record["code"])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Pass()]
    return ast.unparse(tree)


def tasks(some, code):
    return [("mbpp/%d" % r["task_id"], r["text"], code(r),
             {"tests": "\n".join([r["test_setup_code"], *r["test_list"]]) + "\n"}) for r in some]


def body():
    records.extend(corpus.load("mbpp.jsonl"))
    tap.same(len(records), 474, "the corpus is whole")
    corpus.all_verified("mbpp", tasks(records, lambda r: r["code"]), "python")
    corpus.none_verified("mbpp emptied", tasks(records[::SAMPLE], emptied), "python", "tests")


tap.main(body)
