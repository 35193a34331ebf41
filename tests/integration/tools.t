#!/usr/bin/python3
# --tools: what a program may call while it runs. Commands and MCP servers of the configuration, who says yes,
# the record and its replay without a call, a run that waits for a yes and goes on, and a program that
# attacks the descriptor.
import json
import os
import pty
import re
import signal
import subprocess
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import tap
import tool
from tap import assay, ok, same, until, write
from tool import calls, forget

# What it was asked for goes to a file named for the tool, a line each.
TOOL = """#!/usr/bin/python3
import json, os, sys
name = sys.argv[1]
text = sys.stdin.read()
with open(os.path.join(os.path.dirname(sys.argv[0]), name + ".calls"), "a") as f:
    f.write(text)
a = json.loads(text)
if name == "fds":
    print(json.dumps(len(os.listdir("/proc/self/fd"))))
elif name == "env":
    print(json.dumps(sorted(os.environ)))
elif name == "raw":
    sys.stdout.buffer.write(a["text"].encode() * a.get("times", 1))
elif name == "deaf":
    os.close(0)
    print(json.dumps("heard enough"))
elif name == "left":
    if os.fork() == 0:
        os.setsid() if a.get("away") else None
        import time
        time.sleep(600)
    if a.get("wait"):
        import time
        time.sleep(600)
    print(json.dumps("left one behind"))
elif name == "fails":
    print("no such thing \\x1b[31m", file=sys.stderr)
    sys.exit(3)
else:
    print(json.dumps(sum(v for v in a.values() if isinstance(v, int))))
"""

CONFIG = """[tools]
calls = 30
bytes = 3M

[tool add]
command = %(work)s/tool add
description = Adds the arguments.
arguments = {"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}
action = allow
[tool pay]
command = %(work)s/tool pay
[tool never]
command = %(work)s/tool never
action = deny
[tool fails]
command = %(work)s/tool fails
action = allow
[tool slow]
command = sleep 600
action = allow
timeout = 300ms
[tool sleeps]
command = sleep 600
action = allow
[tool raw]
command = %(work)s/tool raw
action = allow
[tool env]
command = %(work)s/tool env
action = allow
env = MINE
[tool fds]
command = %(work)s/tool fds
action = allow
[tool deaf]
command = %(work)s/tool deaf
action = allow
[tool left]
command = %(work)s/tool left
action = allow
[tool dies]
command = sh -c 'kill -9 $$'
action = allow
[tool bytes]
command = printf '"\\377"'
action = allow
[tool talks]
command = sh -c 'yes'
action = allow
[tool absent]
command = %(work)s/no-such-program
action = allow
"""


def run(code, *args, name="p.py", **more):
    return assay("exec", "--tools", *args, write(name, code), **more)


def events(run="last"):
    got = assay("log", "export", run).json()
    return [e for e in got.get("events", []) if e["stage"] == "tool"]


def decisions():
    return [(e["data"]["tool"], e["data"]["decision"]) for e in events() if e["phase"] == "done"]


def replay(*args):
    return assay("replay", "last", *args)


TRY = """import assay
def attempt(name, **arguments):
    try:
        print(name, assay.call(name, arguments))
    except assay.Error as e:
        print(name, type(e).__name__, e.kind, str(e).encode('ascii', 'backslashreplace').decode())
"""


def off():
    got = assay("exec", write("off.py", "import os\nprint([n for n in range(3, 20) if os.path.exists("
                                        "'/proc/self/fd/%d' % n)], os.path.exists('/work/assay.py'))"))
    same(got.out, "[] False\n", "without --tools: no descriptor, no module")
    got = assay("exec", write("off.py", "import assay"))
    ok(got.code == 1 and "No module named 'assay'" in got.err, "and what imports it fails", got)
    got = assay("exec", "--tools", "--config", write("none.ini", "memory = 100M\n"), write("off.py", "1"))
    ok(got.code == 5 and "names none" in got.err and "[tool NAME]" in got.err, "--tools without one", got)
    for text, wanted in [("[tool a]\naction = allow\n", r":2: \[tool a\] has no command"),
                         ("[tool a]\ncommand = ./x y\n", r":2: \[tool a\] command: .*from / on"),
                         ("[server a]\ncommand = ~/bin/x\n", r":2: \[server a\] command: .*from / on"),
                         ("[tool a]\ncommand = x\naction = maybe\n", r":3: \[tool a\] action: allow, confirm or deny"),
                         ("[tool a]\ncommand = 'x\n", r":2: \[tool a\] command: "),
                         ("[tool a]\ncommand = x\narguments = []\n", r":3: .*JSON Schema"),
                         ("[tool a]\ncommand = x\ntimeout = soon\n", r":3: .* timeout"),
                         ("[tool a]\ncommand = x\nallow = y\n", r":3: .*unknown; known: command, description"),
                         ("[server a]\ncommand = x\naction = allow\n", r":3: .*known: command, allow"),
                         ("[tool a.b]\ncommand = x\n", r":2: .*letters, digits"),
                         ("[tool a]\ncommand = x\n[server a]\ncommand = x\n", r":4: .*of that name"),
                         ("[tool a]\ncommand = x\naction = deny\naction = allow\n", r":4: \[tool a\] action: said on line 3 already"),
                         ("[tool a]\ncommand = x\n[tool b]\ncommand = y\n[tool a]\ncommand = z\n", r":6: \[tool a\] command: said on line 2"),
                         ("[server a]\ncommand = x\ndeny = y\ndeny = z\n", r":4: \[server a\] deny: said on line 3"),
                         ("[tools]\ncalls = 3\ncalls = 300\n", r":3: \[tools\] calls: said on line 2"),
                         ("[tools]\ncals = 3\n", r":2: .*known: calls, bytes, timeout")]:
        got = assay("exec", "--tools", "--config", write("bad.ini", text), write("off.py", "1"))
        ok(got.code == 5 and re.search(wanted, got.err), "said: " + wanted, got)
    got = run("echo hello", name="p.sh")
    ok(got.code == 2 and "JavaScript" in got.err and "bash" in got.err, "of bash: said", got)
    got = assay("ask", "--tools", "--tests", "--script", write("s.jsonl", '{"stage":"code","reply":"x"}\n'), "hello")
    ok(got.code == 2 and "exclude each other" in got.err, "of a pair of programs: said", got)


