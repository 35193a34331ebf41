#!/bin/sh
# Finding runs again: by status, level, model and cost, and by words, with where they are.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

mkdir -p "$XDG_CONFIG_HOME/assay"
printf 'model = claude-ambient\n[prices]\ngold-* = 1000,2000\nlead = 0.001,0.001\n' >"$XDG_CONFIG_HOME/assay/config.ini"
used='{"usage":{"input_tokens":1000,"output_tokens":100}}'
answered() { # model question code
	forget
	say plan "$(plan)" "$used"
	say code "$(program "$3")" "$used"
	say judge "$(verdict pass)" "$used"
	say answer 'Done.' "$used"
	run ask --script s.jsonl -m "$1" --json "$2"
}
answered gold-1 'How many amphorae?' 'print("zymurgy 3")'
is "$code" 0 'a run of one model'
answered lead 'How many barrels?' 'print("zymurgy 4")'
is "$code" 0 'a run of another'
printf 'print(1)\n' >one.py
run exec one.py
is "$code" 0 'a run of none'

found() { # arguments...: the questions of what is found, newest first
	"$ASSAY" log "$@" --json 2>err.txt | jq -r '[.[].prompt] | join("|")'
}
is "$(found list --model lead)" 'How many barrels?' '--model'
is "$(found list --model 'gold-*')" 'How many amphorae?' '--model takes a pattern'
is "$("$ASSAY" log list --json | jq length)" 3 'the model of the configuration says whom to ask, not what to list'
is "$(found list --level judged)" 'How many barrels?|How many amphorae?' '--level'
is "$(found list --cost-above 0.5)" 'How many amphorae?' '--cost-above'
is "$(found list --cost-above 0)" 'How many barrels?|How many amphorae?' 'and none whose cost is not known'
is "$(found search zymurgy --model lead)" 'How many barrels?' 'and all of that with words'
is "$("$ASSAY" log export --model lead | jq -r .prompt)" 'How many barrels?' 'log export takes them too'
for wrong in '--level good' '--cost-above much' '--cost-above -1' '--status bad'; do
	# shellcheck disable=SC2086
	run log list $wrong
	is "$code" 2 "$wrong is refused"
	like "$err" "${wrong%% *}" 'and named'
done

# A run that was killed in its middle has no end.
printf 'import time\nopen("/work/x","w")\ntime.sleep(600)\n' >long.py
"$ASSAY" exec --timeout 500 long.py >/dev/null 2>&1 &
executes() { # jq -e of nothing is no failure
	[ "$("$ASSAY" log export last 2>/dev/null | jq '.events[-1] | .stage == "execute" and .phase == "started"')" = true ]
}
until_true executes
kill -9 $!
wait $! 2>/dev/null
is "$("$ASSAY" log list --status unfinished --json | jq -c '[.[].status]')" '["unfinished"]' '--status unfinished finds it'

# --- where the words are ---

is "$("$ASSAY" log search zymurgy --model lead --json | jq -r '.[0].snippet | split("\n")[0]')" 'print("zymurgy 4")' 'search says where'
"$ASSAY" log search zymurgy --model lead >out.txt
is "$(sed -n 2p out.txt | grep -c zymurgy)" 1 'below the run'
esc=$(printf '\033')
"$ASSAY" log search zymurgy --model lead --color always >out.txt
like "$(cat out.txt)" "$esc\[33mzymurgy$esc\[0m" 'with colour the hit has one of its own'
answered lead 'Hostile?' 'print("amanita \x1b[2J\u202e\x02 here")'
"$ASSAY" log search amanita here >out.txt
like "$(cat out.txt)" 'amanita <1B>|u202e' 'what a program wrote is made visible'
is "$(LC_ALL=C tr -d '\n\t\040-\176' <out.txt | wc -c)" 0 'all of it'

# --- programs of before the last ---

forget
say plan "$(plan)"
say code "$(program 'wombat = 1 / 0  # of the first')"
say repair "$(program 'quokka = [][1]  # of the second')"
say repair "$(program 'print("numbat")')"
say judge "$(verdict pass)"
say answer 'It is a numbat.'
run ask --script s.jsonl 'Which marsupial?'
is "$code" 0 'a run of three programs'
three=$("$ASSAY" log list --json --limit 1 | jq -r '.[0].run')
for word in wombat quokka numbat; do
	is "$("$ASSAY" log search $word --json | jq -r '.[].run' | xargs)" "$three" "found by the program with $word, once"
	like "$("$ASSAY" log search $word)" "^ .*$word" 'and shown where'
done
run log verify
is "$code" 0 'the index has no run too many'
run log reindex
is "$("$ASSAY" log search quokka --json | jq -r '.[].run' | xargs)" "$three" 'also after the index was made anew'
cp "$XDG_DATA_HOME/assay/log.db" gone.db
run log rm "$three" --db gone.db
is "$("$ASSAY" log search quokka --db gone.db --json | jq length) $("$ASSAY" log verify --db gone.db >/dev/null 2>&1; echo $?)" '0 0' \
	'and no more when the run is removed'
is "$(cat gone.db gone.db-wal 2>/dev/null | grep -ac quokka)" 0 'nothing is left of it'

# --- a run of a batch ---

forget
say code "$(program 'print(42)')" '{"usage":{"input_tokens":1000,"output_tokens":1000}}'
echo '{"id":"task-seven","prompt":"How many of the batch?","expect":{"regex":"42"}}' >tasks.jsonl
run batch tasks.jsonl --script s.jsonl --lang python --model lead --no-judge --out results.jsonl
is "$code" 0 'a batch'
"$ASSAY" log list --limit 1 >out.txt
like "$(cat out.txt)" ' batch .* lead  .*\$0\.[0-9]{4}  task-seven: How many of the batch\?$' \
	'its row has the model, the cost and the task'
"$ASSAY" log list >out.txt
is "$(grep -v 'task-seven' out.txt | grep -c 'task-')" 0 'others have no task'

# --- a terminal of 80 columns ---

if command -v tmux >/dev/null; then
	. "$top/tests/integration/tmux.sh"
	tm new-session -d -x 80 -y 24 "'$ASSAY' log list; exec cat"
	listed() {
		tm capture-pane -p >pane.txt && grep -q 'judged .*How many amphorae?$' pane.txt
	}
	until_true listed
	ok $? '80 columns have room for the question'
	[ -s pane.txt ] || diag 'nothing was shown'
fi
done_testing
