#!/usr/bin/python3
# Files of a sandbox of E2B's wire that are large: they come and go without being held in memory, are
# shown to programs where they are, count against bounds, and leave nothing when a client cuts.
import base64
import hashlib
import json
import os
import re
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from tap import ok, same

MIB = 1 << 20
PIECE = bytes(range(256)) * 1024
LARGE = 200 * MIB
KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)


def Serve(*args):
    with open(os.open(os.path.join(tap.work, "keys"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        f.write("".join("%s %s\n" % k for k in KEYS))
    return serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), "--profile", "off",
                          *args, key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys"))


class Box:
    def __init__(self, s, key=None):
        made = s.post("/sandboxes", {"templateID": "base"}, **({"X_API_Key": key} if key else {})).json()
        self.s, self.id, self.token = s, made["sandboxID"], made["envdAccessToken"]

    def ask(self, method, path, body=None, **headers):
        return self.s.ask(method, path, body, **{"X_API_Key": None, "E2b_Sandbox_Id": self.id, "X_Access_Token": self.token, **headers})

    def head(self, method, path, *lines):
        lines = ("E2b-Sandbox-Id: " + self.id, "X-Access-Token: " + self.token, "Host: localhost", *lines)
        return ("%s %s HTTP/1.1\r\n%s\r\n\r\n" % (method, path, "\r\n".join(lines))).encode()

    def start(self, command):
        body = json.dumps({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command]}}).encode()
        got = self.ask("POST", "/process.Process/Start", b"\0" + struct.pack(">I", len(body)) + body, Content_Type="application/connect+json").body
        out, end = b"", None
        while got:
            flag, size = struct.unpack(">BI", got[:5])
            event = json.loads(got[5:5 + size]).get("event", {})
            out += b"".join(base64.b64decode(v) for v in event.get("data", {}).values())
            end, got = event.get("end", end), got[5 + size:]
        return out.decode(), (end or {}).get("exitCode")

    def cell(self, code):
        lines = [json.loads(l) for l in self.ask("POST", "/execute", {"code": code}).body.splitlines()]
        return next((l.get("text") or l["value"] for l in lines if l["type"] in ("result", "error")), lines)

    def names(self):
        got = self.ask("POST", "/filesystem.Filesystem/ListDir", {"path": ""}).json().get("entries", [])
        return {e["name"]: int(e["size"]) for e in got}

    def put(self, path, size, head=b"", tail=b"", *more):
        """What is answered; the digest of what was sent."""
        digest, c = hashlib.sha256(), self.s.raw(self.head("POST", "/files?path=" + path, "Content-Length: %d" % (size + len(head) + len(tail)), *more) + head)
        for at in range(0, size, len(PIECE)):
            piece = PIECE[:size - at]
            digest.update(piece)
            c.sendall(piece)
        c.sendall(tail)
        got = c.recv(65536)
        c.close()
        return int(got.split(b" ")[1]), digest.hexdigest()

    def get(self, path):
        c = self.s.raw(self.head("GET", "/files?path=" + path, "Connection: close"))
        file = c.makefile("rb")
        while file.readline().strip():
            pass
        digest, size = hashlib.sha256(), 0
        for piece in iter(lambda: file.read(MIB), b""):
            digest.update(piece)
            size += len(piece)
        c.close()
        return size, digest.hexdigest()


def peak(s):
    with open("/proc/%d/status" % s.pid) as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) * 1024


def there_and_back(s):
    b = Box(s)
    same(b.put("warm", 5 * MIB)[0], 200, "a file")
    b.get("warm")
    before = peak(s)
    status, digest = b.put("large", LARGE)
    same(status, 200, "200 MiB come")
    same(b.get("large"), (LARGE, digest), "and go, as they were")
    part = b.ask("GET", "/files?path=large", Range="bytes=%d-%d" % (100 * MIB + 3, 100 * MIB + 8))
    same((part.status, part.headers["Content-Range"], part.body), (206, "bytes %d-%d/%d" % (100 * MIB + 3, 100 * MIB + 8, LARGE), bytes(range(3, 9))), "in part, too")
    row, fork = s.post("/sandboxes/%s/fork" % b.id, {}).json()[0]["sandbox"], Box.__new__(Box)
    fork.s, fork.id, fork.token = s, row["sandboxID"], row["envdAccessToken"]
    same(fork.get("large"), (LARGE, digest), "a fork has it, too")
    s.ask("DELETE", "/sandboxes/" + fork.id)
    same(b.get("large"), (LARGE, digest), "and the end of the fork is its own")
    boundary = "Content-Type: multipart/form-data; boundary=xyz"
    head = b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="/home/user/form"\r\n\r\n'
    same(b.put("form", LARGE, head, b"\r\n--xyz--\r\n", boundary)[0], 200, "so does a part of a form")
    same(b.get("form"), (LARGE, digest), "as it was")
    ok(peak(s) - before < 64 * MIB, "the server holds a piece of them at a time", (before, peak(s)))
    same((s.metric("assay_sandboxes_files_disk_bytes"), s.metric("assay_sandboxes_files_on_disk")), (2 * LARGE + 5 * MIB, 3), "it tells what is on disk")
    places = tap.work, tap.environment()["XDG_CACHE_HOME"]
    kept = [os.path.join(d, f) for place in places for d, _, files in os.walk(place) for f in files]
    same([f for f in kept if os.path.isfile(f) and os.path.getsize(f) in (LARGE, 5 * MIB)], [], "in files without names")
    same(s.ask("DELETE", "/sandboxes/" + b.id).status, 204, "its sandbox is killed")
    ok(s.until("assay_sandboxes_files_disk_bytes", 0), "and all is gone")


