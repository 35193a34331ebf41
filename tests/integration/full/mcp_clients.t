#!/usr/bin/python3
# assay mcp and the clients that people have: the protocol's own SDK of either era, which check each
# answer against the protocol and each result against its schema, and the inspector. They are
# unmodified, from npm (tests/integration/mcp-clients/package.json), installed once into build/npm-mcp.
import os
import sys
sys.dont_write_bytecode = True
import npm_clients
import tap
from npm_clients import HERE, PLACE
from tap import ok, same

TOOLS = 12


def node(*args):
    done = npm_clients.node(*args)
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
    npm_clients.install()
    got = node(os.path.join(HERE, "sdk.mjs"), tap.ASSAY)
    common(got, "sdk")
    same((got["server"]["name"], got["ping"]), ("assay", {}), "sdk: initialize and ping")
    same((got["failed"]["isError"], got["failed"]["structuredContent"]["error"]["type"]),
         (True, "ZeroDivisionError"), "sdk: a program that failed")
    same(got["refused"]["structuredContent"]["refused"]["rules"], ["py.import.network"], "sdk: a refusal")
    same([output(r) for r in got["after"]], ["%d\n" % n for n in (1, 2, 3, 4)], "sdk: four at once")
    same(got["unknown"], {"thrown": -32602}, "sdk: an unknown tool")
    same(got["each"], {name: False for name in got["tools"]}, "sdk: each tool's result is as its schema says")
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
