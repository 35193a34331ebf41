#!/bin/sh
# The conversation, at a real terminal: what a person types, what the screen shows, and what the
# log holds of it.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"

# --- a conversation ---

forget
say plan "$(plan '[{"kind":"range","arg":"40..45"}]')"
say code "$(program 'print("product", 6 * 7)')"
say judge "$(verdict pass)"
say answer 'The product is 42.'
say plan "$(plan)"
say code "$(program 'open("/out/plot.txt", "w").write("* * *")
print("drawn")')"
say judge "$(verdict pass)"
say answer 'It is drawn.'
say plan "$(plan)"
say code "$(program 'print(open("/work/plot.txt").read())')"
say judge "$(verdict pass)"
say answer 'Three stars.'
open
sees '^python [0-9]+\.[0-9]' 'the greeting says what programs find here'
sees '^assay [0-9]+\.[0-9]+' 'it greets with its name and version'
sees '/help' 'and names the way to help'
line 'What is 6 times 7?'
sees '^The product is 42\.$' 'the answer'
sees '^(│ )?product 42$' 'what the program printed'
sees '^judged: a model found no fault · 1 program · ' 'what the answer is worth'
is "$(screen | grep -c '^The product is 42')" 1 'the answer is there once'
lacks '^(planning|running|judging|writing)' 'no live line is left behind'
line 'now plot it'
sees '^It is drawn\.$' 'a second question'
sees 'assay-out/' 'an artifact is saved'
is "$(newest '.kind')" '"repl"' 'its run is logged as of a conversation'
like "$(newest '.contents[] | .text // ""')" 'What is 6 times 7' 'its prompts hold the first question'
like "$(newest '.contents[] | .text // ""')" 'The product is 42' 'and its answer'
is "$("$ASSAY" log list --json | jq -c '[.[].session] | unique | length, .[0] != null')" "1
true" 'both runs are of one session'
line 'and what does it show?'
sees '^Three stars\.$' 'the artifact of the turn before is there for the next'
line '/reset'
sees 'a new conversation' '/reset'
line '/files'
sees 'no files' 'forgets the files'
keys C-d
left 0 'Ctrl-D leaves'

# --- Ctrl-C ---

quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"
forget
say code "$(program "import os
print('begun', flush=True)
os.execv('/usr/bin/sleep', ['asleep-$$', '60'])")"
say code "$(program 'print("after" + "wards")')"
open $quick --timeout 60 --profile off
line 'wait'
sees 'running' 'a live line while the program runs'
until_true pgrep -f "asleep-$$"
keys C-c
sees '^cancelled: ' 'Ctrl-C cancels the run'
sees '^(│ )?begun$' 'what it had printed is kept'
line 'go on'
sees '^afterwards$' 'and the session goes on'
until_true at_prompt
is "$("$ASSAY" log list --json | jq -c 'map(.status)[:2]')" '["success","cancelled"]' 'the log has both'
until_true at_prompt
keys -l 'half a question'
see 'half a question' # the terminal drops at Ctrl-C what was not read
keys C-c
see '\^C$'
until_true at_prompt
keys C-c
sees 'Ctrl-C again' 'Ctrl-C at the prompt says how to leave'
line '/cost'
sees 'tokens (in|unknown)' 'the line it broke off is gone'
lacks 'no such command|half a question./cost' 'and not part of the next'
clear
keys C-c
see 'Ctrl-C again'
until_true ctrl_c_leaves
left 0 'Ctrl-C twice leaves'

# --- lines ---

forget
say code "$(program 'print("one of two")')"
say code "$(program 'print("two of two")')"
open $quick
keys -l 'first line'
keys M-Enter
keys -l 'second line'
keys C-j
keys -l 'third line'
see 'third line'
lacks 'attempt' 'Alt-Enter and Ctrl-J do not send'
keys Enter
sees '^one of two$' 'Enter does'
is "$(newest .prompt)" '"first line\nsecond line\nthird line"' 'all lines are the question'
printf 'pasted one\npasted two\n\tpasted three\n' | tm load-buffer -
tm paste-buffer -p
see 'pasted three'
lacks 'two of two' 'a paste of several lines does not send'
keys Enter
sees '^two of two$' 'Enter sends it'
is "$(newest .prompt)" '"pasted one\npasted two\n\tpasted three\n"' 'line by line as it was pasted'
line '   '
line '/quit'
left 0 '/quit leaves, and a blank line asked nothing'

