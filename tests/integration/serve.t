#!/usr/bin/python3
# assay serve: the contract of /execute, keys and whose runs are whose, who is let in, what is
# refused, many at once, a socket of one's own, TLS, and how it ends.
import base64
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import http.client
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
from serving import Server
from tap import ok, same

# Time in which a client reads, goes away or is one of many.
SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(%g)\nprint('done')\n"
KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)


def keys_file():
    path = os.path.join(tap.work, "keys")
    with open(path, "w") as f:
        f.write("# two of them\n" + "".join("%s %s\n" % k for k in KEYS))
    os.chmod(path, 0o600)
    return path


def keys():
    place = os.path.join(tap.work, "home/config/assay/serve-keys")
    with Server() as s:
        ok(s.key and s.key.startswith("assay-") and len(s.key) > 60, "the first start makes a key and prints it")
        same(os.stat(place).st_mode & 0o777, 0o600, "and keeps it to itself")
        same(s.get("/runs").status, 200, "X-API-Key")
        same(s.get("/runs", X_API_Key=None, Authorization="Bearer " + s.key).status, 200, "Authorization: Bearer")
        same(s.get("/key/" + s.key + "/runs", X_API_Key=None).status, 200, "/key/KEY before the path")
        for wrong in (None, "", s.key[:-1], s.key + "0", "assay-" + "0" * 64):
            same(s.get("/runs", X_API_Key=wrong).status, 401, "a wrong key: %r" % wrong)
        same(s.get("/key/x/runs", X_API_Key=None).status, 401, "a wrong key in the path")
        same(s.get("/nothing", X_API_Key=None).status, 401, "what there is, is not told without one")
        same(s.post("/execute", {"code": "print(1)"}, X_API_Key=None).status, 401, "nor does anything run")
        same(s.get("/health", X_API_Key=None).json()["status"], "ok", "/health needs none")
        key = s.key
        same(s.end(signal.SIGTERM), 0, "it ends")
    with Server(key=key) as s:
        ok("key:" not in s.said and s.get("/runs").status == 200, "the next start has the same, and says nothing")
    os.chmod(place, 0o644)
    got = tap.assay("serve", "--listen", "0")
    ok(got.code == 5 and "chmod 600" in got.err, "a file that others can read is refused", got)
    os.chmod(place, 0o600)
    with open(place, "a") as f:
        f.write("short key\n")
    got = tap.assay("serve", "--listen", "0")
    ok(got.code == 5 and "serve-keys:2:" in got.err, "a line that is none is named", got)
    os.unlink(place)


def contract(s):
    r = s.run("import sys\nprint(6 * 7)\nsys.stderr.write('e')\nopen('/out/a.bin','wb').write(bytes([0,255]))\nsys.exit(3)")
    same((r["outcome"], r["exit_code"], r["stdout"], r["stderr"]), ("exit", 3, "42\n", "e"), "/execute")
    same([(a["path"], base64.b64decode(a["base64"])) for a in r["artifacts"]], [("a.bin", b"\0\xff")], "artifacts with their bytes")
    ok(r["metrics"]["wall_ms"] > 0 and r["isolation"]["seccomp"] and r["run"], "metrics, walls, the run's id")
    r = s.post("/run_python", {"code": "print(open('/in/a').read() + input())", "files": {"a": "A"}, "stdin": "B\n", "timeout_ms": 9000}).json()
    same(r["stdout"], "AB\n", "/run_python, with files and input")
    same(s.run("echo $0; exit 4", language="bash")["exit_code"], 4, "another language")
    r = s.run("import time\ntime.sleep(60)", timeout_ms=200)
    same(r["outcome"], "timeout_wall", "timeout_ms")
    r = s.run("import socket")
    same((r["outcome"], r["refused"]["rules"]), ("not_run", ["py.import.network"]), "screened, and told why")
    shown = s.get("/runs/" + r["run"]).json()
    same((shown["run"], shown["status"]), (r["run"], "denied"), "/runs/ID")
    same(s.get("/runs").json()["runs"][0]["run"], r["run"], "/runs, newest first")
    same(s.get("/runs/01M84AP3WYM9K0GERVBP3V2CPF").status, 404, "a run that is not there")
    for body, status, name in ((b"{", 400, "no JSON"), (b"[]", 400, "no object"), (b"[[]]", 400, "a list in its place"), ({}, 400, "no code"),
                               ({"code": 1}, 400, "code that is no text"), ({"code": "1", "odd": 1}, 400, "a member too many"),
                               ({"code": "1", "language": "cobol"}, 400, "an unknown language"),
                               ({"code": "1", "files": {"../a": ""}}, 400, "a file outside"),
                               (b"[" + b"1," * 200000 + b"1]", 413, "values without number")):
        got = s.post("/execute", body)
        ok(got.status == status and got.json()["error"]["message"], "%d: %s" % (status, name), got)
    same(s.post("/execute", {"code": "1"}, Content_Type="text/plain").status, 415, "415: a form or a text")
    same((s.get("/execute").status, s.get("/nothing").status), (405, 404), "another method, another path")
    same([s.ask(*a).headers["Allow"] for a in (("GET", "/execute"), ("PUT", "/contexts"), ("OPTIONS", "/health"))], ["POST", "GET, HEAD, POST", "GET, HEAD"], "405 says which there are")
    for path in ("/health", "/runs", "/runs/" + r["run"], "/runs/%s/events" % r["run"], "/runs/none"):
        got, head = s.get(path), s.ask("HEAD", path)
        same((head.status, head.headers["Content-Type"], head.body), (got.status, got.headers["Content-Type"], b""), "HEAD " + path[:7])
    same((s.ask("HEAD", "/health", X_API_Key=None).status, s.ask("HEAD", "/runs", X_API_Key=None).status), (200, 401), "with the key that GET needs")


