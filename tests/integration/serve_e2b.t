#!/usr/bin/python3
# E2B's wire in assay serve, request by request: who is let in to which sandbox, paths that lead
# elsewhere, bodies that are cut, lie or are too large, bounds, ends, and what a guest says of its files.
import base64
import gzip
import http.client
import json
import os
import signal
import struct
import sys
import threading
import time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
from tap import ok, same

KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)
WHERE = ("--listen", "0", "--key-file", "keys")


def keys_file():
    with open(os.path.join(tap.work, "keys"), "w") as f:
        f.write("".join("%s %s\n" % k for k in KEYS))
    os.chmod(os.path.join(tap.work, "keys"), 0o600)


def Serve(*args):
    return serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), *args,
                          key=KEYS[0][1], where=WHERE)


class Box:
    def __init__(self, s, **more):
        self.s, got = s, s.post("/sandboxes", {"templateID": "base", **more})
        same(got.status, 201, "a sandbox")
        self.made = got.json()
        self.id, self.token = self.made["sandboxID"], self.made["envdAccessToken"]

    def ask(self, method, path, body=None, **headers):
        given = dict(X_API_Key=None, E2b_Sandbox_Id=self.id, X_Access_Token=self.token)
        given.update(headers)
        return self.s.ask(method, path, body, **given)

    def run(self, code, **more):
        got = self.ask("POST", "/execute", {"code": code, **more})
        return [json.loads(line) for line in got.body.splitlines()] if got.status == 200 else got

    def text(self, code, **more):
        lines = self.run(code, **more)
        return next((l["text"] for l in lines if l["type"] == "result" and l["is_main_result"]),
                    next((l for l in lines if l["type"] == "error"), lines))

    def frame(self, message):
        message = json.dumps(message).encode()
        return b"\0" + struct.pack(">I", len(message)) + message

    def head(self, path, length, kind):
        return ("POST %s HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: %s\r\nX-Access-Token: %s\r\nContent-Type: %s\r\n"
                "Content-Length: %d\r\n\r\n" % (path, self.id, self.token, kind, length)).encode()

    def start(self, command, **more):
        return self.ask("POST", "/process.Process/Start", self.frame({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command], **more}}),
                        Content_Type="application/connect+json")


def read_until(c, text):
    seen = b""
    while text not in seen:
        more = c.recv(4096)
        if not more:
            raise EOFError("%r, and no %r" % (seen[-500:], text))
        seen += more
    return seen


def frames(body):
    found = []
    while body:
        flag, size = struct.unpack(">BI", body[:5])
        found.append((flag, json.loads(body[5:5 + size])))
        body = body[5 + size:]
    return found


def let_in(s):
    b, other = Box(s), Box(s)
    same(b.ask("GET", "/health").status, 204, "its token lets in")
    for name, headers in (("none", {"X_Access_Token": None}), ("another's", {"X_Access_Token": other.token}),
                          ("cut", {"X_Access_Token": b.token[:-1]}), ("a key", {"X_Access_Token": None, "X_API_Key": s.key}),
                          ("no such sandbox", {"E2b_Sandbox_Id": "0" * 20}), ("an odd id", {"E2b_Sandbox_Id": "../" + b.id})):
        for method, path in (("GET", "/health"), ("POST", "/execute"), ("GET", "/files?path=a"), ("GET", "/contexts"),
                             ("POST", "/process.Process/List")):
            got = b.ask(method, path, {"code": "1"} if method == "POST" else None, **headers)
            if got.status != 502:
                ok(False, "%s is refused" % name, got)
    ok(True, "no other token, key or id does")
    same(b.ask("GET", "/health", Host="49983-%s.localhost:1" % b.id, E2b_Sandbox_Id=None).status, 204, "the id in the name of the host")
    same(b.ask("GET", "/health", Host="49983-%s.evil.example" % b.id, E2b_Sandbox_Id=None).status, 403, "whose rest is the server's")
    same(b.ask("GET", "/runs").status, 404, "in a sandbox there is nothing but it")
    s.key = KEYS[1][1]
    same((s.get("/sandboxes/" + b.id).status, s.ask("DELETE", "/sandboxes/" + b.id).status, s.get("/v2/sandboxes").json(),
          s.post("/sandboxes/%s/timeout" % b.id, {"timeout": 0}).status, s.post("/v2/sandboxes/%s/connect" % b.id, {}).status),
         (404, 404, [], 404, 404), "another key's sandboxes do not exist")
    s.key = KEYS[0][1]
    context = b.ask("POST", "/contexts", {}).json()["id"]
    same(other.ask("POST", "/execute", {"code": "1", "context_id": context}).status, 404, "another sandbox's contexts do not, either")
    same(s.post("/execute", {"code": "1", "context": context}).status, 200, "a key has those of its sandboxes")
    same(s.ask("DELETE", "/sandboxes/" + other.id).status, 204, "killed")
    same(other.ask("GET", "/health").status, 502, "its token is worth nothing any more")
    for body in ([], {"timeout": -1}, {"metadata": {"a": 1}}, {"envVars": "x"}, {"volumeMounts": []}):
        same(s.post("/v2/sandboxes", body).status, 400, "no sandbox: %s" % body)