open $quick
keys C-r
keys -l 'third li'
see 'third line'
keys Enter
sees '^one of two$' 'Ctrl-R finds a question of the session before'
is "$(newest .prompt)" '"first line\nsecond line\nthird line"' 'with all its lines'
is "$(stat -c %a "$XDG_STATE_HOME/assay/history")" 600 'the history is for its owner only'
keys C-d
left 0 'left'

# --- what the guest prints ---

forget
say code "$(program 'import sys
print("\033[31mred\033[0m \033]0;owned\a\033]52;c;aGk=\a \033[2J\033[H cleared \x9b5m \r over")
sys.stderr.write("\033]0;owned\aerr\n")
open("/out/we\033[31mird.txt", "w").write("x")
raise ValueError("bad \033]0;owned\a end")')"
say repair "$(program '# \033]0;owned\a
print("\033[31mred\033]0;owned\a\u202e end")')"
open $quick --max-attempts 2
tm select-pane -T innocent
line 'colours'
sees '^ran: the program ended well; no more is known of what it printed · 2 programs' 'a guest that prints escape sequences'
sees '<1B>\[31mred<1B>\]0;owned<07>' 'they are shown, not obeyed'
sees 'ValueError: bad <1B>\]0;owned<07> end' 'nor in its error'
is "$(tm display-message -p '#{pane_title}')" innocent 'the title of the terminal is its own'
sees '^assay> colours' 'nothing was cleared'
tm capture-pane -p -e -S -2000 | grep -a 'red' | grep -qa "$(printf '\033\[31mred')"
is "$?" 1 'nor coloured'
keys C-d
left 0 'left'

# --- a narrow terminal ---

forget
say code "$(program 'print("x" * 70)
print("done")')"
say code "$(program 'print("wide")')"
open $quick
tm resize-window -t assay -x 24 -y 20
until_true eval '[ "$(stty size <"$(tm display-message -p "#{pane_tty}")")" = "20 24" ]'
line 'narrow'
sees '^done$' 'a terminal of 24 columns'
see '^ran: '
lacks 'running|writing the pro' 'leaves no remains of live lines'
tm resize-window -t assay -x 100 -y 50
line 'wide'
sees '^wide$' 'and may grow'
keys C-d
left 0 'left'

# --- approval ---

cat >editor <<'S'
#!/bin/sh
sed 's/asked/edited/' "$1" >"$1.new" && cat "$1.new" >"$1" && rm "$1.new"
S
chmod +x editor
export EDITOR="$work/editor"
unset VISUAL
forget
for n in 1 2 3 4 5 6; do
	say code "$(program "print('asked', $n)")" "{\"match\":\"question $n\"}"
done
say repair "$(program 'print("politely")')" '{"match":"too rude"}'
open $quick --approve ask
line 'question 1'
sees '\[y\]es, \[n\]o, \[e\]dit, \[v\]iew, \[a\]lways' 'approval is asked for'
lacks '^ran' 'and nothing runs before'
line y
sees '^asked 1$' 'yes runs it'
clear
line 'question 2'
see 'Run it'
line n
sees 'Why not' 'no asks for the reason'
line 'too rude'
until_true eval '[ "$(screen | grep -c "Run it")" -ge 2 ]'
line y
sees '^politely$' 'the model hears the reason and tries again'
lacks '^asked 2$' 'the refused program never ran'
clear
line 'question 3'
see 'Run it'
line n
see 'Why not'
keys Enter
sees '^denied: ' 'no without a reason ends it'
clear
line 'question 4'
see 'Run it'
line v
until_true eval '[ "$(screen | grep -c "Run it")" -ge 2 ]'
is "$(screen | grep -c "^print('asked', 4)")" 2 'view shows the program again'
line e
sees '^edited 4$' 'edit runs what the editor left'
is "$(newest '[.events[] | select(.stage == "approve").data.decision]')" '["edited"]' 'and the log says so'
is "$(newest '[.events[] | select(.stage == "screen" and .phase == "done")] | length')" 2 \
	'what was edited was screened, too'
clear
line 'question 5'
see 'Run it'
line a
see '^asked 5$'
line 'question 6'
sees '^asked 6$' 'always: the next is not asked about'
is "$(screen | grep -c 'Run it')" 1 'indeed'
keys C-d
left 0 'left'

