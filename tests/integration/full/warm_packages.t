#!/usr/bin/python3
# An interpreter forked from a template that has numpy, pandas or matplotlib imported does what one does
# that was started cold: programs that print what they can see of it, and that use them.
import os
import subprocess
import sys
sys.dont_write_bytecode = True
import starts
import tap
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm"))
import seen_packages

def is_here(package):
    return subprocess.run(["/usr/bin/python3", "-I", "-c", "import " + package], capture_output=True).returncode == 0


def body():
    starts.available()
    missing = [package for package in ("numpy", "pandas", "matplotlib") if not is_here(package)]
    if missing:
        raise tap.SkipAll("no " + ", ".join("python3-" + package for package in missing))
    starts.same("programs with packages", seen_packages.programs(), starts.INTENDED, least=0.85, wall_ms=20000)


tap.main(body)
