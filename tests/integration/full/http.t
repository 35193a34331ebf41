#!/usr/bin/python3
# Both wires against a real HTTP server, streamed and in one piece: what a person and a script are
# told, what is recorded, and what the server really saw.
import os
import re
import socket
import sys
import time
sys.dont_write_bytecode = True
import tap
import aimock
from aimock import WIRES, fixture, refusal
from tap import ok, same

MODES = ("stream", "whole")
WRONG = "The mean.\n\n```python\nxs = [2, 4, 9]\nprint(sum(xs) / (len(xs) - 3))\n```\n"
RIGHT = "There were too few to divide by.\n\n```python\nxs = [2, 4, 9]\nprint(sum(xs) / len(xs))\n```\n"
CODER, REPAIRER = "You answer a question", "You repair a program"
LOST = "sk-test-lost-9d3377c1be0c46"
USAGE = (11, 7)
words = " ".join("word%d" % n for n in range(60))


def fixtures():
    each = []
    for tag in ("%s-%s" % (wire, mode) for wire in WIRES for mode in MODES):
        each += [
            fixture("hello " + tag, "Good day.", USAGE),
            fixture({"systemMessage": CODER, "userMessage": "mean " + tag}, WRONG, USAGE),
            fixture({"systemMessage": REPAIRER, "userMessage": "mean " + tag}, RIGHT, USAGE),
            fixture({"userMessage": "busy " + tag, "sequenceIndex": 0},
                    refusal(429, "rate_limit_error", "slow down", retryAfter=2)),
            fixture("busy " + tag, RIGHT, USAGE),
            fixture("hour " + tag, refusal(429, "rate_limit_error", "no", retryAfter=3600)),
        ]
    return each + [
        fixture("cut text", words, truncateAfterChunks=20, latency=5),
        fixture({"systemMessage": CODER, "userMessage": "cut once"}, RIGHT,
                truncateAfterChunks=6, latency=5),
        fixture({"systemMessage": REPAIRER, "userMessage": "cut once"}, RIGHT),
        fixture("cut always", RIGHT, truncateAfterChunks=6, latency=5),
        fixture({"model": "no-such-model"},
                refusal(404, "not_found_error", "The model no-such-model does not exist")),
        fixture("echo the key", refusal(401, "authentication_error", "Incorrect: " + aimock.KEY)),
        fixture("echo another", refusal(400, "invalid_request_error", "You said " + LOST)),
        fixture("bad request", refusal(400, "invalid_request_error", "messages is malformed")),
        fixture("answers with an error", refusal(500, "api_error", "out of order")),
        fixture("malformed", "x", chaos={"malformedRate": 1}),
        fixture("disconnected", "x", chaos={"disconnectRate": 1}),
        fixture("dropped", "x", chaos={"dropRate": 1}),
        *[fixture("task %d of" % n, "So:\n\n```python\nprint(%d)\n```\n" % (n * n), USAGE)
          for n in range(1, 13)],
    ]


class Wire:
    """How one wire is spoken to in these tests."""

    def __init__(self, server, wire, mode):
        self.name = "%s-%s" % (wire, mode)
        self.server, self.wire = server, wire
        self.variable = wire.upper() + "_API_KEY"
        self.flags = server.flags(wire) + (["--no-stream"] if mode == "whole" else [])

    def run(self, command, *args, key=aimock.KEY, **more):
        return tap.assay(command, *self.flags, *args, **{self.variable: key}, **more)

    def complete(self, *args, **more):
        return self.run("complete", "--json", *args, **more)

    def ask(self, *args, **more):
        return self.run("ask", "--json", "--lang", "python", *args, **more)


def events(run):
    """The model calls of a run as the log has them: stage, and what was recorded."""
    found = tap.assay("log", "show", run, "--json").json()
    return [(e["stage"], e["data"]) for e in found.get("events", [])
            if e["stage"] in ("plan", "code", "repair", "judge", "complete") and e["phase"] == "done"]


def statuses(tries):
    return [t["status"] for t in tries]


# --- what works ---

def test_complete(w):
    j = w.complete("hello " + w.name).json()
    same((j.get("text"), j.get("stop_reason"), j.get("error")), ("Good day.", "stop", None),
         w.name + ": complete: the reply")
    u = j["usage"]
    same((u["input_tokens"], u["output_tokens"], u["source"]), (*USAGE, "reported"),
         w.name + ": complete: usage")
    ok(0 <= j["first_token_ms"] <= j["duration_ms"], w.name + ": complete: first_token_ms", j)
    ok(j["request_id"], w.name + ": complete: the server's request id", j)
    same(j["tries"], [{"status": 200, "curl": 0, "waited_ms": 0}], w.name + ": complete: one try")
    asked = w.server.journal("hello " + w.name)
    same([a["path"] for a in asked],
         ["/v1/chat/completions" if w.wire == "openai" else "/v1/messages"],
         w.name + ": complete: the server was asked once, where it should")
    same(bool(asked[0]["body"].get("stream")), w.name.endswith("-stream"),
         w.name + ": complete: streamed if and only if wanted")
    same(w.run("complete", "hello " + w.name).out, "Good day.\n", w.name + ": complete without --json")