# "Always" is for what was asked about, and what was approved is not asked about again.
forget
say code "$(program 'import builtins
print("machinery", 1)')"
say code "$(program 'import builtins
print("machinery", 2)')"
say code "$(program 'import os
print("parent", 3, len(os.environ))')"
say code "$(program 'import builtins
import os
print("both", 4, len(os.environ))')"
say code "$(program 'import os
print("parent", 3, len(os.environ))')"
say code "$(program 'import os
print("parent", 3, len(os.environ))')"
say code "$(program 'import builtins
print("machinery", 7)')"
open $quick
line 'one'
sees '\[a\]lways in this session for py.import.interpreter' 'what "always" is for is said before'
line a
sees 'nobody is asked about py.import.interpreter' 'and after'
sees '^machinery 1$' 'it runs'
line 'two'
sees '^approved: always in this session: py.import.interpreter' 'the next of that rule: what was approved is said'
sees '^machinery 2$' 'and it is not asked about'
like "$(newest '[.events[] | select(.stage == "approve" and .phase == "done").data | .decision, .reason]')" \
	'"yes","always in this session: py.import.interpreter"' 'the log says why nobody was asked'
clear
line 'three'
sees 'Run it' 'another rule is asked about'
line y
sees '^parent 3' 'yes'
clear
line 'four'
sees 'Run it.*py.os.environ' 'so is a program that has both'
line n
see 'Why not'
keys Enter
see '^denied: '
clear
line 'five'
sees 'approved: this program with these inputs was approved before' 'what was approved once is not asked about again'
sees '^parent 3' 'and runs'
clear
echo 'other data' >other.txt
line '/attach other.txt'
line 'six'
sees 'Run it' 'with other inputs it is'
line y
see '^parent 3'
clear
line '/approve auto'
line 'seven'
sees 'Run it' '/approve forgets what was approved'
line y
see '^machinery 7'
keys C-d
left 0 'left'

# --- every command ---

forget
say code "$(program 'print("first answer")')"
say code "$(program 'print("asked again")')"
echo 'a file' >notes.txt
open $quick
line '/help'
see '/quit'
for name in help model files attach detach code edit run screen approve limits cost retry undo reset \
	runs show replay diff save export tag quit; do
	shows "^ */$name " || missing="${missing-} $name"
done
is "${missing-none}" none '/help lists every command'
clear
line '/code'
sees 'no program yet' '/code before the first question'
line '/retry'
sees 'nothing to retry' '/retry before the first question'
line '/model other-model'
sees 'model other-model' '/model changes the model'
line '/tag mine'
sees 'tagged mine' '/tag'
line '/attach notes.txt'
sees '^/in/notes.txt  7 bytes' '/attach'
line '/attach nothing.txt'
sees '^assay: .*nothing.txt' '/attach of a file that is not there'
line '/files'
until_true eval '[ "$(screen | grep -c "^/in/notes.txt")" = 2 ]'
ok $? '/files'
line '/approve nver'
sees '"nver" is not auto' '/approve with a word it does not know says so'
line '/approve never'
sees 'approve: never' '/approve'
line '/limits'
sees '10 s wall' '/limits'
clear
line 'ask'
sees '^(│ )?first answer$' 'a question between them'
first=$("$ASSAY" log list --tag mine --json | jq -r '.[0].run')
is "$(newest '[.prompt, .model]')" '["ask","other-model"]' 'is logged with its tag and model'
clear
line '/code'
sees '^print\("first answer"\)' '/code'
clear
line '/run'
sees '^ran: exit 0' '/run runs it again'
sees '^(│ )?first answer$' 'and shows what it printed'
is "$(newest '[.kind, .status]')" '["exec","success"]' 'which is logged'
clear
line '/screen'
sees '^allow by the standard profile' '/screen'
line '/save mine.py'
sees 'in mine.py' '/save'
is "$(cat mine.py 2>/dev/null)" 'print("first answer")' 'writes the program'
clear
line "/show $first"
sees '^question' '/show'
clear
line '/runs'
sees '^[0-9A-Z]{8}  [0-9-]+ [0-9:]+  ran +seven$' '/runs: as many of the question as fit'
clear
line "/replay $first"
sees '^identical: ' '/replay'
clear
line '/retry'
sees '^asked again$' '/retry asks the last question again'
clear
line "/diff $first last"
sees 'asked again' '/diff'
clear
line '/undo'
sees 'forgotten' '/undo'
line '/cost'
sees 'tokens unknown: the model does not report them; cost unknown: no price of' \
	'/cost does not say 0 where nothing was reported'
