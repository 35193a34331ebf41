#!/bin/sh
# A file of tasks: every format, every bad line, every way to stop and to go on.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

# One program does for most tasks: it squares the number on its standard input.
forget
say code "$(program 'print(int(input()) ** 2)')"
batch() { # FILE [OPTION...]
	run batch --script s.jsonl --json "$@"
}
# What a results file says, sorted: id status level.
said() {
	jq -r '"\(.id) \(.status) \(.level)"' "${1:-r.jsonl}" | sort
}
summary() {
	jq -cS '{total, success, failed, skipped, levels, usage}' out.txt
}
no_usage='"usage":{"cached_tokens":0,"input_tokens":0,"output_tokens":0,"reasoning_tokens":0}'

# --- JSONL ---

{
	square a 3
	echo '{"id":"torn","prompt":"x'
	echo
	square '' 4 '{"id": 7}'
	echo '["prompt"]'
	echo '{"id":"empty"}'
	square a 5
	square 'b c' 6 '{"reviewer":"Ann","nested":{"deep":[1,2]}}'
	echo '{"id":"twice","prompt":"x","prompt":"y"}'
	echo '{"id":"lang","prompt":"x","lang":"cobol"}'
	echo '{"id":["list"],"prompt":"x"}'
	printf '{"id":"bytes","prompt":"\377"}\n'
	printf '%s' "$(square last 7)"
} >t.jsonl
batch t.jsonl --out r.jsonl -j 4
is "$code" 9 'bad lines: the exit code'
is "$(said | grep success)" '7 success expected
a success expected
b c success expected
last success expected' 'the good lines run, the last without its newline too'
is "$(summary)" '{"failed":8,"levels":{"expected":4,"none":8},"skipped":0,"success":4,"total":12,'"$no_usage"'}' \
	'the summary is exact'
is "$(jq -c 'select(.status != "success") | .error' r.jsonl | sed 's/^"t\.jsonl:\([0-9]*\):.*/\1/' | sort -n | xargs)" \
	'2 5 6 7 9 10 11 12' 'every bad line is reported by its number'
is "$(jq -r .id r.jsonl | sort | uniq -d)" '' 'no two results have one id'
like "$(jq -r 'select(.id == "line-7") | .error' r.jsonl)" '^t\.jsonl:7: id "a" was used before, on line 1$' \
	'a second line of an id is refused, under a name of its own'
run log show "$(jq -r 'select(.id == "b c") | .run' r.jsonl)" --json
is "$(field '.events[] | select(.stage == "task") | .data.extra | tojson')" \
	'{"reviewer":"Ann","nested":{"deep":[1,2]}}' "keys that are the user's own are kept in the log"

# --- CSV ---

mkdir -p sub
printf 'seven' >sub/word.txt
forget
say code "$(program 'import os, sys
print("|".join([sys.stdin.read()] + [open("/in/" + f).read() for f in sorted(os.listdir("/in"))]))')"
cat >sub/t.csv <<'END'
id,prompt,lang,stdin,expect,files,limits,note
plain,Print it.,python,one,one,,,
quoted,"Print ""it"", please,
in full.",python,"two, ""and""
three","{""contains"":""two, \""and\""\nthree""}",,,mine
file,Print it.,python,,|seven,word.txt,,
files,Print it.,python,x,x|seven,"[""word.txt""]","{""timeout"":5}",
number,Print it.,python,7,7,,,
more,Print it.,python,,,,,,one too many
gone,Print it.,python,,x,absent.txt,,
,No id.,python,eight,eight,,,
none,,python,,,,,
END
printf 'bytes,Print \377 it.,python\n' >>sub/t.csv
printf '"open,Print it.\n' >>sub/t.csv
batch sub/t.csv --out csv.jsonl -j 2
is "$code $(said csv.jsonl | xargs -n 3 echo | sed 's/ success expected/ ok/' | xargs)" \
	'9 bytes failed none file ok files ok gone failed none line-11 ok line-14 failed none more failed none none failed none number ok plain ok quoted ok' \
	'CSV: quotes, line ends, structure, files beside it, a line without an id'
