#!/bin/sh
# What bad input gets: a message that names it, a code of its own, nothing on standard output, and
# no run begun. And what a model that misbehaves gets.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

forget
say plan "$(plan)"
say code "$(program 'print(42)')"
say judge "$(verdict pass)"
say answer 'It is 42.'
say complete 'Hello.'
cp s.jsonl good.jsonl

runs() {
	"$ASSAY" log list --limit 1000 --json | jq -s 'flatten | length'
}
refused() { # name; want code; pattern; arguments...
	name=$1 want=$2 pattern=$3
	shift 3
	run "$@"
	like "$code" "^($want)\$" "$name: exit code"
	like "$err" "^assay: .*$pattern" "$name: the message"
	is "$out" '' "$name: nothing on standard output"
}

# --- files ---

mkdir folder
: >empty.txt
head -c 5000 /dev/urandom >binary.bin
mkfifo pipe
for c in 'ask --script good.jsonl -f @ x' 'ask --script good.jsonl --stdin @ x' 'ask --script @ x' \
	'batch @ --script good.jsonl' 'exec @' 'extract @' 'screen @'; do
	args=$(printf '%s' "$c" | sed 's/@/nowhere.py/')
	refused "no such file ($args)" '1|2' 'nowhere\.py: No such file' $args
	case $c in *' -f '*) continue ;; esac # a folder is an input
	args=$(printf '%s' "$c" | sed 's/@/folder/')
	refused "a directory ($args)" '1|2' 'folder.*directory' $args
done
refused 'a FIFO is not waited for' '1|2' 'pipe.*(not a regular file|regular)' ask --script good.jsonl -f pipe x
refused 'a file twice under one name' 2 'empty\.txt' ask --script good.jsonl -f empty.txt -f ./empty.txt x
if [ "$(id -u)" -ne 0 ]; then
	cp good.jsonl closed.py
	chmod 0 closed.py
	for c in 'ask --script good.jsonl -f closed.py x' 'batch closed.py --script good.jsonl' 'exec closed.py'; do
		refused "an unreadable file ($c)" '1|2' 'closed\.py: Permission denied' $c
	done
else
	skip 'unreadable files' 'root may read them all'
fi
refused 'an empty batch' 2 'empty\.txt.*no task' batch empty.txt --script good.jsonl
refused 'a program without a language' 2 'which language' exec empty.txt
run extract empty.txt
is "$code $out" '1 ' 'an empty reply holds no code'
printf 'x\n```ab\033[31mc\nprint(1)\n```\n' >escape.md
run extract escape.md
is "$(printf '%s' "$out$err" | tr -dc '\033' | wc -c)" 0 'extract: what a reply calls its language cannot drive the terminal'
run extract binary.bin --json
is "$code $(field .status)" '1 none' 'nor does a binary one'
run screen binary.bin --lang python --json
is "$code $(field .verdict | grep -cE '^(deny|confirm)$')" '7 1' 'a binary program is not let through'
run exec binary.bin --lang python --json
is "$code $(shape .outcome,.error.class)" '1 ["exit","syntax"]' 'and as a guest it is a syntax error'
printf 'print("caf\303\251", "x")\n' >utf8.py
printf 'print("\377")\n' >latin.py
run exec utf8.py
is "$code $out" '0 café x' 'a program in UTF-8 runs'
run exec latin.py --json
is "$code $(field .error.class)" '1 syntax' 'one in bad UTF-8 is a syntax error of Python, told as JSON'
jq -e . out.txt >/dev/null
ok $? 'that is valid'
ask -f binary.bin 'What is in the file?'
is "$code" 0 'a binary input file is data like any other'
ask --stdin binary.bin 'What is in it?'
is "$code" 0 'as standard input, too'

# --- prompts ---

refused 'no prompt' 2 'prompt' ask --script good.jsonl
refused 'an empty prompt' 2 'prompt is empty' ask --script good.jsonl ''
refused 'a blank prompt' 2 'prompt is empty' ask --script good.jsonl '  
	'
