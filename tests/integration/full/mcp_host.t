#!/usr/bin/python3
# An agent that people use, Claude Code, unmodified from npm, with a model server that says what it
# is told (aimock): it starts assay mcp by its own configuration, calls a tool, and goes on with what
# came of it.
import json
import os
import subprocess
import sys
sys.dont_write_bytecode = True
import aimock
import npm_clients
import tap
from aimock import fixture
from tap import ok, same

HERE = os.path.join(tap.TOP, "tests/integration/mcp-hosts")
PLACE = os.path.join(tap.TOP, "build/npm-hosts")
CLAUDE = os.path.join(PLACE, "node_modules/.bin/claude")


def claude(server, prompt, config):
    env = tap.environment(ANTHROPIC_BASE_URL=server.root, ANTHROPIC_API_KEY=aimock.KEY, DISABLE_AUTOUPDATER="1",
                          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    return tap.Done(subprocess.run([CLAUDE, "-p", prompt, "--mcp-config", config, "--strict-mcp-config", "--allowedTools",
                                    "mcp__assay__execute_python", "--output-format", "json"], stdin=subprocess.DEVNULL,
                                   capture_output=True, env=env, cwd=tap.work, timeout=300))


def main():
    npm_clients.install(HERE, PLACE, CLAUDE)
    probe = subprocess.run([CLAUDE, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                           env=tap.environment())
    if probe.returncode:
        raise tap.SkipAll("this Claude Code does not run here: %s" % probe.stderr.decode()[-200:])
    config = os.path.join(tap.work, "mcp.json")
    with open(config, "w") as f:
        json.dump({"mcpServers": {"assay": {"command": tap.ASSAY, "args": ["mcp"]}}}, f)
    call = {"toolCalls": [{"name": "mcp__assay__execute_python", "arguments": json.dumps({"code": "print(6 * 7)"})}]}
    rules = [fixture({"userMessage": "six times seven", "hasToolResult": False}, call),
             fixture("six times seven", "It is 42, says the sandbox.")]
    with aimock.serve(rules) as server:
        done = claude(server, "What is six times seven?", config)
        ok(done.code == 0 and done.json().get("result") == "It is 42, says the sandbox.", "the agent answers", done)
    run = tap.assay("log", "list", "--json").json()
    same([(r["kind"], r["status"], r["prompt"]) for r in run], [("exec", "success", "mcp execute_python")],
         "after one call of the tool, which is in the log")


tap.main(main)
