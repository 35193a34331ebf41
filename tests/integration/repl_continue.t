#!/bin/sh
# A conversation that is taken up again, what is sent of it, and how its runs are listed.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
columns=80
rows=24
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

# --- at the terminal ---

forget
say code "$(program 'print("nothing before")')"
run --continue
is "$code" 2 'without a terminal there is no conversation to go on with'
run ask -c --script s.jsonl $quick 'and now?'
is "$code" 2 'nor with an empty log'
like "$err" 'no conversation to go on with' 'which is said'
forget
say code "$(program 'open("/out/kept.txt", "w").write("kept")
held = 40
print("forty", 2)')"
echo own >own.txt
open $quick -f own.txt
line 'first of all'
see '^forty 2$'
keys C-d
left 0 'a conversation that ends'
session=$(newest .session)
first=$(newest .run | tr -d '"')
forget
say code "$(program 'held += 2
print(open("kept.txt").read(), open("/in/own.txt").read().strip(), held)')" \
	'{"match":"first of all[^}]*forty 2"}'
say code "$(program 'print("held again", held)')"
open $quick --continue
sees '^before: first of all' '--continue says what was asked before'
line '/code'
sees '^held = 40$' 'its last program is there before a new question'
clear
line '/show output'
sees '^forty 2$' 'and what that printed'
clear
line '/run'
sees '^run [0-9A-Z]{26}$' 'which can be run again'
sees '^│ forty 2$' 'with the same output'
clear
line '/undo'
sees '^forgotten.*The person ran' 'and that taken back'
clear
line 'what is kept?'
sees '^kept own 42$' 'the model is told of it, its files are there, and what was in memory'
is "$(newest .session)" "$session" 'in the same session'
line '/undo'
sees 'forgotten' 'and a turn can be taken back'
line 'and then?'
sees '^held again 40$' 'with what it left'
keys C-d
left 0 'left'

# --- taken back turn by turn ---

forget
for n in 1 2 3; do
	say code "$(program "step = $n
print('step', step)")"
done
open $quick
for n in 1 2 3; do
	line "step $n"
	see "^step $n\$"
done
keys C-d
left 0 'three turns'
forget
say code "$(program 'print("at step", step)')"
open $quick --continue
line '/undo'
see 'forgotten'
clear
line '/undo'
see 'forgotten'
clear
line 'where?'
sees '^at step 1$' 'two turns of the log are taken back, and only those'
keys C-d
left 0 'left'

# --- what was run again, or edited ---

forget
for n in 1 2 3; do
	say code "$(program "step_$n = $n
print('step', step_$n)")"
done
EDITOR="sed -i s/2/22/g"
export EDITOR
open $quick
line 'first step'
see '^step 1$'
until_true at_prompt
line '/run'
see '^run [0-9A-Z]{26}$'
until_true at_prompt
line 'second step'
see '^step 2$'
until_true at_prompt
clear
line '/edit'
see '^run [0-9A-Z]{26}$'
until_true at_prompt
line 'third step'
see '^step 3$'
until_true at_prompt
keys C-d
left 0 'steps, one of them run again, one edited'
there() { # what /context has
	until_true at_prompt
	clear
	line '/context'
	see '^step_1|^no program'
	until_true at_prompt
	screen | grep -oE '^step_[0-9]+: int [0-9]+|^no program' | tr '\n' ' '
}
open $quick --continue
is "$(there)" 'step_1: int 1 step_22: int 22 step_3: int 3 ' 'are there again'
line '/undo'
see 'forgotten.*"third step"'
is "$(there)" 'step_1: int 1 step_22: int 22 ' 'and taken back one by one'
line '/undo'
sees 'left is not in the log' 'of what was edited it is said that the one before is not known'
is "$(there)" 'step_1: int 1 ' 'and it is gone, too'
line '/undo'
see 'forgotten.*"second step"'
is "$(there)" 'step_1: int 1 ' 'a question whose program was edited has nothing more'
line '/undo'
see 'forgotten.*"\(The person ran'
is "$(there)" 'step_1: int 1 ' 'one that was run again is still what its question left'
line '/undo'
see 'forgotten.*"first step"'
is "$(there)" 'no program ' 'up to the first'
keys C-d
left 0 'left'
unset EDITOR

# --- from a run on ---

