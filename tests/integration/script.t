#!/bin/sh
# The scripted model (--script): order, ids, match, what a script that is wrong or spent says.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

# --- order per stage ---

forget
say judge "$(verdict fail 'first judgement')"
say repair "$(program 'print("second")')" '{"match":"first judgement"}'
say code "$(program 'print("first")')"
say code "$(program 'print("never")')"
say plan "$(plan)"
say judge "$(verdict pass 'second judgement')"
say answer 'Second.'
ask 'x'
is "$code $(shape '.attempts, .execution.stdout, .checks[0].detail')" '0 [2,"second\n","second judgement"]' \
	'lines are taken in order per stage, wherever they stand'
ask 'x'
is "$code" 0 'a script is read anew by each command'

# --- match ---

forget
say code "$(program 'print("about dogs")')" '{"match":"dogs?"}'
say code "$(program 'print("about cats")')" '{"match":"\\bcats\\b"}'
say code "$(program 'print("about anything")')"
for q in 'Tell me of cats:about cats' 'And the dog:about dogs' 'Catsup:about anything'; do
	ask --lang python --expect "${q#*:}" "${q%:*}"
	is "$code" 0 "match picks the line for \"${q%:*}\""
done

# --- ids ---

cat >tasks.jsonl <<'T'
{"id":"b","prompt":"second","lang":"python","expect":{"equals":"B"}}
{"id":"a","prompt":"first","lang":"python","expect":{"equals":"A"}}
{"id":"c","prompt":"third","lang":"python","expect":{"equals":"any"}}
{"id":"d","prompt":"fourth","lang":"python","expect":{"equals":"any"}}
T
forget
say code "$(program 'print("A")')" '{"id":"a"}'
say code "$(program 'print("B")')" '{"id":"b"}'
say code "$(program 'print("any")')"
run batch tasks.jsonl --script s.jsonl --no-judge --out results.jsonl --json
is "$code $(shape '.total, .success')" '0 [4,4]' 'a line with an id serves that task, one without serves each'
forget
say code "$(program 'print("A")')" '{"id":"a"}'
ask --lang python --expect A 'x'
is "$code $(shape .status)" '4 ["provider_error"]' 'a line with an id serves no call without a task'

# --- spent ---

forget
say plan "$(plan)"
ask 'x'
is "$code" 4 'a stage with no line left is a failure of the provider'
like "$(field .error)" 'no line is left for stage code of a call without a task' 'that names the stage'
like "$(field .error)" 's\.jsonl' 'and the script'
forget
say code "$(program 'print("A")')" '{"id":"a"}'
run batch tasks.jsonl --script s.jsonl --no-judge --only b --out r2.jsonl
is "$code $(jq -r .status r2.jsonl)" '9 provider_error' 'in a batch it is one task that fails'
like "$(jq -r .error r2.jsonl)" 'stage code of task b' 'and the error names stage and task'
forget
ask 'x'
is "$code" 4 'an empty script has no line for anything'
forget
say complete 'Hello.'
run complete --script s.jsonl 'Hi'
is "$code $out" '0 Hello.' 'assay complete takes stage complete'

# --- what a line may say ---

forget
say complete 'Half an ans' '{"stop_reason":"length"}'
say complete 'No.' '{"stop_reason":"refusal"}'
run complete --script s.jsonl --json 'x'
is "$(shape .stop_reason,.text)" '["length","Half an ans"]' 'stop_reason is passed on'
forget
jq -cn '{stage:"complete",error:{class:"rate_limit",status:429,message:"slow down"}}' >>s.jsonl
run complete --script s.jsonl --json 'x'
is "$code $(shape '.error.class, .error.status, .error.message')" '4 ["rate_limit",429,"slow down"]' 'an error in place of a reply'
forget
say complete '<think>six times
seven</think>42'
say complete '<think>six times
seven</think>42'
run complete --script s.jsonl 'x'
is "$code $out $err" '0 42 ' 'reasoning is no part of the reply'
run complete --script s.jsonl --show-reasoning 'x'
is "$out" '42' 'nor with --show-reasoning'
is "$err" 'six times
seven' 'which shows it beside the reply'
forget
say code "<think>$(program 'print("no")')</think>$(program 'print("yes")')"
run ask --script s.jsonl --lang python --no-judge --require ran --role-model plan=off --role-model answer=off --show-reasoning --color always 'x'
is "$code $out" '0 yes' 'code in the reasoning is not run'
like "$err" "$(printf '\033')\[2m.*A program" 'and it is shown dimmed'
forget
say complete 'late' '{"delay_ms":400}'
begun=$(date +%s%N)
run complete --script s.jsonl 'x'
[ $((($(date +%s%N) - begun) / 1000000)) -ge 400 ]
ok $? 'delay_ms is waited for'

# --- scripts that are wrong ---

wrong() { # line want name
	forget
	say plan "$(plan)"
	echo >>s.jsonl
	printf '%s\n' "$1" >>s.jsonl
	run ask --script s.jsonl 'x'
	is "$code" 2 "$3: a usage error"
	like "$err" "s\.jsonl:3: .*$2" "$3: the line's number and the reason"
}
wrong '{"stage":"code","reply":' '' 'half a line'
wrong '["code"]' 'object' 'a line that is no object'
wrong '{"stage":"cod","reply":"x"}' 'stage' 'an unknown stage'
wrong '{"reply":"x"}' 'stage' 'no stage'
wrong '{"stage":"code"}' 'reply' 'no reply'
wrong '{"stage":"code","reply":7}' 'reply' 'a reply of another type'
wrong '{"stage":"code","reply":"x","mtach":"y"}' 'mtach' 'a misspelt member'
wrong '{"stage":"code","reply":"x","match":"("}' 'match' 'a pattern that is none'
wrong '{"stage":"code","reply":"x","stop_reason":"tired"}' 'tired' 'an unknown stop reason'
wrong '{"stage":"code","reply":"x","delay_ms":-1}' 'delay_ms' 'a negative delay'
wrong '{"stage":"code","reply":"x","reply":"y"}' 'reply' 'a member twice'
run ask --provider script 'x'
is "$code" 2 '--provider script without --script'
like "$err" 'needs --script' 'says what it needs'
run ask --script nowhere.jsonl 'x'
like "$code $err" '^[12] .*nowhere\.jsonl: No such file' 'a script that is not there'
[ ! -s out.txt ]
ok $? 'and nothing on standard output'

done_testing
