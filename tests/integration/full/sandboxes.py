# Sandboxes of E2B's wire for the tests: one, what is asked of it, and commands under way in it.
import base64
import hashlib
import json
import struct

STREAM = "application/connect+json"


class Box:
    def __init__(self, s, **more):
        self.s, self.made = s, s.post("/v2/sandboxes", {"templateID": "base", "timeout": 900, **more}).json()
        self.id, self.token = self.made["sandboxID"], self.made["envdAccessToken"]
        self.named = {"E2b-Sandbox-Id": self.id, "X-Access-Token": self.token}

    def ask(self, method, path, body=None, **headers):
        return self.s.ask(method, path, body, **{"X_API_Key": None, **self.named, **headers})

    def write(self, path, data):
        return self.ask("POST", "/files?path=" + path, data, Content_Type="application/octet-stream").status

    def start(self, command, **more):
        message = json.dumps({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command], **more}}).encode()
        return self.ask("POST", "/process.Process/Start", b"\0" + struct.pack(">I", len(message)) + message, Content_Type=STREAM).body

    def command(self, command, **more):
        """What it printed and how it ended, or why it was not begun."""
        out, end, body = b"", None, self.start(command, **more)
        while body:
            flag, size = struct.unpack(">BI", body[:5])
            message, body = json.loads(body[5:5 + size]), body[5 + size:]
            event = message.get("event", {})
            out += base64.b64decode(event.get("data", {}).get("stdout", ""))
            end = event["end"]["exitCode"] if "end" in event else message.get("error", end)
        return out.decode(), end

    def cell(self, code, **more):
        got = self.ask("POST", "/execute", {"code": code, **more})
        return [json.loads(line) for line in got.body.splitlines()]

    def results(self, code):
        return [line for line in self.cell(code) if line["type"] in ("result", "error")]

    def signed(self, path, expires=None, operation="read"):
        said = ":".join([path, operation, "user", self.token] + ([str(expires)] if expires is not None else []))
        text = "v1_" + base64.b64encode(hashlib.sha256(said.encode()).digest()).decode().rstrip("=")
        more = "" if expires is None else "&signature_expiration=%d" % expires
        return "/files?path=%s&username=user&signature=%s%s" % (path, text.replace("+", "%2B"), more)

    def busy(self, path, body, kind):
        """An answer that has begun and waits for its end."""
        c = self.s.connection()
        c.request("POST", path, body, {"Content-Type": kind, **self.named})
        answer = c.getresponse()
        answer.read(1)
        return c, answer


class Command:
    """One under way, with what it takes from others while it runs."""

    def __init__(self, box, command, headers={}, **more):
        self.box, self.out, self.err, self.end, self.problem, self.pings, self.over = box, b"", b"", None, None, 0, False
        message = json.dumps({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command]}, **more}).encode()
        self.connection = box.s.connection()
        self.connection.request("POST", "/process.Process/Start", b"\0" + struct.pack(">I", len(message)) + message,
                                {"Content-Type": STREAM, **box.named, **headers})
        self.answer = self.connection.getresponse()
        self.pid = self.next()["start"]["pid"]

    def next(self):
        """Its next event; None: there was the last."""
        flag, size = struct.unpack(">BI", self.answer.read(5))
        message = json.loads(self.answer.read(size))
        if flag:
            self.problem, self.over = message.get("error"), True
            self.connection.close()
            return None
        event = message["event"]
        self.out += base64.b64decode(event.get("data", {}).get("stdout", ""))
        self.err += base64.b64decode(event.get("data", {}).get("stderr", ""))
        self.end = event.get("end", self.end)
        self.pings += "keepalive" in event
        return event

    def until(self, text):
        while text not in self.out and not self.over:
            self.next()
        return self

    def wait(self):
        while not self.over:
            self.next()
        return self

    def call(self, name, **more):
        return self.box.ask("POST", "/process.Process/" + name, {"process": {"pid": self.pid}, **more})

    def type(self, text):
        return self.call("SendInput", input={"stdin": base64.b64encode(text).decode()}).status

    def signal(self, name):
        return self.call("SendSignal", signal="SIGNAL_" + name).status