def commands():
    forget()
    got = run(TRY + """
attempt('add', x=40, y=2)
attempt('never')
attempt('fails')
attempt('slow')
attempt('absent')
attempt('nobody')
attempt('raw', text='{')
attempt('raw', text='[' * 200)
attempt('raw', text='"' + chr(27) + '[2J"')
attempt('raw', text='x' * 1000000, times=9)
attempt('deaf', x='y' * 200000)
attempt('left')
attempt('left', away=1)
attempt('env')
try:
    assay.call('add', [1])
except TypeError as e:
    print(e)
""", "--timeout", "60", MINE="1", OPENAI_API_KEY="sk-nobody-0123456789abcdef0123")
    lines = got.out.splitlines()
    same(lines[:7], ["add 42", "never Denied denied the user's configuration denies this tool",
                     "fails Error failed fails ended with exit code 3: no such thing <1B>[31m",
                     "slow Error timeout slow did not answer in time",
                     "absent Error failed the tool absent: %s/no-such-program: No such file or directory" % tap.work,
                     "nobody Error unknown there is no tool \"nobody\"; there is: add, pay, never, fails, slow, sleeps, raw, "
                     "env, fds, deaf, left, dies, bytes, talks, absent", lines[6]], "results and errors")
    ok("is no JSON" in lines[6] and "is no JSON" in lines[7] and "is no JSON" in lines[8], "what is no JSON", got)
    ok("more than 8 MiB" in lines[9], "what is too much", lines[9:])
    same(lines[10], "deaf heard enough", "a tool that does not read its input")
    same(lines[11], "left left one behind", "a tool that leaves a process")
    same(lines.pop(12), "left left one behind", "and one in a session of its own")
    ok("'MINE'" in lines[12] and "PATH" in lines[12] and "KEY" not in lines[12], "its environment", lines[12])
    same((got.code, lines[13]), (0, "assay.call(name, arguments): a string and a dict"), "and the end")
    left = subprocess.run(["pgrep", "-f", tap.work + "/tool left"], capture_output=True).stdout
    same(left, b"", "what a tool left behind is ended")
    same(decisions()[:4], [("add", "allowed"), ("never", "denied"), ("fails", "allowed"), ("slow", "allowed")],
         "and recorded so")
    first = events()[:2]
    same([e["phase"] for e in first], ["started", "done"], "announced, and done")
    before = calls("add"), calls("raw")
    os.rename(tap.work + "/tool", tap.work + "/gone")
    for tier in ("exec", "pipeline"):
        got = replay("--tier", tier)
        ok(got.code == 0 and "identical" in got.out, "replayed (%s)" % tier, got)
    os.rename(tap.work + "/gone", tap.work + "/tool")
    same((calls("add"), calls("raw")), before, "and nothing was called")
    shown = assay("log", "show", "last")
    ok("call 1: add, allowed" in shown.out and "\x1b" not in shown.out, "shown", shown)


