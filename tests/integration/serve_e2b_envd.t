#!/usr/bin/python3
# What E2B's clients and their own tests expect of envd and of the interpreter beyond what is asked
# for and answered: ranges of files, words of refusals, folders and variables of commands, what a
# killed sandbox leaves of an answer, contexts that are there from the beginning, numbers and pictures.
import base64
import http.client
import json
import os
import struct
import sys
import threading
import time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import sandboxes
import serving
import tap
from sandboxes import Box
from tap import ok, same

STREAM = sandboxes.STREAM


def ranges(b):
    b.write("r", b"Hello, world!")
    got = {r: b.ask("GET", "/files?path=r", Range=r) for r in
           ("bytes=7-11", "bytes=7-", "bytes=-6", "bytes=0-0", "bytes=0-99", "bytes=-99")}
    same([(a.status, a.headers["Content-Range"], a.body) for a in got.values()],
         [(206, "bytes 7-11/13", b"world"), (206, "bytes 7-12/13", b"world!"), (206, "bytes 7-12/13", b"world!"), (206, "bytes 0-0/13", b"H"),
          (206, "bytes 0-12/13", b"Hello, world!"), (206, "bytes 0-12/13", b"Hello, world!")], "a range of a file")
    same([(a.status, a.headers["Content-Range"], a.json()["code"]) for a in (b.ask("GET", "/files?path=r", Range=r) for r in (
        "bytes=13-", "bytes=-0", "bytes=18446744073709551617-"))], [(416, "bytes */13", 416)] * 3, "none of it is there")
    same([b.ask("GET", "/files?path=r", Range=r).status for r in ("bytes=5-2", "bytes=a-b", "bytes=-", "bytes=1-2,4-5", "lines=0-1", "bytes=1-2-3",
                                                                 "bytes=", "bytes=" + "1" * 99 + "-")], [200] * 8, "what is no range means all")
    b.write("e", b"")
    same([b.ask("GET", "/files?path=e", Range=r).status for r in ("bytes=0-", "bytes=-1", "bytes=0-0")], [416] * 3, "an empty file has none")
    same(b.ask("GET", "/files?path=e").body, b"", "and is empty")


def words(s, b):
    b.write("h", b"hello")
    now = int(time.time())
    asked = [s.ask("GET", p, X_API_Key=None) for p in (b.signed("h"), b.signed("h", now + 900), b.signed("h", now - 900),
                                                      b.signed("h", operation="write"), b.signed("h") + "&signature_expiration=%d" % (now - 9))]
    same([a.status for a in asked], [200, 200, 401, 401, 401], "an address that was signed")
    over, wrong = {"code": 401, "message": "signature is already expired"}, {"code": 401, "message": "invalid signature"}
    same([a.json() for a in asked[2:]], [over, wrong, wrong], "is told to be expired only where it was one")
    got = b.ask("GET", "/files?path=h", X_Access_Token="no").json()
    same((got["code"], got["sandboxId"], got["message"].partition(":")[0]), (502, b.id, "The sandbox was not found"), "as their proxy says it")
    same(s.post("/sandboxes/none/fork", {}).json(), {"code": 404, "message": "there is no such sandbox"}, "what is not here is so of a sandbox")
    same(s.post("/sandboxes/%s/snapshots" % b.id, {}).status, 501, "that is there")
    same(b.ask("POST", "/filesystem.Filesystem/ListDir", {"path": "h"}).json()["message"].partition(":")[0], "path is not a directory", "a file is no folder")


