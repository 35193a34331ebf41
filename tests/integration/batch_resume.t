#!/bin/sh
# What a resume takes over, and what it does not; who may write to a results file; what of it is
# on the disk.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

forget
say code "$(program 'print(int(input()) ** 2)')"
again() { # [OPTION...]: the batch once more; what of it was done, taken over, and why not
	run batch t.jsonl --script s.jsonl --json --max-attempts 1 --out r.jsonl --resume "$@"
	got="$code $(jq -c '[.total, .success, .skipped, .taken_over, .run_again]' out.txt)"
}

{
	square a 3
	square b 4
	square c 5 '{"expect":{"equals":"24"}}'
} >t.jsonl
again
is "$code $(jq -c '[.success, .failed]' out.txt)" '9 [2,1]' 'a first batch, which may say --resume'
again
is "$got" '9 [3,0,3,{"success":2,"failed":1},{}]' 'nothing has changed: all is taken over, and it says as what'
run batch t.jsonl --script s.jsonl --max-attempts 1 --out r.jsonl --resume
unlike "$err" '0 of 0' 'what was not run has not succeeded'
like "$err" 'nothing to do: all 3 have a result already: 2 succeeded, 1 failed' 'people are told, too'

# --- the task ---

before=$(grep -v '"id":"b"' r.jsonl | cksum)
{
	square a 3 '{"note":"mine","tags":["x"],"id":"a"}'
	square b 6
	square c 5 '{"expect":{"equals":"24"}}'
} >t.jsonl
again
is "$got" '9 [3,1,2,{"success":1,"failed":1},{"task_changed":1}]' 'a task that has changed runs again'
is "$(jq -r 'select(.id == "b") | .execution.stdout' r.jsonl)" 36 'and has its new result'
is "$(wc -l <r.jsonl) $(grep -v '"id":"b"' r.jsonl | cksum)" "3 $before" \
	'the others keep theirs, whatever was noted beside them'
jq -c '{expect, stdin, lang, prompt, id}' t.jsonl >t2.jsonl
mv t2.jsonl t.jsonl
again
is "$got" '9 [3,0,3,{"success":2,"failed":1},{}]' 'the order of its keys is no change'
jq -c 'if .id == "a" then .prompt = "Cube it." else . end' t.jsonl >t2.jsonl
mv t2.jsonl t.jsonl
run batch t.jsonl --script s.jsonl --max-attempts 1 --out r.jsonl --resume
like "$err" '^1 of 1 succeeded' 'people are told what ran'
like "$err" '^2 have a result already: 1 succeeded, 1 failed' 'what was taken over'
like "$err" '^1 run again: their results were asked another task' 'and why the rest was not'

mkdir sub
echo one >sub/in.txt
jq -cn '{id: "f", prompt: "Print it.", lang: "python", stdin: "2", files: ["in.txt"], expect: "4"}' >sub/t.jsonl
resume() {
	run batch sub/t.jsonl --script s.jsonl --json --out sub/r.jsonl --resume
	jq -c '[.success, .skipped]' out.txt
}
is "$(resume) $(resume) $(echo two >sub/in.txt; resume) $(resume)" '[1,0] [0,1] [1,0] [0,1]' \
	'a file that holds something else makes another task'

# --- the settings ---

again --max-tokens 150000 --retries 1 -j 2 --deadline 100
is "$got" '9 [3,0,3,{"success":2,"failed":1},{}]' 'what may be spent is no other question'
again -m other
is "$got" '9 [3,2,0,{"success":0,"failed":0},{"settings_changed":3}]' 'another model is'
again --no-judge
is "$got" '9 [3,2,0,{"success":0,"failed":0},{"settings_changed":3}]' 'other settings are'
again --no-judge --timeout 7
is "$got" '9 [3,2,0,{"success":0,"failed":0},{"settings_changed":3}]' 'and other limits'
cp -r "$top/prompts" own
again --prompts own
first=$got
again --prompts own
second=$got
echo 'Be brief.' >>own/code.md
again --prompts own
is "$first|$second|$got" '9 [3,2,0,{"success":0,"failed":0},{"settings_changed":3}]|9 [3,0,3,{"success":2,"failed":1},{}]|9 [3,2,0,{"success":0,"failed":0},{"settings_changed":3}]' \
	'and prompts of one'"'"'s own, by what they hold'
