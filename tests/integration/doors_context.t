#!/usr/bin/python3
# Contexts through the doors: programs that go on where the last one stopped, by `assay mcp` and
# `assay serve`: what fails leaves nothing, files stay, one at a time, interrupted, closed, bounded,
# another key's do not exist, ends by time, and what is left when the server is killed.
import os
import signal
import sys
import threading
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
from tap import ok, same

KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)
WHERE = ("--listen", "0", "--key-file", "keys")
FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(%d)\n" % serving.PATIENCE


def keys_file():
    with open(os.path.join(tap.work, "keys"), "w") as f:
        f.write("".join("%s %s\n" % k for k in KEYS))
    os.chmod(os.path.join(tap.work, "keys"), 0o600)


def Serve(*args):
    return serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), *args,
                          key=KEYS[0][1], where=WHERE)


def background(work):
    t = threading.Thread(target=work)
    t.start()
    return t


def tools():
    with mcp.Server("--timeout", str(mcp.PATIENCE)) as s:
        def call(name, **arguments):
            return s.ask("tools/call", name=name, arguments=arguments)["result"]

        def run(code, **more):
            return call("execute_code", language="python", code=code, context=c, **more)["structuredContent"]

        c = call("context_open", language="python")["structuredContent"]["context"]
        first = run("x = 6\nimport math", files={"a.txt": "A"})
        same((first["status"], first["after"], first["context"]), ("success", None, c), "mcp: a first program")
        r = run("x * 7, math.floor(1.5), open('/in/a.txt').read()")
        same((r["stdout"], r["anew"]), ("(42, 1, 'A')\n", False), "the next has its names, imports and files")
        ok(r["after"].startswith(first["run"]), "and says what it started from", r["after"])
        r = run("x = 0\nraise ValueError('no')")
        same((r["status"], r["error"]["type"]), ("failed", "ValueError"), "one that fails")
        same(run("print(x)")["stdout"], "6\n", "leaves nothing")
        same(run("import socket")["refused"]["rules"], ["py.import.network"], "each is screened")
        same(run("print(x)")["stdout"], "6\n", "what was refused leaves nothing")
        run("import os\nos.mkdir('d')\nos.chdir('d')")
        run("raise ValueError('no')")
        same(run("print(open('f', 'w').write('1'))")["stdout"], "1\n", "the folder it is in is there after one that failed")
        r = call("execute_python", code="print(x)", context=c)["structuredContent"]
        same(r["stdout"], "6\n", "execute_python has contexts, too")
        other = call("context_open", language="javascript")["structuredContent"]["context"]
        r = call("execute_code", language="javascript", code="var y = 1", context=other)
        r = call("execute_code", language="javascript", code="console.log(y + 1)", context=other)
        same(r["structuredContent"]["stdout"], "2\n", "JavaScript")
        bad = call("execute_code", language="python", code="1", context=other)
        ok(bad["isError"] and "javascript" in bad["content"][0]["text"], "a program of another language is refused", bad)
        same(len(call("context_list")["structuredContent"]["contexts"]), 2, "they are listed")
        asked = s.begin("tools/call", name="execute_python", arguments={"code": FOREVER, "context": c})
        while not call("context_interrupt", context=c)["structuredContent"]["interrupted"]:
            pass
        r = s.end(asked)["result"]["structuredContent"]
        same(r["status"], "cancelled", "an interrupt ends what runs, and it is answered")
        same(run("print(x)")["stdout"], "6\n", "and the state is as it was")
        same(call("context_close", context=c)["structuredContent"]["closed"], True, "closed")
        ok(call("execute_python", code="1", context=c)["isError"] and call("context_close", context=c)["isError"] and
           call("context_interrupt", context="x")["isError"] and call("context_interrupt")["isError"],
           "there is no such context any more")
        ok(call("context_open", language="perl")["isError"] and call("context_open", language="cobol")["isError"],
           "a language without contexts")
        runs = call("list_runs")["structuredContent"]["runs"]
        same(s.close(), 0, "the end")
    got = tap.assay("replay", runs[-2]["run"], "--json")
    same((got.code, got.json()["same"]), (0, True), "a run of a context can be replayed from the log")
    with mcp.Server("--contexts", "2") as s:
        opened = [s.ask("tools/call", name="context_open", arguments={})["result"] for _ in range(3)]
        same([o["isError"] for o in opened], [False, False, True], "as many as --contexts says")


