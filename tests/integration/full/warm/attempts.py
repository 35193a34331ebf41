# The programs of tests/escape, each with the time that its head gives it. They refuse to run anywhere
# but in the sandbox. No other of them runs meanwhile, on this host, as some of them are about what all
# of its user's have together (tests/escape/turn.h).
import contextlib
import fcntl
import glob
import os
import re

WALL_MS = 10000
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../escape/cases")
# What each does otherwise whenever it runs, however it is started, by the end of its name.
VARIES = [
    ("01-fork-bomb.sh", "how often a fork failed before its time was over"),
    ("20-flood.js", "how much it had written when it was ended"),
    ("20-flood.py", "how much it had written when it was ended"),
    ("21-stderr-flood.sh", "how much it had written when it was ended"),
    ("22-drip.sh", "how much it had written when its time was over"),
    ("59-fexecve.py", "memory and switches of the process, as /proc/self/status counts them"),
    ("65-flood.py", "how many calls it had made when its time was over"),
    ("71-bash.sh", "the time of day, and a name by chance"),
    ("71-node.js", "which of several results is there first"),
]


def programs(ending):
    for path in sorted(glob.glob(CASES + "/*" + ending)):
        with open(path) as f:
            text = f.read()
        wall = re.search(r"^(?:#|//) limit:.*\bwall_ms=(\d+)", text, re.M)
        yield os.path.basename(path), text, min(int(wall.group(1)) if wall else WALL_MS, WALL_MS)


@contextlib.contextmanager
def alone():
    with open_folder("/var/tmp") as queue, open_folder("/tmp") as turn:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


@contextlib.contextmanager
def open_folder(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