def misbehaving():
    forget()
    got = run(TRY + """
attempt('raw', text='1 2')
attempt('raw', text='1\\n2\\n')
attempt('bytes')
attempt('raw', text='')
attempt('raw', text='{"a":1,"a":2}')
attempt('dies')
attempt('add', x=1)
""", "--timeout", "60")
    lines = got.out.splitlines()
    ok(all("Error failed" in line for line in lines[:6]) and "dies was ended by signal 9" in lines[5], "answers that are none, or two", got)
    same((got.code, lines[6]), (0, "add 1"), "and the next call is made")
    got = run(TRY + "attempt('talks')")
    ok("talks printed more than 8 MiB" in got.out, "one that floods", got)
    config = write("changed.ini", "[tool other]\ncommand = %s/tool add\naction = allow\n" % tap.work)
    run("import assay\nprint(assay.call('add', {'x': 5}))")
    before = calls("add")
    got = assay("replay", "last", "--config", config)
    ok(got.code == 0 and "identical" in got.out and calls("add") == before, "a run whose tools are others now replays", got)
    got = run("import assay\nassay.call('add', {'x': 5})\nassay.call('pay', {'x': 5})")
    got = assay("replay", "last", "--from", "end", "--tools", "--config", config, "--allow", "tool.*")
    ok(got.code == 1 and 'there is no tool "pay"; there is: other' in got.err and calls("pay") == 0, "one that waits, too: the call is refused", got)
    own = "sk-" + "proj-" + "Zz9dEf6hIj9kLm2nOp5q" * 3
    got = run("import assay\nr = assay.call('raw', {'text': '\"' + 'sk-' + 'proj-' + 'Zz9dEf6hIj9kLm2nOp5q' * 3 + '\"'})\nprint(len(r))")
    text = assay("log", "export", "last").out + assay("log", "show", "last", "--stage", "tool:1").out
    ok(got.out == "%d\n" % len(own) and own not in text, "a secret in a result is the program's, and not the record's", got)


def alone():
    ends = os.pipe()
    process = subprocess.run([tap.ASSAY, "exec", "--tools", write("p.py", "import assay\nprint(assay.call('fds'))")],
                             pass_fds=ends, env=tap.environment(), cwd=tap.work, capture_output=True)
    # Its three pipes, and the folder that it lists.
    same(process.stdout, b"4\n", "a tool has none of assay's descriptors, nor of who started that")
    there = lambda: subprocess.run(["pgrep", "-f", tap.work + "/tool left"], capture_output=True).stdout.split()
    for how in ("{'wait': 1}", "{'wait': 1, 'away': 1}"):
        process = subprocess.Popen([tap.ASSAY, "exec", "--tools", write("p.py", "import assay\nassay.call('left', %s)" % how)],
                                   env=tap.environment(), cwd=tap.work)
        seen = until(lambda: len(there()) == 2)
        process.kill()
        process.wait()
        ok(seen and until(lambda: not there()), "a tool ends with an assay that is killed, and so does what it started: " + how, there())


def secrets():
    forget()
    parts = "'sk-' + 'proj-' + 'Ab3dEf6hIj9kLm2nOp5q' * 3"
    got = run("import assay\nk = %s\nprint(assay.call('add', {'k': k, 'x': 4}))\nassay.call('pay', {'k': k, 'x': 3})" % parts)
    same((got.code, decisions()), (7, [("add", "allowed"), ("pay", "waiting")]), "a program with a secret of its own")
    text = assay("log", "export", "last").out + assay("log", "show", "last", "--stage", "tool:1").out
    ok("sk-proj-" not in text, "which the record has not", text)
    got = replay()
    ok(got.code == 0 and "identical" in got.out, "does the same in a replay", got)
    got = replay("--from", "end", "--tools", "--allow", "tool.pay")
    same((got.code, calls("add"), calls("pay")), (0, 1, 1), "and goes on")


def javascript():
    got = run("""const assay = require('./assay.js');
console.log(assay.call('add', { x: 1, y: 2 }));
try { assay.call('never'); } catch (e) { console.log(e.kind, e.message); }
""", name="p.js")
    same((got.code, got.out), (0, "3\ndenied the user's configuration denies this tool\n"), "JavaScript")
    got = replay()
    ok(got.code == 0 and "identical" in got.out, "JavaScript: replayed", got)


def divergence():
    forget()
    got = run("import assay, os\nprint(assay.call('add', {'x': int.from_bytes(os.urandom(4), 'big')}))")
    same((got.code, calls("add")), (0, 1), "a program that draws what it calls with")
    got = replay("--json")
    report = got.json()
    same((got.code, calls("add")), (8, 1), "diverges in a replay, which calls nothing")
    same(report["first_divergence"]["stage"], "tool", "there")
    got = run("import assay, os\nif os.urandom(8)[0] % 256 != 300:\n    assay.call('add', {'x': 1})\n"
              "print(os.urandom(2).hex())")
    same(calls("add"), 2, "another")


PAYING = TRY + """print('first', flush=True)
attempt('add', x=1, y=1)
attempt('pay', x=5)
attempt('add', x=2, y=2)
print('last')
"""


