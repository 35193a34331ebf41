# Programs of a public corpus through `assay batch`: the task file, the script of the model, TAP.
# A task is (id, prompt, code, members of the task line); the scripted model "writes" the code.
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
DATA = os.environ.get("ASSAY_DATA") or os.path.join(TOP, "../shared/data")
ASSAY = os.path.abspath(os.environ.get("ASSAY") or os.path.join(TOP, "build/assay"))

count = failures = 0
work = None


def diag(text):
    for line in str(text).splitlines()[:30]:
        print("# " + line)


def ok(good, name, detail=""):
    global count, failures
    count += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    if not good:
        diag(detail)


def same(got, want, name):
    ok(got == want, name, "got:  %r\nwant: %r" % (got, want))


def load(name):
    """The records of a corpus; ends the program with a skipped plan when it is not there."""
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        print("1..0 # SKIP no %s in $ASSAY_DATA or ../shared/data" % name)
        sys.exit(0)
    with open(path, encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def environment():
    """Like lib.sh: a home of its own, and nobody's keys."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENAI_", "ANTHROPIC_", "ASSAY_")) and k != "NO_COLOR"}
    env["HOME"] = os.path.join(work, "home")
    cache = os.environ.get("ASSAY_TEST_CACHE") or os.path.join(env["HOME"], "cache")
    env.update(XDG_CONFIG_HOME=env["HOME"] + "/config", XDG_DATA_HOME=env["HOME"] + "/data",
               XDG_STATE_HOME=env["HOME"] + "/state", XDG_CACHE_HOME=cache)
    return env


def dump(path, records):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def reply(code, lang):
    if not code.endswith("\n"):
        code += "\n"
    return "Here is a solution; it needs nothing but the language.\n\n```%s\n%s```\n\nIt is " \
           "called as the text asks.\n" % (lang, code)


def batch(name, tasks, lang, *options):
    """Runs the tasks; returns exit code, summary and results by id."""
    folder = os.path.join(work, name)
    os.makedirs(folder)
    files = {n: os.path.join(folder, n) for n in
             ("tasks.jsonl", "script.jsonl", "results.jsonl", "log.db", "err.txt")}
    dump(files["tasks.jsonl"], [dict(members, id=ident, prompt=prompt, lang=lang)
                                for ident, prompt, code, members in tasks])
    dump(files["script.jsonl"], [{"stage": "code", "id": ident, "reply": reply(code, lang)}
                                 for ident, prompt, code, members in tasks])
    began = time.monotonic()
    with open(files["err.txt"], "wb") as err:
        done = subprocess.run(
            [ASSAY, "batch", files["tasks.jsonl"], "--script", files["script.jsonl"],
             "--out", files["results.jsonl"], "--db", files["log.db"], "-j", "2", "--json",
             *options], stdout=subprocess.PIPE, stderr=err, stdin=subprocess.DEVNULL,
            env=environment(), cwd=folder)
    took = time.monotonic() - began
    summary = json.loads(done.stdout)
    with open(files["results.jsonl"], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    diag("%s: %d of %d succeeded, levels %s, %.1f s, %.0f ms a task" %
         (name, summary["success"], summary["total"], json.dumps(summary["levels"]), took,
          took * 1000 / max(1, len(tasks))))
    same(len(lines), len(tasks), name + ": one result a task")
    results = {line["id"]: line for line in lines}
    same(set(results), {task[0] for task in tasks}, name + ": and none twice")
    same(summary["success"] + summary["failed"], len(tasks), name + ": the summary counts them all")
    return done.returncode, summary, results


def all_verified(name, tasks, lang, *options):
    """Every task must end in success at level expected."""
    code, summary, results = batch(name, tasks, lang, *options)
    bad = ["%s: %s %s: %s" % (i, r["status"], r["level"], r.get("error"))
           for i, r in results.items() if (r["status"], r["level"]) != ("success", "expected")]
    ok(not bad, "%s: %d of %d verified at level expected" % (name, len(tasks), len(tasks)),
       "\n".join(bad))
    same(summary["success"], len(tasks), name + ": so says the summary")
    same(summary["levels"], {"expected": len(tasks)}, name + ": its levels too")
    same(code, 0, name + ": exit code")


def none_verified(name, tasks, lang, kind):
    """Every task must run, and fail the check of this kind."""
    code, summary, results = batch(name, tasks, lang, "--max-attempts", "1")
    good = [i for i, r in results.items() if r["status"] == "success"]
    ok(not good, "%s: 0 of %d verified" % (name, len(tasks)), "\n".join(good))
    same(summary["success"], 0, name + ": so says the summary")
    # Failing for another reason, as a sandbox that does not start, would prove nothing.
    odd = ["%s: %s %s %s" % (i, r["status"], r.get("error"), r.get("checks"))
           for i, r in results.items() if r["status"] != "failed" or not r.get("execution")
           or "fail" not in [c["verdict"] for c in r["checks"] if c["kind"] == kind]]
    ok(not odd, "%s: each ran, and failed its %s" % (name, kind), "\n".join(odd))
    same(code, 9, name + ": exit code")


def main(body):
    global work
    work = tempfile.mkdtemp(prefix="assay-test.")
    try:
        body()
    finally:
        shutil.rmtree(work)
    print("1..%d" % count)
    sys.exit(1 if failures else 0)
