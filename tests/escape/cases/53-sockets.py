# threat: 52 53 no way out
# forbidden: socket
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import socket
for attempt in (lambda: socket.create_connection(("127.0.0.1", 22), 1), lambda: socket.create_connection(("169.254.169.254", 80), 1),
                lambda: socket.getaddrinfo("example.org", 80)):
    try: attempt()
    except OSError: continue
    sys.exit("reached")
a = socket.socket(socket.AF_UNIX)
for name in open("/proc/net/unix").read().split("@")[1:] if os.path.exists("/proc/net/unix") else []:
    sys.exit("sees a host socket: " + name)
for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"):
    try: a.connect(path)
    except OSError: continue
    sys.exit("connected to " + path)
