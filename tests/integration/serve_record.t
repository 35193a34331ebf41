#!/usr/bin/python3
# The same program through every door for other programs: what the log says of it is what it says of
# `assay exec`, and how it is worth is the same where a door has more around it (a cell of a context).
import os
import subprocess
import sys
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "full"))
import mcp
import tap
from serving import Server
from tap import ok, same

PROGRAMS = {
    "a good one": 'okapi = "gir" + "affe"\nprint(okapi)\n',
    "one that fails": 'quagga = "zeb" + "ra"\nprint(quagga)\nraise ValueError("not enough stripes")\n',
}


def record(run, part):
    """As record.sh has it."""
    exported = tap.assay("log", "export", run)
    found = subprocess.run(["jq", "-cS", "-L", HERE, 'include "record"; ' + part], input=exported.out.encode(),
                           capture_output=True, check=True)
    return found.stdout.decode()


def newest():
    return tap.assay("log", "list", "--json", "--limit", "1").json()[0]["run"]


def execute(s, code):
    s.post("/execute", {"code": code, "language": "python"})


def piston(s, code):
    s.post("/api/v2/execute", {"language": "python", "version": "*", "files": [{"content": code}]})


def fusion(s, code):
    s.post("/run_code", {"code": code, "language": "python"})


def jupyter(s, code):
    s.post("/run_jupyter", {"cells": [code]})


def in_context(s, code):
    context = s.post("/contexts", {"language": "python"}).json()["context"]
    s.post("/execute", {"code": code, "context": context})


def e2b(s, code):
    made = s.post("/sandboxes", {"templateID": "base"}).json()
    s.ask("POST", "/execute", {"code": code}, X_API_Key=None, E2b_Sandbox_Id=made["sandboxID"],
          X_Access_Token=made["envdAccessToken"])


def main():
    whole = {"/execute": execute, "piston": piston, "/run_code": fusion}
    cells = {"a context": in_context, "/run_jupyter": jupyter, "e2b": e2b}
    wanted = {}
    for name, code in PROGRAMS.items():
        with open(os.path.join(tap.work, "program.py"), "w") as f:
            f.write(code)
        tap.assay("exec", "program.py")
        run = newest()
        wanted[name] = record(run, "execution"), record(run, "worth")
    same([w[1] for w in wanted.values()],
         ['["success","ran",0,1,"exit",0]\n', '["failed","none",1,1,"exit",1]\n'], "what they are worth")

    def door(title, run_it):
        for name, code in PROGRAMS.items():
            before = newest()
            run_it(code)
            run = newest()
            ok(run != before, "%s, %s: is in the log" % (title, name))
            part = "worth" if title in cells else "execution"
            same(record(run, part), wanted[name][part == "worth"], "%s, %s: the same record" % (title, name))

    with Server() as s:
        for title, run_it in {**whole, **cells}.items():
            door(title, lambda code: run_it(s, code))
    m = mcp.Server()
    for tool in ("execute_code", "execute_python", "run_python"):
        given = {"language": "python"} if tool == "execute_code" else {}
        door("mcp " + tool, lambda code: m.call(tool, code=code, **given))
    same(m.close(), 0, "mcp ends")


tap.main(main)
