#!/usr/bin/python3
# Commands of E2B's wire beside each other and beside cells and clients: nobody's files are lost.
import http.client
import json
import os
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from sandboxes import Box, Command, STREAM
from tap import ok, same


def read(b, *paths):
    got = [b.ask("GET", "/files?path=" + p) for p in paths]
    return [a.body.decode() if a.status == 200 else a.status for a in got]


def beside_clients(b):
    b.write("old", b"old")
    b.write("gone", b"old")
    c = Command(b, "echo up; read x; echo mine >mine; rm gone; echo theirs >both", stdin=True).until(b"up\n")
    b.write("new", b"new")
    b.write("old", b"newer")
    b.write("both", b"a client's")
    b.ask("POST", "/filesystem.Filesystem/MakeDir", {"path": "made/deep"})
    c.type(b"go\n")
    c.wait()
    same(read(b, "mine", "gone", "new", "old", "both"), ["mine\n", 404, "new", "newer", "a client's"], "what a client writes while a command runs stays")
    same([e["name"] for e in b.ask("POST", "/filesystem.Filesystem/ListDir", {"path": "made"}).json()["entries"]], ["deep"], "and what it makes")
    ok(b"both is not kept" in c.err and b"mine" not in c.err, "what is not kept for that is told", c.err)


def beside_each_other(b):
    one, two = (Command(b, "echo up; read x; mkdir %s; echo %s >%s/f; rm -f removed-by-%s" % (n, n, n, n), stdin=True) for n in ("one", "two"))
    for c in (one, two):
        c.until(b"up\n")
    for c in (one, two):
        c.type(b"go\n")
        c.wait()
    same(read(b, "one/f", "two/f"), ["one\n", "two\n"], "two commands at once keep each other's files")


def beside_a_cell(b):
    c = Command(b, "echo up; read x; echo of a command >by-command", stdin=True).until(b"up\n")
    b.cell("open('/home/user/by-cell', 'w').write('of a cell')")
    c.type(b"go\n")
    c.wait()
    same(read(b, "by-cell", "by-command"), ["of a cell", "of a command\n"], "a command that goes on beside a cell")
    same([r["text"] for r in b.results("open('/home/user/by-command').read() + open('/home/user/by-cell').read()")], ["of a command\\nof a cell"],
         "and the next cell has both")


def during_a_cell(b):
    conn, answer = b.busy("/execute", b'{"code": "print(1, flush=True)\\nopen(\\"/home/user/first\\", \\"w\\").write(\\"1\\")\\nimport time\\ntime.sleep(1)"}', "application/json")
    while b'"stdout"' not in answer.readline():
        pass
    b.write("while-it-ran", b"new")
    answer.read()
    conn.close()
    same(read(b, "first", "while-it-ran"), ["1", "new"], "a cell keeps what it wrote, though a client wrote while it ran")
    same([r["text"] for r in b.results("[open('/home/user/' + n).read() for n in ('first', 'while-it-ran')]")], ["['1', 'new']"], "and its context has both")


def handed(b):
    """A program that a command hands to an interpreter is screened by the rules of its own language."""
    b.write("app/main.py", b"import sys\nprint('main', sys.argv[1:])\n")
    b.write("bad.py", b"x = 1\nimport socket\n")
    same([b.command(c) for c in ("python3 app/main.py a", "cd app && python3 main.py a | head -1", "python3 -c 'print(1)'")],
         [("main ['a']\n", 0)] * 2 + [("1\n", 0)], "an interpreter is given a file of the sandbox, or a text")
    c = Command(b, "python3 bad.py").wait()
    ok(c.end["exitCode"] == 126 and b"/home/user/bad.py was refused: line 2" in c.err and b"[py.import.network] (--profile off" in c.err,
       "what that does is refused with rule and remedy", c.err)
    c = Command(b, "cp bad.py app/main.py; python3 app/main.py").wait()
    ok(c.end["exitCode"] == 126 and b"[sh.interpreter]" in c.err and b"--allow RULE" in c.err, "what cannot be seen beforehand is refused as before", c.err)
    c = Command(b, "pip install x").wait()
    ok(c.end["exitCode"] == 126 and b"[sh.process]" in c.err and b"--profile off" in c.err, "what is denied says what would let it run", c.err)
    same(b.command("python3 app/main.py", envs={"PATH": "/home/user"})[1], 126, "so is a name that may stand for anything")
    same([l["text"] for l in b.cell("!python3 app/main.py b") if l["type"] == "stdout"], ["main ['b']\n"], "a line of a cell does the same")
    same([l["name"] for l in b.cell("!python3 bad.py") if l["type"] == "error"], ["Refused"], "and is screened so")
    b.cell("import os\nos.makedirs('/tmp/other/app')\nos.chdir('/tmp/other')\nopen('app/main.py', 'w').write('print(7)')")
    told = [l["text"] for l in b.cell("!python3 app/main.py") if l["type"] in ("stdout", "stderr")]
    ok(len(told) == 1 and "another folder" in told[0], "elsewhere it does not run what was not seen", told)


