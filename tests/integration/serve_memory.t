#!/usr/bin/python3
# What the server holds of many large requests, and of answers that nobody takes, has a bound over all
# of them: what is beyond it is told so, and the server's memory stays below what its README says.
import base64
import json
import os
import sys
import threading
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import serving
import tap
from serving import Server
from tap import ok, same

HELD, PARALLEL = 128 << 20, 2


def memory(s, name):
    with open("/proc/%d/status" % s.pid) as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith(name))


def send(s, bodies):
    """A connection each, on which all of a request was written."""
    made = [s.raw() for _ in bodies]

    def one(c, body):
        try:
            c.sendall(s.request("/execute", body))
        except OSError: # it is refused while it speaks
            pass
    threads = [threading.Thread(target=one, args=pair) for pair in zip(made, bodies)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return made


def answer(c):
    """Status and body; of an answer that breaks off 0."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        seen += c.recv(1 << 16) or b"\r\n\r\n"
    head, _, body = seen.partition(b"\r\n\r\n")
    length = next((int(l[15:]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length:")), 0)
    while len(body) < length and (more := c.recv(1 << 20)):
        body += more
    c.close()
    return (int(head.split()[1]) if head and len(body) >= length else 0), body


def busy(s):
    """Programs that have every worker until their clients leave."""
    c = [s.raw(s.request("/execute", {"code": "import time; time.sleep(600)", "timeout_ms": 600000})) for _ in range(PARALLEL)]
    ok(s.until("assay_running", PARALLEL), "every worker has something to do")
    return c


def leave(s, clients):
    for c in clients:
        c.close()
    ok(s.until("assay_running", 0) and s.until("assay_waiting", 0) and s.until("assay_body_bytes", 0), "they leave, and nothing of them is held")


def bodies(s):
    size = 11 << 20
    text = base64.b64encode(bytes(size)).decode()
    body = {"code": "import os; print(os.path.getsize('/in/a'))", "files": {"a": {"content": text, "encoding": "base64"}}}
    own, made = busy(s), send(s, [body] * 14)
    ok(s.until("assay_waiting", HELD // len(json.dumps(body))), "of many large bodies as many wait as there is room for")
    held = s.metric("assay_body_bytes")
    ok(HELD - (16 << 20) < held <= HELD, "which is what is told", held)
    for c in own:
        c.close()
    got = [answer(c) for c in made]
    same([json.loads(b)["stdout"] for n, b in got if n == 200], ["%d\n" % size] * (HELD // len(json.dumps(body))), "they run")
    same({n for n, _ in got}, {200, 429}, "the others are told to come again")
    leave(s, [])


def values(s):
    """A short text of many values is large when it is parsed."""
    own, made = busy(s), send(s, [{"code": "1", "stdin": "", "files": [1] * 90000}] * 24)
    ok(s.until("assay_waiting", HELD // (90000 * 128)), "of bodies with many values as many wait as there is room for")
    leave(s, own + made)


def answers(s):
    """Nobody reads: what is answered is held, until so much is that no more is begun."""
    made = send(s, [{"code": "open('/out/a', 'wb').write(bytes(5 << 20))"}] * 30)
    made_box = s.post("/v2/sandboxes", {}).json()
    stream = s.raw(("POST /execute HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: %s\r\nX-Access-Token: %s\r\nContent-Type: application/json\r\n"
                    "Content-Length: 13\r\n\r\n{\"code\": \"1\"}" % (made_box["sandboxID"], made_box["envdAccessToken"])).encode())
    ok(s.until("assay_running", 0) and s.until("assay_waiting", 0), "thirty programs with much to tell, and no reader")
    held = s.metric("assay_answer_bytes")
    ok(HELD - (16 << 20) < held < HELD + (16 << 20), "what is held of answers is within the bound, but for those under way", held)
    same(s.post("/execute", {"code": "print(1)"}).status, 429, "and no more is begun")
    got = serving.read_all(stream)
    ok(b" 200 " in got and b"end_of_execution" not in got and not got.endswith(b"0\r\n\r\n"), "nor a stream's program, which breaks off", got)
    got = [answer(c) for c in made]
    same({n for n, _ in got}, {200, 429}, "answered, or told to come again")
    same({len(base64.b64decode(json.loads(b)["artifacts"][0]["base64"])) for n, b in got if n == 200}, {5 << 20}, "each whole")
    ok(s.until("assay_answer_bytes", 0), "and when they are taken nothing is held")


def main():
    with Server("--parallel", str(PARALLEL), "--timeout", "600", where=("--socket", os.path.join(tap.work, "sock"))) as s:
        bodies(s)
        values(s)
        answers(s)
        if "asan" not in tap.ASSAY:
            ok(memory(s, "VmHWM") < 2 * HELD + PARALLEL * (64 << 20), "within bounded memory", memory(s, "VmHWM"))
            ok(memory(s, "VmRSS") < HELD, "which goes back", memory(s, "VmRSS"))
        print("# at most %d MiB, %d in the end" % (memory(s, "VmHWM") >> 20, memory(s, "VmRSS") >> 20))
        same(s.run("print(1)")["stdout"], "1\n", "it serves on")


tap.main(main)
