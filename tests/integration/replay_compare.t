#!/bin/sh
# assay compare: models side by side, each gone on from one recorded point, live and recorded.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

compare() {
	run compare --json "$@"
}
runs() { # how many the log has
	"$ASSAY" log list --json --limit 1000 | jq length
}
answers() { # file, program, members of its call: a model that writes this program
	forget
	say code "$(program "$2")" "${3:-}"
	say judge "$(verdict pass)" '{"usage":{"input_tokens":0,"output_tokens":0}}'
	mv s.jsonl "$1"
}

forget
say plan "$(plan)"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
ask --role-model answer=off --max-attempts 1 'A number?'
first=$(field .run)
printf 'print(2)\n' >two.py
run exec two.py --json
second=$(field .run)
answers good.jsonl 'print(42)' '{"usage":{"input_tokens":100,"output_tokens":20}}'
answers bad.jsonl 'exit(3)' '{"usage":{"input_tokens":7,"output_tokens":3}}'
rm -f s.jsonl
two='-m good -m bad --script good.jsonl --script bad.jsonl'

# --- one point, two models ---

before=$(runs)
compare "$first" $two --repeat 3
is "$code" 9 'a fork that failed is exit code 9, as of a batch'
is "$(jq -c '[.runs, .from, .repeat]' out.txt)" "[[\"$first\"],\"code\",3]" 'from the stage code, if none is named'
is "$(jq -c '.models[] | [.name, .runs, .success]' out.txt | tr '\n' ' ')" '["good",3,3] ["bad",3,0] ' \
	'each model three times, each with a script of its own'
is "$(jq -c '.models[] | [.levels, .attempts, .input_tokens, .output_tokens]' out.txt | tr '\n' ' ')" \
	'[{"judged":3},1,100,20] [{"none":3},1,7,3] ' 'levels, attempts and tokens of one, without what came before'
is "$(jq -c '.models[0] | .cost_usd, (.duration_ms | type)' out.txt | tr '\n' ' ')" 'null "number" ' 'an unknown cost is none; a time'
is "$(jq -c '[.models[0].success_rate | .value, .n, (.low * 1000 | round)]' out.txt)" '[1,3,439]' "Wilson's interval of three of three"
is "$(jq -c '[.models[] | .repeats["pass@1", "pass@3", "pass^3"].value]' out.txt)" '[1,1,1,0,0,0]' 'pass@k and pass^k'
is "$(($(runs) - before))" 6 'every fork is recorded'
fork=$(jq -r '.forks[0].run' out.txt)
is "$("$ASSAY" log export "$fork" | jq -c '[.replay_of, .config.from, .model, .answer, .kind]')" \
	"[\"$first\",\"code\",\"good\",\"42\\n\",\"replay\"]" 'and linked, with its model'
is "$(jq -c '[.forks[] | [.name, .repeat, .status, .replay_of == $r]] | sort | unique | length' --arg r "$first" out.txt)" 6 \
	'the forks are listed, with repeat and status'
is "$("$ASSAY" log verify "$fork" >/dev/null 2>&1; echo $?)" 0 'their record is intact'

# --- a table for people ---

run compare "$first" $two -j 2
is "$code" 9 'two at a time'
like "$out" '^model +runs +success +level +attempts +tokens +cost +time$' 'a table'
like "$out" '^good +1  1, 100 % \([0-9]+-100\) +judged +1\.0 +120 +- +[0-9.]+ s$' 'with a line for each'
like "$out" '^bad +1  0, 0 % \(0-[0-9]+\) +none ' 'in their order'
like "$err" '^bad, run [0-9A-Z]{26}: failed' 'and why not'
compare "$first" -m good --script good.jsonl
is "$code" 0 'when every fork succeeds the exit code is 0'

# --- several points, another stage, prices ---

