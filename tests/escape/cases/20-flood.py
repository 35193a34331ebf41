# threat: 20 stdout floods: cut, told so, our memory flat
# outcome: output_limit
# truncated: stdout
# our-memory-mib: 8
# slower: 6000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
while True: print("flood " * 1000)
