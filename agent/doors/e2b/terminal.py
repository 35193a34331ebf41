# A command of a sandbox that takes input while it runs (agent/doors/e2b/input.c): its standard input is what
# assay answers when it is asked, again and again, so that a record has all of it. With a size it is a
# terminal's program: there is no such device within these walls, so that what the device would do is
# done here: lines, echo, the ends of lines, ^C and ^D, and the size as COLUMNS and LINES.
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time

import assay

BEGIN, SIZE = "/in/.e2b/", "/tmp/.assay-size"
SOON, LATE = 0.01, 0.25
NOISE = (b"bash: cannot set terminal process group", b"bash: no job control in this shell")


def put(fd, data):
    while data:
        data = data[os.write(fd, data):]


class Lines:
    """What a terminal makes of what is typed: whole lines for the program, an echo for who types."""

    def __init__(self, child):
        self.child, self.line, self.open = child, b"", True

    def type(self, data):
        for n in range(len(data)):
            self.key(data[n:n + 1])

    def key(self, key):
        if key in b"\r\n":
            put(1, b"\r\n")
            self.send(self.line + b"\n")
        elif key == b"\x03":
            put(1, b"^C\r\n")
            self.line = b""
            os.killpg(self.child.pid, signal.SIGINT)
        elif key == b"\x15":
            put(1, b"\r\n" if self.line else b"")
            self.line = b""
            self.send(b"\n")
        elif key == b"\x04":
            if self.line:
                self.send(self.line)
            else:
                self.end()
        elif key in (b"\x7f", b"\b"):
            if self.line:
                self.line = self.line[:-1]
                put(1, b"\b \b")
        elif key >= b" " or key == b"\t":
            self.line += key
            put(1, key)

    def send(self, data):
        self.line = b""
        if self.open:
            put(self.child.stdin.fileno(), data)

    def end(self):
        if self.open:
            self.open = False
            self.child.stdin.close()


class Plain(Lines):
    def type(self, data):
        self.send(data)


def resize(cols, rows):
    with open(SIZE + "~", "w") as f:
        f.write(f"export COLUMNS={int(cols)} LINES={int(rows)}\n")
    os.rename(SIZE + "~", SIZE)


def feed(lines, ended):
    """Asks for input, soon where there was some, and later where there is none."""
    pause = SOON
    while lines.open and not ended.wait(pause):
        given = assay.call("input")
        pause = SOON if given else min(pause * 1.5, LATE)
        if "cols" in given:
            resize(given["cols"], given["rows"])
        if "data" in given:
            lines.type(base64.b64decode(given["data"]))
        if "end" in given:
            lines.end()


def feed_to_end(lines, ended):
    try:
        feed(lines, ended)
    except (assay.Error, OSError):
        pass  # nothing more is given, or taken


def show(stream):
    """A program's output as a terminal shows it."""
    kept = b""
    while True:
        data = os.read(stream.fileno(), 65536)
        kept += data
        if data and kept.startswith(b"bash: ") and b"\n" not in kept:
            continue
        while kept.startswith(NOISE) and b"\n" in kept:
            kept = kept.partition(b"\n")[2]
        put(1, kept.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        kept = b""
        if not data:
            return


def main():
    with open(BEGIN + "terminal") as f:
        size = json.load(f)
    environment = dict(os.environ)
    if size:
        resize(size["cols"], size["rows"])
        environment.update(COLUMNS=str(size["cols"]), LINES=str(size["rows"]),
                           PROMPT_COMMAND=f"trap '. {SIZE}' DEBUG; unset PROMPT_COMMAND")
    child = subprocess.Popen(["/bin/bash", BEGIN + "command"], stdin=subprocess.PIPE, env=environment, bufsize=0,
                             stdout=subprocess.PIPE if size else None, stderr=subprocess.STDOUT if size else None,
                             start_new_session=True)
    ended = threading.Event()
    threading.Thread(target=feed_to_end, args=((Lines if size else Plain)(child), ended), daemon=True).start()
    if size:
        show(child.stdout)
    code = child.wait()
    ended.set()
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


main()
