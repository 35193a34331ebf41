#!/bin/sh
# Signals, and deaths in the middle of a run: the exit code, what the log says of it, and that
# no process, control group or mount is left.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
env --default-signal=INT true 2>/dev/null || skip_all 'no env --default-signal here'

# Runs assay in the background, deaf to nothing: $pid. A shell's own jobs ignore SIGINT.
start() {
	env --default-signal=INT,TERM "$ASSAY" "$@" >out.txt 2>err.txt </dev/null &
	pid=$!
}
finish() {
	wait "$pid" 2>/dev/null
	code=$?
	err=$(cat err.txt)
}
# A sleep that only this test runs: its number is its name.
marker=987.$$
sleeper="sleep $marker"
lives() {
	ps -eo stat=,args= | grep -qE "^[^Z ][^ ]* +([^ ]*/)?sleep $marker"
}
gone() {
	! lives
}
keeper() { # of the assay $pid
	ps -o pid=,args= --ppid "$pid" | awk '/assay-keeper/ { print $1; exit }'
}
# Everything below $1, as "pid:start time": a pid may be used again.
tree() {
	ps -eo pid=,ppid=,lstart= | awk -v root="$1" '
		{ parent[$1] = $2; born[$1] = $6 }
		END {
			for (p in parent) {
				for (at = p; at in parent && at != root && at > 1; at = parent[at])
					;
				if (at == root) print p ":" born[p]
			}
		}'
}
all_gone() { # the output of tree
	for one in $1; do
		state=$(ps -o stat=,lstart= -p "${one%%:*}" | awk -v b="${one#*:}" '$5 == b && $1 !~ /^Z/')
		[ -z "$state" ] || return 1
	done
}
no_groups() { # of a keeper
	[ -z "$(find /sys/fs/cgroup -maxdepth 6 -type d -name "assay-$1-*" 2>/dev/null)" ]
}
logged() { # jq expression on the newest run of a kind: logged KIND EXPRESSION
	"$ASSAY" log list --json --limit 20 | jq -c --arg kind "$1" "[.[] | select(.kind == \$kind)][0] | $2"
}
mounts=$(wc -l </proc/self/mountinfo)

# --- during a model call ---

for pair in INT:130 TERM:143 HUP:143; do
	start ask --model-command "$sleeper" 'A question?'
	until_true lives
	kill -"${pair%:*}" "$pid"
	finish
	is "$code" "${pair#*:}" "SIG${pair%:*} during a model call: exit code"
	is "$(cat out.txt)" '' "SIG${pair%:*} during a model call: no answer"
	is "$(logged ask '[.status, .exit_code]')" "[\"cancelled\",${pair#*:}]" \
		"SIG${pair%:*} during a model call: logged as cancelled"
	until_true gone
	ok $? "SIG${pair%:*} during a model call: the model's program is gone"
done

# --- during an execution ---

forget
say code "$(program "echo begun
$sleeper" bash)"
for pair in INT:130 TERM:143; do
	start ask --script s.jsonl --lang bash --expect never --timeout 60 --json 'A question?'
	until_true lives
	processes=$(tree "$pid")
	kill -"${pair%:*}" "$pid"
	finish
	is "$code" "${pair#*:}" "SIG${pair%:*} during an execution: exit code"
	is "$(jq -c '[.status, .execution.outcome, .execution.stdout]' out.txt)" \
		'["cancelled","cancelled","begun\n"]' "SIG${pair%:*} during an execution: what there is is kept"
	until_true all_gone "$processes"
	ok $? "SIG${pair%:*} during an execution: no process is left"
done
echo "$sleeper" >sleep.sh
for pair in INT:130 TERM:143; do
	start exec --timeout 60 sleep.sh
	until_true lives
	kill -"${pair%:*}" "$pid"
	finish
	is "$code $(logged exec .status)" "${pair#*:} \"cancelled\"" "SIG${pair%:*} during assay exec"
	until_true gone
	ok $? "SIG${pair%:*} during assay exec: the guest is gone"
done
logged_before=$("$ASSAY" log list --json --limit 100 | jq length)
run replay --json last
is "$code $("$ASSAY" log list --json --limit 100 | jq length)" "125 $logged_before" \
	'what a person stopped is not run again to its limit: it is not replayed'
like "$err" 'was cancelled while its program ran \(execute, attempt [0-9]+\).*--tier pipeline' 'which is said'
run replay --json --tier pipeline last
is "$code $(printf %s "$out" | jq -r .same)" '0 true' 'and what was recorded of it is'

# Who starts us deaf to SIGINT (nohup, a shell's background job) wants us so.
echo 'echo done' >short.sh
echo "$sleeper; echo done" >deaf.sh
env --ignore-signal=INT "$ASSAY" exec --timeout 60 deaf.sh >out.txt 2>err.txt </dev/null &
pid=$!
until_true lives
kill -INT "$pid"
kill -9 $(ps -eo pid=,args= | awk -v marker="$marker" '$2 ~ /sleep$/ && $3 == marker { print $1 }')
finish
is "$code $(cat out.txt)" '0 done' 'an ignored SIGINT stays ignored'