compare "$first" "$second" $two --repeat 2
is "$code" 2 'a run that has no such stage'
like "$err" "$second has no such stage" 'is named'
forget
say judge "$(verdict pass)"
cat >prices.ini <<'I'
[prices]
good = 1,2
I
before=$(runs)
run compare "$first" last~1 --from judge -m good --script s.jsonl
is "$code" 2 'a run named twice'
is "$(runs)" "$before" 'before any model was asked'
compare "$first" --from judge -m good --script s.jsonl
is "$code $(jq -c '[.from, .models[0].success]' out.txt)" '0 ["judge",1]' '--from another stage'
compare "$first" -m good --script good.jsonl --config prices.ini
is "$(jq -c '.models[0].cost_usd' out.txt)" 0.00014 'a known price: the cost of one'

# --- what is given wrongly ---

before=$(runs)
compare "$first"
is "$code" 2 'no model'
like "$err" 'once for each' 'and what is missing'
compare -m good
is "$code" 2 'no run'
compare "$first" -m a -m b -m c --script good.jsonl --script bad.jsonl
is "$code" 2 'two scripts for three models'
like "$err" '^assay: --script is given 2 times for 3 models' 'are counted'
compare "$first" -m a --repeat 0 --script good.jsonl
is "$code" 2 'no times at all'
compare "$first" -m a -j 0 --script good.jsonl
is "$code" 2 'no worker'
compare "$first" -m a --script gone.jsonl
is "$code $(runs)" "1 $before" 'a script that is not there: its own exit code, and no fork'
like "$err" 'gone.jsonl' 'named'
compare 01ARZ3NDEKTSV4RRFFQ69G5FAV -m a --script good.jsonl
is "$code" 2 'an unknown run'

# --- budgets, for each fork ---

compare "$first" -m good --script good.jsonl --max-calls 1
is "$code $(jq -c '.forks[0] | [.status, .exit_code]' out.txt)" '9 ["budget",3]' 'is that of each fork, and its status'

# --- a deadline is for all of them ---

compare "$first" --model-command 'sleep 1000' --deadline 1 --repeat 2
is "$code $out" '124 ' 'where it passes before a fork ends there is nothing to tell'

# --- ended from outside ---

before=$(runs)
"$ASSAY" compare "$first" --model-command 'sleep 1000' --repeat 4 -j 2 >out.txt 2>err.txt &
compared=$!
begun() {
	[ "$(runs)" -ge $((before + 2)) ]
}
until_true begun
kill -TERM "$compared"
wait "$compared"
is "$?" 143 'a signal ends it'
ended() {
	"$ASSAY" log list --json --limit 2 | jq -e 'all(.[]; .status == "cancelled")' >/dev/null
}
until_true ended
ok $? 'and its forks, which are recorded as cancelled'
is "$(runs)" $((before + 2)) 'no other began'

# --- what all of them may spend ---

answers dear.jsonl 'print(42)' '{"usage":{"input_tokens":5000,"output_tokens":100}}'
compare "$first" -m good --script dear.jsonl --repeat 6 -j 3 --total-tokens 100000
is "$code $(jq -c '.models[0] | [.runs, .success]' out.txt)" '0 [6,6]' 'six forks below a cap of them all'
compare "$first" -m good --script dear.jsonl --repeat 6 -j 3 --total-tokens 12000
is "$code" 9 'a cap that not all of them fit below'
fits=$(jq '[.forks[] | select(.status == "success")] | length' out.txt)
[ "$fits" -lt 6 ] && [ "$(jq -r '[.forks[] | select(.status != "success") | .status] | unique | join(" ")' out.txt)" = budget ]
ok $? 'the others end for their budget'
compare "$first" -m good --script good.jsonl --total-cost 1
is "$code" 5 'a cap on money needs the price'
like "$err" 'total-cost needs the price of good' 'which is said'
run replay "$first" --total-tokens 5
is "$code" 2 'a replay has no cap of its own'

done_testing
