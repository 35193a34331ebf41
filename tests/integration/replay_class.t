#!/bin/sh
# Of what kind a divergence is, and how it is shown; and a stage of a run in full.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

class() { # extension program class varies name
	printf '%s\n' "$2" >"p.$1"
	run exec "p.$1"
	run replay last --json
	is "$code $(shape .first_divergence.class,.first_divergence.varies)" "8 [\"$3\",$4]" "$5"
}
class py 'import time
print("a")
print(time.time())' time true 'the time'
run replay last
like "$err" '^differs: execute done, attempt 1 \(time\)$' 'its class is named'
like "$err" '^    @@ -1,2 \+1,2 @@$' 'the texts are shown as one difference'
like "$err" '^     a$' 'with what is around it'
like "$err" '^  run once more, it does a third thing' 'and that it varies by itself'
class py 'import datetime
print(datetime.datetime.now())' time true 'a date'
class py 'import random
print(random.random())' randomness true 'a draw'
class py 'print([object()])' randomness true 'an address'
class sh 'echo $RANDOM $RANDOM' randomness true 'a draw of a shell'
class py 'import os
print("\n".join(sorted(map(str, range(50)), key=lambda x: os.urandom(2))))' order true 'lines in an order of their own'

# What is forged into the record is what a program would have done elsewhere.
if python3 -c 'import sqlite3' 2>/dev/null; then
	printed() { # run text: what the log says it printed
		PYTHONPATH="$here" python3 - "$XDG_DATA_HOME/assay/log.db" "$@" <<'P'
import sys
import forge
with forge.Log(sys.argv[1]) as log:
    (seq, data), = log.events(sys.argv[2], stage='execute', phase='done')
    data['stdout'] = log.blob(sys.argv[3])
    data['stdout_bytes'] = data['stdout']['size']
    if len(sys.argv) > 4:
        data['isolation'][sys.argv[4]] = sys.argv[5]
    log.put(sys.argv[2], seq, data)
P
	}
	forged() { # program printed class name [fact value]
		printf '%s\n' "$1" >p.py
		run exec --json p.py
		first=$(field .run)
		what=$2 class=$3 name=$4
		shift 4
		printed "$first" "$what" "$@"
		run replay "$first" --json
		is "$code $(shape .first_divergence.class,.first_divergence.varies)" "8 [\"$class\",false]" "$name"
	}
	forged 'print(2)' 1 value 'another value, twice the same'
	run replay "$first"
	like "$err" '^  run once more, it does the same again' 'which is said'
	forged 'print("2024-05-01")' 2024-04-30 time 'another day'
	forged 'print("b a")' 'a b' order 'another order, twice the same'
	forged 'print(2)' 1 environment 'another value where a wall is another, too' landlock_abi 99
	is "$(jq -c '.environment_changed | map(select(.name == "sandbox landlock_abi").before)' out.txt)" '["99"]' 'which is named'
else
	skip 'another value, twice the same' 'no sqlite3 module here'
fi

# --- long lines, and what a terminal must not see ---

printf 'import time\nprint("x" * 2000, time.time(), "\\x1b[31m")\n' >p.py
run exec p.py
run replay last
like "$err" '^  stdout, line 1:' 'of a long line what is near the place'
unlike "$err" "$(printf '\033')\[31m" 'without its escapes'

# --- prompts, and one stage in full ---

forget
say plan "$(plan)"
say code "$(program 'print(1 / 0)')"
say repair "$(program 'print(2)')"
say judge "$(verdict pass)"
ask --role-model answer=off 'What is the second number of them all?'
first=$(field .run)
run log show "$first"
like "$out" '^code attempt 1 is asked' 'log show has what a model was asked'
like "$out" 'What is the second number' 'in its words'
run log show "$first" --stage repair
is "$code" 0 'one stage in full'
like "$out" '^repair attempt 2 started' 'what it was asked'
like "$out" '^  \[system\]$' 'with the system prompt'
like "$out" 'ZeroDivisionError' 'and what it was told'
like "$out" '^repair attempt 2 done' 'and what it said'
unlike "$out" '^code attempt' 'no other stage'
run log show "$first" --stage execute:1 --json
is "$code $(shape '[.events[].attempt] | unique')" '0 [[1]]' 'one attempt of it, as JSON'
run log show "$first" --stage cross_check
is "$code" 2 'a stage that never was'
like "$err" 'it has: task plan code' 'those there were are named'
run log show "$first" --stage code:x
is "$code" 2 'an attempt that is no number'

done_testing