# Each leaves EVIL in what is told, where it comes to run what nobody has seen.
EVIL = "python3 /home/user/evil.py"
HIDDEN = (("get_ipython().system(%r)" % EVIL, {}), ("print(get_ipython().getoutput(%r))" % EVIL, {}), ("get_ipython().run_line_magic('pip', '; %s')" % EVIL, {}),
          ("!cat <<X\n!%s\n!X" % EVIL, {}), ("!python3 ok.py", {"PYTHONPATH": "/home/user"}), ("!python3 ok.py", {"HOME": "/home/user/h"}),
          ("!node ok.js", {"NODE_OPTIONS": "--require /home/user/evil.js"}), ("!ls -d /tmp", {"BASH_ENV": "/home/user/evil.sh"}),
          ("%%bash\nls -d /tmp", {"BASH_ENV": "$(" + EVIL + " >&2)"}), ("!ls -d /tmp", {"BASH_FUNC_ls%%": "() { " + EVIL + "; }"}),
          ("%env NODE_OPTIONS=--require /home/user/evil.js", {}), ("%env BASH_ENV=/home/user/evil.sh", {}), ("!node ok.js", {}), ("!ls -d /tmp", {}),
          ("!python3 ok.py", {}), ("open('ok.py', 'w').write('print(\"EVIL\")')\nget_ipython().system('python3 ok.py')", {}),
          ("!echo known\nclass Text(str):\n    __eq__ = lambda *_: True\n    __hash__ = lambda _: hash('echo known')\nget_ipython().system(Text(%r))" % EVIL, {}),
          ("import inspect\ninspect.getclosurevars(get_ipython().system)", {}), ("import inspect\ng = inspect.getattr_static\ng(get_ipython().system, 'x')", {}),
          ("!python3 slow.py", {}), ("open('slow.py', 'w').write('print(\"EVIL\")')\nget_ipython().system('python3 slow.py')", {}),
          ("type = lambda _: str\nget_ipython().system(%r)" % EVIL, {}))


def hidden(s):
    """What a cell hands to a shell was seen before, and with what it begins."""
    b = Box(s)
    for path, data in (("ok.py", b"print('ok')"), ("ok.js", b"console.log('ok')"), ("evil.py", b"import socket\nprint('EVIL')"), ("evil.js", b"console.log('EVIL')"),
                       ("evil.sh", b"echo EVIL\n"), ("sitecustomize.py", b"print('EVIL')"), ("h/.local/lib/python3.11/site-packages/usercustomize.py", b"print('EVIL')"),
                       ("slow.py", b"import time\ntime.sleep(1000)\n")):
        b.write(path, data)
    for code, env in HIDDEN:
        got = b.cell(code, env_vars=env)
        ok("EVIL" not in json.dumps([l for l in got if l["type"] in ("stdout", "stderr")]), "nothing that nobody saw: %r %r" % (code[:60], env), got)
    same(["".join(l["text"] for l in b.cell(c, **more) if l["type"] == "stdout") for c, more in (
        ("!echo a {x}", {}), ("def f():\n    !echo in f\nf()", {}), ("f()", {}), ("x = !echo a; echo b\nprint(x)", {}), ("%%bash\nfor i in 1 2; do echo $i; done", {}),
        ("!python3 /home/user/ok.py", {}), ("!echo $TOKEN", {"env_vars": {"TOKEN": "t"}}), ("%env NAME=n\n!echo $NAME", {}))],
         ["a {x}\n", "in f\n", "in f\n", "['a', 'b']\n", "1\n2\n", "ok\n", "t\n", "n\n"], "what was seen runs, then and later, with usual variables")
    cells = ["get_ipython().system(%r)" % "cat evil.py", "!cat evil.py\nopen('evil.py', 'a').write('x = 1')", "!cat evil.py"]
    got = s.post("/run_jupyter", {"cells": cells, "files": {"evil.py": "RVZJTA=="}}).json()["cells"]
    same(["EVIL" in c["stdout"] for c in got], [False, True, True], "in SandboxFusion's notebooks, too")


