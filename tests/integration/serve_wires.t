#!/usr/bin/python3
# assay serve speaks other services' wires: Piston's and SandboxFusion's, by their documents.
import base64
import os
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import tap
from serving import Server
from tap import ok, same


def interleaved(s):
    # the next piece is written when the one before was read: what comes at once in two pipes has no order
    code = ("import array, fcntl, os, termios\ndef say(fd, text):\n    os.write(fd, text)\n    left = array.array('i', [1])\n"
            "    while left[0]:\n        fcntl.ioctl(fd, termios.FIONREAD, left)\n"
            "for n in range(3):\n    say(1, b'out%d ' % n)\n    say(2, b'err%d ' % n)\n"
            "say(1, b'\\xc3')\nsay(2, b'!')\nsay(1, b'\\xa4')\n")
    run = s.post("/api/v2/execute", {"language": "python", "version": "*", "files": [{"content": code}]}).json()["run"]
    same((run["output"], run["stdout"]), ("out0 err0 out1 err1 out2 err2 !\u00e4", "out0 out1 out2 \u00e4"), "piston: output has both streams as they came")


def piston(s):
    runtimes = {r["language"]: r for r in s.get("/api/v2/runtimes").json()}
    ok("python" in runtimes and runtimes["python"]["version"].startswith("3.") and "py" in runtimes["python"]["aliases"],
       "piston: the runtimes there are", runtimes)
    version = runtimes["python"]["version"]

    def execute(code, **more):
        return s.post("/api/v2/execute", dict({"language": "python", "version": version, "files": [{"content": code}]}, **more))

    r = execute("import sys\nprint(input(), sys.argv[1:])\nsys.stderr.write('e')\nsys.exit(3)", stdin="in\n", args=["1", "b"]).json()
    run = r["run"]
    same((r["language"], r["version"]), ("python", version), "piston: language and version")
    cut = execute("print('x' * 1100000)").json()["run"]
    same((cut["code"], len(cut["stdout"]), "1100001 bytes, of which the first 1048576" in cut["message"]), (0, 1 << 20, True), "piston: what is cut is said to be")
    same((run["stdout"], run["stderr"], sorted(run["output"]), run["code"], run["signal"], run["status"]),
         ("in ['1', 'b']\n", "e", sorted("in ['1', 'b']\ne"), 3, None, "RE"), "piston: input, arguments, streams, code")
    ok(run["wall_time"] >= 0 and run["cpu_time"] >= 0 and run["memory"] > 0, "piston: figures", run)
    same(execute("print(1)").json()["run"]["status"], None, "piston: a run that went well has no status")
    run = execute("import time\ntime.sleep(60)", run_timeout=200).json()["run"]
    same((run["code"], run["signal"], run["status"]), (None, "SIGKILL", "TO"), "piston: its time is over")
    run = execute("import sys\nfor i in range(2000): sys.stdout.write('x' * 65536)").json()["run"]
    same((run["status"], run["stdout"][:3]), ("OL", "xxx"), "piston: too much output")
    r = execute("from b import x\nprint(x, open('c').read())", files=[
        {"content": "from b import x\nprint(x, open('c').read())"}, {"name": "b.py", "content": "x = 5"},
        {"name": "c", "content": "Yw==", "encoding": "base64"}]).json()
    same(r["run"]["stdout"], "5 c\n", "piston: files beside it")
    same(execute("", files=[{"name": "h", "content": "ff00", "encoding": "hex"}, {"name": "b", "content": "Yw==", "encoding": "base64"},
                            {"name": "any.py", "content": "print(open('h', 'rb').read(), open('b').read())", "encoding": "utf8"},
                            {"name": "beside.py", "content": "nothing"}]).json()["run"]["stdout"],
         "b'\\xff\\x00' c\n", "piston: hex and base64; the first text is the program")
    same(execute("", files=[{"name": "mine.py", "content": "def f(): return open('mine.py').read(5)\nif __name__ == '__main__':\n    import mine\n    print(mine.f())"}])
         .json()["run"]["stdout"], "def f\n", "piston: the program is there by its name, too")
    for selector in ("*", "3", "3.x", "^3.0.0", ">=3.0.0", "~" + version, version):
        same(execute("print(1)", version=selector).status, 200, "piston: version " + selector)
    for more, word in (({"version": "2.7.18"}, "python-2.7.18 runtime is unknown"), ({"version": "^4.0.0"}, "unknown"), ({"version": "latest"}, "unknown"), ({"version": "xyz"}, "unknown"),
                       ({"language": "cobol"}, "cobol-"), ({"language": None}, "language is required as a string"),
                       ({"version": None}, "version is required as a string"), ({"files": None}, "files is required as an array"),
                       ({"files": {}}, "files is required as an array"), ({"files": [{}]}, "files[0].content is required as a string"),
                       ({"files": [{"content": "1"}, {"name": "b"}], "version": "0"}, "files[1].content is required as a string"),
                       ({"files": []}, "files must include at least one utf8 encoded file"),
                       ({"files": [{"content": "MQ==", "encoding": "base64"}]}, "files must include at least one utf8 encoded file"),
                       ({"run_timeout": -5}, "run_timeout must be non-negative"), ({"compile_timeout": -1}, "compile_timeout must be non-negative"),
                       ({"files": [{"content": "1"}, {"name": "../x", "content": ""}]}, "relative path"),
                       ({"files": [{"name": "../x.py", "content": "1"}]}, "relative path"),
                       ({"run_timeout": 999999999}, "cannot exceed the configured limit"), ({"run_timeout": "x"}, "If specified, run_timeout must be a number"),
                       ({"compile_timeout": "x"}, "compile_timeout must be a number"), ({"compile_memory_limit": []}, "compile_memory_limit must be a number"),
                       ({"args": "x"}, "args must be an array")):
        got = execute("print(1)", **more)
        ok(got.status == 400 and word in got.json()["message"], "piston: 400: %s" % more, got)
    same(execute("print(1)", compile_timeout=10000, compile_memory_limit=-1, run_memory_limit=-1, run_timeout=0).status, 200,
         "piston: limits of what is not compiled, and no limit")
    for of, word in (("stdout", "OL"), ("stderr", "EL")):
        run = execute("import sys\nfor i in range(2000): sys.%s.write('x' * 65536)" % of).json()["run"]
        same((run["status"], run["message"], run["signal"]), (word, of + " length exceeded", "SIGKILL"), "piston: too much on " + of)
    packages = s.get("/api/v2/packages").json()
    ok({"language": "python", "language_version": version, "installed": True} in packages and all(len(p) == 3 for p in packages), "piston: its packages", packages)
    for method in ("POST", "DELETE"):
        got = [s.ask(method, "/api/v2/packages", body) for body in ({"language": "none", "version": "1"}, {}, {"language": "python", "version": "*"})]
        same([(g.status, g.json()["message"].partition(":")[0]) for g in got],
             [(404, "Requested package none-1 does not exist"), (404, "Requested package undefined-undefined does not exist"),
              (501, "what runs here is what the machine has")], "piston: nothing is installed: " + method)
    for method, path in (("GET", "/api/v2/execute"), ("GET", "/api/v2/none"), ("PATCH", "/api/v2/packages"), ("GET", "/api/v2/connect")):
        got = s.ask(method, path)
        same((got.status, got.json()), (404, {"message": "Not Found"}), "piston: 404: %s %s" % (method, path))
    same(s.get("/api/v2/none", X_API_Key="no").status, 401, "piston: without a key there is no path at all")
    got = s.post("/api/v2/packages", b"{}", Content_Type=None)
    same((got.status, got.json()), (415, {"message": "requests must be of type application/json"}), "piston: 415, in its words")
    same(s.post("/api/v2/execute", b"x=1", Content_Type="application/x-www-form-urlencoded").status, 415, "piston: 415")
    same(s.post("/api/v2/execute", b"no json", Content_Type="text/plain").status, 415, "piston: a text that is none, too")
    run = execute("import socket").json()["run"]
    ok(run["status"] == "XX" and run["code"] is None and "py.import.network" in run["message"], "piston: a refusal says why", run)
    alone = s.get("/key/" + s.key + "/api/v2/runtimes", X_API_Key=None)
    same(alone.status, 200, "piston: a client that knows an address alone")


