#!/usr/bin/python3
# assay mcp, message by message: both eras, each tool, what is refused and asked, cancelling, many
# at once, the end of input, signals, and messages that are none.
import base64
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import tap
from mcp import MODERN, Server, meta
from tap import ok, same

VERSIONS = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

TOOLS = ["execute_code", "execute_python", "run_python", "context_open", "context_close",
         "context_interrupt", "context_list", "read_file", "screen_code", "list_runs",
         "show_run", "replay_run"]
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
                       "awAAAABJRU5ErkJggg==")
PROBE = "import os\nprint('probed' if len(os.environ) else '')\n"  # wants a yes
FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(60)\n"


def code_of(answer):
    return answer.get("error", {}).get("code")


def text_of(result):
    return result["content"][0]["text"]


def eras():
    with Server() as s:
        same(s.hello["result"]["protocolVersion"], "2025-11-25", "initialize: the version asked for")
        same(s.hello["result"]["capabilities"], {"tools": {}}, "tools, and nothing that is not there")
        same(s.ask("ping").get("result"), {}, "ping")
        tools = s.ask("tools/list")["result"]["tools"]
        same([t["name"] for t in tools], TOOLS, "the tools, in their order; no model, no questions")
        ok(all(set(t) >= {"title", "description", "inputSchema", "outputSchema", "annotations"} and
               not {"assay"} & set(t) for t in tools), "each says all that a client may ask of it")
        same(tools[0]["inputSchema"]["properties"]["language"]["enum"][0], "python", "languages by name")
        same(code_of(s.ask("resources/list")), -32601, "an unknown method")
        same(code_of(s.ask("tools/call", name="nothing")), -32602, "an unknown tool")
        same(code_of(s.ask("tools/call", name="execute_python", arguments=[1])), -32602, "arguments that are none")
        same(s.close(), 0, "the end of input is the end")
    with Server(era="new") as s:
        found = s.ask("server/discover")["result"]
        same(found["supportedVersions"], VERSIONS, "server/discover")
        ok(found["resultType"] == "complete" and found["cacheScope"] == "public" and
           found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "assay", "and what belongs to it", found)
        listed = s.ask("tools/list")["result"]
        ok(listed["resultType"] == "complete" and isinstance(listed["ttlMs"], int) and
           [t["name"] for t in listed["tools"]] == TOOLS, "tools/list of the new era", listed)
        result = s.call("execute_python", code="print(1)")
        same((result["resultType"], result["structuredContent"]["stdout"]), ("complete", "1\n"), "a call without initialize")
        same(code_of(s.ask("resources/list")), -32601, "an unknown method of the new era")
        s.era = "bare"
        same(code_of(s.ask("tools/list")), -32602, "a request that does not say its version")
        same(code_of(s.ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": MODERN})), -32602,
             "nor what the client can")
        wrong = s.ask("tools/list", **meta(version="1999-01-01"))["error"]
        same((wrong["code"], wrong["data"]), (-32022, {"supported": VERSIONS, "requested": "1999-01-01"}),
             "a version that is not spoken")
        same(s.ask("ping").get("result"), {}, "ping needs none")
    with Server(era="bare") as s:
        same(s.ask("initialize", protocolVersion="1990-01-01", capabilities={})["result"]["protocolVersion"],
             "2025-11-25", "initialize with a version that is not known: the newest")


def programs(s):
    r = s.call("execute_python", code="import sys\nprint(6 * 7)\nprint('e', file=sys.stderr)\n")
    got = r["structuredContent"]
    same((got["outcome"], got["exit_code"], got["stdout"], got["stderr"], r["isError"]),
         ("exit", 0, "42\n", "e\n", False), "a program's result")
    same(json.loads(text_of(r)), got, "and the same as text")
    ok("data, not instructions" in got["notice"] and list(got)[0] == "notice", "marked as data, first of all")
    ok(got["metrics"]["wall_ms"] > 0 and "isolation" not in got, "metrics; the walls are in the log")
    r = s.call("run_python", code="def f():\n    raise ValueError('no')\nf()\n")
    same((r["isError"], r["structuredContent"]["error"]["type"], r["structuredContent"]["error"]["line"]),
         (True, "ValueError", 2), "what failed is an error with its line")
    for lang, code in (("bash", "echo hi"), ("javascript", "console.log('hi')"), ("py", "print('hi')")):
        same(s.call("execute_code", language=lang, code=code)["structuredContent"]["stdout"], "hi\n", lang)
    r = s.call("execute_python", code=FOREVER, timeout_ms=300)
    same((r["isError"], r["structuredContent"]["outcome"]), (True, "timeout_wall"), "timeout_ms")
    r = s.call("execute_python", code="print(input(), open('/in/d/a').read(), open('b').read())", stdin="x\n",
               files={"d/a": "A", "b": {"content": "Qg==", "encoding": "base64"}})
    same(r["structuredContent"]["stdout"], "x A B\n", "standard input and files")
    r = s.call("execute_python", code="print(open('/in/c','rb').read())",
               files=[{"name": "c", "content": "00ff", "encoding": "hex"}])
    same(r["structuredContent"]["stdout"], "b'\\x00\\xff'\n", "files as a list, and bytes")


def refused(s):
    for name, args, word in (
            ("../x", {"code": "1", "files": {"../x": ""}}, "relative path"),
            ("/etc/x", {"code": "1", "files": {"/etc/x": ""}}, "relative path"),
            ("a folder of a file", {"code": "1", "files": {"a": "", "a/b": ""}}, "cannot both"),
            ("no content", {"code": "1", "files": {"a": None}}, "no file of this machine"),
            ("a bad base64", {"code": "1", "files": {"a": {"content": "?", "encoding": "base64"}}}, "not base64"),
            ("a path for content", {"code": "1", "files": ["/etc/passwd"]}, "needs a name"),
            ("no code", {}, "code is missing"),
            ("an argument too many", {"code": "1", "odd": "c"}, "not known"),
            ("a time that is none", {"code": "1", "timeout_ms": 0}, "timeout_ms")):
        r = s.call("execute_python", **args)
        ok(r.get("isError") and word in text_of(r), "refused: " + name, r)
    r = s.call("execute_code", language="cobol", code="x")
    ok(r["isError"] and "python" in text_of(r), "an unknown language: there is ...", r)
    r = s.call("execute_python", code="import socket\nprint('ran')\n")
    got = r["structuredContent"]
    same((r["isError"], got["outcome"], got["status"], got["refused"]["rules"], got["stdout"]),
         (True, "not_run", "denied", ["py.import.network"], ""), "a refusal, and its rule")
    ok("line 1" in got["detail"] and "network" in got["refused"]["remedy"], "where, and what to do instead", got)
    r = s.call("execute_python", code=PROBE)
    ok(r["isError"] and "cannot ask" in r["structuredContent"]["detail"], "what wants a yes is denied", r)
    r = s.call("screen_code", language="python", code="#" * (5 << 20))
    ok(r["isError"] and "code has more than" in text_of(r), "a program too large is not looked at, either", r)
    r = s.call("screen_code", language="python", code="import socket\n")
    same((r["structuredContent"]["verdict"], r["isError"]), ("deny", False), "screen_code")


def artifacts(s):
    r = s.call("execute_python", code="import base64\nopen('/out/p.png', 'wb').write(base64.b64decode(%r))\n"
               "open('/out/t.txt', 'w').write('text')\nopen('/out/b', 'wb').write(bytes([0, 255]))\n" %
               base64.b64encode(PNG).decode())
    image = r["content"][1]
    same((image["type"], image["mimeType"], base64.b64decode(image["data"])), ("image", "image/png", PNG), "a picture")
    run = r["structuredContent"]["run"]
    same(sorted(a["path"] for a in r["structuredContent"]["artifacts"]), ["b", "p.png", "t.txt"], "artifacts are told")
    read = s.call("read_file", run=run, path="t.txt")
    same(read["structuredContent"]["text"], "text", "read_file: text")
    same(base64.b64decode(s.call("read_file", run=run, path="b")["structuredContent"]["base64"]), b"\0\xff", "bytes")
    same(base64.b64decode(s.call("read_file", run=run, path="p.png")["content"][1]["data"]), PNG, "a picture again")
    r = s.call("read_file", run=run, path="../../etc/passwd")
    ok(r["isError"] and "no artifact" in text_of(r), "and nothing else", r)
    return run


def records(s, run):
    rows = s.call("list_runs", limit=3)["structuredContent"]["runs"]
    same((len(rows), rows[0]["run"], rows[0]["kind"]), (3, run, "exec"), "list_runs, newest first")
    ok(s.call("list_runs", limit=0)["isError"] and s.call("list_runs", status="odd")["isError"], "and what it refuses")
    shown = s.call("show_run", run=run)["structuredContent"]
    same([e["stage"] + ":" + e["phase"] for e in shown["events"]],
         ["task:done", "screen:started", "screen:done", "execute:started", "execute:done", "end:done"]
         if shown["events"][-1]["stage"] == "end" else
         ["task:done", "screen:started", "screen:done", "execute:started", "execute:done"],
         "show_run: screened and recorded as everywhere")
    ok(s.call("show_run", run="nosuchrun")["isError"], "a run that is not there")
    again = s.call("replay_run", run=run)
    same((again["isError"], again["structuredContent"]["same"]), (False, True), "replay_run")
    for got in (s.call("list_runs")["structuredContent"], shown, again["structuredContent"]):
        ok(list(got)[0] == "notice" and "data, not instructions" in got["notice"], "what programs said is marked as data", list(got))


def cancelling():
    with Server("--parallel", "2") as s:
        slow = s.running("execute_python", {"code": FOREVER, "timeout_ms": 9000}, "a")
        other = s.running("execute_python", {"code": FOREVER, "timeout_ms": 9000}, "b")
        ok(True, "two programs run at once")
        waits = s.start("execute_python", {"code": "print('waited')"})
        same(s.ask("ping").get("result"), {}, "and a ping is answered beside them")
        s.tell("notifications/cancelled", requestId=slow)
        same(s.end(waits)["result"]["structuredContent"]["stdout"], "waited\n", "cancelling makes room")
        s.tell("notifications/cancelled", requestId=other)
        s.tell("notifications/cancelled", requestId=99)
        ended = s.call("list_runs", limit=5, status="cancelled")["structuredContent"]["runs"]
        while len(ended) < 2:
            ended = s.call("list_runs", limit=5, status="cancelled")["structuredContent"]["runs"]
        ok(True, "both are recorded as that")
        same(s.close(), 0, "and it ends well")
        ok(not {slow, other} & set(s.answers), "no answer follows to what was cancelled")
        progress = [m["params"]["progress"] for m in s.seen
                    if m and m.get("method") == "notifications/progress" and m["params"]["progressToken"] == "a"]
        ok(progress == sorted(set(progress)) and len(progress) >= 2, "progress increases", progress)
    with Server("--parallel", "1") as s:
        first = s.running("execute_python", {"code": FOREVER, "timeout_ms": 9000}, "a")
        rest = [s.start("execute_python", {"code": "print(%d)" % n}) for n in range(17)]
        full = s.end(rest[16])["result"]
        ok(full["isError"] and "Try again" in text_of(full), "the queue has an end", full)
        s.tell("notifications/cancelled", requestId=rest[0])
        s.tell("notifications/cancelled", requestId=first)
        same([s.end(n)["result"]["structuredContent"]["stdout"] for n in rest[1:16]],
             ["%d\n" % n for n in range(1, 16)], "what waited runs, each its own")
        ok(rest[0] not in s.answers, "what was cancelled while it waited does not")
        twice = s.running("execute_python", {"code": FOREVER, "timeout_ms": 9000}, "c")
        s.last = twice - 1
        same(code_of(s.until(lambda m: "error" in m) if s.start("execute_python", {"code": "1"}) else {}), -32600,
             "an id that is in use")


def asking():
    can = {"elicitation": {}}
    for said, ran in (({"action": "accept", "content": {"approve": True}}, True),
                      ({"action": "accept", "content": {"approve": False}}, False),
                      ({"action": "accept"}, False), ({"action": "decline"}, False), ({"action": "cancel"}, False)):
        with Server(capabilities=can) as s:
            number = s.start("execute_python", {"code": PROBE})
            asked = s.until(lambda m: m.get("method") == "elicitation/create")
            ok("py." in asked["params"]["message"] and "os.environ" in asked["params"]["message"],
               "the question shows the rule and the program", asked)
            s.send({"id": asked["id"], "result": said})
            r = s.end(number)["result"]
            same((r["isError"], r["structuredContent"]["stdout"]), (not ran, "probed\n" if ran else ""), str(said))
    with Server(capabilities=can) as s:
        code = "import os, pickle\nfrom pathlib import Path\n" + "".join(5 * (line + "\n") for line in (
            "print(len(os.environ))", "Path.home()", "pickle.loads(b'')", "os.listdir('/')", "import builtins",
            "print(open('/etc/passwd'))")) + "#" + "\x01" * 5000 + "end"
        s.start("execute_python", {"code": code})
        text = s.until(lambda m: m.get("method") == "elicitation/create")["params"]["message"]
        ok("more findings" in text and text.count("\nline ") == 20, "what is not shown of the findings is said", text[:2000])
        ok(text.count("<01>") > 3000 and " more bytes" in text[-30:], "and of the program, also of one that is made visible",
           text[-200:])
    with Server(capabilities=can) as s:
        number = s.start("execute_python", {"code": PROBE})
        s.until(lambda m: m.get("method") == "elicitation/create")
        same(s.close(), 0, "who leaves says no")
        same(s.end(number)["result"]["structuredContent"]["status"], "denied", "and is told")
    with Server(capabilities=can) as s:
        number = s.start("execute_python", {"code": PROBE})
        s.until(lambda m: m.get("method") == "elicitation/create")
        s.tell("notifications/cancelled", requestId=number)
        same(s.call("execute_python", code="print(1)")["isError"], False, "a question can be cancelled")
    with Server(era="new", capabilities=can) as s:
        given = {"name": "execute_python", "arguments": {"code": PROBE}}
        r = s.ask("tools/call", **given)["result"]
        same((r["resultType"], r["inputRequests"]["approve"]["method"]), ("input_required", "elicitation/create"),
             "the new era: a result that asks")
        yes = {"approve": {"action": "accept", "content": {"approve": True}}}
        state = r["requestState"]
        r = s.ask("tools/call", inputResponses=yes, requestState=state, **given)["result"]
        same((r["resultType"], r["structuredContent"]["stdout"]), ("complete", "probed\n"), "and the same call with a yes")
        until, sign = state.split(".")
        later = "%d.%s" % (int(until) + 1000, sign)
        r = s.ask("tools/call", inputResponses=yes, requestState=later, **given)["result"]
        same(r["resultType"], "input_required", "a question is signed with its end")
        other = {"name": "execute_python", "arguments": {"code": PROBE + "#"}}
        r = s.ask("tools/call", inputResponses=yes, requestState=state, **other)["result"]
        same(r["resultType"], "input_required", "a yes is to one program alone")
        r = s.ask("tools/call", inputResponses=yes, **given)["result"]
        same(r["resultType"], "input_required", "and to one that was shown")
        r = s.ask("tools/call", inputResponses={"approve": {"action": "decline"}}, requestState=state, **given)["result"]
        same((r["isError"], r["structuredContent"]["status"]), (True, "denied"), "a no")
    with Server("--allow", "py.*") as s:
        same(s.call("execute_python", code=PROBE)["structuredContent"]["stdout"], "probed\n", "approved beforehand")


def deaf():
    """A client that closes what it reads from, while a program runs."""
    r, w = os.pipe()
    process = subprocess.Popen([tap.ASSAY, "mcp"], stdin=subprocess.PIPE, stdout=w, stderr=subprocess.DEVNULL,
                               env=tap.environment(), cwd=tap.work)
    os.close(w)

    def send(number, method, **params):
        process.stdin.write(json.dumps(dict(jsonrpc="2.0", id=number, method=method, params=params)).encode() + b"\n")
        process.stdin.flush()

    send(1, "initialize", protocolVersion="2025-11-25", capabilities={})
    send(2, "tools/call", name="execute_python", arguments={"code": FOREVER, "timeout_ms": 9000},
         _meta={"progressToken": "a"})
    came = b""
    while b'"execute"' not in came:
        came += os.read(r, 65536)
    below = mcp.family(process.pid)
    os.close(r)
    send(3, "ping")
    process.wait(mcp.PATIENCE)
    process.stdin.close()
    ok(mcp.gone(below), "a client that does not listen any more: nothing is left")


def stuck():
    """A client that writes, but does not read: a signal ends it nevertheless."""
    r, w = os.pipe()
    process = subprocess.Popen([tap.ASSAY, "mcp"], stdin=subprocess.PIPE, stdout=w, stderr=subprocess.DEVNULL,
                               env=tap.environment(), cwd=tap.work, bufsize=0)
    os.close(w)
    os.set_blocking(process.stdin.fileno(), False)
    size = fcntl.fcntl(r, fcntl.F_GETPIPE_SZ)

    def unread():
        return int.from_bytes(fcntl.ioctl(r, termios.FIONREAD, bytes(4)), sys.byteorder)

    line, rest = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', b""
    while unread() < size // 2 or select.select([], [process.stdin], [], 0.2)[1]:
        rest = (rest or line)[process.stdin.write(rest or line) or 0:]
    process.send_signal(signal.SIGTERM)
    try:
        same(process.wait(mcp.PATIENCE), 143, "a client that does not read keeps nobody from ending")
    finally:
        process.kill()
        process.stdin.close()
        os.close(r)


def endings():
    with Server() as s:
        # Long enough to be under way when the input ends: nothing of that end can be seen where they run.
        numbers = [s.start("execute_python", {"code": "import time\ntime.sleep(0.2)\nprint(%d)" % n}) for n in range(4)]
        same(s.close(), 0, "the end of input, with calls under way")
        same([s.end(n)["result"]["structuredContent"]["stdout"] for n in numbers], ["0\n", "1\n", "2\n", "3\n"],
             "all of them answered")
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)):
        with Server() as s:
            s.running("execute_python", {"code": FOREVER, "timeout_ms": 9000}, "a")
            below = mcp.family(s.process.pid)
            ok(below, "there are processes below it")
            s.process.send_signal(number)
            same(s.process.wait(mcp.PATIENCE), code, "signal %d: how it ends" % number)
            ok(mcp.gone(below), "and nothing of it is left", below)
    last = tap.assay("log", "list", "--json", "--limit", "1").json()[0]
    same((last["status"], last["kind"]), ("unfinished", "exec"), "the log says what was under way")
    deaf()
    stuck()
    same(tap.assay("log", "verify").code, 0, "the log is whole")


