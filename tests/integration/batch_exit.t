#!/bin/sh
# What a part of a batch ends with tells an engine what to do: 0 and 9, that it is complete; 2, 5 and
# 6, that the same command cannot help, nor with 3, but with a higher cap; 4, 10, 124, 130 and 143, that
# it goes on where it stopped. What the engines are given says the same.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true

seq 12 | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python", stdin: tostring}' >t.jsonl
works() {
	forget
	say code "$(program 'print(int(input()) ** 2)')" '{"usage": {"input_tokens": 900, "output_tokens": 100}}'
}
part="batch t.jsonl --script s.jsonl --out p/r.jsonl --shard 1/2 --max-attempts 1"
manifest=p/r-1-of-2.manifest.json
# shellcheck disable=SC2086 # several options
shard() { # [OPTION...]: $code, and $complete, as the manifest says, or nothing without one
	run $part --json "$@"
	complete=$(jq .complete $manifest 2>/dev/null)
}
lines() {
	cat p/r-1-of-2.jsonl 2>/dev/null | wc -l
}
fresh() {
	rm -rf p
	mkdir p
}
goes_on() { # name: the same command, now that nothing is in its way
	works
	shard
	is "$code $complete $(field '.total == (.success + .taken_over.success)') $(jq -r .id p/r-1-of-2.jsonl | sort | uniq -d | wc -l)" \
		'0 true true 0' "$1: the same command goes on to the end"
}

fresh
works
shard
is "$code $complete" '0 true' '0: complete'
before=$(cksum <p/r-1-of-2.jsonl)
shard
is "$code $complete $(cksum <p/r-1-of-2.jsonl)" "0 true $before" 'and stays so'
fresh
forget
say code "$(program 'raise SystemExit(1)')"
shard
is "$code $complete" '9 true' '9: complete, with tasks that failed'
before=$(cksum <p/r-1-of-2.jsonl)
shard
is "$code $complete $(cksum <p/r-1-of-2.jsonl)" "9 true $before" 'the same command again repeats none of them, and says 9 again'

# --- the same command cannot help ---

fresh
shard --jobs none
is "$code $complete" '2 ' '2: usage'
jq -cn '{stage: "code", error: {class: "auth", status: 401, message: "invalid x-api-key"}}' >s.jsonl
shard
is "$code $complete" '5 false' '5: a key that is refused'
goes_on 5
cat >confine.sh <<'C'
echo 0 >/proc/sys/user/max_user_namespaces || exit 99
exec "$@"
C
fresh
if unshare -Ur sh confine.sh true 2>/dev/null; then
	# shellcheck disable=SC2086 # several options
	unshare -Ur sh confine.sh "$ASSAY" $part >out.txt 2>err.txt </dev/null
	is "$? $(jq .complete $manifest) $(lines)" '6 false 0' '6: no sandbox'
	goes_on 6
else
	skip '6: no sandbox' 'this host does not let a user namespace be made to take them away in'
fi
# A sandbox that breaks on the way: its keeper is killed while a program runs.
fresh
forget
say code "$(program 'import time
n = int(input())
time.sleep(300 * (n == 5))
print(n ** 2)')"
# shellcheck disable=SC2086 # several options
"$ASSAY" $part --timeout 400 --events p/e.jsonl >out.txt 2>err.txt </dev/null &
# shellcheck disable=SC2329 # called by until_true
executes() {
	jq -e 'select(.id == "t5" and .stage == "execute")' p/e-1-of-2.jsonl >p/e 2>/dev/null
}
until_true executes
pkill -KILL -P "$(pgrep -P $!)"
wait $!
is "$? $(jq .complete $manifest) $(jq -r 'select(.unfinished) | .id + " " + .status' p/r-1-of-2.jsonl)" \
	'6 false t5 sandbox_error' '6: a sandbox that breaks on the way'
like "$(cat err.txt)" '^1 unfinished: the sandbox failed them; --resume runs them again$' 'which people are told'
goes_on '6, broken'
# What screening denies is that task's failure, never the part's: 7 is for one question.
fresh
forget
say code "$(program 'import ctypes
ctypes.CDLL(None).ptrace(0)')"
shard --profile strict
is "$code $complete $(jq -r .status p/r-1-of-2.jsonl | sort -u)" '9 true denied' '7: a part never ends so'

# --- it goes on ---

