#!/usr/bin/python3
"""Firecracker as its published API description (v1.x, src/firecracker/swagger) has it, without a machine.

Refuses what that refuses: an unknown path or member, one that is missing or of another type, a call out
of its time. What is described must be there and be what it is said to be: an ELF kernel, an archive, a
disk. The machine's only program is played by the keeper beside it, as a native sandbox. Beside this file
(a copy of it) lie `keeper`, a link, and `requests`, which it writes."""
import http.server
import json
import os
import socket
import socketserver
import subprocess
import sys
import threading

here = os.path.dirname(os.path.abspath(sys.argv[0]))
STRING, NUMBER, BOOL = str, int, bool
# path: method, members (True: required)
CALLS = {
    "/machine-config": ("PUT", {"vcpu_count": (NUMBER, True), "mem_size_mib": (NUMBER, True)}),
    "/boot-source": ("PUT", {"kernel_image_path": (STRING, True), "initrd_path": (STRING, False),
                             "boot_args": (STRING, False)}),
    "/drives/root": ("PUT", {"drive_id": (STRING, True), "path_on_host": (STRING, True),
                             "is_root_device": (BOOL, True), "is_read_only": (BOOL, False)}),
    "/vsock": ("PUT", {"guest_cid": (NUMBER, True), "uds_path": (STRING, True)}),
    "/actions": ("PUT", {"action_type": (STRING, True)}),
    "/vm": ("PATCH", {"state": (STRING, True)}),
    "/snapshot/create": ("PUT", {"snapshot_type": (STRING, False), "snapshot_path": (STRING, True),
                                 "mem_file_path": (STRING, True)}),
    "/snapshot/load": ("PUT", {"snapshot_path": (STRING, True), "mem_backend": (dict, True),
                               "resume_vm": (BOOL, False)}),
}


class Machine:
    state = "new"  # configured, running, paused
    parts = {}


def begins(path, at, magic):
    with open(path, "rb") as f:
        f.seek(at)
        return f.read(len(magic)) == magic


def refuse(method, path, body):
    """Why, or nothing; what the call does is done."""
    if path not in CALLS or CALLS[path][0] != method:
        return "no such call"
    for name, (kind, required) in CALLS[path][1].items():
        if required and name not in body:
            return f"missing field `{name}`"
        if name in body and type(body[name]) is not kind:
            return f"`{name}` is of another type"
    for name in body:
        if name not in CALLS[path][1]:
            return f"unknown field `{name}`"
    return globals()["call" + path.replace("/", "_").replace("-", "_")](body)


def before(body, name):
    if Machine.state not in ("new", "configured"):
        return "The requested operation is not supported after starting the microVM."
    Machine.state, Machine.parts[name] = "configured", body


def call_machine_config(body):
    if not 1 <= body["vcpu_count"] <= 32:
        return "The vCPU number is invalid"
    return before(body, "machine")


def call_boot_source(body):
    if not begins(body["kernel_image_path"], 0, b"\x7fELF"):
        return "Kernel Loader: Invalid Elf magic number"
    if not begins(body["initrd_path"], 0, b"070701"):
        return "initrd"
    return before(body, "boot")


def call_drives_root(body):
    if body["drive_id"] != "root" or not body.get("is_read_only"):
        return "drive"
    if not begins(body["path_on_host"], 1080, b"\x53\xef"):
        return "no ext4"
    return before(body, "drive")


def call_vsock(body):
    if body["guest_cid"] < 3 or os.path.exists(body["uds_path"]):
        return "vsock"
    return before(body, "vsock")


def call_actions(body):
    if body["action_type"] != "InstanceStart" or set(Machine.parts) != {"machine", "boot", "drive", "vsock"}:
        return "Missing kernel configuration"
    Machine.state = "running"
    threading.Thread(target=serve_vsock, args=(Machine.parts["vsock"]["uds_path"],), daemon=True).start()


def call_vm(body):
    wanted = {"Paused": ("running", "paused"), "Resumed": ("paused", "running")}.get(body["state"])
    if wanted is None or Machine.state != wanted[0]:
        return "state"
    Machine.state = wanted[1]


def call_snapshot_create(body):
    if Machine.state != "paused" or Machine.spoken:
        return "only a paused machine that nobody spoke to"
    for name in ("snapshot_path", "mem_file_path"):
        with open(body[name], "w") as f:
            f.write(json.dumps(Machine.parts["vsock"]))


def call_snapshot_load(body):
    backend = body["mem_backend"]
    if Machine.state != "new" or set(backend) != {"backend_path", "backend_type"} or backend["backend_type"] != "File":
        return "Loading a microVM snapshot not allowed after configuring boot-specific resources."
    with open(body["snapshot_path"]) as f, open(backend["backend_path"]) as memory:
        Machine.parts["vsock"] = json.load(f)
        memory.read()
    Machine.state = "running" if body.get("resume_vm") else "paused"
    threading.Thread(target=serve_vsock, args=(Machine.parts["vsock"]["uds_path"],), daemon=True).start()


Machine.spoken = False


def serve_vsock(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    while True:
        stream, _ = server.accept()
        line = b""
        while not line.endswith(b"\n"):
            line += stream.recv(1)
        if line != b"CONNECT 1024\n" or Machine.state != "running":
            stream.close()
            continue
        stream.sendall(b"OK 1073741824\n")
        if stream.recv(1) != b"b":  # as boot.c
            stream.close()
            continue
        Machine.spoken = True
        subprocess.run([os.path.join(here, "keeper"), "--stream"], stdin=stream, stdout=stream, env={}, check=False)
        os._exit(0)


class Api(http.server.BaseHTTPRequestHandler):
    def answer(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            why = refuse(self.command, self.path, json.loads(text))
        except OSError as e:
            why = str(e)
        with open(os.path.join(here, "requests"), "a") as f:
            f.write(f"{self.command} {self.path} {400 if why else 204} {why or ''}\n")
        body = json.dumps({"fault_message": why}).encode() if why else b""
        self.send_response(400 if why else 204)
        if body:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body:
            self.wfile.write(body)

    do_PUT = do_PATCH = do_GET = answer

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


assert sys.argv[1] == "--api-sock" and len(sys.argv) == 3
Server(sys.argv[2], Api).serve_forever()
