#!/usr/bin/python3
# --tools through the doors and in a batch: what a client's program may call, who is asked for a yes, whose
# key has which tools, contexts that are made again without a call, tasks that are each their own.
import json
import os
import re
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
import tool
from tap import assay, ok, same, write
from tool import calls, forget

CONFIG = """[tool next]
command = %(work)s/tool next
description = Counts.
action = allow
[tool pay]
command = %(work)s/tool pay
[tool own]
command = %(work)s/tool own
action = allow
keys = one
"""
KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)
TRY = """import assay
def attempt(name, **arguments):
    try:
        print(name, assay.call(name, arguments)['nth'])
    except assay.Error as e:
        print(name, e.kind, e)
"""


def told(r, who):
    """Of a call that nobody could be asked about: which, the rule, and the command that goes on. Returns that."""
    ok(re.match(r"call \d+ waits for a person's yes: pay\(", r["detail"]), who + ": it says which call waits", r)
    same(r["refused"]["rules"], ["tool.pay"], who + ": for which rule, and not what the program wrote")
    command = "replay %s --from end --tools --allow tool.pay" % r["run"]
    ok("assay " + command in r["refused"]["remedy"], who + ": and what goes on from there", r["refused"])
    return command.split()


def stdio():
    forget()
    with mcp.Server() as s:
        r = s.call("execute_python", code="import assay")["structuredContent"]
        ok(r["status"] == "failed" and "No module named" in r["stderr"], "mcp: without --tools there are none", r)
        ok("assay.call" not in json.dumps(s.ask("tools/list")), "and none are spoken of")
    with mcp.Server("--tools", "--parallel", "2") as s:
        listed = {t["name"]: t["description"] for t in s.ask("tools/list")["result"]["tools"]}
        ok("import assay" in listed["execute_code"] and 'require("./assay.js")' in listed["execute_code"], "a tool says how each language calls others", listed["execute_code"])
        ok("import assay" in listed["execute_python"] and "require" not in listed["execute_python"], "one of a language how that does", listed["execute_python"])
        c = s.call("context_open", language="python")["structuredContent"]["context"]

        def run(code, **more):
            return s.call("execute_code", language="python", code=code, **more)["structuredContent"]

        names = [t["name"] for t in s.ask("tools/list")["result"]["tools"] if "assay.call" in t["description"]]
        same(names, ["execute_code", "execute_python", "run_python"], "mcp: who writes programs is told that they may call")
        same(run(TRY + "attempt('next', a=1)")["stdout"], "next 1\n", "a program calls")
        same(run("import assay\nx = assay.call('next')\nprint(x['nth'])", context=c)["stdout"], "2\n", "one in a context")
        same((run("print(x['nth'], assay.call('next')['nth'])", context=c)["stdout"], calls()), ("2 3\n", 3),
             "the next one there is answered what was called, and calls its own")
        r = run("assay.call('pay', {'x': '[py.import.network]'})", context=c)
        ok(r["status"] == "denied" and calls("pay") == 0, "who cannot be asked does not say yes", r)
        told(r, "mcp")
        same((run("print(x['nth'])", context=c)["stdout"], calls()), ("2\n", 3), "and the context is as it was")
        same(run(TRY + "attempt('own')")["stdout"], "own 1\n", "the user himself has all of them")
        left = s.process.pid, mcp.family(s.process.pid)
        same(s.close(), 0, "it ends")
        ok(mcp.gone(left[1]), "with all that it started")
    got = assay("replay", "last~1")
    ok(got.code == 0 and "identical" in got.out and calls() == 3, "what ran there replays, without a call", got)


def asked():
    forget()
    can = {"elicitation": {}}
    for content, wanted in ((True, "first\npay 1\n"), (False, "first\npay denied asked through the client, whose person did not say yes\n")):
        with mcp.Server("--tools", capabilities=can) as s:
            number = s.start("execute_python", {"code": TRY + "print('first')\nattempt('pay', x='y' * 3000 + 'to=mallory')"})
            message = s.until(lambda m: m.get("method") == "elicitation/create")
            text = message["params"]["message"]
            ok("call this tool" in text and text.count("y" * 3000 + "to=mallory") == 1 and "tool.pay" in text,
               "a person is shown all of a call", text)
            s.send({"id": message["id"], "result": {"action": "accept", "content": {"approve": content}}})
            same((s.end(number)["result"]["structuredContent"]["stdout"], calls("pay")), (wanted, 1), "and says yes or no")
            s.close()
    with mcp.Server("--tools", capabilities=can) as s:
        r = s.call("execute_python", code=TRY + "attempt('pay', x='y' * 9000 + 'to=mallory')")["structuredContent"]
        ok("too long to be shown whole" in r["stdout"] and calls("pay") == 1, "what cannot be shown whole is not asked, and not called", r)
        s.close()
    with mcp.Server("--tools", era="new", capabilities=can) as s:
        r = s.call("execute_python", code=TRY + "attempt('next')\nattempt('pay')")
        ok(r["structuredContent"]["status"] == "denied" and calls("pay") == 1 and calls() == 1,
           "where a yes comes with the same call once more, nobody is asked", r)
        s.close()


