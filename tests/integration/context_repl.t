#!/bin/sh
# The conversation keeps what it computed: what a program leaves is there for the next, what fails
# leaves nothing, what earlier programs could have forged counts for nothing, and all can be saved.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
one_by_one
columns=120

prompts() { # of the newest run, all their text
	"$ASSAY" log export last | jq -r '.contents[] | .text // ""'
}
level() {
	"$ASSAY" log export last | jq -r .level
}
states() { # of all programs that ran so far, oldest first
	"$ASSAY" log list --json | jq -r '.[].run' | tac | while read -r id; do
		"$ASSAY" log export "$id" | jq -r '.events[] | select(.stage == "execute" and .phase == "done") | .data.isolation.state'
	done
}
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

run doctor --json
is "$(field '.layers[] | select(.name == "kept states") | [.wall, .required, .ok == (.in_force == "yes")] | tojson')" \
	'[false,false,true]' 'doctor says whether states are kept here'
kept=$(field '.layers[] | select(.name == "kept states") | .in_force')

# --- what is taken back takes no memory ---

forget
say code "$(program 'small = 1; print("small", small)')"
for n in 1 2 3; do
	say code "$(program "big = bytearray(90 << 20); print('big', $n)")"
done
open $quick --memory 160M
line 'small?'
sees '^small 1$' 'a small program'
for n in 1 2 3; do
	line "big $n?"
	sees "^big $n\$" "a large one, time $n"
	line '/undo'
	sees "^forgotten, .*: \"big $n" 'is taken back'
done
if [ "$kept" = yes ]; then
	lacks 'earlier program' 'and nothing was run again for that'
else
	skip 'and nothing was run again for that' 'no state is kept in memory here'
fi
keys C-d
left 0 'left'

# --- a follow-up ---

forget
say code "$(program 'rows = [["a", 3], ["b", 4]]
total = sum(n for _, n in rows)
open("/out/plot.txt", "w").write("* *")
import sys
print("one row was left out", file=sys.stderr)
print("total", total)')"
say code "$(program 'print("twice", 2 * total, open("plot.txt").read())')"
say code "$(program 'rows.append(9)
print(1 / 0)')"
say repair "$(program 'print("rows", len(rows))')"
say code "$(program 'print("other" in globals(), len(rows))')"
say code "$(program 'x=5; echo "bash $x" $(cat plot.txt)' bash)"
open $quick
line 'total?'
sees '^total 7$' 'the first question'
clear
line 'twice?'
sees '^twice 14 \* \*$' 'the second one uses what the first left, in memory and on disk'
like "$(prompts)" 'total: int 7' 'the model is told what is there'
like "$(prompts)" 'rows: list of 2' 'by type and size'
like "$(prompts)" 'file /work/plot.txt \(3 bytes\)' 'and the files'
like "$(prompts)" 'Program:.n```python.nrows = ' 'which language the program before it was in'
[ ! -x /usr/bin/perl ] || like "$(prompts)" 'to /work\); Perl programs run alone, with none of it' 'and which has no such state'
is "$(prompts | grep -cE '<<[0-9a-f]{16}\\nIn Python:\\n')" 1 'as data'
like "$(prompts)" 'Output, which is the answer:.n<<([0-9a-f]{16}).ntotal 7.n\1>>.n' 'what a turn printed is data too, once'
like "$(prompts)" 'Its notes on standard error:.n<<[0-9a-f]{16}.none row was left out.n' 'with what it noted, which the person has read'
unlike "$(prompts)" 'Answer: total' 'and not again as its answer, outside the marks'
clear
line '/context'
sees '^total: int 7$' '/context shows the same'
clear
line 'break it'
sees '^rows 2$' 'a program that fails leaves nothing: its repair starts where it did'
like "$(prompts)" 'The earlier programs:.n<<[0-9a-f]{16}.n.cell 1..nrows = ' 'the repair is told what made the state'
like "$(prompts)" 'The program .attempt 1.:.n```python.nrows.append' 'and which attempt failed'
line '/undo'
sees '^forgotten, .*: "break it"$' '/undo names what it takes back'
line '/save undone.py'
sees 'undone.py: 2 of 2 cells' 'what is saved then is the answer before it'
is "$(tail -n 1 undone.py)" 'print("twice", 2 * total, open("plot.txt").read())' 'and no program that was taken back'
clear
line '/show output'
sees '^twice 14 \* \*$' 'the last output is that of the answer before it, too'
clear
line '/code'
sees '^print\("twice", 2 \* total' 'and the last program'
lacks 'rows' 'not that which was taken back'
clear
tm set-option -s set-clipboard on
line '/copy code'
sees '^copied$' 'which is copied'
is "$(tm show-buffer)" 'print("twice", 2 * total, open("plot.txt").read())' 'to the clipboard'
clear
line '/run'
sees '^(│ )?twice 14 \* \*$' 'and run'
before=$(states)
line '/undo'
sees '^forgotten, .*: "\(The person ran' 'which is a turn like others'
is "$(states)" "$before" '/undo runs nothing'
clear
line 'after undo'
sees '^False 2$' '/undo takes back what the turn left'
if [ "$kept" = yes ]; then
	is "$(states)" "$before
