#!/usr/bin/python3
# Many at once: the load program for a moment. Nothing is timed; what counts is that no answer is lost,
# and none another's.
import json
import os
import subprocess
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap
from tap import ok, same

CLIENTS = 12


def load(*args):
    got = subprocess.run([os.path.join(tap.TOP, "tests/bench/load"), "--assay", tap.ASSAY, "--clients", str(CLIENTS),
                          "--seconds", "4", "--json", "load.json", *args],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=tap.environment(), cwd=tap.work, check=False)
    with open(os.path.join(tap.work, "load.json")) as f:
        return got, json.load(f)


def all_ways():
    got, said = load("--parallel", "3", "--", "--timeout", "60", "--cpu-seconds", "60")
    same(got.returncode, 0, "the load program is content")
    same(said["server_exit"], 0, "the server ends well after it")
    same([(r["way"], r["clients"]) for r in said["rows"]],
         [(way, n) for way in ("execute", "context", "sandbox", "command") for n in (1, CLIENTS)], "one client and many, each way")
    for r in said["rows"]:
        ok(r["requests"] >= r["clients"] and not r["errors"],
           "%s by %d: none lost, none mixed up" % (r["way"], r["clients"]), (r, got.stdout))


def main():
    all_ways()


tap.main(main)
