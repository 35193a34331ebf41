#!/usr/bin/python3
# assay serve and the clients that people have: the protocol's SDK of either era over HTTP, its
# conformance suite, and Piston's client, unmodified, from npm.
import os
import re
import sys
sys.dont_write_bytecode = True
import npm_clients
import tap
from npm_clients import HERE, PLACE
from serving import Server
from tap import ok, same

SUITE = os.path.join(PLACE, "node_modules/@modelcontextprotocol/conformance/dist")
# What needs tools that a server has for this suite alone, or lists that assay does not have.
BESIDE = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
          "sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
          "sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
          "sep-2549-resources-templates-list-caching-hints"}
SCENARIOS = {"server-initialize": 3, "server-session-lifecycle": 3, "server-sse-multiple-streams": 1, "ping": 2, "tools-list": 3, "dns-rebinding-protection": 2, "server-stateless": 21,
             "caching": 4, "http-header-validation": 14, "input-required-result-unsupported-methods": 2,
             "input-required-result-validate-input": 3}


def suite():
    """Its program; node before version 22 has no globSync, which it imports and a server needs not."""
    with open(os.path.join(SUITE, "index.js"), encoding="utf-8") as f:
        text = f.read()
    found = re.search(r"globSync as (\w+),", text)
    if found:
        shebang, rest = text.split("\n", 1)
        text = "%s\nconst %s=()=>[];\n%s" % (shebang, found.group(1), rest.replace(found.group(0), "", 1))
    place = os.path.join(SUITE, "of-assay-%d.js" % os.getpid())
    with open(place, "w", encoding="utf-8") as f:
        f.write(text)
    return place


def conformance(s):
    program = suite()
    for scenario, least in SCENARIOS.items():
        got = npm_clients.node(program, "server", "--url", "http://127.0.0.1:%d/key/%s/mcp" % (s.port, s.key),
                               "--scenario", scenario, "-o", os.path.join(tap.work, "results"))
        plain = re.sub(r"\x1b\[\d+m", "", got.out + got.err)
        found = re.findall(r"\[([\w-]+) *\] (SUCCESS|FAILURE|WARNING)", plain)
        bad = {name for name, how in found if how != "SUCCESS"} - BESIDE
        good = sum(how == "SUCCESS" for _, how in found)
        ok(not bad and good >= least, "conformance: %s: %d checks" % (scenario, good), "%s\n%s" % (bad, plain[-3000:]))
    os.unlink(program)


def main():
    npm_clients.install()
    with Server() as s:
        done = npm_clients.node(os.path.join(HERE, "http.mjs"), "http://127.0.0.1:%d" % s.port, s.key)
        got = done.json()
        if not ok(done.code == 0, "the clients end well", done):
            return
        for era in ("old", "new"):
            ok("execute" in got[era]["back"]["heard"] and "enough" in got[era]["back"]["how"], "a call's progress is heard, and the call taken back", got[era]["back"])
            same((got[era]["tools"], got[era]["hello"]["structuredContent"]["stdout"]), (12, "hello\n"), "sdk over HTTP: the %s era" % era)
        same((got["new"]["era"], got["old"]["ping"]), ("modern", {}), "each in its own")
        ok(got["old"]["denied"]["isError"], "who cannot be asked over HTTP is denied")
        same(got["new"]["denied"]["structuredContent"]["status"], "denied", "nor does who can, by a key")
        ok(s.until("assay_running", 0), "what was taken back has ended")
        same([r["status"] for r in s.get("/runs").json()["runs"]].count("cancelled"), 2, "and is recorded as that")
        same(got["piston"]["ran"]["run"]["stdout"], "['1', '2', '3'] in\n", "piston-client")
        ok("python" in [r["language"] for r in got["piston"]["runtimes"]], "and its runtimes")
        conformance(s)


tap.main(main)
