#!/bin/sh
# The same program through every door that runs one, exec, ask, batch, /run in a conversation, and
# the replay of each: what the log says of it is the same, and a difference has a name.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/record.sh"
command -v jq >/dev/null || skip_all 'no jq here'
unset ASSAY_CAREFUL	# one call writes the program, and nobody judges
export ASSAY_FAST=true ASSAY_MAX_ATTEMPTS=1

worth() { # record
	printf '%s' "$1" | jq -c '[.status, .level, .exit_code, .attempts, (.execution | map(.phase))]'
}
finds() { # run word name
	"$ASSAY" log search "$2" --json --limit 999 | jq -r '.[].run' | grep -qx "$1"
	ok $? "$3: found by \"$2\""
}

# One run of a program: as it was through the first door, and searchable.
same() { # run name
	is "$(record "$1" execution)" "$want" "$2: the same record"
	finds "$1" "$in_code" "$2, by its program"
	finds "$1" "$in_output" "$2, by its output"
}
# And replayed, with the same record again.
door() { # run name
	same "$1" "$2"
	for tier in exec pipeline; do
		run replay "$1" --tier "$tier"
		is "$code" 0 "$2, replayed at tier $tier: exit code 0"
		like "$out" '^identical: ' "$2, replayed at tier $tier: says identical"
		same "$(newest 0)" "$2, replayed at tier $tier"
	done
}

# --- the doors that need no terminal ---

# Sets $want, from exec; the words are in nothing else that is logged.
doors() { # name; the program is in program.py
	run exec program.py
	first=$(newest 0)
	want=$(record "$first" execution)
	door "$first" "$1, exec"
	forget
	say code "$(program "$(cat program.py)")"
	run ask --script s.jsonl 'A question?'
	door "$(newest 0)" "$1, ask"
	printf '{"id":"one","prompt":"A question?"}\n' >tasks.jsonl
	rm -f results.jsonl
	run batch tasks.jsonl --script s.jsonl --out results.jsonl
	door "$(jq -r .run results.jsonl)" "$1, batch"
}

# --- a conversation ---

. "$top/tests/integration/tmux.sh"
at_prompt() {
	[ "$(tm capture-pane -p | grep . | tail -n 1)" = 'assay>' ]
}
# A line at the prompt, which is back when the run that it asks for is in the log.
type_line() { # line, runs in the log then
	until_true at_prompt
	tm send-keys -l -- "$1"
	tm send-keys Enter
	until_true logged "$2"
	until_true at_prompt
}
logged() {
	[ "$("$ASSAY" log list --json --limit 999 | jq length)" -ge "$1" ]
}
conversation() { # name
	if ! command -v tmux >/dev/null; then
		skip "$1, /run" 'no tmux here'
		return
	fi
	had=$("$ASSAY" log list --json --limit 999 | jq length)
	tm new-session -d -s assay -x 100 -y 50 "'$ASSAY' --fresh --script s.jsonl"
	type_line 'A question?' $((had + 1))
	type_line '/run' $((had + 2))
	tm send-keys C-d
	until_true eval '! tm list-sessions >/dev/null'
	again=$(newest 0)
	is "$("$ASSAY" log export "$again" | jq -r .kind)" exec "$1, /run: is a run of its own"
	door "$(newest 1)" "$1, a conversation's question"
	door "$again" "$1, /run"
}

# --- a program that fails ---

cat >program.py <<'P'
quagga = "zeb" + "ra"
print(quagga)
raise ValueError("not enough stripes")
P
in_code=quagga in_output=zebra
doors 'one that fails'
is "$(worth "$want")" '["failed","none",1,1,["started","done"]]' 'one that fails: what it is worth'
is "$(printf '%s' "$want" | jq -r .reason)" \
	'The program ended with exit code 1. ValueError: not enough stripes, in line 3.' \
	'one that fails: the record says why'
conversation 'one that fails'

# --- a good one ---

printf 'okapi = "gir" + "affe"\nprint(okapi)\n' >program.py
in_code=okapi in_output=giraffe
doors 'a good one'
is "$(worth "$want")" '["success","ran",0,1,["started","done"]]' 'a good one: what it is worth'
conversation 'a good one'

# --- one that our side could not run ---