forget
say code "$(program 'print("from there", held)')" '{"match":"first of all[^}]*forty 2"}'
run ask --continue-from "$first" --script s.jsonl $quick 'go on from there'
is "$code $out" '0 from there 40' '--continue-from goes on from a run that is not the last, with what its program left'
is "$(newest .session)" "$session" 'as one of its conversation'
forget
say code "$(program 'held += 1
print("there again", held)')"
open $quick --continue-from "$first"
sees '^before: first of all' 'at the terminal, too'
line 'again'
sees '^there again 41$' 'where what the run left is there as it was'
keys C-d
left 0 'left'
run ask -c --continue-from "$first" --script s.jsonl $quick 'x'
is "$code" 2 'either the last or one that is named'
like "$err" 'exclude each other' 'is said'
run ask --continue-from nosuchrun --script s.jsonl $quick 'x'
is "$code" 2 'a run that is not there'
echo 'print(1)' >one.py
run exec one.py
run ask --continue-from last --script s.jsonl $quick 'x'
is "$code" 2 'a run that was no question'
like "$err" 'is no question of a conversation that was answered' 'is named'

# --- and then saved ---

forget
for n in 1 2; do
	say code "$(program "held_$n = $n
print('held', held_$n)")"
done
open $quick
line 'hold one'
see '^held 1$'
line 'hold two'
see '^held 2$'
line '/undo'
sees '^forgotten, .*: "hold two"$' '/undo names what it takes back'
line '/save one.ipynb'
sees 'run from nothing it gives the same' '/save is then about the turn that is left'
like "$(jq -r '.cells[1].source' one.ipynb)" '^held_1 = 1' 'whose program it writes, as a notebook'
line '/undo'
sees '^forgotten, .*: "hold one"$' 'and the first'
keys C-d
left 0 'left'
forget
say code "$(program 'print("alone")')"
say code "$(program 'raise ValueError("again")')" '{"match":"^(?![^}]*\\nAnswer: )[^}]*\\nalone\\n"}'
say repair "$(program 'print("together")')" '{"match":"The program .attempt 1.:"}'
open $quick --fresh
line 'alone'
see '^alone$'
line '/save alone.md'
sees 'run from nothing it gives the same' 'a program that starts from nothing is proven, too'
like "$(cat alone.md)" '^print\("alone"\)$' 'and written as a document'
clear
line '/save alone.py'
sees 'the program is in alone.py' 'or as what it is'
sees 'run from nothing it gives the same' 'proven'
lacks 'it is a program in' 'in its language'
line '/save alone.js'
sees 'it is a program in Python, whose files end in .py' 'a name that tells another is noticed'
line 'again'
sees '^together$' 'an output is told once, and the repairer which attempt it sees'
keys C-d
left 0 'left'

# --- with ask ---

forget
say code "$(program 'print("thrice", 3)')" '{"match":"by itself[^}]*alone 1[^}]*once more[^}]*together 2"}'
say code "$(program 'print("together", 1 + one)')" '{"match":"by itself[^}]*alone 1"}'
say code "$(program 'one = 1
print("alone", one)')"
run ask --script s.jsonl $quick 'by itself'
is "$out" 'alone 1' 'a question alone'
run ask -c --script s.jsonl $quick 'once more'
is "$out" 'together 2' 'ask -c goes on from it'
unlike "$err" 'its record gives' 'with no more than is set'
run ask -c --script s.jsonl $quick --memory 100M --pids 20 'and again'
is "$out" 'thrice 3' 'and from that'
like "$err" '^its record gives what is continued more than is set here: memory 512\.0 MiB, processes 64 ' \
	'with what the record gives it more, which is said'
is "$("$ASSAY" log list --limit 2 --json | jq -c 'map(.session) | unique | length')" 1 'in one session'
run replay last
is "$code" 0 'and replays'

# --- what never was ---

once="$quick --max-attempts 1"
forget
say code "$(program 'rows = [1]
1 / 0')"
run ask --script s.jsonl $once 'that fails'
run log save last -o failed.py
is "$code" 2 'a program that failed is not saved'
like "$err" 'left nothing' 'since it left nothing'
forget
say code "$(program 'print("rows" in globals())')" '{"match":"that fails[^}]*1 / 0"}'
run ask -c --script s.jsonl $once 'and after it'
is "$out" False 'ask -c starts from nothing, and the model is told of it'
unlike "$err" 'anew' 'nor is anything of it made again'
forget
say code "$(program 'rows = [2]
print(rows)')"
run ask -c --script s.jsonl $once 'that is right'
forget
say code "$(program 'rows.append(3)
print(rows)')"
run ask -c --script s.jsonl $once --expect five 'that misses its checks'
is "$code" 1 'one whose checks failed'
run log save last -o failed.py
is "$code" 2 'is not saved either'
forget
say code "$(program 'print(rows)')" '{"match":"that misses its checks[^}]*rows.append"}'
run ask -c --script s.jsonl $once 'what is there?'
is "$out" '[2]' 'and ask -c goes on from what was before it'