is "$(jq -r 'select(.status != "success") | .error' csv.jsonl | grep -oE '^sub/t\.csv:[0-9]+:' | sort -t: -k2n | xargs)" \
	'sub/t.csv:9: sub/t.csv:10: sub/t.csv:12: sub/t.csv:13: sub/t.csv:14:' 'CSV: lines are counted inside quotes too'
like "$(jq -r 'select(.id == "gone") | .error' csv.jsonl)" 'sub/absent\.txt' 'CSV: the file that is not there is named'

# --- one prompt per line ---

forget
say plan '{"needs_code":true,"language":"python","checks":[]}'
say code "$(program 'print("ONE")')" '{"match":"shout one"}'
say code "$(program 'print("TWO")')" '{"match":"shout two"}'
say judge "$(verdict pass)"
printf '\357\273\277shout one\r\n\n   \nshout two\nbad \377 line' >t.txt
batch t.txt --out txt.jsonl --role-model answer=off
is "$code $(jq -r '"\(.id) \(.status) \(.answer)"' txt.jsonl | sort | xargs)" \
	'9 line-1 success ONE line-4 success TWO line-5 failed null' 'plain lines: ids are line numbers'

# --- limits and output of one task ---

forget
say code "$(program 'import time
time.sleep(0.6) # longer than the shorter limit
print("slept")')" '{"match":"sleep"}'
say code "$(program 'import sys
sys.stdout.buffer.write(b"a\0b\xff\n")')" '{"match":"bytes"}'
say repair 'No idea.' '{"match":"sleep"}'
for limits in '{"timeout":0.3}' '{"timeout":60}' '{"memory":"much"}' '{"speed":1}'; do
	jq -cn --argjson l "$limits" '{id: ($l | tojson), prompt: "sleep", lang: "python", limits: $l,
		expect: {equals: "slept"}}'
done >t.jsonl
echo '{"id":"bytes","prompt":"bytes","lang":"python","expect":{"contains":"b"}}' >>t.jsonl
batch t.jsonl --out limits.jsonl -j 4 --max-attempts 1
is "$(jq -r '"\(.id) \(.status) \(.execution.outcome)"' limits.jsonl | sort | xargs)" \
	'bytes success exit {memory:much} failed null {speed:1} failed null {timeout:0.3} failed timeout_wall {timeout:60} success exit' \
	'limits hold for their own task'
like "$(jq -r 'select(.id | test("speed")) | .error' limits.jsonl)" '^t\.jsonl:4: .*speed' 'an unknown limit is named'
is "$(jq -c 'select(.id == "bytes") | .execution | [.stdout_bytes, (.stdout | length)]' limits.jsonl)" '[5,5]' \
	'NUL and other bytes of a program do not spoil the results file'

# --- which tasks ---

forget
say code "$(program 'print(int(input()) ** 2)')"
for n in 1 2 3 4 5 6; do
	square "t$n" "$n"
done >t.jsonl
batch t.jsonl --out limit.jsonl --limit 2
is "$code $(said limit.jsonl | xargs) $(field .total)" '0 t1 success expected t2 success expected 2' '--limit'
batch t.jsonl --out only.jsonl --only 't[35]'
is "$code $(said only.jsonl | xargs)" '0 t3 success expected t5 success expected' '--only'
batch t.jsonl --out only.jsonl --resume --only 't[456]' --limit 1
is "$code $(said only.jsonl | xargs) $(field '[.success, .skipped] | tojson')" \
	'0 t3 success expected t4 success expected t5 success expected [1,0]' '--resume with --only and --limit: one more'
{
	square wrong1 3 '{"expect":{"equals":"8"}}'
	square wrong2 3 '{"expect":{"equals":"7"}}'
	cat t.jsonl
} >w.jsonl
batch w.jsonl --out errors.jsonl --max-errors 1 --max-attempts 1
is "$code $(said errors.jsonl)" '9 wrong1 failed ran' '--max-errors stops the batch'
batch w.jsonl --out errors2.jsonl --max-errors 3 --max-attempts 1
is "$code $(field '[.success, .failed] | tojson')" '9 [6,2]' '--max-errors that are not reached do not'
before=$(cksum limit.jsonl)
batch t.jsonl --out limit.jsonl
is "$code $before" "2 $(cksum limit.jsonl)" 'a results file is not written over'
like "$err" 'limit\.jsonl: exists already; --resume' 'and the message says what to do'
batch t.jsonl --resume
is "$code" 2 '--resume without --out'
for bad in '-j 0' '-j x' '--limit 0' '--max-errors -1' '-j 2x'; do
	# shellcheck disable=SC2086 # an option and its value
	batch t.jsonl $bad
	is "$code" 2 "usage: $bad"
