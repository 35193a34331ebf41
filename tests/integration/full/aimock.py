# The HTTP server of the tests: @copilotkit/aimock, which speaks both wire formats and keeps a
# journal of what it was asked. Installed once, into build/npm.
import contextlib
import json
import os
import subprocess
import time
import urllib.request

import npm
import tap

KEY = "sk-test-0f6b2c49d1e84a7795ab"
WIRES = ("openai", "anthropic")
PLACE = os.path.join(tap.TOP, "build/npm")
CLI = os.path.join(PLACE, "node_modules/@copilotkit/aimock/dist/cli.js")


def install():
    npm.install(os.path.join(tap.TOP, "tests/integration"), PLACE, CLI, "aimock")


def fixture(match, response, usage=None, **more):
    """One rule. match: words of the user's message, or members of aimock's match."""
    if isinstance(match, str):
        match = {"userMessage": match}
    if isinstance(response, str):
        response = {"content": response}
    if usage:
        response = dict(response, usage={"input_tokens": usage[0], "output_tokens": usage[1]})
    return dict(match=match, response=response, **more)


def refusal(status, kind, message, **more):
    return dict(error={"message": message, "type": kind}, status=status, **more)


class Server:
    def __init__(self, process, port):
        self.process, self.port = process, port
        self.root = "http://127.0.0.1:%d" % port

    def flags(self, wire):
        """What makes assay talk to this server."""
        # Without a model named, a server of one's own would be asked for its first one.
        return ["--provider", wire, "-m", "a-model",
                "--base-url", self.root + ("/v1" if wire == "openai" else "")]

    def journal(self, words=None):
        """The requests so far, or those whose last message holds words, oldest first."""
        request = urllib.request.Request(self.root + "/__aimock/journal",
                                         headers={"Authorization": "Bearer " + KEY})
        with urllib.request.urlopen(request, timeout=30) as answer:
            entries = json.load(answer)
        return [e for e in entries if words is None or
                words in json.dumps((e.get("body") or {}).get("messages"))]


@contextlib.contextmanager
def serve(fixtures, *options):
    """A server that answers by fixtures to KEY, and to no other."""
    install()
    path, log = os.path.join(tap.work, "fixtures.json"), os.path.join(tap.work, "aimock.log")
    with open(path, "w") as file:
        json.dump({"fixtures": fixtures}, file)
    env = tap.environment(AIMOCK_API_KEYS=KEY)
    with open(log, "wb") as out:
        process = subprocess.Popen(["node", CLI, "-p", "0", "-f", path, "--validate-on-load",
                                    "--log-level", "info", "--journal-max", "0", *options],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env)
    try:
        yield Server(process, wait_for_port(process, log))
    finally:
        process.kill()
        process.wait()


def wait_for_port(process, log):
    mark = "listening on http://127.0.0.1:"
    for _ in range(600):
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if mark in text:
            return int(text.split(mark)[1].split()[0].strip("/"))
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError("aimock did not start: " + text[-2000:])
