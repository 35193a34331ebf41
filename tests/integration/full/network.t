#!/usr/bin/python3
# What can go wrong between us and a server, and how it is told: each message names the host and
# says what to do. TLS with an authority of our own, HTTP/2, proxies, IPv6.
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
sys.dont_write_bytecode = True
import hostile
import tap
from hostile import answer, serve
from tap import ok, same

KEY = "sk-test-71c0aa95be4d4f0c"
VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "HTTP_PROXY", "http_proxy",
             "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


def call(base, *args, **more):
    env = dict({name: "" for name in VARIABLES}, OPENAI_API_KEY=KEY, **more)
    return tap.assay("complete", "--json", "--no-stream", "--provider", "openai", "-m", "m",
                     "--retries", "0", "--base-url", base, *args, "hi", **env)


def base_of(server, scheme="http", host="127.0.0.1"):
    return "%s://%s:%d/v1" % (scheme, host, server.port)


def works(name, done):
    same((done.code, done.json().get("text"), done.json().get("stop_reason")), (0, "hello", "stop"), name)


def fails(name, done, error, *words, code=4, stop=None):
    """Exit code and class of the error, no reply, and a message with these words."""
    j = done.json()
    e = j.get("error") or {}
    same((done.code, e.get("class"), j.get("text"), j.get("stop_reason")), (code, error, "", stop),
         name + ": exit code, class, no reply")
    missing = [w for w in words if w not in (e.get("message") or "") or w not in done.err]
    ok(not missing, name + ": the message", "%r lacks %r" % (e.get("message"), missing))


def test_connections():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))        # bound and not listening
        host = "127.0.0.1:%d" % s.getsockname()[1]
        fails("refused", call("http://%s/v1" % host), "network", host, "Connection refused",
              "is the server running")
        fails("proxy is down", call("http://api.example/v1", http_proxy="http://" + host), "network",
              "api.example", "no connection to the proxy", "NO_PROXY")
        fails("proxy is down, TLS", call("https://api.example/v1", HTTPS_PROXY="http://" + host),
              "network", "api.example", "no connection to the proxy", "NO_PROXY")
    nobody = "x" * 64 + ".invalid"      # too long for DNS: no server is asked
    fails("unknown host", call("http://%s/v1" % nobody), "network", nobody, "no address is known",
          "check the base URL")
    fails("unknown proxy", call("https://api.example/v1", HTTPS_PROXY="http://%s:3128" % nobody),
          "network", "api.example", "resolve proxy", "NO_PROXY")
    fails("no URL", call("http://[nonsense/v1"), "invalid", "the base URL is not usable")


BROKEN = (
    ("closed without an answer", hostile.nothing, "network", ("without an answer", "http:// or https://")),
    ("reset", hostile.reset, "network", ("connection broke", "https://")),
    ("not HTTP", hostile.raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "network", ("does not speak HTTP", "port")),
    ("broken gzip", answer(b"\x1f\x8bno", headers=["Content-Encoding: gzip"]), "network",
     ("the answer is broken", "proxy")),
    ("cut body", hostile.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"), "network",
     ("the answer is broken", "999 bytes")),
    ("bad chunks", hostile.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
     "network", ("the connection broke", "chunked")),
    ("headers without end", hostile.flood(b"X-Junk: " + b"a" * 1000 + b"\r\n", 2000), "protocol",
     ("too large",)),
    ("web page", answer("<html><title>Welcome</title></html>", kind="text/html"), "protocol",
     ("a web page", "is the base URL (")),
    ("web page of an error", answer("<title>502 Bad Gateway</title>", "502 Bad Gateway"), "server",
     ("502 Bad Gateway",)),
    ("redirect", answer("", "307 Temporary", ["Location: https://other.example/v1"]), "invalid",
     ("redirects to https://other.example/v1", "set the base URL")),
    ("no such address", answer("404 page not found\n", "404 Not Found", kind="text/plain"), "invalid",
     ("404 page not found: is the base URL (",)),
    ("no such model", answer('{"error":{"message":"no model m"}}', "404 Not Found"), "invalid",
     ("no model m",)),
    ("empty answer", answer(""), "protocol", ("empty", "is the base URL (")),
    ("not the API", answer("[]"), "protocol", ("not the API's JSON",)),
)
CUT = ("web page", "empty answer", "not the API")     # a 200 that was no reply


