#!/bin/sh
# assay replay: what was recorded, run again: every tier, every kind of run, and the first place
# where the two part.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

last() { # the run that the last call of assay logged
	"$ASSAY" log list --json --limit 1 | jq -r '.[0].run'
}
replay() {
	run replay --json "$@"
}
question() { # code of the program
	forget
	say plan "$(plan '[{"kind":"lines","arg":1}]')"
	say code "$(program "$1")"
	say judge "$(verdict pass 'as asked')"
	say answer "${2:-Done.}"
	ask 'A question?'
	first=$(last)
}

# --- the tiers ---

question 'print(6 * 7)' 'It is 42.'
rm s.jsonl
for tier in pipeline exec; do
	replay "$first" --tier "$tier"
	is "$code $(shape '.same, .tier, .run, .first_divergence, .environment_changed')" \
		"0 [true,\"$tier\",\"$first\",null,[]]" "tier $tier: identical, with the script gone"
	is "$(jq -r '[.stages[] | select(.phase == "done").stage] | join(" ")' out.txt)" \
		'task plan code extract screen execute answer judge verify' "tier $tier: every stage compared"
	is "$(jq -c '[.stages[] | .same] | unique' out.txt)" '[true]' "tier $tier: and each is the same"
	copy=$(field .replay)
	is "$("$ASSAY" log export "$copy" | jq -c '[.kind, .status, .replay_of, .answer]')" \
		"[\"replay\",\"success\",\"$first\",\"It is 42.\"]" "tier $tier: the log links it to its original"
done
run replay "$first"
is "$code" 0 'without --json: exit code 0'
like "$out" "^identical: 15 records of run $first, replayed as [0-9A-Z]{26}$" 'and says so in words'

count() {
	"$ASSAY" log list --json | jq length
}
before=$(count)
replay "$first" --tier view
is "$code $(shape '.same, .tier, .replay')" '0 [true,"view",null]' 'tier view: nothing is run'
is "$(count)" "$before" 'tier view: and nothing is logged'
is "$(jq -r '.stages[] | select(.stage == "extract").data.blocks[0].code' out.txt)" 'print(6 * 7)' \
	'tier view: the records are in it'
run replay "$first" --tier view
like "$out" 'print\(6 \* 7\)' 'tier view in words: the program'
like "$out" 'It is 42' 'and the answer'

replay "$first" --tier model
is "$code" 2 'tier model needs the model: the script is gone'
like "$err" 'script FILE' 'and says what is missing'
forget
say plan "$(plan '[{"kind":"lines","arg":1}]')"
say code "$(program 'print(40 + 2)')"
say judge "$(verdict pass 'as asked')"
say answer 'It is 42.'
replay "$first" --tier model --script s.jsonl
is "$code $(shape '.same, .tier, .first_divergence.stage')" '8 [false,"model","code"]' \
	'tier model: another program of the model is the first divergence'
run replay "$first" --tier nonsense
is "$code" 2 'an unknown tier is an error of usage'
run replay
is "$code" 2 'so is no run'
run replay "$first" "$first"
is "$code" 2 'so are two'

# --- names of runs ---

question 'print(1)'
replay last
is "$code $(field .run)" "0 $first" 'last'
replay last~1
is "$code $(field .same)" '0 true' 'last~1'
[ "$(field .run)" != "$first" ]
ok $? 'is the original before'
tail=$(printf %s "$first" | tail -c 8)
replay "$tail"
is "$code $(field .run)" "0 $first" 'the end of an id, as the list shows it'
replay "$(printf %s "$first" | cut -c 1-25)"
is "$code $(field .run)" "0 $first" 'a beginning that fits one run'
replay "$(printf %s "$first" | cut -c 1-4)"
is "$code" 125 'one that fits several is refused'
like "$err" "$first" 'and those it fits are named'
replay 01ARZ3NDEKTSV4RRFFQ69G5FAV
is "$code" 125 'an unknown run, which git bisect skips'
like "$err" '01ARZ3NDEKTSV4RRFFQ69G5FAV' 'is named'
replay $(printf "x' OR 1=1 --")
is "$code" 2 'a name that is no id finds nothing'

# --- divergence ---

question 'import time
print(time.time())'
replay last
is "$code $(shape '.same, .first_divergence.stage, .first_divergence.phase')" \
	'8 [false,"execute","done"]' 'a program that prints the time diverges when it runs'
