# A server for the tests: `assay serve`, its key and its address, and requests to it.
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time

import mcp
import tap

PATIENCE = mcp.PATIENCE


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return "%d %r" % (self.status, self.body[:500])


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Server:
    def __init__(self, *args, key=None, where=("--listen", "0"), environment=None, **env):
        self.process = subprocess.Popen([tap.ASSAY, "serve", *where, *args], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env=environment or tap.environment(**env), cwd=tap.work)
        self.said, self.key, self.path, self.port = "", key, None, None
        if not self.hear("listening on"):
            raise RuntimeError("assay serve ended: " + self.said)
        where = re.search(r"listening on (\S+)", self.said).group(1)
        if where.startswith("/"):
            self.path = where
        else:
            self.port = int(where.rpartition(":")[2])
        printed = re.search(r"^key: (\S+)", self.said, re.M)
        self.key = printed.group(1) if printed and not key else self.key

    @property
    def pid(self):
        """The process that serves, which the one that was started replaces when it dies."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for pid, start in mcp.family(self.process.pid):
                if mcp.lives(pid, start) and (mcp.stat(pid) or (0,))[0] == self.process.pid:
                    return pid
        raise RuntimeError("nothing serves")

    def hear(self, text):
        """Reads what it says until that is in it."""
        while text not in self.said:
            line = self.process.stderr.readline().decode()
            if not line:
                return False
            self.said += line
        return True

    def connection(self):
        if self.path:
            return UnixConnection(self.path)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def headers(self, more):
        given = {"X-API-Key": self.key, "Content-Type": "application/json", **more}
        return {k: v for k, v in given.items() if v is not None}

    def ask(self, method, path, body=None, **headers):
        c = self.connection()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        c.request(method, path, body, self.headers({k.replace("_", "-"): v for k, v in headers.items()}))
        answer = Answer(c.getresponse())
        c.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)

    def run(self, code, **more):
        return self.post("/execute", dict(code=code, **more)).json()

    def raw(self, data=b""):
        """A connection with bytes sent on it."""
        if self.path:
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.path)
        else:
            s = socket.create_connection(("127.0.0.1", self.port))
        s.settimeout(PATIENCE)
        s.sendall(data)
        return s

    def request(self, path, body, method="POST"):
        """A request as bytes."""
        body = json.dumps(body).encode()
        return (("%s %s HTTP/1.1\r\nHost: localhost\r\nX-API-Key: %s\r\nContent-Type: application/json\r\n"
                 "Content-Length: %d\r\n\r\n") % (method, path, self.key, len(body))).encode() + body

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return int(line.split()[1])
        return None

    def until(self, name, value):
        """Until a metric has a value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.metric(name) == value:
                return True
            time.sleep(0.02)
        return False

    def end(self, *signals):
        for s in signals:
            self.process.send_signal(s)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def until_read(s):
    """Until the server, on this host, has read all that was sent on a connection."""
    ends = ["%08X:%04X" % (int.from_bytes(socket.inet_aton(a), sys.byteorder), port) for a, port in (s.getpeername(), s.getsockname())]

    def has_read():
        with open("/proc/net/tcp") as f:
            rows = [row.split() for row in f]
        return any(row[1:3] == ends and row[4].endswith(":00000000") for row in rows)
    return tap.until(has_read)


def read_all(s):
    """What comes on a connection until it ends."""
    data = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return data
            data += more
    except (ConnectionResetError, BrokenPipeError):
        return data
