# A conversation in a real terminal, for tests that type and read. Sourced after lib.sh and model.sh.
#   open [OPTION...]; line TEXT; keys KEY...; sees REGEX NAME; lacks REGEX NAME; left CODE NAME
# columns and rows are those of the next terminal; term is its TERM, where that is to be another; model the options
# that name the model.
command -v tmux >/dev/null || skip_all 'no tmux here'
command -v jq >/dev/null || skip_all 'no jq here'

# Each has a server of its own: one that is ending may still take a session.
. "$top/tests/integration/tmux.sh"

columns=100
rows=50
term=
model='--script s.jsonl'

# A session in a terminal: open [OPTION...]
# shellcheck disable=SC2086 # options, meant to be split
# Ctrl-C reaches the shell around it, too, which must live to tell the exit code.
open() {
	sessions=$((sessions + 1)) # each has a file for its code: one that was killed may still write
	tm new-session -d -s assay -x "$columns" -y "$rows" \
		"${term:+TERM=$term; export TERM; }trap : INT; $(quote "$ASSAY" $model "$@"); echo \$? >code-$sessions.txt; sleep 60"
	see '^assay>' && return
	diag "$(screen)"
	echo 'Bail out! no prompt'
	exit 1
}
close() {
	tm kill-server
}
shows() {
	screen | grep -qE -- "$1"
}
# What is drawn while something runs is erased again: once seen is seen.
seen_or_left() { # once it has left, nothing more will come
	left_before=
	! has_left || left_before=1
	shows "$1" && seen=0
	[ "$seen" -eq 0 ] || [ "$left_before" ]
}
see() { # regex
	seen=1
	until_true seen_or_left "$1"
	return "$seen"
}
sees() { # regex name
	if see "$1"; then
		ok 0 "$2"
	else
		ok 1 "$2"
		diag "lacks: $1"
		diag "$(screen | grep -v '^$' | tail -n 25)"
	fi
}
lacks() { # regex name
	unlike "$(screen)" "$1" "$2"
}
clear() { # what was shown so far
	until_true at_prompt_or_left
	! has_left || return
	tm send-keys C-l
	until_true eval '[ "$(tm capture-pane -p | grep -c .)" -le 1 ]'
	tm clear-history
}
at_prompt_or_left() {
	at_prompt || has_left
}
at_prompt() {
	[ "$(tm capture-pane -p | grep . | tail -n 1)" = 'assay>' ]
}
keys() {
	tm send-keys "$@"
}
line() { # text, and Enter
	tm send-keys -l -- "$1"
	tm send-keys Enter
}
# From here on a line waits for a prompt, since what is typed ahead is somebody else's test; close leaves at one.
one_by_one() {
	line() {
		until_true at_prompt
		keys -l -- "$1"
		keys Enter
	}
	close() {
		line '/quit'
		tm kill-server
	}
}
has_left() {
	[ -s "code-$sessions.txt" ]
}
told_or_left() { # how to leave, once more
	has_left || [ "$(screen | grep -c 'Ctrl-C again')" -gt "$told" ]
}
ctrl_c_leaves() { # when the one before was less than two seconds ago
	told=$(screen | grep -c 'Ctrl-C again')
	keys C-c
	until_true told_or_left
	has_left
}
left() { # want name: the exit code
	until_true has_left
	is "$(cat "code-$sessions.txt" 2>/dev/null)" "$1" "$2"
	close
}
newest() { # jq expression on the newest run
	"$ASSAY" log export last | jq -c "$1"
}