is "$(jq -c '[.first_divergence.differences[].field] | contains(["stdout"])' out.txt)" true 'in its output'
run replay "$first"
is "$code" 8 'in words: exit code 8'
like "$out" '^diverged at execute' 'the stage is named'
like "$err" '^    -[0-9]+\.[0-9]+' 'what it was is shown'
like "$err" '^    \+[0-9]+\.[0-9]+' 'and what it is now'
replay "$first" --tier pipeline
is "$code $(field .same)" '0 true' 'with the recorded output it is identical'

question 'import random
print("seed")if random.random() < 2 else 0'
replay last
is "$code" 0 'a program that draws but prints the same is identical'

# --- no network below tier model ---

listen() {
	/usr/bin/python3 - "$1" <<'P' &
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
s.settimeout(600)
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
try:
    s.accept()
    open(sys.argv[1] + ".met", "w")
except OSError:
    pass
P
	listener=$!
	until_true [ -s "$1" ]
}
if [ -x /usr/bin/python3 ]; then
	listen port
	export OPENAI_BASE_URL="http://127.0.0.1:$(cat port)/v1" OPENAI_API_KEY=sk-none
	replay "$first" --tier pipeline --provider openai -m other
	is "$code" 0 'a provider named below tier model changes nothing'
	replay "$first" --tier exec --provider openai -m other
	is "$code" 0 'nor at tier exec'
	[ ! -e port.met ]
	ok $? 'and its server is never called'
	replay "$first" --tier model --provider openai -m other --retries 0 --request-timeout 60
	until_true [ -e port.met ]
	ok $? 'at tier model it is'
	is "$code" 8 'and a server that hangs up is a divergence'
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
	unset OPENAI_BASE_URL OPENAI_API_KEY
fi
# The keeper and its guests are meant to fork; only inet sockets are counted.
if command -v strace >/dev/null && strace -f -o /dev/null true 2>/dev/null; then
	# The leak checker cannot work under a tracer.
	ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=socket,connect -o trace.txt "$ASSAY" replay "$first" --tier pipeline \
		>out.txt 2>err.txt </dev/null
	is "$? $(grep -cE 'AF_INET|PF_INET' trace.txt)" '0 0' 'strace sees no internet socket'
else
	skip 'strace sees no internet socket' 'no strace here'
fi

# --- runs that did not go well ---

forget
say plan "$(plan)"
say code "$(program 'print(1 / 0)')"
say repair "$(program 'exit(3)')"
say repair "$(program 'print(2)')"
say judge "$(verdict fail 'still wrong')"
ask --max-attempts 3 'Fail?'
is "$code $(field .status)" '1 failed' 'a run that failed'
replay last
is "$code $(shape '.same, ([.stages[] | select(.stage == "execute" and .phase == "done")] | length)')" \
	'0 [true,3]' 'is replayed with its three attempts'
is "$("$ASSAY" log list --json --limit 1 | jq -r '.[0].status')" failed 'and fails as it did'
forget
say plan "$(plan)"
ask 'No more?'
is "$code" 4 'a run whose provider failed'
replay last
is "$code $(field .same)" '0 true' 'is replayed with the failure'
forget
say plan '{"needs_code":false,"language":null,"checks":[],"answer":"Paris."}'
ask 'The capital of France?'
replay last
is "$code $(field .same)" '0 true' 'a run that ran nothing'
forget
say plan "$(plan)"
say code "$(program 'import socket
socket.create_connection(("127.0.0.1", 9))')"
ask --max-attempts 1 'Connect?'
is "$code" 7 'a run that screening denied'
replay last
is "$code $(field .same)" '0 true' 'is denied again'
run complete --script s.jsonl 'x'
replay last
is "$code" 125 'a bare model call has nothing to run again'
like "$err" 'tier view' 'and the error says what works'

# --- a task of a batch ---

forget
say code "$(program 'import sys
print(sys.stdin.read().strip() + open("/in/word.txt").read())')"
printf 'world' >word.txt
jq -cn '{id: "greet", prompt: "Greet", lang: "python", stdin: "hello ", files: ["word.txt"],
	expect: {equals: "helloworld"}}' >tasks.jsonl
run batch tasks.jsonl --script s.jsonl --out results.jsonl
is "$code" 0 'a batch of one task'
rm word.txt tasks.jsonl s.jsonl
first=$(jq -r .run results.jsonl)
replay "$first"
is "$code $(field .same)" '0 true' 'its run is replayed with its input and its file, both gone'
is "$("$ASSAY" log export "$(last)" | jq -r .level)" expected 'and meets the expectation of the task again'

