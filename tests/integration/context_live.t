#!/bin/sh
# A context whose state is kept in memory: each cell runs in a copy of it, in the same walls, and
# one that does not end well leaves nothing. What a cell can do to the state it was copied from.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all 'no jq here'

# Runs cells given as text: cells NAME TEXT [OPTION...]; all of one call are in out.txt.
cells() {
	name=$1
	printf '%s\n' "$2" >"cells.${ending:-py}"
	shift 2
	run exec --context "$name" --json "$@" "cells.${ending:-py}"
}
# What jq says of the cells of the last call, one a line.
of_cells() { jq -r ".cells[] | $1" out.txt; }

cells probe 'x = 1
# %%
print(x)'
[ "$(of_cells .isolation.held | head -1)" = yes ] ||
	skip_all 'no state is kept here: no control groups for memory, processes and CPU time'

# --- a copy ---

is "$(of_cells .isolation.state)" 'fresh
forked' 'a cell runs in a copy of the state of the one before'
is "$(of_cells .isolation.start)" 'cold
copied' 'and nothing is started for it'
is "$(of_cells .stdout)" '
1' 'with its names'
cells a 'import os
rows = [1]
open("f.txt", "w").write("one")
os.makedirs("d/e", exist_ok=True)
open("d/e/g", "w").write("deep")
open("/tmp/t", "w").write("t")
open("/out/o.txt", "w").write("out")
# %%
rows.append(2)
print(rows, open("f.txt").read(), open("d/e/g").read(), open("/tmp/t").read(), open("o.txt").read())
open("f.txt", "a").write("two")
# %%
print(rows, open("f.txt").read(), os.listdir("/out"))'
is "$(of_cells .stdout)" '
[1, 2] one deep t out
[1, 2] onetwo []' 'memory and files alike'
is "$(of_cells '.isolation.state + " " + .isolation.held')" 'fresh yes
forked yes
forked yes' 'each from the one before'
cells b 'print(1)
# %%
import sys
print(sys.stdin.read() or "nothing")
print(open(0).read() == "")'
is "$(of_cells .stdout)" '1
nothing
True' 'standard input of its own'
cells b '1 +
' --fresh
is "$(of_cells .exit_code)" 1 'a cell that cannot be read'

# --- what does not end well, seen from the same call: a conversation repairs so ---

cat >repair.sh <<'EOT'
printf '%s' "$1" >plan.txt
EOT
cells c 'keep = [1]
open("f", "w").write("1")
# %%
keep.append(2); open("f", "w").write("2"); raise SystemExit(3)'
is "$code" 3 'a cell that fails after another'
cells c 'print(keep, open("f").read())'
is "$(of_cells .stdout)" '[1] 1' 'leaves nothing'

# --- limits are of the cell ---

cells d 'import time
x = 1
# %%
t = time.process_time()
while time.process_time() - t < 0.4: pass
# %%
t = time.process_time()
while time.process_time() - t < 0.4: pass
# %%
while True: pass' --cpu-seconds 1
is "$(of_cells .outcome)" 'exit
exit
exit
timeout_cpu' 'CPU time is of each cell, not of all before it'
cells e 'x = bytearray(40 << 20)
# %%
y = bytearray(40 << 20)
# %%
z = bytearray(60 << 20)' --memory 128M
is "$(of_cells .outcome | tail -1)" memory 'memory is of the context'

# --- what cannot be copied is named, and made again ---

for row in 'a thread runs on|import threading, time
threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()' \
	'a process runs on|import subprocess
p = subprocess.Popen(["sleep", "0.2"])' \
	'a process runs on|import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "5"])
    os._exit(0)
os.wait()' \
	'a file is open|f = open("f", "w")' \
	'a pipe is open|import os
p = os.pipe()' \
	'a socket is open|import socket
a, b = socket.socketpair()' \
	'memory is shared|import mmap
m = mmap.mmap(-1, 4096)'; do
	cells "no $((n += 1))" "${row#*|}
v = 7
# %%
print(v)"
	is "$(of_cells '.isolation.held // "-"' | head -1)" "${row%%|*}" "${row%%|*}"
	is "$(of_cells '.isolation.state + " " + .stdout' | tail -1)" 'rebuilt 7' 'and the state is made again'
done
cells f 'import itertools
f = open("/usr/share/common-licenses/GPL-3")
first = next(f)
# %%
print(sum(1 for _ in f)); f.seek(0)
# %%
print(sum(1 for _ in f))'
is "$(of_cells .isolation.held | tail -1)" yes 'a file of the system that is open for reading is no matter'

# --- a cell against what it is a copy of ---

attack() {
	cells "attack $((n += 1))" "import os, signal, ctypes
state = ['whole']
open('f', 'w').write('whole')
# %%
parents = [int(p) for p in os.listdir('/proc') if p.isdigit()]
$2
state[0] = 'spoilt'; open('f', 'w').write('spoilt')
raise SystemExit(9)" --timeout 5
	cells "attack $n" 'print(state, open("f").read())'
	is "$(of_cells .stdout)" "['whole'] whole" "$1: it is as it was"
}
attack 'kill' '
for p in range(2, 400):
    for s in (signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1):
        if p != os.getpid():
            try: os.kill(p, s)
            except OSError: pass'

done_testing
