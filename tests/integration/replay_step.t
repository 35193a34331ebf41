#!/bin/sh
# assay replay --step: a person looks at each stage, at a real terminal, and says whether to go on.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
command -v jq >/dev/null || skip_all 'no jq here'

forget
say plan "$(plan)"
say code "$(program 'print(6 * 7)')"
say judge "$(verdict pass 'as asked')"
say answer 'It is 42.'
ask 'Six times seven?'
first=$(field .run)
runs() {
	"$ASSAY" log list --json | jq length
}

# --- where nobody can be asked ---

before=$(runs)
run replay "$first" --step
is "$code" 2 'without a terminal --step is refused'
like "$err" '^assay: --step asks at a terminal after each stage' 'and the error says why'
like "$err" 'assay log show' 'and what to do instead'
run replay "$first" --step --json
is "$code" 2 'so is --json with it'
run replay --all --step
is "$code" 2 'and many runs'
is "$(runs)" "$before" 'nothing was replayed'
command -v tmux >/dev/null || done_testing

# Each session has a server of its own: one that is ending may still take a session.
. "$top/tests/integration/tmux.sh"
open() { # argument of replay...
	rm -f code.txt
	sessions=$((sessions + 1))
	tm new-session -d -s assay -x 120 -y 50 \
		"trap : INT; $(quote "$ASSAY" replay --step "$@"); echo \$? >code.txt; sleep 600"
}
shows_or_left() { # once it has left, nothing more will come
	screen | grep -qE -- "$1" || [ -s code.txt ]
}
sees() { # regex name
	until_true shows_or_left "$1"
	if screen | grep -qE -- "$1"; then
		ok 0 "$2"
	else
		ok 1 "$2"
		diag "lacks: $1"
		diag "$(screen | grep -v '^$' | tail -n 25)"
	fi
}
asks() { # stage name: it is the last that was asked about
	sees "^$1: \[n\]ext, \[c\]ontinue to the end, \[s\]how in full, \[q\]uit:" "$2"
}
answer() {
	tm send-keys -l -- "$1"
	tm send-keys Enter
}
left() { # want name: the exit code
	until_true [ -s code.txt ]
	is "$(cat code.txt 2>/dev/null)" "$1" "$2"
	tm kill-server
}

# --- stage by stage ---

open "$first"
asks 'task, as recorded' 'it stops after the first stage'
answer n
asks 'plan, as recorded' 'n goes on to the next'
answer n
asks 'code, as recorded' 'and the next'
sees '^code attempt 1 ' 'which is shown'
is "$(screen | grep -c '^execute attempt 1')" 0 'what follows has not begun'
answer s
sees '^  max_tokens|^messages:' 's shows all that the record has of it'
until_true eval '[ "$(screen | grep -c "^code, as recorded: ")" = 2 ]'
is "$(screen | grep -c '^code, as recorded: ')" 2 'and asks again'
answer x
until_true eval '[ "$(screen | grep -c "^code, as recorded: ")" = 3 ]'
is "$(screen | grep -c '^code, as recorded: ')" 3 'what it does not know is asked again'
for stage in extract screen execute answer judge verify; do
	answer ''
	asks "$stage, as recorded" "Enter goes on, too: $stage"
done
sees '^  42$' 'the output was shown'
answer n
sees '^identical: [0-9]+ records' 'in the end it is compared as any replay'
left 0 'and its exit code is one'

# --- to the end, and no further ---

open "$first"
asks 'task, as recorded' 'again'
answer c
sees '^identical: ' 'c goes to the end'
is "$(screen | grep -c 'ontinue to the end')" 1 'without asking again'
left 0 'with its exit code'

open "$first"
asks 'task, as recorded' 'once more'
answer n
asks 'plan, as recorded' 'the second stage'
answer q
sees "^stopped after plan: run $first, replayed so far as [0-9A-Z]{26}" 'q ends it there, and says so'
left 130 'as interrupted'
is "$("$ASSAY" log list --json --limit 1 | jq -c '.[0] | [.status, .reason, .replay_of == $r]' --arg r "$first")" \
	'["cancelled","stopped after plan",true]' 'the record has it as cancelled'
run replay --last-diverged
is "$code" 125 'which is no divergence'

# --- one that does not do as recorded ---

forget
say plan "$(plan)"
say code "$(program 'import time
print(time.time_ns())')"
say judge "$(verdict pass)"
ask --role-model answer=off 'What time is it?'
first=$(field .run)
open "$first"
for stage in task plan code extract screen; do
	asks "$stage, as recorded" "$stage"
	answer n
done
asks 'execute, differs' 'a stage that differs is told when it happens'
answer c
sees '^diverged at execute' 'and in the end'
left 8 'with the exit code of a divergence'

done_testing
