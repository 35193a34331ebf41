# The machine that figures come from: without it they say nothing.
import os
import subprocess


def first_line(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n")[0] if done.returncode == 0 else ""


def of_file(path, key):
    with open(path) as lines:
        for line in lines:
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    return "unknown"


def cgroups():
    """v2, v1, hybrid or none, by what is mounted."""
    with open("/proc/self/mounts") as lines:
        kinds = {line.split()[2] for line in lines if "cgroup" in line.split()[2]}
    return {(): "none", ("cgroup",): "v1", ("cgroup2",): "v2"}.get(tuple(sorted(kinds)), "hybrid")


def load():
    return "%.1f" % os.getloadavg()[0]


def describe(folder):
    """Load is added when it is known; folder: where the log is."""
    words = first_line("/usr/bin/python3", "-V").split()
    return {"cpu": of_file("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(of_file("/proc/meminfo", "MemTotal").split()[0]) / 2 ** 20, 1),
            "kernel": os.uname().release, "cgroup": cgroups(),
            "python": words[-1] if words else None,
            "node": first_line("/usr/bin/node", "--version").lstrip("v") or None,
            "log_fs": first_line("stat", "-f", "-c", "%T", folder) or "unknown",
            "user": "root" if os.geteuid() == 0 else "an ordinary user"}