def stream(s):
    got = s.post("/execute", {"code": "1", "context": "ctx-" + "0" * 24}, Accept="text/event-stream")
    same((got.status, got.headers["Content-Type"], got.json()["code"]), (404, "application/json", 404), "what is refused at once is no stream")
    c = s.connection()
    c.request("POST", "/execute", json.dumps({"code": SLEEP % 0.3}), s.headers({"Accept": "text/event-stream"}))
    r = c.getresponse()
    same((r.status, r.headers["Content-Type"]), (200, "text/event-stream"), "a stream")
    events = [tuple(part.split("\n", 1)) for part in r.read().decode().strip().split("\n\n")]
    data = [(name[7:], json.loads(text[6:])) for name, text in events]
    same([name for name, _ in data], ["stage", "stage", "output", "output", "result"], "stages, output as it comes, the result")
    same((data[2][1]["text"], data[-1][1]["stdout"]), ("up\n", "up\ndone\n"), "each with its text")
    c.close()
    c = s.connection()
    code = "import os, time\nfor b in '\u00e4\u20ac\U0001f600'.encode() + b'\\xe2\\x82':\n    os.write(1, bytes([b]))\n    time.sleep(0.05)\n"
    c.request("POST", "/execute", json.dumps({"code": code}), s.headers({"Accept": "text/event-stream"}))
    events = [part.split("\ndata: ", 1) for part in c.getresponse().read().decode().strip().split("\n\n")]
    texts = [json.loads(text)["text"] for name, text in events if name == "event: output"]
    same("".join(texts[:-1]), "\u00e4\u20ac\U0001f600", "characters that come in pieces are told whole")
    ok("\ufffd" in texts[-1], "what is never finished is told at the end", texts)
    c.close()