# --- runs of assay exec ---

cat >program.py <<'P'
import os, sys
text = sys.stdin.read() + open("/in/data.csv").read()
open("/out/copy.txt", "w").write(text)
print(sys.argv[1:], os.environ["GREETING"], len(text))
P
printf 'a,b\n1,2\n' >data.csv
printf 'on stdin\n' >stdin.txt
run exec --env GREETING=hi -f data.csv --stdin stdin.txt program.py one 'two words'
is "$code $out" "0 ['one', 'two words'] hi 17" 'exec with a file, input, arguments and a variable'
first=$(last)
rm program.py data.csv stdin.txt
replay "$first"
is "$code $(shape '.same, .tier')" '0 [true,"exec"]' 'is replayed with all of them'
is "$("$ASSAY" log export last | jq -c .replay_of)" null 'last is no replay'
is "$("$ASSAY" log export "$(last)" | jq -c '[.kind, .replay_of]')" "[\"exec\",\"$first\"]" 'and linked'
printf 'import os\nopen("/out/x", "wb").write(os.urandom(8))\n' >artifact.py
run exec artifact.py
replay last
is "$code $(shape '.first_divergence.stage')" '8 ["execute"]' 'an artifact that differs is a divergence'
printf 'import time\nprint(time.time_ns())\n' >now.py
run exec now.py
first=$(last)
replay "$first"
is "$code" 8 'one that prints the time diverges'
replay "$first" --tier pipeline
is "$code $(field .same)" '0 true' 'but not at tier pipeline, which runs nothing'
printf 'import sys\nsys.exit(3)\n' >three.py
run exec three.py
replay last
is "$code $(field .same)" '0 true' 'one that failed'

# --- forks ---

question 'print(5)' 'Five.'
forget
say judge "$(verdict fail 'six was asked for')"
say repair "$(program 'print(6)')"
say judge "$(verdict pass)"
say answer 'Six.'
replay "$first" --from judge --script s.jsonl
is "$code $(shape '.same, .first_divergence.stage, .first_divergence.attempt')" '0 [false,"judge",1]' \
	'--from judge: another judge, and what follows from it'
fork=$(field .replay)
is "$("$ASSAY" log export "$fork" | jq -c '[.replay_of, .status, .attempts, .answer]')" \
	"[\"$first\",\"success\",2,\"Six.\"]" 'the fork has an end of its own and is linked to its parent'
run replay "$first" --from judge --script s.jsonl
like "$out" "^forked at judge: run [0-9A-Z]{26}, success, from run $first$" 'in words'
run replay "$first" --from nowhere --script s.jsonl
is "$code" 2 '--from an unknown stage is an error of usage'
run replay "$first" --from judge --script gone.jsonl
[ "$code" -ne 0 ] && [ "$code" -ne 8 ]
ok $? 'a fork whose model is not there is an error, no divergence'

# A fork is a run of its own: its exit code says how it ended.
replay "$first" --from code --provider openai --base-url http://127.0.0.1:9/v1 -m x --retries 0
is "$code $("$ASSAY" log list --json --limit 1 | jq -r '.[0].status')" '4 provider_error' \
	'a fork whose server refuses is a failure of the provider'
forget
say judge "$(verdict fail 'six was asked for')"
replay "$first" --from judge --script s.jsonl
is "$code" 4 'so is one whose script ends'
forget
say code "$(program 'exit(3)')"
for _ in 1 2 3; do
	say repair "$(program "exit($_ + 3)")"
done
replay "$first" --from code --script s.jsonl
is "$code $("$ASSAY" log list --json --limit 1 | jq -r '.[0].status')" '1 failed' 'one that fails ends with 1'

# --- no provider is looked for ---

if python3 -c 'import sqlite3' 2>/dev/null && strace -f -o /dev/null true 2>/dev/null; then
	cp "$XDG_DATA_HOME/assay/log.db" nobody.db
	"$ASSAY" log export "$first" >exported.json
	PYTHONPATH="$here" python3 - "$first" <<'P'
import json, sys
import forge
config = json.load(open('exported.json'))['config']
config['provider'] = config['model'] = None
with forge.Log('nobody.db') as log:
    log.put_config(sys.argv[1], config)