line '/export session.jsonl'
sees '^4 runs of this session in session.jsonl' '/export'
is "$(jq -s -c 'map(.kind)' session.jsonl)" '["repl","exec","replay","repl"]' 'writes its runs, oldest first'
clear
line '/edit'
sees 'the last answer was taken back; /show has its run' '/edit has no program then'
clear
line '/replai last'
sees 'no such command: /replai; did you mean /replay' 'a command that is none, but nearly'
line '/xyzzyx'
sees '/help lists them' 'one that is none'
runs=$("$ASSAY" log list --json | jq length)
clear
line 'help '
sees '^  /quit' 'a word that asks for help is no question'
line 'exit'
left 0 'nor is one to leave by'
is "$("$ASSAY" log list --json | jq length)" "$runs" 'no model was asked for either'

# --- a follow-up, restated in full ---

planned() { # plan members, code
	printf '```json plan\n%s\n```\n\n' "$1"
	program "$2"
}
full='Sales by month of 2024 in the west only'
forget
say code "$(planned '{"question":"Sales of 2024","approach":"sum","checks":[],"needs_code":true}' 'print(100)')"
say judge "$(verdict pass)"
say code "$(planned "{\"question\":\"$full\",\"approach\":\"group\",\"checks\":[],\"needs_code\":true}" '1 / 0')"
say repair "$(program 'print(40)')" "{\"match\":\"In full: $full\"}"
say judge "$(verdict pass)" "{\"match\":\"In full: $full\"}"
ASSAY_CAREFUL=false
open --lang python
line 'Sales of 2024?'
sees '^100$' 'a question'
lacks 'the question in full' 'which is whole as it is'
line 'now by month, only for the west'
sees '^40$' 'a follow-up: its question in full reaches repair and judge'
sees "the question in full: $full" 'and is shown'
is "$(newest '[.status, .level]')" '["success","judged"]' 'so that it can be judged'
line '/quit'
left 0 'left'
forget
say plan '{"question":"Sales of 2024","needs_code":true,"checks":[]}'
say code "$(program 'print(100)')"
say judge "$(verdict pass)"
say answer 'It is 100.'
say plan "{\"question\":\"$full\",\"needs_code\":true,\"checks\":[]}"
say code "$(program 'print(40)')" "{\"match\":\"In full: $full\"}"
say judge "$(verdict pass)" "{\"match\":\"In full: $full\"}"
say answer 'It is 40.' "{\"match\":\"In full: $full\"}"
ASSAY_CAREFUL=true
open --lang python
line 'Sales of 2024?'
sees '^It is 100.$' 'with a planner of its own'
line 'now by month, for the west'
sees '^It is 40.$' 'it reaches the writer of the answer, too'
line '/quit'
left 0 'left'

# --- what the person does to a program, the model hears of ---

forget
say code "$(program 'open("/out/kept.txt", "w").write("asked")
print("asked", 1)')"
say code "$(program 'print(open("/work/kept.txt").read(), "is seen")')" \
	'{"match":"edited the last program[^}]*it ended well[^}]*edited[^}]*edited 1"}'
say code "$(program 'print("with a hint")')" '{"match":"what is in it\\?\n+Hint: use the median"}'
say code "$(program 'print(open("/work/kept.txt").read(), "after run")')" \
	'{"match":"ran the last program again; it ended well"}'
say code "$(program 'print(len(bytearray(700 << 20)))')"
open $quick
line 'write'
see '^asked 1$'
clear
line '/edit'
sees '^(│ )?edited 1$' '/edit runs it'
sees 'assay-out/.*kept.txt' 'and its file is saved'
clear
line 'what is in it?'
sees '^(│ )?edited is seen$' 'and there for the next question; the model is told what was changed and came out'
clear
line '/run'
sees '^(│ )?edited is seen$' '/run'
line '/retry use the median'
sees '^(│ )?with a hint$' '/retry HINT passes the hint'
clear
line '/run'
sees '^(│ )?with a hint$' '/run runs it again'
line 'and now?'
sees '^edited after run$' 'of which the model is told'
clear
line '/limits memory 2G'
sees '2048 MiB memory' '/limits NAME VALUE sets'
line '/limits timeout 20'
sees '20 s wall' 'a number'
line '/limits max_attempts 2'
sees '2 attempts' 'and a budget'
line '/limits memry 2G'
sees 'unknown limit "memry"' 'of what it does not know it says so'
line '/limits memory much'
sees '"memory" must be a number' 'and of what is no size'
line '/limits memory'
sees 'needs a value' 'or nothing'
clear
line 'large'
sees '^734003200$' 'and the next question has it'
line '/quit'
left 0 'left'

# --- files, as people give them ---

forget
for turn in $(seq 12); do
	say code "$(program 'import os