def guarded(s):
    same(s.get("/files?path=x&signature=v1_x", X_API_Key=None, X_Access_Token="t").status, 502, "a token for a sandbox that is not named")
    for host in ("localhost", "127.0.0.1:1", "[::1]", "LOCALHOST:80"):
        same(s.get("/runs", Host=host).status, 200, "Host: " + host)
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil", "", "localhost:x"):
        same(s.get("/runs", Host=host).status, 403, "Host: %r is another server" % host)
    for origin in ("http://localhost:3000", "https://127.0.0.1"):
        same(s.get("/runs", Origin=origin).status, 200, "Origin: " + origin)
    for origin in ("http://evil.example", "null", "http://localhost.evil", "file://"):
        same(s.get("/runs", Origin=origin).status, 403, "Origin: " + origin)
    same(s.get("/health", Host="evil.example").status, 403, "not even /health")
    with Server("--host", "box.example", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as t:
        same(t.get("/runs", Host="box.example:99").status, 200, "--host adds a name")


def owners():
    with Server(key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        mine = s.run("print('mine')")["run"]
        same(s.get("/runs/" + mine).status, 200, "one's own run")
        s.key = KEYS[1][1]
        same(s.get("/runs/" + mine).status, 404, "another key's is not there")
        same(s.get("/runs/" + mine).json()["error"]["message"].replace(mine, "X"),
             s.get("/runs/" + "0" * 26).json()["error"]["message"].replace("0" * 26, "X"), "in the words for none")
        same(s.get("/runs/last").status, 404, "nor by another name")
        same(s.get("/runs").json()["runs"], [], "nor in the list")
        theirs = s.run("print('theirs')")["run"]
        same([r["run"] for r in s.get("/runs").json()["runs"]], [theirs], "which has one's own")


def watching():
    def events(s, run, **headers):
        got = s.get("/runs/%s/events" % run, **headers)
        parts = [dict(l.split(": ", 1) for l in p.split("\n")) for p in got.body.decode().strip().split("\n\n")]
        return got, parts

    with Server("--parallel", "1", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        t = background(lambda: s.run(SLEEP % 3))
        tap.until(lambda: is_under_way(s))
        run = s.get("/runs").json()["runs"][0]["run"]
        c = s.connection()
        c.request("GET", "/runs/%s/events" % run, headers=s.headers({}))
        r = c.getresponse()
        first = r.readline()
        ok(t.is_alive() and first == b"id: 1\n", "events of a run while it runs, and no worker is free", first)
        rest = r.read().decode()
        t.join()
        ok(rest.rstrip().endswith('"status":"success"}') and "event: end" in rest, "until it has ended", rest[-200:])
        got, all_of_it = events(s, run)
        same(got.headers["Content-Type"], "text/event-stream", "and afterwards")
        ids = [p.get("id") for p in all_of_it]
        same(ids, ["%d" % (n + 1) for n in range(len(ids) - 1)] + [None], "each with its number")
        same([p.get("id") for p in events(s, run, Last_Event_ID=ids[1])[1]], ids[2:], "Last-Event-ID: what comes after it")
        same(s.get("/runs/%s/events" % run, X_API_Key=KEYS[1][1]).status, 404, "another key's has none")


def background(work):
    t = threading.Thread(target=work)
    t.start()
    return t


def many():
    with Server("--parallel", "1", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        order, lock, full = [], threading.Lock(), []

        def ask(key, name, code):
            got = s.post("/execute", {"code": code}, X_API_Key=key)
            with lock:
                order.append((name, got.status, got.json().get("stdout"), got.headers.get("Retry-After")))

        first = [background(lambda: ask(KEYS[0][1], "slow", SLEEP % 3))]
        ok(s.until("assay_running", 1), "one runs")
        waiting = [background(lambda n=n: ask(KEYS[0][1], "a%d" % n, "print(%d)" % n)) for n in range(12)]
        ok(s.until("assay_waiting", 12) or order, "others wait")
        extra = s.post("/execute", {"code": "print(1)"})
        ok(extra.status == 429 and extra.headers["Retry-After"], "one too many is refused, and told when to come again", extra)
        waiting.append(background(lambda: ask(KEYS[1][1], "b", "print('b')")))
        ok(s.until("assay_waiting", 13) or len(order) > 0, "another key's has room still")
        for t in first + waiting:
            t.join()
        same([o[1] for o in order], [200] * 14, "all that were taken are answered")
        same(sorted(o[2] for o in order if o[0][0] == "a"), sorted("%d\n" % n for n in range(12)), "each with its own")
        ok([o[0] for o in order].index("b") <= 2, "a key that asks once does not wait for one that asks often",
           [o[0] for o in order])
        same(s.metric("assay_refused_total"), 1, "and it is counted")
        ok(s.until("assay_running", 0), "all have ended")
        told = [s.get("/metrics", X_API_Key=k[1]).body.decode() for k in KEYS]
        same([[re.search(r'^assay_key_%s\{key="(\w+)"\} (\d+)$' % n, t, re.M).groups() for n in ("running", "waiting", "done_total", "refused_total")] for t in told],
             [[("one", "0"), ("one", "0"), ("one", "13"), ("one", "1")], [("two", "0"), ("two", "0"), ("two", "1"), ("two", "0")]], "by key, too")
        ok('"two"' not in told[0] and '"one"' not in told[1], "none hears of another", told)
        health = s.get("/health", X_API_Key=None).json()
        same({k: v for k, v in health.items() if k != "version"},
             {"status": "ok", "workers": 1, "running": 0, "queue": 16, "waiting": 0, "contexts": 0, "sandboxes": 0}, "/health says how full it is")
        text = told[0]
        same([re.search(r"^assay_%s_seconds_count (\d+)$" % n, text, re.M).group(1) for n in ("wait", "work")], ["14", "14"], "how long each waited and took is counted")
        counts = [int(n) for n in re.findall(r'^assay_wait_seconds_bucket\{le="[^"]+"\} (\d+)$', text, re.M)]
        ok(counts == sorted(counts) and counts[-1] == 14 and len(counts) == 15, "by time", counts)
        ok(int(re.search(r"^assay_memory_limit_bytes (\d+)$", text, re.M).group(1)) > 1 << 20, "what memory they may have is told", text)
    with Server("--memory", "100000G", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        same(s.get("/health").json()["workers"], 1, "as many run at once as the memory of this machine bears")


def leaving(s):
    c = s.raw(s.request("/execute", {"code": SLEEP % 9}))
    ok(s.until("assay_running", 1), "a program runs")
    c.close()
    ok(s.until("assay_running", 0), "its client leaves: it ends")
    same(s.get("/runs").json()["runs"][0]["status"], "cancelled", "and is recorded as that")


def own_socket():
    path = os.path.join(tap.work, "assay.sock")
    with Server(where=("--socket", path)) as s:
        same(os.stat(path).st_mode & 0o777, 0o600, "a socket of one's own")
        same(s.run("print(1)")["stdout"], "1\n", "where no key is asked for")
        same(s.get("/runs", Host="anything").status, 200, "and no name")
        ok("key:" not in s.said, "and none is made")
        same(s.end(signal.SIGKILL), -9, "killed")
    with Server(where=("--socket", path)) as s:
        same(s.get("/health").status, 200, "what a killed server left is replaced")
        got = tap.assay("serve", "--socket", path)
        ok(got.code == 1 and "in use" in got.err, "what one listens on is not", got)
        same(s.get("/health").status, 200, "and it goes on listening")
        same((s.end(signal.SIGTERM), os.path.exists(path)), (0, False), "and is gone with it")
    with Server(where=("--socket", path)) as s:
        os.rename(path, path + ".away")
        with Server(where=("--socket", path)) as other:
            same((s.end(signal.SIGTERM), os.path.exists(path)), (0, True), "one that ends leaves the socket of another that took its place")
            same(other.get("/health").status, 200, "which is still found there")
    with Server(where=("--socket", path)) as s:
        os.unlink(path)
        with open(path, "w") as f:
            f.write("mine")
        same((s.end(signal.SIGTERM), os.path.exists(path)), (0, True), "nor is a file removed that stands there now")
    os.unlink(path)


def place_taken():
    """Who stands at a port and answers has it; who does not answer may be about to end, and is waited for."""
    def stand(answers):
        for answer in answers:
            c = there.accept()[0]
            asked.append(c.recv(1000)[:4])
            c.sendall(answer)
            c.close()
        there.close()

    for answers, code in ((b"HTTP/1.1 200 OK\r\n\r\n",), 1), ((b"", b""), 0):
        asked, there = [], socket.create_server(("127.0.0.1", 0))
        there.settimeout(serving.PATIENCE)
        port = str(there.getsockname()[1])
        t = background(lambda: stand(answers))
        if code:
            got = tap.assay("serve", "--listen", port)
            ok(got.code == code and "in use" in got.err, "a place that another one has is not taken", got)
        else:
            with Server(key=KEYS[0][1], where=("--listen", port, "--key-file", "keys")) as s:
                same(s.get("/health").status, 200, "one that is left meanwhile is")
        t.join()
        same(asked, [b"GET "] * len(answers), "who was there was asked until that was clear")


def killed_and_started():
    """Who starts another as soon as one was killed finds its place free, though the server dies a little later."""
    path = os.path.join(tap.work, "again.sock")
    with Server(key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        port = str(s.port)
        s.end(signal.SIGKILL)
    served = []
    for _ in range(10):
        with Server(key=KEYS[0][1], where=("--listen", port, "--key-file", "keys")) as s, Server(where=("--socket", path)) as own:
            served.append((s.get("/health").status, own.get("/health").status))
            s.end(signal.SIGKILL), own.end(signal.SIGKILL)
    same(served, [(200, 200)] * 10, "killed and started again, on an address and on a socket")


def tls():
    if not shutil.which("openssl"):
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], cwd=tap.work,
                   check=True, capture_output=True)
    with Server("--tls-cert", "cert.pem", "--tls-key", "key.pem", key=KEYS[0][1],
                where=("--listen", "0", "--key-file", "keys")) as s:
        ok("https://" in s.said, "https is said")
        c = http.client.HTTPSConnection("127.0.0.1", s.port, timeout=serving.PATIENCE,
                                        context=ssl.create_default_context(cafile=os.path.join(tap.work, "cert.pem")))
        c.request("POST", "/execute", json.dumps({"code": "print('tls')"}), s.headers({}))
        same(json.loads(c.getresponse().read())["stdout"], "tls\n", "a program over TLS")
    same(tap.assay("serve", "--listen", "0", "--tls-cert", "cert.pem").code, 2, "a certificate without its key")


def stop_taking(s):
    """Tells it to end, and comes back when it takes no connection."""
    s.process.send_signal(signal.SIGTERM)
    for _ in range(1000):
        try:
            s.connection().connect()
        except OSError:
            return


def drip(c, data):
    """Sends a little now and then, as long as there is somebody."""
    for byte in data:
        try:
            c.sendall(bytes([byte]))
        except OSError:
            return
        time.sleep(0.3)


def traces(pid):
    """Control groups and mounts of a server's, and others'."""
    with open("/proc/self/mountinfo") as f:
        mounts = len(f.readlines())
    groups = [p for p, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(p).startswith("assay-%d-" % pid)]
    return mounts, groups


def is_under_way(s):
    """Whether the newest run of the log has begun, and not ended."""
    return [r["status"] for r in s.get("/runs").json()["runs"][:1]] == ["unfinished"]


def start_running(s, **more):
    """A program that waits, under way and in the log: its connection."""
    c = s.raw(s.request("/execute", dict({"code": SLEEP % serving.PATIENCE}, **more)))
    ok(s.until("assay_running", 1) and tap.until(lambda: is_under_way(s)), "a program runs: %s" % more)
    return c


def killed(*args, context=False):
    """SIGKILL while a program runs: no process, mount or control group is left."""
    before = traces(0)[0]
    with Server(*args, key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        more = {"context": s.post("/contexts", {}).json()["context"]} if context else {}
        if context:
            s.run("x = 1", **more)
        c = start_running(s, **more)
        below, pid = mcp.family(s.process.pid), s.pid
        same(s.end(signal.SIGKILL), -9, "SIGKILL")
        ok(below and mcp.gone(below), "leaves no process")
        end = time.monotonic() + serving.PATIENCE
        while traces(pid) != (before, []) and time.monotonic() < end:
            time.sleep(0.02)
        same(traces(pid), (before, []), "no mount and no control group")
        c.close()


def has_guest(keeper):
    """Whether a program of a client's is below it, and sleeps; who reads programs for the screening does not."""
    for pid, _ in mcp.family(keeper):
        try:
            with open("/proc/%d/cmdline" % pid) as f:
                if f.read() == "sleep\0005\0":
                    return True
        except OSError:
            pass
    return False


def crashed():
    """What runs one worker's programs dies: that costs the run, and nothing else."""
    with Server("--parallel", "2", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        got = []
        both = [background(lambda: got.append(s.run("echo up; sleep 5; echo done", language="bash"))) for _ in range(2)]
        keepers = []
        while len(keepers) < 2:
            keepers = [p for p, _ in mcp.family(s.process.pid) if (mcp.stat(p) or (0,))[0] == s.pid and has_guest(p)]
        os.kill(keepers[0], signal.SIGKILL)
        for t in both:
            t.join()
        same(sorted((r["status"], r["stdout"]) for r in got), [("sandbox_error", ""), ("success", "up\ndone\n")], "one of two is lost, and said to be")
        ok(any("died" in (r["detail"] or "") for r in got), "with why", got)
        again = []
        for t in [background(lambda n=n: again.append(s.run("print(%d)" % n)["stdout"])) for n in range(6)]:
            t.join()
        same(sorted(again), ["%d\n" % n for n in range(6)], "both workers go on")
        same(s.metric("assay_lost_total"), 1, "and it is counted")


def mortal():
    """Its environment, where a sanitizer is not to make an exit of a signal."""
    return tap.environment(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:handle_abort=0")


def fallen():
    """The server itself dies: another takes its place on the same socket, and nothing of the dead one is left."""
    before = traces(0)[0]
    with Server("--parallel", "2", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys"), environment=mortal()) as s:
        context, closed, empty = [s.post("/contexts", {}).json()["context"] for _ in range(3)]
        s.run("x = open('/in/a').read()", context=context, files={"a": "given"})
        s.run("x += ' twice'; y = 1 / 0", context=context)
        s.run("y = [x]", context=context)
        s.ask("DELETE", "/contexts/" + closed)
        for number, name in enumerate(("SIGSEGV", "SIGABRT", "SIGKILL"), 1):
            c, pid = start_running(s), s.pid
            run, below = s.get("/runs").json()["runs"][0]["run"], mcp.family(pid)
            os.kill(pid, signal.Signals[name])
            same(serving.read_all(c), b"", name + " of the process that serves: who waited is cut off")
            same(s.post("/execute", {"code": "print(%d)" % number}, X_API_Key=KEYS[1][1]).json()["stdout"], "%d\n" % number, "another client's program runs, on the same socket")
            same((s.pid != pid, s.metric("assay_restarts_total")), (True, number), "in another process, which is counted")
            ok(below and mcp.gone(below) and traces(pid)[1] == [], "of the dead one is left no process and no control group")
            same(s.get("/runs/" + run).json()["status"], "unfinished", "the log has what was under way")
            ok(s.hear("signal %d" % signal.Signals[name]) and "another one takes its place" in s.said, "and it is said", s.said)
        same(s.post("/execute", {"code": "x", "context": context}, X_API_Key=KEYS[1][1]).status, 404, "a context is its key's as before")
        got = s.run("print(x, y, open('/in/a').read())", context=context)
        same((got["stdout"], "server" in got.get("rebuilt", "")), ("given ['given'] given\n", True), "it goes on from what the log has, and says so")
        got = s.run("y.append(2); print(y)", context=context)
        same((got["stdout"], got.get("rebuilt")), ("['given', 2]\n", None), "and from there as ever")
        same(s.run("print(1)", context=empty).get("stdout"), "1\n", "one with nothing in it, too")
        same(s.post("/execute", {"code": "1", "context": closed}).status, 404, "one that was closed is closed")
        pid = s.pid
        os.kill(pid, signal.SIGKILL)
        same(s.run("y.append(3); print(y)", context=context)["stdout"], "['given', 2, 3]\n", "and once more")
        same(s.ask("DELETE", "/contexts/" + context).status, 200, "it is closed as any")
        end = time.monotonic() + serving.PATIENCE
        while traces(0)[0] != before and time.monotonic() < end:
            time.sleep(0.02)
        same(traces(0)[0], before, "no mount is left")
        same(s.end(signal.SIGTERM), 0, "and it ends as any")


def unread():
    """A context is not made again with something else in it than it had."""
    secret = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4f"
    with Server("--parallel", "1", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys"), environment=mortal()) as s:
        told, built, given, gone = [s.post("/contexts", {}).json()["context"] for _ in range(4)]
        s.run("x = '%s'" % secret, context=told)
        s.run("y = 1", context=told)
        s.run("x = '%s' + '%s'" % (secret[:5], secret[5:]), context=built)
        s.run("x = 1", context=given, files={"a": secret})
        s.run("x = 1", context=gone)
        run = s.run("x = 2", context=gone)["run"]
        same(s.run("print(len(x))", context=built)["stdout"], "36\n", "a context with a secret that no program says")
        same(tap.assay("log", "rm", run).code, 0, "and one whose last run is removed")
        os.kill(s.pid, signal.SIGKILL)
        same(s.run("print(len(x))", context=built)["stdout"], "36\n", "the server died: it has it again")
        for context, why in (told, "secrets, of which the log has none"), (given, "secrets, of which the log has none"), (gone, "its last run is not in the log any more"):
            for _ in range(2):
                got = s.post("/execute", {"code": "print(x)", "context": context})
                ok(got.status == 400 and why in got.json()["message"] and "open another" in got.json()["message"], "one that would be another is not: " + why, got)
        os.kill(s.pid, signal.SIGKILL)
        same([s.post("/execute", {"code": "print(x)", "context": c}).status for c in (told, gone)], [400, 400], "nor after one more death")


def fallen_often():
    path = os.path.join(tap.work, "often.sock")
    with Server(where=("--socket", path), environment=mortal()) as s:
        for _ in range(5):
            pid = s.pid
            os.kill(pid, signal.SIGSEGV)
            mcp.gone({(pid, (mcp.stat(pid) or (0, 0, 0))[2])})
        ok(s.hear("5 times within a minute"), "one that dies again and again is given up", s.said)
        same((s.process.wait(serving.PATIENCE), os.path.exists(path)), (1, False), "with an exit code that says so, and without its socket")
    with Server(key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys"), environment=mortal()) as s:
        c = start_running(s)
        stop_taking(s)
        os.kill(s.pid, signal.SIGSEGV)
        ok(s.hear("died while it ended"), "nor is one replaced that was to end", s.said)
        same(s.process.wait(serving.PATIENCE), 1, "which is no good end")
        c.close()


def signalled_together():
    """A terminal, or a service manager, tells every process of it: that is one signal."""
    with Server(key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        got = []
        t = background(lambda: got.append(s.run(SLEEP % 1)))
        ok(s.until("assay_running", 1), "a program runs")
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(s.pid, number)
        same(s.end(signal.SIGTERM), 0, "SIGTERM for both of its processes: it ends well")
        t.join()
        same(got[0]["stdout"], "up\ndone\n", "and what was under way is answered")


def hoarded():
    """One key's bodies, however many it holds back, leave room for another's; so does a context for programs."""
    with Server("--parallel", "2", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        held, size = [], 15 << 20
        for _ in range(9):
            head, _, body = s.request("/execute", {"code": "1", "stdin": "x" * size}).partition(b"\r\n\r\n")
            held.append((s.raw(head + b"\r\n\r\n" + body[:-1]), body[-1:]))
        ok(tap.until(lambda: s.metric("assay_body_bytes") > 48 << 20) and all(serving.until_read(c) for c, _ in held), "nine bodies are sent")
        most = s.metric("assay_body_bytes")
        ok(48 << 20 < most < 70 << 20, "one key's bodies take half of what may be held", most)
        got = s.post("/execute", {"code": "print(len(input()))", "stdin": "y" * (12 << 20)}, X_API_Key=KEYS[1][1])
        same((got.status, got.json().get("stdout")), (200, "%d\n" % (12 << 20)), "a large one of another key is taken")
        c, last = held[-1]
        c.sendall(last)
        ok(b" 429 " in c.recv(200), "one that found no room is told when it has come: later")
        for c, _ in held:
            c.close()
        ok(s.until("assay_body_bytes", 0), "they leave, and nothing of them is held")
    with Server("--memory", "100000G", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        ok(s.metric("assay_memory_available_bytes") > 1 << 20, "what memory the machine has left is told")
        got = s.post("/contexts", {})
        ok(got.status == 429 and "memory is scarce" in got.json()["message"], "a context that could take more than that is not opened", got)
        same((s.metric("assay_contexts_scarce_total"), s.run("print(1)")["stdout"]), (1, "1\n"), "and counted; programs run")


def slow_reader():
    """Who watches a run and does not read is waited for by nobody, nor who leaves."""
    with Server("--parallel", "2", key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        first = s.run("print('x' * 100000)")["run"]
        lazy = [s.raw(s.request("/runs/%s/events" % first, None, "GET")) for _ in range(8)]
        t = background(lambda: s.run(SLEEP % 1))
        ok(s.until("assay_running", 1), "while some do not read")
        run = s.get("/runs").json()["runs"][0]["run"]
        lazy += [s.raw(s.request("/runs/%s/events" % run, None, "GET")) for _ in range(8)]
        same(s.run("print(2)")["stdout"], "2\n", "others' programs run")
        ok(b"event: end" in s.get("/runs/%s/events" % run).body, "and others watch")
        t.join()
        for c in lazy:
            c.close()
        ok(s.until("assay_connections", 1), "they leave, and nothing of them stays")
        same(s.end(signal.SIGTERM), 0, "and it ends")


def anywhere():
    with Server(key=KEYS[0][1], where=("--listen", "0.0.0.0:0", "--key-file", "keys")) as s:
        ok("can be reached from other machines" in s.said and "without --tls-cert" in s.said, "another address than this machine's is said to be one", s.said)
        same((s.get("/runs").status, s.get("/runs", X_API_Key=None).status, s.get("/runs", Host="0.0.0.0:%d" % s.port).status), (200, 401, 403), "a key is asked for, and a name")


def endings():
    where = ("--listen", "0", "--key-file", "keys")
    with Server(key=KEYS[0][1], where=where) as s:
        got = []
        t = background(lambda: got.append(s.run(SLEEP % 1)))
        ok(s.until("assay_running", 1), "a program runs")
        same(s.end(signal.SIGTERM), 0, "SIGTERM: it ends well")
        t.join()
        same(got[0]["stdout"], "up\ndone\n", "and what was under way is answered")
    with Server(key=KEYS[0][1], where=where) as s:
        got = []
        t = background(lambda: got.append(s.run(SLEEP % 9)))
        ok(s.until("assay_running", 1), "a program runs")
        stop_taking(s)
        same(s.end(signal.SIGTERM), 143, "a second one: it is cut")
        t.join()
        same(got[0]["status"], "cancelled", "and the client is told")
    with Server(key=KEYS[0][1], where=where) as s:
        head, _, body = s.request("/execute", {"code": "1" * 10000}).partition(b"\r\n\r\n")
        c = s.raw(head + b"\r\nExpect: 100-continue\r\n\r\n")
        ok(b" 100 " in c.recv(100), "a request is half there")
        begun = time.monotonic()
        t = background(lambda: drip(c, body))
        stop_taking(s)
        same(s.end(signal.SIGTERM), 143, "it is cut, too")
        ok(time.monotonic() - begun < 20, "at once: who sends has 30 seconds otherwise")  # REQUEST_MS
        t.join()
        c.close()
    with Server(key=KEYS[0][1], where=where) as s:
        c = start_running(s)
        below = mcp.family(s.process.pid)
        same(s.end(signal.SIGKILL), -9, "SIGKILL")
        ok(below and mcp.gone(below), "leaves nothing")
        c.close()
    last = tap.assay("log", "list", "--json", "--limit", "1").json()[0]
    same(last["status"], "unfinished", "and the log says what was under way")


def usage():
    for args, word in ((("--listen", "x"), "ADDRESS:PORT"), (("--listen", "example.org:80"), "ADDRESS:PORT"),
                       (("--listen", "0", "--socket", "s"), "not both"), (("x",), "no argument")):
        got = tap.assay("serve", *args)
        ok(got.code == 2 and word in got.err, "refused: " + " ".join(args), got)


def main():
    usage()
    keys()
    keys_file()
    with Server(key=KEYS[0][1], where=("--listen", "0", "--key-file", "keys")) as s:
        contract(s)
        stream(s)
        guarded(s)
        leaving(s)
    owners()
    watching()
    many()
    own_socket()
    place_taken()
    killed_and_started()
    tls()
    endings()
    killed("--warm", "0")
    killed("--warm", "2", context=True)
    crashed()
    hoarded()
    fallen()
    unread()
    fallen_often()
    signalled_together()
    slow_reader()
    anywhere()
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
