#!/usr/bin/python3
# A plan, a file's name or the log's last program tells what a program is likely to import: the first program
# of a batch runs in a fork of a template that has that, where something told of it; with the same
# result as without, and --warm 0 has none.
import os
import re
import subprocess
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import corpus
import tap

CODE = "import pandas as pd\nprint(pd.Series([1, 2]).sum())\n"


# Two tasks, so that a template is worth its while; the script answers at once, so that the first program
# waits for what was begun before.
def batch(name, warm, prompt, files=()):
    tasks, script, out, log = (os.path.join(tap.work, name + suffix)
                               for suffix in (".tasks", ".script", ".out", ".db"))
    tap.dump(tasks, [dict({"id": i, "prompt": prompt, "lang": "python"}, **({"files": files} if files else {}))
                     for i in ("a", "b")])
    tap.dump(script, [{"stage": "code", "id": i, "reply": corpus.reply(CODE, "python")} for i in ("a", "b")])
    done = tap.assay("batch", tasks, "--script", script, "--out", out, "--db", log, "-j", "1", "--fast",
                     "--max-attempts", "1", "--warm", warm)
    if not os.path.exists(out):
        raise RuntimeError(str(done))
    text = tap.assay("log", "export", "--db", log).out  # newest first
    starts = re.findall(r'"start": ?"(\w+)"', text)
    return [line["answer"] for line in tap.lines(out)], starts


def body():
    if subprocess.run(["/usr/bin/python3", "-I", "-c", "import pandas"], capture_output=True).returncode != 0:
        raise tap.SkipAll("no python3-pandas")
    table = os.path.join(tap.work, "sales.csv")
    with open(table, "w") as out:
        out.write("a\n1\n")
    spoken, how = batch("spoken", "2", "Use pandas: sum up 1 and 2.")
    tap.same(spoken, ["3\n", "3\n"], "results where the task speaks of pandas")
    tap.same(how[0], "forked", "the first program is forked: the task speaks of pandas")
    _, how = batch("file", "2", "Sum up the column.", [table])
    tap.same(how[0], "forked", "and where a file is a table")
    none, how = batch("none", "2", "Add 1 and 2.")
    tap.ok(how[-1] != "forked", "nothing is made for one that nothing tells of", str(how))
    tap.same(how[0], "forked", "but for the one after it: the log's last program tells")
    zero, how = batch("zero", "0", "Use pandas: sum up 1 and 2.")
    tap.same(set(how), {"cold"}, "--warm 0: every program starts cold")
    tap.same((none, zero), (spoken, spoken), "the results are the same")


tap.main(body)