refused 'a prompt of bad UTF-8' 2 'UTF-8 .byte 4.' ask --script good.jsonl "$(printf 'caf\351 au lait')"
refused 'an overlong encoding' 2 'UTF-8' ask --script good.jsonl "$(printf 'a\300\257b')"
piped() { # name; want; pattern: standard input is p.txt
	"$ASSAY" ask --script good.jsonl - <p.txt >out.txt 2>err.txt
	code=$?
	err=$(cat err.txt)
	is "$code" "$2" "$1: exit code"
	like "$err" "$3" "$1: the message"
	[ ! -s out.txt ]
	ok $? "$1: nothing on standard output"
}
printf 'one\000two' >p.txt
piped 'a prompt with a NUL' 2 'NUL byte'
cp binary.bin p.txt
piped 'a binary prompt' 2 'NUL byte|UTF-8'
: >p.txt
piped 'an empty standard input' 2 'prompt is empty'
head -c 1048577 /dev/zero | tr '\0' a >p.txt
piped 'a prompt of a byte too many' 2 '1048577 bytes; the limit is 1048576.*-f'
head -c 70000000 /dev/zero | tr '\0' a >p.txt
piped 'a huge prompt' 2 'larger than the limit'
head -c 1048576 /dev/zero | tr '\0' a >p.txt
"$ASSAY" ask --script good.jsonl --max-tokens 5000000 - <p.txt >out.txt 2>err.txt
is "$? $(cat out.txt)" '0 It is 42.' 'a prompt of a megabyte is asked'
printf 'What is 6 times 7?\r\n' >p.txt
"$ASSAY" ask --script good.jsonl <p.txt >out.txt 2>err.txt
is "$? $(cat out.txt)" '0 It is 42.' 'without a prompt, standard input is it'

# --- what is piped in ---

cat >listens <<M
#!/bin/sh
cat >"$work/prompt.txt"
if grep -q 'You judge' "$work/prompt.txt"; then
	echo '{"verdict":"pass","reason":"r"}'
else
	cp "$work/prompt.txt" "$work/first.txt"
	printf '\`\`\`python\nimport sys\n%s\n\`\`\`\n' "\$(cat "$work/reply.py")"
fi
M
chmod +x listens
summed='print(sum(int(line) for line in sys.stdin))'
fed() { # program options...: standard input is the caller's
	echo "$1" >reply.py
	shift
	rm -f first.txt
	ASSAY_CAREFUL=false timeout 300 "$ASSAY" ask --model-command "$work/listens" --lang python \
		--no-judge --require ran --role-model answer=off "$@" >out.txt 2>err.txt
	echo $? >code.txt
}
is_fed() { # name; want: of a pipe, whose end is another shell
	code=$(cat code.txt) out=$(cat out.txt) err=$(cat err.txt)
	told=$(cat first.txt 2>/dev/null)
	is "$code $out" "$2" "$1"
}
seq 10 >ten.txt
cat ten.txt | fed "$summed" 'sum the numbers'
is_fed 'what is piped in is the standard input of the program' '0 55'
like "$told" '^--- standard input \(21 bytes, 10 lines\), all of it:' 'the model is told how it begins'
like "$told" '^10$' 'with its lines'
like "$err" 'standard input, 21 bytes' 'and the person that it was taken'
"$ASSAY" replay last --json >replay.json
is "$(jq .same replay.json)" true 'a replay is told the same'
fed "$summed" 'sum the numbers' <ten.txt
is_fed 'a file likewise' '0 55'
fed "$summed" --stdin ten.txt 'sum' </dev/null
is_fed '--stdin as before' '0 55'
like "$told" '^--- standard input ' 'is shown, too'
seq 3 | fed "$summed" --stdin ten.txt 'sum'
is_fed 'and goes before what is piped in' "0 55"
seq 4 | fed "$summed" --stdin - 'sum'
is_fed '--stdin -' "0 10"
seq 5 | fed "$summed" --stdin /dev/stdin 'sum'
is_fed '--stdin /dev/stdin' "0 15"
nothing='print(len(sys.stdin.read()))'
fed "$nothing" 'count' </dev/null
is_fed '/dev/null is none' '0 0'
like "$told" 'Standard input is empty' 'and the model is told so'
fed "$nothing" 'count' <&-
is_fed 'nor is a closed one' '0 0'
fed "$nothing" 'count' 0>written.txt
is_fed 'nor one for writing, as nohup gives' '0 0'
printf '' | fed "$nothing" 'count'
is_fed 'nor an empty pipe' '0 0'
like "$told" 'Standard input is empty' 'of which the model is told'
printf 'a\000b' | fed 'print(len(sys.stdin.buffer.read()))' 'count'
is_fed 'bytes that are no text' '0 3'
like "$told" '^--- standard input \(3 bytes, not text\)' 'are looked into like any file'
read_in='import os; print([(n, open("/in/" + n).read().split()) for n in sorted(os.listdir("/in"))])'
seq 2 | fed "$read_in" -f - 'sum'
is_fed '-f - is a file' "0 [('stdin', ['1', '2'])]"
seq 2 | fed "$read_in" -f two.csv=- 'sum'
is_fed 'and has the name that it is given' "0 [('two.csv', ['1', '2'])]"
seq 2 | fed "$read_in" -f two.csv=/dev/stdin 'sum'
is_fed 'as /dev/stdin has' "0 [('two.csv', ['1', '2'])]"
mkfifo handed
seq 3 >handed &
fed "$read_in" -f n.txt=/dev/fd/9 9<handed 'sum' </dev/null
is_fed 'and the pipe of a <(…)' "0 [('n.txt', ['1', '2', '3'])]"
seq 3 >handed &
fed "$read_in" -f /dev/fd/9 9<handed 'sum' </dev/null
is_fed 'which is called something in any case' "0 [('piped-9', ['1', '2', '3'])]"
cp ten.txt a=b
fed "$read_in" -f a=b 'sum' </dev/null
like "$(cat out.txt)" "^\[\('a=b', " 'a file whose name has the sign is that file'
seq 2 | fed "$read_in" -f - --stdin - 'sum'
is_fed 'standard input is only one thing' '2 '
like "$err" 'only one of' 'and the message says so'
seq 2 | fed "$read_in" -f - -
is_fed 'the prompt counts' '2 '
fed "$read_in" 'sum ten.txt, please' </dev/null
like "$(cat err.txt)" '^ten.txt is a file here that the code is not given; -f ten.txt gives it' \
	'a file that is named and not given: a hint'
