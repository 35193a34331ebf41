#!/usr/bin/python3
# The manifests of agent/cli/batch/engines against the schemas that Kubernetes and Argo publish, as
# npm has them (tests/integration/engines/package.json); installed once, into build/npm-engines.
import fcntl
import os
import shutil
import subprocess
import sys
sys.dont_write_bytecode = True
import tap
from tap import ok, same

HERE = os.path.join(tap.TOP, "tests/integration/engines")
ENGINES = os.path.join(tap.TOP, "agent/cli/batch/engines")
PLACE = os.path.join(tap.TOP, "build/npm-engines")
LAST = os.path.join(PLACE, "installed")


def npm_install():
    npm = subprocess.run(["npm", "install", "--prefix", PLACE, "--no-package-lock", "--no-audit", "--no-fund",
                          "--fetch-retries=1", "--fetch-retry-mintimeout=1000"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    if npm.returncode:
        tap.diag(npm.stdout.decode("utf-8", "replace"))
        raise tap.SkipAll("npm cannot install the schemas")


def install():
    if not shutil.which("node") or not shutil.which("npm"):
        raise tap.SkipAll("node and npm are not both installed")
    with open(os.path.join(HERE, "package.json")) as file:
        wanted = file.read()
    try:
        os.makedirs(PLACE, exist_ok=True)
        with open(os.path.join(PLACE, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.copy(os.path.join(HERE, "check.js"), PLACE)
            if os.path.exists(LAST) and open(LAST).read() == wanted:
                return
            shutil.copy(os.path.join(HERE, "package.json"), PLACE)
            npm_install()
            with open(LAST, "w") as file:
                file.write(wanted)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise tap.SkipAll("the schemas cannot be installed: %s" % error)


def check(texts):
    """What is wrong with each manifest: the lines that name it."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(os.path.join(tap.work, "manifest-%d.yaml" % number))
        with open(paths[-1], "w") as file:
            file.write(text)
    done = subprocess.run(["node", "check.js", *paths], cwd=PLACE, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    lines = done.stdout.decode().splitlines()
    same(done.returncode, 0, "the check runs")
    return ["\n".join(line for line in lines if os.path.basename(path) in line) for path in paths]


# What to change, and what is to be said about it: that the schema really looks.
WRONG = {
    "kubernetes.yaml": (("backoffLimitPerIndex: 5", "backOffLimitPerIndex: 5", "backOffLimitPerIndex"),
                        ("completions: 8", "completions: eight", "completions"),
                        ("          operator: In\n", "", "operator"),
                        ("procMount: Unmasked", "procMounts: Unmasked", "procMounts")),
    "argo.yaml": (("retryPolicy: Always", "retryPolicies: Always", "retryPolicies"),
                  ("entrypoint: batch", "entrypoint: 3", "entrypoint"),
                  ("withSequence:", "withSequences:", "withSequences")),
}


def body():
    install()
    for name, wrong in WRONG.items():
        with open(os.path.join(ENGINES, name)) as file:
            text = file.read()
        said = check([text] + [text.replace(right, other, 1) for right, other, _ in wrong])
        same(said[0], "", name)
        for (right, _, word), fault in zip(wrong, said[1:]):
            ok(right in text and word in fault, "%s without %r is refused" % (name, right.strip()), fault)


tap.main(body)
