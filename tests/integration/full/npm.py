# What tests take from npm: installed once, below build/, by whichever of them comes first.
import fcntl
import os
import shutil
import subprocess

import tap


def install(package, place, last, what):
    """What the folder package asks for, into place. last: a file that is there when all is."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise tap.SkipAll("node and npm are not both installed")
    if os.path.exists(last):
        return
    try:
        os.makedirs(place, exist_ok=True)
        # Tests run side by side; one of them installs.
        with open(os.path.join(place, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(last):
                return
            shutil.copy(os.path.join(package, "package.json"), place)
            npm = subprocess.run(["npm", "install", "--prefix", place, "--no-package-lock",
                                  "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
                                  "--no-audit", "--no-fund"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise tap.SkipAll("%s cannot be installed: %s" % (what, error))
    if npm.returncode or not os.path.exists(last):
        tap.diag(npm.stdout.decode("utf-8", "replace"))
        raise tap.SkipAll("npm cannot install %s" % what)
