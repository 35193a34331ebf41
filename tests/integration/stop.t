#!/bin/sh
# What a model, a program or a task file makes long is ended by the deadline and by Ctrl-C, not only
# calls and executions.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

forget
say plan "$(plan)"
say code "$(program 'print("a" * 500000)')"
# Patterns that take a part of a second each, of a task and of the command line.
slow='^.*[a-y]*\d'
jq -cn --arg p "$slow" '{id: "slow", prompt: "x", lang: "python", checks: [range(1500) | {kind: "regex", arg: $p}]}' >t.jsonl
checks=$(for _ in $(seq 50); do printf -- ' --check regex:%s' "$slow"; done)

# Seconds of the processor that all before took: a clock would tell of the machine.
spent() {
	times >times.txt
	awk 'NR == 2 { split($1, own, /[ms]/); split($2, host, /[ms]/)
		print int(60 * (own[1] + host[1]) + own[2] + host[2]) }' times.txt
}
spent >before.txt
run batch t.jsonl --script s.jsonl --out r.jsonl --no-judge --deadline 4
spent >after.txt
is "$code $(jq -r .status r.jsonl)" '9 budget' '1,500 patterns: the deadline ends the task'
like "$(jq -r .error r.jsonl)" 'deadline of 4000 ms passed while the output was checked' 'and its result says where'
[ "$(($(cat after.txt) - $(cat before.txt)))" -le 16 ]
ok $? 'soon'
# shellcheck disable=SC2086
run ask --script s.jsonl $checks --deadline 2 x
is "$code" 124 'assay ask: the exit code of a deadline'
# shellcheck disable=SC2086
env --default-signal=INT "$ASSAY" ask --script s.jsonl $checks x >out.txt 2>err.txt </dev/null &
asked=$!
has_run() { # what it checks is printed
	[ "$("$ASSAY" log export last 2>/dev/null | jq 'any(.events[]; .stage == "execute" and .phase == "done")')" = true ]
}
until_true has_run
kill -INT "$asked"
wait "$asked"
is "$?" 130 'Ctrl-C ends it, too'
is "$("$ASSAY" log list --json --limit 1 | jq -r '.[0] | "\(.status) \(.exit_code)"')" 'cancelled 130' 'and the log knows how it ended'

# Without any, all patterns of an output share ten seconds of the processor.
spent >before.txt
run batch t.jsonl --script s.jsonl --out all.jsonl --no-judge --max-attempts 1
spent >after.txt
is "$code $(jq -r '.checks | length' all.jsonl)" '9 1500' 'without a deadline each pattern has its verdict'
like "$(jq -r '.checks[-1] | "\(.verdict) \(.detail)"' all.jsonl)" '^error .*patterns before it' 'that there was no time left for it'
[ "$(($(cat after.txt) - $(cat before.txt)))" -le 40 ]
ok $? 'within what all may take'
is "$(jq -r .level all.jsonl)" ran 'and what could not be tried has not passed'
run replay last --tier pipeline --deadline 1
is "$code" 124 'a replay of it has a deadline, too'
done_testing
