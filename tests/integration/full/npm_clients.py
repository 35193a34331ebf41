# The unmodified clients of the doors, from npm (tests/integration/mcp-clients/package.json):
# installed once, into build/npm-mcp.
import fcntl
import os
import shutil
import subprocess

import tap

HERE = os.path.join(tap.TOP, "tests/integration/mcp-clients")
PLACE = os.path.join(tap.TOP, "build/npm-mcp")
LAST = os.path.join(PLACE, "node_modules/piston-client/package.json")


def install(here=HERE, place=PLACE, last=LAST):
    if not shutil.which("node") or not shutil.which("npm"):
        raise tap.SkipAll("node and npm are not both installed")
    if os.path.exists(last):
        return
    try:
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(last):
                return
            shutil.copy(os.path.join(here, "package.json"), place)
            npm = subprocess.run(["npm", "install", "--prefix", place, "--no-package-lock",
                                  "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
                                  "--no-audit", "--no-fund"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise tap.SkipAll("the clients cannot be installed: %s" % error)
    if npm.returncode or not os.path.exists(last):
        tap.diag(npm.stdout.decode("utf-8", "replace"))
        raise tap.SkipAll("npm cannot install the clients")


def node(*args):
    """Runs a program of theirs; how it ended."""
    return tap.Done(subprocess.run(["node", *args], stdin=subprocess.DEVNULL, capture_output=True,
                                   env=tap.environment(), cwd=PLACE, timeout=300))
