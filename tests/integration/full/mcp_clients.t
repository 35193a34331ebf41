#!/usr/bin/python3
# assay mcp and the clients that people have: the protocol's own SDK of either era, which check each
# answer against the protocol and each result against its schema, and the inspector. They are
# unmodified, from npm (tests/integration/mcp-clients/package.json), installed once into build/npm-mcp.
import fcntl
import json
import os
import shutil
import subprocess
import sys
sys.dont_write_bytecode = True
import tap
from tap import ok, same

HERE = os.path.join(tap.TOP, "tests/integration/mcp-clients")
PLACE = os.path.join(tap.TOP, "build/npm-mcp")
LAST = os.path.join(PLACE, "node_modules/@modelcontextprotocol/sdk/package.json")
TOOLS = 8


def install():
    if not shutil.which("node") or not shutil.which("npm"):
        raise tap.SkipAll("node and npm are not both installed")
    if os.path.exists(LAST):
        return
    try:
        os.makedirs(PLACE, exist_ok=True)
        with open(os.path.join(PLACE, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(LAST):
                return
            shutil.copy(os.path.join(HERE, "package.json"), PLACE)
            npm = subprocess.run(["npm", "install", "--prefix", PLACE, "--no-package-lock",
                                  "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
                                  "--no-audit", "--no-fund"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise tap.SkipAll("the clients cannot be installed: %s" % error)
    if npm.returncode or not os.path.exists(LAST):
        tap.diag(npm.stdout.decode("utf-8", "replace"))
        raise tap.SkipAll("npm cannot install the clients")


def node(*args):
    done = tap.Done(subprocess.run(["node", *args], stdin=subprocess.DEVNULL, capture_output=True,
                                   env=tap.environment(), cwd=PLACE, timeout=300))
    ok(done.code == 0, " ".join(os.path.basename(a) for a in args[:2]) + " ends well", done)
    return done.json()


def output(result):
    return result["structuredContent"]["stdout"]


def common(got, who):
    same(len(got["tools"]), TOOLS, who + ": the tools")
    same(output(got["hello"]), "hello\n", who + ": a program")
    same((output(got["approved"]), got["asked"]), ("probed\n", 1), who + ": its person is asked, once")
    same(output(got["long"]), "0\n1\n2\n3\n", who + ": all of what took long")
    ok(len(got["progress"]) >= 2 and got["progress"] == sorted(set(got["progress"])), who + ": progress", got["progress"])
    ok("enough" in got["cancelled"], who + ": cancelled", got["cancelled"])


def main():
    install()
    got = node(os.path.join(HERE, "sdk.mjs"), tap.ASSAY)
    common(got, "sdk")
    same((got["server"]["name"], got["ping"]), ("assay", {}), "sdk: initialize and ping")
    same((got["failed"]["isError"], got["failed"]["structuredContent"]["error"]["type"]),
         (True, "ZeroDivisionError"), "sdk: a program that failed")
    same(got["refused"]["structuredContent"]["refused"]["rules"], ["py.import.network"], "sdk: a refusal")
    same([output(r) for r in got["after"]], ["%d\n" % n for n in (1, 2, 3, 4)], "sdk: four at once")
    same(got["unknown"], {"thrown": -32602}, "sdk: an unknown tool")
    got = node(os.path.join(HERE, "client.mjs"), tap.ASSAY)
    common(got, "client")
    same((got["era"], got["version"]), ("modern", "2026-07-28"), "client: it finds the new era")
    same(output(got["after"]), "after\n", "client: after what was cancelled")
    inspector = os.path.join(PLACE, "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js")
    got = node(inspector, "--cli", tap.ASSAY, "mcp", "--method", "tools/list")
    same(len(got["tools"]), TOOLS, "inspector: the tools")
    got = node(inspector, "--cli", tap.ASSAY, "mcp", "--method", "tools/call", "--tool-name", "execute_code",
               "--tool-arg", "language=bash", "--tool-arg", "code=echo $((6 * 7))")
    same(output(got), "42\n", "inspector: a call")


tap.main(main)
