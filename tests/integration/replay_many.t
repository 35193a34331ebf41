#!/bin/sh
# assay replay --all and its kind: many runs at once, by class of divergence, for CI and bisecting.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

run replay --all
is "$code" 10 'without a log there is nothing to replay'
printf 'print(1)\n' >one.py
printf 'import time\nprint(time.time())\n' >time.py
printf 'import random\nprint(random.random())\n' >draw.py
printf 'import sys\nsys.exit(3)\n' >three.py
for program in one time draw three; do
	run exec $program.py
done
forget
say plan "$(plan)"
say code "$(program 'print(5)')"
say judge "$(verdict pass)"
ask --tag five --role-model answer=off 'Five?'
five=$(field .run)
run complete --script s.jsonl x
run replay --all -j 3 --json
is "$code" 8 'all runs: one that diverged is exit code 8'
is "$(shape .total,.same,.diverged,.not_replayed)" '[5,3,2,0]' 'they are counted, a bare call of a model is none of them'
is "$(jq -cS .by_class out.txt)" '{"randomness":1,"time":1}' 'by class'
is "$(jq -r '[.runs[] | select(.outcome == "diverged").stage] | join(" ")' out.txt)" 'execute execute' 'with the stage of each'
copies=$("$ASSAY" log list --json | jq '[.[] | select(.replay_of)] | length')
is "$copies" 5 'each is recorded'
run replay --all --json
is "$(field .total)" 5 'no replay is replayed again'
run replay --all -q --junit r.xml
like "$out" '^5 runs: 3 identical, 2 diverged \(time 1, randomness 1\), 0 not replayed$' 'in words'
like "$out" '^[0-9A-Z]{26} diverged at execute \(time\)$' 'with each that diverged'
like "$(cat r.xml)" '<testsuite name="assay replay" tests="5" failures="2" errors="0"' 'as a JUnit report'
like "$(cat r.xml)" '<failure type="time" message="diverged at execute"/>' 'with the class of each failure'
run replay --tag five --json
is "$code $(shape .total,.same)" '0 [1,1]' 'those with a tag: none diverged'
run replay --status failed --json
is "$code $(shape .total)" '0 [1]' 'those with a status'
run replay --status fialed --json
is "$code" 2 'a status that is none is a mistake, not none'
run replay --since 1d --json
is "$(field .total)" 5 'those since then'
run replay --tag none --json
is "$code $(shape .total,.runs)" '0 [0,[]]' 'none at all is no fault'
run replay --all "$five"
is "$code" 2 'a run and all of them exclude each other'
run replay --all --from code
is "$code" 2 'and so do they and a fork'
run replay --all -j 0
is "$code" 2 'no worker is none'

# --- what cannot be replayed ---

run complete --script s.jsonl y
run replay last
is "$code" 125 'what has nothing to run again ends with 125, which git bisect skips'
if python3 -c 'import sqlite3' 2>/dev/null; then
	PYTHONPATH="$here" python3 - "$XDG_DATA_HOME/assay/log.db" "$five" <<'P'
import sys
import forge
with forge.Log(sys.argv[1]) as log:
    for name, in log.db.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        log.db.execute(f'drop trigger "{name}"')
    (_, task), = log.events(sys.argv[2], stage='task')
    log.db.execute('update blobs set body = null where sha256 = ?', (task['prompt']['sha256'],))
P
	run replay "$five"
	is "$code" 125 'nor can one whose question was purged'
	run replay --tag five --json
	is "$code $(shape .not_replayed,.runs[0].outcome)" '125 [1,"not_replayed"]' 'also among many'
	like "$(jq -r '.runs[0].error' out.txt)" purged 'with the reason'
	run replay --all --json
	is "$code $(shape .total,.not_replayed)" '8 [5,1]' 'but a divergence says more'
else
	skip 'nor can one whose question was purged' 'no sqlite3 module here'
fi

# --- what an error ended, then and again ---

forget
say plan "$(plan)"
ask --tag cut --max-calls 1 'Six?'
is "$code $(field .status)" '3 budget' 'a run whose budget ran out'
run replay --tag cut --json
is "$code $(shape .same,.not_replayed)" '0 [1,0]' 'is replayed among many as it ended'

# --- the last that diverged ---

run exec time.py
last=$("$ASSAY" log list --json --limit 1 | jq -r '.[0].run')
run replay "$last"
run exec one.py
run replay last
run replay --last-diverged --json
is "$code $(field .run)" "8 $last" '--last-diverged is the run whose replay diverged last'
run replay --last-diverged "$last"
is "$code" 2 'which is no RUN beside another'
run exec --db other.db one.py
run replay --last-diverged --db other.db
is "$code" 125 'where none diverged there is none'

done_testing