def paths(s):
    b = Box(s)
    same(b.ask("POST", "/files?path=%2Fhome%2Fuser%2Fa%2F..%2Fb", b"1", Content_Type="application/octet-stream").json()[0]["path"],
         "/home/user/b", "a path is made plain")
    for path in ("/etc/passwd", "..", "../x", "a/../../x", "/home/user/../x", "/home/users/x", "/", "/home", "~x/../../y", "%00x",
                 "x" * 2000, "/".join("a" * 100), "y" * 256, "", ".", "/home/user", "/tmp/x", "\udcff".encode("utf-8", "surrogateescape").hex()):
        quoted = path if path == "%00x" else "".join("%%%02x" % c for c in path.encode())
        got = b.ask("POST", "/files?path=" + quoted, b"1", Content_Type="application/octet-stream")
        ok(got.status == 400 or (got.status == 200 and got.json()[0]["path"].startswith("/home/user/") and ".." not in got.json()[0]["path"]),
           "no file elsewhere: %.40s" % path, got)
    for name in ("ListDir", "Stat", "MakeDir", "Remove"):
        for path in ("/etc", "../..", None, 5):
            same(b.ask("POST", "/filesystem.Filesystem/" + name, {"path": path}).status, 400, "%s %r" % (name, path))
    b.ask("POST", "/files?path=d/f", b"1", Content_Type="application/octet-stream")
    for source, destination in (("d", "d/e"), ("d", "../x"), ("d/f", "/home/user"), ("", "x"), ("none", "x")):
        got = b.ask("POST", "/filesystem.Filesystem/Move", {"source": source, "destination": destination})
        ok(got.status in (400, 404), "no move of %r to %r" % (source, destination), got)
    same(b.ask("GET", "/files?path=d/f").body, b"1", "and it is where it was")
    b.run("import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('pipe')\nopen('plain', 'w').write('p')\nos.symlink('plain', 'd/also')")
    entries = [e["name"] for e in b.ask("POST", "/filesystem.Filesystem/ListDir", {"path": "/home/user", "depth": 9}).json()["entries"]]
    ok("plain" in entries and "link" not in entries and "also" not in entries, "links and pipes of a program are no files", entries)
    b.run("listing = 'f 644 ../../etc/x\\0f 644 /etc/y\\0d 755 /tmp\\0f 644 ok\\0f x\\0\\0f 777 a/../../b\\0f'\n"
          "import atexit\nopen('/out/.e2b-list', 'w').write(listing)\nopen('/out/ok', 'w').write('1')\nos._exit(0)")
    listed = b.ask("POST", "/filesystem.Filesystem/ListDir", {"path": "/home/user", "depth": 9}).json()["entries"]
    ok(all(e["path"].startswith("/home/user/") and ".." not in e["path"] for e in listed), "what a program says of its files names none elsewhere", listed)


