# threat: 71 copying works, in whatever way it is tried first
# out: ok
import os
assert os.getpid() == 2 and os.uname().nodename == "assay", "refuses to run outside the sandbox"
import shutil, socket, subprocess

os.chdir("/tmp")
text = b"line\n" * 400000
open("a", "wb").write(text)
shutil.copyfile("a", "b")
shutil.copy("a", "c")
subprocess.run(["cp", "a", "d"], check=True)
subprocess.run("cat a >e; cat a | cat >f; head -c 2000000 a >g; tail -c 2000000 a | tee h >i",
               shell=True, check=True)
for name in "bcdefghi":
    assert open(name, "rb").read() == text, name
here, there = socket.socketpair()
if os.fork() == 0:
    there.close()
    here.sendfile(open("a", "rb"))
    os._exit(0)
here.close()
got = b""
while part := there.recv(1 << 16):
    got += part
assert got == text
os.wait()
print("ok")