done

# --- again ---

batch w.jsonl --out again.jsonl --max-attempts 1
cp again.jsonl first.jsonl
batch w.jsonl --out again.jsonl --resume
is "$code $(field '[.total, .success, .failed, .skipped] | tojson')" '9 [8,0,0,8]' '--resume: what has a result is not run again'
is "$(cksum <again.jsonl)" "$(cksum <first.jsonl)" 'and the file is what it was'
{
	square wrong1 3
	square wrong2 3
	cat t.jsonl
} >w.jsonl
batch w.jsonl --out again.jsonl --retry-failed
is "$code $(field '[.total, .success, .failed, .skipped] | tojson')" '0 [8,2,0,6]' '--retry-failed: only what had failed'
is "$(said again.jsonl | wc -l) $(said again.jsonl | grep -c 'success expected')" '8 8' 'none is there twice'
is "$(grep -cxFf first.jsonl again.jsonl)" 6 'the others are what they were'

# What is not run again keeps its result.
{
	square wrong1 3
	square wrong2 3 '{"expect":{"equals":"8"}}'
	square wrong3 3 '{"expect":{"equals":"8"}}'
	square right 3
} >p.jsonl
sed 's/"9"/"7"/' p.jsonl >p0.jsonl
batch p0.jsonl --out part.jsonl --max-attempts 1
is "$(said part.jsonl | cut -d' ' -f1,2 | xargs)" 'right failed wrong1 failed wrong2 failed wrong3 failed' 'all wrong'
batch p.jsonl --out part.jsonl --max-attempts 1 --retry-failed --only '*1'
is "$code $(said part.jsonl | cut -d' ' -f1,2 | xargs)" '9 right failed wrong1 success wrong2 failed wrong3 failed' \
	'--retry-failed --only: the results of the others stay'
batch p.jsonl --out part.jsonl --max-attempts 1 --retry-failed --limit 1 --only '*t' --junit part.xml
is "$code $(said part.jsonl | cut -d' ' -f1,2 | xargs)" '9 right success wrong1 success wrong2 failed wrong3 failed' \
	'nor does --limit lose one'
is "$(grep -o '<testsuite .* errors="0"' part.xml) $(grep -c '<testcase' part.xml)" \
	'<testsuite name="p.jsonl" tests="4" failures="2" errors="0" 4' 'JUnit has the results from before, too'
cp t.jsonl mine.jsonl
batch t.jsonl --out mine.jsonl --resume
is "$code $(cksum <mine.jsonl)" "2 $(cksum <t.jsonl)" 'a file that holds no results is not written over'
like "$err" '^assay: mine\.jsonl:1: is no result' 'and the message says which line'
batch t.jsonl --out none.jsonl --only 'nothing*'
is "$code $(ls none.jsonl 2>/dev/null)" '2 ' '--only that names no task is a mistake'

batch t.jsonl --out /dev/null --limit 1
is "$code" 0 'results may go to a device'
batch t.jsonl --out none.jsonl --junit none/report.xml
is "$code $(ls none.jsonl 2>/dev/null)" '2 ' 'a JUnit report without a place is told before anything runs'
like "$err" 'junit none/report\.xml: No such file' 'with its name'