# No programs of their languages, and the code of an interpreter that reads them.
INVALID = (("python", "x = 1\nprint(\n", 1), ("python", "def f():\nreturn 1\n", 1), ("javascript", "let a = 1\nfoo(;\n", 1),
           ("bash", "echo a\nif [ 1\n", 2), ("perl", "print 'a\n", 255))


def invalid(screening, plain):
    """Where programs are screened it is told in the words of the interpreter as where they are not."""
    for language, code, status in INVALID:
        got = []
        for s in (screening, plain):
            r = s.post("/api/v2/execute", {"language": language, "version": "*", "files": [{"content": code}]}).json()["run"]
            f = s.post("/run_code", {"language": language, "code": code}).json()
            run = f["run_result"]
            # node's own frames, and what ran before a shell came to the place, are not the language's words
            words = [t.split("\n    at ")[0].strip() for t in (r["stderr"], run["stderr"], r["output"].replace("a\n", "", 1) if language == "bash" else r["output"])]
            got.append((r["code"], r["status"], r["signal"], words, f["status"], f["message"], run["status"], run["return_code"]))
        same(got[0], got[1], "no program of %s: %r" % (language, code))
        same(got[0][:3] + got[0][4:], (status, "RE", None, "Failed", "", "Finished", status), "is one that failed")
        ok(len(set(got[0][3])) == 1 and len(got[0][3][0]) > 20, "and says so", got[0][3])
    r = screening.post("/run_code", {"language": "python", "code": "import socket\nprint("}).json()
    same((r["status"], r["run_result"]), ("Failed", None), "what is refused for another reason does not run, nor is read")


