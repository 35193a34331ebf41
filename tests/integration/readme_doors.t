#!/usr/bin/python3
# What the README has a reader type, typed: its sections "With curl" and "Tools for the program
# inside", line by line, but for where assay is and on which port it listens.
import json
import os
import re
import shutil
import subprocess
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from readme import home, typed
from tap import ok, same


def shell(script, env):
    return tap.Done(subprocess.run(["bash", "-eu", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd=tap.work, check=False))


def curl(env):
    script = typed("With curl")
    starts = re.findall(r"^build/assay (serve.*?) *#.*$", script, re.M)
    same(starts, ["serve", "serve --socket ~/.assay.sock"], "the README starts two servers")
    rest = re.sub(r"^build/assay .*\n", "", script, flags=re.M)
    keys = os.path.join(env["HOME"], ".config/assay/serve-keys")
    path = os.path.join(env["HOME"], ".assay.sock")
    with serving.Server(environment=env) as s, serving.Server(where=("--socket", path), environment=env):
        ok(s.key and os.path.exists(keys), "the first start makes a key, and keeps it where it says")
        got = shell(rest.replace(":8317/", ":%d/" % s.port), env)
        answers = re.findall(r"\{.*?\}(?=\{\"notice|$)", got.out, re.S)
        same([json.loads(a)["stdout"] for a in answers], ["42\n", "1 data.csv\n"], "and its requests are answered") or tap.diag(str(got))


def tools(env):
    script = typed("Tools for the program inside").replace("build/assay exec --tools", "%s exec --tools --allow tool.free" % tap.ASSAY)
    got = shell(script, env)
    ok(got.code == 0 and re.match(r"\d+\n", got.out), "a program calls a tool", got)


def main():
    if not shutil.which("curl"):
        tap.skip("the README's commands", "curl is not installed")
        return
    env = home()
    curl(env)
    tools(env)


tap.main(main)
