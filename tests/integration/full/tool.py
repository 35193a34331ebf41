# Tools of the tests' own: each call of one leaves a line, what it was asked, in a file named for it.
import os

import tap

# Says how many calls there have been, and what it was asked.
COUNTS = """#!/usr/bin/python3
import json, os, sys
name, text = sys.argv[1], sys.stdin.read()
with open(os.path.join(os.path.dirname(sys.argv[0]), name + ".calls"), "a") as f:
    f.write(text)
with open(os.path.join(os.path.dirname(sys.argv[0]), name + ".calls")) as f:
    print(json.dumps({"nth": len(f.readlines()), "was": json.loads(text)}))
"""


def make(program, config):
    """The program tool, and the configuration; both are in the folders of the test."""
    tap.write("tool", program, 0o755)
    tap.write("home/config/assay/config.ini", config % {"work": tap.work})


def calls(name="next"):
    try:
        with open(os.path.join(tap.work, name + ".calls")) as f:
            return len(f.read().splitlines())
    except FileNotFoundError:
        return 0


def forget():
    for f in os.listdir(tap.work):
        if f.endswith(".calls"):
            os.unlink(os.path.join(tap.work, f))
