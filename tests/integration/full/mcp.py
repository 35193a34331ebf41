# A bare client of `assay mcp` for the tests: lines out, lines in, and what belongs to a request.
import json
import os
import queue
import subprocess
import threading
import time

import tap

MODERN = "2026-07-28"
PATIENCE = tap.PATIENCE


def meta(version=MODERN, capabilities=None, **more):
    return {"_meta": {"io.modelcontextprotocol/protocolVersion": version,
                      "io.modelcontextprotocol/clientCapabilities": capabilities or {}, **more}}


def stat(pid):
    """Parent, state and start of a process; None when it is gone. A number alone is soon another's."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
        return int(fields[1]), fields[0], int(fields[19])
    except (OSError, IndexError):
        return None


def family(pid):
    """All processes below pid, by its children's children: each with its start."""
    all_of_them = {int(name): stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    found = {pid}
    while True:
        more = {p for p, s in all_of_them.items() if s and s[0] in found} - found
        if not more:
            return {(p, all_of_them[p][2]) for p in found - {pid}}
        found |= more


def lives(pid, start):
    now = stat(pid)
    return now is not None and now[1] != b"Z" and now[2] == start


def gone(family_then):
    """Whether each has ended, within the patience."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(lives(*p) for p in family_then):
            return True
        time.sleep(0.02)
    return False


class Server:
    def __init__(self, *args, era="old", capabilities=None, **env):
        self.process = subprocess.Popen([tap.ASSAY, "mcp", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=tap.environment(**env), cwd=tap.work)
        self.came = queue.Queue()
        self.seen = []  # all that came
        self.era, self.capabilities, self.last = era, capabilities or {}, 0
        self.answers, self.asked = {}, []
        threading.Thread(target=self._read, daemon=True).start()
        if era == "old":
            self.hello = self.ask("initialize", protocolVersion="2025-11-25",
                                  capabilities=self.capabilities,
                                  clientInfo={"name": "test", "version": "1"})
            self.tell("notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            self.came.put(json.loads(line))
        self.came.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def begin(self, method, **params):
        """Sends a request; its id."""
        self.last += 1
        if self.era == "new":
            given = params.pop("_meta", {})
            params.update(meta(capabilities=self.capabilities, **given))
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def next(self):
        """The next message, whatever it is; None at the end."""
        message = self.came.get(timeout=PATIENCE)
        self.seen.append(message)
        if message and "method" not in message:
            self.answers[message.get("id")] = message
        return message

    def until(self, test):
        """The next message that test holds for."""
        while True:
            message = self.next()
            if message is None or test(message):
                return message

    def end(self, number):
        """The answer to a request."""
        while number not in self.answers:
            if self.next() is None:
                return {}
        return self.answers[number]

    def ask(self, method, **params):
        return self.end(self.begin(method, **params))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments).get("result", {})

    def start(self, name, arguments, **more):
        return self.begin("tools/call", name=name, arguments=arguments, **more)

    def running(self, name, arguments, token):
        """Starts a call, and returns its id once its program runs."""
        number = self.start(name, arguments, _meta={"progressToken": token})
        self.until(lambda m: m.get("method") == "notifications/progress" and
                   m["params"]["progressToken"] == token and m["params"]["message"] == "execute")
        return number

    def close(self):
        """Ends its input; the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        while self.next() is not None:
            pass
        return self.process.wait(PATIENCE)

    def peak_kib(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