# Ids that look like those of lines without one.
printf '%s\n' '{"id":"line-2","prompt":"Square it.","stdin":"2","lang":"python","expect":{"equals":"4"}}' \
	'{"prompt":"Square it.","stdin":"3","lang":"python","expect":{"equals":"9"}}' \
	'{"id":"line-2","prompt":"x"}' \
	'{"id":"line-3","prompt":"Square it.","stdin":"3","lang":"python","expect":{"equals":"9"}}' >like.jsonl
batch like.jsonl --out like.out
is "$code $(said like.out | cut -d' ' -f1,2 | xargs)" '9 line-2 success line-2+ success line-3 success line-3+ failed' \
	'every result has an id of its own'

# --- JUnit ---

forget
say code "$(program 'print(int(input()) ** 2)')"
{
	square 'good <&">' 2
	square "wrong ]]> $(printf '\001\033')" 3 '{"expect":{"equals":"<8> & \u0001"}}'
	echo '{"id":"no prompt"}'
	square 'caf\u00e9' 4
	echo '{"id":"no characters: \ufffe \uffff","prompt":"Square it.","stdin":"5","lang":"python"}'
} >junit.jsonl
batch junit.jsonl --out junit.out --junit junit.xml --max-attempts 1
is "$code $(python3 - <<'END'
import xml.etree.ElementTree as tree
suite = tree.parse("junit.xml").getroot()
cases = suite.findall("testcase")
print(suite.tag, suite.get("tests"), suite.get("failures"), suite.get("errors"), len(cases),
      len(suite.findall("testcase/failure")), len(suite.findall("testcase/error")),
      "good <&\">" in [c.get("name") for c in cases],
      all(f.get("message") for f in suite.findall("testcase/failure")))
END
)" '9 testsuite 5 2 1 5 2 1 True True' 'JUnit: well-formed whatever the ids and messages hold'

# --- killed ---

# The first tasks end at once, and those after them not at all; for a resume, they all do.
hangs_after() { # number
	forget
	say code "$(program "import time
n = int(input())
time.sleep(600 * (n > $1))
print(n ** 2)")"
}
for n in 1 2 3 4 5 6 7 8 9 10; do
	square "t$n" "$n"
done >slow.jsonl
start() { # OPTION...: a batch in the background, where a shell's jobs would ignore SIGINT
	env --default-signal=INT "$ASSAY" batch "$PWD/slow.jsonl" --json -j 2 "$@" >out.txt 2>err.txt </dev/null &
	batch_pid=$!
}
has_lines() { # FILE N
	[ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]
}
lines_come() { # FILE N: waits until it has N lines
	until_true has_lines "$@"
}
ended() { # waits for the batch; $code, $out
	wait "$batch_pid" 2>/dev/null
	code=$?
	out=$(cat out.txt)
}
alive() { # how many of the batch's processes there are, after a moment to end
	until_true eval '! grep -lsaF "$PWD/slow.jsonl" /proc/[0-9]*/cmdline >alive.txt'
	wc -l <alive.txt
}
workers() { # the batch's children
	sed -sn "s/^\([0-9]*\) (assay) [A-Z] $batch_pid .*/\1/p" /proc/[0-9]*/stat 2>/dev/null
}
under_way() { # N: so many runs have no end in the log
	[ "$("$ASSAY" log list --json --limit 1000 | jq 'map(select(.status == "unfinished")) | length')" = "$1" ]
}

hangs_after 3
start --script s.jsonl --out killed.jsonl
lines_come killed.jsonl 3
until_true under_way 2
kill -9 "$batch_pid"
ended
is "$(alive)" 0 'SIGKILL of a batch leaves no worker'
cp killed.jsonl had.jsonl
had=$(wc -l <had.jsonl)
printf '{"id":"t10","status":"success","lev' >>killed.jsonl
hangs_after 10
run batch slow.jsonl --script s.jsonl --json --out killed.jsonl --resume -j 2
is "$code $(field '[.total, .success, .failed, .skipped] | tojson')" "0 [10,$((10 - had)),0,$had]" \
	'--resume after SIGKILL runs exactly what is missing'