def test_broken_answers():
    for name, behaviour, error, words in BROKEN:
        with serve(behaviour) as server:
            words = words if error in ("invalid", "server") or "(" in words[-1] or name in CUT else \
                ("127.0.0.1:%d" % server.port, *words)
            fails(name, call(base_of(server)), error, *words, stop="truncated" if name in CUT else None)
            same(len(server.requests), 1, name + ": one request")
    with serve(hostile.stall()) as server:
        fails("no answer in time", call(base_of(server), "--request-timeout", "1"), "timeout",
              "127.0.0.1:%d" % server.port, "--request-timeout", "may be billed")
    with serve(hostile.stall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")) as server:
        fails("half an answer in time", call(base_of(server), "--request-timeout", "1"), "timeout",
              "the time for this call is up")


STREAM = (b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n'
          b'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n'
          b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')


def test_slow_drip():
    with serve(hostile.drip(STREAM, 0.002)) as server:
        works("a stream that comes byte by byte", call(base_of(server)))
    for_ever = STREAM[:STREAM.index(b"data:")] + b": still here\n" * 10000
    with serve(hostile.drip(for_ever, 0.01)) as server:
        fails("a stream of comments without end", call(base_of(server), "--request-timeout", "2"),
              "timeout", "the time for this call is up", stop="truncated")


def test_tls():
    files = hostile.certificate("localhost", "DNS:localhost")
    with serve(answer(), hostile.context(files)) as server:
        base = base_of(server, "https", "localhost")
        fails("unknown authority", call(base), "network", "localhost:%d" % server.port, "certificate",
              "--ca-file", "SSL_CERT_FILE")
        works("--ca-file", call(base, "--ca-file", files[0]))
        works("ASSAY_CA_FILE", call(base, ASSAY_CA_FILE=files[0]))
        works("SSL_CERT_FILE", call(base, SSL_CERT_FILE=files[0]))
        with serve(hostile.tunnel) as proxy:
            through = "http://127.0.0.1:%d" % proxy.port
            works("HTTPS_PROXY", call(base, "--ca-file", files[0], HTTPS_PROXY=through))
            same((len(proxy.requests), KEY in "".join(proxy.requests)), (1, False),
                 "whose proxy does not see the key")
            works("NO_PROXY", call(base, "--ca-file", files[0], HTTPS_PROXY=through, NO_PROXY="localhost"))
            same(len(proxy.requests), 1, "which goes straight")
        works("--ca-file before SSL_CERT_FILE", call(base, "--ca-file", files[0], SSL_CERT_FILE="/none"))
        config = os.path.join(tap.work, "ca.ini")
        with open(config, "w") as file:
            file.write("ca-file = %s\n" % files[0])
        works("ca-file in the configuration", call(base, "--config", config))
        done = tap.assay("doctor", "--json", "--ca-file", files[0])
        same([done.json()["network"][k] for k in ("ca_file", "ca_file_error")], [files[0], None],
             "doctor knows the file")
        fails("another host's certificate", call(base_of(server, "https"), "--ca-file", files[0]),
              "network", "127.0.0.1:%d" % server.port, "is the base URL right")
        fails("SSL_CERT_FILE is missing", call(base, SSL_CERT_FILE="/none.pem"), "network",
              "/none.pem: No such file")
        fails("SSL_CERT_FILE is no PEM", call(base, SSL_CERT_FILE=config), "network", config, "PEM")
        before = len(server.requests)
        for name, path, word in (("missing", "/none.pem", "No such file"), ("no PEM", config, "PEM")):
            done = call(base, "--ca-file", path)
            same(done.code, 5, "--ca-file is %s: exit code" % name)
            ok(path in done.err and word in done.err, "--ca-file is %s: the message" % name, done.err)
            done = tap.assay("doctor", "--ca-file", path)
            ok(re.search("bad .*" + re.escape(path), done.out), "doctor: --ca-file is " + name, done.out)
        same(len(server.requests), before, "and nothing is sent")
        fails("http:// to a server of https://", call(base_of(server, host="localhost")), "network",
              "localhost:%d" % server.port, "https://")
    old = hostile.expired(files)
    with serve(answer(), hostile.context(old)) as server:
        fails("expired", call(base_of(server, "https", "localhost"), "--ca-file", old[0]), "network",
              "has expired", "clock")
    with serve(answer()) as server:
        fails("https:// to a server of http://", call(base_of(server, "https")), "network",
              "127.0.0.1:%d" % server.port, "http:// instead of https://")
    with serve(answer('{"data":[{"id":"m-1"}]}'), hostile.context(files)) as server:
        done = tap.assay("models", "--provider", "vllm", "--base-url", base_of(server, "https", "localhost"),
                         "--ca-file", files[0], **{name: "" for name in VARIABLES})
        same((done.code, done.out), (0, "m-1\n"), "models with --ca-file")
    with serve(hostile.http2(), hostile.context(files, "h2")) as server:
        works("HTTP/2", call(base_of(server, "https", "localhost"), "--ca-file", files[0]))
        ok(server.requests[0].startswith("PRI * HTTP/2.0"), "which it really was", server.requests)
    with serve(hostile.http2(error=2), hostile.context(files, "h2")) as server:
        fails("HTTP/2 error", call(base_of(server, "https", "localhost"), "--ca-file", files[0]),
              "network", "localhost:%d" % server.port)


def test_proxies():
    with serve(answer()) as proxy, serve(answer()) as server:
        through = "http://127.0.0.1:%d" % proxy.port
        works("HTTP_PROXY", call("http://api.example/v1", http_proxy=through))
        ok(proxy.requests[-1].startswith("POST http://api.example/v1/chat/completions "),
           "the proxy is asked for the whole URL", proxy.requests[-1])
        before = len(proxy.requests)
        works("NO_PROXY", call(base_of(server), http_proxy=through, NO_PROXY="127.0.0.1"))
        same((len(proxy.requests), len(server.requests)), (before, 1), "which goes straight")
    for status, words in (("403 Forbidden", ("403",)),
                          ("407 Proxy Authentication Required", ("407", "NAME:PASSWORD"))):
        with serve(answer("<title>no</title>", status)) as proxy:
            through = "http://127.0.0.1:%d" % proxy.port
            fails("proxy says " + status, call("https://api.example/v1", HTTPS_PROXY=through), "network",
                  "api.example", "the proxy does not let us through", "NO_PROXY", *words)
            same(KEY in "".join(proxy.requests), False, "and has not seen the key")
            if status.startswith("407"):
                fails("the same without TLS", call("http://api.example/v1", http_proxy=through),
                      "invalid", "NAME:PASSWORD")
    with serve(hostile.nothing) as proxy:
        fails("proxy closes", call("https://api.example/v1", HTTPS_PROXY="http://127.0.0.1:%d" % proxy.port),
              "network", "api.example", "NO_PROXY")


def test_addresses():
    if not socket.has_ipv6:
        return
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(serve(answer(), family=socket.AF_INET6, host="::1"))
        except OSError:
            tap.diag("no IPv6 here")
            return
        works("IPv6", call(base_of(server, host="[::1]")))


def interrupted(server, command, *args):
    """Its exit code when it gets SIGINT once the server has been asked; None: it went on."""
    env = dict(tap.environment(OPENAI_API_KEY=KEY), **{name: "" for name in VARIABLES})
    # A shell that runs tests in the background may have told them to ignore it.
    process = subprocess.Popen([tap.ASSAY, command, "--provider", "vllm", "--base-url", base_of(server),
                                *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=env, cwd=tap.work,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    for _ in range(600):
        if server.requests:
            break
        time.sleep(0.05)
    for _ in range(600):    # into the wait; an earlier signal must end it, too
        with open("/proc/%d/stat" % process.pid) as stat:
            if stat.read().rpartition(")")[2].split()[0] in "SZ":
                break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=20)[1].decode(), process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1].decode(), None


def test_interrupts():
    half = b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {"choices":[{"delta":{"content":"x"}}]}\n\n'
    busy = answer('{"error":{"message":"slow down"}}', "429 Busy", ["Retry-After: 50"])
    for name, behaviour, command, args in (
            ("a first byte", hostile.stall(), "complete", ("-m", "m", "x")),
            ("the rest of a stream", hostile.stall(half), "complete", ("-m", "m", "x")),
            ("another try", busy, "complete", ("-m", "m", "x")),
            ("another try of ask", busy, "ask", ("-m", "m", "x")),
            ("the list of models", hostile.stall(), "models", ()),
            ("the first model", hostile.stall(), "complete", ("x",))):
        with serve(behaviour) as server:
            err, code = interrupted(server, command, *args)
            same(code, 130, "Ctrl-C while waiting for " + name)
            ok("cancelled" in err and "billed" not in err, "which is said", err)


def test_keep_alive():
    """A question of two calls; a connection that the server closed meanwhile is no failure."""
    program = dict(hostile.REPLY, choices=[{"message": {"content": "```python\nprint(1)\n```"},
                                            "finish_reason": "stop"}])
    for close, wanted in ((False, 1), (True, 2)):
        with serve(answer(json.dumps(program), close=close)) as server:
            done = tap.assay("ask", "--json", "--no-stream", "--provider", "openai", "-m", "m", "--lang",
                             "python", "--role-model", "plan=off", "--no-judge", "--cross-check",
                             "--require", "ran", "--role-model", "answer=off", "--base-url",
                             base_of(server), "x", OPENAI_API_KEY=KEY,
                             **{name: "" for name in VARIABLES})
            same((done.code, len(server.requests), server.connections), (0, 2, wanted),
                 "two calls over %d connection(s)" % wanted)


def test_key_is_nowhere():
    for folder, _, names in os.walk(os.path.join(tap.work, "home")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                ok(KEY.encode() not in file.read(), "no key in " + name)


def body():
    for test in (test_connections, test_broken_answers, test_slow_drip, test_tls, test_proxies, test_addresses,
                 test_interrupts, test_keep_alive, test_key_is_nowhere):
        test()


tap.main(body)
