#!/bin/sh
# Any program as the model (--model-command): what it is given, what may come of it, and that
# nothing of it outlives the call.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

# A program kept in a file of its own: model NAME <<code
model() {
	{ echo '#!/bin/sh'; cat; } >"$1"
	chmod +x "$1"
}

# --- a whole question ---

model llm <<'M'
cat >"$PWD/seen.$ASSAY_STAGE.txt"
printf '%s:%s\n' "$ASSAY_STAGE" "$ASSAY_TASK" >>"$PWD/stages.txt"
case $ASSAY_STAGE in
plan) echo '{"needs_code":true,"language":"python","checks":[{"kind":"contains","arg":"42"}],"answer":null}' ;;
code) printf '```python\nprint(1 / 0)\n```\n' ;;
repair) printf 'Sorry.\n```python\nprint(42)\n```\n' ;;
judge) echo '{"verdict":"pass","reason":"yes"}' ;;
answer) echo 'It is 42.' ;;
esac
M
run ask --model-command "$PWD/llm" --json 'What is 6 times 7?'
is "$code $(shape '.status, .level, .answer, .attempts')" '0 ["success","judged","It is 42.\n",2]' \
	'a program plays every role'
is "$(tr '\n' ' ' <stages.txt)" 'plan: code: repair: answer: judge: ' 'ASSAY_STAGE names each role, ASSAY_TASK is empty'
is "$(grep -cE '^# (System|User)$' seen.plan.txt)" 3 'the text format has a heading per role'
is "$(head -n 1 seen.code.txt)" '# System' 'the system part first'
like "$(sed -n '/^# User$/,$p' seen.plan.txt)" 'What is 6 times 7\?' 'the question is under the user'
like "$(cat seen.repair.txt)" 'ZeroDivisionError' 'the repairer is told what happened'
is "$(field .usage.source)" none 'no usage is invented'

# --- the JSON format ---

run ask --model-command "$PWD/llm" -o format=json --json 'What is 6 times 7?'
is "$code" 0 '-o format=json'
is "$(jq -c '[keys_unsorted, .stage, .task, (.messages | map(.role)), (.max_tokens | type),
	(.messages[2].content | test("6 times 7"))]' seen.plan.txt)" \
	'[["stage","task","messages","max_tokens"],"plan",null,["system","system","user"],"number",true]' 'one JSON object as it is documented'

# --- in a batch ---

: >stages.txt
echo '{"id":"t 1","prompt":"What is 6 times 7?","lang":"python","expect":{"equals":"42"}}' >tasks.jsonl
run batch tasks.jsonl --model-command "$PWD/llm" --out results.jsonl
is "$code $(tr '\n' ' ' <stages.txt)" '0 code:t 1 repair:t 1 ' 'ASSAY_TASK names the task of a batch'

# --- how the command is split: words and quotes, no shell ---

model args <<'M'
printf '<%s>' "$@"
M
mkdir 'a folder'
cp args 'a folder/args'
split() { # command want name
	run complete --model-command "$1" 'x'
	is "$out" "$2" "$3"
}
split "$PWD/args one  two" '<one><two>' 'blanks part words'
split "$PWD/args 'one two' \"three four\" fi\\ ve" '<one two><three four><fi ve>' 'quotes and backslashes keep them together'
split "$PWD/args '' a\"b\"'c'" '<><abc>' 'an empty word, and quotes inside one'
split "$PWD/args \$HOME \`id\` \$(id) * ; id | id > made & #" \
	'<$HOME><`id`><$(id)><*><;><id><|><id><>><made><&><#>' 'nothing of a shell happens'
[ ! -e made ]
ok $? 'no redirection was made'
split "'$PWD/a folder/args' x" '<x>' 'a program in a folder with a blank'
for open in "$PWD/args 'x" "$PWD/args \"x" ' '; do
	run complete --model-command "$open" 'x'
	like "$code" '^[25]$' "a command that cannot be split (…${open#"$PWD"}) is refused"
	[ -n "$err" ] && [ -z "$out" ]
	ok $? 'with a reason'
done
PATH="$PWD:$PATH" run complete --model-command 'args found' 'x'
is "$out" '<found>' 'it is looked for on PATH'

# --- what may go wrong ---

