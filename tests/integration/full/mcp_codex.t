#!/usr/bin/python3
# An agent that people use, Codex, unmodified, as README's section has it: it starts assay mcp by the
# configuration that assay prints, calls a tool, and goes on with what came of it. Its model is a
# server of this test's, since tools of MCP come to a model in a form (a namespace) that aimock does
# not answer in. It has some hundred MB, so that it is not installed for this: ASSAY_CODEX, or PATH, has it.
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
sys.dont_write_bytecode = True
import tap
from tap import ok, same

CODEX = os.environ.get("ASSAY_CODEX") or shutil.which("codex")
ANSWER = "It is 42, says the sandbox."
SETTINGS = """model = "a-model"
model_provider = "mock"
approval_policy = "never"
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:%d/v1"
env_key = "MODEL_KEY"
wire_api = "responses"
"""


class Model(http.server.BaseHTTPRequestHandler):
    """It calls the tool, and when it has what came of it, answers."""
    asked = []

    def log_message(self, *_):
        pass

    def item(self, request):
        if any(i.get("type") == "function_call_output" for i in request["input"]):
            return {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}
        space = next((t["name"] for t in request["tools"] if t["type"] == "namespace" and "assay" in t["name"]), None)
        # Older ones tell each tool by a name of its own.
        named = {"namespace": space, "name": "execute_python"} if space else {"name": "mcp__assay__execute_python"}
        return {"type": "function_call", "id": "f", "call_id": "c", "arguments": json.dumps({"code": "print(6 * 7)"}), **named}

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(request)
        item = self.item(request)
        done = {"id": "r", "object": "response", "status": "completed", "output": [item],
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
        events = ({"type": "response.created", "response": {"id": "r"}}, {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": done})
        body = "".join("event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e)) for e in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    if not CODEX:
        raise tap.SkipAll("Codex is not here (npm: @openai/codex)")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = os.path.join(tap.work, "codex")
    os.makedirs(folder)
    with open(os.path.join(folder, "config.toml"), "w") as f:
        f.write(SETTINGS % server.server_port + tap.assay("mcp", "--print-config", "codex").out)
    env = tap.environment(CODEX_HOME=folder, MODEL_KEY="any")
    done = tap.Done(subprocess.run([CODEX, "exec", "--skip-git-repo-check", "--json", "What is six times seven?"], env=env,
                                   cwd=tap.work, stdin=subprocess.DEVNULL, capture_output=True, timeout=300))
    server.shutdown()
    items = [e["item"] for e in map(json.loads, done.out.splitlines()) if e["type"] == "item.completed"]
    call = next((i for i in items if i["type"] == "mcp_tool_call"), None)
    ok(call and call["status"] == "completed" and call["result"]["structured_content"]["stdout"] == "42\n", "Codex calls the tool", done)
    same(items[-1].get("text"), ANSWER, "and goes on with what came of it")
    told = [i["output"] for i in Model.asked[-1]["input"] if i["type"] == "function_call_output"]
    ok('"stdout":"42\\n"' in str(told[0]).replace("\\\\n", "\\n"), "which its model was told", told)
    run = call["result"]["structured_content"]["run"] if call else ""
    plain = {k: v for k, v in env.items() if not k.startswith("XDG_")}  # what it hands on to a server
    shown = subprocess.run([tap.ASSAY, "log", "show", run, "--json"], env=plain, capture_output=True)
    ok(shown.returncode == 0 and b'"success"' in shown.stdout, "and it is in the log", shown)


tap.main(main)