def bodies(s):
    b = Box(s)
    for name, body in (("nothing", b""), ("a cut frame", b"\0\0\0\0\x09{}"), ("a compressed one", b"\1\0\0\0\2{}"),
                       ("no JSON", b"\0\0\0\0\2{["), ("another message", b"\0\0\0\0\2[]"), ("a length without end", b"\0\xff\xff\xff\xff{}")):
        got = b.ask("POST", "/process.Process/Start", body, Content_Type="application/connect+json")
        found = frames(got.body)
        same((got.status, found[-1][0], found[-1][1]["error"]["code"]), (200, 2, "invalid_argument"), "Start: " + name)
    boundary = "multipart/form-data; boundary=xyz"
    whole = b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="n"\r\n\r\nbytes\r\n--xyz--\r\n'
    same(b.ask("POST", "/files", whole, Content_Type=boundary).json()[0]["path"], "/home/user/n", "a multipart body")
    for cut in range(0, len(whole) - 6, 7):
        got = b.ask("POST", "/files", whole[:cut], Content_Type=boundary)
        if got.status not in (200, 400):
            ok(False, "cut after %d bytes" % cut, got)
    ok(True, "one that is cut is refused, wherever")
    same(b.ask("GET", "/files?path=n").body, b"bytes", "and nothing is written")
    same(b.ask("POST", "/files?path=x", whole.replace(b"bytes", b"--xyz\r\n\r\n--xy\r\n-"), Content_Type=boundary).status, 200, "boundaries that are none")
    same(b.ask("GET", "/files?path=x").body, b"--xyz\r\n\r\n--xy\r\n-", "are bytes")
    c = s.raw(("POST /files?path=big HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: %s\r\nX-Access-Token: %s\r\nContent-Length: %d\r\n\r\n" %
               (b.id, b.token, (1 << 30) + 1)).encode())
    ok(c.recv(4096).startswith(b"HTTP/1.1 413 "), "a body too large")
    c.close()
    full = [b.ask("POST", "/files?path=f%d" % n, b"0" * (15 << 20), Content_Type="application/octet-stream").status for n in range(4)]
    same(full, [200, 200, 200, 507], "files have a bound together")
    packed = lambda body, how="gzip": b.ask("POST", "/files?path=z", body, Content_Type="application/octet-stream", Content_Encoding=how).status
    same((packed(b"x"), packed(gzip.compress(b"x")[:-3]), packed(b"x", "br")), (400, 400, 400), "what is packed in no way that is known is refused")
    same(packed(gzip.compress(bytes(17 << 20))), 507, "so is what unpacks to more than a body may have")
    b.ask("POST", "/filesystem.Filesystem/Remove", {"path": "f0"})
    same((packed(gzip.compress(b"unpacked")), b.ask("GET", "/files?path=z").body), (200, b"unpacked"), "and a gzip file is unpacked")
    same([b.ask("POST", "/files?path=z", b"1", Content_Type="application/octet-stream", **{"X-Metadata-a": v}).json()[0].get("metadata")
          for v in ("b", "b" * 5000)], [{"a": "b"}, None], "what is said of a file has a bound")
    for line in ("!shutdown now", "%pip list; shutdown now", "%conda list; shutdown now"):
        same([l["name"] for l in b.run(line) if l["type"] == "error"], ["Refused"], "a line of the shell is screened: " + line)
    for path, body in (("/execute", {}), ("/execute", {"code": 1}), ("/execute", []), ("/execute", {"code": "1", "context_id": "x"}),
                       ("/contexts", {"language": "cobol"}), ("/process.Process/SendInput", {"process": {"pid": 1}}),
                       ("/process.Process/SendSignal", {"process": {"pid": "1"}}), ("/process.Process/CloseStdin", [])):
        got = b.ask("POST", path, body)
        ok(400 <= got.status < 500, "%d: %s %s" % (got.status, path, body), got)
    ended = frames(b.start("printf %s \"$0\" '; exit 7'; exit 5", cwd="/tmp/'; exit 9 #").body)
    ok(ended[-2][1]["event"]["end"]["exitCode"] == 1, "a folder that is none", ended)
    ended = frames(b.start("exit 5", cwd="/home/user/'; exit 9 #").body)
    ok(len(ended) == 1 and ended[0][1]["error"]["code"] == "invalid_argument", "and one that is not in the home", ended)
    odd = {"A B": "1", "LD_PRELOAD": "x", "ASSAY_COMMAND": "runs", "=": "x"}
    same(frames(b.start("exit 5", envs=odd).body)[-2][1]["event"]["end"]["exitCode"], 5, "variables that are none")


