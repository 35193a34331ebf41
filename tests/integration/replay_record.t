#!/bin/sh
# What a replay stands on: the record alone, whatever became of prompts, rules and settings; and
# what it says of runs that ended early, of logs it cannot write, and of what has changed.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

last() { # the run that the last call of assay logged
	"$ASSAY" log list --json --limit 1 | jq -r '.[0].run'
}
replay() {
	run replay --json "$@"
}
answers() { # program
	forget
	say plan "$(plan)"
	say code "$(program "$1")"
	say judge "$(verdict pass 'as asked')"
	say answer 'Done.'
}

# --- prompts and rules are in the record ---

mkdir own
cp "$top"/prompts/*.md own/
echo 'Be brief.' >>own/code.md
printf 'rule own.word\nstandard warn\nmatch \\bprinted\\b\nmessage Not this word.\n' >own.rules
answers 'printed = 6 * 7
print(printed)'
ask --prompts own --rules own.rules 'Six times seven?'
first=$(field .run)
is "$code $(field .status)" '0 success' 'a run with prompts and rules of its own'
is "$("$ASSAY" log export "$first" | jq -r '.contents as $c | .events[] | select(.stage == "task").data |
	($c[.templates.sha256].text | fromjson | .code | test("Be brief"))')" true 'its prompts are in the record'
is "$("$ASSAY" log export "$first" | jq -r '.contents as $c | .events[] | select(.stage == "task").data |
	($c[.rules.sha256].text | fromjson | keys | join(" "))')" 'bash javascript perl python' 'and the built-in rules'
like "$("$ASSAY" log export "$first" | jq -r .config.version)" '^[0-9]' 'and the version'
rm -r own own.rules s.jsonl
for tier in pipeline exec; do
	replay "$first" --tier "$tier"
	is "$code $(shape .same,.first_divergence)" '0 [true,null]' "tier $tier: identical with prompts and rules gone"
done
is "$(jq -r '[.environment_changed[].name] | join(", ")' out.txt)" 'prompt code' 'and what is another one here is named'
run replay "$first"
like "$err" '^  prompt code: [0-9a-f]{12} -> [0-9a-f]{12}; the recorded was used$' 'in words, with both'
mkdir other
printf '=== system\nHm.\n=== user\n{{question}}\n' >other/code.md
ASSAY_PROMPTS=$PWD/other
export ASSAY_PROMPTS
replay "$first"
is "$code $(field .same)" '0 true' 'a setting of today changes nothing'
unset ASSAY_PROMPTS
replay "$first" --prompts other
is "$code $(shape .first_divergence.stage)" '8 ["code"]' 'but --prompts does'
replay "$first" --today
is "$code $(shape .first_divergence.stage)" '8 ["code"]' 'and so does --today'
printf 'rule own.word\nstandard deny\nmatch \\bprinted\\b\nmessage Not this word.\n' >own.rules
replay "$first" --rules own.rules
is "$code $(shape .first_divergence.stage)" '8 ["screen"]' 'and --rules'
printf 'print(3)\n' >three.py
run exec --profile standard three.py
is "$("$ASSAY" log export last | jq -r '.events[0].data.rules.size > 1000')" true 'a program that is screened has its rules, too'
replay last
is "$code $(field .same)" '0 true' 'and is replayed'

# Built-in rules of another version, as a log of that version has them.
forge() { # run, then Python that changes data (of its task) and config
	PYTHONPATH="$here" python3 - "$XDG_DATA_HOME/assay/log.db" "$1" "$2" <<'P'
import json, sys
import forge
run = sys.argv[2]
with forge.Log(sys.argv[1]) as log:
    def blob(text):
        return log.blob(text)
    def text(ref):
        return log.text(ref["sha256"])
    (seq, data), = log.events(run, stage="task")
    config = log.config(run)
    exec(sys.argv[3])
    log.put(run, seq, data)
    log.db.execute("update runs set config = (select no from blobs where sha256 = ?) where id = ?",
                   (blob(json.dumps(config))["sha256"], run))
P
}
if python3 -c 'import sqlite3' 2>/dev/null; then
	answers 'import decimal
print(decimal.Decimal(2))'
	ask 'Two?'
	first=$(field .run)
	forge "$first" '
rules = json.loads(text(data["rules"]))
rules["python"] = "rule py.then\nstandard deny\nmatch \\bdecimal\\b\nmessage Not then.\n"
data["rules"] = blob(json.dumps(rules))
config["rulebook"] = "0" * 64
config["version"] = "0.0.1"'
	replay "$first"
	is "$code $(shape '.first_divergence.stage, (.environment_changed | map(.name))')" '8 ["screen",["rules","assay"]]' \
		'the recorded rules decide, and both are named'
	is "$(jq -r '.environment_changed[] | select(.name == "assay") | .before' out.txt)" 0.0.1 'with the version of then'
	replay "$first" --today
	is "$code $(field .same)" '0 true' 'with --today those of here do'
	# As an earlier version wrote it: nothing of this is in it.
	forge "$first" '
for name in "rules", "templates":
    del data[name]
for name in "rulebook", "version":
    del config[name]'
	replay "$first"
	is "$code $(shape '.same, .environment_changed')" '0 [true,[]]' 'a log of before is replayed with what is here'
else
	skip 'the recorded rules decide' 'no sqlite3 module here'
fi

# --- how it ended is compared ---

if python3 -c 'import sqlite3' 2>/dev/null; then
	ends() { # column value field
		answers 'print(5)'
		ask 'Five?'
		python3 - "$XDG_DATA_HOME/assay/log.db" "$(field .run)" "$1" "$2" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE runs SET %s = %s WHERE id = ?" % tuple(sys.argv[3:5]), (sys.argv[2],))
db.commit()
P
		replay last
		is "$code $(shape '.first_divergence.stage, [.first_divergence.differences[].field]')" "8 [\"end\",[\"$3\"]]" \
			"another $3 is a divergence"
	}
	ends status "'failed'" status
	ends level "'checked'" level
	ends reason "'because'" reason
	ends answer prompt answer
else
	skip 'another status is a divergence' 'no sqlite3 module here'
fi

# --- time ---

answers 'print(7)'
ask --check runtime:9000 'Seven?'
is "$code $(shape .status)" '0 ["success"]' 'a run with a check of its time'
replay last
is "$code $(shape .same,.first_divergence)" '0 [true,null]' 'is identical: its time is that of then'
forget
say plan "$(plan)"
say code "$(program 'while True: pass')"
say repair "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
ask --timeout 0.5 'Loop?'
is "$code $(shape .attempts)" '0 [2]' 'a run whose repairer was told how long its program had run'
replay last
is "$code $(shape .same,.first_divergence)" '0 [true,null]' 'is identical, too'

# --- a run that was cut off ---

answers 'import time
print(1, flush=True)
time.sleep(60)'
"$ASSAY" ask --script s.jsonl --timeout 90 --max-exec-seconds 90 'Wait?' >out.txt 2>err.txt </dev/null &
runs=$!
begun() {
	[ "$("$ASSAY" log export last 2>/dev/null | jq '.prompt == "Wait?" and ([.events[].stage] | contains(["execute"]))')" = true ]
}
until_true begun
kill -9 "$runs"
wait "$runs" 2>/dev/null
replay last --tier pipeline
is "$code $(shape .same,.first_divergence,.cut_off)" '0 [true,null,"execute"]' 'a killed run: it was cut off, and nothing differs until there'
run replay last --tier pipeline
like "$out" 'was cut off after execute' 'in words'
unlike "$out$err" 'diverged|the loop' 'and nobody is blamed'
is "$("$ASSAY" log list --json --limit 1 | jq -r '.[0].status')" cancelled 'the replay ends there, too'
forget
say plan "$(plan)"
say code "$(program 'print(2)')"
say judge "$(verdict pass)" '{"delay_ms":60000}'
"$ASSAY" ask --script s.jsonl --role-model answer=off 'Judge?' >out.txt 2>err.txt </dev/null &
runs=$!
judging() {
	[ "$("$ASSAY" log export last 2>/dev/null | jq '.prompt == "Judge?" and ([.events[].stage] | contains(["judge"]))')" = true ]
}
until_true judging
kill -9 "$runs"
wait "$runs" 2>/dev/null
replay last
is "$code $(shape .same,.first_divergence,.cut_off)" '0 [true,null,"judge"]' 'one that was killed while it was judged, run again'

# It is cut off for its replays; beside another run it is a shorter one.
printf 'import time\ntime.sleep(60)\n' >sleep.py
"$ASSAY" exec --timeout 90 sleep.py >out.txt 2>err.txt </dev/null &
runs=$!
sleeping() {
	[ "$("$ASSAY" log export last 2>/dev/null | jq '.kind == "exec" and .status != "success"')" = true ]
}
until_true sleeping
kill -9 "$runs"
wait "$runs" 2>/dev/null
cut=$(last)
run exec --timeout 1 sleep.py
run log diff "$cut" "$(last)" --json
is "$code $(field .same)" '1 false' 'log diff tells a run that was cut off from one that was not'

# --- stages that never were ---

answers 'print(1)'
ask --role-model answer=off 'One?'
replay last --from repair --script s.jsonl
is "$code" 2 '--from a stage that never was is an error'
like "$err" 'it has: plan, code, judge' 'that names those there were'

# --- tokens ---

tokens() {
	"$ASSAY" log stats --json | jq -c '[.input_tokens, .output_tokens]'
}
forget
say plan "$(plan)" '{"usage":{"input_tokens":50,"output_tokens":5}}'
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
ask --role-model answer=off 'One?'
before=$(tokens)
[ "$before" != '[0,0]' ]
ok $? 'stats count tokens'
replay last
is "$code $(tokens)" "0 $before" 'a replay adds none of those it plays back'

# --- a log that can only be read ---

closed() { # command...: with the log's folder read-only
	unshare -Urm sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' \
		"$XDG_DATA_HOME/assay" "$@" >out.txt 2>err.txt </dev/null
	code=$?
}
closed true
if [ "$code" = 0 ]; then
	rows=$("$ASSAY" log list --json | jq length)
	mkdir scratch
	first=$("$ASSAY" log list --json | jq -r 'map(select(.replay_of == null))[0].run')
	TMPDIR=$PWD/scratch closed "$ASSAY" replay "$first" --tier pipeline --json
	is "$code $(shape .same,.replay)" '0 [true,null]' 'a log that can only be read is replayed'
	like "$(cat err.txt)" 'recorded nowhere' 'and it is said that the replay is recorded nowhere'
	is "$("$ASSAY" log list --json | jq length) $(ls scratch | wc -l)" "$rows 0" 'nor is it, and nothing is left behind'
else
	skip 'a log that can only be read is replayed' "no mounts here: $(head -n 1 err.txt)"
fi

done_testing