def shown(s):
    b = Box(s)
    status, digest = b.put("data/large.bin", 24 * MIB)
    same(status, 200, "a file that is too large for a copy")
    same(b.start("wc -c <data/large.bin; sha256sum <data/large.bin"), ("%d\n%s  -\n" % (24 * MIB, digest), 0), "a command reads it")
    same(b.start("echo more >>data/large.bin")[1], 1, "and cannot write to it")
    same(b.cell("import hashlib\nhashlib.sha256(open('data/large.bin','rb').read()).hexdigest()"), digest, "a cell reads it")
    same(b.cell("x = 6\nimport os\nos.rename('data/large.bin', 'data/moved')\nx"), "6", "and moves it")
    same((b.get("data/moved"), b.ask("GET", "/files?path=data/large.bin").status), ((24 * MIB, digest), 404), "it is moved")
    same(b.start("cp -P data/moved again && mv data/moved data/back && head -c 3 data/back >short")[1], 0, "a command copies and moves it")
    same((b.names(), b.get("again"), b.get("data/back")), ({"again": 24 * MIB, "data": 0, "short": 3}, (24 * MIB, digest), (24 * MIB, digest)), "both are there")
    same(s.metric("assay_sandboxes_files_disk_bytes"), 48 * MIB, "and count")
    same(b.cell("os.path.getsize('data/back') * x"), str(6 * 24 * MIB), "the cell's context has it there, and its variables")
    same((b.start("rm again; rm data/back; echo new >data/back"), b.ask("GET", "/files?path=data/back").body), (("", 0), b"new\n"), "another takes its place")
    same(b.start("ln -s /in/.e2b/1 odd; ln -s /etc/passwd pw; ln -s '/in/.e2b/99 short' crafted; ls /in/.e2b | wc -l")[1], 0, "links to what is none of its files")
    same(sorted(b.names()), ["data", "short"], "are none")
    ok(s.until("assay_sandboxes_files_disk_bytes", 0), "nothing is left of what was removed")
    s.ask("DELETE", "/sandboxes/" + b.id)


def cut(s):
    b = Box(s)
    same(b.put("kept", 5 * MIB)[0], 200, "a file is there")
    for head in ((), ("Content-Type: multipart/form-data; boundary=xyz",)):
        c = s.raw(b.head("POST", "/files?path=kept", "Content-Length: %d" % (100 * MIB), *head))
        c.sendall(b'--xyz\r\nContent-Disposition: form-data; filename="kept"\r\n\r\n')
        for _ in range(80):
            c.sendall(PIECE)
        ok(s.until("assay_sandboxes_files_on_disk", 2), "20 MiB of another are on disk")
        c.close()
        ok(s.until("assay_sandboxes_files_on_disk", 1), "and gone when its client is")
    same((b.names(), s.metric("assay_sandboxes_files_disk_bytes")), ({"kept": 5 * MIB}, 5 * MIB), "what was there still is, alone")
    c = s.raw(b.head("GET", "/files?path=kept"))
    c.recv(1000)
    c.close()
    ok(s.until("assay_connections", 1), "a client that takes little of it leaves")
    s.ask("DELETE", "/sandboxes/" + b.id)
    ok(s.until("assay_sandboxes_files_disk_bytes", 0), "and nothing is held for it")
    same(s.metric("assay_sandboxes_files_memory_bytes"), 0, "in memory, too")


def bounded(s):
    """Of files on disk there are 256, half of them of one key."""
    boxes = [Box(s) for _ in range(13)]
    got = [boxes[n // 10].put("f%d" % n, 4 * MIB + 1)[0] for n in range(129)]
    same((got.count(200), got[-1]), (128, 507), "one key has half of what there may be")
    other = Box(s, KEYS[1][1])
    same(other.put("f", 4 * MIB + 1)[0], 200, "another has its own")
    same(boxes[0].start("cat f* | wc -c"), ("%d\n" % (10 * (4 * MIB + 1)), 0), "a command has what there is")


def main():
    with Serve() as s:
        there_and_back(s)
        shown(s)
        cut(s)
        bounded(s)
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