# --- a large input that is gone ---

head -c 3000000 /dev/zero | tr '\0' x >large.txt
forget
say code "$(program 'import os
size = os.path.getsize("/in/large.txt")
print(size)')"
run ask --script s.jsonl $once -f large.txt -f own.txt 'how large?'
is "$out" 3000000 'a large file'
echo more >>large.txt
forget
say code "$(program 'print("size" in globals())')"
run ask -c --script s.jsonl $once 'is it another?'
is "$out" False 'what was made from another one is no more'
like "$err" 'begun anew: /in/large.txt, which it was made from, has changed' 'which is said'
mv large.txt gone.txt
run log save last -o large.py
is "$code" 2 'a program cannot be tried without it'
like "$err" '/in/large.txt is gone' 'which is said'
forget
say code "$(program 'import os
print(os.listdir("/in"), "size" in globals())')"
run ask -c --script s.jsonl $once 'and now?'
is "$code $out" "0 ['own.txt'] False" 'ask -c gives the others, and begins anew'
like "$err" '/in/large.txt is gone and not given any more' 'and says so'

# --- what a turn's own program was ---

checked="--lang python --role-model plan=off --role-model judge=off --role-model answer=off --max-attempts 1"
forget
say code "$(program 'crossed = sum(range(10))
print(crossed)')"
say cross_check "$(program 'print(9 * 10 // 2)')"
run ask --script s.jsonl $checked --cross-check 'the sum of 0 to 9?'
is "$code $out" '0 45' 'a program that another one agrees with'
forget
say code "$(program 'def twice(n):
    return 2 * n
print(twice(21), crossed)')" '{"match":"the sum of 0 to 9[^}]*crossed = sum"}'
say tests "$(program 'assert twice(4) == 8
assert twice(3) == 6')"
run ask -c --script s.jsonl $checked --tests 'twice 21?'
is "$code $out" '0 42 45' 'is the one that ask -c tells of and goes on from'
forget
say code "$(program 'print(twice(2))')" '{"match":"twice 21.[^}]*return 2 . n[^}]*42 45"}'
run ask -c --script s.jsonl $once 'and 2?'
is "$code $out" '0 4' 'as it is before its tests'

# --- what is sent ---

forget
for n in 1 2 3 4 5 6 7 8; do
	say code "$(program "print('answer', $n)")" '{"usage":{"input_tokens":'"$((n > 6 ? 100000 : 0))"',"output_tokens":1}}'
done
open $quick
line '/context'
sees '^ +0  0 turns will be sent' '/context of nothing'
for n in 1 2 3 4 5 6; do
	line "question $n"
	see "^answer $n$"
done
clear
line '/context'
sees '^ +[0-9]+  turn 1: question 1$' 'each turn that is sent, with its tokens'
sees '^ +[0-9]+  what is in memory' 'and what is in memory'
sees '^ +[0-9]+  6 turns and this will be sent with the next question, and then the$' 'and all'
estimated=$(screen | sed -n 's/^ *\([0-9]*\)  turn 1: .*/\1/p')
sees '^ +[0-9]+  what the model is to do$' 'and what is sent beside them'
lacks 'no longer sent' 'nothing was dropped so far'
clear
line 'question 7'
sees '^no longer sent to the model, which is told 6 turns: "question 1"$' 'a turn that is dropped is named'
clear
line '/context'
sees '^tokens by length, of 0\.[0-9] bytes each as the model.s server counted' 'where tokens were counted, by that'
counted=$(screen | sed -n 's/^ *\([0-9]*\)  turn 1: .*/\1/p')
ok "$((counted > 10 * estimated ? 0 : 1))" 'each turn'
run ask --script s.jsonl $quick -c 'question 8'
like "$err" '^no longer sent to the model, which is told 6 turns: "question 1"$' 'ask -c names it, too'
clear
line '/runs'
sees '^[0-9A-Z]{8}  [0-9-]+ [0-9:]+  ran +question 7$' '/runs at 80 columns shows the question'
tm resize-window -t assay -x 40 -y 20
until_true eval '[ "$(stty size <"$(tm display-message -p "#{pane_tty}")")" = "20 40" ]'
clear
line '/runs'
sees '^[0-9A-Z]{8}  ran +question 7$' 'at 40, too'
keys C-d
left 0 'left'

done_testing
