#!/usr/bin/python3
# --tools in a context: what a cell called is recorded with it, and answered from there where the state is made
# again, in the next call, after an undo, for /save and in a replay. Nothing is called twice: each call of
# the tools here leaves a line in a file.
import json
import os
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import tap
import tool
from tap import assay, ok, same, write
from tool import calls, forget

CONFIG = """[tools]
calls = 5
[tool next]
command = %(work)s/tool next
description = Counts.
action = allow
[tool pay]
command = %(work)s/tool pay
"""


number = 0


def cell(context, code, *args, ending=".py", tools=True, **more):
    global number
    number += 1
    return assay("exec", "--context", context, *(["--tools"] if tools else []), *args, write("c%d%s" % (number, ending), code), **more)


def decisions(run="last"):
    return [(e["data"]["tool"], e["data"]["decision"]) for e in assay("log", "export", run).json().get("events", [])
            if e["stage"] == "tool" and e["phase"] == "done"]


def replayed(what, before):
    for tier in ("exec", "pipeline"):
        got = assay("replay", "last", "--tier", tier)
        ok(got.code == 0 and "identical" in got.out, "%s: replayed (%s)" % (what, tier), got)
    same(calls(), before, what + ": and nothing was called for that")


def scripts():
    forget()
    got = cell("a", "import assay\nx = assay.call('next', {'a': 1})\nprint(x['nth'])\nassay.call('next')")
    same((got.code, got.out, calls()), (0, "1\n{'nth': 2, 'was': {}}\n", 2), "the first cell calls")
    replayed("the first", 2)
    got = cell("a", "print(x['was'], assay.call('next', {'b': [2, None]})['nth'])")
    same((got.code, got.out, calls()), (0, "{'a': 1} 3\n", 3), "the next one has its results, without calling again")
    same(decisions(), [("next", "allowed")], "its record has its own call alone")
    replayed("the next", 3)
    got = cell("a", "print(x['nth'])", tools=False)
    same((got.code, got.out, calls()), (0, "1\n", 3), "without --tools they are answered all the same")
    replayed("without --tools", 3)
    got = cell("a", "assay.call('next')", tools=False)
    ok(got.code == 1 and "this program can call nothing (--tools)" in got.err and calls() == 3, "and nothing else is", got)
    got = cell("a", "import os\nprint(sorted(os.listdir('/work')), x['nth'] + 1)", "--json")
    same((got.json()["cells"][0]["stdout"], calls()), ("['assay.py'] 2\n", 3), "a fourth cell, of what it is made")
    got = cell("a", "y = assay.call('pay', {'x': 9})\n", "--approve", "never")
    ok(got.code == 1 and calls("pay") == 0, "what is not approved is not called", got)
    got = cell("a", "y = assay.call('pay', {'x': 9})\nprint(y['nth'])", "--allow", "tool.pay")
    same((got.code, got.out, calls("pay"), calls()), (0, "1\n", 1, 3), "beforehand it is")
    got = cell("a", "print(y['nth'], x['nth'])", "--approve", "never")
    same((got.code, got.out, calls("pay"), calls()), (0, "1 1\n", 1, 3), "and served where it would not be now")
    got = cell("a", "for i in range(9):\n    assay.call('next')")
    ok(got.code == 1 and "no more calls of tools" in got.err and calls() == 8, "what cells before it called is not counted", got)


def goes_on():
    forget()
    got = cell("w", "import assay\nassay.call('next')\ny = assay.call('pay', {'x': 1})\nprint(y['nth'])")
    ok(got.code == 7 and "waits for a person's yes" in got.err and calls("pay") == 0, "a cell that waits for a yes", got)
    got = assay("replay", "last", "--from", "end", "--tools", "--allow", "tool.pay")
    same((got.code, calls("pay"), calls()), (0, 1, 1), "goes on when it has one")
    got = cell("w", "print(y['was'])")
    same((got.code, got.out, calls("pay"), calls()), (0, "{'x': 1}\n", 1, 1), "and is a cell of the context then")
    replayed("after it", 1)


def javascript():
    forget()
    got = cell("j", "const assay = require('./assay.js');\nlet x = assay.call('next', { a: 1 });\nconsole.log(x.nth);", ending=".js")
    same((got.code, got.out, calls()), (0, "1\n", 1), "JavaScript: the first cell")
    got = cell("j", "console.log(x.was.a, assay.call('next').nth)", ending=".js")
    same((got.code, got.out, calls()), (0, "1 2\n", 2), "JavaScript: the next")
    replayed("JavaScript", 2)
    got = cell("b", "echo 1", ending=".sh")
    ok(got.code == 2 and "JavaScript" in got.err, "bash has none: said", got)


