#!/usr/bin/python3
# What a sandbox is reached through may be anybody: an engine's socket, another server, a service that answers
# garbage, cuts its answer off, never ends it, nests it without end, or is of another version. assay says that
# nothing came of it, with exit code 6, soon, within little memory, and with no control character of theirs.
import os
import re
import socket
import subprocess
import sys
import threading
sys.dont_write_bytecode = True
import tap
from tap import ok

MEMORY_KIB = 300 << 10
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def whole(body, head=HEAD):
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# What is sent, and what again and again until nobody listens.
ENDS = {
    "nothing": (b"", None),
    "garbage": (bytes(range(256)) * 50, None),
    "control characters": (whole(b'{"message":"\\u001b[31m\\u0007 red"}', HEAD.replace(b"200 OK", b"500 \x1b[31mNo")), None),
    "a cut head": (HEAD, None),
    "a cut body": (HEAD + b"Content-Length: 1000\r\n\r\n{", None),
    "no JSON": (whole(b"<html>\x1b[2J"), None),
    "another shape": (whole(b'[{"Id":7,"assay_job":"1","results":{}}]'), None),
    "another version": (whole(b'{"assay_job":99,"environment":{"interpreter":"/x"},"Id":"x"}'), None),
    "depth": (whole(b"[" * 200000), None),
    "a length below nothing": (HEAD + b"Content-Length: -5\r\n\r\n{}", None),
    "a status that is none": (b"HTTP/1.1 99999 ?\r\n\r\n", None),
    "a head without end": (b"HTTP/1.1 200 OK\r\n", b"X-Y: %s\r\n" % (b"z" * 60000)),
    "a body without end": (HEAD + b"\r\n{\"x\":\"", b"a" * 65536),
    "chunks without end": (EVENTS, chunk(b"data: " + b"b" * 65536)),
    "events without end": (EVENTS, chunk(b"event: nothing\ndata: {}\n\n" * 2000)),
    "another protocol": (b"HTTP/1.1 101 Switching\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n", b"\x07\0\0\0\xff\xff\xff\xff" * 4096),
}


class End:
    def __init__(self, path=None):
        self.what = None
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.bind(path or ("127.0.0.1", 0))
        self.socket.listen(16)
        self.port = None if path else self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            threading.Thread(target=self.answer, args=(self.socket.accept()[0],), daemon=True).start()

    def answer(self, c):
        once, again = ENDS[self.what]
        try:
            c.recv(65536)
            c.sendall(once)
            while again:
                c.sendall(again)
        except OSError:
            pass
        c.close()


def peak(pid):
    """Waits for it: its exit code and the most memory that it held."""
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss


def attack(name, end, sandbox, *options, **env):
    for what in ENDS:
        end.what = what
        with open("err.txt", "wb") as err, open("out.txt", "wb") as out:
            p = subprocess.Popen(["timeout", "120", tap.ASSAY, "exec", "--sandbox", sandbox, *options, "p.py"], stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=err, env=tap.environment(**env), cwd=tap.work)
            code, kib = peak(p.pid)
            p.returncode = code
        with open("err.txt", "rb") as f:
            said = f.read()
        empty = re.search(rb"assay: +\(|: *\n*$", said)
        ok(code == 6 and kib < MEMORY_KIB and len(said) < 4000 and not empty and not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", said),
           "%s: %s" % (name, what), "exit %d, %d KiB: %r" % (code, kib, said[:600]))


def body():
    os.chdir(tap.work)
    with open("p.py", "w") as f:
        f.write("print(1)\n")
    engine = End(os.path.join(tap.work, "engine.sock"))
    attack("docker", engine, "docker:image:1", DOCKER_HOST="unix://%s/engine.sock" % tap.work)
    server = End()
    url = "http://127.0.0.1:%d" % server.port
    attack("http", server, "http:" + url, ASSAY_SERVE_KEY="assay-" + "7" * 64)
    attack("modal", server, "modal:" + url, "--weaker", MODAL_KEY="wk-1234567890", MODAL_SECRET="ws-1234567890")
    attack("e2b", server, "e2b", "--weaker", E2B_API_KEY="e2b_1234567890", E2B_API_URL=url, E2B_SANDBOX_URL=url)
    attack("lambda", server, "lambda:f", "--weaker", AWS_ACCESS_KEY_ID="AKIA1234567890123456", AWS_REGION="eu-west-1",
           AWS_SECRET_ACCESS_KEY="secret-1234567890", AWS_ENDPOINT_URL_LAMBDA=url)
    attack("azure", server, "azure:" + url + "/subscriptions/s/resourceGroups/g/sessionPools/p", "--weaker",
           AZURE_SESSIONS_TOKEN="token-1234567890")


tap.main(body)
