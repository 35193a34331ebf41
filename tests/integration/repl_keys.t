#!/bin/sh
# The keys of a conversation: what is typed while a run goes on, Tab, Ctrl-C, long pastes.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
columns=80
rows=24
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

# A program that says when it runs, and ends when the test has typed.
waits() { # name, what it prints at last
	program "import os, time
print('begun $1', flush=True)
os.execv('/usr/bin/tail', ['tail-$$-$1', '-f', '/dev/null'])
print('$2')"
}
runs() { # the program of that name does
	until_true pgrep -f "tail-$$-$1" >/dev/null
}

# --- typed too early ---

forget
say code "$(waits one '')"
say code "$(program 'print("second answer")')"
say code "$(program 'print("third answer")')"
open $quick --timeout 60 --profile off
line 'first question'
runs one
line 'typed too early'
keys -l 'and half of'
pkill -f "tail-$$-one"
sees '^assay> typed too early' 'it is shown when its turn comes'
sees '^second answer$' 'and is a question of its own'
sees '^assay> and half of$' 'what was not sent stands in the line'
keys -l ' a question'
keys Enter
sees '^third answer$' 'and can be finished'
is "$(screen | grep -c 'typed too early')" 1 'what is typed during a run is not mixed into its screen'
is "$("$ASSAY" log list --json | jq -c 'map(.prompt)')" '["and half of a question","typed too early","first question"]' \
	'three questions, as they were typed'
keys C-d
left 0 'left'

# --- what is typed before a question answers nothing ---

forget
say code "$(waits ask '')"
say repair "$(program 'import os
print("reached", os.environ)')"
open $quick --timeout 60 --profile off --approve ask
line 'dangerous'
sees 'Run it' 'approval is asked for'
line y
runs ask
line y
pkill -f "tail-$$-ask"
until_true eval '[ "$(screen | grep -c "Run it")" -ge 2 ]'
line n
sees 'Why not' 'a key typed before the question does not answer it'
keys Enter
sees '^denied: ' 'the answer given after it does'
lacks '^reached' 'nothing ran'
until_true shows '^assay> y$'
ok $? 'what was typed before is the next line, in its place'
until_true at_prompt || until_true shows 'the model sent nothing|script'
close

# --- Ctrl-C ---

forget
say code "$(program 'print("asked")')"
open $quick
keys -l 'half a question'
see 'half a question'
keys C-c
sees '^assay> half a question\^C$' 'Ctrl-C leaves what it clears to be read'
until_true at_prompt
ok $? 'and gives a new line'
lacks 'Ctrl-C again' 'it is not the first of two'
keys C-c
sees 'Ctrl-C again' 'on an empty line it is'
line 'whole'
sees '^asked$' 'and what comes after it is a question'
keys C-d
left 0 'left'

# --- a long paste ---

forget
say code "$(program 'print("pasted")')"
say code "$(program 'print("again")')"
open $quick
seq 300 | sed 's/^/row /' | tm load-buffer -
keys -l 'sum of: '
tm paste-buffer -p
sees '^assay> sum of: \[pasted 1: 300 lines\]$' '300 pasted lines are one word'
lacks 'row 299' 'and are not shown'
keys -l ' please'
keys Enter
sees '^pasted$' 'they are sent'
is "$(newest '.prompt | split("\n") | length, .[0], .[-2], .[-1]')" '301
"sum of: row 1"
"row 300"
" please"' 'all of them, in their place'
keys Up
sees '^assay> sum of: \[pasted 1: 300 lines\] please$' 'the history has them folded'
keys Enter
sees '^again$' 'and sends them again'
is "$(newest '.prompt | split("\n") | length')" 301 'whole'
keys C-d
left 0 'left'
is "$(grep -c 'row 299' "$XDG_STATE_HOME/assay/history")" 0 'the file of the history has them not'

# --- Tab ---

forget
say code "$(program 'import os
print(sorted(os.listdir("/in")))')"
mkdir 'a folder'
echo x >'a folder/some data.csv'
echo x >unique.txt
echo x >twin-one.dat
echo x >twin-two.dat
open $quick
line 'first'
sees '^\[\]$' 'a run to complete the id of'
first=$("$ASSAY" log list --json | jq -r '.[0].run[-8:]')
clear
keys -l '/scr'
keys Tab
sees '^assay> /screen *$' 'Tab completes a command'
keys C-u
keys -l '/r'
keys Tab
sees '^/replay +/reset +/retry +/run +/runs' 'or lists those there are'
sees '^assay> /r$' 'with the line below'
keys C-u
keys -l '/attach un'
keys Tab
sees '^assay> /attach unique.txt *$' 'a file'
keys C-u
keys -l '/attach tw'
keys Tab
sees '^assay> /attach twin- *$' 'as far as several have it in common'
keys Tab
sees '^twin-one.dat +twin-two.dat' 'which are listed then'
keys C-u
keys -l '/attach a'
keys Tab
sees '^assay> /attach a\\ folder/ *$' 'a folder with a blank'
keys Tab
sees '^assay> /attach a\\ folder/some\\ data.csv *$' 'and what is in it'
keys C-u
keys -l "what is in @'a f"
keys Tab
sees "^assay> what is in @'a folder/ *$" 'in quotes, and in a question'
keys Tab
sees "^assay> what is in @'a folder/some data.csv' *$" 'to their end'
keys C-u
keys -l "/show $(printf %.6s "$first")"
keys Tab
sees "^assay> /show $first *$" 'a run'
keys C-u
keys -l '/model claude-op'
keys Tab
sees '^assay> /model claude-opus-4-1 *$' 'a model'
keys C-u
keys -l '/approve ne'
keys Tab
sees '^assay> /approve never *$' 'a word that a command takes'
for typed in '/limits me=memory' '/tools of=off' '/copy co=code'; do
	keys C-u
	keys -l "${typed%=*}"
	keys Tab
	sees "^assay> ${typed%% *} ${typed#*=} *\$" "or ${typed%% *}"
done
keys C-u
keys C-d
left 0 'left'

# --- without readline ---

forget
say code "$(waits plain '')"
say code "$(program 'print("plainly")')"
mkdir broken
: >broken/libreadline.so.8
export LD_LIBRARY_PATH="$work/broken"
open $quick --timeout 60 --profile off
unset LD_LIBRARY_PATH
line 'first question'
runs plain
line 'typed too early'
pkill -f "tail-$$-plain"
sees '^assay> typed too early' 'without readline, too, what is typed during a run has its turn'
sees '^plainly$' 'and is a question'
keys C-d
left 0 'left'

done_testing