def ends(s):
    """What a limit of ours ended is a program's affair, too."""
    for code in ("with open('f', 'wb') as f:\n    while True: f.write(bytes(1 << 20))", "while True: print('x' * 65536)"):
        r = s.post("/run_code", {"language": "python", "code": code}).json()
        ok((r["status"], r["run_result"]["status"]) == ("Failed", "Finished") and r["run_result"]["return_code"], "fusion: ended by a limit: %.30s" % code, r)


def jupyter(s):
    r = s.post("/run_jupyter", {"cells": ["a = 123", "a", "print(a)", "import sys; sys.stderr.write('e')", "a = 0\nraise RuntimeError('no')", "a",
                                          "n = open('x', 'w').write(open('in.txt').read() * 2)", "!curl http://example.org"],
                               "files": {"in.txt": base64.b64encode(b"hi").decode()}, "fetch_files": ["x", "none"], "cell_timeout": 60,
                               "total_timeout": 600, "kernel": "python3"}).json()
    c = r["cells"]
    same((r["status"], r["driver"]["status"], len(c)), ("Success", "Finished", 8), "jupyter: cells")
    same((c[1]["display"], c[2]["stdout"], c[3]["stderr"]), ([{"text/plain": "123"}], "123\n", "e"), "jupyter: display, stdout, stderr")
    same([(e["ename"], e["evalue"]) for e in c[4]["error"]], [("RuntimeError", "no")], "jupyter: an error")
    same(c[5]["display"], [{"text/plain": "123"}], "jupyter: what failed leaves nothing")
    same(r["files"], {"x": base64.b64encode(b"hihi").decode()}, "jupyter: files in and out")
    ok("sh.network" in c[7]["error"][0]["evalue"], "jupyter: lines of a shell are screened", c[7])
    [c] = s.post("/run_jupyter", {"cells": ["print('x' * 1100000)"]}).json()["cells"]
    same((len(c["stdout"]), c["error"], "1100001 bytes, of which the first 1048576" in c["stderr"]), (1 << 20, [], True), "jupyter: what is cut is said to be")
    r = s.post("/run_jupyter", {"cells": ["import time", "time.sleep(60)", "1"], "cell_timeout": 0.5}).json()
    same((r["status"], r["driver"]["status"], r["cells"]), ("Failed", "TimeLimitExceeded", []), "jupyter: its time is over")
    for body in ({}, {"cells": "1"}, {"cells": [1]}, {"cells": ["1"] * 100}, {"cells": [], "kernel": "ir"}, {"cells": [], "files": {"../x": ""}}):
        same(s.post("/run_jupyter", body).status, 422, "jupyter: 422: %.60s" % body)


