#!/usr/bin/python3
# Files that cells of E2B's wire leave: a cell leaves what it changed and no more, whether its state is
# a copy, a copy after one that failed, or made again, as a replay makes it.
import os
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import tap
from serving import Server
from tap import same

CELLS = [
    ("import os\nfor n in 'zyxabc': open(n, 'w').close()\nos.remove('y'); os.mkdir('d'); open('d/q', 'w').close()", "abcdqxz"),
    ("open('b', 'w').write('b')", "b"),
    ("open('c', 'w').write('gone'); 1 / 0", ""),
    ("x = 1", ""),
    ("open('c', 'w').write('c'); os.remove('a')", "c"),
    ("y = 2", ""),
]


def main():
    with Server() as s:
        made = s.post("/sandboxes", {"templateID": "base"}).json()
        for code, _ in CELLS:
            s.ask("POST", "/execute", {"code": code}, X_API_Key=None, E2b_Sandbox_Id=made["sandboxID"],
                  X_Access_Token=made["envdAccessToken"])
        runs = s.get("/runs").json()["runs"]
    runs = [r["run"] for r in reversed(runs)][-len(CELLS):]
    same(len(runs), len(CELLS), "a run for each cell")
    for run, (code, left) in zip(runs, CELLS):
        done = [e["data"] for e in tap.assay("log", "export", run).json()["events"]
                if e["stage"] == "execute" and e["phase"] == "done"][0]
        own = [a["path"] for a in done["artifacts"] if not a["path"].startswith(".e2b")]
        same("".join(sorted("".join(own).replace("/", ""))), left, "what it leaves: %s" % code)
        again = tap.assay("replay", run, "--json")
        same((again.code, again.json()["first_divergence"]), (0, None), "and it does so in a state that is made again")


tap.main(main)
