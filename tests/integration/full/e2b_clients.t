#!/usr/bin/python3
# E2B's clients from npm, unmodified, against assay serve: contexts that keep variables, live
# output, results with figures and tables, errors, files, commands, lines of a shell, and ends.
import base64
import os
import re
import subprocess
import sys
sys.dont_write_bytecode = True
import npm_clients
import serving
import tap
from readme import home, typed
from serving import Server
from tap import ok, same

HERE = os.path.join(tap.TOP, "tests/integration/e2b-clients")
PLACE = os.path.join(tap.TOP, "build/npm-e2b")
LAST = os.path.join(PLACE, "node_modules/@e2b/code-interpreter/package.json")
PNG = b"\x89PNG\r\n"


def contexts(g):
    same((g["value"]["text"], g["value"]["logs"]["stdout"], g["value"]["count"]), ("21", [], 1), "a value is a result, and not printed")
    same((g["kept"]["logs"]["stdout"], g["kept"]["results"]), (["42\n"], []), "the next cell has the variables")
    same((g["apart"]["text"], g["apart kept"]["text"]), ("7", "42"), "a context of one's own")
    same((g["not shared"]["error"]["name"], g["contexts"]), ("NameError", 3), "is apart from the others")
    same((g["restarted"]["error"]["value"], g["removed"]["thrown"]), ("name 'y' is not defined", "NotFoundError"), "restarted, removed")
    same(g["live"]["lines"], ["0\n", "1\n", "2\n", "e\n"], "stdout and stderr, as they come")
    ok(g["live"]["apart"] > 500, "and not at the end", g["live"])
    same("".join(g["characters"]["logs"]["stdout"]), "\u00e4\u20ac\U0001f600", "characters that come in pieces are told whole")


def charts(c):
    same([x["type"] for x in c], ["line", "bar", "bar", "pie", "box_and_whisker", "scatter", "line", "line", "superchart", "unknown"], "figures are data")
    line = c[0]
    same((line["title"], line["x_label"], line["x_unit"], line["y_label"], line["x_scale"], line["elements"]),
         ("T", "Time (s)", "s", None, "linear", [{"label": "l", "points": [[1, 3], [2, 4]]}]), "a line, its points and units")
    bars = [{"label": "a", "value": 1, "group": "Group 0"}, {"label": "b", "value": 2, "group": "Group 0"}]
    same((c[1]["elements"], c[2]["elements"], c[2]["x_label"], c[2]["x_unit"]), (bars, bars, "y [m]", "m"), "bars, and bars that lie")
    same([(e["label"], e["angle"], e["radius"]) for e in c[3]["elements"]], [("x", 324, 1), ("y", 36, 1)], "a pie")
    same(c[4]["elements"], [{"label": "A", "min": 1, "first_quartile": 1.75, "median": 2.5, "third_quartile": 4.5, "max": 4.5, "outliers": [9]}], "a box")
    same((c[5]["elements"], c[6]["x_scale"], c[6]["y_scale"], c[7]["x_scale"], c[7]["elements"][0]["points"]),
         ([{"label": "s", "points": [[1, 2]]}], "categorical", "log", "datetime", [["2023-09-01", 1]]), "points and scales")
    same((c[8]["title"], [e["type"] for e in c[8]["elements"]]), ("S", ["line", "scatter"]), "several in one")


def results(g):
    if "No module" in str(g["figure"].get("error")):
        tap.diag("matplotlib or pandas is not installed")
    else:
        figures = [r["png"] for r in g["figure"]["results"]]
        ok(len(figures) == 1 and base64.b64decode(figures[0]).startswith(PNG), "a figure is a picture", g["figure"])
        same(len([r for r in g["two figures"]["results"] if r.get("png")]), 3, "each that is shown is one, and what is open at the end")
        charts(g["charts"])
        same(g["gaps"], {"a": [1, None]}, "what is no number is no value, and loses no result")
        table = g["table"]["results"][0]
        ok("<table" in table["html"] and table["text"].startswith("   a  b"), "a table is HTML and text", table)
    same([(r.get("html"), r.get("markdown")) for r in g["forms"]["results"]], [("<b>1</b>", None), (None, "*2*"), (None, None)],
         "display, as notebooks have it")
    same((g["forms"]["text"], g["none"]["results"]), ("last", []), "the last value is the main one; None is none")