def fusion(s):
    def run(code, **more):
        return s.post("/run_code", dict({"code": code, "language": "python"}, **more)).json()

    r = run("print(input())", stdin="in\n")
    same((r["status"], r["message"], r["compile_result"], r["executor_pod_name"], r["files"]), ("Success", "", None, None, {}), "fusion: success")
    same({k: r["run_result"][k] for k in ("status", "return_code", "stdout", "stderr")},
         {"status": "Finished", "return_code": 0, "stdout": "in\n", "stderr": ""}, "fusion: its run")
    ok(r["run_result"]["execution_time"] > 0, "fusion: seconds")
    r = run("print('x' * 1100000)")
    same((r["status"], len(r["run_result"]["stdout"]), "1100001 bytes, of which the first 1048576" in r["message"]), ("Success", 1 << 20, True), "fusion: what is cut is said to be")
    r = run("import sys\nsys.exit(2)")
    same((r["status"], r["run_result"]["status"], r["run_result"]["return_code"]), ("Failed", "Finished", 2), "fusion: a program that failed")
    r = run("import time\ntime.sleep(60)", run_timeout=0.2)
    same((r["status"], r["run_result"]["status"], r["run_result"]["return_code"]), ("Failed", "TimeLimitExceeded", None), "fusion: its time is over, and it has no code")
    r = run("x = bytearray(300 << 20)\nprint(len(x))", memory_limit_MB=64)
    same(r["status"], "Failed", "fusion: its memory is used up")
    r = run("open('out.txt', 'w').write(open('in.txt').read().upper())\nopen('/out/b', 'w').write('b')",
            files={"in.txt": base64.b64encode(b"text").decode(), "./none": None}, fetch_files=["out.txt", "./b", "nothing"])
    same({k: base64.b64decode(v) for k, v in r["files"].items()}, {"out.txt": b"TEXT", "./b": b"b"}, "fusion: files in and out")
    spelled = ["./" * n + "big" for n in range(12)]
    r = run("open('big', 'wb').write(bytes(2 << 20))", fetch_files=spelled + ["big"] * 5)
    ok(0 < len(r["files"]) < 7 and sum(map(len, r["files"].values())) <= 16 << 20, "fusion: one file under many names is bounded",
       len(r["files"]))
    r = run("import socket")
    same((r["status"], r["run_result"]), ("Failed", None), "fusion: what is refused does not run")
    ok("py.import.network" in r["message"], "fusion: and why", r)
    same(run("echo $((6 * 7))", language="bash")["run_result"]["stdout"], "42\n", "fusion: bash")
    for body in ({"language": "python"}, {"code": "1", "language": "cobol"}, {"code": "1"}, {"code": "1", "language": "python", "files": {"a": "?"}},
                 {"code": "1", "language": "python", "files": {"/etc/x": "QQ=="}},
                 {"code": "1", "language": "python", "memory_limit_MB": 1e-7}):
        got = s.post("/run_code", body)
        where = got.json()["detail"][0]
        ok(got.status == 422 and where["msg"] and where["type"] == ("value_error" if where["loc"][1] in body else "missing") and
           where["loc"] == ["body", where["msg"].split()[0].rstrip(":")], "fusion: 422, as FastAPI says it: %s" % body, got)
    same((s.get("/v1/ping", X_API_Key=None).json(), s.get("/list_datasets", X_API_Key=None).status), ("pong", 401), "fusion: it is there")
    for method, path in (("GET", "/list_datasets"), ("POST", "/list_ids"), ("POST", "/get_prompts"), ("POST", "/get_prompt_by_id"),
                         ("POST", "/submit"), ("POST", "/get_metrics"), ("POST", "/get_metrics_function")):
        got = s.ask(method, path, {"dataset": "x"} if method == "POST" else None)
        ok(got.status == 501 and "no datasets" in got.json()["detail"], "fusion: no datasets: " + path, got)