again
again --only '[ab]'
is "$(printf '%s' "$got") $(field .of_other_tasks)" '9 [2,0,2,{"success":2,"failed":0},{}] 1' 'results of other tasks are counted apart'
jq -c 'del(.key)' r.jsonl >old.jsonl
mv old.jsonl r.jsonl
again --retry-failed
is "$got" '9 [3,2,0,{"success":0,"failed":0},{"unknown":3}]' 'results that do not say what they were asked are not taken over'

# --- one at a time ---

forget
say code "$(program 'print(int(input()) ** 2)')" '{"delay_ms": 60000}'
square slow 7 >slow.jsonl
"$ASSAY" batch slow.jsonl --script s.jsonl --json --out one.jsonl >slow.txt 2>&1 &
pid=$!
until_true test -e one.jsonl
run batch slow.jsonl --script s.jsonl --json --out one.jsonl
is "$code" 1 'two batches do not write to one file'
like "$err" "^assay: one\.jsonl: the batch of process $pid writes to it: .*--out" 'the other one is named'
run batch slow.jsonl --script s.jsonl --json --out one.jsonl --resume
is "$code" 1 'nor does a resume'
like "$err" "process $pid" 'while the other runs'

# A worker that dies twice takes its task with it.
worker() { # a child of the batch
	sed -sn "s/^\([0-9]*\) (assay) [A-Z] $pid .*/\1/p" /proc/[0-9]*/stat 2>/dev/null | head -n 1
}
until_true eval '[ -n "$(worker)" ]'
one=$(worker)
kill -9 "$one"
until_true eval '[ -n "$(worker)" ] && [ "$(worker)" != "$one" ]'
kill -9 "$(worker)"
wait "$pid"
is "$? $(jq -r '"\(.id) \(.status) \(.error)"' one.jsonl)" \
	'9 slow failed the worker of this task was killed by signal 9 (Killed), the second time' 'a worker dies twice of one task'
run batch slow.jsonl --script s.jsonl --json --out one.jsonl --resume
is "$code $(field '.skipped')" '9 1' 'the file is free again'

# --- on the disk ---

forget
say code "$(program 'print(int(input()) ** 2)')"
# Which file a call is on only root can see of a process that cannot be dumped.
if [ "$(id -u)" -eq 0 ] && strace -o /dev/null true 2>/dev/null; then
	for n in 1 2 3 4 5 6; do
		square "t$n" "$n"
	done >t.jsonl
	strace -y -o trace.txt -e trace=write,fsync "$ASSAY" batch t.jsonl --script s.jsonl --json --out sync.jsonl >out.txt 2>err.txt
	grep 'sync\.jsonl' trace.txt | sed -n 's/^\(write\|fsync\).*/\1/p' >calls.txt
	is "$(tail -n 1 calls.txt) $(grep -c write calls.txt)" 'fsync 6' 'results are on the disk when a batch ends'
	is "$([ "$(grep -c fsync calls.txt)" -ge 2 ] && echo between)" between 'and before'
else
	skip 'results are on the disk when a batch ends' 'no strace here, or not root'
	skip 'and before' 'no strace here, or not root'
fi

# --- a sample ---

for n in 1 2 3 4 5 6 7 8 9; do
	square "t$n" "$n"
done >t.jsonl
sample() { # [OPTION...]: the ids of a sample
	rm -f sample.jsonl
	run batch t.jsonl --script s.jsonl --json --out sample.jsonl --sample 3 "$@"
	jq -r .id sample.jsonl | sort | xargs
}
one=$(sample)
is "$(echo "$one" | wc -w)" 3 '--sample: so many'
is "$(sample --seed 0)" "$one" 'the same ones again'
is "$([ "$(sample --seed 1)" != "$one" ] || [ "$(sample --seed 2)" != "$one" ] && echo others)" others '--seed draws others'
run batch t.jsonl --script s.jsonl --seed 1
is "$code" 2 '--seed alone is a mistake'
done_testing