def test_repair(w):
    done = w.ask("--expect-number", "5", "mean " + w.name)
    j = done.json()
    same((done.code, j["status"], j["level"], j["attempts"], j["answer"]),
         (0, "success", "expected", 2, "5.0\n"), w.name + ": wrong first, right after the repair")
    same((j["usage"]["input_tokens"], j["usage"]["output_tokens"]), (2 * USAGE[0], 2 * USAGE[1]),
         w.name + ": usage of both calls")
    first, second = w.server.journal("mean " + w.name)
    told = str(second["body"]["messages"])
    ok("ZeroDivisionError" in told and "len(xs) - 3" in told,
       w.name + ": the repairer was shown the program and its error", told)
    calls = events(j["run"])
    same([stage for stage, data in calls], ["code", "repair"], w.name + ": both calls are in the log")
    ok(all(d["first_token_ms"] >= 0 and d["usage"]["input_tokens"] == USAGE[0] and
           statuses(d["tries"]) == [200] for s, d in calls),
       w.name + ": with usage, first_token_ms and tries", calls)


def test_busy(w):
    began = time.monotonic()
    done = w.ask("--expect-number", "5", "busy " + w.name)
    took = time.monotonic() - began
    j = done.json()
    same((done.code, j["level"], j["attempts"]), (0, "expected", 1), w.name + ": 429, then the answer")
    ok(took >= 2, w.name + ": Retry-After was obeyed", took)
    tries = events(j["run"])[0][1]["tries"]
    same(statuses(tries), [429, 200], w.name + ": both tries are in the log")
    ok(2000 <= tries[1]["waited_ms"] < 4000, w.name + ": with the time waited", tries)
    same([a["response"]["status"] for a in w.server.journal("busy " + w.name)], [429, 200],
         w.name + ": the server saw the same")
    began = time.monotonic()
    done = w.complete("hour " + w.name)
    same((done.code, done.json()["error"]["class"], len(done.json()["tries"])), (4, "rate_limit", 1),
         w.name + ": an hour of Retry-After is not waited for")
    ok(time.monotonic() - began < 30 and re.search("3600|1 h|60 min", done.err),
       w.name + ": and the message says how long it would be", done.err)


# --- what fails ---

def test_cut(w):
    done = w.complete("cut text")
    j = done.json()
    same((done.code, j["stop_reason"]), (4, "truncated"), w.name + ": a cut stream is a failure")
    ok(j["text"] and words.startswith(j["text"]) and j["text"] != words,
       w.name + ": what came is kept", j["text"])
    same(j["error"] and j["error"]["class"], "network", w.name + ": and the error says so")
    ok("cut" in done.err, w.name + ": on stderr too", done.err)
    done = w.run("complete", "cut text")
    same((done.code, done.out.strip()), (4, j["text"].strip()), w.name + ": the same without --json")
    j = w.ask("--expect-number", "5", "cut once").json()
    same((j["status"], j["attempts"]), ("success", 2), w.name + ": half a program is not run but repaired")
    same([s for s, d in events(j["run"])], ["code", "repair"], w.name + ": by a second call")
    done = w.ask("--expect-number", "5", "cut always")
    j = done.json()
    ok(done.code != 0 and j["status"] != "success" and not j["execution"],
       w.name + ": where every stream is cut nothing runs and nothing succeeds", done)
    done = w.ask("--require", "none", "--role-model", "plan=off", "cut text")
    j = done.json()
    ok(done.code != 0 and j["status"] != "success",
       w.name + ": half an answer is none, not even with --require none", done)


def test_refused(w):
    for command in (w.complete, w.ask):
        done = command("hello", key="sk-test-wrong-" + "5d1e0cc2")
        same(done.code, 5, w.name + ": a bad key: exit code")
        ok("401" in done.err and w.wire in done.err, w.name + ": a bad key: the message", done.err)
    done = w.complete("hello", key="sk-test-wrong-" + "5d1e0cc2")
    j = done.json()
    same((j["error"]["class"], j["error"]["status"], j["error"]["retryable"], len(j["tries"])),
         ("auth", 401, False, 1), w.name + ": a bad key is not tried again")
    done = w.complete("-m", "no-such-model", "anything")
    j = done.json()
    same((done.code, j["error"]["status"], len(j["tries"])), (4, 404, 1), w.name + ": a model that is not there")
    ok("no-such-model" in done.err and "404" in done.err, w.name + ": is named", done.err)
    done = w.complete("bad request")
    same((done.code, done.json()["error"]["class"], len(done.json()["tries"])), (4, "invalid", 1),
         w.name + ": a refused request is not tried again")
    done = w.run("complete", "hello", key="")
    same(done.code, 5, w.name + ": no key where one is wanted: exit code")


