# threat: 26 folders 1000 deep and names no terminal should see: taken or refused, each with a reason
# artifact: good.txt kept
# artifact: d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d deeper than 16 folders
# slower: 4000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
for name in (b"new\nline", b"\x1b[2J\x1b]0;title\x07", b"\xff\xfe bad", b"x" * 255, b"..hidden", b"-rf", b"$(id)"):
    with open(b"/out/" + name, "w") as f: f.write("x")
with open("/out/good.txt", "w") as f: f.write("fine\n")
os.chdir("/out")
for i in range(1000): os.mkdir("d"); os.chdir("d")