def errors(g):
    e = g["error"]["error"]
    same((e["name"], e["value"]), ("ZeroDivisionError", "division by zero"), "an error: name and value")
    ok(e["traceback"].startswith("-" * 75 + "\nZeroDivisionError") and "line 3\n" in e["traceback"] and
       "----> 2     return 1 / a" in e["traceback"] and e["traceback"].endswith("ZeroDivisionError: division by zero") and
       "begin" not in e["traceback"] and "assay" not in e["traceback"], "and its traceback, of the cell alone", e["traceback"])
    same(g["error"]["logs"], {"stdout": [], "stderr": []}, "which is not in the output")
    same(g["after error"]["text"], "20", "what was there before it stays")
    same((g["own error"]["error"]["name"], g["own error"]["error"]["value"]), ("FinalAnswer", "gASVAgAAAAAAAABLAS4="), "an error that carries an answer")
    same((g["syntax"]["error"]["name"], g["exit"]["error"]["value"]), ("SyntaxError", "3"), "a syntax error, an exit")
    same((g["both"]["logs"]["stderr"], g["both"]["error"]["value"]), (["said\n"], "'k'"), "stderr is told beside it")
    ok("py.import.network" in g["refused"]["error"]["value"], "what is refused says by which rule", g["refused"])
    ok("sh.network" in g["refused line"]["error"]["value"], "so do lines of a shell", g["refused line"])
    same(("".join(g["shell"]["logs"]["stdout"]), g["shell"]["logs"]["stderr"], g["shell"]["text"]), ("hi\n", ["no\n"], "['a', 'b']"), "!command")
    same(g["shell text"]["logs"]["stdout"], ["\n!echo no\n\n"], "none within a string")
    same((g["indented"]["logs"]["stdout"], g["indented"]["text"], g["file written"]), (["in\n"], "/", "one\ntwo"), "a cell that is indented, one that is a file")
    ok("Wall time" in "".join(g["timed"]["logs"]["stdout"]) and g["timed refused"]["error"]["name"] == "Refused", "%time, of what is screened", g["timed"])
    same((g["magic"]["text"], g["cell"]["logs"]["stdout"]), ("/tmp", ["42\n"]), "%magic, %%bash")
    same((g["env"]["text"], g["env gone"]["results"]), ("('bar', 'now')", []), "variables of the sandbox, and of one call")
    same((g["javascript"]["logs"]["stdout"], g["javascript kept"]["logs"]["stdout"], g["bash"]["logs"]["stdout"]), (["6\n"], ["10\n"], ["2\n"]),
         "other languages")
    same((g["javascript value"]["text"], g["javascript value"]["logs"]["stdout"], g["javascript none"]["results"], g["javascript none"]["logs"]["stdout"]),
         ("[ 5, 'bar', 'now' ]", [], [], ["1\n"]), "their values are results, too, and they have the variables")
    same(("".join(g["here"]["logs"]["stdout"]), g["javascript here"]["text"]), ("/home/user /home/user\n/home/user\n", "/home/user"), "the home is where it is said to be")
    same((g["javascript elsewhere"]["text"], "".join(g["bash env"]["logs"]["stdout"])), ("/tmp/else where", "bar now\n/home/user\n"), "and their folders")
    ok("400" in g["cobol"]["message"], "one that is not here", g["cobol"])


def files(g):
    same(g["write"]["path"], "/home/user/data/a.csv", "write")
    same(g["program reads"]["text"], "n\\n1\\n2\\n", "a program reads a file by its path")
    same(g["read"], "made", "what a program wrote is there")
    paths = [e[0] for e in g["list"]]
    ok("/home/user/empty" in paths and "/home/user/apart/here" in paths and "/home/user/data/a.csv" not in paths,
       "with its folders, and without what it removed", paths)
    same([f["name"] for f in g["many"]], ["1", "2"], "several at once")
    same((g["bytes"], g["octets"], g["empty"]), ([0, 255, 13, 10, 45, 45], "octets", ""), "bytes are what they were")
    same((g["packed"], g["said of it"]), (5000, [{"author": "me"}] * 3 + [None]), "packed as gzip, and with words of one's own")
    same((g["make"], g["make again"], g["rename"], g["exists"]), (True, False, "/home/user/f/g/1", [False, True]), "make, rename, exists")
    same(g["info"], ["1", 3, "-rw-r--r--", "file"], "info")
    same((g["remove file"], g["read removed"]["thrown"]), (None, "FileNotFoundError"), "remove")
    same((g["outside"]["thrown"], g["above"]["thrown"]), ("InvalidArgumentError", "FileNotFoundError"), "no path leads out")