for name in sorted(os.listdir("/in")):
    print("<" + name + ">", open("/in/" + name).read().strip())
print("all '$turn'")')"
done
mkdir -p "two words" "$HOME"
echo spaced >'two words/a file.txt'
echo first >'it.csv'
echo one >glob1.dat
echo two >glob2.dat
echo home >"$HOME/homely.txt"
open $quick
line '/attach it.csv'
see '^/in/it.csv'
echo second >it.csv
line 'read'
sees '^<it.csv> second$' 'a file is read when the question is asked, not when it was attached'
echo third >it.csv
clear
line '/run'
sees '^(│ )?<it.csv> third$' 'and when the program runs again'
mv it.csv away.csv
line 'read'
sees 'it.csv: No such file.*/detach it.csv' 'one that is gone by then is named, with the way out'
line '/detach it.csv'
line '/files'
sees 'no files' '/detach'
line '/detach it.csv'
sees 'no file is called it.csv' 'of what is not there'
clear
line "/attach 'two words/a file.txt' glob?.dat"
sees '^/in/a file.txt' 'quotes'
sees '^/in/glob2.dat' 'wildcards, and several names'
line '/detach *'
see '3 files less'
clear
line '/attach two\ words/a\ file.txt'
sees '^/in/a file.txt' 'a blank after a backslash'
line '/attach ~/homely.txt'
sees '^/in/homely.txt' 'the home folder'
clear
line '/attach two words/a file.txt'
sees '^/in/a file.txt' 'a path with blanks as it is; attached again, it is renewed'
clear
mkdir -p left right
echo 1 >left/same.txt
echo 22 >right/same.txt
line '/attach left/same.txt right/same.txt'
sees '^/in/same.txt  2 bytes' 'two files of one name'
sees '^/in/right/same.txt  3 bytes' 'are kept apart by their folders'
clear
line '/attach right/../right/same.txt'
sees '^/in/right/same.txt  3 bytes' 'and renewed each by itself'
line '/detach same.txt'
line '/detach right/same.txt'
line '/attach nothing*.dat'
sees 'nothing\*.dat: no file fits' 'a wildcard that fits nothing'
line '/detach *'
clear
line "'$work/two words/a file.txt' "
sees '^/in/a file.txt' 'a path that is dropped on the terminal, in quotes'
line '/detach *'
see 'file less'
clear
line "$work/two\\ words/a\\ file.txt"
sees '^/in/a file.txt' 'or with backslashes'
line '/detach *'
see 'file less'
clear
line "file://$work/two%20words/a%20file.txt"
sees '^/in/a file.txt' 'or as an address'
lacks 'no such command' 'is no command'
line '/detach *'
see 'file less'
clear
line 'what is in glob1.dat?'
sees 'glob1.dat is a file here that the code is not given; @glob1.dat' 'a file that is named and not attached: a hint'
sees '^all 2$' 'and the question is asked'
clear
line 'what is in @glob1.dat, mail me@glob2.dat @nobody?'
sees '^<glob1.dat> one$' '@FILE attaches it'
sees '^all 3$' 'that one alone'
lacks '^<glob2.dat>' 'an address of mail is none'
is "$(newest .prompt)" '"what is in glob1.dat, mail me@glob2.dat @nobody?"' 'the model is told its name'
clear
line 'and in glob1.dat?'
see '^all 4$'
lacks 'is a file here' 'what is attached needs no hint'
line "and @'two words/a file.txt'?"
sees '^<a file.txt> spaced$' '@ with quotes'
line '/quit'
left 0 'left'

# --- what a turn wrote goes with it ---

forget
say code "$(program 'open("/out/made.txt", "w").write("made")
open("/out/notes.txt", "w").write("written over")
print("wrote")')"
for turn in 1 2; do
	say code "$(program 'import os
for name in ("made.txt", "notes.txt"):
    print(name, open("/in/" + name).read().strip() if os.path.exists("/in/" + name) else "gone")')"
done
open $quick --fresh
line '/attach notes.txt'
line 'write'
sees '^/in/notes.txt is now what this program wrote' 'a program that writes over an attached file is told of'
line 'look'
sees '^made.txt made$' 'what it wrote is there for the next question'
sees '^notes.txt written over$' 'in place of what was attached'
line '/undo'
line '/undo'
clear
line 'look'
sees '^made.txt gone$' '/undo takes back what the turn wrote'
sees '^notes.txt a file$' 'and brings back what it wrote over'
line '/quit'
left 0 'left'

done_testing