def flood(s):
    b = Box(s)
    lines = b.run("import sys\nfor _ in range(200):\n    sys.stdout.write('x' * 65536)\nprint('end')")
    told = sum(len(l["text"]) for l in lines if l["type"] == "stdout")
    ok(told <= 1 << 20, "a program that floods its client is cut", told)
    same(lines[-1]["type"], "end_of_execution", "and the answer has its end")
    lines = b.run("open('huge', 'wb').write(bytes(20 << 20))")
    ok(any(l["type"] == "stderr" and "huge" in l["text"] for l in lines), "a file too large to keep is told", [l for l in lines if l["type"] != "stdout"])
    same([b.ask("POST", "/contexts", {}).status for _ in range(40)].count(429) > 0, True, "contexts have a bound")


def late(s):
    """What comes while a program runs, or after its sandbox was killed."""
    b = Box(s)
    started = b.frame({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", "cat; echo up; sleep %d" % serving.PATIENCE]}, "stdin": True})
    c = s.raw(b.head("/process.Process/Start", len(started), "application/connect+json") + started)
    ok(s.until("assay_running", 1), "a command waits for its input")
    send = {"process": {"pid": 1001}, "input": {"stdin": "eA=="}}
    same(b.ask("POST", "/process.Process/SendInput", send).status, 200, "and takes it")
    read_until(c, b"eA==")
    ok(True, "which the program has at once")
    same(b.ask("POST", "/process.Process/CloseStdin", {"process": {"pid": 1001}}).status, 200, "its end")
    read_until(c, b"dXAK")
    same([b.ask("POST", "/process.Process/SendInput", send).status for _ in range(3)], [400] * 3, "and none after that")
    c.close()
    ok(s.until("assay_connections", 1), "the server knows that its client has left")
    same([p["pid"] for p in b.ask("POST", "/process.Process/List", {}).json()["processes"]], [1001], "a command goes on when its client leaves")
    same(b.ask("POST", "/process.Process/SendSignal", {"process": {"pid": 1001}, "signal": "SIGNAL_SIGKILL"}).status, 200, "until it is ended")
    ok(s.until("assay_running", 0), "and is gone")
    command = b.frame({"process": {"cmd": "echo", "args": ["ran"]}})
    before = s.metric("assay_contexts")
    for path, body, kind, wanted in (("/contexts", b'{"language": "python"}', "application/json", b"HTTP/1.1 404 "),
                                     ("/execute", b'{"code": "print(1)"}', "application/json", b"HTTP/1.1 404 "),
                                     ("/process.Process/Start", command, "application/connect+json", b"not_found")):
        b = Box(s)
        c = s.raw(b.head(path, len(body), kind) + body[:7])
        ok(s.until("assay_body_bytes", len(body)), "a request is on its way")
        same(s.ask("DELETE", "/sandboxes/" + b.id).status, 204, "its sandbox is killed")
        c.sendall(body[7:])
        seen = b""
        while wanted not in seen and b"0\r\n\r\n" not in seen:
            more = c.recv(4096)
            if not more:
                break
            seen += more
        ok(wanted in seen and b"cmFuCg==" not in seen, path + " is nowhere", seen)
        c.close()
    same(s.metric("assay_contexts"), before, "and no context is left over")


def fed(s):
    """A command that takes input, its record, and terminals, which are approved beforehand or refused."""
    b = Box(s)
    started = b.frame({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", "read a; echo \"<$a>\"; cat"]}, "stdin": True, "tag": "mine"})
    c = s.raw(b.head("/process.Process/Start", len(started), "application/connect+json") + started)
    seen = read_until(c, b'"start"')
    same([p["tag"] for p in b.ask("POST", "/process.Process/List", {}).json()["processes"]], ["mine"], "a command has a tag")
    for path, more in (("SendInput", {"input": {"stdin": base64.b64encode(b"one\ntwo\n").decode()}}), ("CloseStdin", {})):
        same(b.ask("POST", "/process.Process/" + path, {"process": {"tag": "mine"}, **more}).status, 200, path + ", by its tag")
    seen += read_until(c, b'"end"')
    ok(b'"exitCode":0' in seen, "it ends with its input", seen)
    c.close()
    body = {"process": {"cmd": "/bin/bash", "args": ["-i", "-l"]}, "pty": {"size": {"cols": 80, "rows": 24}}}
    got = frames(b.ask("POST", "/process.Process/Start", b.frame(body), Content_Type="application/connect+json").body)
    end = [f[1]["event"]["end"] for f in got if "end" in f[1].get("event", {})][0]
    ok(end["exitCode"] == 126 and "--allow sh.interpreter" in end["status"], "a terminal's shell runs what it is given: that wants a yes", end)
    for size in ({}, {"size": {"cols": 0, "rows": 1}}, {"size": 5}):
        got = frames(b.ask("POST", "/process.Process/Start", b.frame({**body, "pty": size}), Content_Type="application/connect+json").body)
        same(got[-1][1].get("error", {}).get("code"), "invalid_argument", "no size of a terminal: %s" % size)
    same(b.ask("POST", "/process.Process/Update", {"process": {"pid": 1}, "pty": {"size": {"cols": 1, "rows": 1}}}).status, 404, "nor one of what is not there")
    s.ask("DELETE", "/sandboxes/" + b.id)