# --- assay is killed ---

start ask --script s.jsonl --lang bash --expect never --timeout 60 'A question?'
until_true lives
keeper=$(keeper)
processes=$(tree "$pid")
[ "$(echo "$processes" | wc -l)" -ge 4 ] && [ -n "$keeper" ]
ok $? 'a run has a keeper, a launcher, an init and a guest'
kill -KILL "$pid"
finish
is "$code" 137 'assay was killed'
until_true all_gone "$processes"
ok $? 'nothing that it started outlives it'
until_true gone
ok $? 'nor does the guest'
until_true no_groups "$keeper"
ok $? 'nor a control group'
is "$(wc -l </proc/self/mountinfo)" "$mounts" 'nor a mount'
is "$(logged ask '[.status, .ended, .exit_code]')" '["unfinished",null,null]' 'the log has it without an end'
like "$("$ASSAY" log export last | jq -c '[.events[] | .stage + " " + .phase]')" '"execute started"]$' \
	'its last record is what was about to run'
"$ASSAY" log verify >/dev/null 2>err.txt
is "$?" 0 'the log is intact'
run exec --lang bash short.sh
is "$code $out" '0 done' 'the next run works'

# --- the keeper is killed ---

start exec --timeout 60 --json sleep.sh
until_true lives
keeper=$(keeper)
processes=$(tree "$keeper")
kill -KILL "$keeper"
finish
is "$code" 6 'without its keeper a run ends with exit code 6'
like "$err$(cat out.txt)" 'keeper|sandbox' 'and an error that says so'
is "$(logged exec '.status')" '"sandbox_error"' 'logged as an error of the sandbox'
until_true all_gone "$processes"
ok $? 'the guest died with its keeper'
until_true no_groups "$keeper"
ok $? 'and its control groups are removed'
run exec --lang bash short.sh
is "$code $out" '0 done' 'the next run works'

forget
say code "$(program "$sleeper" bash)" '{"id":"one"}'
say code "$(program 'echo two' bash)" '{"id":"two"}'
printf '%s\n' '{"id":"one","prompt":"1","lang":"bash","expect":{"equals":"one"},"limits":{"timeout":60}}' \
	'{"id":"two","prompt":"2","lang":"bash","expect":{"equals":"two"}}' >tasks.jsonl
start batch tasks.jsonl --script s.jsonl --out results.jsonl --max-attempts 1
until_true lives
# The one that the guest is below of: another has the reader of programs.
kill -KILL "$(ps -eo pid=,ppid=,args= | awk -v marker="sleep $marker" '
	{ parent[$1] = $2; keeper[$1] = /assay-keeper/ }
	$0 ~ marker "$" { guest = $1 }
	END { for (at = guest; at in parent; at = parent[at]) if (keeper[at]) first = at; print first }')"
finish
is "$code $(jq -rs 'sort_by(.id) | map("\(.id) \(.status)") | join(", ")' results.jsonl)" \
	'6 one sandbox_error, two success' 'a batch loses the task whose keeper died, goes on, and is not complete'

rm results.jsonl
printf '%s\n' '{"id":"one","prompt":"1","lang":"bash","expect":{"equals":"1"},"limits":{"timeout":60}}' \
	'{"id":"two","prompt":"2","lang":"bash","expect":{"equals":"1"},"limits":{"timeout":60}}' >tasks.jsonl
forget
say code "$(program "$sleeper" bash)"
say code "$(program "$sleeper" bash)"
start batch tasks.jsonl -j 2 --script s.jsonl --out results.jsonl
until_true lives
processes=$(tree "$pid")
kill -INT "$pid"
finish
is "$code" 130 'SIGINT ends a batch'
until_true all_gone "$processes"
ok $? 'and its workers, keepers and guests'

# --- nobody reads ---

echo 'seq 200000' >long.sh
{ "$ASSAY" exec long.sh 2>err.txt </dev/null; echo $? >code.txt; } | head -n 1 >out.txt
is "$(cat out.txt)" 1 'assay exec | head -n 1: the line'
like "$(cat code.txt)" '^[1-9][0-9]*$' 'a pipe that closed is not success'
like "$(cat err.txt)" 'cancelled' 'and said, not suffered in silence'
forget
say plan "{\"needs_code\":false,\"checks\":[],\"answer\":\"first\\n$(seq -s '\n' 15000)\"}"
{ "$ASSAY" ask --script s.jsonl --require none x 2>err.txt </dev/null; echo $? >code.txt; } | head -n 1 >out.txt
is "$(cat out.txt)" first 'assay ask | head -n 1: the line'
like "$(cat code.txt)" '^[1-9][0-9]*$' 'and no success'
is "$(logged ask .status)" '"success"' 'while the run is logged as what it was'
if [ -w /dev/full ]; then
	"$ASSAY" ask --script s.jsonl --require none x >/dev/full 2>err.txt </dev/null
	is "$?" 1 'a full disk: exit code 1'
fi

done_testing