executes() { # whether the newest run has come so far
	[ "$("$ASSAY" log export last | jq -r '[.status, .events[-1].stage] | join(" ")')" = \
		"unfinished execute" ]
}
loses_keeper() { # name; arguments of assay
	name=$1
	shift
	"$ASSAY" "$@" >out.txt 2>err.txt </dev/null &
	pid=$!
	until_true executes
	kill -KILL "$(ps -o pid=,args= --ppid "$pid" | awk '/assay-keeper/ { print $1; exit }')"
	wait "$pid"
	is "$?" 6 "$name: exit code 6"
	lost=$(newest 0)
	for which in "$lost" replay; do
		[ "$which" = replay ] && run replay "$lost" --tier pipeline && which=$(newest 0)
		is "$(record "$which" execution | jq -c '[.status, .level, .exit_code, .attempts,
			(.execution | map([.phase, .data.outcome]))]')" \
			'["sandbox_error","none",6,1,[["started",null],["done","setup_failed"]]]' "$name: recorded"
	done
	is "$(cat out.txt | head -c 10)" identical: "$name: its replay says identical"
}
printf 'import time\ntime.sleep(60)\n' >program.py
loses_keeper 'the keeper is killed under exec' exec --timeout 60 program.py
forget
say code "$(program "$(cat program.py)")"
loses_keeper 'the keeper is killed under ask' ask --timeout 60 --script s.jsonl 'A question?'

# --- a difference has a name ---

printf 'import time\nprint(time.time_ns())\n' >now.py
run exec now.py
run replay last
is "$code" 8 'exec of a program that prints the time: exit code 8'
like "$out" '^diverged at execute: ' 'the stage is named'
like "$err" '^  stdout:' 'and so is its output'

# How a run ended is compared as well; what a version before recorded of one is not, where it said
# of every program that ran, as its /run did, level ran, exit code 0 and no attempt.
ended() { # run, level, exit code, attempts[, status]: as the log has them from now on
	/usr/bin/python3 - "$("$ASSAY" log path)" "$@" <<'P'
import hashlib, json, sqlite3, sys, zlib
path, run, level, code, attempts, *status = sys.argv[1:]
db = sqlite3.connect(path)
db.execute('update runs set level = ?, exit_code = ?, attempts = ? where id = ?', (level, code, attempts, run))
if attempts == '0': # nor was there a version in the record
    body, deflated = db.execute('select body, deflated from blobs b join runs r on b.no = r.config where r.id = ?', (run,)).fetchone()
    config = json.loads(zlib.decompress(body) if deflated else body)
    config.pop('version', None)
    body = json.dumps(config).encode()
    key = hashlib.sha256(body).hexdigest()
    db.execute('insert or ignore into blobs(sha256, size, media_type, body) values(?, ?, ?, ?)', (key, len(body), 'application/json', body))
    db.execute('update runs set config = (select no from blobs where sha256 = ?) where id = ?', (key, run))
if status:
    db.execute('update runs set status = ? where id = ?', (status[0], run))
db.commit()
P
}
if /usr/bin/python3 -c 'import sqlite3' 2>/dev/null; then
	ended "$first" checked 0 1
	run replay "$first" --json
	is "$code $(shape '.same, .first_divergence.stage, .first_divergence.differences')" \
		'8 [false,"end",[{"field":"level","before":"checked","after":"ran"}]]' 'another level is a divergence'
	run replay "$first"
	like "$out" '^diverged at end: ' 'in words: how it ended'
	like "$err" '  level: "checked" -> "ran"' 'and in what'
	printf 'exit(3)\n' >three.py
	run exec three.py
	old=$(newest 0)
	ended "$old" ran 0 0
	run replay "$old"
	is "$code" 0 'a run of /run in the log of a version before replays'
	is "$(worth "$(record "$(newest 0)" execution)")" '["failed","none",1,1,["started","done"]]' 'with the record of today'
	printf 'import time\ntime.sleep(60)\n' >sleep.py
	run exec --deadline 1 sleep.py
	old=$(newest 0)
	is "$code $(worth "$(record "$old" execution)")" '124 ["budget","none",124,1,["started","done"]]' \
		'exec at its --deadline: the status of a question at its'
	run replay "$old"
	is "$code" 0 'which is replayed'
	ended "$old" none 124 1 failed
	run replay "$old"
	is "$code" 0 'and so is one that a version before called failed'
	ended "$first" ran 1 1 failed
	run replay "$first"
	is "$code" 8 'but no other whose status differs'
	like "$err" '  status: "failed" -> "success"' 'which is named'
else
	skip 'records of ends that differ' 'no sqlite3 in python3'
fi
done_testing
