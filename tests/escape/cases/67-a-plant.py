# threat: 67 start-up files planted everywhere
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
v = f"{sys.version_info[0]}.{sys.version_info[1]}"
planted = 0
for path in ("sitecustomize.py", "usercustomize.py", "os.py", "json.py", ".bashrc", ".bash_profile", ".profile", ".bash_env", ".npmrc", ".noderc",
             ".gitconfig", ".git/hooks/post-checkout", ".pythonrc", f".local/lib/python{v}/site-packages/sitecustomize.py",
             f".local/lib/python{v}/site-packages/evil.pth", "node_modules/fs/index.js", "package.json", "pyvenv.cfg"):
    for home in ("/work", "/tmp", "/dev/shm", "/out", "/in", "/root", "/etc", "/usr/lib/python3", f"/usr/lib/python{v}", "/usr/local/lib", "/"):
        try:
            os.makedirs(os.path.dirname(f"{home}/{path}"), exist_ok=True)
            with open(f"{home}/{path}", "w") as f: f.write("import os; print('PLANTED')\n")
            planted += 1
            assert home in ("/work", "/tmp", "/dev/shm", "/out"), home
        except OSError: pass
assert planted >= 60, planted
