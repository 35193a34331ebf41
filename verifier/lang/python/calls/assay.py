"""What the user lets this program call: assay.call("name", {"argument": 1}).

The result is what JSON can say. What was not done raises Error, which has a kind: unknown, invalid,
limit, failed, timeout, diverged; or Denied, where the user does not want it.
"""
import json as _json
import os as _os
import threading as _threading

_READ, _WRITE = 3, 4
_lock = _threading.Lock()
_process = _os.getpid()
for _fd in (_READ, _WRITE):
    _os.set_inheritable(_fd, False)


class Error(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Denied(Error):
    pass


def _send(data):
    while data:
        data = data[_os.write(_WRITE, data):]


def _receive(size):
    data = b""
    while len(data) < size:
        more = _os.read(_READ, min(size - len(data), 1 << 20))
        if not more:
            raise Error("limit", "nothing more can be called in this run")
        data += more
    return data


def call(name, arguments=None):
    """Calls the tool of that name with a dict of arguments, and waits for its result."""
    if not isinstance(name, str) or not isinstance(arguments, (dict, type(None))):
        raise TypeError("assay.call(name, arguments): a string and a dict")
    if _os.getpid() != _process:
        raise Error("invalid", "only the process that assay started can call tools, not a fork of it")
    frame = _json.dumps({"tool": name, "arguments": arguments or {}}, allow_nan=False).encode()
    with _lock:
        try:
            _send(len(frame).to_bytes(4, "big") + frame)
        except BrokenPipeError:
            pass  # there may be an answer that says why
        answer = _json.loads(_receive(int.from_bytes(_receive(4), "big")))
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    raise (Denied if error["kind"] == "denied" else Error)(error["kind"], error["message"])