def fed_again():
    """Its input is in the record, and served again: the command runs once more, and does the same."""
    runs = tap.assay("log", "list", "--json", "--limit", "200").json()
    for run in runs:
        if run["prompt"] == "serve e2b command" and '<one>' in tap.assay("log", "show", run["run"]).out:
            again = tap.assay("replay", run["run"], "--json")
            return same((again.code, again.json()["same"]), (0, True), "a command with input can be replayed")
    ok(False, "a command with input can be replayed", runs)


def weights(s):
    b = Box(s)
    many = b.frame({"process": {"cmd": "echo", "args": [0] * 200000}})
    found = frames(b.ask("POST", "/process.Process/Start", many, Content_Type="application/connect+json").body)
    same(found[-1][1].get("error", {}).get("code"), "invalid_argument", "a command of too many values")
    same([s.post("/sandboxes", body).status for body in ({"metadata": {"a": "x" * 100000}}, {"envVars": {"a": "x" * 100000}}, {"templateID": "x" * 100000})],
         [400] * 3, "what is said of a sandbox has a bound")
    same(b.ask("POST", "/contexts", {"cwd": "/" + "x" * 5000}).status, 400, "and where a context is")
    b.ask("POST", "/files?path=m/" + "n" * 120, b"1", Content_Type="application/octet-stream")
    b.ask("POST", "/files?path=" + "/".join(["o" * 60] * 5), b"2", Content_Type="application/octet-stream")
    frames(b.start("cat m/n* o*/o*/o*/o*/o* >both").body)
    same([b.ask("GET", "/files?path=" + p).body for p in ("both", "m/" + "n" * 120)], [b"12", b"1"], "names of any length come along to a command")
    lines = b.run("import os\nopen('/out/.e2b.json', 'w').write('{\"results\": [' + '0,' * 2000000 + '0]}')\nopen('/out/.e2b-list', 'w').close()\nos._exit(0)")
    ok(lines[-1]["type"] == "end_of_execution" and any(l["type"] == "stderr" and "too many values" in l["text"] for l in lines),
       "results of too many values are told, not read", lines)


