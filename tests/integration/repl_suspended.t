#!/bin/sh
# Ctrl-Z in a conversation, at the prompt and in a run, and fg: the shell has its terminal, and the
# conversation has it again.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
command -v bash >/dev/null || skip_all 'no bash here'
columns=80
rows=40

# A program that says when it runs, and goes on when the test ends what it waits for.
waits() { # name, what it prints at last
	program "import subprocess
print('begun $1', flush=True)
subprocess.run(['tail-$$-$1', '-f', '/dev/null'], executable='/usr/bin/tail')
print('$2')"
}
at_shell() {
	[ "$(tm capture-pane -p | grep . | tail -n 1)" = 'shell>' ]
}
# The terminal's modes, as the shell has them.
modes() { # file
	line "stty -a | grep -oE -- '-?(icanon|echo|icrnl)( |;|\$)' >$1; echo told $1"
	sees "^told $1" "the shell reads what is typed ($1)"
}
has_terminal() {
	[ "$(tm display-message -p '#{pane_current_command}')" = assay ] &&
		stty -a -F "$(tm display-message -p '#{pane_tty}')" | grep -q -- '-icanon'
}
goes_on() {
	tm clear-history
	line 'clear; fg'
	until_true has_terminal
}

forget
say code "$(waits one 'first answer')"
say code "$(program 'print("second answer")')"
sessions=1
tm new-session -d -s assay -x "$columns" -y "$rows" "PS1='shell> ' exec bash --norc --noprofile"
until_true at_shell || echo 'Bail out! no shell'
modes before.txt
line "$(quote "$ASSAY" --script s.jsonl --role-model plan=off --role-model judge=off --role-model answer=off \
	--require ran --timeout 600 --max-exec-seconds 900 --profile off)"
see '^assay>'

# --- at the prompt ---

keys -l 'half a'
see '^assay> half a'
keys C-z
until_true at_shell
ok $? 'Ctrl-Z at the prompt goes back to the shell'
modes stopped.txt
is "$(cat stopped.txt)" "$(cat before.txt)" 'whose terminal is as it was'
goes_on
sees '^assay> half a$' 'fg shows the line that was begun'
keys -l ' question'
sees '^assay> half a question$' 'which can be finished'
keys Enter

# --- in a run ---

until_true pgrep -f "tail-$$-one" >/dev/null
ok $? 'and sent'
keys C-z
until_true at_shell
ok $? 'Ctrl-Z in a run, too, goes back to the shell'
modes run.txt
is "$(cat run.txt)" "$(cat before.txt)" 'whose terminal is as it was'
goes_on
pkill -f "tail-$$-one"
keys -l 'typed early'
sees '^first answer$' 'fg goes on with the run'
sees '^assay> typed early$' 'what was typed since waits in the line'
is "$(screen | grep -c 'typed early')" 1 'and was not shown in the run'
keys Enter
# Where no state is kept the first program runs again.
# shellcheck disable=SC2329 # called by until_true
is_answered() {
	pkill -f "tail-$$-one"
	shows '^second answer$'
}
until_true is_answered
sees '^second answer$' 'Enter sends it'
is "$("$ASSAY" log list --json | jq -c 'map(.prompt)')" '["typed early","half a question"]' 'two questions, as they were typed'

# --- in the background ---

keys C-z
until_true at_shell
line 'clear; bg'
# bash tells it with its next prompt.
until_true eval 'keys Enter; shows "Stopped"'
ok $? 'in the background it waits for its terminal'
goes_on
see '^assay> *$'
pkill -STOP -f "$ASSAY --script s.jsonl"
until_true at_shell
goes_on
see '^assay> *$'
tm set-buffer 'one
two'
tm paste-buffer -p
sees '^two$' 'stopped by another signal, too, it takes what is pasted as one text'
is "$("$ASSAY" log list --json | jq length)" 2 'of which no line is sent'
keys C-c
see '^assay> *$'
keys -l '/quit'
sees '^assay> /quit$' 'a conversation sent to the background is there after fg'
keys Enter
until_true at_shell
ok $? 'left'
modes after.txt
is "$(cat after.txt)" "$(cat before.txt)" 'and the terminal is as it was before'
done_testing