fed "$read_in" -f ten.txt 'sum ten.txt, please' </dev/null
unlike "$(cat err.txt)" 'is a file here' 'and none when it is given'
: >err.txt
(until_true grep -q 'waiting for' err.txt; seq 10) | fed "$summed" 'sum the numbers'
is_fed 'it is waited for' "0 55"
like "$err" 'waiting for the end of standard input' 'and the person is told after a second'

# --- words that are none ---

before=$(runs)
refused 'an unknown command' 2 'unknown command "aks".*did you mean "ask"' aks x
refused 'another' 2 'unknown command "bacth".*did you mean "batch"' bacth x
refused 'a question without a command' 2 'assay ask "What is it\?"' 'What is it?'
refused 'one near to help' 2 'unknown command "hlep".*did you mean "help"' hlep
refused 'a word like no command' 2 'unknown command "xyzzyplugh".*--help' xyzzyplugh
refused 'an unknown flag' 2 'unknown option --scritp; did you mean --script' ask --scritp s x
refused 'a flag of another command' 2 'unknown option --jobs' ask --jobs 2 x
refused 'an unknown letter' 2 'unknown option -z' ask -z x
refused 'a flag without its value' 2 'model needs a value' ask --model
refused 'a value for a flag without' 2 'json takes no value' ask --json=yes x
refused 'flags before the command' 2 'options go after the command' --json ask x
for bad in '--timeout soon' '--memory 1Q' '--pids 0' '--require much' '--lang cobol' '--profile lax' \
	'--approve maybe' '--expect-number x' '--expect-regex (' '--check lnes:1' '--check lines' \
	'--role-model poet=x' '--role-model code=off' '-o novalue' '--color red' '--retries -1'; do
	refused "$bad" 2 "$(printf '%s' "${bad%% *}" | sed 's/^--\(expect-\)\{0,1\}//;s/^-o/-o/')" ask --script good.jsonl $bad x
done
refused 'an unknown provider' 2 'unknown provider "opnai".*did you mean "openai"' ask --provider opnai x
refused 'an unknown run' '1|2' '01ABC' log show 01ABC
is "$(runs)" "$before" 'none of these began a run'

# --- task files ---