def protocol(s):
    """The Model Context Protocol; its clients are in full/serve_clients.t."""
    def post(method, number=1, **params):
        version = params.pop("version", None)
        name = {"Mcp-Name": params["name"]} if version and "name" in params else {}
        if version:
            params.update(mcp.meta(version, params.pop("can", None)))
            name.update({"MCP-Protocol-Version": version, "Mcp-Method": method})
        return s.post("/mcp", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, **name)

    same(post("initialize", protocolVersion="2025-06-18", capabilities={}).json()["result"]["protocolVersion"], "2025-06-18", "mcp: initialize")
    call = {"name": "execute_python", "arguments": {"code": "print('mcp')"}}
    same(post("tools/call", **call).json()["result"]["structuredContent"]["stdout"], "mcp\n", "mcp: a call of the old era")
    r = post("tools/call", version=mcp.MODERN, **call)
    same((r.status, r.json()["result"]["resultType"], r.json()["result"]["structuredContent"]["stdout"]), (200, "complete", "mcp\n"),
         "mcp: a call of the new era")
    run = r.json()["result"]["structuredContent"]["run"]
    same(post("tools/call", name="show_run", arguments={"run": run}).json()["result"]["structuredContent"]["run"], run, "mcp: one's own run")
    same(s.get("/runs/" + run).status, 200, "which is the key's, by any door")
    probe = {"name": "execute_python", "arguments": {"code": "import os\nprint(len(os.environ))\n"}, "can": {"elicitation": {}}}
    r = post("tools/call", version=mcp.MODERN, **probe).json()["result"]
    same((r["resultType"], r.get("structuredContent", {}).get("status")), ("complete", "denied"), "mcp: who has a key does not approve")
    ok("key" in r.get("structuredContent", {}).get("detail", ""), "and is told so", r)
    for got, status, code, name in (
            (post("nothing", version=mcp.MODERN), 404, -32601, "an unknown method"),
            (post("tools/list", version="1999-01-01"), 400, -32022, "an unknown version"),
            (s.post("/mcp", b"{"), 400, -32700, "no JSON"), (s.post("/mcp", b"[]"), 400, -32600, "a batch"),
            (s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": mcp.meta()}), 400, -32020, "headers that are missing")):
        same((got.status, got.json()["error"]["code"]), (status, code), "mcp: " + name)
    same(s.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}).status, 202, "mcp: a notification")
    same((s.get("/mcp").status, s.post("/mcp", {}, X_API_Key=None).status, s.post("/mcp", {}, Origin="http://evil.example").status),
         (405, 401, 403), "mcp: no stream to listen on, a key, no foreign page")


def ended(s):
    """By a signal."""
    got = s.post("/run_code", {"code": "import os\nos.abort()", "language": "python"}).json()
    same((got["status"], got["run_result"]["status"], got["run_result"]["return_code"]), ("Failed", "Finished", -6), "fusion: what a signal ended has finished, below zero")
    [c] = s.post("/run_jupyter", {"cells": ["import os\nos._exit(3)"]}).json()["cells"]
    same(c["error"], [{"ename": "Error", "evalue": "exit code 3", "traceback": ["exit code 3"]}], "jupyter: a cell that only ends says how")


def main():
    with Server() as s:
        protocol(s)
        piston(s)
        fusion(s)
        jupyter(s)
    with Server(key=s.key) as s, Server("--profile", "off", key=s.key) as plain:
        ends(plain)
        invalid(s, plain)
        interleaved(plain)
        ended(plain)


tap.main(main)
