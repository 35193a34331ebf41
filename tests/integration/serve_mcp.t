#!/usr/bin/python3
# The Model Context Protocol over HTTP, beside one call and its answer (serve_wires.t): contexts that
# wait and stay where they are, what needs no worker, sessions, cancelling, leaving, progress, questions.
import json
import os
import re
import sys
import threading
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full"))
import mcp
import serving
import tap
from tap import ok, same

FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(%d)\n" % serving.PATIENCE
BOTH = "application/json, text/event-stream"
KEYS = ("one", "assay-" + "1" * 40), ("two", "assay-" + "2" * 40)


def Serve(*args, **more):
    more = more or {"key": KEYS[0][1], "where": ("--listen", "0", "--key-file", "keys")}
    return serving.Server("--timeout", str(serving.PATIENCE), "--cpu-seconds", str(serving.PATIENCE), *args, **more)


class Client:
    """One of the protocol over HTTP, of either era; with a session where it is given one."""
    def __init__(self, server, era="old", accept=None, capabilities=None):
        self.server, self.era, self.last, self.session, self.capabilities = server, era, 0, None, capabilities or {}
        self.more = {"Accept": accept} if accept else {}
        if era == "old":
            got = self.request("initialize", protocolVersion="2025-11-25", capabilities=self.capabilities)
            self.hello, self.session = got.json(), got.headers.get("Mcp-Session-Id")
            self.more["MCP-Protocol-Version"] = "2025-11-25"

    def head(self, method, params):
        more = dict(self.more)
        if self.era == "new":
            more.update({"MCP-Protocol-Version": mcp.MODERN, "Mcp-Method": method})
            if "name" in params:
                more["Mcp-Name"] = params["name"]
        elif self.session:
            more["Mcp-Session-Id"] = self.session
        return more

    def message(self, method, params):
        self.last += 1
        if self.era == "new":
            token = params.pop("_meta", {})
            params.update(mcp.meta(capabilities=self.capabilities, **token))
        return {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}

    def request(self, method, **params):
        return self.server.post("/mcp", self.message(method, params), **self.head(method, params))

    def open(self, method, **params):
        """The connection and the answer on its way."""
        c = self.server.connection()
        c.request("POST", "/mcp", json.dumps(self.message(method, params)), self.server.headers(self.head(method, params)))
        return c

    def tell(self, message):
        return self.server.post("/mcp", dict({"jsonrpc": "2.0"}, **message), **self.head("", {}))

    def call(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments).json()["result"]

    def run(self, code, **more):
        return self.call("execute_python", code=code, **more)["structuredContent"]


def messages(response):
    """Of a stream of events, as they come."""
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def background(work):
    t = threading.Thread(target=work)
    t.start()
    return t


def contexts(s, era):
    c = Client(s, era)
    place = c.call("context_open", language="python")["structuredContent"]["context"]
    other = c.call("context_open", language="python")["structuredContent"]["context"]
    c.run("x = []", context=place)
    many = [background(lambda n=n: Client(s, era).run("x.append(%d)" % n, context=place)) for n in range(6)]
    for n in range(4):
        c.run("y = %d" % n, context=other)
    for t in many:
        t.join()
    r = c.run("print(sorted(x))", context=place)
    same((r["status"], r.get("stdout")), ("success", "[0, 1, 2, 3, 4, 5]\n"), "%s era: calls in one context wait for one another" % era)
    again = [c.run("print(len(x))", context=place).get("rebuilt") for _ in range(3)]
    same(again, [None] * 3, "and find it where it was left")
    ended = []
    t = background(lambda: ended.append(Client(s, era).run(FOREVER, context=place)))
    while not c.call("context_interrupt", context=place)["structuredContent"]["interrupted"]:
        pass
    t.join()
    same(ended[0]["status"], "cancelled", "what runs is interrupted, though all workers may be busy")
    return c