def waiting():
    forget()
    got = run(PAYING)
    same((got.code, got.out), (7, "first\n"), "a call that nobody can be asked about ends the program")
    ok('call 2 waits for a person\'s yes: pay({"x":5})' in got.err, "and says so", got)
    same((calls("add"), calls("pay")), (1, 0), "what was allowed was called, the other not")
    row = assay("log", "list", "--json", "--limit", "1").json()[0]
    same((row["status"], decisions()), ("denied", [("add", "allowed"), ("pay", "waiting")]), "recorded")
    for tier in ("exec", "pipeline"):
        got = replay("--tier", tier)
        ok(got.code == 0 and "identical" in got.out, "replayed (%s)" % tier, got)
    same((calls("add"), calls("pay")), (1, 0), "without a call")
    got = replay("--from", "end")
    ok(got.code == 2 and "--tools goes on there" in got.err, "how it goes on is said", got)
    got = replay("--from", "end", "--tools")
    same((got.code, calls("add"), calls("pay")), (7, 1, 0), "without a yes it waits again")
    got = replay("--from", "end", "--tools", "--allow", "tool.pay")
    same(got.out.splitlines()[:5], ["first", "add 2", "pay 5", "add 4", "last"], "with one it goes on")
    same((got.code, calls("add"), calls("pay")), (0, 2, 1), "and what was called before is not called again")
    on = assay("log", "list", "--json", "--limit", "1").json()[0]
    ok(on["replay_of"] == row["run"], "it is linked", on)
    got = assay("replay", on["run"])
    same((got.code, calls("add"), calls("pay")), (0, 2, 1), "and replays")
    got = assay("replay", on["run"], "--from", "end", "--tools")
    ok(got.code == 2 and "does not" in got.err, "a run that does not wait does not go on", got)
    got = replay("--allow", "tool.pay")
    ok(got.code == 2 and "--from end --tools" in got.err, "--allow of a plain replay", got)
    got = run("import assay, os\nassay.call('add', {'x': os.getpid() * 0 + os.urandom(1)[0]})\nassay.call('pay', {})")
    got = replay("--from", "end", "--tools", "--allow", "tool.pay")
    ok(got.code == 1 and "does not do the same twice" in got.err, "one that does not do the same twice cannot", got)
    same(calls("pay"), 1, "and calls nothing more")


def approvals():
    forget()
    got = run(PAYING, "--approve", "never")
    same((got.code, calls("pay")), (0, 0), "--approve never")
    ok("pay Denied denied it needs a person's yes" in got.out and "add 4" in got.out, "the program is told", got)
    got = run(PAYING, "--allow", "tool.p*")
    same((got.code, calls("pay")), (0, 1), "--allow")
    same(decisions()[1], ("pay", "beforehand"), "is recorded")
    got = run(PAYING, "--approve", "ask")
    ok(got.code == 7 and "call 1 waits" in got.err, "--approve ask", got)
    got = run(TRY + "attempt('never')", "--allow", "tool.*")
    ok("Denied" in got.out, "what is denied stays denied", got)


