#!/usr/bin/python3
"""A container engine of our own, for docker_engine.t: SOCKET LOG OLDEST NEWEST.

It speaks as much of Docker's API as a sandbox needs, of the versions 1.OLDEST to 1.NEWEST, and refuses
all others in Docker's words. A container is the program that was put into it, run as it is here: it makes
its own walls. Each request is a line of LOG. May not: hold for a container engine what real ones do,
which full/walls_docker.t asks of them."""
import io
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse

ID = "5" * 64
# Never started, by the clock of this engine: of an hour ago, of now, and of an hour ago by somebody else.
LEFT, MAKING, THEIRS = ["a" * 63 + n for n in "1234"], "b" * 64, "c" * 64
BEHIND_S = 7200  # that clock


class Engine:
    def __init__(self, path, log, oldest, newest):
        self.log, self.oldest, self.newest = log, oldest, newest
        self.folder = tempfile.mkdtemp(dir=os.path.dirname(path))
        self.attached = self.container = None
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path + ".new")
        self.socket.listen(16)
        os.rename(path + ".new", path)  # whoever sees it can connect

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        stream = connection.makefile("rb")
        method, path = stream.readline().decode().split()[:2]
        length = 0
        while line := stream.readline().strip():
            name, value = line.decode().split(":", 1)
            if name.lower() == "content-length":
                length = int(value)
        body = stream.read(length)
        with open(self.log, "a") as log:
            print(method, path, file=log)
        version = re.match(r"/v1\.(\d+)/", path)
        if version and not self.oldest <= int(version[1]) <= self.newest:
            self.say(connection, 400, {"message": "client version 1.%s is too %s. Minimum supported API version is 1.%d" % (
                version[1], "old" if int(version[1]) < self.oldest else "new", self.oldest)})
            return
        self.query = dict(urllib.parse.parse_qsl(path.partition("?")[2]))
        path = re.sub(r"^/v1\.\d+|\?.*", "", path).replace(ID, "ID")
        self.calls[method + " " + re.sub("[ac]{63}.", "LEFT", path)](self, connection, body)

    @staticmethod
    def say(connection, status, document=None, cut=None):
        """In two pieces where something is to be cut: behind the first that begins so."""
        body = json.dumps(document, separators=(",", ":")).encode() if document is not None else b""
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - BEHIND_S)).encode()
        length = b"Content-Length: %d" % len(body)
        if cut:
            at = body.index(b'"Created":' + cut.encode()) + len('"Created":' + cut)
            body = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (at, body[:at], len(body) - at, body[at:])
            length = b"Transfer-Encoding: chunked"
        connection.sendall(b"HTTP/1.1 %d Said\r\nDate: %s\r\n%s\r\n\r\n%s" % (status, date, length, body))
        connection.close()

    def version(self, connection, _):
        self.say(connection, 200, {"ApiVersion": "1.%d" % self.newest, "MinAPIVersion": "1.%d" % self.oldest})

    def create(self, connection, body):
        asked = json.loads(body)
        self.labels, host = asked["Labels"], asked["HostConfig"]
        limited = 0 < host["Memory"] == host["MemorySwap"] < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") and \
            0 < host["PidsLimit"] <= 16384
        if host.get("Binds") or host["NetworkMode"] != "none" or not limited:
            self.say(connection, 400, {"message": "not what a sandbox is"})
        else:
            self.say(connection, 201, {"Id": ID, "Warnings": []})

    def archive(self, connection, body):
        with tarfile.open(fileobj=io.BytesIO(body)) as tar:
            tar.extractall(self.folder)
        self.say(connection, 200)

    def attach(self, connection, _):
        connection.sendall(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.attached = connection

    def start(self, connection, _):
        self.container = subprocess.Popen(
            [self.folder + "/assay-keeper", "--stream"], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.carry_in, daemon=True).start()
        threading.Thread(target=self.carry_out, daemon=True).start()
        self.say(connection, 204)

    def carry_in(self):
        while piece := self.attached.recv(65536):
            self.container.stdin.write(piece)
            self.container.stdin.flush()
        self.container.stdin.close()

    def carry_out(self):
        while piece := os.read(self.container.stdout.fileno(), 65536):
            self.attached.sendall(b"\1\0\0\0" + len(piece).to_bytes(4, "big") + piece)
        self.attached.shutdown(socket.SHUT_RDWR)

    def remove(self, connection, _):
        if self.container:
            self.container.kill()
            self.container.wait()
        self.say(connection, 204)

    def list(self, connection, _):
        now = int(time.time()) - BEHIND_S
        made = [(MAKING, now, self.labels), (THEIRS, now - 3600, {**self.labels, "assay.owner": "0.another"}),
                *((one, now - 3600, self.labels) for one in LEFT)]
        wanted = dict(one.split("=", 1) for one in json.loads(self.query["filters"])["label"])
        self.say(connection, 200, [{"Id": i, "Names": ["/" + i[:4]], "Created": when, "State": "created"}
                                   for i, when, labels in made if wanted.items() <= labels.items()], str(now)[:3])

    def remove_left(self, connection, _):
        self.say(connection, 204)

    calls = {
        "GET /version": version,
        "POST /containers/create": create,
        "PUT /containers/ID/archive": archive,
        "POST /containers/ID/attach": attach,
        "POST /containers/ID/start": start,
        "DELETE /containers/ID": remove,
        "GET /containers/json": list,
        "DELETE /containers/LEFT": remove_left,
    }


Engine(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])).serve()
