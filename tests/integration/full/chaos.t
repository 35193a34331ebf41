#!/usr/bin/python3
# A batch of 200 tasks against a server where three of ten requests fail: every task ends right or
# honestly failed, none twice, and the failed ones can be run again until all are right.
import collections
import json
import os
import re
import sys
import time
sys.dont_write_bytecode = True
import tap
import aimock
from aimock import WIRES, fixture
from tap import ok, same

TASKS = 200
CODER, REPAIRER = "You answer a question", "You repair a program"
LIMIT_SECONDS = 600


def program(expression):
    return "So:\n\n```python\nprint(%s)\n```\n" % expression


def fixtures():
    """Every fourth program is wrong at first."""
    rules = []
    for n in range(TASKS):
        words = "square of %d." % n
        first = program("1 // 0") if n % 4 == 0 else program(n * n)
        rules += [fixture({"systemMessage": CODER, "userMessage": words}, first),
                  fixture({"systemMessage": REPAIRER, "userMessage": words}, program(n * n))]
    return rules


def honest(result):
    """Right and known to be, or failed for the server's sake and said to be."""
    n = int(result["id"])
    if result["status"] == "success":
        return result["level"] == "expected" and result["answer"].strip() == str(n * n)
    return result["status"] == "provider_error" and result["level"] != "expected" and result["error"]


def check(name, results):
    same(sorted(int(r["id"]) for r in results), list(range(TASKS)),
         name + ": one result for every task, none twice")
    bad = [r for r in results if not honest(r)]
    ok(not bad, name + ": each right or honestly failed", bad)


def batch(server, wire, *args):
    files = [os.path.join(tap.work, wire + suffix) for suffix in (".jsonl", ".out", ".db")]
    tap.dump(files[0], [{"id": str(n), "prompt": "Print the square of %d." % n, "lang": "python",
                         "expect": {"equals": str(n * n)}} for n in range(TASKS)])
    began = time.monotonic()
    done = tap.assay("batch", files[0], "--out", files[1], "--db", files[2], "-j", "4", "--json",
                     *server.flags(wire), *args, timeout=LIMIT_SECONDS,
                     **{wire.upper() + "_API_KEY": aimock.KEY})
    summary, results = done.json(), tap.lines(files[1])
    tap.diag("%s: %d of %d succeeded in %.1f s" %
             (wire, summary["success"], TASKS, time.monotonic() - began))
    return done, summary, results


def faults(server):
    """How the server says it answered; what was disconnected has no status of its own."""
    return collections.Counter(
        (e["response"].get("chaosAction") or "none") for e in server.journal("square of"))


def answered(server):
    """How often each call of each task had an answer: (task, coder or repairer)."""
    counts = collections.Counter()
    for e in server.journal("square of"):
        text = json.dumps(e["body"])
        task = int(re.search(r"square of (\d+)\.", text).group(1))
        if not e["response"].get("chaosAction"):
            counts[task, REPAIRER if REPAIRER in text else CODER] += 1
    return counts


def check_no_duplicate(name, results, counts):
    """From the server's side: no call was answered twice, and a success needed each of its own."""
    same([c for c, n in counts.items() if n > 1], [], name + ": no call was answered twice")
    missing = [r["id"] for r in results if r["status"] == "success" and
               not (counts[int(r["id"]), CODER] and
                    (int(r["id"]) % 4 or counts[int(r["id"]), REPAIRER]))]
    same(missing, [], name + ": no task succeeded without its answers")


def run(wire):
    with aimock.serve(fixtures(), "--chaos-drop", "0.1", "--chaos-malformed", "0.1",
                      "--chaos-disconnect", "0.1") as server:
        done, summary, results = batch(server, wire)
        seen = faults(server)
        tap.diag("%s: the server's answers: %s" % (wire, dict(seen)))
        ok(all(seen[fault] >= TASKS // 20 for fault in ("drop", "malformed", "disconnect")),
           wire + ": the faults were really there", seen)
        check(wire, results)
        check_no_duplicate(wire, results, answered(server))
        wins = sum(r["status"] == "success" for r in results)
        ok(wins >= TASKS * 8 // 10, wire + ": retries carried most of them through", wins)
        same((summary["total"], summary["success"], summary["failed"]), (TASKS, wins, TASKS - wins),
             wire + ": the summary is exact")
        away = sum(bool(r.get("unfinished")) for r in results)
        same(summary["unfinished"], away, wire + ": what the server left unfinished is counted")
        same(done.code, 0 if wins == TASKS else 4 if away else 9, wire + ": exit code")
        for _ in range(6):
            if summary["failed"] == 0:
                break
            done, summary, results = batch(server, wire, "--retry-failed")
            check(wire + " again", results)
        same([r["status"] for r in results], ["success"] * TASKS, wire + ": --retry-failed mends the rest")
        same(done.code, 0, wire + ": and says so")
    runs = tap.assay("log", "list", "--json", "--limit", "1000", "--db",
                     os.path.join(tap.work, wire + ".db")).json()
    by_status = collections.Counter(r["status"] for r in runs)
    ok(by_status["success"] == TASKS and set(by_status) <= {"success", "provider_error"},
       wire + ": the log has each of them, ended", by_status)


def body():
    for wire in WIRES:
        run(wire)


tap.main(body)