def refused_late(s, b):
    """A client that writes its body after its head reads why it was refused, and its connection goes on."""
    body = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"u\"\r\n\r\nup\r\n--x--\r\n"
    c = s.raw(("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n"
               % (b.signed("u", 5, "write"), len(body))).encode())
    ok(serving.until_read(c), "its head is read")
    c.sendall(body)
    seen = b""
    while b"already expired" not in seen:
        more = c.recv(4096)
        if not more:
            break
        seen += more
    ok(seen.startswith(b"HTTP/1.1 401") and b"already expired" in seen, "is refused when that has come", seen)
    c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    ok(c.recv(4096).startswith(b"HTTP/1.1 200"), "and the next request is answered")
    c.close()
    c = s.raw(b"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
    ok(c.recv(4096).startswith(b"HTTP/1.1 401"), "who has no key is told at once")
    c.close()


def commands(b):
    same(b.command('echo "$E2B_SANDBOX $E2B_SANDBOX_ID $E2B_TEMPLATE_ID"'), ("true %s base\n" % b.id, 0), "a command knows its sandbox")
    same(b.command("echo $E2B_SANDBOX_ID", envs={"E2B_SANDBOX_ID": "mine"}), ("mine\n", 0), "unless it is told otherwise")
    b.write("d/e/f", b"1")
    same([b.command("pwd; ls", cwd=cwd) for cwd in ("/home/user/d/e", "d/e", "~/d/e", "./d/../d/e/")],
         [("/home/user/d/e\nf\n", 0)] * 4, "its folder, also below the home's name")
    for cwd in ("/home/user/none", "none", "~/none", "d/e/f"):
        end = b.command("pwd", cwd=cwd)[1]
        same((end["code"], "does not exist" in end["message"]), ("invalid_argument", True), "one that is not there: " + cwd)
    cut = b.start("head -c 1100000 /dev/zero; echo no >&2")
    ok(base64.b64encode(b"assay: standard output has 1100000 bytes")[:51] in cut and b'"exitCode":0' in cut, "what is cut of its output is said to be", cut[-400:])
    same([b.command("pwd", envs=e)[1]["code"] for e in (["A"], "A", {"A": 1})], ["invalid_argument"] * 3, "variables that are none")
    c, _ = b.busy("/process.Process/Start", b"\0" + struct.pack(">I", 70) + b'{"process":{"cmd":"/bin/bash","args":["-l","-c","sleep 99"]}}'.ljust(70), STREAM)
    [listed] = b.ask("POST", "/process.Process/List", {}).json()["processes"]
    kill = {"process": {"pid": listed["pid"]}, "signal": "SIGNAL_SIGKILL"}
    same(b.ask("POST", "/process.Process/SendSignal", kill).status, 200, "killed")
    same(b.ask("POST", "/process.Process/SendSignal", kill).status, 404, "it is not there to kill again")
    c.close()


def gone(s):
    """Those who wait for an answer find out at once, and their clients ask whether the sandbox is there."""
    b = Box(s)
    message = b'{"process":{"cmd":"/bin/bash","args":["-l","-c","echo up; sleep 99"]}}'
    command = b.busy("/process.Process/Start", b"\0" + struct.pack(">I", len(message)) + message, STREAM)
    cell = b.busy("/execute", json.dumps({"code": "import time\nprint(1, flush=True)\ntime.sleep(99)"}), "application/json")
    [listed] = b.ask("POST", "/process.Process/List", {}).json()["processes"]
    message = json.dumps({"process": {"pid": listed["pid"]}}).encode()
    follower = b.busy("/process.Process/Connect", b"\0" + struct.pack(">I", len(message)) + message, STREAM)
    same(s.ask("DELETE", "/sandboxes/" + b.id).status, 204, "a sandbox is killed")
    for name, (c, answer) in (("a command", command), ("a cell", cell), ("who follows a command", follower)):
        try:
            rest = answer.read()
            ok(False, name + " has an answer that breaks off", rest)
        except (http.client.IncompleteRead, ConnectionError):
            ok(True, name + " has an answer that breaks off")
        c.close()
    same(b.ask("GET", "/health").status, 502, "and is gone")


def forked(s):
    b = Box(s, metadata={"who": "me"}, envVars={"V": "1"})
    b.write("d/f", b"before")
    b.cell("x = 1")
    got = s.post("/sandboxes/%s/fork" % b.id, {"count": 2, "timeout": 60})
    rows = [r["sandbox"] for r in got.json()]
    same((got.status, len({r["sandboxID"] for r in rows} | {b.id}), [r["metadata"] for r in rows]), (201, 3, [{"who": "me"}] * 2), "forks")
    f = Box.__new__(Box)
    f.s, f.id, f.token = s, rows[0]["sandboxID"], rows[0]["envdAccessToken"]
    f.named = {"E2b-Sandbox-Id": f.id, "X-Access-Token": f.token}
    same(f.ask("GET", "/files?path=d/f").body, b"before", "have its files")
    f.write("d/f", b"after")
    f.command("echo more >>d/f")
    same((f.ask("GET", "/files?path=d/f").body, b.ask("GET", "/files?path=d/f").body), (b"aftermore\n", b"before"), "and change their own")
    lines = f.cell("import os\nprint(os.environ['V'], open('/home/user/d/f').read())\nx")
    same([l["text"] for l in lines if l["type"] == "stdout"], ["1 aftermore\n\n"], "they have its environment")
    ok("NameError" in [l.get("name") for l in lines] and "fork" in lines[1]["text"], "their contexts begin anew, and say so", lines)
    ok("fork" not in str(f.cell("1")), "once")
    same([l["text"] for l in b.cell("x") if l["type"] == "result"], ["1"], "the other goes on as it was")
    same([s.post("/sandboxes/%s/fork" % b.id, body).status for body in ({"count": 0}, {"count": 17}, {"timeout": -1}, [])], [400] * 4, "no forks")
    rows = s.post("/sandboxes/%s/fork" % b.id, {"count": 16}).json() + s.post("/sandboxes/%s/fork" % b.id, {"count": 16}).json() + \
        s.post("/sandboxes/%s/fork" % b.id, {"count": 16}).json()
    ok({r["error"]["code"] for r in rows if "error" in r} <= {429} and len(rows) == 48, "each that has no room says so", rows)
    for r in s.get("/v2/sandboxes").json():
        s.ask("DELETE", "/sandboxes/" + r["sandboxID"])


def cells(s, b):
    same([c["language"] for c in b.ask("GET", "/contexts").json()], ["python", "javascript"], "contexts that are there from the beginning")
    first = b.ask("GET", "/contexts").json()[0]["id"]
    other = Box(s)
    made = [other.ask("POST", "/contexts", {"cwd": cwd}).json() for cwd in ("/home/user", "/root")]
    same(other.ask("GET", "/contexts").json()[2:], made, "and those that are made are behind them")
    same([b.ask("POST", "/execute", {"code": "1", "env_vars": e}).status for e in (["A"], "A", {"A": 1})], [400] * 3, "variables that are none")
    told = b.cell("print('x' * 1100000)")
    same((sum(len(t["text"]) for t in told if t["type"] == "stdout"), "1100001 bytes, of which the first 1048576" in told[-2]["text"], told[-2]["type"]), (1 << 20, True, "stderr"), "what is cut is said to be")
    same([r["value"] for r in b.cell("exit 3", language="bash") if r["type"] == "error"], ["exit code 3"], "a cell of a shell that failed says how")
    awaits = "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\n"
    same([r.get("text", r.get("name")) for r in b.results(awaits + "await f(6)") + b.results("y = await f(7)") + b.results("y") + b.results("return 1")], ["6", "7", "SyntaxError"],
         "a cell may await outside of functions, and not return there")
    b.cell("x = 5")
    same(b.results("x")[0]["text"], "5", "a cell is the first's")
    same([r["text"] for r in b.cell("x + 1", context_id=first) if r["type"] == "result"], ["6"], "by its name, too")
    [r] = b.results("class T:\n    def _repr_json_(self):\n        return {'a': [17029735767160082.0, 2**53, 2**60, -2**70, True, 1e300]}\nT()")
    same(r["json"], {"a": [17029735767160082, 2**53, float(2**60), -float(2**70), 1, 1e300]}, "numbers are numbers, however large")
    picture = "from PIL import Image\ni = Image.new('RGB', (4, 4))\n"
    if "No module" in str(b.results(picture)):
        tap.diag("PIL is not installed")
        return
    for name, code in (("shown", "i.show()"), ("saved", "i.save('p.png')"), ("the last value", "i")):
        same([sorted(r) for r in b.results(picture + code)], [["is_main_result", "png", "text", "type"]], "a picture that is " + name)
    same(b.results(picture + "import io\ni.save(io.BytesIO(), 'PNG')"), [], "not one that goes to memory")
    same(b.ask("GET", "/files?path=p.png").body[:4], b"\x89PNG", "what was saved is a file")


def main():
    with serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), "--parallel", "4") as s:
        b = Box(s)
        ranges(b)
        words(s, b)
        refused_late(s, b)
        commands(b)
        gone(s)
        cells(s, b)
        forked(s)


tap.main(main)
