# A server of our own for what aimock cannot do: TLS, HTTP/2, proxies, answers that break.
import contextlib
import json
import os
import socket
import ssl
import struct
import subprocess
import threading

import tap

REPLY = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
         "usage": {"prompt_tokens": 3, "completion_tokens": 1}}


def answer(body=None, status="200 OK", headers=(), kind="application/json", close=True):
    """A behaviour: this response, whole."""
    body = json.dumps(REPLY) if body is None else body
    body = body.encode() if isinstance(body, str) else body
    head = ["HTTP/1.1 " + status, "Content-Type: " + kind, "Content-Length: %d" % len(body), *headers]
    if close:
        head.append("Connection: close")

    def behave(c):
        c.send("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        if not close:
            c.next_request()
            behave(c)
    return behave


def raw(data):
    return lambda c: c.send(data)


def nothing(c):
    """The connection is closed."""


def reset(c):
    c.conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stall(head=b""):
    def behave(c):
        c.send(head)
        c.server.over.wait(120)
    return behave


def drip(data, seconds):
    """Byte by byte, with a pause before each."""
    def behave(c):
        for n in range(len(data)):
            if c.server.over.wait(seconds):
                return
            c.send(data[n:n + 1])
    return behave


def tunnel(c):
    """A proxy: what CONNECT asks for, on this machine."""
    port = int(c.seen.split(b" ")[1].split(b":")[1])
    with socket.create_connection(("127.0.0.1", port)) as there:
        c.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threading.Thread(target=relay, args=(there, c.conn), daemon=True).start()
        relay(c.conn, there)


def relay(source, sink):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                return
            sink.sendall(data)
    except OSError:
        pass


def flood(line, times):
    def behave(c):
        c.send(b"HTTP/1.1 200 OK\r\n")
        for _ in range(times):
            c.send(line)
    return behave


def in_turn(*behaviours):
    """One for each request; the last goes on."""
    return lambda c: behaviours[min(c.number, len(behaviours)) - 1](c)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def http2(error=None):
    """One exchange by RFC 9113: the reply, or its stream reset with an error code."""
    def behave(c):
        c.send(frame(4, 0, 0))
        c.wait_for_end()
        if error is not None:
            c.send(frame(3, 0, 1, struct.pack(">I", error)))
        else:
            # :status 200, and content-type by its place in HPACK's static table
            c.send(frame(1, 4, 1, b"\x88\x0f\x10\x10application/json"))
            c.send(frame(0, 1, 1, json.dumps(REPLY).encode()))
        while True:     # closing with bytes unread would reset the connection
            c.more()
    behave.is_http2 = True
    return behave


class Connection:
    def __init__(self, server, conn):
        self.server, self.conn, self.seen = server, conn, b""

    def send(self, data):
        try:
            self.conn.sendall(data)
        except OSError:
            pass

    def more(self):
        data = self.conn.recv(65536)
        if not data:
            raise EOFError
        self.seen += data

    def read_preface(self):
        while len(self.seen) < 24:
            self.more()

    def read_request(self):
        self.more()
        if self.seen[:1] == b"\x16":    # TLS, where none is spoken
            self.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            raise EOFError
        while b"\r\n\r\n" not in self.seen:
            self.more()
        head, rest = self.seen.split(b"\r\n\r\n", 1)
        length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                  if line.startswith(b"content-length:")]
        while length and len(self.seen) < len(head) + 4 + length[0]:
            self.more()

    def next_request(self):
        self.seen = b""
        self.read_request()
        self.server.requests.append(self.seen.decode("latin-1"))

    def wait_for_end(self):
        """Of an HTTP/2 request: libcurl 7.88 waits for ever after an answer that comes before."""
        at = 24    # after the preface
        while True:
            while len(self.seen) < at + 9:
                self.more()
            size = int.from_bytes(self.seen[at:at + 3], "big")
            if self.seen[at + 3] == 0 and self.seen[at + 4] & 1:
                return
            at += 9 + size


class Server:
    def __init__(self, behaviour, tls, family, host):
        self.behaviour, self.tls = behaviour, tls
        self.requests, self.connections, self.over = [], 0, threading.Event()
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def serve(self, conn):
        try:
            if self.tls:
                conn = self.tls.wrap_socket(conn, server_side=True)
            c = Connection(self, conn)
            if getattr(self.behaviour, "is_http2", False):
                c.read_preface()
            else:
                c.read_request()
            self.requests.append(c.seen.decode("latin-1"))
            c.number = len(self.requests)
            self.behaviour(c)
        except (OSError, EOFError):
            pass
        finally:
            conn.close()


@contextlib.contextmanager
def serve(behaviour, tls=None, family=socket.AF_INET, host="127.0.0.1"):
    server = Server(behaviour, tls, family, host)
    try:
        yield server
    finally:
        server.over.set()
        server.listener.close()


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=tap.work)


def certificate(name, alternative):
    """PEM files of a certificate that is its own authority, and its key."""
    files = [os.path.join(tap.work, name + suffix) for suffix in (".pem", ".key")]
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=" + alternative,
            "-keyout", files[1], "-out", files[0])
    return files


def expired(files):
    """The same, of the year 2020."""
    old = [os.path.join(tap.work, "expired.pem"), files[1]]
    with open(os.path.join(tap.work, "ca.cnf"), "w") as config:
        config.write("[ca]\ndefault_ca=a\n[a]\ndatabase=ca.db\nrand_serial=yes\npolicy=p\n"
                     "new_certs_dir=.\ndefault_md=sha256\ncopy_extensions=copy\n"
                     "[p]\ncommonName=supplied\n")
    open(os.path.join(tap.work, "ca.db"), "w").close()
    openssl("req", "-new", "-key", files[1], "-subj", "/CN=expired", "-addext",
            "subjectAltName=DNS:localhost", "-out", "old.csr")
    openssl("ca", "-batch", "-config", "ca.cnf", "-selfsign", "-keyfile", files[1], "-in", "old.csr",
            "-out", old[0], "-startdate", "20200101000000Z", "-enddate", "20200102000000Z")
    return old


def context(files, protocol="http/1.1"):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*files)
    tls.set_alpn_protocols([protocol])
    return tls
