#!/usr/bin/python3
# Attackers at the HTTP door: what is malformed, huge, slow, cut or piled up is refused or closed,
# within bounded memory, and the server goes on serving others.
import base64
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
sys.dont_write_bytecode = True
import mcp
import serving
import tap
from serving import Server, read_all
from tap import ok, same

HEAD = "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: %s\r\nContent-Type: application/json\r\n"


def alive(s, name):
    same(s.run("print(1)").get("stdout"), "1\n", "after %s it serves on" % name)


def malformed(s):
    head, body = HEAD.encode() % s.key.encode(), b'{"code": "print(1)"}'
    length, chunked, chunks = b"Content-Length: 20\r\n", b"Transfer-Encoding: chunked\r\n", b"14\r\n" + body + b"\r\n0\r\n\r\n"
    for data, name in ((head + length + b"Content-Length: 5\r\n\r\n" + body, "two lengths"), (head + b"Content-Length: 5\r\n" + length + b"\r\n" + body, "the shorter one first"),
                       (head + length + chunked + b"\r\n" + chunks, "a length, and chunks"), (head + chunked + b"Transfer-Encoding: identity\r\n\r\n" + chunks, "two codings"),
                       (head + b"Transfer-Encoding: xchunked\r\n\r\n" + chunks, "a coding that is none"), (head + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks, "a coding that is not here"),
                       (head + b"Content-Length : 5\r\n" + length + b"\r\n" + body, "a blank before the colon"),
                       (head + length + b"Host: evil.example\r\n\r\n" + body, "two hosts"), (head + length + b"X-API-Key: other\r\n\r\n" + body, "two keys"),
                       (head + chunked + b"\r\n14;" + b"x" * 100000 + b"\r\n" + body + b"\r\n0\r\n\r\n", "a chunk's extension without end"),
                       (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), "HTTP/2")):
        c = s.raw()
        try:
            c.sendall(data + s.request("/execute", {"code": "print('smuggled')"}))
            c.shutdown(socket.SHUT_WR)
        except OSError: # it was shown out while it still spoke
            pass
        got = read_all(c)
        ok(b" 200 " not in got and b"smuggled" not in got, "refused, with what is behind it: " + name, got[:200])
        c.close()
    for data, name in ((head + chunked + b"\r\n14;a=b\r\n" + body + b"\r\n0;c\r\nX: y\r\n\r\n", "chunks with extensions and a trailer"),
                       (head + length + b"Expect: 100-continue\r\n\r\n" + body, "100-continue"),
                       (head + length + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n" + body, "another protocol is not changed to")):
        c = s.raw(data)
        seen = until(c, b'"detail"')
        ok(b"101 Switching" not in seen, "taken: " + name)
        c.close()
    same(s.get("/runs%00").status, 404, "a NUL does not end a path")
    b = Box(s)
    same((b.ask("POST", "/files?path=a%00b", b"x", Content_Type="application/octet-stream").json()[0]["name"], b.ask("GET", "/files?path=a").status), ("a%00b", 404), "nor the name of a file")
    for path in ("../x", "%2e%2e/x", "/home/user/%2e%2e/%2e%2e/etc/passwd", "a/../../../x", "%ff%fe", "x" * 300):
        same((b.ask("POST", "/files?path=" + path, b"x", Content_Type="application/octet-stream").status, b.ask("GET", "/files?path=" + path).status), (400, 404), "no path: " + path[:30])
    for data, name in ((b"\r\n\r\n\r\n", "nothing"), (b"GET\r\n\r\n", "no path"), (b"\0" * 4096 + b"\r\n\r\n", "zeros"),
                       (b"GET / HTTP/9.9\r\n\r\n", "a version to come"), (os.urandom(8192), "noise"),
                       (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500, "TLS where there is none"),
                       (b"GET /health HTTP/1.1\r\nHost localhost\r\n\r\n", "a header without its colon"),
                       (HEAD.encode() % s.key.encode() + b"Content-Length: -1\r\n\r\n", "a length below zero"),
                       (HEAD.encode() % s.key.encode() + b"Content-Length: 99999999999999999999999\r\n\r\n", "a length beyond numbers"),
                       (HEAD.encode() % s.key.encode() + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n", "a chunk of no size")):
        c = s.raw(data)
        c.shutdown(socket.SHUT_WR)
        got = read_all(c)
        ok(b" 200 " not in got.split(b"\r\n")[0], "refused: " + name, got[:200])
        c.close()
    alive(s, "malformed requests")


def bodies(s):
    """What is no JSON, or one that would take a parser's stack, is told as that by each route."""
    b = Box(s)
    deep = b"[" * 10000 + b"]" * 10000
    wrong = deep, b'{"code": "\xff\xed\xa0\x80"}', b'{"code": "a\\u0000b"}', b'{"code": "1", "code": "2"}', b'{"timeout_ms": 1e999}', b""
    routes = [(s.ask, p) for p in ("/execute", "/run_python", "/sandbox", "/contexts", "/api/v2/execute", "/run_code", "/run_jupyter", "/mcp", "/v2/sandboxes")]
    routes += [(b.ask, p) for p in ("/execute", "/contexts", "/filesystem.Filesystem/ListDir", "/filesystem.Filesystem/Move", "/process.Process/SendInput", "/process.Process/Update")]
    for ask, path in routes:
        same([ask("POST", path, body).status for body in wrong], [400] * len(wrong), "refused by %s: six bodies" % path)
    for path in ("/process.Process/Start", "/filesystem.Filesystem/WatchDir", "/process.Process/Connect"):
        same([b"error" in b.ask("POST", path, b"\0" + struct.pack(">I", len(body)) + body, Content_Type="application/connect+json").body for body in wrong],
             [True] * len(wrong), "and in frames, by " + path)
    alive(s, "bodies")


def floods(s):
    c = s.raw()
    try:
        c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        for n in range(100000):
            c.sendall(b"X-%d: %s\r\n" % (n, b"y" * 100))
    except OSError:
        pass
    got = read_all(c)
    ok(not got or got.split()[1] in (b"400", b"413", b"431", b"500"), "a flood of headers", got[:100])
    c.close()
    c = s.raw()
    try:
        c.sendall(b"GET /" + b"a" * (4 << 20))
    except OSError:
        pass
    got = read_all(c)
    ok(not got or got.split()[1] in (b"400", b"413", b"414", b"431", b"500"), "a path without end", got[:100])
    c.close()
    alive(s, "floods")


def huge(s):
    head = (HEAD % s.key).encode()
    c = s.raw(head + b"Content-Length: %d\r\n\r\n" % (1 << 40))
    ok(b" 413 " in c.recv(200), "a body announced as huge is refused before it comes")
    c.close()
    c = s.raw(head + b"Transfer-Encoding: chunked\r\n\r\n")
    try:
        for _ in range(20):
            c.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
        c.sendall(b"0\r\n\r\n")
    except OSError:
        pass
    got = read_all_of_one(c)
    ok(not got or b" 413 " in got, "one that is just as long, but does not say so", got[:100])
    c.close()
    c = s.raw(HEAD.replace("X-API-Key: %s\r\n", "").encode() + b"Content-Length: 16000000\r\n\r\n")
    ok(b" 401 " in c.recv(200), "no body is taken of one without a key")
    c.close()
    c = s.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n" + b"x" * 15000000)
    same(s.metric("assay_body_bytes"), 0, "nor kept where nobody reads it")
    c.close()
    same(Box(s).ask("POST", "/files?path=x", bytes(17 << 20), Content_Type="application/octet-stream", Content_Encoding="gzip").status, 413, "a packed file, which is kept until it is whole, is refused as such")
    with open("/proc/%d/status" % s.pid) as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    if "asan" not in tap.ASSAY:
        ok(peak < 200 << 10, "within bounded memory", peak)
    alive(s, "huge bodies")


def read_all_of_one(c):
    try:
        return c.recv(400)
    except OSError:
        return b""


def pipelined(s):
    one = s.request("/execute", {"code": "print('first')"})
    two = s.request("/execute", {"code": "print('second')"})
    c = s.raw(one + two + s.request("/health", None, "GET"))
    got = b""
    while got.count(b"HTTP/1.1 200") < 3:
        more = c.recv(65536)
        if not more:
            break
        got += more
    ok(0 < got.find(b'"first\\n"') < got.find(b'"second\\n"') < got.find(b'"status":"ok"'), "pipelined: each answered, in order", got[-300:])
    c.close()
    # A body is no request, whatever it looks like.
    inner = s.request("/runs", None, "GET").decode().replace(s.key, "k")
    got = s.post("/execute", {"code": "print(%r)" % inner}).json()
    same(got["stdout"], inner + "\n", "a request inside a body is a body")


def cut(s):
    for n in (10, 60, 150, -1):
        c = s.raw(s.request("/execute", {"code": "print('cut')"})[:n])
        c.close()
    ok(s.until("assay_body_bytes", 0), "what was cut is let go")
    ok(not any(r["status"] != "success" for r in s.get("/runs").json()["runs"]), "and none of it ran")
    alive(s, "cut requests")


def slow(s):
    """One byte now and then keeps nobody's place for ever."""
    c = s.raw(b"POST /execute HTTP/1.1\r\n")
    began, closed = time.monotonic(), False
    while not closed and time.monotonic() - began < serving.PATIENCE:
        try:
            c.sendall(b"X")
            c.settimeout(1)
            closed = c.recv(100) == b"" or True
        except TimeoutError:
            continue
        except OSError:
            closed = True
    ok(closed, "who brings a byte a second is shown out")
    c.close()
    alive(s, "a slow client")


def crowd(s):
    idle = []
    try:
        for _ in range(600):
            idle.append(socket.create_connection(("127.0.0.1", s.port), timeout=serving.PATIENCE))
    except OSError:
        pass
    ok(len(idle) > 100, "a crowd that says nothing")
    for c in idle:
        c.close()
    ok(s.until("assay_connections", 1), "is let go")
    alive(s, "a crowd")


def gone(s):
    """Clients that leave in the middle: before, while and after their program runs, and of a stream."""
    request = s.request("/execute", {"code": "import time\nprint('x' * 100000, flush=True)\ntime.sleep(60)"})
    clients = []
    for n in range(12):
        data = request if n % 2 else request.replace(b"Content-Type", b"Accept: text/event-stream\r\nContent-Type")
        clients.append(s.raw(data))
    ok(s.until("assay_running", 2), "two run, others wait")
    for c in clients:
        c.close()
    ok(s.until("assay_running", 0) and s.until("assay_waiting", 0), "all of them leave: nothing runs on")
    alive(s, "clients that left")


def deaf(s):
    """A guest that floods its client, who does not read."""
    c = s.raw(s.request("/execute", {"code": "import sys\nwhile True: sys.stdout.write('y' * 65536)", "timeout_ms": 9000})
              .replace(b"Content-Type", b"Accept: text/event-stream\r\nContent-Type"))
    ok(s.until("assay_running", 1) and s.until("assay_running", 0), "a flood to somebody deaf ends")
    got = c.recv(100)
    ok(b" 200 " in got, "and was a stream", got)
    c.close()
    alive(s, "a flood")


def sipping(s):
    """Takes a byte now and then of an answer that is long: the server ends nevertheless."""
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.connect(("127.0.0.1", s.port))
    c.sendall(s.request("/run_code", {"code": "open('a', 'wb').write(bytes(2 << 20))", "language": "python",
                                      "fetch_files": ["./" * n + "a" for n in range(5)]}))
    same(c.recv(15), b"HTTP/1.1 200 OK", "a long answer is on its way")
    ended = threading.Event()

    def sip():
        try:
            while not ended.wait(0.5) and c.recv(1):
                pass
        except OSError:
            pass

    t = threading.Thread(target=sip)
    t.start()
    try:
        s.process.send_signal(signal.SIGTERM)
        while "503" not in refused_or(s):
            time.sleep(0.05)
        same(s.end(signal.SIGTERM), 143, "who sips keeps nobody from ending")
    finally:
        s.process.kill()
        ended.set()
        t.join()
        c.close()


class Box:
    """A sandbox of E2B's wire, as its clients speak to it."""

    def __init__(self, s):
        made = s.post("/v2/sandboxes", {}).json()
        self.s, self.id, self.token = s, made["sandboxID"], made["envdAccessToken"]

    def ask(self, method, path, body=None, **headers):
        return self.s.ask(method, path, body, X_API_Key=None, E2b_Sandbox_Id=self.id, X_Access_Token=self.token, **headers)

    def stream(self, path, message, head=""):
        """The connection of a request whose answer comes as frames."""
        message = json.dumps(message).encode()
        return self.s.raw(("POST %s HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: %s\r\nX-Access-Token: %s\r\n"
                           "Content-Type: application/connect+json\r\nContent-Length: %d\r\n%s\r\n"
                           % (path, self.id, self.token, 5 + len(message), head)).encode() + b"\0" + struct.pack(">I", len(message)) + message)

    def start(self, command, head=""):
        c = self.stream("/process.Process/Start", {"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command]}, "stdin": True}, head)
        seen = until(c, b'"pid"')
        return c, int(seen.split(b'"pid":')[1].split(b"}")[0])

    def send(self, pid, data):
        return self.ask("POST", "/process.Process/SendInput", {"process": {"pid": pid}, "input": {"stdin": base64.b64encode(data).decode()}})


def until(c, text):
    """What comes, until a text is in it, of which the last piece alone is kept."""
    seen = b""
    while text not in seen:
        more = c.recv(1 << 20)
        if not more:
            raise EOFError("%r, and no %r" % (seen[-500:], text))
        seen = seen[-200:] + more
    return seen


def hoards(s):
    """What commands printed to those who follow them, and were told, has one bound over all sandboxes."""
    boxes, ends, most = [], [], 64 << 20
    while len(ends) < 12 and not any(b"data_loss" in e for e in ends):
        if len(ends) % 4 == 0:
            boxes.append(Box(s))
        own, pid = boxes[-1].start("read a; head -c 5200000 /dev/zero")
        follower = boxes[-1].stream("/process.Process/Connect", {"process": {"pid": pid}})
        until(follower, b'"pid"')
        same(boxes[-1].send(pid, b"\n").status, 200, "a command prints 5 MB to one who follows")
        until(own, b"0\r\n\r\n")
        ends.append(until(follower, b"0\r\n\r\n"))
        own.close()
        follower.close()
    same([b"data_loss" in e for e in ends], [False] * 9 + [True], "until so much is kept of all, and then a follower is told")
    kept = s.metric("assay_sandboxes_kept_bytes")
    ok(most - (9 << 20) < kept <= most, "which is within the bound", kept)
    b = Box(s)
    c, pid = b.start("kill -STOP $PPID; echo stopped; sleep 600")
    until(c, base64.b64encode(b"stopped\n"))
    got = [b.send(pid, bytes(1 << 20)) for _ in range(6)]
    ok(got[0].status == 200 and got[-1].status == 429 and got[-1].json()["code"] == "resource_exhausted", "nor is more input kept", got[-1])
    ok(s.metric("assay_sandboxes_kept_bytes") <= most, "within it, too")
    for b in boxes + [b]:
        s.ask("DELETE", "/sandboxes/" + b.id)
    c.close()
    ok(s.until("assay_sandboxes_kept_bytes", 0), "and none of it when they are gone")
    alive(s, "hoarders")


def lasting(s, again):
    """Terminals and inputs that are flooded, resized absurdly, left and never closed, and how they end."""
    b = Box(s)
    terminal = {"process": {"cmd": "/bin/bash", "args": ["-i", "-l"]}, "pty": {"size": {"cols": 80, "rows": 24}}}

    def update(pid, cols, rows):
        return b.ask("POST", "/process.Process/Update", {"process": {"pid": pid}, "pty": {"size": {"cols": cols, "rows": rows}}}).status

    c = b.stream("/process.Process/Start", terminal)
    pid = int(until(c, b'"pid"').split(b'"pid":')[1].split(b"}")[0])
    same([update(pid, *size) for size in ((10001, 1), (1, 10001), (0, 1), (-1, 5), (1 << 62, 1), (1e300, 1), (1, 10000))], [400] * 6 + [200], "no size of a terminal, and the largest")
    same([update(pid, 1 + n % 500, 1 + n % 300) for n in range(200)], [200] * 200, "resized over and over")
    full = [b.ask("POST", "/process.Process/SendInput", {"process": {"pid": pid}, "input": {"pty": base64.b64encode(b"x" * 60000).decode()}}).status for _ in range(100)]
    ok(set(full) <= {200, 429}, "flooded with a line without end", set(full))
    c.close()
    same(b.ask("POST", "/process.Process/SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"}).status, 200, "its client has gone, and it is ended")
    ok(s.until("assay_running", 0) and s.until("assay_sandboxes_kept_bytes", 0), "with what it had not asked for")
    left, _ = b.start("cat")
    own, _ = b.start("cat", "Connect-Timeout-Ms: 10000\r\n")
    ok(s.until("assay_running", 2), "two that wait for an input that nobody closes")
    left.close()
    below = mcp.family(s.process.pid)
    s.process.send_signal(signal.SIGTERM)
    same(b"HTTP" in read_all(own), False, "the one with a client goes on until its time is over")
    same(s.process.wait(serving.PATIENCE), 0, "and the server ends with it")
    ok(below and mcp.gone(below), "nothing of either is left")
    own.close()
    with again() as s:
        b = Box(s)
        c, _ = b.start("cat")
        t = b.stream("/process.Process/Start", terminal)
        until(t, b'"pid"')
        below = mcp.family(s.process.pid)
        same(s.end(signal.SIGKILL), -9, "killed with a terminal and an input open")
        ok(below and mcp.gone(below), "nothing of them is left")
        c.close()
        t.close()


def refused_or(s):
    """The status of a request; 503 also where nobody listens any more."""
    try:
        return str(s.get("/health").status)
    except OSError:
        return "503"


def main():
    with Server("--parallel", "2") as s:
        malformed(s)
        bodies(s)
        floods(s)
        huge(s)
        pipelined(s)
        cut(s)
        gone(s)
        deaf(s)
        crowd(s)
        slow(s)
        below = mcp.family(s.process.pid)
        same(s.end(signal.SIGTERM), 0, "and it ends")
        ok(mcp.gone(below), "with all below it")
        key = s.key
    with Server("--parallel", "2", "--output-bytes", "8M", "--profile", "off", key=key) as s:
        hoards(s)
    def again():
        return Server("--parallel", "2", "--profile", "off", "--timeout", "300", key=key)

    with again() as s:
        lasting(s, again)
    with Server("--parallel", "2", key=key) as s:
        sipping(s)


tap.main(main)