def malformed():
    with Server() as s:
        def answer(data):
            s.raw(data + b"\n")
            return code_of(s.until(lambda m: m.get("id") is None and "error" in m))
        for data, code, name in (
                (b"{", -32700, "no JSON"), (b"\xff\xfe", -32700, "no text"), (b"[]", -32600, "an empty batch"),
                (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, "a batch"), (b"1", -32600, "a number"),
                (b'{"id":null,"jsonrpc":"2.0","method":"ping"}', -32600, "an id that is null"),
                (b'{"id":1.5,"jsonrpc":"2.0","method":"ping"}', -32600, "an id that is half"),
                (b'{"jsonrpc":"2.0"}', -32600, "nothing in it"),
                (b'{"a":1,"a":2}', -32700, "a key twice"),
                (b"[" * 100000, -32700, "depth"), (b"[" + b"1," * 200000 + b"1]", -32600, "values without number"),
                (b'{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32700, "a number that is not held as id"),
                (b'{"jsonrpc":"2.0","id":"a\\u0000","method":"ping"}', -32700, "a text that is not held as id"),
                (b'"' + b"x" * (17 << 20) + b'"', -32600, "17 MiB")):
            same(answer(data), code, "malformed: " + name)
        for text, name in ((b'"a\\u0000b"', "a NUL"), (b'18446744073709551616', "a number beyond all"), (b'1,"code":2', "a member twice")):
            s.last += 1
            s.raw(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"execute_python","arguments":{"code":%s}}}\n' % (s.last, text))
            same(code_of(s.end(s.last)), -32602, "JSON that is not held is answered to who waits: " + name)
        s.send({"id": None, "error": {"code": 1, "message": ""}})
        same((s.ask("ping").get("result"), s.seen[-2]["id"]), ({}, s.last - 1), "an error is no cause for another")
        s.send({"id": "x", "method": 5})
        same(code_of(s.end("x")), -32600, "a method that is no text")
        s.send({"id": "y", "method": "tools/list", "params": [1]})
        same(code_of(s.end("y")), -32602, "params by place")
        s.send({"id": "z", "jsonrpc": "1.0", "method": "ping"})
        same(code_of(s.end("z")), -32600, "another version of JSON-RPC")
        s.raw(b"\n \r\n\t\n")
        for _ in range(5):
            s.raw(b"y" * (17 << 20) + b"\n")
            s.until(lambda m: "error" in m)
        same(s.ask("ping").get("result"), {}, "and it goes on")
        if "asan" not in tap.ASSAY:
            ok(s.peak_kib() < 160 << 10, "within bounded memory", s.peak_kib())
        s.raw(b'{"jsonrpc":"2.0","id":"cut","method":"ping"}')
        s.process.stdin.close()
        same(s.end("cut").get("result"), {}, "the last line may lack its end")
        same(s.close(), 0, "and the exit code is 0")