def commands(g):
    same(g["command"], {"exitCode": 0, "stdout": "madebar baz\n/home/user\n", "stderr": "err\n"}, "a command: output, variables, folder")
    same(g["after command"], [False, "octets", "-rwxr-xr-x"], "what it changed is the sandbox's")
    ok("'o2'" in g["program sees"]["text"] and "'made.txt'" not in g["program sees"]["text"], "and a program's", g["program sees"])
    same((g["exit code"]["thrown"], g["exit code"]["result"]["exitCode"], g["exit code"]["result"]["stdout"]), ("CommandExitError", 3, "out\n"), "its exit code")
    same((g["left"], g["cwd"]["stdout"]), ("more\n", "/home/user/m\n"), "one that failed leaves files, too; another folder")
    same(g["background"]["chunks"], ["one\n", "two\n"], "in the background")
    same(g["killed"], {"listed": ["echo up; sleep 100"], "was": True, "code": -1, "again": False}, "listed and killed")
    same((g["at once"], g["written meanwhile"]), ([[0] * 3, ["1\n", "2\n", "3\n"]], ["mine\n", "theirs"]), "files of commands at once, and of a client meanwhile")
    same(g["its own time"]["thrown"], "TimeoutError", "the time that its client gives")
    same(g["input"]["stdout"], "abc\nend\n", "input")
    same(g["live input"]["stdout"], "got one\ngot two\n", "as it comes")
    t = g["terminal"]
    ok("\r\n123\r\n100\r\n" in t["first"].replace("bash-5.2$ ", "") or "123\r\n100\r\n" in t["first"], "a terminal: its shell, variables and size", t)
    same((t["end"], t["typed"], t["killed"], "^C" in t["second"]), (3, "7\n", False, True), "keys, another client, its exit code and files")
    same(g["terminal killed"], [True, -1], "killed")
    same((g["port"]["message"], g["port"]["port"], g["port"]["code"]), ("The sandbox is running but port is not open", 3000, 502), "a port is told as closed")
    ok(g["refused command"]["result"]["exitCode"] == 126 and "sh.network" in g["refused command"]["result"]["stderr"],
       "a command is screened", g["refused command"])


def ends(g):
    same((g["left alone"]["thrown"], g["goes on"]["text"]), ("TimeoutError", "20"), "a client that leaves ends its program, and the state stays")
    same((g["running"], g["listed"], g["not listed"], g["connected"], g["end moved"]), (True, [True], 0, "more\n", True), "running, listed, connected, its end")
    same((g["pages"], g["lifecycle"]), ([[2, 1], [0], [0, 1], [2]], [{"onTimeout": "pause", "autoResume": True}, False]), "a page at a time, in both orders; what happens at the end")
    same(g["metrics"], [[True, 1, True, 64 << 20]], "metrics")
    same(g["plain client"], {"there": False, "stdout": "1", "killed": True}, "another sandbox, by the plain client")
    same(g["forks"], [["before", "after", "before"], True, True, True], "forks")
    same(g["killed while it runs"], [["TimeoutError", True]] * 2, "who waits for one that is killed is told that it was")
    same(g["other id"]["thrown"], "SandboxNotFoundError", "one that is not there")
    same((g["kill"], g["gone"], g["run gone"]["thrown"], g["kill gone"]), (True, False, "TimeoutError", False), "killed, it is gone")


def readme():
    """What the README has a reader type, but for where assay is, on which port it listens and what is installed."""
    script = re.sub(r"^ *build/assay serve .*\n", "", typed("From E2B's client"), flags=re.M).replace("npm install @e2b/code-interpreter && ", "")
    env = home()
    with Server("--parallel", "8", "--timeout", "60", "--cpu-seconds", "60", environment=env) as s:
        got = subprocess.run(["bash", "-eu", "-c", script.replace(":8317", ":%d" % s.port)], stdin=subprocess.DEVNULL,
                             capture_output=True, env=env, cwd=PLACE, check=False)
        if b"No module" in got.stdout + got.stderr:
            tap.skip("the README's program", "pandas is not installed")
            return
        ok(got.returncode == 0 and got.stdout.startswith(b"3 ") and b"3 a.csv" in got.stdout, "the README's program", got)


def main():
    npm_clients.install(HERE, PLACE, LAST)
    with Server("--parallel", "3", "--allow", "sh.interpreter", "--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE)) as s:
        url = "http://127.0.0.1:%d" % s.port
        env = dict(E2B_API_URL=url, E2B_SANDBOX_URL=url, E2B_API_KEY=s.key, E2B_VALIDATE_API_KEY="false")
        done = npm_clients.node_at(PLACE, HERE, "use.mjs", **env)
        if not ok(done.code == 0, "the clients end well", done):
            return
        g = done.json()
        contexts(g)
        results(g)
        errors(g)
        files(g)
        commands(g)
        ends(g)
        same(s.metric("assay_contexts"), 0, "nothing is left open")
    runs = tap.assay("log", "list", "--json", "--limit", "200").json()
    ok(any(r["status"] == "denied" for r in runs) and len(runs) > 40, "each program is a run of the log", [r["status"] for r in runs])
    same(tap.assay("log", "verify").code, 0, "which is whole")
    readme()
    run = [r for r in runs if r["status"] == "success"][4]
    got = tap.assay("replay", run["run"], "--json")
    same((got.code, got.json()["same"]), (0, True), "and can be replayed")


tap.main(main)