forked" 'the program after it is one more execution, of a copy: nothing is run again'
else
	skip 'the program after it is one more execution, of a copy' 'no state is kept in memory here'
fi
clear
line '/undo'
line '/undo'
line '/undo'
sees '^forgotten, .*: "total[?]"$' 'up to the first'
for command in code run copy edit 'save none.py' 'show output'; do
	clear
	line "/$command"
	sees 'the last answer was taken back; /show has its run' "/$command has nothing then, and says why"
done
run replay last
is "$code" 0 'a turn is replayed with the state it had'
tm send-keys C-l
close

# --- Ctrl-C, /run, /edit, /reset ---

forget
say code "$(program 'n = 1
print("n is", n)')"
say code "$(program 'n += 1
print("now", n)')"
say code "$(program 'import time
n = 100
print("busy", flush=True)
time.sleep(600)')"
say code "$(program 'print("still", n)')"
say code "$(program 'print("gone", "n" in globals())')"
open $quick --timeout 600 --max-exec-seconds 900
line 'one'
sees '^n is 1$' 'one'
line 'two'
sees '^now 2$' 'two'
clear
line '/run'
sees '^│ now 2$' '/run starts where the program did, not after it'
clear
line 'busy'
sees '^(│ )?busy$' 'a program that takes long' # and not the question, whose Enter Ctrl-C would drop
tm send-keys C-c
until_true at_prompt
clear
line 'still there?'
sees '^still 2$' 'Ctrl-C ended it, and not the context'
line '/reset'
clear
line 'gone?'
sees '^gone False$' '/reset begins anew'
close

# --- a program in a language without contexts is alone ---

forget
say code "$(program 'kept = 6
print("kept", kept)')"
say code "$(program 'our $kept; printf "perl %s %s\n", $kept // "alone", 6 * 7;' perl)"
say code "$(program 'print("still", kept)')"
if [ -x /usr/bin/perl ]; then
	open ${quick% --lang python}
	line 'kept?'
	sees '^kept 6$' 'a state'
	line 'and in Perl?'
	sees '^perl alone 42$' 'a program in Perl runs, and has none of it'
	line 'still there?'
	sees '^still 6$' 'nor takes anything of it'
	until_true at_prompt
	run replay last
	is "$code" 0 'which is replayed'
	close
else
	skip 'a program in Perl' 'perl is not installed'
fi

# --- what could be forged does not count, where the program does something else without it ---

checks='[{"kind":"number","arg":4}]'
n=0
for forgery in 'x = 4' 'import builtins
old = print
builtins.print = lambda *a: old("four: 4")' 'class AssertionError(Exception): x = 4
x = AssertionError.x' 'import json
json.dumps = lambda v: "4"
x = json.dumps(x)'; do
	n=$((n + 1))
	forget
	say plan "$(plan)"
	say code "$(program "x = 3
$forgery
open('/out/x', 'w').write('x')
import sys
sys.stdout.write('made\\n')")"
	say plan "$(plan "$checks")"
	say code "$(program 'print("four:", x)')"
	open --role-model judge=off --role-model answer=off --require none --lang python --profile off
	line 'make'
	sees '^made$' "cell: $(echo "$forgery" | tail -n 1)"
	line 'four?'
	sees '^four: 4$' 'and one after it'
	until_true at_prompt
	if [ $n = 1 ]; then
		is "$(level)" checked 'a check on what follows honest cells counts'
	else
		is "$(level)" ran 'a check that it could have decided does not count'
		like "$("$ASSAY" log show last)" 'Not counted: cell 1 has' 'and says what could have'
		like "$("$ASSAY" log show last)" 'run again without cell 1, the program did not do the same' \
			'and that it ran without it'
	fi
	close
