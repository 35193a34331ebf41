# threat: 27 20 hard links to one big file: the total is capped
# artifact: 00 kept
# artifact: 19 over the limit
# kept-bytes: 5242880
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
with open("/out/00", "wb") as f: f.write(os.urandom(1 << 20))
for i in range(1, 20): os.link("/out/00", f"/out/{i:02}")