def at_once(s):
    """All workers and all places that wait are taken: what needs none is answered."""
    c = Client(s)
    busy = [s.raw(s.request("/execute", {"code": FOREVER})) for _ in range(13)]  # a quarter of the queue is other keys'
    ok(s.until("assay_running", 1) and s.until("assay_waiting", 12), "a worker and its queue are full")
    same(s.post("/execute", {"code": "1"}).status, 429, "as a program is told")
    same(c.request("tools/call", name="execute_python", arguments={"code": "1"}).status, 429, "and a call of a tool that runs one")
    answers = [Client(s).hello["result"]["protocolVersion"], c.request("ping").json()["result"],
               len(c.request("tools/list").json()["result"]["tools"]) > 5, c.tell({"method": "notifications/initialized"}).status]
    same(answers, ["2025-11-25", {}, True, 202], "initialize, ping, tools/list and a notification are answered")
    place = c.call("context_open", language="python")["structuredContent"]["context"]
    same((place in [x["context"] for x in c.call("context_list")["structuredContent"]["contexts"]], c.call("context_close", context=place)["isError"]), (True, False), "contexts, too")
    new = Client(s, "new")
    same(new.request("server/discover").json()["result"]["supportedVersions"], [mcp.MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
         "server/discover names the versions of both eras")
    for connection in busy:
        connection.close()
    ok(s.until("assay_running", 0), "they leave")


def versions(s):
    c = Client(s)
    for bad in ("not-a-version", "1900-01-01", "2099-01-01"):
        for session in (c.session, None):
            head = dict({"MCP-Protocol-Version": bad}, **({"Mcp-Session-Id": session} if session else {}))
            got = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **head)
            same((got.status, got.json()["error"]["code"], got.json()["error"]["data"]["requested"]), (400, -32022, bad), "a version that there is not: " + bad)
    ok("2025-06-18" in got.json()["error"]["data"]["supported"], "those that there are are named", got)
    for good in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", None):
        same(s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, MCP_Protocol_Version=good).status, 200, "one that there is: %s" % good)
    same(s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2099-01-01"}}, MCP_Protocol_Version="2099-01-01").status,
         200, "who begins need not know")


def sessions(s):
    c = Client(s)
    ok(re.fullmatch("[0-9a-f]{32}", c.session or ""), "initialize gives a session", c.session)
    same(c.run("print(1)")["stdout"], "1\n", "which calls belong to")
    same("Mcp-Session-Id" in Client(s, "new").request("server/discover").headers, False, "the new era has none")
    other = Client(s)
    other.session = "0" * 32
    same(other.request("ping").status, 404, "one that there is not")
    theirs = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, X_API_Key=KEYS[1][1], Mcp_Session_Id=c.session)
    same((theirs.status, theirs.json()["error"]), (404, other.request("ping").json()["error"]), "another key's is as that")
    same(s.ask("DELETE", "/mcp", X_API_Key=KEYS[1][1], Mcp_Session_Id=c.session).status, 404, "and is not ended by it")
    same((s.ask("DELETE", "/mcp").status, s.ask("DELETE", "/mcp", MCP_Protocol_Version=mcp.MODERN, Mcp_Session_Id=c.session).status), (400, 405), "DELETE without one")
    t = [None]
    running = background(lambda: t.__setitem__(0, c.request("tools/call", name="execute_python", arguments={"code": FOREVER})))
    ok(s.until("assay_running", 1), "a call is under way")
    same((s.ask("DELETE", "/mcp", Mcp_Session_Id=c.session).status, c.request("ping").status), (200, 404), "DELETE ends a session")
    running.join()
    same((t[0].status, t[0].body), (202, b""), "and what is under way in it, unanswered")
    with_none = [Client(s) for _ in range(300)]
    same((with_none[0].request("ping").status, with_none[-1].request("ping").status), (404, 200), "the oldest of very many makes room")


