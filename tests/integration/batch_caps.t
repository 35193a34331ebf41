#!/bin/sh
# What ends a whole batch, at once and with what to do: a provider that would refuse every task, and
# caps on tokens, money and time that no number of workers passes.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true

tasks() { # N
	seq "$1" | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python", stdin: tostring, expect: (. * .)}'
}
batch() { # [OPTION...]
	run batch t.jsonl --script s.jsonl --json --out r.jsonl "$@"
}
tokens() { # all that the results used
	jq -s 'map(.usage.input_tokens + .usage.output_tokens) | add // 0' "${1:-r.jsonl}"
}
tasks 8 >t.jsonl

# --- a provider that refuses all ---

forget
jq -cn '{stage: "code", error: {class: "quota", status: 429, message: "You exceeded your current quota"}}' >s.jsonl
batch -j 2
is "$code $(cat r.jsonl | jq -r .status | grep -cv cancelled)" '4 0' 'a quota that is used up ends the batch, and no task has a result of it'
like "$err" 'quota \(HTTP 429\): You exceeded your current quota' 'with why'
is "$(printf '%s\n' "$err" | grep -c 'exceeded')" 1 'once'
say code "$(program 'print(int(input()) ** 2)')"
printf '%s\n' "$(tail -n 1 s.jsonl)" >s.jsonl
batch -j 2 --resume
is "$code $(field '[.success, .total] | tojson')" '0 [8,8]' '--resume does them all when there is some again'
rm r.jsonl
jq -cn '{stage: "code", error: {class: "auth", status: 401, message: "invalid x-api-key"}}' >s.jsonl
batch
is "$code $(wc -l <r.jsonl)" '5 0' 'so does a key that is refused'
like "$err" 'auth \(HTTP 401\): invalid x-api-key' 'with why'
rm r.jsonl
forget
say code "$(program 'print(int(input()) ** 2)')"
for cap in --max-cost --total-cost; do
	batch "$cap" 1
	is "$code $(ls r.jsonl 2>/dev/null)" '5 ' "$cap without a price ends it before it begins"
	like "$err" "^assay: $cap needs the price of .* under \[prices\]" 'with what to do'
done

# --- tokens ---

usage='{"usage":{"input_tokens":900,"output_tokens":100}}'
forget
say code "$(program 'print(int(input()) ** 2)')" "$usage"
batch --total-tokens 25000 -o max_tokens=500 -j 4 --retries 0
used=$(tokens)
is "$code $([ "$used" -le 25000 ] && echo kept)" '0 kept' 'a cap that is not reached'
rm r.jsonl
tasks 60 >t.jsonl
batch --total-tokens 25000 -o max_tokens=500 -j 4 --retries 0
done_before=$(wc -l <r.jsonl)
is "$code $([ "$(tokens)" -le 25000 ] && [ "$done_before" -ge 5 ] && [ "$done_before" -lt 25 ] && echo kept)" '3 kept' \
	'--total-tokens: four workers together stay below it'
like "$err" '^assay: code: the next call does not fit: [0-9]+ of 25000 tokens .*--total-tokens' 'and it says what ended it'
is "$(field .not_run)" "$((60 - done_before))" 'and how many tasks it never came to'
is "$(jq -r .status r.jsonl | sort -u)" success 'no task has a result that the cap made'
spent=$(tokens)
batch --resume --total-tokens "$spent" -o max_tokens=500 -j 4
is "$code $(wc -l <r.jsonl)" "3 $done_before" 'with the same cap, --resume counts what the results used'
like "$err" "does not fit: $spent of $spent tokens are used in all" 'and says so'
batch --resume --total-tokens $((spent + 5000)) -o max_tokens=500 -j 4 --retries 0
is "$code $([ "$(tokens)" -le $((spent + 5000)) ] && [ "$(tokens)" -gt "$spent" ] && echo kept)" '3 kept' 'a higher one lets it go on so far'
done_before=$(wc -l <r.jsonl)
batch --resume -o max_tokens=500 -j 4
is "$code $(field '[.total, .skipped] | tojson')" "0 [60,$done_before]" '--resume does the rest'
rm r.jsonl
batch --total-tokens 100
is "$code $(wc -l <r.jsonl)" '3 0' 'a cap below one call lets none through'
run batch t.jsonl --script s.jsonl --out r.jsonl --resume --total-tokens 100
like "$err" '^60 not run: the batch ended before; --resume runs them$' 'which people are told'
unlike "$err" 'nothing to do' 'and not that there was nothing to do'

# --- money ---

mkdir -p "$XDG_CONFIG_HOME/assay"
printf '[prices]\n* = 1000, 100, 1000\n' >"$XDG_CONFIG_HOME/assay/config.ini"
rm r.jsonl
batch --total-cost 25 -o max_tokens=500 -j 4 --retries 0 -m priced
cost=$(jq -s 'map(.cost_usd) | add' r.jsonl)
is "$code $(jq -n "$cost <= 25 and $cost > 4")" '3 true' '--total-cost: four workers together stay below it'
like "$err" 'does not fit: \$[0-9.]+ of \$25.000000 .*--total-cost' 'and it says what ended it'
is "$(jq -n "($(field .cost_usd) - $cost) * 1000 | round")" 0 'the summary says what was spent'
before=$(wc -l <r.jsonl)
batch --resume --total-cost "$cost" -o max_tokens=500 -m priced
is "$code $(wc -l <r.jsonl)" "3 $before" 'the same cap holds for --resume, too'
jq -c '.cost_usd = null' r.jsonl >unpriced.jsonl
mv unpriced.jsonl r.jsonl
batch --resume --total-cost 1000 -m priced
like "$code $err" '^5 assay: --total-cost counts what r\.jsonl has cost, and the cost of its "t[0-9]+" is not known' \
	'a cost that is not known cannot be counted'
rm r.jsonl "$XDG_CONFIG_HOME/assay/config.ini"

# --- time ---

forget
say code "$(program 'print(int(input()) ** 2)')" '{"delay_ms": 60000}'
batch --total-time 1 -j 2
is "$code $(jq -r .status r.jsonl | sort -u)" '124 cancelled' '--total-time: what runs then is cut short'
like "$err" '^assay: the time of the whole batch is over \(--total-time\)' 'and it says what ended it'
forget
say code "$(program 'print(int(input()) ** 2)')"
batch --resume --limit 2
is "$code $(field '[.success, .run_again.cancelled] | tojson')" '0 [2,2]' '--resume runs that again'
for bad in '--total-time 0' '--total-time soon' '--total-tokens 0' '--total-cost free'; do
	# shellcheck disable=SC2086 # an option and its value
	batch --resume $bad
	is "$code" 2 "usage: $bad"
done

# --- the first failure ---

rm r.jsonl
jq -c 'if .id == "t2" then .expect = 5 else . end' t.jsonl >t2.jsonl
mv t2.jsonl t.jsonl
batch --fail-fast --max-attempts 1
is "$code $(jq -r .id r.jsonl | xargs)" '9 t1 t2' '--fail-fast'
like "$err" 'stopping: 1 task without success \(--fail-fast\)' 'says so'
done_testing
