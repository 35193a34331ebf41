#!/bin/sh
# What a batch shows: live lines and a table on a terminal, plain lines elsewhere, events as they
# happen, CSV, and a summary that groups what went wrong.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true

forget
say code "$(program 'print(int(input()) ** 2)')" '{"usage":{"input_tokens":900,"output_tokens":100}}'
seq 5 | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python", stdin: tostring, reviewer: {name: "Ann"},
	expect: (if . > 3 then "no" else . * . end)}' >t.jsonl

# --- elsewhere ---

run batch t.jsonl --script s.jsonl --json --out r.jsonl --csv r.csv --events e.jsonl --max-attempts 1 -j 2
is "$code $(jq -c 'select(.id == "t1") | .task' r.jsonl)" '9 {"reviewer":{"name":"Ann"}}' "a task's own members are in its result"
is "$(jq -c '.errors | map([.count, .id != null])' out.txt)" '[[2,true]]' 'errors that differ in numbers alone are one kind'
is "$(jq -c '[.slowest | length, (map(.duration_ms) == (map(.duration_ms) | sort | reverse))]' out.txt)" '[5,true]' \
	'the slowest come first'
is "$(jq -r .event e.jsonl | sort | uniq -c | xargs)" '1 begin 1 end 5 result 15 stage 5 start' 'events'
is "$(jq -sc '[(.[0] | .total, .jobs), (map(select(.event == "result"))[-1] | .done, .total), (.[-1].summary.failed)]' e.jsonl)" \
	'[5,2,5,5,2]' 'say how far the batch is'
is "$(jq -r 'select(.id == "t2") | .event + (.stage // "")' e.jsonl | xargs)" 'start stagecode stageexecute stageverify result' \
	'and what a task does'
is "$(python3 -c '
import csv
rows = sorted(csv.DictReader(open("r.csv", newline="")), key=lambda r: r["id"])
print(len(rows), rows[0]["status"], repr(rows[0]["answer"]), rows[0]["input_tokens"], rows[4]["status"], rows[4]["error"] != "")')" \
	"5 success '1\\n' 900 failed True" 'CSV'
run batch t.jsonl --script s.jsonl --json --out r.jsonl --csv r.csv --resume --max-attempts 1 --only t1
is "$code $(wc -l <r.csv)" '9 9' 'CSV has the results from before, too'
run batch t.jsonl --script s.jsonl --json --events - --limit 1 --csv none/r.csv
is "$code" 2 'CSV without a place is told before anything runs'
run batch t.jsonl --script s.jsonl --json --events - --limit 1
is "$code $(jq -r .event out.txt | xargs)" '0 begin start stage stage stage result end' '--events -: standard output has them alone'
run batch t.jsonl --script s.jsonl --events - --limit 1
is "$code" 2 '--events - and results on standard output exclude each other'
run batch t.jsonl --script s.jsonl --max-attempts 1
is "$code $(jq -r .id out.txt | sort | xargs)" '9 t1 t2 t3 t4 t5' 'through a pipe: a line a task'
like "$err" '^success    t1  expected, 1 program, [0-9.]+ s$' 'plain lines'
like "$err" '^3 of 5 succeeded in [0-9.]+ s, 5000 tokens$' 'and what it came to'
like "$err" '^ *2  .*no.* \(t[45], \.\.\.\)$' 'with the kinds of errors'
unlike "$err" "$(printf '\033')" 'without an escape sequence'

# --- on a terminal ---

if ! command -v tmux >/dev/null; then
	skip 'on a terminal' 'no tmux here'
	done_testing
fi
. "$top/tests/integration/tmux.sh"
shows() { # regex
	tm capture-pane -p | grep -qE -- "$1"
}
tm new-session -d -x 100 -y 30 "exec env PS1='> ' sh"
is_blank() { # but for the prompt: what was shown before must not be taken for what comes
	[ "$(tm capture-pane -p | tr -d ' \n')" = '>' ]
}
resize() { # columns: tmux tells the terminal some time after
	tm resize-window -x "$1"
	in_terminal "until stty size | grep ' $1\$'; do sleep 0.05; done"
	until_true shows "^[0-9]+ $1\$"
}
in_terminal() { # command line
	tm send-keys -l clear
	tm send-keys Enter
	until_true is_blank
	tm send-keys -l -- "$1"
	tm send-keys Enter
}
# A program that waits for a file, so that there is time to look.
forget
say code "$(program 'print(int(input()) ** 2)')" '{"match":"Square"}'
say code "$(program 'print(1)')" '{"match":"slow","delay_ms":600000}'
{
	head -n 3 t.jsonl
	printf '{"id":"slow one","prompt":"slow","lang":"python"}\n'
} >slow.jsonl
in_terminal "'$ASSAY' batch slow.jsonl --script s.jsonl --out l.jsonl -j 2"
until_true shows '^\[#{15}-{5}\] 3/4 .*3 passed, 0 failed'
is $? 0 'live: a bar, how far it is, what passed and failed'
until_true shows '^ *[12]  slow one  code  [0-9]+ s'
is $? 0 'live: what a worker does'
is "$(tm capture-pane -p | grep -c '^\[#')" 1 'live: the lines are replaced in place'
like "$(tm capture-pane -p)" 'ETA [0-9]+:[0-9][0-9]' 'live: how long it will take'
like "$(tm capture-pane -p)" '^success    t1  expected' 'live: the results stay above'
tm send-keys C-c
until_true shows '3 of 4 succeeded'
is "$? $(tm capture-pane -p | grep -c '^\[#')" '0 0' 'and are gone in the end'
in_terminal "'$ASSAY' batch t.jsonl --script s.jsonl --max-attempts 1"
until_true shows '3 of 5 succeeded'
like "$(tm capture-pane -p)" '^id  status          level' 'without --out: a table'
like "$(tm capture-pane -p)" '^t1  success         expected +[0-9.]+ s  1$' 'with a row a task'
like "$(tm capture-pane -p)" '^t5  failed          ran +[0-9.]+ s  .*a check failed' 'and what failed'
is "$(tm capture-pane -p | grep -c '"id"')" 0 'and no JSON'
jq -c '.id = "a task of a very long name, " + .id' t.jsonl >long.jsonl
resize 40
in_terminal "'$ASSAY' batch long.jsonl --script s.jsonl --max-attempts 1"
until_true shows '3 of 5 succeeded'
is "$(tm capture-pane -p | grep -c '^a task o ')" 5 'a narrow one: the table is cut, not wrapped'
is "$(tm capture-pane -p | grep -A 1 '^id' | tail -n 1 | cut -c 1-8)" 'a task o' 'nor is its head'
jq -c '.id = "a task of a very long name, " + .id' slow.jsonl >slower.jsonl
in_terminal "'$ASSAY' batch slower.jsonl --script s.jsonl --out n.jsonl -j 2"
until_true shows '^3/4  ETA [0-9]+:[0-9][0-9]  3 passed, 0 failed$'
is $? 0 'a narrow one: the live line has what matters most'
until_true shows '^ *[12]  a task of a .*\.\.  code  [0-9]+ s$'
is $? 0 'and a long id gives way to what is done'
tm send-keys C-c
until_true shows '3 of 4 succeeded'
resize 100
in_terminal "TERM=dumb '$ASSAY' batch t.jsonl --script s.jsonl --max-attempts 1 --limit 1 --out d.jsonl"
until_true shows '1 of 1 succeeded'
is "$? $(tm capture-pane -p | grep -c '^\[#') $(tm capture-pane -p | grep -c '^success    t1')" '0 0 1' 'TERM=dumb: plain lines'
done_testing
