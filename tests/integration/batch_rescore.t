#!/bin/sh
# Results checked and judged again: by other expectations, by another judge, without a coder.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false

said() { # FILE
	jq -r '"\(.id)\(.repeat // "") \(.status) \(.level)"' "$1" | sort | xargs
}
stages() { # RUN: the model's calls of it
	"$ASSAY" log show "$1" --json | jq -r '.events[] | select(.phase == "done" and .data.model == "script") | .stage' | xargs
}

# What a program prints differs each time: only the record has what it printed then.
forget
say code "$(program 'import time
print(time.time_ns())')" '{"id":"clock"}'
say code "$(program 'print(1 / 0)')" '{"id":"mended"}'
say repair "$(program 'print("mended")')" '{"id":"mended"}'
say code "$(program 'print("wrong")')" '{"id":"wrong"}'
say judge "$(verdict pass)"
for id in clock mended wrong; do
	printf '{"id":"%s","prompt":"Print it.","lang":"python"}\n' "$id"
done >t.jsonl
run batch t.jsonl --script s.jsonl --json --out r.jsonl
is "$code $(said r.jsonl)" '0 clock success judged mended success judged wrong success judged' 'a batch, judged'

# --- another judge ---

forget
say judge "$(verdict fail 'It is wrong.')" '{"match":"wrong"}'
say judge "$(verdict pass)"
run batch --rescore r.jsonl --script s.jsonl --json --out again.jsonl
is "$code $(said again.jsonl)" '9 clock success judged mended success judged wrong failed ran' \
	'--rescore: a judge of another mind, and nobody to ask for a program'
is "$(jq -r 'select(.id == "clock") | .answer' again.jsonl)" "$(jq -r 'select(.id == "clock") | .answer' r.jsonl)" \
	'what was printed then is what is judged'
is "$(stages "$(jq -r 'select(.id == "mended") | .run' again.jsonl)")" judge 'the judge alone was asked'
is "$(jq -r 'select(.id == "mended") | .code' again.jsonl)" 'print("mended")' 'about the last program'
like "$("$ASSAY" log show "$(jq -r 'select(.id == "clock") | .run' again.jsonl)" --json | jq -r '.replay_of')" \
	"^$(jq -r 'select(.id == "clock") | .run' r.jsonl)$" 'the log links the two runs'
run batch --rescore r.jsonl --script s.jsonl --json --out again.jsonl --resume
is "$code $(field .skipped)" '9 3' 'and it can be gone on with'

# --- other expectations ---

answer=$(jq -r 'select(.id == "clock") | .answer' r.jsonl)
{
	jq -cn --arg a "$answer" '{id: "clock", prompt: "Print it.", lang: "python", expect: $a}'
	jq -cn '{id: "mended", prompt: "Print it.", lang: "python", expect: "mended"}'
	jq -cn '{id: "wrong", prompt: "Print it.", lang: "python", expect: "right"}'
	jq -cn '{id: "new", prompt: "Print it.", lang: "python", expect: "right"}'
} >e.jsonl
forget
say judge "$(verdict pass)"
run batch e.jsonl --rescore r.jsonl --script s.jsonl --json --out expected.jsonl
is "$code $(said expected.jsonl)" '9 clock success expected mended success expected wrong failed ran' \
	'a file of tasks says what is expected now'
like "$err" '^1 has no run in the results to rescore' 'a task without a run is told'
sed 's/Print it/Print this/' e.jsonl >other.jsonl
run batch other.jsonl --rescore r.jsonl --script s.jsonl --json --out other.out --only clock
is "$code $(said other.out)" '9 clock failed none' 'a run that was asked something else is not taken for this'
like "$(jq -r .error other.out)" 'was asked something else \(prompt, stdin or files\)' 'and it says so'

# --- a call a role, several runs ---

export ASSAY_CAREFUL=true
forget
say plan "$(plan)"
say code "$(program 'print(1)')" '{"repeat":1}'
say code "$(program 'print(2)')" '{"repeat":2}'
say judge "$(verdict pass)"
jq -cn '{id: "one", prompt: "Print it.", lang: "python"}' >one.jsonl
run batch one.jsonl --script s.jsonl --json --out two.jsonl --repeat 2
forget
say judge "$(verdict pass)"
jq -c '.expect = "2"' one.jsonl >one2.jsonl
run batch one2.jsonl --rescore two.jsonl --script s.jsonl --json --out three.jsonl
is "$code $(said two.jsonl) $(said three.jsonl)" \
	'9 one1 success judged one2 success judged one1 failed ran one2 success expected' 'each run for itself'
is "$(jq -c '.repeats | [.k, .tasks, .["pass@1"].value, .["pass@2"].value]' out.txt)" '[2,1,0.5,1]' 'and what they say together'
export ASSAY_CAREFUL=false

# --- mistakes ---

run batch --rescore r.jsonl --script s.jsonl --out r.jsonl
is "$code $(wc -l <r.jsonl)" '2 3' 'results are not rescored into themselves'
run batch --rescore none.jsonl --script s.jsonl
is "$code" 2 'results that are not there'
run batch
is "$code" 2 'neither tasks nor results'
jq -c '.run = "01ARZ3NDEKTSV4RRFFQ69G5FAV"' r.jsonl | head -n 1 >gone.jsonl
sed '1 { p; s/"id":"[a-z]*"/"id":"other"/; s/01ARZ3NDEKTSV4RRFFQ69G5FAV/01BRZ3NDEKTSV4RRFFQ69G5FBW/ }' gone.jsonl >both.jsonl
run batch --rescore both.jsonl --script s.jsonl --json --out both.out
is "$(jq -c '.errors | map(.count)' out.txt)" '[2]' 'errors that differ in an id are of one kind'
run batch --rescore gone.jsonl --script s.jsonl --json --out gone.out
is "$code $(jq -r .status gone.out)" '9 failed' 'a run that the log does not have'
done_testing
