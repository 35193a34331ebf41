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
of_cells() { jq -r ".cells[] | ($1) | tostring | rtrimstr(\"\\n\")" out.txt; }

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

cells p 'import os, signal
def children(count):
    all = []
    for _ in range(count):
        child = os.fork()
        if not child:
            signal.pause()
        all.append(child)
    for child in all:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return count
print(children(11))
# %%
print(children(11))
# %%
print(children(11))
# %%
print(children(11))
# %%
print(children(13))' --pids 12
is "$(of_cells '.isolation.state + " " + .stdout')" 'fresh 11
forked 11
forked 11
forked 11
forked ' 'processes are of each cell: what is held of those before it takes none of them'
is "$(of_cells .outcome | tail -1)" process_limit 'and no cell has more'

# --- what cannot be copied is named, and made again ---

cells no 'import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
v = 7
# %%
print(v)'
is "$(of_cells '.isolation.held // "-"' | head -1)" 'a thread runs on' 'why a state is not kept'
is "$(of_cells '.isolation.state + " " + .stdout' | tail -1)" 'rebuilt 7' 'and it is made again'
like "$err" 'left running or open.*thread' 'which is said'

# --- the record ---

cells rec 'x = 20
# %%
print(x + 22)'
is "$(of_cells .isolation.state | tail -1)" forked 'a copy'
is "$("$ASSAY" replay last --json 2>/dev/null | jq .same)" true 'is replayed from the recorded cells'
like "$(of_cells .after | tail -1)" '^[0-9A-Z]{26}/1$' 'and names the execution it starts from'
# --- a file that is too large to keep ---

for states in 0 8; do
	cells "large $states" 'open("/out/large.bin", "wb").write(bytes(6 << 20))
open("/out/small.txt", "w").write("small")
# %%
import os
print(os.path.getsize("large.bin"))' --states $states
	cells "large $states" 'print(os.path.getsize("large.bin"))' --states $states
	is "$(of_cells '.stdout, (.artifacts | length)')" '6291456
0' "what an earlier cell left is no news, however large (--states $states)"
	is "$("$ASSAY" replay last --json 2>/dev/null | jq .same)" true 'nor is it when that is replayed'
	is "$("$ASSAY" replay last~1 --json 2>/dev/null | jq .same)" true 'in the call that left it, either'
done

cells none 'x = 1
# %%
print(x)' --states 0
is "$(of_cells '.isolation.state + " " + (.isolation.held // "-")')" 'fresh -
rebuilt -' '--states 0 keeps none'

done_testing