is "$(said killed.jsonl | cut -d' ' -f1,2 | sort -V | xargs)" "$(seq -f 't%g success' 10 | xargs)" \
	'none is missing, none is there twice, the torn line is gone'
is "$(head -n "$had" killed.jsonl | cksum)" "$(cksum <had.jsonl)" 'the results from before are what they were'
run log list --json --limit 1000
is "$(jq -c '[.[] | select(.status == "unfinished")] as $cut | [.[] | select(.status == "success") | .item] as $ran |
	[($cut | length), ($cut | all(.item | IN($ran[])))]' out.txt)" '[2,true]' \
	'the log has the runs that were cut off, as unfinished'

# What is asked for the third and the fifth task ends when it is asked for once more.
cat >hangs <<'END'
#!/bin/sh
cat >/dev/null
sleeps=
case $ASSAY_TASK in
t3 | t5) mkdir "$(dirname "$0")/asked-$ASSAY_TASK" 2>/dev/null && sleeps='__import__("time").sleep(600)' ;;
esac
printf '```python\n%s\nprint(int(input()) ** 2)\n```\n' "$sleeps"
END
chmod +x hangs
start --model-command "$PWD/hangs" --out worker.jsonl
lines_come worker.jsonl 3
until_true under_way 4 # the two from before, and two
kill -9 "$(workers | head -n 1)"
# The other worker has a task yet, and those of the one that died are another's. When that has no task any more,
# it is let go of.
lines_come worker.jsonl 9
# shellcheck disable=SC2046 # a list of numbers
kill -9 $(workers)
ended
is "$code $(jq -r .status worker.jsonl | sort | uniq -c | xargs)" '0 10 success' "a worker that dies loses no task: it is tried once more"
is "$(grep -c 'its worker was killed by signal 9.*once more' err.txt)" 2 'nor does the last one that works, and both are told'
is "$(jq -r .id worker.jsonl | sort -u | wc -l) $(field '[.success, .failed] | tojson')" '10 [10,0]' 'every task has its result'

hangs_after 2
start --script s.jsonl --out int.jsonl
lines_come int.jsonl 2
kill -INT "$batch_pid"
ended
is "$code" 130 'SIGINT: exit code'
is "$(jq -e . int.jsonl >valid.txt && echo whole)" whole 'SIGINT: every line is whole'
hangs_after 10
run batch slow.jsonl --script s.jsonl --json --out int.jsonl --resume -j 4
is "$code $(said int.jsonl | cut -d' ' -f1,2 | sort -V | xargs)" "0 $(seq -f 't%g success' 10 | xargs)" \
	'--resume after SIGINT: each task has one result'

# Artifacts of a batch have their own folders, whatever --out says; a resume over earlier failures
# does not hide them.
cat >art.jsonl <<'EOF'
{"id":"art","prompt":"write a file","lang":"python","expect":{"artifact":"a.txt"}}
{"id":"bad","prompt":"say no","lang":"python","expect":{"equals":"yes"},"limits":{"max_attempts":1}}
EOF
cat >art.script.jsonl <<'EOF'
{"stage":"code","id":"art","reply":"```python\nopen('/out/a.txt', 'w').write('hello')\nprint(1)\n```"}
{"stage":"code","id":"bad","reply":"```python\nprint('no')\n```"}
EOF
run batch art.jsonl --script art.script.jsonl --out art.results.jsonl
is "$code" 9 "a batch with a file to keep"
saved=$(cat assay-out/*/a.txt 2>/dev/null)
is "$saved" hello "the file is below assay-out, not where --out says"
is "$(jq -r 'select(.id=="art") | "\(.status) \(.error)"' art.results.jsonl)" "success null" "and that is no error"
run batch art.jsonl --script art.script.jsonl --out art.results.jsonl --resume
is "$code" 9 "a resume with nothing left to do tells of the failure before"
like "$err" '1 of those had failed; --retry-failed' "and says how to go on"
done_testing
