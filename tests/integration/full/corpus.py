# Programs of a public corpus through `assay batch`: the task file and the script of the model.
# A task is (id, prompt, code, members of the task line); the scripted model "writes" the code.
import json
import os
import sqlite3
import time

import tap


# In another sandbox than the native one (walls_attacked.t).
elsewhere = ["--sandbox", os.environ["ASSAY_TEST_SANDBOX"]] if "ASSAY_TEST_SANDBOX" in os.environ else []
elsewhere += ["--weaker"] if "ASSAY_TEST_WEAKER" in os.environ else []


def load(name):
    """The records of a corpus."""
    path = os.path.join(tap.DATA, name)
    if not os.path.exists(path):
        raise tap.SkipAll("no %s in $ASSAY_DATA or ../shared/data" % name)
    return tap.lines(path)


def reply(code, lang):
    if not code.endswith("\n"):
        code += "\n"
    return "Here is a solution; it needs nothing but the language.\n\n```%s\n%s```\n\nIt is " \
           "called as the text asks.\n" % (lang, code)


def batch(name, tasks, lang, *options):
    """Runs the tasks; returns exit code, summary and results by id. Its log is then `log`."""
    global log
    tasks_file, script, results, log = (os.path.join(tap.work, "%d.%s" % (tap.count, suffix))
                                        for suffix in ("tasks.jsonl", "script", "out", "db"))
    tap.dump(tasks_file, [dict(members, id=ident, prompt=prompt, lang=lang)
                          for ident, prompt, code, members in tasks])
    tap.dump(script, [{"stage": "code", "id": ident, "reply": reply(code, lang)}
                      for ident, prompt, code, members in tasks])
    began = time.monotonic()
    done = tap.assay("batch", tasks_file, "--script", script, "--out", results, "--db", log,
                     "-j", "2", "--json", *elsewhere, *options,
                     **{k: v for k, v in os.environ.items() if k == "ASSAY_SSH_CONFIG"})
    took = time.monotonic() - began
    summary, found = done.json(), tap.lines(results)
    tap.diag("%s: %d of %d succeeded, levels %s, %.1f s, %.0f ms a task" %
             (name, summary["success"], summary["total"], json.dumps(summary["levels"]), took,
              took * 1000 / len(tasks)))
    tap.same(len(found), len(tasks), name + ": one result a task")
    by_id = {line["id"]: line for line in found}
    tap.same(set(by_id), {task[0] for task in tasks}, name + ": and none twice")
    tap.same(summary["success"] + summary["failed"], len(tasks),
             name + ": the summary counts them all")
    return done.code, summary, by_id


def overhead():
    """Bytes a run that the last batch's log has beyond the contents themselves, as they are stored."""
    tap.assay("log", "list", "--db", log)  # moves what is beside the file into it
    db = sqlite3.connect(log)
    (contents,), = db.execute("select total(length(body)) from blobs").fetchall()
    (runs,), = db.execute("select count(*) from runs").fetchall()
    db.close()
    return (os.path.getsize(log) - contents) / runs


def all_verified(name, tasks, lang, *options):
    """Every task must end in success at level expected."""
    code, summary, results = batch(name, tasks, lang, *options)
    bad = ["%s: %s %s: %s" % (i, r["status"], r["level"], r.get("error"))
           for i, r in results.items() if (r["status"], r["level"]) != ("success", "expected")]
    tap.ok(not bad, "%s: %d of %d verified at level expected" % (name, len(tasks), len(tasks)),
           "\n".join(bad))
    tap.same(summary["success"], len(tasks), name + ": so says the summary")
    tap.same(summary["levels"], {"expected": len(tasks)}, name + ": its levels too")
    tap.same(code, 0, name + ": exit code")


def none_verified(name, tasks, lang, kind, verdicts=("fail",)):
    """Every task must run, and get one of the verdicts from the check of this kind."""
    code, summary, results = batch(name, tasks, lang, "--max-attempts", "1")
    good = [i for i, r in results.items() if r["status"] == "success"]
    tap.ok(not good, "%s: 0 of %d verified" % (name, len(tasks)), "\n".join(good))
    tap.same(summary["success"], 0, name + ": so says the summary")
    # Failing for another reason, as a sandbox that does not start, would prove nothing.
    odd = ["%s: %s %s %s" % (i, r["status"], r.get("error"), r.get("checks"))
           for i, r in results.items() if r["status"] != "failed" or not r.get("execution")
           or not [c for c in r["checks"] if c["kind"] == kind and c["verdict"] in verdicts]]
    tap.ok(not odd, "%s: each ran, and %s said %s" % (name, kind, " or ".join(verdicts)),
           "\n".join(odd))
    tap.same(code, 9, name + ": exit code")