def secrets(s):
    b, key = Box(s), "AKIA" + "Q3EGRIYH" * 2
    for wire, answer in (("/execute", json.dumps(b.run("print(%r)\n%r" % (key, key)))),
                         ("a command", "".join(base64.b64decode(f[1]["event"]["data"]["stdout"]).decode() for f in frames(b.start("echo " + key).body)
                                               if "data" in f[1].get("event", {}))),
                         ("/run_jupyter", s.post("/run_jupyter", {"cells": ["print(%r)" % key, repr(key)]}).body.decode()),
                         ("events", s.ask("POST", "/execute", {"code": "print(%r)" % key}, Accept="text/event-stream").body.decode())):
        ok(answer and key not in answer and "REDACTED:" in answer, wire + ": what looks like a secret is taken out", answer)


def left(s):
    b = Box(s)
    b.text("x = 5")
    body = json.dumps({"code": "import time\nx = 6\nprint('up', flush=True)\ntime.sleep(%d)" % serving.PATIENCE}).encode()
    c = s.raw(("POST /execute HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: %s\r\nX-Access-Token: %s\r\nContent-Type: application/json\r\n"
               "Content-Length: %d\r\n\r\n" % (b.id, b.token, len(body))).encode() + body)
    seen = b""
    while b"up" not in seen:
        seen += c.recv(4096)
    c.close()
    ok(s.until("assay_running", 0), "a client that leaves ends its program")
    same(b.text("x"), "5", "and leaves the state as it was")
    def wait():
        try:
            seen_end.append(b.run("import time\ntime.sleep(%d)" % serving.PATIENCE))
        except http.client.IncompleteRead as cut:
            seen_end.append([json.loads(line) for line in cut.partial.splitlines()])

    t = threading.Thread(target=wait)
    seen_end = []
    t.start()
    ok(s.until("assay_running", 1), "a program runs")
    same(s.ask("DELETE", "/sandboxes/" + b.id).status, 204, "its sandbox is killed")
    t.join()
    same(seen_end[0][-1]["type"], "error", "it ends, the client is told, and its answer breaks off")
    b = Box(s, timeout=1)
    end = time.monotonic() + serving.PATIENCE
    while b.ask("GET", "/health").status == 204 and time.monotonic() < end:
        time.sleep(0.05)
    same(b.ask("GET", "/health").status, 502, "one whose time is over is gone")


def ended(s):
    return [s.metric("assay_sandboxes_%s_total" % n) for n in ("refused", "unused", "outlived")]


def bounds():
    with Serve("--contexts", "4", "--context-idle", "1") as s:
        same([s.post("/sandboxes", {}).status for _ in range(3)], [201, 201, 429], "sandboxes have a bound, half of it for a key")
        end = time.monotonic() + serving.PATIENCE
        while s.get("/sandboxes").json() and time.monotonic() < end:
            time.sleep(0.05)
        same(s.get("/sandboxes").json(), [], "and end when nobody uses them")
        same(ended(s), [1, 2, 0], "which is counted")
    with Serve("--context-life", "1") as s:
        b = Box(s, timeout=serving.PATIENCE)
        ok(s.until("assay_sandboxes", 0), "one ends with --context-life, however long its client wants it")
        same((b.ask("GET", "/health").status, ended(s)), (502, [0, 0, 1]), "is gone, and counted")
    with Serve() as s:
        b = Box(s)
        b.text("1")
        t = threading.Thread(target=lambda: s.raw(s.request("/execute", {"code": "import time\ntime.sleep(100)"})))
        t.start()
        t.join()
        ok(s.until("assay_running", 1), "a program runs")
        below = mcp.family(s.process.pid)
        same(s.end(signal.SIGKILL), -9, "SIGKILL with a sandbox open")
        ok(below and mcp.gone(below), "leaves no process")


def main():
    keys_file()
    with Serve() as s:
        let_in(s)
        bodies(s)
        flood(s)
        left(s)
        late(s)
        fed(s)
        secrets(s)
    with Serve("--profile", "off") as s:
        paths(s)
        weights(s)
    bounds()
    fed_again()
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