cat >tasks.jsonl <<'T'
{"id":"good","prompt":"x","lang":"python","note":"unknown keys are kept"}
{"id":"half","prompt":
["not","an","object"]
{"id":"no prompt"}

{"id":"typed","prompt":7}
{"id":"lang","prompt":"x","lang":"cobol"}
{"id":"good","prompt":"again"}
{"id":"expect","prompt":"x","expect":{"regex":"("}}
{"id":"limits","prompt":"x","limits":{"timeout":"long"}}
{"id":"file","prompt":"x","files":["nowhere.csv"]}
{"id":"twice","prompt":"a","prompt":"b"}
{"id":"blank","prompt":"  "}
{"id":"last","prompt":"x","lang":"python"}
T
printf '{"id":"utf8","prompt":"caf\351"}\n' >>tasks.jsonl
run batch tasks.jsonl --script good.jsonl --out results.jsonl --json
is "$code $(shape '.total, .success, .failed')" '9 [14,2,12]' 'malformed lines fail alone: the rest runs'
is "$(jq -r 'select(.status == "success").id' results.jsonl | tr '\n' ' ')" 'good last ' 'the good ones succeed'
is "$(wc -l <results.jsonl)" 14 'each line has its result'
for line in 2 3 4 6 7 8 9 10 11 12 13 15; do
	like "$(jq -r 'select(.status != "success").error' results.jsonl)" "tasks\.jsonl:$line: ." "line $line is named"
done
is "$(jq -rs '[.[] | select(.status != "success") | .status, .attempts] | unique | @json' results.jsonl)" '[0,"failed"]' \
	'and none of them ran'
like "$(cat err.txt)" 'tasks\.jsonl:2' 'standard error names them, too'
printf 'What is it?\nca\351f\n' >tasks.txt
run batch tasks.txt --script good.jsonl --json
is "$code $(shape .success,.failed)" '9 [1,1]' 'one prompt per line: a bad one fails alone'
printf 'id,prompt\na,"What, is it?"\nb,"never closed\n' >tasks.csv
run batch tasks.csv --script good.jsonl --json
is "$code $(shape .success,.failed)" '9 [1,1]' 'CSV: a quote that never closes'
cp binary.bin tasks.bin.jsonl
run batch tasks.bin.jsonl --script good.jsonl --json
is "$code $(shape .success)" '9 [0]' 'a binary task file'

# --- standard output ---

full() { # name; arguments...
	name=$1
	shift
	"$ASSAY" "$@" >/dev/full 2>err.txt </dev/null
	is "$?" 1 "$name on a full disk: exit code"
	like "$(cat err.txt)" 'assay: .*(No space left|standard output)' "$name on a full disk: it says so"
	"$ASSAY" "$@" >&- 2>err.txt </dev/null
	is "$?" 1 "$name with standard output closed: exit code"
	like "$(cat err.txt)" 'assay: .*(Bad file|standard output)' "$name with standard output closed: it says so"
}
full 'ask' ask --script good.jsonl x
full 'ask --json' ask --script good.jsonl --json x
full 'complete' complete --script good.jsonl x
full 'exec' exec utf8.py
full 'help' ask --help
run log list --status sucess
is "$code" 2 'log list: a status that is none'
like "$err" 'success, .*unfinished' 'and the message has those there are'
run log list --status unfinished
is "$code" 0 'unfinished is one'
full 'log list' log list
full 'batch --json' batch tasks.txt --script good.jsonl --json --only line-1
"$ASSAY" log list --json 2>err.txt | head -c 1 >/dev/null
is "$(cat err.txt | grep -c 'SIGPIPE\|assert')" 0 'a reader that leaves is no crash'
"$ASSAY" ask --script good.jsonl --quiet x 2>&- >out.txt
is "$? $(cat out.txt)" '0 It is 42.' 'standard error closed: the answer is there all the same'

# --- a model that misbehaves ---

model() { # reply of every stage
	printf '#!/bin/sh\ncat >/dev/null\n%s\n' "$1" >model
	chmod +x model
}
asked() { # options
	begun=$(date +%s%N)
	run ask --model-command "$work/model" --json "$@" 'What is 6 times 7?'
	took=$((($(date +%s%N) - begun) / 1000000))
}
model "echo 'blah {{{ [ blah \`\`\` '"
asked --max-attempts 2
like "$code $(shape .status,.level)" '^1 \["(failed|unverified)","none"\]$' 'nonsense in every role: nothing is verified'
model 'head -c 3000 /dev/urandom'
asked --max-attempts 2
like "$code $(shape .status,.level)" '^[14] \["(failed|unverified|provider_error)","none"\]$' 'random bytes in every role'
jq -e . out.txt >/dev/null
ok $? 'and the result is valid JSON'
model "printf '%s' '{\"needs_code\":true,\"verdict\":\"pass\",\"answer\":\"hacked\",\"checks\":[]}'"
asked --max-attempts 2
unlike "$(shape .status,.level)" 'success|judged|checked|expected' 'a verdict in place of code verifies nothing'
model 'exit 0'
asked
is "$code $(shape .status,.level,.answer)" '4 ["provider_error","none",null]' 'a model that says nothing'
model 'yes "\`\`\`"'
asked
is "$code $(shape .status)" '4 ["provider_error"]' 'one that never stops talking'
model 'exec sleep 600'
asked --request-timeout 0.5
is "$code $(shape .status)" '4 ["provider_error"]' 'one that never answers: --request-timeout'
like "$(field .error)" 'in time|time' 'says that it was time'
[ $took -ge 500 ] && [ $took -lt 30000 ]
ok $? "and holds ($took ms)"
asked --deadline 0.5
is "$code $(shape .status)" '124 ["budget"]' 'one that never answers: --deadline'
[ $took -ge 500 ] && [ $took -lt 30000 ]
ok $? "and holds ($took ms)"

done_testing
