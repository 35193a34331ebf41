# Other sandboxes, as rows: measured where they are, named where they are not, never installed.
# Their walls are asked to be as much like ours as they can be.
import json
import os
import shutil
import subprocess

BUBBLEWRAP = """bwrap --unshare-all --die-with-parent --new-session --ro-bind /usr /usr
    --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
    --ro-bind /etc/ld.so.cache /etc/ld.so.cache --ro-bind-try /etc/alternatives /etc/alternatives --proc /proc --dev /dev --tmpfs /tmp --tmpfs /work
    --tmpfs /out --chdir /work --clearenv --hostname assay""".split()
UNSHARE = """unshare --user --map-root-user --pid --fork --mount --net --ipc --uts --cgroup
    --mount-proc""".split()
NSJAIL = "nsjail -Mo -Q -R /usr -R /bin -R /lib -R /lib64 --".split()


class Peer:
    """A program that goes before another one; package: where it comes from."""

    def __init__(self, name, prefix, package):
        self.name, self.prefix, self.package = name, prefix, package

    def here(self):
        return shutil.which(self.prefix[0]) is not None

    def command(self, argv, folder):
        return self.prefix + argv

    def why_not(self):
        """A reason that it is not even tried."""
        return None


class Runtime(Peer):
    """Of OCI bundles: one is written for each program, with the namespaces of the others."""
    runs = 0

    def command(self, argv, folder):
        Runtime.runs += 1
        bundle = os.path.join(folder, "bundle-%x" % abs(hash(tuple(argv))))
        if not os.path.isdir(bundle):
            write_bundle(bundle, argv)
        return self.prefix + ["--root=" + os.path.join(folder, "state"), "run", "--bundle", bundle,
                              "assay-bench-%d-%d" % (os.getpid(), Runtime.runs)]


class Docker(Peer):
    """The first image that is there, with the host's /usr on top: nothing is pulled."""
    image = None

    def why_not(self):
        done = subprocess.run(["docker", "images", "-q"], capture_output=True, text=True)
        if done.returncode != 0:
            return (done.stderr.strip() or "no answer").split("\n")[0]
        images = done.stdout.split()
        self.image = os.environ.get("BENCH_IMAGE") or (images[0] if images else None)
        return None if self.image else "there is no image (any would do; none is pulled)"

    def command(self, argv, folder):
        return ["docker", "run", "--rm", "--pull=never", "--network=none", "-v", "/usr:/usr:ro",
                self.image] + argv


def mount(target, kind, source=None):
    if kind == "bind":
        return {"destination": target, "source": source or target, "options": ["bind", "ro"]}
    return {"destination": target, "type": kind, "source": kind}


def write_bundle(bundle, argv):
    root = os.path.join(bundle, "rootfs")
    for name in ("proc", "dev", "tmp", "work", "usr", "etc"):
        os.makedirs(os.path.join(root, name))
    for name in ("bin", "lib", "lib64"):
        os.symlink("usr/" + name, os.path.join(root, name))
    spec = {"ociVersion": "1.0.0", "hostname": "assay",
            "process": {"terminal": False, "cwd": "/", "user": {"uid": 65534, "gid": 65534},
                        "noNewPrivileges": True, "env": ["PATH=/usr/bin"], "args": argv},
            "root": {"path": "rootfs", "readonly": True},
            "mounts": [mount("/proc", "proc"), mount("/dev", "tmpfs"), mount("/tmp", "tmpfs"),
                       mount("/work", "tmpfs"), mount("/usr", "bind"), mount("/etc", "bind")],
            "linux": {"namespaces": [{"type": kind} for kind in
                                     ("pid", "mount", "network", "ipc", "uts")]}}
    with open(os.path.join(bundle, "config.json"), "w") as out:
        json.dump(spec, out)


class Shell(Peer):
    """Takes the command as one word, for a shell."""

    def command(self, argv, folder):
        return self.prefix + [" ".join("'%s'" % word for word in argv)]


PEERS = [
    Peer("bubblewrap", BUBBLEWRAP, "Debian: bubblewrap"),
    Peer("unshare", UNSHARE, "Debian: util-linux"),
    Peer("firejail", "firejail --quiet --noprofile --private --net=none".split(),
         "Debian: firejail"),
    Runtime("runc", ["runc"], "Debian: runc"),
    Runtime("crun", ["crun", "--cgroup-manager=disabled"], "Debian: crun"),
    Runtime("gVisor", ["runsc", "--network=none"], "gvisor.dev: runsc"),
    Docker("docker", ["docker"], "Debian: docker.io"),
    Shell("srt", ["srt"], "npm: @anthropic-ai/sandbox-runtime"),
    Peer("codex", "codex sandbox linux --".split(), "npm: @openai/codex"),
    Peer("nspawn", "systemd-nspawn -q -D / --volatile=yes".split(), "Debian: systemd-container"),
    Peer("nsjail", NSJAIL, "its sources"),
    Peer("minijail", "minijail0 -U -v -p -l -e -n --uts -N --".split(), "its sources"),
    Peer("isolate", "isolate --run --".split(), "its sources"),
]