def shown_before(s):
    """A cell that is ended has shown what it has shown."""
    b = Box(s)
    got = b.cell("display('one')\ndisplay('two')\nimport time\ntime.sleep(100)")
    same([(l.get("text"), l.get("name")) for l in got if l["type"] in ("result", "error")], [("one", None), ("two", None), (None, "TimeoutError")],
         "results of a cell whose time is over")
    same([b.results(c) for c in ("display(1)", "1 + 1", "None")], [[{"type": "result", "text": "1", "is_main_result": False}],
                                                                [{"type": "result", "text": "2", "is_main_result": True}], []], "and of those after it")


def unchanged(b):
    b.write("same", b"1")
    b.cell("1")
    b.cell("open('/home/user/same').read()")
    same(read(b, "same"), ["1"], "a cell that changes nothing leaves what is there")
    b.cell("import os\nos.mkdir('/home/user/empty')\nos.chmod('/tmp/user/same', 0o755)")
    entries = {e["name"]: e["permissions"] for e in b.ask("POST", "/filesystem.Filesystem/ListDir", {"path": "."}).json()["entries"]}
    same((entries.get("same"), "empty" in entries), ("-rwxr-xr-x", True), "a folder and a mode are changes")
    b.cell("os.rmdir('/tmp/user/empty')\nos.remove('/tmp/user/same')")
    same(read(b, "empty", "same"), [404, 404], "and so is what is removed")


def killed(b):
    """As Go says what a signal ended."""
    for name, status in (("SIGKILL", "signal: killed"), ("SIGTERM", "signal: terminated")):
        c = Command(b, "echo up; sleep 1000").until(b"up\n")
        same((c.signal("SIGUSR1"), c.signal(name)), (501, 200), "one of two signals")
        c.wait()
        same(c.end, {"exitCode": -1, "exited": False, "status": status, "error": status}, "killed: " + status)


def deadline(b):
    """A client says how long it waits: what there is by then is kept, and it is told so."""
    c = Command(b, "echo up; echo made >before-the-end; read x", headers={"Connect-Timeout-Ms": "1000"}, stdin=True).until(b"up\n")
    follower = b.busy("/process.Process/Connect", *connect(c.pid))
    c.wait()
    same((c.end, c.problem["code"]), (None, "deadline_exceeded"), "its time is over")
    same(read(b, "before-the-end"), ["made\n"], "the files are there")
    ok(b'"signal: killed"' in follower[1].read(), "who follows it is told that it was killed")
    follower[0].close()
    c = Command(b, "echo up; sleep 1000", headers={"Connect-Timeout-Ms": "700"}).wait()
    same((c.out, c.problem["code"]), (b"up\n", "deadline_exceeded"), "without input, too")
    c = Command(b, "exit 3", headers={"Connect-Timeout-Ms": "60000"}).wait()
    same((c.end["exitCode"], c.problem), (3, None), "one that ends in time")


def connect(pid, **more):
    message = json.dumps({"process": {"pid": pid}}).encode()
    return b"\0" + struct.pack(">I", len(message)) + message, STREAM


def lasting(s):
    """No usual time ends what its client waits for; but not every worker waits with it."""
    b = Box(s)
    many = [Command(b, "echo up; sleep 3; echo on; read x; exit 5", stdin=True, headers={"Keepalive-Ping-Interval": "1"}).until(b"up\n")
            for _ in range(3)]
    many[2].wait()
    same((many[2].end["exitCode"], many[2].out), (124, b"up\n"), "one that nothing is left for ends with the time of any program")
    for c in many[:2]:
        while not c.pings or b"on" not in c.out:
            c.next()
        c.type(b"go\n")
        c.wait()
    same([c.end["exitCode"] for c in many[:2]], [5, 5], "the others go on, and say that they are there")
    c = Command(b, "read x", stdin=True)
    b.s.ask("DELETE", "/sandboxes/" + b.id)
    try:
        c.wait()
        ok(False, "the sandbox's end is theirs", c.end)
    except (ConnectionError, http.client.IncompleteRead, struct.error):
        ok(True, "the sandbox's end is theirs")


def main():
    with serving.Server("--parallel", "4") as s:
        b = Box(s)
        beside_clients(b)
        beside_each_other(b)
        beside_a_cell(b)
        during_a_cell(b)
        handed(b)
        unchanged(b)
        killed(b)
        deadline(b)
    with serving.Server("--parallel", "4", "--timeout", "2", key=s.key) as s:
        lasting(s)
        shown_before(s)
        hidden(s)


tap.main(main)
