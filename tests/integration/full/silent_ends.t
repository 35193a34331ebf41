#!/usr/bin/python3
# What a sandbox is reached through may say nothing: take no connection, take one and no more, begin an answer and not
# end it, or send it so slowly that it never ends. assay gives up in the end, tells that with exit code 6, and whether
# something may have run: not without a connection, nor before the user's program was sent, and the first that is sent to
# a runner is ours and asks what it has. All of them at once, since each waits for as long as a program and its way may take.
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import remote_mocks
import tap
from tap import ok

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
CREATED = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
SANDBOX = b'{"sandboxID": "i1", "templateID": "base", "clientID": "c", "envdVersion": "0.6.4"}'
over = threading.Event()


def drip(c, data):
    c.sendall(data[:-1])
    while not over.wait(1):
        c.sendall(b" ")


def runs_the_first(c):
    """By which assay learns which interpreter there is."""
    if c.number:
        return over.wait()
    while b"\r\n\r\n" not in c.asked or len(c.asked.partition(b"\r\n\r\n")[2]) < int(
            c.asked.lower().partition(b"content-length:")[2].split()[0]):
        c.asked += c.recv(65536)
    told = json.dumps(remote_mocks.run_job(json.loads(c.asked.partition(b"\r\n\r\n")[2]))).encode()
    c.sendall(ANSWERED % (len(told), told))


# What is told; ways to be silent that only one sandbox meets.
NOTHING, UNKNOWN = "nothing ran", "it began, and its end is not known"
RUNS = "says what it has and is silent then"
ONLY = {"makes a sandbox and is silent then": "e2b", RUNS: "modal"}
HOW = {
    "takes a connection and says nothing": lambda c: over.wait(),
    "begins an answer and no more": lambda c: (c.sendall(HEAD + b"{"), over.wait()),
    "answers a byte a second": lambda c: drip(c, HEAD),
    "makes a sandbox and is silent then": lambda c: (
        c.sendall(CREATED % (len(SANDBOX), SANDBOX)) if b"POST /sandboxes" in c.asked else over.wait()),
    RUNS: runs_the_first,
}


class Silent:
    def __init__(self, how):
        self.how = how
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=0 if how is None else 16)
        self.port = self.socket.getsockname()[1]
        self.held, self.asked = [], itertools.count()
        if how:
            threading.Thread(target=self.serve, daemon=True).start()
        else:
            self.fill()

    def fill(self):
        """Until nobody gets a connection any more: the kernel answers for so many that wait."""
        while True:
            c = socket.socket()
            c.settimeout(1)
            try:
                c.connect(("127.0.0.1", self.port))
            except OSError:
                return
            self.held.append(c)

    def serve(self):
        while True:
            threading.Thread(target=self.answer, args=(self.socket.accept()[0],), daemon=True).start()

    def answer(self, c):
        c = Asked(c, next(self.asked))
        try:
            c.asked = c.recv(65536)
            self.how(c)
        except OSError:
            pass
        c.close()


class Asked:
    """A connection, and what it was asked."""

    def __init__(self, c, number):
        self.c, self.number, self.asked = c, number, b""

    def __getattr__(self, name):
        return getattr(self.c, name)


def services(url):
    yield "http:" + url, {"ASSAY_SERVE_KEY": "assay-" + "7" * 64}
    yield "modal:" + url, {"MODAL_KEY": "wk-1234567890", "MODAL_SECRET": "ws-1234567890"}
    yield "e2b", {"E2B_API_KEY": "e2b_1234567890", "E2B_API_URL": url, "E2B_SANDBOX_URL": url}
    yield "lambda:f", {"AWS_ACCESS_KEY_ID": "AKIA1234567890123456", "AWS_REGION": "eu-west-1",
                       "AWS_SECRET_ACCESS_KEY": "secret-1234567890", "AWS_ENDPOINT_URL_LAMBDA": url}
    yield "azure:" + url + "/subscriptions/s/resourceGroups/g/sessionPools/p", {"AZURE_SESSIONS_TOKEN": "token-1234567890"}


def start(sandbox, env):
    return subprocess.Popen([tap.ASSAY, "exec", "--sandbox", sandbox, "--weaker", "--timeout", "2", "p.py"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=tap.environment(**env), cwd=tap.work)


def body():
    with open(os.path.join(tap.work, "p.py"), "w") as f:
        f.write("print(1)\n")
    begun = []
    for what, how in [("takes no connection", None), *HOW.items()]:
        server = Silent(how)
        for sandbox, env in services("http://127.0.0.1:%d" % server.port):
            if sandbox.startswith(ONLY.get(what, "")):
                begun.append((what, sandbox.partition(":")[0], start(sandbox, env), server))
    for what, sandbox, process, _ in begun:
        out = process.communicate(timeout=600)[0].decode()
        told = UNKNOWN if what == RUNS else NOTHING
        ok(process.returncode == 6 and "assay: " in out and [t in out for t in (NOTHING, UNKNOWN)] == [t == told for t in (NOTHING, UNKNOWN)]
           and len(out) < 2000, "%s: a server that %s: given up, exit 6, %s" % (sandbox, what, told),
           "exit %d: %s" % (process.returncode, out))
        tap.diag(out.strip().splitlines()[-1][:200] if out.strip() else "")
    over.set()


tap.main(body)