def test_broken(w):
    for what, error, seen in (("malformed", "protocol", [200] * 3), ("dropped", "server", [500] * 3),
                              ("disconnected", "network", [0] * 3),
                              ("answers with an error", "server", [500] * 3)):
        done = w.complete(what)
        j = done.json()
        same((done.code, j["error"]["class"], statuses(j["tries"])), (4, error, seen),
             "%s: %s: exit code, error, tries" % (w.name, what))
        ok(j["text"] == "" and j["stop_reason"] != "stop", "%s: %s: no reply is made up" % (w.name, what), j)
    done = w.ask("--retries", "0", "--expect", "1", "malformed")
    j = done.json()
    same((done.code, j["status"], j["level"], j["answer"]), (4, "provider_error", "none", None),
         w.name + ": ask: a broken server is no answer")


def test_down(w):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        base = "http://127.0.0.1:%d%s" % (port, "/v1" if w.wire == "openai" else "")
        # Bound and not listening: refused, and nobody else can come to listen there.
        done = w.complete("--retries", "1", "hello", "--base-url", base)
        j = done.json()
        same((done.code, j["error"]["class"], [t["curl"] for t in j["tries"]]), (4, "network", [7, 7]),
             w.name + ": no server: exit code, error, tries")
        ok(str(port) in done.err, w.name + ": no server: the message says where", done.err)
        same(j["stop_reason"], None, w.name + ": no server: no reply, so no reason why it stopped")
        done = w.ask("--retries", "0", "hello", "--base-url", base)
        same((done.code, done.json()["status"]), (4, "provider_error"), w.name + ": no server: ask")


# --- batches ---

def test_batch(w):
    tasks, results = os.path.join(tap.work, w.name + ".jsonl"), os.path.join(tap.work, w.name + ".out")
    tap.dump(tasks, [{"id": "t%d" % n, "prompt": "task %d of twelve, %s" % (n, w.name), "lang": "python",
                      "expect": {"equals": str(n * n)}} for n in range(1, 13)])
    done = w.run("batch", tasks, "--out", results, "-j", "3", "--json")
    j = done.json()
    same((done.code, j["success"], j["levels"]), (0, 12, {"expected": 12}), w.name + ": batch of twelve")
    same((j["usage"]["input_tokens"], j["usage"]["output_tokens"]), (12 * USAGE[0], 12 * USAGE[1]),
         w.name + ": batch: usage is summed")
    same({r["id"]: r["answer"].strip() for r in tap.lines(results)},
         {"t%d" % n: str(n * n) for n in range(1, 13)}, w.name + ": batch: each its own answer")
    same(len(w.server.journal("of twelve, " + w.name)), 12, w.name + ": batch: one request a task")


# --- keys ---

def test_keys(w):
    for args in (["echo the key"], ["--json", "echo the key"]):
        done = w.run("complete", *args)
        same(done.code, 5, w.name + ": a server that repeats the key: exit code")
        ok("Incorrect: *" in done.err and aimock.KEY not in done.out + done.err,
           w.name + ": the key in its message is not shown", done)
    # A secret of the environment that is none of this call's: the log must not keep it.
    done = w.run("ask", "echo another: " + LOST, LOST_API_KEY=LOST)
    same(done.code, 4, w.name + ": a server that repeats another secret: exit code")


def scan_for_keys():
    """Raw bytes of whatever is left in the home, the log and its journal included."""
    found, scanned = [], 0
    for folder, _, names in os.walk(os.path.join(tap.work, "home")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            scanned += len(data)
            found += [name for key in (aimock.KEY, LOST, "5d1e0cc2") if key.encode() in data]
    ok(scanned > 100000, "the log is there to be scanned", scanned)
    same(found, [], "no key in any file of the home")


def scan_outputs(outputs):
    leaks = [o for o in outputs if aimock.KEY in o or "5d1e0cc2" in o]
    ok(not leaks, "no key in any output", "\n".join(leaks))
    ok(len(outputs) > 100, "of which there were enough", len(outputs))


def body():
    outputs = []
    plain = tap.assay

    def keep(*args, **more):
        done = plain(*args, **more)
        outputs.append(done.out + done.err)
        return done

    tap.assay = keep
    with aimock.serve(fixtures()) as server:
        for wire in WIRES:
            for mode in MODES:
                w = Wire(server, wire, mode)
                for test in (test_complete, test_repair, test_busy, test_refused, test_broken,
                             test_down, test_batch, test_keys):
                    test(w)
                if mode == "stream":
                    test_cut(w)
    scan_outputs(outputs)
    scan_for_keys()


tap.main(body)
