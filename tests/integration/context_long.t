#!/usr/bin/python3
# Contexts of many cells and files, as a notebook's client has them: they go on, the log has each
# state whole and replays it, what had to be made again is said, and of a cell that failed nothing
# is left to the one after it.
import json
import os
import sys
import time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
from tap import ok, same

CELLS = 104  # more than were kept once
AGAIN = 66  # where all before a cell are run again with it
GROUP = 32  # agent/record/cells.h
OTHERS = 33  # contexts whose states take the place of the first one's


def Serve(*args):
    return serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), "--contexts", "200", "--parallel", "1",
                          "--warm", "1", *args)


def many(s, cells):
    c = s.post("/contexts", {"language": "python"}).json()["context"]
    r = s.run("a = []\nopen('/out/f', 'w').write('0')\nimport sys\ns = sys.stdin.read()", context=c, stdin="\u00fcber\n")
    for n in range(1, cells):
        r = s.run("a.append(%d)  # \u00fc\nopen('/out/f', 'w').write('%d')\n%d" % (n, n, n), context=c)
        if r["stdout"] != "%d\n" % n or r["anew"]:
            ok(False, "cell %d" % n, r)
            break
    same((r["status"], s.get("/contexts").json()["contexts"][0]["cells"]), ("success", cells), "a context goes on")
    r = s.run("print(len(a), a[0], a[-1], s)", context=c)
    same(r["stdout"], "%d 1 %d \u00fcber\n\n" % (cells - 1, cells - 1), "and has all its names")
    run = r["run"]
    task = [e for e in json.loads(tap.assay("log", "export", run).out)["events"] if e["data"].get("cells")][0]["data"]
    same((task["cell_groups"], len(task["cells"])), (cells // GROUP - 1, cells % GROUP + GROUP), "the record has groups of its oldest cells")
    got = tap.assay("replay", run, "--json")
    same((got.code, json.loads(got.out)["same"]), (0, True), "which a replay makes the state of")
    if r["isolation"]["state"] == "forked":
        lost(s, c, cells)
    else:
        tap.skip("a state that is lost", "none is kept here")


def lost(s, c, cells):
    for _ in range(OTHERS):
        s.run("x = 1", context=s.post("/contexts", {"language": "python"}).json()["context"])
    r = s.run("print(len(a), s)", context=c)
    same((r["stdout"], r["isolation"]["state"]), ("%d \u00fcber\n\n" % (cells - 1), "rebuilt"), "a state that is lost is made again")
    ok("made again" in r.get("rebuilt", ""), "which is said", r)
    r = s.run("print(len(a))", context=c)
    same((r["isolation"]["state"], r.get("rebuilt")), ("forked", None), "once")


def below(s, most):
    """Until no more processes are there."""
    end = time.monotonic() + serving.PATIENCE
    while len(mcp.family(s.process.pid)) > most and time.monotonic() < end:
        time.sleep(0.05)
    return len(mcp.family(s.process.pid))


def processes(s):
    contexts = [s.post("/contexts", {"language": "python"}).json()["context"] for _ in range(5)]
    r = [s.run("x = 1", context=c) for c in contexts][-1]
    kept = r["isolation"].get("held") == "yes"
    if kept:
        had = len(mcp.family(s.process.pid))
        for _ in range(6):
            s.run("x = 2", context=contexts[0])
        ok(below(s, had + 2) <= had + 2, "one state of a context is kept, its last", (had, len(mcp.family(s.process.pid))))
        for c in contexts[:3]:
            s.ask("DELETE", "/contexts/" + c)
        ok(below(s, had - 10) <= had - 10, "none of one that is closed", (had, len(mcp.family(s.process.pid))))
        same(s.run("print(x)", context=contexts[4])["isolation"]["state"], "forked", "and the others' are there")
    else:
        tap.skip("what keeps a state", "none is kept here")
    for c in contexts:
        s.ask("DELETE", "/contexts/" + c)
    return kept


class Box:
    def __init__(self, s, **more):
        made = s.post("/v2/sandboxes", dict(templateID="t", timeout=900, **more)).json()
        self.s, self.named = s, {"X_API_Key": None, "E2b_Sandbox_Id": made["sandboxID"], "X_Access_Token": made["envdAccessToken"]}

    def run(self, code, **more):
        """Its result's text, its standard error and the name of its error."""
        lines = [json.loads(line) for line in self.s.post("/execute", dict(code=code, **more), **self.named).body.splitlines()]
        return ("".join(x["text"] for x in lines if x["type"] == "result"), "".join(x["text"] for x in lines if x["type"] == "stderr"),
                next((x["name"] for x in lines if x["type"] == "error"), None))

    def write(self, path, data):
        return self.s.ask("POST", "/files?path=" + path, data, Content_Type="application/octet-stream", **self.named).status


def notebook(s, kept):
    b = Box(s, envVars={"A": "1"})
    env = "import os; os.environ.get('A'), os.environ.get('B')"
    same(b.run(env)[0], "('1', None)", "e2b: a sandbox's variables")
    same(b.run(env, env_vars={"B": "2"})[0], "('1', '2')", "a cell's")
    same(b.run(env)[0], "('1', None)", "which the next has not")
    same(b.run("1/0", env_vars={"B": "2"})[2], "ZeroDivisionError", "one that fails")
    same(b.run(env)[0], "('1', None)", "leaves none of them, either")
    for n in range(300):
        b.write("d/%d" % n, b"%d" % n)
    for _ in range(2):
        same(b.run("sum(int(open('d/%d' % n).read()) for n in range(300))"), ("44850", "", None), "more files than one request may give")
    b.write("d/0", b"1")
    same(b.run("open('d/0').read()")[0], "1", "and one that changed")
    for n in range(OTHERS if kept else 0):
        Box(s).run("1")
    got = b.run("n")
    ok("was made again by running the programs before it" in got[1] or not kept, "a state that was made again is told", got)
    same(got[2], "NameError", "and is what it was")


def bytes_of_any_kind():
    """In a group a program is a text of JSON where it is one, and stands alone where it is none."""
    with open(os.path.join(tap.work, "a.sh"), "wb") as f:
        f.write(b"x=0 # \xff\xfe\n" + b"".join(b"# %%\nx=$((x+1))" + (b" # \xff\n" if n % 3 else b" # \xc3\xbc\n") for n in range(AGAIN)))
    with open(os.path.join(tap.work, "b.sh"), "w") as f:
        f.write("echo $x\n")
    same(tap.assay("exec", "--context", "g", "a.sh").code, 0, "programs that are no text")
    same(tap.assay("exec", "--context", "g", "b.sh").out, "%d\n" % AGAIN, "are a state, made again from a record with a group")
    got = tap.assay("replay", "last", "--json")
    same((got.code, json.loads(got.out)["same"]), (0, True), "which a replay makes, too")


def main():
    bytes_of_any_kind()
    with Serve() as s:
        kept = processes(s)
        many(s, CELLS if kept else AGAIN)
        notebook(s, kept)
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
