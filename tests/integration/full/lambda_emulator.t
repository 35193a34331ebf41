#!/usr/bin/python3
# The function of sandbox/remote/deploy under an emulator of Lambda that knows nothing of assay (serverless-offline,
# from npm), called by --sandbox lambda:NAME. It does not check signatures: those are held against AWS's published
# vectors (test_sigv4) and by a mock that validates (remote.t). For sessions of Azure and endpoints of Modal npm has
# no emulator: Azure's are of storage and functions, and Modal has none.
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
sys.dont_write_bytecode = True
import npm
import tap
from tap import ok, same, write

HERE = os.path.join(tap.TOP, "tests/integration/lambda-emulator")
PLACE = os.path.join(tap.TOP, "build/npm-lambda")
DEPLOYED = (os.path.join(tap.TOP, "sandbox/remote/deploy/lambda_function.py"), os.path.join(tap.TOP, "sandbox/remote/runner.py"))
KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def start(ports):
    """The emulator in a folder of this test's, in a group of its own."""
    folder = os.path.join(tap.work, "service")
    os.makedirs(folder)
    for path in DEPLOYED:
        shutil.copy(path, folder)
    os.symlink(os.path.join(PLACE, "node_modules"), os.path.join(folder, "node_modules"))
    with open(os.path.join(HERE, "serverless.yml")) as f:
        text = f.read()
    text = text.replace("OWN }", folder + "-own }")
    os.makedirs(folder + "-own")
    for n, port in enumerate(ports):
        text = text.replace("PORT%d" % n, str(port))
    with open(os.path.join(folder, "serverless.yml"), "w") as f:
        f.write(text)
    log = open(os.path.join(tap.work, "emulator.log"), "w")
    env = tap.environment(SLS_TELEMETRY_DISABLED="1", SLS_NOTIFICATIONS_MODE="off", CI="1")
    return subprocess.Popen(["node", os.path.join(PLACE, "node_modules/serverless/bin/serverless.js"), "offline"], cwd=folder, env=env,
                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)


def said():
    with open(os.path.join(tap.work, "emulator.log"), errors="replace") as f:
        return f.read()


def is_there(process):
    for _ in range(1200):
        if "assay-run" in said():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    return False


def body():
    npm.install(HERE, PLACE, PLACE + "/node_modules/serverless-offline/package.json", "the emulator")
    began = time.time()
    ports = free_ports(3)
    process = start(ports)
    try:
        if not is_there(process):
            raise tap.SkipAll("the emulator does not start: " + said()[-300:])
        print("# the emulator: %.1f s" % (time.time() - began))
        calls("http://127.0.0.1:%d" % ports[0])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def calls(url):
    def lambda_(name, code, *args):
        return tap.assay("exec", "--sandbox", "lambda:" + name, "--weaker", "--json", "--lang", "python", *args, write("p.py", code),
                         AWS_ENDPOINT_URL_LAMBDA=url, AWS_REGION="eu-central-1", AWS_ACCESS_KEY_ID="AKIDEXAMPLEKEY123456",
                         AWS_SECRET_ACCESS_KEY=KEY)

    began = time.time()
    given = write("in.bin", bytes(range(256)))
    got = lambda_("assay-run", "import os, sys\nd = open('in.bin', 'rb').read()\n"
                  "open(os.environ['ASSAY_OUT'] + '/out.bin', 'wb').write(d[::-1])\nsys.stderr.write('warned')\n"
                  "print(len(d), sys.argv[1:])\nraise SystemExit(7)\n", "-f", given, "--out", "out").json()
    print("# a run: %.1f s" % (time.time() - began))
    same((got.get("outcome"), got.get("exit_code"), got.get("stdout"), got.get("stderr")), ("exit", 7, "256 []\n", "warned"),
         "a program with a file, its output and exit code")
    with open(os.path.join(tap.work, "out/out.bin"), "rb") as f:
        same(f.read(), bytes(range(256))[::-1], "a file out, byte for byte")
    same([f["value"] for f in got["isolation"]["facts"] if f["name"] == "not_held"], ["memory, processes, disk, inodes, network"],
         "the record says what is not held")
    got = lambda_("assay-run", "while True: pass\n", "--timeout", "2", "--cpu-seconds", "30").json()
    same(got.get("outcome"), "timeout_wall", "wall time")
    got = lambda_("assay-run", "import os\nprint(os.environ)\n")
    ok(got.code == 0 and KEY not in got.out, "no guest sees the key", got)
    got = lambda_("assay-missing", "print(1)\n")
    ok(got.code == 6, "a function that is not there: exit 6", got)
    ok(KEY not in said(), "the emulator was told no key")


tap.main(body)
