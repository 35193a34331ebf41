#!/usr/bin/python3
# Streams of E2B's wire that are not a program's own: what changes in a folder, and what a command
# prints that another request started. Who leaves them, and what ends them.
import http.client
import json
import os
import signal
import struct
import sys
import threading
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from tap import ok, same


def frame(message):
    message = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"\0" + struct.pack(">I", len(message)) + message


class Stream:
    """An answer in frames, read as they come."""

    def __init__(self, box, path, message):
        self.connection = box.s.connection()
        self.connection.request("POST", path, frame(message), {"Content-Type": "application/connect+json", **box.named})
        self.answer = self.connection.getresponse()

    def next(self):
        head = self.answer.read(5)
        if len(head) < 5:
            return None
        flag, size = struct.unpack(">BI", head)
        message = json.loads(self.answer.read(size))
        return ("end", message.get("error", {}).get("code")) if flag else message

    def change(self):
        event = self.next()
        return (event["filesystem"]["type"].rpartition("_")[2], event["filesystem"]["name"]) if "filesystem" in event else event

    def leave(self):
        self.connection.close()


class Box:
    def __init__(self, s):
        made = s.post("/v2/sandboxes", {"templateID": "t", "timeout": 900}).json()
        self.s, self.id = s, made["sandboxID"]
        self.named = {"E2b-Sandbox-Id": self.id, "X-Access-Token": made["envdAccessToken"]}

    def ask(self, path, body, **more):
        return self.s.post(path, body, **{"X_API_Key": None, **self.named, **more})

    def write(self, path, data):
        return self.ask("/files?path=" + path, data, Content_Type="application/octet-stream").status

    def command(self, command, **more):
        return Stream(self, "/process.Process/Start", {"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command]}, **more})

    def watch(self, **more):
        return Stream(self, "/filesystem.Filesystem/WatchDir", more)


def watched(s):
    b = Box(s)
    b.write("d/a", b"1")
    flat, deep, entries = b.watch(path="/home/user"), b.watch(path=".", recursive=True), b.watch(path="d", includeEntry=True)
    same([w.next() for w in (flat, deep, entries)], [{"start": {}}] * 3, "a folder is watched")
    b.write("b", b"1")
    same([w.change() for w in (flat, flat, deep, deep)], [("CREATE", "b"), ("WRITE", "b")] * 2, "a file that is new is made, and written")
    b.write("d/a", b"22")
    event = entries.next()["filesystem"]
    same((event["type"], event["name"], event["entry"]["size"], deep.change()),
         ("EVENT_TYPE_WRITE", "a", "2", ("WRITE", "d/a")), "one that is written, in a folder below")
    c = b.command("rm b; echo x > c; echo y > d/a; mkdir e")
    while c.next():
        pass
    same([flat.change() for _ in range(4)], [("REMOVE", "b"), ("CREATE", "c"), ("WRITE", "c"), ("CREATE", "e")],
         "what a command does, when it has ended")
    same([deep.change() for _ in range(5)], [("REMOVE", "b"), ("CREATE", "c"), ("WRITE", "c"), ("WRITE", "d/a"), ("CREATE", "e")], "all of it")
    b.ask("/execute", {"code": "import os\nopen('c', 'w').write('y')\nos.chmod('d/a', 0o600)"})
    same((flat.change(), deep.change(), deep.change()), (("WRITE", "c"), ("WRITE", "c"), ("CHMOD", "d/a")), "what a cell does")
    flat.leave()
    b.ask("/filesystem.Filesystem/Move", {"source": "c", "destination": "f"})
    same([deep.change() for _ in range(3)], [("REMOVE", "c"), ("CREATE", "f"), ("WRITE", "f")], "while another one leaves")
    for name, asked, code in (("no folder", {"path": "none"}, "not_found"), ("a file", {"path": "f"}, "invalid_argument"),
                              ("elsewhere", {"path": "/etc"}, "invalid_argument"), ("no path", {}, "invalid_argument"),
                              ("too much", {"path": "x" * 100000}, "invalid_argument"), ("a number", {"path": 5}, "invalid_argument")):
        same(b.watch(**asked).next(), ("end", code), "none: " + name)
    s.ask("DELETE", "/sandboxes/" + b.id)
    same((deep.next(), deep.next()), (("end", "unavailable"), None), "a sandbox that is killed ends it")


def asked(s):
    """Clients that cannot read a stream ask again and again."""
    b, other = Box(s), Box(s)
    ask = lambda box, what, **more: box.ask("/filesystem.Filesystem/" + what, more)
    b.write("d/a", b"1")
    ids = [ask(b, "CreateWatcher", path="d").json()["watcherId"], ask(b, "CreateWatcher", path=".", recursive=True, includeEntry=True).json()["watcherId"]]
    events = lambda n: [(e["type"].rpartition("_")[2], e["name"], "entry" in e) for e in ask(b, "GetWatcherEvents", watcherId=ids[n]).json()["events"]]
    same(events(0), [], "a watcher that is asked: nothing at first")
    b.write("d/b", b"1")
    b.write("d/a", b"2")
    same((events(0), events(0)), ([("WRITE", "a", False), ("CREATE", "b", False), ("WRITE", "b", False)], []), "what changed since, once")
    same(events(1), [("WRITE", "d/a", True), ("CREATE", "d/b", True), ("WRITE", "d/b", True)], "each its own")
    for box, what, more in ((other, "GetWatcherEvents", {"watcherId": ids[0]}), (b, "GetWatcherEvents", {"watcherId": "w99"}),
                            (b, "RemoveWatcher", {"watcherId": "w0"}), (b, "GetWatcherEvents", {}), (b, "CreateWatcher", {"path": "none"})):
        same(ask(box, what, **more).json()["code"], "not_found", "another's, and none: %s %s" % (what, more))
    same(ask(b, "CreateWatcher", path="d/a").json()["code"], "invalid_argument", "a file is none to watch")
    same((ask(b, "RemoveWatcher", watcherId=ids[0]).status, ask(b, "GetWatcherEvents", watcherId=ids[0]).status), (200, 404), "removed")
    more = [ask(b, "CreateWatcher", path="d").status for _ in range(20)]
    ok(more.count(200) == 15 and more.count(429) == 5, "there is an end to them", more)
    s.ask("DELETE", "/sandboxes/" + b.id)


def output(stream):
    """Its text, exit code and end."""
    text, code = "", None
    while True:
        event = stream.next()
        if isinstance(event, tuple) or event is None:
            return text, code, event
        data = event["event"].get("data", {})
        text += __import__("base64").b64decode(data.get("stdout", "")).decode()
        code = event["event"].get("end", {}).get("exitCode", code)


def followed(s):
    b, other = Box(s), Box(s)
    own = b.command("read line; echo $line; seq 20000; exit 3", stdin=True)
    pid = own.next()["event"]["start"]["pid"]
    connect = lambda box, n: Stream(box, "/process.Process/Connect", {"process": {"pid": n}})
    two = [connect(b, pid), connect(b, pid)]
    same([f.next() for f in two], [{"event": {"start": {"pid": pid}}}] * 2, "a command is followed")
    left = connect(b, pid)
    left.next()
    left.leave()
    for box, n in ((other, pid), (b, pid + 1), (b, "x"), (b, None)):
        same(connect(box, n).next(), ("end", "not_found"), "another's, and none, is not there")
    b.ask("/process.Process/SendInput", {"process": {"pid": pid}, "input": {"stdin": "aGkK"}})
    b.ask("/process.Process/CloseStdin", {"process": {"pid": pid}})
    want = ("hi\n" + "".join("%d\n" % n for n in range(1, 20001)), 3, ("end", None))
    got = [output(f) for f in (own, *two)]
    ok(got == [want] * 3, "all have what it prints, how it ended, and that alone", [(len(t), c, e) for t, c, e in got])
    same(connect(b, pid).next(), ("end", "not_found"), "and it is gone")
    own = b.command("sleep %d" % serving.PATIENCE)
    pid = own.next()["event"]["start"]["pid"]
    follower = connect(b, pid)
    follower.next()
    t = threading.Timer(0, lambda: s.ask("DELETE", "/sandboxes/" + b.id))
    t.start()
    try:
        ok(False, "a sandbox that is killed breaks it off", output(follower))
    except (http.client.IncompleteRead, ConnectionError):
        ok(True, "a sandbox that is killed breaks it off")
    t.join()


def ended(s):
    b = Box(s)
    own = b.command("read line; echo it", stdin=True)
    pid = own.next()["event"]["start"]["pid"]
    watch, follower = b.watch(path="."), Stream(b, "/process.Process/Connect", {"process": {"pid": pid}})
    same((watch.next(), follower.next()), ({"start": {}}, {"event": {"start": {"pid": pid}}}), "both while a command runs")
    s.process.send_signal(signal.SIGTERM)
    same((watch.next(), follower.next()), (("end", "unavailable"),) * 2, "a server that is about to end says so to both")
    own.leave()
    same(s.process.wait(serving.PATIENCE), 0, "and ends")


def main():
    with serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), "--parallel", "2") as s:
        watched(s)
        asked(s)
        followed(s)
        ok(s.until("assay_running", 0), "nothing is left")
        ended(s)
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