def served():
    forget()
    path = os.path.join(tap.work, "keys")
    with open(path, "w") as f:
        f.write("".join("%s %s\n" % k for k in KEYS))
    os.chmod(path, 0o600)
    with serving.Server("--tools", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        def run(code, key=KEYS[0][1], **more):
            return s.post("/execute", {"code": code, "language": "python", **more}, X_API_Key=key).json()

        same(run(TRY + "attempt('own')\nattempt('next')")["stdout"], "own 1\nnext 1\n", "serve: a key's tools")
        got = run(TRY + "attempt('own')\nattempt('next')", KEYS[1][1])["stdout"]
        ok(got.startswith("own unknown there is no tool \"own\"; there is: next, pay\n") and got.endswith("next 2\n"),
           "another key has others", got)
        got = run("import assay\nprint(assay.call('pay')['nth'])")
        ok(got["status"] == "denied" and calls("pay") == 0, "who has a key says no yes", got)
        again = assay(*told(got, "serve"))
        ok(again.code == 0 and calls("pay") == 1, "as it says, it goes on", again)
        box = s.post("/sandboxes", {}).json()
        got = s.ask("POST", "/execute", {"code": "import assay\nassay.call('pay')"}, X_API_Key=None, E2b_Sandbox_Id=box["sandboxID"],
                    X_Access_Token=box["envdAccessToken"]).body.splitlines()
        error = next(e for e in map(json.loads, got) if e["type"] == "error")
        ok((error["name"], calls("pay")) == ("Refused", 1) and "waits for a person's yes: pay(" in error["value"] and
           " --from end --tools --allow tool.pay" in error["traceback"], "e2b: a cell's error says all of that", error)
        c = s.post("/contexts", {"language": "python"}).json()["context"]
        same(run("import assay\nx = assay.call('own')\nprint(x['nth'])", context=c)["stdout"], "2\n", "in a context")
        same((run("print(x['nth'])", context=c)["stdout"], calls("own")), ("2\n", 2), "which is made again without a call")
        s.end(15)


def batch():
    forget()
    program = "import assay\nn = int(input())\nprint(assay.call('next', {'n': n})['was']['n'] * 2)\n"
    paying = program + "assay.call('pay', {'n': n})\n"
    def task(name, n):
        return {"id": name, "prompt": "Double %s." % name, "lang": "python", "stdin": str(n), "expect": {"equals": str(2 * n)}}
    write("t.jsonl", "".join(json.dumps(task("t%d" % i, i)) + "\n" for i in range(4)))
    lines = lambda code: "".join(json.dumps({"stage": "code", "reply": "```python\n%s```" % code}) + "\n" for _ in range(9))
    how = ["t.jsonl", "--tools", "--max-attempts", "1", "--role-model", "plan=off", "--role-model", "judge=off", "--json"]
    got = assay("batch", *how, "--script", write("s.jsonl", lines(program)), "--out", "r.jsonl", "-j", "2")
    same((got.code, got.json()["success"], calls()), (0, 4, 4), "a batch: each task calls its own")
    got = assay("batch", *how, "--script", "s.jsonl", "--out", "r.jsonl", "--resume")
    same((got.code, got.json()["skipped"], calls()), (0, 4, 4), "a resume takes over, and calls nothing")
    config = os.path.join(tap.work, "home/config/assay/config.ini")
    with open(config, "a") as f:
        f.write("[tools]\ncalls = 50\n")
    got = assay("batch", *how, "--script", "s.jsonl", "--out", "r.jsonl", "--resume")
    same((got.code, got.json()["skipped"], calls()), (0, 0, 8), "with other tools all is asked and called again, and nothing served")
    forget()
    got = assay("batch", *how, "--script", write("p.jsonl", lines(paying)), "--out", "p.out")
    rows = [json.loads(line) for line in open(os.path.join(tap.work, "p.out"))]
    same((got.code, [r["status"] for r in rows], calls("pay"), calls()), (9, ["denied"] * 4, 0, 4), "what wants a yes ends its task")
    ok("waits for a person's yes" in rows[0]["error"], "and says so", rows[0])
    got = assay("replay", rows[2]["run"], "--from", "end", "--tools", "--allow", "tool.pay", "--script", "p.jsonl")
    ok(got.code == 0 and (calls("pay"), calls()) == (1, 4), "which goes on later", got)
    got = assay("batch", *how, "--script", "p.jsonl", "--out", "q.out", "--allow", "tool.pay")
    same((got.code, got.json()["success"], calls("pay")), (0, 4, 5), "with a yes beforehand none does")


def main():
    tool.make(tool.COUNTS, CONFIG)
    stdio()
    asked()
    served()
    batch()


tap.main(main)