def api(s):
    got = s.post("/contexts", {"language": "python"})
    same(got.status, 201, "serve: POST /contexts")
    c = got.json()["context"]
    s.run("x = [1]", context=c)
    r = s.run("x.append(2)\nx", context=c)
    same((r["stdout"], r["context"]), ("[1, 2]\n", c), "/execute in it")
    same(s.post("/run_python", {"code": "print(x)", "context": c}).json()["stdout"], "[1, 2]\n", "/run_python, too")
    listed = s.get("/contexts").json()["contexts"]
    same([(l["context"], l["language"], l["cells"], l["busy"]) for l in listed], [(c, "python", 3, False)], "GET /contexts")
    same(s.post("/execute", {"code": "1", "context": "ctx-" + "0" * 24}).status, 404, "one that is not there")
    for body in ({"language": "perl"}, {"language": "cobol"}, {"language": 1}, []):
        same(s.post("/contexts", body).status, 400, "refused: %r" % (body,))
    same(s.post("/execute", {"code": "1", "context": 5}).status, 400, "an id that is no text")
    got = s.post("/execute", {"code": "1", "language": "bash", "context": c})
    ok(got.status == 400 and "python" in got.json()["message"], "another language", got)
    many = [background(lambda n=n: s.run("x.append(%d)" % n, context=c)) for n in range(6)]
    for t in many:
        t.join()
    r = s.run("print(sorted(x))", context=c)
    same(r["stdout"], "[0, 1, 1, 2, 2, 3, 4, 5]\n", "many at once: one after the other, none lost")
    ended = []
    t = background(lambda: ended.append(s.run(FOREVER, context=c)))
    while not s.ask("POST", "/contexts/%s/interrupt" % c).json()["interrupted"]:
        pass
    t.join()
    same(ended[0]["status"], "cancelled", "interrupted")
    t = background(lambda: ended.append(s.run(FOREVER, context=c)))
    while not s.get("/contexts").json()["contexts"][0]["busy"]:
        pass
    same(s.ask("DELETE", "/contexts/" + c).status, 200, "DELETE while a program runs")
    t.join()
    same(ended[1]["status"], "cancelled", "ends that")
    same((s.get("/contexts").json()["contexts"], s.ask("DELETE", "/contexts/" + c).status), ([], 404), "and it is gone")


def owners(s):
    c = s.post("/contexts", {}).json()["context"]
    s.run("secret = 1", context=c)
    s.key = KEYS[1][1]
    none = "ctx-" + "0" * 24
    for ask in (lambda i: s.post("/execute", {"code": "print(secret)", "context": i}),
                lambda i: s.ask("DELETE", "/contexts/" + i), lambda i: s.ask("POST", "/contexts/%s/interrupt" % i)):
        mine, other = ask(none), ask(c)
        same((other.status, other.body), (404, mine.body), "another key's is as one that is not there")
    same(s.get("/contexts").json()["contexts"], [], "nor is it listed")
    s.key = KEYS[0][1]
    same(s.run("print(secret)", context=c)["stdout"], "1\n", "and is as it was")


def bounds():
    with Serve("--contexts", "4", "--context-idle", "2") as s:
        got = [s.post("/contexts", {}).status for _ in range(3)]
        same(got, [201, 201, 429], "a key has half of them")
        same(s.post("/contexts", {}, X_API_Key=KEYS[1][1]).status, 201, "another has its own")
        ok(s.until("assay_contexts", 0), "who is not used is closed")
        same([s.metric("assay_contexts_%s_total" % n) for n in ("refused", "unused", "outlived")], [1, 3, 0], "which is counted")
    with Serve("--context-life", "1") as s:
        c = s.post("/contexts", {}).json()["context"]
        same(s.run(FOREVER, context=c)["status"], "cancelled", "one that is used is closed when its life is over")
        same((s.metric("assay_contexts"), s.metric("assay_contexts_outlived_total")), (0, 1), "it is gone")


def killed():
    with Serve() as s:
        c = s.post("/contexts", {}).json()["context"]
        s.run("x = 1", context=c)
        t = background(lambda: s.raw(s.request("/execute", {"code": FOREVER, "context": c})))
        while not s.get("/contexts").json()["contexts"][0]["busy"]:
            pass
        t.join()
        below = mcp.family(s.process.pid)
        same(s.end(signal.SIGKILL), -9, "SIGKILL with a context open")
        ok(below and mcp.gone(below), "leaves no process")


def keepers(s):
    return [pid for pid, _ in mcp.family(s.process.pid) if (mcp.stat(pid) or (0,))[0] == s.pid]


def bereaved():
    """What holds a context's state dies, when nothing runs and while something does."""
    with Serve("--parallel", "1") as s:
        c = s.post("/contexts", {}).json()["context"]
        if s.run("x = [1]", context=c)["isolation"].get("held") != "yes":
            return tap.skip("a state whose keeper dies", "none is kept here")
        for pid in keepers(s):
            os.kill(pid, signal.SIGKILL)
        r = s.run("x.append(2)\nprint(x)", context=c)
        same((r["status"], r["stdout"], r["isolation"]["state"]), ("success", "[1, 2]\n", "rebuilt"), "a keeper that dies: the state is made again")
        ok("made again" in r.get("rebuilt", ""), "which is said", r)
        ended = []
        t = background(lambda: ended.append(s.run("x = 0\n" + FOREVER, context=c)))
        ok(s.until("assay_running", 1), "a program runs in it")
        for pid in keepers(s):
            os.kill(pid, signal.SIGKILL)
        t.join()
        ok(ended[0]["status"] == "sandbox_error" and "died" in ended[0]["detail"], "a keeper that dies under it: it is lost, and said to be", ended)
        r = s.run("print(x)", context=c)
        same((r["stdout"], "made again" in r.get("rebuilt", "")), ("[1, 2]\n", True), "and the context is as it was before it, which is said")
        same(s.run("print(x)", context=c).get("rebuilt"), None, "once")


def main():
    keys_file()
    tools()
    with Serve() as s:
        api(s)
        owners(s)
    bounds()
    killed()
    bereaved()
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
