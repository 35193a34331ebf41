#!/usr/bin/python3
# Each member of each request that the HTTP door knows, with a value that it should not have: all is
# answered, by the same process, and nothing of it stays.
import copy
import json
import struct
import sys
sys.dont_write_bytecode = True
import sandboxes
import tap
from sandboxes import Box
from serving import Server
from tap import ok, same

ABSENT = object()
VALUES = [None, True, -1, 1.5, 1e300, -(1 << 62), 1 << 64, "", "x" * 70000, "a\0b", "\ud800", "../x", "/etc/passwd",
          [], [[]], ["x"], {}, {"a": None}, {"": ""}, ABSENT]
CALL = {"name": "execute_python", "arguments": {"code": "", "files": {"a": ""}, "stdin": "", "timeout_ms": 1, "context": "c"}, "_meta": {"progressToken": 1}}
FILES = [{"name": "a", "content": "", "encoding": "utf8"}, {"name": "b", "content": "", "encoding": "hex"}]
BY_KEY = {
    "/execute": {"code": "", "language": "python", "files": [{"path": "a", "content": "", "encoding": "base64"}], "stdin": "", "timeout_ms": 1, "context": "ctx-"},
    "/contexts": {"language": "python"},
    "/sandbox": {"jobs": [{}]},
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL},
    "/api/v2/execute": {"language": "python", "version": "*", "files": FILES, "stdin": "", "args": [""], "run_timeout": 1, "run_memory_limit": -1},
    "/api/v2/packages": {"language": "python", "version": "3"},
    "/run_code": {"code": "", "language": "python", "stdin": "", "run_timeout": 1, "memory_limit_MB": 64, "files": {"a": ""}, "fetch_files": ["a"]},
    "/run_jupyter": {"cells": [""], "cell_timeout": 1, "total_timeout": 1, "kernel": "python3", "files": {"a": ""}, "fetch_files": ["a"]},
    "/v2/sandboxes": {"templateID": "base", "timeout": 1, "metadata": {"a": ""}, "envVars": {"A": ""}, "autoPause": False, "autoResume": {"enabled": True}},
    "/sandboxes/%s/timeout": {"timeout": 900},
    "/sandboxes/%s/connect": {"timeout": 900},
    "/sandboxes/%s/fork": {"count": 1, "timeout": 1},
}
PROCESS, FOLDERS = "/process.Process/", "/filesystem.Filesystem/"
BY_TOKEN = {
    "/execute": {"code": "", "context_id": "x", "language": "python", "env_vars": {"A": ""}},
    "/contexts": {"language": "python", "cwd": "/home/user"},
    FOLDERS + "ListDir": {"path": "", "depth": 1},
    FOLDERS + "MakeDir": {"path": "d"},
    FOLDERS + "Stat": {"path": "d"},
    FOLDERS + "Move": {"source": "d", "destination": "e"},
    FOLDERS + "Remove": {"path": "e"},
    FOLDERS + "CreateWatcher": {"path": "", "recursive": True, "includeEntry": True},
    FOLDERS + "GetWatcherEvents": {"watcherId": "w1"},
    FOLDERS + "RemoveWatcher": {"watcherId": "w99"},
    PROCESS + "SendSignal": {"process": {"pid": 1, "tag": "a"}, "signal": "SIGNAL_SIGKILL"},
    PROCESS + "SendInput": {"process": {"pid": 1}, "input": {"stdin": "", "pty": ""}},
    PROCESS + "Update": {"process": {"pid": 1}, "pty": {"size": {"cols": 80, "rows": 24}}},
    PROCESS + "CloseStdin": {"process": {"pid": 1}},
}
IN_FRAMES = {
    PROCESS + "Start": {"process": {"cmd": "/bin/bash", "args": ["-c", ":"], "envs": {"A": ""}, "cwd": ""}, "tag": "t", "pty": {"size": {"cols": 80, "rows": 24}}},
    PROCESS + "Connect": {"process": {"pid": 1}},
}


def places(value, at=()):
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], at + (key,))


def put(whole, at, value):
    if not at:
        return value
    whole = inner = copy.deepcopy(whole)
    for key in at[:-1]:
        inner = inner[key]
    if value is ABSENT:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    return whole


def spoiled(request):
    for at in places(request):
        for value in VALUES:
            if at or value is not ABSENT:
                yield at, value, json.dumps(put(request, at, value)).encode()


def spoil(s, path, request, ask):
    """Statuses of all that it may become; a sandbox that ends of it is made anew by ask."""
    wrong = []
    for at, value, body in spoiled(request):
        got = ask(body)
        if got.status >= 500 and got.status != 501:
            wrong.append((at, value if value is ABSENT else repr(value)[:40], got))
    ok(not wrong, "each member of " + path, [str(w) for w in wrong[:5]])


def framed(body):
    return b"\0" + struct.pack(">I", len(body)) + body


def main():
    with Server("--parallel", "2", "--timeout", "5", "--contexts", "5000") as s:
        pid = s.pid
        for path, request in BY_KEY.items():
            def ask(body):
                return s.ask("POST", path % Box(s).id if "%s" in path else path, body)
            spoil(s, path, request, ask)
        for path, request in {**BY_TOKEN, **IN_FRAMES}.items():
            b = Box(s)
            more = {"Content_Type": sandboxes.STREAM, "Connect_Timeout_Ms": "500"} if path in IN_FRAMES else {}
            spoil(s, path + " of a sandbox", request, lambda body: b.ask("POST", path, framed(body) if more else body, **more))
            s.ask("DELETE", "/sandboxes/" + b.id)
        same((s.pid, s.metric("assay_restarts_total"), s.run("print(1)")["stdout"]), (pid, 0, "1\n"), "the server is the one that it was")
        ok(s.until("assay_running", 0), "and runs nothing of it")
        same([s.metric(n) for n in ("assay_body_bytes", "assay_answer_bytes")], [0, 0], "nor holds any")
        same(s.end(15), 0, "it ends")


tap.main(main)