P
	connects() { # command...: how many internet addresses it called
		ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=connect -o trace.txt "$ASSAY" "$@" >out.txt 2>err.txt </dev/null
		code=$?
		err=$(cat err.txt)
		grep -cE 'AF_INET' trace.txt
	}
	for option in '--tier model' '--from code' '--from judge' '--tier model -m x'; do
		# shellcheck disable=SC2086
		connects replay "$first" --db nobody.db $option >met.txt
		is "$(cat met.txt) $(tail -n 2 err.txt | grep -c 'names no provider')" '0 1' "$option: none is looked for on the network"
	done
	for option in '--tier exec' '--tier pipeline' '--tier view'; do
		# shellcheck disable=SC2086
		is "$(connects replay "$first" --db nobody.db $option)" 0 "$option: none is needed"
	done
	printf '{"id":"a"}\n{"id":"b","prompt":1}\n' >bad.jsonl
	connects batch bad.jsonl --out bad.out >met.txt
	is "$(cat met.txt) $(wc -l <bad.out)" '0 2' 'nor is one for a batch without a sound task'
	printf 'print(1)\n' >one.py
	for command in 'exec one.py' 'screen one.py' 'extract one.py' 'log list' 'log show' 'config' 'completion bash'; do
		# shellcheck disable=SC2086
		is "$(connects $command)" 0 "nor for $command"
	done
else
	skip 'none is looked for on the network' 'no strace, or no sqlite3 module'
fi

# --- prompts that changed ---