fresh
works
shard --total-tokens 4000 -o max_tokens=500
is "$code $complete $([ "$(lines)" -gt 0 ] && echo some)" '3 false some' '3: a cap of the whole part'
before=$(lines)
shard --total-tokens 4000 -o max_tokens=500
is "$code $complete $(lines)" "3 false $before" '3: the same command once more is the same'
goes_on 3
fresh
jq -cn '{stage: "code", error: {class: "quota", status: 429, message: "You exceeded your current quota"}}' >s.jsonl
shard
is "$code $complete" '4 false' '4: a quota that is used up'
goes_on 4
fresh
works
# shellcheck disable=SC2086 # several options
run $part --db /proc/none/log.db
is "$code $(lines)" '10 0' '10: no log, and no task without'
goes_on 10
fresh
outage() { # class
	jq -cn --arg class "$1" '{stage: "code", error: {class: $class, message: "nobody is there"}}' >s.jsonl
}
outage network
shard
is "$code $complete $(field '.unfinished > 0 and .unfinished == .failed')" '4 false true' '4: a provider that is not there'
goes_on '4, unreachable'
is "$(jq -r .status p/r-1-of-2.jsonl | sort -u)" success 'what was unfinished has a result of its own now'
for class in timeout overloaded rate_limit server; do
	fresh
	outage $class
	shard
	is "$code $complete" '4 false' "4: $class"
done
for class in invalid context protocol; do
	fresh
	outage $class
	shard
	is "$code $complete" '9 true' "9: $class is the fault of what was asked"
done
fresh
jq -c 'if .id == "t1" then .prompt = "Square it, please." else . end' t.jsonl >t1.jsonl
works
jq -cn '{stage: "code", match: "please", error: {class: "network", message: "nobody is there"}}' | cat - s.jsonl >s1.jsonl
run batch t1.jsonl --script s1.jsonl --out o.jsonl --max-attempts 1
is "$code $(jq -r 'select(.unfinished) | .id' o.jsonl) $(jq -r .status o.jsonl | grep -c success)" '4 t1 11' \
	'4: one of many tasks, and the others have their results'
like "$err" '^1 unfinished: the provider failed them; --resume runs them again$' 'which people are told'
run batch t1.jsonl --script s.jsonl --out o.jsonl --max-attempts 1 --resume --json
is "$code $(field '[.success, .skipped, .run_again.cancelled] | tojson')" '0 [1,11,1]' '--resume runs that one again'
seq 60 | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python"}' >many.jsonl
outage network
run batch many.jsonl --script s.jsonl --out many.out --max-attempts 1 -j 2 --json
is "$code $(field '.not_run > 40')" '4 true' 'a provider that stays away ends the batch, not each task'
like "$err" '^assay: 1[0-9] tasks in a row were left unfinished: .*nobody is there' 'with why'
slow() {
	forget
	say code "$(program 'print(int(input()) ** 2)')" '{"delay_ms": 60000}'
}
fresh
slow
shard --total-time 1
is "$code $complete" '124 false' '124: out of time'
goes_on 124
# shellcheck disable=SC2329 # called by until_true
runs() {
	[ "$("$ASSAY" log list --json --db p/r-1-of-2.db 2>/dev/null | jq length)" = 1 ]
}
for signal in INT:130 TERM:143; do
	fresh
	slow
	# A shell that runs tests in the background may have told them to ignore it.
	# shellcheck disable=SC2086 # several options
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ASSAY" $part >out.txt 2>err.txt &
	until_true runs
	kill "-${signal%:*}" $!
	wait $!
	is "$? $(jq .complete $manifest)" "${signal#*:} false" "${signal#*:}: SIG${signal%:*}"
	goes_on "${signal#*:}"
done
# What the kernel kills, an engine may begin again, too.
fresh
slow
# shellcheck disable=SC2086 # several options
"$ASSAY" $part >out.txt 2>err.txt &
until_true runs
kill -KILL $!
wait $! 2>/dev/null
is "$(jq .complete $manifest)" false 'SIGKILL'
goes_on 'SIGKILL'

# --- what is told to engines ---

engines=$top/agent/cli/batch/engines
codes() { # of a line of text
	printf '%s\n' "$1" | tr -c '0-9\n' ' ' | xargs -n 1 | sort -n | xargs
}
again='4 10 124 130 143'
is "$(codes "$(grep '^4 |.*)' "$engines/slurm.sh")")" "$(codes "$again")" "Slurm's script queues again what goes on"
is "$(codes "$(sed -n 's/.*exitCode) in \[\(.*\)\]/\1/p' "$engines/argo.yaml")")" "$(codes "$again 137")" \
	'so does the workflow of Argo, and what the kernel killed'
is "$(codes "$(sed -n 's/ *values: \[\(.*\)\]/\1/p' "$engines/kubernetes.yaml")")" '1 2 3 5 6 7 9' \
	'the job of Kubernetes does not begin again what ends otherwise'
is "$(sed -n 's/ *completions: //p' "$engines/kubernetes.yaml")" \
	"$(grep -A1 'JOB_COMPLETIONS' "$engines/kubernetes.yaml" | sed -n 's/ *value: "\(.*\)"/\1/p')" \
	'and tells its parts how many they are'
sh -n "$engines/slurm.sh"
ok $? 'the script can be read by sh'

done_testing
