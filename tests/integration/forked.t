#!/usr/bin/python3
# Interpreters that wait, forked from a template or started ahead, do what cold ones do: a seeded sample
# of full/warm.t, in all three ways; and `assay batch` gives the same results with and without them,
# and says in the record how each program started.
import os
import random
import re
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import corpus
import starts
import tap
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full/warm"))
import seen

SEED = 12
WAYS = ("cold", "waiting", "forked")


def some(rows, count):
    return random.Random(SEED).sample(rows, min(count, len(rows)))


TASKS = [("t%d" % n, "Print %d times what is read." % n, "import json, math\nn = %d\nprint(json.dumps(n), "
          "math.comb(n, 2))\nif n %% 3 == 0:\n    raise ValueError(n)\n" % n, {}) for n in range(1, 10)]


# Exit code, and what of each result does not tell of time.
def batch(warm):
    tasks, script, out, log = (os.path.join(tap.work, warm + suffix)
                               for suffix in (".tasks", ".script", ".out", ".db"))
    tap.dump(tasks, [{"id": i, "prompt": prompt, "lang": "python"} for i, prompt, _, _ in TASKS])
    tap.dump(script, [{"stage": "code", "id": i, "reply": corpus.reply(code, "python")}
                      for i, _, code, _ in TASKS])
    done = tap.assay("batch", tasks, "--script", script, "--out", out, "--db", log, "-j", "1", "--fast",
                     "--max-attempts", "1", "--warm", warm)
    if not os.path.exists(out):
        raise RuntimeError(str(done))
    kept = ("id", "status", "level", "answer", "output", "error", "exit_code", "outcome")
    results = {line["id"]: {k: line.get(k) for k in kept} for line in tap.lines(out)}
    return done.code, results, how_started(log)


def how_started(path):
    text = tap.assay("log", "export", "--db", path).out
    return {how: len(re.findall('"start": ?"%s"' % how, text)) for how in WAYS}


def humaneval():
    try:
        rows = corpus.load("humaneval.jsonl")
    except tap.SkipAll as why:
        tap.skip("humaneval", why)
        return
    starts.same("humaneval", some([(r["task_id"], "%s%s\n%s\ncheck(%s)\n" % (
        r["prompt"], r["canonical_solution"], r["test"], r["entry_point"])) for r in rows], 20), (), WAYS)


def body():
    starts.available()
    starts.same("what a program sees", some(list(seen.programs()), 40), starts.INTENDED, WAYS, 0.8)
    humaneval()
    with_none, with_some = batch("0"), batch("2")
    tap.same(with_some[:2], with_none[:2], "a batch gives the same with and without")
    tap.diag("%s, %s" % (with_none[2], with_some[2]))
    tap.ok(with_none[2]["forked"] + with_none[2]["waiting"] == 0, "--warm 0: every program starts cold")
    tap.ok(with_some[2]["forked"] >= 5, "--warm 2: most are forked", str(with_some[2]))


tap.main(body)