def not_the_same():
    forget()
    got = cell("r", "import assay, os\nfirst = assay.call('next', {'r': os.urandom(3).hex()})\nprint(first['nth'])")
    same((got.code, calls()), (0, 1), "a cell that calls with what it draws")
    got = cell("r", "print(first)")
    ok(got.code == 1 and "cell 1 did not call this when it ran" in got.err and calls() == 1,
       "cannot be made again, which is said, and calls nothing", got)
    got = cell("m", "import assay, os\nfor i in range(2 if 'AGAIN' in os.environ else 1):\n    assay.call('next')\nprint('made')")
    same((got.code, calls()), (0, 2), "a cell that calls once")
    got = cell("m", "print('there', assay.call('next')['nth'])", "--env", "AGAIN=1")
    ok(got.code == 1 and "nothing is called for that" in got.err and calls() == 2, "and not a second time for the cell after it", got)
    got = cell("m", "print('there', assay.call('next')['nth'])")
    same((got.code, got.out, calls()), (0, "there 3\n", 3), "which has its own")
    got = cell("l", "import assay, os\nfor i in range(1 if 'AGAIN' in os.environ else 2):\n    assay.call('next')\nprint('made')")
    got = cell("l", "print(assay.call('next')['nth'])", "--env", "AGAIN=1")
    same((got.code, got.out, calls()), (0, "6\n", 6), "what a cell does not call again is not served to the one after it")


RAW = """import os, struct
def send(text):
    os.write(4, struct.pack('>I', len(text)) + text)
def frame(name, args=b'{}'):
    send(b'{"tool":"%s","arguments":%s}' % (name, args))
def answer():
    head = os.read(3, 4)
    return os.read(3, struct.unpack('>I', head)[0]).decode() if head else 'end'
"""


def forged():
    forget()
    for turn, wanted in [(b'1', "invalid"), (b'2', "invalid"), (b'-1', "invalid"), (b'0', "invalid"), (b'"x"', "invalid"),
                         (b'1e99', "invalid")]:
        got = cell("f%s" % turn.hex(), RAW + "send(b'{\"cell\":%s}')\nprint(answer())" % turn.decode())
        ok(wanted in got.out and "turn" in got.out, "a turn that is forged: %s" % turn, got)
    got = cell("g", RAW + "frame(b'next', b'{\"a\":1}')\nprint(answer())")
    same((got.code, calls()), (0, 1), "a cell that speaks for itself")
    got = cell("g", "frame(b'next', b'{\"a\":2}')\nprint(answer())\nframe(b'next', b'{\"a\":3}')\nprint(answer())")
    same((got.code, calls()), (0, 3), "and another")
    got = cell("g", "for n in (1, 2, 3):\n    frame(b'next', b'{\"a\":%d}' % n)\n    print(answer())")
    same((got.code, calls()), (0, 6), "what earlier cells called is not served to the last")
    got = cell("s", "import assay\nk = 'sk-' + 'proj-' + 'Ab3dEf6hIj9kLm2nOp5q' * 3\nr = assay.call('next', {'k': k})\nprint(r['nth'])")
    got = cell("s", "print(r['nth'] + 1)")
    same((got.code, calls()), (0, 7), "a secret in a call of an earlier cell")
    text = assay("log", "export", "last").out + assay("log", "export", "last~1").out
    ok("sk-proj-" not in text and "cell_0_calls" in text, "which no record has", text)


def many():
    forget()
    got = cell("many", "import assay\nn = 0")
    for i in range(2):
        got = cell("many", "n += assay.call('next')['nth']\nprint(n)\n" + "# %%\nn += 0\n" * 40)
    got = cell("many", "print(n)")
    same((got.code, got.out, calls()), (0, "3\n", 2), "a context of many cells, of which some call")
    replayed("of many", 2)
    got = assay("log", "verify")
    ok(got.code == 0, "the log is whole", got)


def questions():
    forget()
    def reply(code):
        plan = {"question": "What is it?", "needs_code": True, "language": "python", "approach": "call", "checks": []}
        return [json.dumps({"stage": "code", "reply": "```json plan\n%s\n```\n```python\n%s\n```" % (json.dumps(plan), code)}),
                json.dumps({"stage": "judge", "reply": json.dumps({"reason": "fine", "verdict": "pass"})})]
    lines = reply("import assay\nx = assay.call('next', {'a': 1})\nprint('first', x['nth'])")
    script = write("s.jsonl", "\n".join(lines) + "\n")
    got = assay("ask", "--tools", "--script", script, "what is it?")
    same((got.code, got.out, calls()), (0, "first 1\n", 1), "a question")
    out = os.path.join(tap.work, "saved.py")
    got = assay("log", "save", "last", "-o", out)
    ok(got.code == 0 and "gives the same" in got.err and calls() == 1, "its program is saved, and run from nothing without a call", got)
    ok("import assay" in open(out).read(), "as it is", out)


def main():
    tool.make(tool.COUNTS, CONFIG)
    scripts()
    goes_on()
    javascript()
    not_the_same()
    forged()
    many()
    questions()


tap.main(main)