def strangers(s):
    """What is another key's is as what there is not, in all words but the id that was asked for."""
    c = Client(s)
    place = c.call("context_open", language="python")["structuredContent"]["context"]
    run = c.run("x = 1\nopen('/out/f', 'w').write('mine')", context=place)["run"]
    same(c.call("read_file", run=run, path="f")["structuredContent"]["text"], "mine", "a key has its runs")
    s.key = KEYS[1][1]
    other = Client(s)
    for name, what, more in (("show_run", "run", {}), ("replay_run", "run", {}), ("read_file", "run", {"path": "f"}), ("context_close", "context", {}),
                             ("context_interrupt", "context", {}), ("execute_python", "context", {"code": "print(x)"})):
        theirs, none = (run, "0" * 26) if what == "run" else (place, "ctx-" + "0" * 24)
        got = [other.call(name, **{what: which}, **more) for which in (theirs, none)]
        words = [json.dumps(r).replace(which, "ID") for r, which in zip(got, (theirs, none))]
        ok(got[0]["isError"] and words[0] == words[1], name + ": another key's is as one that there is not", words)
    ok(all(other.call("show_run", run=which)["isError"] for which in ("last", run[:20])), "nor is it one by another name")
    seen = [json.dumps(other.call(name)) for name in ("list_runs", "context_list")]
    ok(run not in seen[0] and place not in seen[1], "nor is it listed", seen)
    s.key = KEYS[0][1]
    same(c.run("print(x)", context=place)["stdout"], "1\n", "and it is as it was")
    c.call("context_close", context=place)


def cancelling(s):
    c = Client(s)
    got = []
    t = background(lambda: got.append(c.request("tools/call", name="execute_python", arguments={"code": FOREVER})))
    ok(s.until("assay_running", 1), "a call is under way")
    same(c.tell({"method": "notifications/cancelled", "params": {"requestId": 99}}).status, 202, "another one is cancelled")
    other = Client(s)
    other.tell({"method": "notifications/cancelled", "params": {"requestId": c.last}})
    same(s.metric("assay_running"), 1, "or one of another session: it goes on")
    c.tell({"method": "notifications/cancelled", "params": {"requestId": c.last}})
    t.join()
    same((got[0].status, got[0].body), (202, b""), "cancelled by a message of its own: nothing is answered")
    ok(s.until("assay_running", 0) and s.get("/runs").json()["runs"][0]["status"] == "cancelled", "and the program has ended")


def leaving(s):
    """In the new era that is to cancel; before, it is not, and a message says so."""
    new, old = Client(s, "new"), Client(s)
    c = new.open("tools/call", name="execute_python", arguments={"code": FOREVER})
    ok(s.until("assay_running", 1), "a call is under way")
    c.close()
    ok(s.until("assay_running", 0) and s.get("/runs").json()["runs"][0]["status"] == "cancelled", "a client of the new era that leaves has cancelled")
    for accept in (None, BOTH):
        old.more.update({"Accept": accept} if accept else {})
        c = old.open("tools/call", name="execute_python", arguments={"code": "import time\nprint('up', flush=True)\ntime.sleep(1)\nprint('done')\n"},
                     _meta={"progressToken": 1})
        ok(s.until("assay_running", 1), "a call of a session")
        c.close()
        ok(s.until("assay_connections", 1), "its client leaves")
        ok(s.until("assay_running", 0) and s.get("/runs").json()["runs"][0]["status"] == "success", "and it goes on to its end", s.get("/runs").json()["runs"][0])


def progress(s):
    for era in ("old", "new"):
        c = Client(s, era, accept=BOTH)
        plain = c.request("tools/call", name="execute_python", arguments={"code": "print(1)"})
        same(plain.headers["Content-Type"], "application/json", "%s era: who asks for no progress has one document" % era)
        connection = c.open("tools/call", name="execute_python", arguments={"code": FOREVER if era == "old" else "print(2)"}, _meta={"progressToken": "t"})
        response = connection.getresponse()
        same((response.status, response.headers["Content-Type"], response.headers["X-Accel-Buffering"]), (200, "text/event-stream", "no"), "who does has a stream")
        seen, answer = [], None
        for message in messages(response):
            if "method" not in message:
                answer = message
                continue
            seen.append(message)
            if era == "old" and message["params"]["message"] == "execute":
                c.tell({"method": "notifications/cancelled", "params": {"requestId": c.last}})
        connection.close()
        same({(m["method"], m["params"]["progressToken"]) for m in seen}, {("notifications/progress", "t")}, "of progress")
        counts = [m["params"]["progress"] for m in seen]
        ok(counts == sorted(set(counts)) and len(counts) > 1, "which grows", counts)
        if era == "old":
            same(answer, None, "and ends without an answer when it was cancelled")
        else:
            same((answer["id"], answer["result"]["structuredContent"]["stdout"]), (c.last, "2\n"), "and ends with the answer")
        none = c.request("tools/call", name="execute_python", arguments={"code": 5}, _meta={"progressToken": "t"})
        ok(none.json()["result"]["isError"], "what is not run is one document", none)
    c = Client(s, accept="application/json")
    got = c.request("tools/call", name="execute_python", arguments={"code": "print(1)"}, _meta={"progressToken": "t"})
    same((got.headers["Content-Type"], got.json()["result"]["structuredContent"]["stdout"]), ("application/json", "1\n"), "who takes no stream has the answer alone")


