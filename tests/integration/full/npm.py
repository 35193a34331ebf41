# What tests take from npm: installed once, below build/, by whichever of them comes first.
import fcntl
import glob
import json
import os
import shutil
import subprocess

import tap


def is_whole(place):
    """npm now and then lays out a package without some of its files, and says nothing."""
    for path in glob.glob(place + "/node_modules/*/package.json") + glob.glob(place + "/node_modules/@*/*/package.json"):
        with open(path) as file:
            main = json.load(file).get("main") or ""
        if main.endswith(("js", "cjs", "mjs")) and not os.path.exists(os.path.join(os.path.dirname(path), main)):
            tap.diag("npm left out " + os.path.join(os.path.dirname(path), main))
            return False
    return True


def lay_out(package, place):
    shutil.rmtree(os.path.join(place, "node_modules"), ignore_errors=True)
    shutil.copy(os.path.join(package, "package.json"), place)
    return subprocess.run(["npm", "install", "--prefix", place, "--no-package-lock", "--fetch-retries=1",
                           "--fetch-retry-mintimeout=1000", "--no-audit", "--no-fund"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)


def install(package, place, last, what):
    """What the folder package asks for, into place. last: a file that is there when all is."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise tap.SkipAll("node and npm are not both installed")
    # Written when all is there and was looked at: until then it may be laid out once more.
    done = (last, os.path.join(place, "node_modules/of-assay-whole"))
    if all(map(os.path.exists, done)):
        return
    try:
        os.makedirs(place, exist_ok=True)
        # Tests run side by side; one of them installs, and no two at once: they share npm's cache.
        with open(os.path.join(tap.TOP, "build/npm.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if all(map(os.path.exists, done)):
                return
            npm = lay_out(package, place)
            if npm.returncode == 0 and not is_whole(place):
                npm = lay_out(package, place)
            if npm.returncode == 0 and os.path.exists(last):
                open(done[1], "w").close()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise tap.SkipAll("%s cannot be installed: %s" % (what, error))
    if npm.returncode or not os.path.exists(last):
        tap.diag(npm.stdout.decode("utf-8", "replace"))
        raise tap.SkipAll("npm cannot install %s" % what)
