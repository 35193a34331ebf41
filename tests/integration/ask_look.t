#!/bin/sh
# The model may look first: a block marked "look" runs, its output goes back, and it is no attempt.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
command -v jq >/dev/null || skip_all 'no jq here'
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"
printf 'city;sales\nRiga;40\nOslo;2\n' >sales.csv

look() { # code
	program "$1" 'python look'
}

forget
say code "$(program 'print(sum(int(row.split(";")[1]) for row in list(open("/in/sales.csv"))[1:]))')" \
	'{"match":"look 1[^}]*separator is semicolon"}'
say code "$(look 'print("separator", "is", "semicolon" if ";" in open("/in/sales.csv").readline() else "comma")')"
ask $quick -f sales.csv 'sum of sales'
is "$(shape '.status, .level, .answer, .attempts')" '["success","ran","42\n",1]' \
	'what a look printed goes back to the model, and it is no attempt'
events=$("$ASSAY" log export last)
is "$(printf '%s' "$events" | jq -c '[.events[] | select(.stage == "look" and .phase == "done") | .data.outcome // .data.verdict]')" \
	'["allow","exit"]' 'it was screened, run and recorded'
is "$(printf '%s' "$events" | jq -c '[.events[] | select(.stage == "look" and .phase == "started") | .data.wall_limit_ms // empty | . <= 5000]')" \
	'[true]' 'with little time'
for tier in pipeline exec; do
	run replay last --tier "$tier"
	is "$code" 0 "a replay of tier $tier looks, too"
	like "$out" '^identical: ' "and comes to the same"
done
run log show last
like "$out" '^look attempt 1' 'log show has it'

# --- no more than three ---

forget
say code "$(look 'print(1)')"
say code "$(look 'print(2)')" '{"match":"look 1"}'
say code "$(look 'print(3)')" '{"match":"look 2"}'
say code "$(look 'print("a fourth")')" '{"match":"look 3[^}]*no look is left"}'
say code "$(program 'print("enough")')" '{"match":"holds no program"}'
jq -s -c 'reverse | .[]' s.jsonl >turned && mv turned s.jsonl
ask $quick 'look around'
is "$(shape '.status, .answer, .attempts')" '["success","enough\n",1]' 'after three looks none is left'
is "$("$ASSAY" log export last | jq '[.events[] | select(.stage == "look" and .data.outcome)] | length')" 3 \
	'a fourth did not run, nor was it taken for the program'

# --- one that fails, one that is refused, one that never ends ---

forget
say code "$(look 'print("begun", flush=True)
1 / 0')"
say code "$(look 'import os
print(os.environ)')" '{"match":"begun[^}]*ZeroDivisionError[^}]*exit code 1"}'
say code "$(look 'import time
time.sleep(60)')" '{"match":"It was not run"}'
say code "$(program 'print("seen")')" '{"match":"It was stopped"}'
jq -s -c 'reverse | .[]' s.jsonl >turned && mv turned s.jsonl
ask $quick 'look badly'
is "$(shape '.status, .answer, .attempts')" '["success","seen\n",1]' \
	'how a look failed, was refused or was stopped is what the model is told'

# --- a state that is made again for it ---

forget
say code "$(program 'import time
time.sleep(2) # longer than a budget of the next run
made = 1
print("made")')"
run ask --script s.jsonl $quick 'make it'
is "$code $out" '0 made' 'a state that takes long to make'
forget
say code "$(look 'print("seen", made)')"
say code "$(program 'print(made)')" '{"match":"look 1"}'
ask -c $quick --max-exec-seconds 1 'look at it'
is "$(shape '.status')" '["budget"]' 'to make it again for a look is of the budget of executions'
is "$("$ASSAY" log export last | jq -c '[.events[] | select(.stage == "look" and .phase == "done") | .data.outcome // empty]')" \
	'["timeout_wall"]' 'which ends it'

# --- a repair knows what was seen ---

forget
say code "$(program '1 / 0')" '{"match":"look 1"}'
say code "$(look 'print("a clue")')"
say repair "$(program 'print("mended")')" '{"match":"seen of the data before[^}]*a clue"}'
ask $quick 'look, fail, mend'
is "$(shape '.status, .answer, .attempts')" '["success","mended\n",2]' 'a repair is told what was seen'

# --- in a conversation ---

if command -v tmux >/dev/null; then
	. "$top/tests/integration/screen.sh"
	forget
	say code "$(look 'seen = 1
print("seen")')"
	say code "$(program 'total = 42
print("made", total)')"
	say code "$(look 'print("again")')"
	say code "$(program 'print("then", total, "seen" in globals())')"
	say code "$(program 'print("after", total)')"
	open $quick
	line 'make it'
	see '^made 42$'
	line 'and then?'
	sees '^then 42 False$' 'the next program finds what the program left, and nothing of the look before it'
	line 'after that?'
	sees '^after 42$' 'so does one after a look of its own'
	keys C-d
	left 0 'left'
else
	skip 'a conversation' 'no tmux here'
fi

# --- in the usual form ---

forget
export ASSAY_CAREFUL=false
say code '```json plan
{"needs_code":true,"approach":"count","checks":[]}
```

```python
print("planned")
```' '{"match":"look 1[^}]*two lines"}'
say code "$(look 'print("two lines")')"
ask --no-judge --require ran --lang python 'plan after a look'
is "$(shape '.status, .answer, .attempts')" '["success","planned\n",1]' 'plan and program come after the look'

done_testing
