#!/bin/sh
# What a conversation shows, at the sizes that people have: a reply and an output as they come, what
# a repair changed, long and wide outputs, terminals that can do little.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

resized() { # columns rows
	size="$2 $1"
	tm resize-window -t assay -x "$1" -y "$2"
	until_true eval '[ "$(stty size <"$(tm display-message -p "#{pane_tty}")")" = "$size" ]'
}
raw() { # what the terminal was sent, from now on
	: >raw.txt
	tm pipe-pane "cat >>$work/raw.txt"
}
escapes() { # regex: lines of it that have such a sequence
	grep -caE -- "$(printf '\033')$1" raw.txt
}

# --- the greeting ---

columns=40 rows=40
forget
open $quick
screen >greeting.txt
is "$(grep -c '^.\{40\}' greeting.txt)" 0 '40 columns: the greeting breaks between words'
sees '^  (in )?the sandbox, every|^  sandbox, every|^  every run' 'and what goes on is set in'
keys C-d
left 0 'left'

# --- as it comes ---

watched() { # columns rows
	columns=$1 rows=$2
	slowly "$1"
	open --fast --require none --timeout 60 --profile off --max-attempts 1
	line 'what is the sum?'
	sees '^approach: add up the rows' "$1 columns: the approach is to be seen before the program is there"
	sees '^total = 0' 'and its first lines'
	sees '^writing the program ... ~[0-9]+ tokens' 'and how much has come'
	[ "$1" -lt 60 ] ||
		sees '^writing the program ... ~[0-9]+ tokens, ~[0-9]+ a second, [0-9]+ s$' 'and how fast'
	lacks 'needs_code|```' 'without the form of the reply'
	[ $# -lt 4 ] || resized "$3" "$4"
	: >go
	sees '^row 39' 'the output of the program is shown while it runs'
	until_true pgrep -f "tail-$$-$1" >/dev/null
	sees '^running \.\.\. [0-9]+ bytes,( [0-9]+ MiB,)? [0-9]+ s' 'with what goes on'
	[ $# -lt 4 ] || resized "$1" "$2"
	pkill -f "tail-$$-$1"
	sees '^failed: ' 'it ends'
	until_true at_prompt
	lacks '^(writing the program|running)' 'and no live line is left behind'
	is "$(screen | grep -c '^approach: add up the rows')" 1 'the approach stays, once'
	is "$(screen | grep -c '^total = 0')" 1 'and the program'
	is "$(screen | grep -c '^│ row')" 12 'a dozen lines of the output stay'
	sees '^\.\.\. 28 more lines; /show output has all' 'the rest is folded'
	is "$(screen | grep -B1 '^assay> *$' | grep -c '^ *$')" 1 'a blank line stands between two turns'
	clear
	line '/show output'
	sees '^row 39$' '/show output shows all of it'
	keys C-d
	left 0 'left'
}
ASSAY_CAREFUL=false
model='--model-command ./slow'
watched 80 24
watched 40 20
watched 200 50
watched 100 30 48 18

ASSAY_CAREFUL=true
model='--script s.jsonl'

# --- a repair ---

forget
say code "$(program 'first = 1
second = 2
third = 3
fourth = 4
fifth = 5
sixth = 6
seventh = 7
eighth = 8
ninth = 9
print(first / 0)
print("the end")')"
say repair "$(program 'first = 1
second = 2
third = 3
fourth = 4
fifth = 5
sixth = 6
seventh = 7
eighth = 8
ninth = 9
print(first / 1)
print("the end")')"
columns=80 rows=24
open $quick
line 'divide'
sees '^the end$' 'a repaired program'
sees '^-print\(first / 0\)$' 'what the repair took away'
sees '^\+print\(first / 1\)$' 'and what it put there'
is "$(screen | grep -c '^second = 2')" 1 'not the whole program again'
sees '^  ZeroDivisionError: division by zero \(line 10\)$' 'the error is one line'
keys C-d
left 0 'left'

# --- long and wide ---

forget
say code "$(program 'for i in range(30):
    print(i, "column " * 20, "end", i)')"
say code "$(program 'for i in range(300):
    print("line", i)')"
open $quick
line 'a wide table'
sees '^29 column .*…$' 'a table that is wider than the terminal is cut to it'
sees "^cut to this terminal's width; /show output has all" 'which is said'
is "$(tm capture-pane -p -S -2000 | grep -c 'column')" 31 'each row is one line'
clear
line '/show output'
until_true eval '[ "$(tm capture-pane -p -S -2000 | grep -c "end 29")" = 1 ]'
ok $? '/show output has it whole'
clear
line 'a long list'
sees '^\.\.\. 200 more lines; /show output has all' 'a very long answer is folded'
sees '^line 99$' 'after a hundred lines'
line '/show output'
sees '^line 299$' 'of which nothing is lost'
keys C-d
left 0 'left'

forget
say code "$(program 'for i in range(3):
    print(f"{i}:00: a sentence that is longer than the terminal is wide, and says at its end what matters: which is {i}.")')"
open $quick
line 'sentences'
until_true eval '[ "$(tm capture-pane -p -J | grep -c "which is [012][.]$")" = 3 ]'
ok $? 'what is no table is not cut'
is "$(screen | grep -c 'cut to this')" 0 'and nothing is said of it'
keys C-d
left 0 'left'

# --- colours, and none ---

forget
say code "$(program 'print("plain")')"
open $quick
raw
line 'with colours'
see '^plain$'
until_true at_prompt
like "$(escapes '\[[1-9][0-9]*m')" '^[1-9]' 'a terminal has colours'
keys C-d
left 0 'left'
forget
say code "$(program 'print("plain")')"
export NO_COLOR=1
open $quick
raw
line 'without'
see '^plain$'
until_true at_prompt
is "$(escapes '\[[1-9][0-9;]*m')" 0 'NO_COLOR: none'
keys C-d
left 0 'left'
unset NO_COLOR
forget
say code "$(program 'print("plain")')"
term=dumb
open $quick
raw
line 'dumb'
sees '^plain$' 'TERM=dumb: the answer'
sees '^writing the program \.\.\.$' 'what goes on is a line like others'
sees '^running \.\.\.$' 'each'
until_true at_prompt
is "$(escapes '')" 0 'and no sequence is sent'
line '/help'
see '/quit'
keys C-d
left 0 'left'

done_testing
