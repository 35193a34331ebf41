#!/bin/sh
# What a conversation tells while it goes on, in a narrow terminal: words that stay whole, the memory of a
# program that runs; and that what was seen in an input is not looked for again.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
columns=40
rows=40
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

rows_of() {
	tm capture-pane -p -S -2000
}
wrapped() { # how many rows the terminal made of lines that did not fit
	echo $(($(rows_of | wc -l) - $(screen | wc -l)))
}

# --- words ---

forget
say code "$(program 'print("one")
why = "the file has no column of "
why += "that name, only others that "
raise ValueError(why + "are similar")')"
say repair "$(program 'from threading import Thread
from time import sleep
t = Thread(target=sleep, args=[600])
t.daemon = True
t.start()
print("counted", 3)')"
open $quick
is "$(wrapped)" 0 'the greeting is broken between words'
line 'count the rows'
sees '^counted 3$' 'a repair'
until_true at_prompt
like "$(rows_of)" '^  that name, only others that are$' 'the error is told in whole words'
like "$(rows_of)" '^left running or open, and made again$' 'and a note'
like "$(rows_of)" '^  with the state: thread Thread-' 'with what goes on set in'
is "$(wrapped)" 0 'no line ends within a word'
clear
line '/help'
sees '^  /quit ' '/help'
is "$(wrapped)" 0 'nor one of /help'
clear
line '/undo'
sees '^  \(the log keeps it\): "count t…"$' '/undo'
line '/nonsense'
sees '^  /help lists them, and a blank first$' 'nor an error'
close

# --- a question that came to no program ---

forget
say code "$(program 'print("the program")')"
say code "$(program 'print("too late")')" '{"delay_ms": 600000}'
open $quick
line 'first'
see '^the program$'
until_true at_prompt
line 'second'
see '^writing the program'
keys C-c
until_true at_prompt
clear
line '/code'
sees '^  program; /undo goes back to the one' 'what to do to have the program before it'
lacks 'yet' 'which there is'
until_true at_prompt
line '/undo'
see 'forgotten'
until_true at_prompt
line '/code'
sees '^print\("the program"\)$' 'after /undo'
close

# --- memory ---

columns=80
forget
say code "$(program 'import time
held = bytearray(40 << 20)
time.sleep(600)')"
say code "$(program 'import time
print("line", flush=True)
held = bytearray(40 << 20)
time.sleep(600)')"
open $quick --timeout 600 --max-exec-seconds 900
line 'hold it'
sees '^running \.\.\. [4-9][0-9] MiB, [0-9]+ s$' 'the memory of a program that runs is shown, and for how long'
keys C-c
until_true at_prompt
clear
line 'hold it and print'
sees '^running \.\.\. 5 bytes, [4-9][0-9] MiB, [0-9]+ s$' 'with what it printed'
keys C-c
until_true at_prompt
close

# --- what was seen ---

looked() { # of the newest run: how many inputs took time to be looked into
	newest '[.events[] | select(.stage == "inspect" and .phase == "done") | .data.metrics.wall_ms > 0]'
}
table() { # rows
	awk -v n="$1" 'BEGIN { print "id,amount"; for (i = 0; i < n; i++) print i "," i * 7 % 100 }'
}
table 2000 >small.csv
table 200000 >large.csv
touch -d '2020-01-02' large.csv
forget
for n in 1 2 3 4; do
	say code "$(program "print('answer', $n)")"
done
open $quick -f small.csv -f large.csv
line 'first'
see '^answer 1$'
is "$(looked)" '[true,true]' 'inputs are looked into'
line 'second'
see '^answer 2$'
is "$(looked)" '[false,false]' 'once, while they are the same'
is "$(newest '[.events[] | select(.stage == "inspect" and .phase == "done") | .data.text | test("amount")]')" '[true,true]' \
	'and the model is told the same'
table 3000 >small.csv
touch -d '2020-01-03' large.csv
line 'third'
see '^answer 3$'
is "$(looked)" '[true,true]' 'what changed is looked into again'
line 'fourth'
see '^answer 4$'
is "$(looked)" '[false,false]' 'once'
until_true at_prompt
run replay last
is "$code" 0 'a turn of which nothing was looked into replays'
close

done_testing
