# The unmodified clients of the doors, from npm (tests/integration/mcp-clients/package.json):
# installed once, into build/npm-mcp.
import os
import shutil
import subprocess

import npm
import tap

HERE = os.path.join(tap.TOP, "tests/integration/mcp-clients")
PLACE = os.path.join(tap.TOP, "build/npm-mcp")
LAST = os.path.join(PLACE, "node_modules/piston-client/package.json")


def install(here=HERE, place=PLACE, last=LAST):
    npm.install(here, place, last, "the clients")


def node(*args):
    """Runs a program of theirs; how it ended."""
    return tap.Done(subprocess.run(["node", *args], stdin=subprocess.DEVNULL, capture_output=True,
                                   env=tap.environment(), cwd=PLACE, timeout=300))


def node_at(place, here, name, **env):
    """Runs a program of the test's where the clients are; how it ended."""
    shutil.copy(os.path.join(here, name), place)
    return tap.Done(subprocess.run(["node", os.path.join(place, name)], stdin=subprocess.DEVNULL, capture_output=True,
                                   env=tap.environment(**env), cwd=place, timeout=300))