# Runs it at a terminal; answers: (what is waited for, what is typed).
def at_terminal(args, answers):
    primary, secondary = pty.openpty()
    out = subprocess.PIPE
    process = subprocess.Popen([tap.ASSAY, *args], stdin=secondary, stdout=out, stderr=secondary,
                               env=tap.environment(), cwd=tap.work, start_new_session=True)
    os.close(secondary)
    seen, at = b"", 0
    while True:
        try:
            more = os.read(primary, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
        if answers and answers[0][0] in seen[at:]:
            at = len(seen)
            os.write(primary, answers.pop(0)[1])
    printed = process.stdout.read().decode()
    os.close(primary)
    return process.wait(), printed, seen.decode("utf-8", "replace")


def terminal():
    forget()
    path = write("p.py", PAYING)
    code, out, seen = at_terminal(["exec", "--tools", path], [(b"Make this call?", b"y\n")])
    same((code, out), (0, "first\nadd 2\npay 5\nadd 4\nlast\n"), "a person's yes: all of it, once")
    ok('The program calls the tool pay({"x":5}).' in seen and "[tool.pay]" in seen, "what was asked", seen)
    same((calls("add"), calls("pay")), (2, 1), "each call was made once")
    same(decisions(), [("add", "allowed"), ("pay", "yes"), ("add", "allowed")], "recorded")
    got = replay()
    ok(got.code == 0 and "identical" in got.out, "and replayed", got)
    code, out, seen = at_terminal(["exec", "--tools", path], [(b"Make this call?", b"n\n"), (b"Why not?", b"too much\n")])
    same((code, out.splitlines()[2]), (0, "pay Denied denied the user refused the program: too much"),
         "a no with a reason is the program's answer")
    got = replay()
    ok(got.code == 0 and "identical" in got.out, "and replayed", got)
    code, out, seen = at_terminal(["exec", "--tools", path], [(b"Make this call?", b"n\n"), (b"Why not?", b"\n")])
    same((code, out), (7, "first\n"), "a no without one ends it")
    ok("call 2 was not approved" in seen, "and says so", seen)
    for tier in ("exec", "pipeline"):
        got = replay("--tier", tier)
        ok(got.code == 0 and "identical" in got.out, "replayed (%s)" % tier, got)
    got = replay("--from", "end", "--tools", "--allow", "tool.pay")
    same((got.code, calls("pay")), (2, 1), "what a person said no to does not go on")
    twice = write("q.py", TRY + "attempt('pay', x=1)\nattempt('pay', x=1)\n")
    code, out, seen = at_terminal(["exec", "--tools", twice], [(b"Make this call?", b"y\n"), (b"Make this call?", b"y\n")])
    same((out, seen.count("Make this call?"), calls("pay")), ("pay 1\npay 1\n", 2, 3), "a yes is to one call, not to its like")
    forget()
    drawn = write("drawn.py", "import assay, os\nassay.call('pay', {'x': int.from_bytes(os.urandom(6), 'big')})")
    code, out, seen = at_terminal(["exec", "--tools", drawn], [(b"Make this call?", b"y\n")])
    same((code, calls("pay"), decisions()), (1, 0, [("pay", "diverged")]), "a yes is to the arguments that were shown")
    forget()
    long = write("long.py", TRY + "attempt('pay', note='n' * 40000, z='to mallory')\n")
    code, out, seen = at_terminal(["exec", "--tools", long], [
        (b"Make this call?", b"y\n"), (b"Make this call?", b"e\n"), (b"Make this call?", b"a\n"), (b"Make this call?", b"v\n"), (b"Make this call?", b"y\n")])
    same((code, out, calls("pay")), (0, "pay 0\n", 1), "a long call is not approved before all of it was shown")
    same(seen.count("Not all of it was shown"), 2, "which is said")
    asked = seen.split("Make this call?")[0]
    ok('{"note":"nnn' in asked and 'nnn","z":"to mallory"}).' in asked and re.search(r"\.\.\. 39\d+ of 400\d\d bytes are not shown here", asked),
       "its end is shown at once, and how much is not", asked)
    ok("n" * 40000 in re.sub(r"[\r\n]", "", seen), "and then all of it", len(seen))
    got = run(TRY + "attempt('pay', note='n' * 40000, z='to mallory')\n")
    ok('"z":"to mallory"})' in got.err and "bytes are not shown here" in got.err, "who waits for a yes shows its end, too", got)


SERVER = """#!/usr/bin/python3
import json, sys
how = sys.argv[1]
def say(**m):
    print(json.dumps(dict(jsonrpc="2.0", **m)), flush=True)
if how == "dies":
    sys.stderr.write("no key\\n")
    sys.exit(1)
for line in sys.stdin:
    m = json.loads(line)
    method = m.get("method")
    if method == "initialize":
        print("starting ...", flush=True)
        say(method="notifications/message", params={})
        say(id=7, method="ping")
        say(id="x", method="sampling/createMessage", params={})
        say(id=m["id"], result={"protocolVersion": m["params"]["protocolVersion"], "capabilities": {}})
    elif method == "tools/list":
        page = m.get("params", {}).get("cursor")
        names = ["two", "bad name", "one"] if page else ["one", "text", "picture", "error", "quiet"]
        if how == "lists":
            say(id=m["id"], result={"tools": [{"name": "t%s" % page, "description": "x" * 90000}], "nextCursor": "%sx" % page})
            continue
        if how == "lies":
            say(id=m["id"] + 1, result={"content": [{"type": "text", "text": "said before it was asked"}]})
            say(id=str(m["id"]), result={"tools": [{"name": "forged"}]})
            say(id=m["id"], method="tools/list", result={"tools": [{"name": "forged"}]})
            say(id=None, error={"message": "nobody's"})
            print("[" * 300 + "]" * 300, flush=True)
            print(json.dumps([dict(id=m["id"], result={"tools": [{"name": "forged"}]})]), flush=True)
        say(id=m["id"], result=dict({"tools": [{"name": n, "description": "Tool " + n, "inputSchema":
            {"type": "object"}} for n in names]}, **({} if page else {"nextCursor": "2"})))
    elif method == "tools/call":
        name = m["params"]["name"]
        if how == "floods":
            while True:
                say(method="notifications/message", params={"data": "x" * 1000})
        if name == "quiet":
            continue
        content = [{"type": "text", "text": name}, {"type": "text", "text": "more"}]
        if name == "picture":
            content = [{"type": "image", "data": "AA==", "mimeType": "image/png"}]
        result = {"content": content, "isError": name == "error"}
        if name in ("one", "two"):
            result["structuredContent"] = {"name": name, "arguments": m["params"]["arguments"]}
        say(id=m["id"], result=result)
"""


def servers():
    server = write("server", SERVER, 0o755)
    config = write("servers.ini", "[tools]\ntimeout = 20\n[server s]\ncommand = %s good\nallow = one, te*, pic*, err*\n"
                   "deny = two, picture\n[server q]\ncommand = %s good\nallow = *\ntimeout = 500ms\n[server d]\ncommand = %s dies\n"
                   "allow = *\n[server f]\ncommand = %s floods\nallow = *\n[server l]\ncommand = %s lists\nallow = *\n[server w]\ncommand = %s lies\nallow = *\n[server own]\ncommand = %s mcp\nallow = execute_code\n"
                   "env = ASSAY_DB\n" % (server, server, server, server, server, server, tap.ASSAY))
    code = TRY + """
attempt('s.one', a=[1, {'b': None}])
attempt('s.text')
attempt('s.two')
attempt('s.picture')
attempt('s.error')
attempt('s.none')
attempt('s.bad name')
attempt('d.one')
attempt('f.one')
attempt('q.quiet')
attempt('q.text')
attempt('l.t')
attempt('w.forged')
print(assay.call('own.execute_code', {'language': 'python', 'code': 'print(6 * 7)'})['stdout'])
"""
    db = os.path.join(tap.work, "theirs.db")
    got = run(code, "--config", config, "--timeout", "60", "--db", os.path.join(tap.work, "mine.db"), ASSAY_DB=db)
    lines = got.out.splitlines()
    same(lines[:5], ["s.one {'name': 'one', 'arguments': {'a': [1, {'b': None}]}}", "s.text text", "more",
                     "s.two Denied denied the user's configuration denies this tool",
                     "s.picture Denied denied the user's configuration denies this tool"], "an MCP server's tools")
    same(lines[5:7], ["s.error Error failed error", "more"], "a tool's own error")
    ok(lines[7].startswith('s.none Error unknown there is no tool "s.none"') and
       lines[8].startswith("s.bad name Error unknown"), "tools that it has not, or not so", got)
    same(lines[9], "d.one Error failed the server d ended: no key", "a server that dies")
    same(lines[10], "f.one Error failed the server f says much and answers nothing", "one that floods")
    same(lines[11:13], ["q.quiet Error timeout q did not answer in time", "q.text text"], "one that says nothing; again")
    same(lines[14], "l.t Error failed the server l lists more than 1 MiB of tools", "one that lists without end")
    ok(lines[15].startswith('w.forged Error unknown there is no tool "w.forged"'), "one that answers what it was not asked", got)
    same((got.code, lines[-2:]), (0, ["42", ""]), "assay's own server")
    left = subprocess.run(["pgrep", "-f", server], capture_output=True).stdout
    same(left, b"", "no server is left")
    got = assay("replay", "last", "--db", os.path.join(tap.work, "mine.db"))
    ok(got.code == 0 and "identical" in got.out, "replayed without a server", got)
    got = run(code, "--config", config, "--approve", "ask")
    ok(got.code == 7 and "waits" in got.err, "and asked for as any", got)


RAW = """import os, json, struct, time, sys
def frame(tool, **a):
    b = json.dumps({'tool': tool, 'arguments': a}).encode()
    return struct.pack('>I', len(b)) + b
def answer():
    h = b''
    while len(h) < 4:
        m = os.read(3, 4 - len(h))
        if not m:
            return 'end'
        h += m
    n, b = struct.unpack('>I', h)[0], b''
    while len(b) < n:
        m = os.read(3, n - len(b))
        if not m:
            return 'cut'
        b += m
    return json.loads(b)
"""


def attacks():
    forget()
    for name, code, wanted in [
            ("a huge frame", "os.write(4, b'\\xff\\xff\\xff\\xff' + b'x' * 100)\nprint(answer(), answer())",
             "{'error': {'kind': 'invalid', 'message': 'a call has 1 MiB at most'}} end"),
            ("no JSON", "os.write(4, struct.pack('>I', 3) + b'{{{')\nprint(answer()['error']['kind'], answer())",
             "invalid end"),
            ("bytes that are no text", "os.write(4, struct.pack('>I', 4) + b'\"\\xff\\xfe\"')\nprint(answer()['error']['kind'], answer())",
             "invalid end"),
            ("deep JSON", "b = b'{\"tool\":\"add\",\"arguments\":{\"x\":' + b'[' * 5000 + b']' * 5000 + b'}}'\n"
             "os.write(4, struct.pack('>I', len(b)) + b)\nprint(answer()['error']['kind'], answer())", "invalid end"),
            ("no arguments", "b = b'{\"tool\":\"add\"}'\nos.write(4, struct.pack('>I', len(b)) + b)\n"
             "print(answer()['error']['kind'], answer())", "invalid end"),
            ("a name too long", "os.write(4, frame('a' * 300))\nprint(answer()['error']['kind'], answer())", "invalid end"),
            ("a name with another line", "os.write(4, frame('x\\n  call 2: pay, yes'))\nprint(answer()['error']['kind'], answer())", "invalid end"),
            ("a name of a path", "os.write(4, frame('../../bin/sh'))\nprint(answer()['error']['kind'])", "unknown"),
            ("a cut frame", "os.write(4, frame('add', x=1)[:-3])\nprint('cut')", "cut"),
            ("byte by byte", "for b in frame('add', x=1):\n    os.write(4, bytes([b]))\nprint(answer())", "{'result': 1}"),
            ("many in one write", "os.write(4, frame('add', x=1) * 3)\nprint(answer(), answer(), answer())",
             "{'result': 1} {'result': 1} {'result': 1}"),
            ("a closed end", "os.close(3)\nos.write(4, frame('add', x=1))\nimport fcntl, termios\n"
             "while any(fcntl.ioctl(4, termios.FIONREAD, bytes(4))):    # until it is read\n    time.sleep(0.01)\nprint('on')", "on"),
            ("both closed", "os.close(3)\nos.close(4)\nprint('on')", "on"),
            ("thousands of calls", "n = 0\ntry:\n    while n < 5000 and os.write(4, frame('never')):\n        got = answer()\n"
             "        if got == 'end':\n            break\n        last = got\n        n += 1\nexcept BrokenPipeError:\n    pass\n"
             "print(n, last['error']['kind'], answer())", "31 limit end"),
            ("a flood that reads nothing", "import threading\ndef flood():\n    try:\n        while True:\n"
             "            os.write(4, frame('never', x='y' * 500))\n    except OSError:\n        print('ended', flush=True)\n        os._exit(0)\n"
             "flood()", "ended"),
            ("bytes without end", "b = frame('never', x='y' * 900000)\nn = 0\ntry:\n    while n < 50:\n        at = 0\n"
             "        while at < len(b):\n            at += os.write(4, b[at:])\n        got = answer()\n"
             "        if got == 'end':\n            break\n        last = got\n        n += 1\nexcept BrokenPipeError:\n    pass\nprint(n, last['error']['kind'])", "4 limit"),
            ("an answer that is too much for all", "for i in range(9):\n    os.write(4, frame('raw', text='\"' + 'z' * 999990 + '\"'))\n"
             "    last = answer()\n    if 'error' in last:\n        break\nprint(i, last['error']['kind'])", "2 limit"),
            ("a fork that shares the descriptor", "if os.fork() == 0:\n    os.write(4, frame('add', x=1))\n    print(answer(), flush=True)\n"
             "    os._exit(0)\nos.wait()\nos.write(4, frame('add', x=2))\nprint(answer())", "{'result': 1}\n{'result': 2}"),
            ("a fork, by the module", "import assay\nif os.fork() == 0:\n    try:\n        assay.call('add')\n    except assay.Error as e:\n"
             "        print(e.kind, flush=True)\n    os._exit(0)\nos.wait()\nprint(assay.call('add', {'x': 2}))", "invalid\n2"),
            ("its descriptor opened once more", "try:\n    os.open('/proc/self/fd/4', os.O_WRONLY)\n    print('open')\n"
             "except OSError as e:\n    print(type(e).__name__)",
             # Where the program is run by an ordinary user, its pipe is its own, and no other can be reached by that.
             "open" if os.geteuid() else "PermissionError"),
            ("two threads, by the module", "import assay, threading\ngot = []\ndef many(n):\n    for i in range(9):\n"
             "        got.append(assay.call('add', {'x': n, 'y': i}) - n - i)\n"
             "all = [threading.Thread(target=many, args=(n * 100,)) for n in range(3)]\n[t.start() for t in all]\n"
             "[t.join() for t in all]\nprint(len(got), set(got))", "27 {0}"),
            ("after what was denied", "os.write(4, frame('never') + frame('add', x=1))\nprint(answer()['error']['kind'], answer())",
             "denied {'result': 1}"),
            ("a result that is forged", "os.write(4, frame('add', x=1)[:8])\nb = json.dumps({'result': 'forged'}).encode()\ntry:\n"
             "    os.write(3, b)\nexcept OSError:\n    print('no')", "no"),
            ("a call and a result in one", "b = b'{\"tool\":\"add\",\"arguments\":{\"x\":1},\"result\":7,\"decision\":\"yes\"}'\n"
             "os.write(4, struct.pack('>I', len(b)) + b)\nprint(answer())", "{'result': 1}"),
            ("a tool twice", "b = b'{\"tool\":\"never\",\"tool\":\"add\",\"arguments\":{\"x\":1}}'\n"
             "os.write(4, struct.pack('>I', len(b)) + b)\nprint(answer()['error']['kind'], answer())", "invalid end"),
            ("ten thousand levels", "b = b'{\"tool\":\"add\",\"arguments\":{\"x\":' + b'[' * 10000 + b'1' + b']' * 10000 + b'}}'\n"
             "os.write(4, struct.pack('>I', len(b)) + b)\nprint(answer()['error']['kind'], answer())", "invalid end"),
            ("a child that it started", "import subprocess\nprint(subprocess.run([sys.executable, '-c', 'import os; os.write(4, b\"x\")'], pass_fds=(3, 4),"
             " capture_output=True).returncode)", "0"),
            ("a turn where there are no cells", "b = b'{\"cell\":0}'\nb = struct.pack('>I', len(b)) + b\nos.write(4, b + frame('add', x=1) + b)\n"
             "print(answer(), answer()['error']['message'], answer())", "{'result': 1} it is not that cell's turn end"),
            ("another program has it not", "import subprocess, assay\nprint(subprocess.run(['ls', '/proc/self/fd'], "
             "capture_output=True, text=True, close_fds=False).stdout.split()[:4])", "['0', '1', '2', '3']")]:
        got = run(RAW + code, "--timeout", "30")
        ok(got.out.strip() == wanted and got.code == 0, name, got)
    got = run(RAW + "os.write(4, frame('add', x=3))\nos._exit(0)")
    same(got.code, 0, "a call, and its end at once")
    got = run(RAW + "before = os.getpid()\nif os.fork() == 0:\n    os.setsid()\n    while os.getppid() == before:\n        pass\n    while True:\n        os.write(4, frame('pay'))\n"
              "os._exit(0)", "--allow", "tool.pay")
    ok(got.code == 0 and calls("pay") <= 1, "what it left behind calls nothing when its end is known", (got.code, calls("pay")))
    forget()
    got = run(RAW + "os.write(4, frame('left', wait=1) * 9)\ntime.sleep(60)", "--timeout", "4")
    ok(got.code == 1 and "time" in got.err, "its wall time ends a call, too", got)
    same([e["phase"] for e in events()], ["started", "done"], "and of many calls at once, none is made after it")
    process = subprocess.Popen([tap.ASSAY, "exec", "--tools", write("p.py", RAW + "os.write(4, frame('left', wait=1) * 9)\n"
                                "time.sleep(60)")], env=tap.environment(), cwd=tap.work, stderr=subprocess.PIPE)
    there = lambda: subprocess.run(["pgrep", "-f", tap.work + "/tool left"], capture_output=True).stdout
    ok(until(there), "many calls at once, of a tool that hangs")
    process.send_signal(signal.SIGINT)
    process.communicate()
    same([e["phase"] for e in events()].count("started"), 1, "none is made after an interruption")
    same((process.returncode, there()), (130, b""), "which ends all")
    got = run(RAW + "sys.stdout.write('x' * 300000)\nsys.stdout.flush()\nos.write(4, frame('add', x=1))\nprint(answer())")
    ok(got.code == 0 and got.out.endswith("{'result': 1}\n") and len(got.out) > 300000, "much output before a call", got.code)


def memory():
    config = write("plain.ini", "[tool add]\ncommand = %s/tool add\n" % tap.work)
    program = write("p.py", RAW + """b = b'{"tool":"x","arguments":{"a":[' + b'0,' * 500000 + b'0]}}'
b = struct.pack('>I', len(b)) + b
n, got = 0, {}
while got != 'end':
    try:
        at = 0
        while at < len(b):
            at += os.write(4, b[at:])
    except BrokenPipeError:
        break
    got = answer()
    n += got != 'end'
print(n)
""")
    freed = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"  # what a sanitizer keeps of it does not count
    process = subprocess.Popen([tap.ASSAY, "exec", "--tools", "--config", config, "--timeout", "120", program],
                               env=tap.environment(ASAN_OPTIONS=freed), cwd=tap.work, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # Values of 2 bytes each: some 45 MiB of each call, were they kept.
    ok(out == b"17\n" and usage.ru_maxrss < 550 << 10, "calls take no more memory than their bytes", (out, usage))


def questions():
    forget()
    program = "import assay\nprint(assay.call('add', {'x': 40, 'y': 2}))\nprint(assay.call('pay', {'x': 1}))"
    plan = {"question": "What is it?", "needs_code": True, "language": "python", "approach": "call", "checks": []}
    script = write("s.jsonl", json.dumps({"stage": "code", "reply": "```json plan\n%s\n```\n```python\n%s\n```" %
                                          (json.dumps(plan), program)}) + "\n" +
                   json.dumps({"stage": "judge", "reply": json.dumps({"reason": "fine", "verdict": "pass"})}) + "\n")
    got = assay("ask", "--tools", "--warm", "2", "--allow", "tool.pay", "--script", script, "what is it?", "--json")
    result = got.json()
    same((got.code, result["answer"]), (0, "42\n1\n"), "a question whose program calls")
    ok(result["execution"]["isolation"].get("start", "cold") == "cold", "nothing that waited ran it",
       result["execution"]["isolation"])
    got = replay()
    same((got.code, calls("add"), calls("pay")), (0, 1, 1), "replayed")
    asked = assay("log", "show", "last", "--stage", "code:1").out
    ok('{"name":"add","description":"Adds the arguments."' in asked and "assay.call(" in asked, "the prompt has them", asked)
    got = assay("ask", "--script", script, "what is it?", "--max-attempts", "1")
    asked = assay("log", "show", "last", "--stage", "code:1").out
    ok("import assay`" not in asked, "and without --tools it has not", asked)
    got = assay("ask", "--tools", "--script", script, "what is it?")
    ok(got.code == 7 and "waits for a person's yes" in got.err, "a question that waits", got)
    same((calls("add"), calls("pay")), (2, 1), "what came before was called")
    judge = write("judge.jsonl", open(script).read().splitlines()[1] + "\n")
    got = replay("--from", "end", "--tools", "--allow", "tool.pay", "--script", judge)
    ok(got.code == 0 and "success" in got.out, "goes on", got)
    same((calls("add"), calls("pay")), (2, 2), "with the call that waited")


def main():
    tool.make(TOOL, CONFIG)
    off()
    commands()
    misbehaving()
    alone()
    secrets()
    javascript()
    divergence()
    waiting()
    approvals()
    terminal()
    servers()
    attacks()
    memory()
    questions()


tap.main(main)