def silent(s):
    """It is said of a program that says nothing that it goes on, so that a client's time-out begins anew."""
    c = Client(s, "new", accept=BOTH)
    connection = c.open("tools/call", name="execute_python", arguments={"code": FOREVER}, _meta={"progressToken": "t"})
    for message in messages(connection.getresponse()):
        if message["params"]["message"].startswith("under way for"):
            break
    ok("under way for" in message["params"]["message"], "a program that says nothing", message)
    connection.close()


def questions():
    path = os.path.join(tap.work, "own.sock")
    probe = {"name": "execute_python", "arguments": {"code": "import os\nprint('probed', len(os.environ) > 0)\n"}}
    with Serve(where=("--socket", path)) as s:
        for says, stdout in ((True, "probed True\n"), (False, None)):
            c = Client(s, accept=BOTH, capabilities={"elicitation": {}})
            connection = c.open("tools/call", **probe)
            for message in messages(connection.getresponse()):
                if message.get("method") == "elicitation/create":
                    ok("len(os.environ)" in message["params"]["message"], "who owns the socket is asked in the stream", message)
                    other = Client(s, accept=BOTH)
                    other.tell({"id": message["id"], "result": {"action": "accept", "content": {"approve": True}}})
                    same(c.tell({"id": message["id"], "result": {"action": "accept", "content": {"approve": says}}}).status, 202, "and answers by a message")
            same(message["result"]["structuredContent"].get("stdout") or None, stdout, "a yes runs it" if says else "a no does not, whatever another session says")
            connection.close()
        c = Client(s, accept="application/json", capabilities={"elicitation": {}})
        same(c.request("tools/call", **probe).json()["result"]["structuredContent"]["status"], "denied", "who takes no stream cannot be asked")
        c = Client(s, accept=BOTH, capabilities={"elicitation": {}})
        connection = c.open("tools/call", **probe)
        for message in messages(connection.getresponse()):
            if message.get("method") == "elicitation/create":
                break
        same(s.metric("assay_running"), 1, "a call waits for a person")
        connection.close()
        ok(s.until("assay_running", 0), "whose client leaves: nobody is asked any more, and the worker is free")
        same(s.get("/runs").json()["runs"][0]["status"], "denied", "and nothing ran")
    with Serve("--parallel", "1") as s:
        c = Client(s, accept=BOTH, capabilities={"elicitation": {}})
        same(c.request("tools/call", **probe).json()["result"]["structuredContent"]["status"], "denied", "who has a key is not asked")


def main():
    with open(os.path.join(tap.work, "keys"), "w") as f:
        f.write("".join("%s %s\n" % k for k in KEYS))
    os.chmod(os.path.join(tap.work, "keys"), 0o600)
    for parallel in ("1", "2"):
        with Serve("--parallel", parallel) as s:
            for era in ("old", "new"):
                contexts(s, era)
            if parallel == "1":
                at_once(s)
    with Serve("--parallel", "2") as s:
        versions(s)
        sessions(s)
        strangers(s)
        cancelling(s)
        leaving(s)
        progress(s)
        silent(s)
    questions()
    same(tap.assay("log", "verify").code, 0, "the log is whole")


tap.main(main)
