#!/usr/bin/python3
# Sandboxes that are services: E2B, Lambda, Azure, Modal and another assay, against servers that know their published
# descriptions and refuse anything else (remote_mocks.py); the same tests over each. What runs there is
# the runner that would be deployed.
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import remote_mocks as mocks
import tap
from serving import Server
from tap import ok, same, write

OUTCOMES = [  # name, language, program, more arguments, outcome, and of the result
    ("exit", "bash", "exit 3", [], "exit", ("exit_code", 3)),
    ("signal", "bash", "kill -SEGV $$", [], "signal", ("signal", 11)),
    ("wall time", "bash", "sleep 100", ["--timeout", "1"], "timeout_wall", None),
    ("a child that outlives it", "bash", "setsid sleep 3151592 & echo gone", [], "exit", ("stdout", "gone\n")),
    ("CPU time", "bash", "while :; do :; done", ["--cpu-seconds", "1"], "timeout_cpu", None),
    ("output", "bash", "yes | head -c 3000000", [], "output_limit", ("stdout_bytes", None)),
    ("memory", "python", "x = bytearray(1 << 30); print(1)", [], None, ("stdout", "")),
]


class Service:
    def __init__(self, name, mock, sandbox, secrets, **env):
        self.name, self.mock, self.sandbox, self.secrets, self.env = name, mock, sandbox, secrets, env

    def exec(self, code, lang, *args, weaker=True, text=False, **env):
        given = {**self.env, **env}
        return tap.assay("exec", "--sandbox", self.sandbox, *(["--weaker"] if weaker else []),
                         *([] if text else ["--json"]), "--lang", lang, *args, write("program", code), **given)

    keeps = "there"  # here programs have the folders of this machine

    def says(self, text, what):
        ok(text, "%s: %s" % (self.name, what))

    def test(self):
        began = time.time()
        self.weaker()
        self.whole()
        self.outcomes()
        self.secret()
        self.retried()
        self.cancelled()
        self.doctor()
        same(self.mock.wrong, [], "%s: every request was as described" % self.name)
        print("# %s: %d requests, %.1f s" % (self.name, len(self.mock.asked), time.time() - began))

    def weaker(self):
        got = self.exec("print(1)", "python", weaker=False)
        ok(got.code == 6 and "memory, processes, disk, inodes, network" in got.err + got.out and
           "--weaker" in got.err + got.out, self.name + ": limits it cannot hold are refused", got)
        same(self.mock.asked, [], self.name + ": and nothing was asked of it")

    def whole(self):
        every = bytes(range(256))
        write("in.bin", every)
        got = self.exec("import sys, os\nd = open('in.bin', 'rb').read()\nsys.stderr.write('warned')\n"
                        "open(os.path.join(os.environ['ASSAY_OUT'], 'out.bin'), 'wb').write(d[::-1])\n"
                        "print(len(d), sys.argv[1:], sys.stdin.read(), os.environ['PYTHONHASHSEED'])\n", "python",
                        "-f", os.path.join(tap.work, "in.bin"), "--stdin", write("stdin", "typed"), "--out", "out")
        d = got.json()
        same((got.code, d.get("outcome"), d.get("stdout"), d.get("stderr")),
             (0, "exit", "256 [] typed 0\n", "warned"), self.name + ": a program with its files and input")
        made = os.path.join(tap.work, "out/out.bin")
        ok(os.path.exists(made) and open(made, "rb").read() == every[::-1], self.name + ": a file out, byte for byte", got)
        facts = {f["name"]: f["value"] for f in d.get("isolation", {}).get("facts", [])}
        same(facts.get("not_held"), "memory, processes, disk, inodes, network", self.name + ": what is not held is recorded")
        ok(facts.get("service") and facts.get("runner"), self.name + ": so are the service and the runner", d)
        ok(d.get("environment", {}).get("version", "").startswith("3."), self.name + ": and its Python's version", d)
        self.facts = facts
        if os.path.exists(made):
            os.unlink(made)

    def outcomes(self):
        for name, lang, code, args, outcome, more in OUTCOMES:
            d = self.exec(code, lang, *args).json()
            good = outcome is None or d.get("outcome") == outcome
            if more and more[1] is not None:
                good = good and d.get(more[0]) == more[1]
            ok(good, "%s: %s" % (self.name, name), json.dumps(d)[:1500])
        left = subprocess.run(["pgrep", "-f", "sleep 3151592"], stdout=subprocess.PIPE).stdout
        same(left, b"", self.name + ": nothing outlives its run")

    def secret(self):
        code = "import os\nfor p in os.listdir('/proc'):\n    try:\n        print(p.isdigit() and p != '%s' and " \
               "open('/proc/self/environ').read())\n        break\n    except OSError:\n        pass\nprint(dict(os.environ))\n"
        got = self.exec(code, "python")
        ok(got.code == 0 and not [s for s in self.secrets if s in got.out], self.name + ": no guest sees a credential", got)
        got = self.exec("print(%r)" % " ".join(self.secrets), "python")
        ok(not [s for s in self.secrets if s in got.out + got.err], self.name + ": what prints one is redacted", got.out[:400])
        with open(os.path.join(tap.work, "home/data/assay/log.db"), "rb") as f:
            log = f.read()
        ok(not [s for s in self.secrets if s.encode() in log], self.name + ": and the log has none")
        bad = {k: ("wrong-" + v[6:] if v in self.secrets else v) for k, v in self.env.items()}
        got = self.exec("print(1)", "python", **bad)
        ok(got.code == 6 and not [s for s in self.secrets if s in got.out + got.err],
           self.name + ": a wrong credential is an error that says none, exit 6", got)

    def retried(self):
        self.exec("print(0)", "bash")
        before = len(self.mock.asked)
        self.mock.fail_next = [(429, {"Retry-After": "0"}, {"message": "slow down"})] * 2
        d = self.exec("echo once", "bash").json()
        same(d.get("stdout"), "once\n", self.name + ": 429 is asked again")
        before = len(self.mock.asked)
        self.mock.fail_next = [(500, {}, {"message": "broken within"})]
        got = self.exec("echo twice", "bash")
        posts = [a for a in self.mock.asked[before:] if a["method"] == "POST" and not a["path"].startswith("/.management/")]
        ok(got.code == 6 and "broken within" in got.err + got.out and len(posts) == 1,
           self.name + ": 500 is not, since something may have run", "%s %d" % (got, len(posts)))
        self.mock.fail_next = []
        self.lost()

    learns = 1  # so many requests ask what is there before the program is sent; 0: one makes a sandbox

    def lost(self):
        """Who breaks off may have run the program, and nobody says that nothing ran; but before it was sent, one may."""
        for before, ran in [(0, False)] + ([(self.learns, True)] if self.learns else []):
            for how in ((500, {}, {"message": "broken within"}), None):
                self.mock.fail_next = [()] * before + [how]
                got = self.exec("echo thrice", "bash", text=True)
                ok(got.code == 6 and ("its end is not known" in got.err, "nothing ran" in got.err) == (ran, not ran),
                   "%s: %s %s" % (self.name, "500" if how else "a lost connection",
                                  "may have run something" if ran else "before the program ran nothing"), got)
        self.mock.fail_next = []

    def too_long(self, seconds):
        got = self.exec("echo 1", "bash", "--timeout", str(seconds), text=True)
        ok(got.code == 6 and "%d s are the most" % (seconds - 1) in got.err and "nothing ran" in got.err,
           self.name + ": a limit that it would end before is refused", got)

    def cancelled(self):
        # What it runs lasts till it is cancelled; but the server of this test goes on to its end.
        env = tap.environment(**self.env)
        process = subprocess.Popen([tap.ASSAY, "exec", "--sandbox", self.sandbox, "--weaker", "--json", "--lang", "bash",
                                    "--timeout", "100", write("long", "echo begun; sleep 1.5")], env=env, cwd=tap.work,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        before = len(self.mock.asked)
        while not any(b"c2xlZXAgMS41" in a["body"] or b"sleep 1.5" in a["body"] or self.asked_for_it(a)
                      for a in self.mock.asked[before:]) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(2)
        out, err = process.communicate(timeout=120)
        ok(process.returncode == 130, self.name + ": cancelled", "%d %r %r" % (process.returncode, out[-300:], err[-300:]))

    def asked_for_it(self, asked):
        return len(asked["body"]) > 100

    def doctor(self):
        got = tap.assay("doctor", "--sandbox", self.sandbox, "--json", **self.env)
        layers = {l["name"]: l for l in got.json().get("layers", [])}
        ok(all(layers.get(n, {}).get("ok") for n in ("wall time limit", "CPU time limit", "output limit")),
           self.name + ": doctor tries what it holds", json.dumps(layers)[:1500])
        same(sorted(n for n, l in layers.items() if l["in_force"] == "not held"),
             ["disk", "inodes", "memory", "network", "processes"], self.name + ": and names what it does not")
        same([layers[n]["in_force"] for n in ("files of the run before", "user")], [self.keeps, "uid %d" % os.getuid()],
             self.name + ": sees what a run leaves for the next, and who it is")
        ok("route" in layers["network"]["proof"], self.name + ": and whether there is a network", layers["network"])


def modal():
    mock = mocks.Modal()
    s = Service("modal", mock, "modal:" + mock.url, [mock.KEY, mock.SECRET], MODAL_KEY=mock.KEY, MODAL_SECRET=mock.SECRET)
    s.test()
    mock.elsewhere = mock.url
    same(s.exec("echo late", "bash").json().get("stdout"), "late\n", "modal: what takes long is fetched")
    other = mocks.Modal()
    mock.elsewhere = None
    mock.fail_next = [(), mock.later(other.url)]
    got = s.exec("echo late", "bash", text=True)
    ok(got.code == 6 and "elsewhere" in got.err and "its end is not known" in got.err, "modal: but nowhere else", got)
    same(other.asked, [], "modal: which no credential is sent to")
    s.too_long(281)


def lambda_():
    mock = mocks.Lambda()
    s = Service("lambda", mock, "lambda:assay-run", [mock.SECRET, mock.TOKEN], AWS_ACCESS_KEY_ID=mock.ID,
                AWS_SECRET_ACCESS_KEY=mock.SECRET, AWS_SESSION_TOKEN=mock.TOKEN, AWS_REGION=mock.REGION,
                AWS_ENDPOINT_URL_LAMBDA=mock.url)
    s.test()
    same(s.facts.get("billed"), "21 ms", "lambda: what was billed is told")
    s.sandbox = "lambda:assay-run:live"
    same(s.exec("echo 1", "bash").json().get("stdout"), "1\n", "lambda: an alias")
    mock.fail_next = [(200, {"X-Amz-Function-Error": "Unhandled"},
                       {"errorMessage": "Task timed out after 3.00 seconds", "errorType": "Sandbox.Timedout"})]
    got = s.exec("echo 1", "bash")
    ok(got.code == 6 and "Task timed out after 3.00 seconds" in got.err + got.out, "lambda: a function that failed, exit 6", got)
    for name in ("arn:aws:lambda:eu:1:function:x", "", "a b", "x/../y", "a" * 65):
        same(tap.assay("exec", "--weaker", "--sandbox", "lambda:" + name, "program", **s.env).code, 2, "lambda: no name: " + name[:20])
    for gone in ("AWS_REGION", "AWS_SECRET_ACCESS_KEY"):
        got = s.exec("echo 1", "bash", **{gone: ""})
        ok(got.code == 5 and gone in got.err, "lambda: without %s, exit 5" % gone, got)


def azure():
    mock = mocks.Sessions()
    s = Service("azure sessions", mock, "azure:" + mock.url + mock.POOL, [mock.TOKEN], AZURE_SESSIONS_TOKEN=mock.TOKEN)
    s.learns = 2  # a session is deleted, too
    s.test()
    s.too_long(201)
    ok(s.facts.get("executed", "").endswith(" ms"), "azure sessions: how long it took there is told", s.facts)
    same(mock.sessions, set(), "azure sessions: no session is left")


def azure_pool():
    mock = mocks.ContainerSessions()
    s = Service("azure pool", mock, "azure:pool:" + mock.url, [mock.TOKEN, mock.KEY], AZURE_SESSIONS_TOKEN=mock.TOKEN,
                AZURE_CONTAINER_KEY=mock.KEY)
    s.learns = 2  # a session is stopped, too
    s.test()
    same(s.facts.get("service"), "azure container sessions", "azure pool: what it is, is recorded")
    same(mock.sessions, set(), "azure pool: no session is left")
    for gone in ("AZURE_SESSIONS_TOKEN", "AZURE_CONTAINER_KEY"):
        before = len(mock.asked)
        got = s.exec("echo 1", "bash", **{gone: ""})
        ok(got.code == 5 and gone in got.err and len(mock.asked) == before, "azure pool: without %s, exit 5" % gone, got)
    for url in ("", "x", "ftp://h", mock.url + "/?a=b", "pool:" + mock.url):
        same(tap.assay("exec", "--weaker", "--sandbox", "azure:pool:" + url, "program", **s.env).code, 2,
             "azure pool: no address: " + url[:12])


def container():
    """The container's own server, not a mock of it."""
    key, own = "container-key-0123456789", os.path.join(tap.work, "container-tmp")
    os.mkdir(own)
    process, port = mocks.container(AZURE_CONTAINER_KEY=key, TMPDIR=own, ASSAY_RUNNER_PLACES=own)
    sandbox = "azure:http://127.0.0.1:%d" % port
    env = {"AZURE_CONTAINER_KEY": key}

    def run(code, **more):
        return tap.assay("exec", "--weaker", "--sandbox", sandbox, "--json", "--lang", "bash",
                         write("program", code), **{**env, **more})

    try:
        same(run("echo 42; exit 7").json().get("stdout"), "42\n", "azure container: a program")
        run_id = run("echo 42").json()["run"]
        got = tap.assay("replay", "--tier", "exec", "--weaker", "--json", run_id, **env)
        ok(got.code == 2 and "another machine" in got.err + got.out, "azure container: a replay sends nothing there unasked", got)
        env["ASSAY_SANDBOX"] = sandbox
        got = tap.assay("replay", "--tier", "exec", "--json", run_id, **env)
        ok(got.code == 6 and "--weaker" in got.err + got.out, "azure container: a replay there wants --weaker, too", got)
        got = tap.assay("replay", "--tier", "exec", "--weaker", "--json", run_id, **env)
        same((got.code, got.json().get("environment_changed")), (0, []), "azure container: and then runs there again")
        got = tap.assay("replay", "--tier", "exec", "--sandbox", "native", "--json", run_id, **env)
        same((got.json().get("environment_changed") or [{}])[0].get("name"), "sandbox",
             "azure container: another sandbox is named first")
        got = run("tr '\\0' '\\n' </proc/$PPID/environ; env")
        ok(key not in got.out, "azure container: its key is not in reach of a program", got)
        with open(write("key-file", key + "\n")) as f:
            os.chmod(f.name, 0o600)
            config = write("config.ini", "[keys]\nAZURE_CONTAINER_KEY = file:%s\n" % f.name)
        got = tap.assay("exec", "--config", config, "--weaker", "--sandbox", sandbox, "--json", "--lang",
                        "bash", write("program", "echo %s" % key))
        ok(got.json().get("stdout", "").startswith("[REDACTED:AZURE_CONTAINER_KEY"), "azure container: a key of [keys], redacted", got)
        got = run("echo 1", AZURE_CONTAINER_KEY="another-key-0123456789")
        ok(got.code == 6 and "401" in got.err + got.out, "azure container: a wrong key, exit 6", got)
    finally:
        process.kill()
        process.wait()


def e2b():
    folder = os.path.join(tap.work, "e2b")
    os.mkdir(folder)
    mock = mocks.E2B(folder)
    s = Service("e2b", mock, "e2b", [mock.KEY], E2B_API_KEY=mock.KEY, E2B_API_URL=mock.url, E2B_SANDBOX_URL=mock.url)
    s.learns = 0
    s.test()
    same(mock.alive, {}, "e2b: every sandbox was killed")
    calls = mock.calls()[:6]
    cancelled_while_made(s, mock)
    lives_shortly(s, mock)
    same(calls, ["POST /sandboxes", "POST /files", "POST /files", "POST /process.Process/Start", "GET /files",
                 "DELETE /sandboxes/i0000000000000000001"], "e2b: create, upload, run, download, kill")


def cancelled_while_made(s, mock):
    """Only its id tells how to end it: it is waited for, and then it is ended."""
    mock.held = mock.made + 2  # it describes itself in the first
    process = subprocess.Popen([tap.ASSAY, "exec", "--sandbox", "e2b", "--weaker", "--lang", "bash", write("program", "echo ran")],
                               env=tap.environment(**s.env), cwd=tap.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    mock.making.wait()
    before = len(mock.asked)
    process.send_signal(2)
    try:
        process.wait(1)
        ok(False, "e2b: who cancels while a sandbox is made waits for it")
    except subprocess.TimeoutExpired:
        pass
    mock.go_on.set()
    out = process.communicate(timeout=120)[0]
    same((process.returncode, mock.alive, mock.calls()[before:]), (130, {}, ["DELETE /sandboxes/i%019d" % mock.made]),
         "e2b: who cancels while a sandbox is made leaves none, and nothing runs in it")
    ok(b"ran" not in out, "e2b: nor is anything told of it", out)


def lives_shortly(s, mock):
    """When assay is killed, nobody ends it but the service: after the program's wall time and a minute, and as much
    more as a large job takes on its way there."""
    s.exec("echo 1", "bash", "--timeout", "7")
    same(mock.life_s, 67, "e2b: a sandbox lives for its program's time and a minute")
    s.exec("echo 1", "bash", "--timeout", "7", "-f", write("large.bin", os.urandom(3 << 20)))
    ok(67 + 60 < mock.life_s < 67 + 80, "e2b: with a large job as much longer as that may take", mock.life_s)


def e2b_of_serve():
    """The same API as `assay serve` has it, which is no mock."""
    with Server("--profile", "off") as server:
        if server.post("/sandboxes", {"templateID": "base", "timeout": 60}).status == 404:
            return tap.skip("e2b of assay serve", "this serve does not speak it")
        url = "http://127.0.0.1:%d" % server.port
        env = {"E2B_API_KEY": server.key, "E2B_API_URL": url, "E2B_SANDBOX_URL": url}
        got = tap.assay("exec", "--weaker", "--sandbox", "e2b", "--json", "--lang", "python", "--out", "out", "-f",
                        write("in.bin", bytes(range(256))),
                        write("program", "import os\nd = open('in.bin', 'rb').read()\nprint(len(d))\n"
                              "open(os.path.join(os.environ['ASSAY_OUT'], 'o'), 'wb').write(d)\n"), **env)
        same(got.json().get("stdout"), "256\n", "e2b of assay serve: a program with its file")
        path = os.path.join(tap.work, "out/o")
        ok(os.path.exists(path) and open(path, "rb").read() == bytes(range(256)), "e2b of assay serve: a file out", got)
        got = tap.assay("exec", "--weaker", "--sandbox", "e2b", "--json", "--lang", "bash", write("program", "exit 3"), **env)
        same(got.json().get("exit_code"), 3, "e2b of assay serve: an exit code")
        ok(server.key not in got.out + got.err, "e2b of assay serve: its key is not said")


class Between(mocks.Mock):
    """Before an `assay serve`: what it is asked is asked there."""

    def __init__(self, server):
        super().__init__()
        self.server = server

    def wire(self, q):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.server.port, q["path"]), q["body"],
                                         {n: q["headers"][n] for n in ("X-API-Key", "Content-Type", "Accept")})
        with urllib.request.urlopen(request) as answer:
            return answer.status, {"Content-Type": answer.headers["Content-Type"]}, answer.read()


def http():
    """Another assay that is busy is asked again, and what it said before is no part of its answer."""
    with Server("--profile", "off") as server:
        with open(os.path.join(tap.work, "home/config/assay/serve-keys")) as keys:
            server.key = keys.read().split()[1]  # it is printed once
        mock = Between(server)
        s = Service("http", mock, "http:" + mock.url, [server.key], ASSAY_SERVE_KEY=server.key)
        same(s.exec("exit 3", "bash").json().get("exit_code"), 3, "http: a program that prints nothing")
        mock.fail_next = [(429, {"Retry-After": "0"}, {"error": {"status": 429, "message": "too much under way"}})] * 2
        same(s.exec("exit 3", "bash").json().get("exit_code"), 3, "http: 429 is asked again")
        s.lost()


def main():
    for one in (modal, lambda_, azure, azure_pool, container, e2b, e2b_of_serve, http):
        one()


tap.main(main)