wrong() { # options...: $code, $class, $message
	run complete --json "$@" 'x'
	class=$(field '.error.class // empty')
	message=$(field '.error.message // empty')
}
model fails <<'M'
echo 'half a reply'
echo 'out of credits, sorry' >&2
exit 7
M
wrong --model-command "$PWD/fails"
is "$code" 4 'a non-zero exit is a failure of the provider'
like "$message" 'exit code 7.*out of credits' 'that tells exit code and stderr'
run ask --model-command "$PWD/fails" --json 'x'
is "$code $(shape .status)" '4 ["provider_error"]' 'in a question, too'
like "$(field .error)" 'plan: .*out of credits' 'with the stage'
model silent <<'M'
echo 'loading the model' >&2
M
wrong --model-command "$PWD/silent"
is "$code" 4 'no reply is a failure of the provider'
like "$message" 'no reply.*loading the model' 'that tells stderr'
model blank <<'M'
printf '  \n\n'
M
wrong --model-command "$PWD/blank"
is "$code" 4 'blanks are no reply'
run ask --model-command "$PWD/blank" --json 'x'
like "$(field .error)" 'sent nothing, and nothing again' 'a question asks again before it fails of it'
model dies <<'M'
kill -9 $$
M
wrong --model-command "$PWD/dies"
like "$code $message" '^4 .*signal 9' 'killed by a signal'
wrong --model-command "$PWD/nowhere --print"
like "$code $out$err" '^[45] .*nowhere.*No such file' 'a program that is not there'
: >notexec
wrong --model-command "$PWD/notexec"
like "$code $out$err" '^[45] .*notexec.*Permission denied' 'one that cannot be executed'
model deaf <<'M'
exec <&-
echo heard
M
head -c 900000 /dev/zero | tr '\0' q >big.txt
"$ASSAY" complete --model-command "$PWD/deaf" - <big.txt >out.txt 2>err.txt
is "$? $(cat out.txt)" '0 heard' 'one that never reads a long conversation'
model chatty <<'M'
yes 'word' | head -c 20000000
M
wrong --model-command "$PWD/chatty"
is "$code $class" '4 protocol' 'one that never stops talking is cut off'
model bytes <<'M'
printf 'caf\303\251 \377 end'
M
run complete --json --model-command "$PWD/bytes" 'x'
is "$code $(jq -r .text out.txt)" '0 café � end' 'bytes that are no UTF-8 are replaced'

# --- time, and what is left afterwards ---

unique=$(printf '%d.%d' $$ "$(date +%N | sed 's/^0*//')")
model hangs <<M
trap '' TERM
sleep 7$unique &
echo started >$PWD/started
sleep 8$unique
sleep 9$unique
M
none_left() {
	! grep -lsaE "[789]$unique" /proc/[0-9]*/cmdline >left.txt
}
left() { # how many there are, after a moment to end
	until_true none_left
	wc -l <left.txt
}
begun=$(date +%s%N)
wrong --model-command "$PWD/hangs" --request-timeout 0.5
took=$((($(date +%s%N) - begun) / 1000000))
is "$code $class" '4 timeout' 'one that hangs ends at --request-timeout'
[ $took -ge 500 ] && [ $took -lt 30000 ] && [ -e started ]
ok $? "in time ($took ms)"
is "$(left)" 0 'and is dead with its children, though it ignores SIGTERM'

rm started
"$ASSAY" complete --model-command "$PWD/hangs" 'x' >out.txt 2>err.txt &
pid=$!
until_true [ -e started ]
kill -TERM $pid
wait $pid
is "$?" 143 'SIGTERM to assay: exit code 143'
is "$(left)" 0 'and the program is dead with its children'

model leaves <<M
sleep 7$unique >/dev/null 2>&1 &
echo done
M
run complete --model-command "$PWD/leaves" 'x'
is "$code $out" '0 done' 'a program that leaves a child behind'
is "$(left)" 0 'the child does not outlive the call'
model holds <<M
sleep 7$unique &
echo done
M
begun=$(date +%s%N)
run complete --model-command "$PWD/holds" 'x'
is "$code $out" '0 done' 'a child that keeps its stdout open holds nothing up'
[ $((($(date +%s%N) - begun) / 1000000)) -lt 30000 ]
ok $? 'and costs no time'

# While a later call runs, nothing of an earlier one may be a zombie child of assay.
model zombies <<'M'
sed -sn "s/.*) \([A-Z]\) $PPID .*/\1/p" /proc/[0-9]*/stat 2>/dev/null >>"$PWD/children.txt"
exec "$PWD/llm"
M
run ask --model-command "$PWD/zombies" --json 'What is 6 times 7?'
is "$code $(grep -c . children.txt | sed 's/^[5-9]$\|^[1-9][0-9]$/some/')" '0 some' 'five calls were made'
is "$(grep -c Z children.txt)" 0 'and no zombie was seen in any'

# --- the key of another provider does not matter, and the choice is clear ---

run complete --provider command 'x'
like "$code $err" '^2 .*--model-command' '--provider command alone says what it needs'

done_testing