done

# --- tests run where earlier programs could not forge them ---

tests() {
	printf '```python tests\n%s\n```\n' "$1"
}
forget
say code "$(program 'import builtins
class AssertionError(Exception): pass
builtins.AssertionError = AssertionError
base = 2
def kept(n):
    return n + base
print("made", kept(1))')"
say tests "$(tests 'assert kept(1) == 3')"
say code "$(program 'def twice(n):
    return n * base + 1
print("twice", twice(3))')"
say tests "$(tests 'assert twice(3) == 6')"
say code "$(program 'def twice(n):
    return n * base
print("again", twice(3))')"
say tests "$(tests 'assert twice(3) == 6')"
open $quick --tests --max-attempts 1 --profile off
line 'make'
sees '^made 3$' 'a cell that replaces what assertions raise'
clear
line 'twice?'
sees 'fail: tests' 'a wrong program after it fails its tests all the same'
is "$("$ASSAY" log export last | jq -r .status)" failed 'and the turn with it'
clear
line 'again?'
sees '^again 6$' 'a right one, which uses what was left,'
until_true at_prompt
is "$(level)" checked 'passes them, and they count'
run log save last -o again.py
like "$err" 'run from nothing it gives the same' 'assay log save takes its program, not that of its tests'
close

# --- the judge sees what went before ---

forget
say plan "$(plan)"
say code "$(program 'secret_rule = 41
print("made", secret_rule)')"
say judge "$(verdict pass)"
say answer 'It is 41.'
say plan "$(plan)"
say code "$(program 'print("then", secret_rule + 1)')"
say judge "$(verdict pass)" '{"match":"Programs before it(.|\n)*secret_rule = 41(.|\n)*The program"}'
say answer 'It is 42.'
say plan "$(plan)"
say code "$(program 'print("last", secret_rule - 1)')"
say judge "$(verdict pass)" '{"match":"Programs before it(.|\n)*.cell 1.(.|\n)*secret_rule = 41(.|\n)*.cell 2.(.|\n)*left out(.|\n)*The program"}'
say answer 'It is 40.'
open --lang python
line 'make'
sees '^It is 41.$' 'a judged turn'
clear
line 'then?'
sees '^It is 42.$' 'the judge is shown the programs before it'
clear
line '/save then.py'
sees '2 of 2 cells' '/save takes the cells it needs'
sees 'run from nothing it gives the same' 'and proves them'
is "$(python3 then.py)" 'made 41
then 42' 'the file stands alone'
clear
line 'last?'
sees '^It is 40.$' 'and the judge those that are needed, when there are others'
until_true at_prompt
is "$(newest '[.events[] | select(.stage == "judge" and .phase == "note") | .data.needed]')" '[[0]]' 'which is recorded'
run replay last
is "$code" 0 'and replays'
clear
line '/save last.py'
sees '2 of 3 cells' '/save leaves out what is not needed'
sees 'run from nothing it gives the same' 'and proves it'
close

# --- what cannot be copied is made again ---

javascript() {
	printf '```javascript\n%s\n```\n' "$1"
}
forget
say code "$(javascript 'const rows = [3, 4]; console.log("made", rows.length)')"
say code "$(javascript 'const seen = rows.map((n) => n * 2); console.log("twice", seen.join())')"
say code "$(javascript 'console.log("sum", rows[0] + rows[1])')"
open ${quick% --lang python} --lang javascript
line 'make'
sees '^made 2$' 'a program in JavaScript'
lacks 'run again' 'after which there is nothing to say'
line 'twice?'
sees '^twice 6,8$' 'one that goes on from it'
sees 'the earlier program was run again, as all of them will be' 'is said to have run it again'
until_true at_prompt
clear
line 'sum?'
sees '^sum 7$' 'one more'
lacks 'run again' 'says it no more'
line '/save sum.js'
sees '2 of 3 cells' '/save leaves out what it does not need'
sees 'run from nothing it gives the same' 'and proves it'
close

# --- --fresh ---

forget
say code "$(program 'a = 1
print("a", a)')"
say code "$(program 'print("a" in globals(), "left")')"
open $quick --fresh
line 'one'
sees '^a 1$' '--fresh'
line 'two'
sees '^False left$' 'each program starts from nothing'
is "$(prompts | grep -c 'In Python:.n')" 0 'and the model is told of none'
close

done_testing