def questions():
    tap.dump(os.path.join(tap.work, "s.jsonl"), [
        {"stage": "code", "reply": "So:\n\n```python\nprint(6 * 7)\n```\n"},
        {"stage": "judge", "reply": '{"verdict":"pass","reason":"right","answer":"It is 42."}'}])
    with Server("--script", "s.jsonl", "--parallel", "1") as s:
        same([t["name"] for t in s.ask("tools/list")["result"]["tools"]][9], "answer_question", "a model is configured")
        r = s.call("answer_question", question="What is six times seven?")
        got = r["structuredContent"]
        same((r["isError"], got["status"], got["level"], got["answer"]), (False, "success", "judged", "It is 42."),
             "answer_question")
        r = s.call("answer_question", question="And eight times seven?")
        ok(r["isError"], "a model that says nothing more", r)
        same(s.close(), 0, "it ends")


def pasting():
    for client in ("claude-desktop", "cursor", "gemini", "vscode", "zed"):
        got = tap.assay("mcp", "--print-config", client)
        ok(tap.ASSAY in json.dumps(got.json()) or os.path.realpath(tap.ASSAY) in json.dumps(got.json()),
           "--print-config " + client, got)
    ok(tap.assay("mcp", "--print-config", "claude").out.startswith("claude mcp add assay -- /"), "claude")
    import tomllib
    same(tomllib.loads(tap.assay("mcp", "--print-config", "codex").out)["mcp_servers"]["assay"]["args"], ["mcp"], "codex")
    got = tap.assay("mcp", "--print-config", "nobody")
    ok(got.code == 2 and "vscode" in got.err, "another: there is ...", got)
    same(tap.assay("mcp", "argument").code, 2, "no argument is taken")


def main():
    eras()
    with Server() as s:
        programs(s)
        refused(s)
        records(s, artifacts(s))
        same(s.close(), 0, "it ends")
        ok("answer" in s.process.stderr.read().decode(), "standard error says that there is no model")
    cancelling()
    asking()
    endings()
    malformed()
    questions()
    pasting()


tap.main(main)
