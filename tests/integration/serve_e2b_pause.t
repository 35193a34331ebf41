#!/usr/bin/python3
# Sandboxes of E2B's wire that are paused and go on, and addresses of files that a client signed:
# who is let in to what by which, and until when.
import base64
import hashlib
import os
import sys
import threading
import time
import urllib.parse
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from tap import ok, same

FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(%d)" % serving.PATIENCE


class Box:
    def __init__(self, s, **more):
        made = s.post("/v2/sandboxes", {"templateID": "t", **more}).json()
        self.s, self.id, self.token = s, made["sandboxID"], made["envdAccessToken"]

    def ask(self, method, path, body=None, **headers):
        return self.s.ask(method, path, body, **{"X_API_Key": None, "E2b_Sandbox_Id": self.id, "X_Access_Token": self.token, **headers})

    def run(self, code):
        return self.ask("POST", "/execute", {"code": code}).body.decode()

    def state(self):
        return self.s.get("/sandboxes/" + self.id).json().get("state")

    def until(self, state):
        end = time.monotonic() + serving.PATIENCE
        while self.state() != state and time.monotonic() < end:
            time.sleep(0.05)
        return self.state() == state

    def signed(self, path, operation, user="", until="", **asked):
        text = "%s:%s:%s:%s" % (path, operation, user, self.token) + (":%s" % until if until else "")
        query = {"path": path, "signature": "v1_" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("="), **asked}
        if until:
            query["signature_expiration"] = until
        if user:
            query["username"] = user
        return "/files?" + urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})


def paused(s):
    b = Box(s)
    b.run("x = 42")
    b.ask("POST", "/files?path=a", b"1", Content_Type="application/octet-stream")
    ended = []
    t = threading.Thread(target=lambda: ended.append(b.run(FOREVER)))
    t.start()
    while s.get("/runs").json()["runs"][0]["status"] != "unfinished":
        time.sleep(0.02)
    ok(s.until("assay_running", 1), "a cell is under way")
    same(s.post("/sandboxes/%s/pause" % b.id, {"memory": True}).status, 204, "a sandbox is paused")
    t.join()
    ok("KeyboardInterrupt" in ended[0], "which ends the cell", ended)
    same((b.state(), s.post("/sandboxes/%s/pause" % b.id, b"").status), ("paused", 409), "once")
    same([b.ask(m, p, q).status for m, p, q in (("POST", "/execute", {"code": "1"}), ("GET", "/files?path=a", None), ("GET", "/health", None))],
         [502] * 3, "nothing begins in it")
    same(s.get(b.signed("a", "read"), X_API_Key=None).status, 401, "nor by a signature")
    listed = [[x["sandboxID"] for x in s.get("/v2/sandboxes?state=" + state).json()] for state in ("paused", "running", "paused%2Crunning")]
    same(listed, [[b.id], [], [b.id]], "it is listed as what it is")
    same(s.post("/v2/sandboxes/%s/connect" % b.id, {"timeout": 60}).json()["state"], "running", "it goes on")
    ok('"42"' in b.run("x") and b.ask("GET", "/files?path=a").body == b"1", "with what it had")
    same(s.post("/sandboxes/%s/pause" % b.id, {"memory": False}).status, 204, "paused without its memory")
    s.post("/v2/sandboxes/%s/connect" % b.id, {"timeout": 60})
    ok("NameError" in b.run("x") and b.ask("GET", "/files?path=a").body == b"1", "it has its files alone")
    same([s.ask(how, what, {}).status for how, what in (("POST", "/sandboxes/%s/snapshots" % b.id), ("PUT", "/sandboxes/%s/network" % b.id),
                                                        ("POST", "/volumes"))], [501] * 3, "what is not here says so")
    same(s.post("/sandboxes/%s/pause" % ("0" * 20), {}).status, 404, "none that is not there")


def by_time(s):
    b = Box(s, timeout=1, autoPause=True)
    b.run("x = 42")
    ok(b.until("paused"), "when its time is over it is paused, where that was asked for")
    same(b.ask("GET", "/health").status, 502, "and is not let in to")
    same(s.ask("DELETE", "/sandboxes/" + b.id).status, 204, "and can be killed")
    b = Box(s, timeout=1, autoPause=True, autoResume={"enabled": True})
    b.run("x = 42")
    ok(b.until("paused"), "so is this one")
    ok('"42"' in b.run("x"), "which goes on when it is asked")


def signatures(s):
    b, other = Box(s), Box(s)
    b.ask("POST", "/files?path=a%20b", b"A", Content_Type="application/octet-stream")
    other.ask("POST", "/files?path=a%20b", b"O", Content_Type="application/octet-stream")
    none = {"X_API_Key": None}
    same((s.get(b.signed("a b", "read"), **none).body, s.get(other.signed("a b", "read"), **none).body), (b"A", b"O"), "each has its own")
    same(s.get(b.signed("a b", "read", "user"), **none).body, b"A", "with a user's name")
    later = str(int(time.time()) + 600)
    same(s.get(b.signed("a b", "read", "user", later), **none).body, b"A", "until a time")
    plain = {"Content_Type": "application/octet-stream", **none}
    same((s.ask("POST", b.signed("w", "write"), b"W", **plain).status, b.ask("GET", "/files?path=w").body), (200, b"W"), "one to write")
    for name, path, method in (
            ("of a time that is over", b.signed("a b", "read", "", "1000"), "GET"),
            ("whose time was changed", b.signed("a b", "read", "", later).replace(later, str(int(later) + 1)), "GET"),
            ("whose time was taken off", b.signed("a b", "read", "", later, signature_expiration=None).partition("&signature_exp")[0], "GET"),
            ("of another path", b.signed("a b", "read").replace("a+b", "c"), "GET"), ("of another user", b.signed("a b", "read", "user").replace("=user", "=root"), "GET"),
            ("to read, for writing", b.signed("a b", "read"), "POST"), ("to write, for reading", b.signed("w", "write"), "GET"),
            ("of a path that reads as two", b.signed("a:write:b", "read", "user").replace("path=a%3Awrite%3Ab", "path=a").replace("=user", "=b%3Aread%3Auser"), "POST"),
            ("that is none", b.signed("a b", "read", signature="v1_"), "GET")):
        same(s.ask(method, path, b"x" if method == "POST" else None, **plain).status, 401, "none " + name)
    same(s.get(b.signed("a b", "read"), E2b_Sandbox_Id=other.id, **none).status, 401, "nor for another sandbox")
    same(s.get(b.signed("a b", "read").replace("/files", "/runs"), **none).status, 401, "nor for anything else")
    same(s.get(b.signed("../x", "read"), **none).status, 404, "a path leads nowhere else")
    s.ask("DELETE", "/sandboxes/" + b.id)
    same(s.get(b.signed("a b", "read"), **none).status, 401, "nor of a sandbox that has ended")


def main():
    with serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), "--parallel", "2") as s:
        paused(s)
        by_time(s)
        signatures(s)
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