mkdir prompts
cp "$top"/prompts/*.md prompts/
replay "$first" --prompts prompts
is "$code $(field .same)" '0 true' 'the same prompts from a folder are identical'
echo 'Be brief.' >>prompts/code.md
replay "$first" --prompts prompts
is "$code $(shape '.same, .first_divergence.stage, .first_divergence.phase')" '8 [false,"code","started"]' \
	'a changed prompt is a divergence of the call that it was for'
run replay "$first" --prompts prompts
like "$err" 'Be brief' 'and shown'

# --- an environment that changed ---

if /usr/bin/python3 -c 'import sqlite3' 2>/dev/null; then
	PYTHONPATH="$here" /usr/bin/python3 - "$("$ASSAY" log path)" "$first" <<'P'
import sys
import forge
with forge.Log(sys.argv[1]) as log:
    (seq, data), = log.events(sys.argv[2], stage="task")
    data["environments"][0]["digest"] = "0" * 64
    data["environments"][0]["version"] = "3.1.4"
    log.put(sys.argv[2], seq, data)
P
	replay "$first"
	is "$(shape '.environment_changed | length, .[0].language, .[0].before')" '[1,"python","3.1.4"]' \
		'another interpreter than the recorded one is told'
	run replay "$first"
	like "$err" 'environment has changed' 'in words, too'
	PYTHONPATH="$here" /usr/bin/python3 - "$("$ASSAY" log path)" "$first" <<'P'
import json, sys
import forge
with forge.Log(sys.argv[1]) as log:
    (seq, data), = log.events(sys.argv[2], stage="task")
    packages = json.loads(log.text(data["packages"]["sha256"]))
    packages["python"]["nobody-names-this"] = "0.3"
    packages["python"]["dpkg python3"] = "3.1.4-1"
    data["packages"] = log.blob(json.dumps(packages))
    log.put(sys.argv[2], seq, data)
P
	replay "$first"
	is "$(shape '[.environment_changed[1:][] | [.name, .before]] | sort')" \
		'[[["python package dpkg python3","3.1.4-1"],["python package nobody-names-this","0.3"]]]' \
		'each package that is another is named, not only those that a prompt names'
	# A program that no task is recorded of has those of its language with its result.
	printf 'print(5)\n' >five.py
	run exec five.py
	first=$("$ASSAY" log show last --json | jq -r .run)
	run replay "$first" --json
	is "$code $(shape .same,.environment_changed)" '0 [true,[]]' 'exec: the environment of then is that of now'
	PYTHONPATH="$here" /usr/bin/python3 - "$("$ASSAY" log path)" "$first" <<'P'
import json, sys
import forge
with forge.Log(sys.argv[1]) as log:
    (seq, data), = log.events(sys.argv[2], stage="execute", phase="done")
    packages = json.loads(log.text(data["packages"]["sha256"]))
    packages["python"]["nobody-names-this"] = "0.3"
    data["packages"] = log.blob(json.dumps(packages))
    data["environment"]["digest"] = "0" * 64
    log.put(sys.argv[2], seq, data)
P
	run replay "$first" --json
	is "$(shape '.environment_changed[1:] | map([.name, .before, .after])')" \
		'[[["python package nobody-names-this","0.3",null]]]' \
		'exec: the package that is another is named'
	PYTHONPATH="$here" /usr/bin/python3 - "$("$ASSAY" log path)" "$first" <<'P'
import json, sys
import forge
with forge.Log(sys.argv[1]) as log:
    (seq, data), = log.events(sys.argv[2], stage="execute", phase="done")
    packages = json.loads(log.text(data["packages"]["sha256"]))
    packages["python"].update({"nobody-names-%d" % i: "1" for i in range(30)})
    data["packages"] = log.blob(json.dumps(packages))
    log.put(sys.argv[2], seq, data)
P
	run replay "$first"
	is "$(grep -c 'python package' err.txt) $(grep -c 'and 23 packages more (--json names all)' err.txt)" '8 1' \
		'where many are others, some are named and the rest counted'
	run replay "$first" --json
	is "$(shape '.environment_changed | length')" '[32]' 'which JSON has'
else
	skip 'another interpreter than the recorded one is told' 'no sqlite3 module here'
	skip 'each package that is another is named' 'no sqlite3 module here'
	skip 'exec: the package that is another is named' 'no sqlite3 module here'
	skip 'where many are others, some are named and the rest counted' 'no sqlite3 module here'
	skip 'which JSON has' 'no sqlite3 module here'
fi

# --- removal ---

question 'print(8)'
replay "$first"
copy=$(field .replay)
run log rm --keep-replays "$first"
is "$code" 0 'the original is removed'
replay "$first"
is "$code" 125 'and cannot be replayed any more'
replay "$copy"
is "$code $(field .same)" '0 true' 'its replay still can'

# A program with tests runs three times: alone, while they run alone, and emptied beside them.
forget
say plan "$(plan '[]')"
say code "$(program 'def double(n):
	return 2 * n
print(double(21))')"
say tests "$(program 'assert double(2) == 4' 'python tests')"
ask --tests --no-judge --role-model answer=off 'Twice 21?'
is "$code $(shape .level)" '0 ["checked"]' 'a run with tests'
first=$(last)
for tier in pipeline exec; do
	replay "$first" --tier "$tier"
	is "$code $(shape .same)" '0 [true]' "tier $tier: its tests are judged the same"
done

# What the harness hands from one of them to the next may hold an address: it is no difference.
forget
say code "$(program 'def f(n):
    return n
def g():
    raise ValueError("at %r" % object())')"
printf '%s\n' '{"id":"a","prompt":"f.","lang":"python","tests":"assert f(3) == 3\ntry:\n    g()\nexcept ValueError:\n    pass\n"}' >t.jsonl
run batch t.jsonl --script s.jsonl --out r.jsonl
is "$code $(jq -c '[.status, .level]' r.jsonl)" '0 ["success","expected"]' 'a run whose tests catch an error with an address in it'
replay "$(jq -r .run r.jsonl)"
is "$code $(shape .same,.first_divergence)" '0 [true,null]' 'is the same again'

# The time that was left for a program is as it was then.
forget
say plan "$(plan)"
say code "$(program 'import time
time.sleep(0.2) # a tenth of the budget
raise SystemExit(3)')"
say repair "$(program 'import time
time.sleep(60)')"
ask --max-exec-seconds 2 'Wait?'
is "$code $(shape .execution.outcome)" '3 ["timeout_wall"]' 'a run that ends where its budget of execution does'
replay "$(last)"
is "$code $(shape .same,.first_divergence)" '0 [true,null]' 'ends there again, to the millisecond'
# As on a host that was slower then: the budget of then is what counts.
slow=$(last)
PYTHONPATH="$here" python3 - "$XDG_DATA_HOME/assay/log.db" "$slow" <<'END'
import sys
import forge
with forge.Log(sys.argv[1]) as log:
	def change(attempt, phase, edit):
		(seq, data), = log.events(sys.argv[2], stage="execute", attempt=attempt, phase=phase)
		edit(data)
		log.put(sys.argv[2], seq, data)
	change(1, "done", lambda data: data["metrics"].update(wall_ms=1000))
	change(2, "started", lambda data: data.update(wall_limit_ms=1000))
	change(2, "done", lambda data: data["error"].update(message="killed after 1 s"))
END
replay "$slow"
is "$(jq -c '[.stages[] | select(.stage != "end") | .same] | unique' out.txt)" '[true]' \
	'also when programs are faster now'

done_testing
