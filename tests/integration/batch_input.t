#!/bin/sh
# What a task file may look like: keys that are not known, expectations as datasets have them,
# columns of other names, lists, tabs, standard input.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

forget
say code "$(program 'print(int(input()) ** 2)')"
say plan "$(plan)"
say judge "$(verdict pass)"
batch() { # FILE [OPTION...]
	run batch --script s.jsonl --json "$@"
}
piped() { # FILE-OF-STDIN [OPTION...]
	given=$1
	shift
	"$ASSAY" batch - --script s.jsonl --json "$@" >out.txt 2>err.txt <"$given"
	code=$?
	out=$(cat out.txt)
	err=$(cat err.txt)
}
said() {
	jq -r '"\(.id) \(.status) \(.level)"' "${1:-r.jsonl}" | sort | xargs
}
square='"prompt":"Square it.","lang":"python"'

# --- keys ---

printf '{"id":"a",%s,"stdin":"3","expect":"9"}\n{"id":"b",%s,"stdin":"3","expct":"9","reviewer":"Ann"}\n{"id":"c",%s,"stdin":"4","expct":"9","expected":"16"}\n' \
	"$square" "$square" "$square" >t.jsonl
batch t.jsonl --out r.jsonl
is "$(printf '%s\n' "$err" | grep -c 'not known')" 1 'a key that is not known is told of once'
like "$err" 't\.jsonl: not known.*"expct" \(line 2: did you mean "expect"\?\), "reviewer" \(line 2\)' \
	'with the first line it is on, and what was meant'
is "$code $(said)" '0 a success expected b success judged c success expected' 'and is kept without a meaning'

i=0
for expectation in '"expect":"9"' '"expect":"9.0"' '"expect":9' '"expect":9.5' '"expected":"9"' '"expected":"9.0"' \
	'"expected":"10"' '"expected":9' '"expected":"nine"' '"expected":{"contains":"9"}' '"expected":[9]' \
	'"expected":true' '"expect":"9","expected":"9"' '"expected":null,"expect":9'; do
	i=$((i + 1))
	printf '{"id":"%02d",%s,"stdin":"3",%s}\n' "$i" "$square" "$expectation"
done >e.jsonl
batch e.jsonl --out e.out --max-attempts 1
is "$(jq -r 'select(.status == "success" and .level == "expected") | .id' e.out | sort | xargs)" '01 03 05 06 08 10 14' \
	'expect and expected: a text is the output, a number its last number'
like "$(jq -r 'select(.id == "12") | .error' e.out)" '^e\.jsonl:12: "expected" must be a text, a number' 'what is neither is refused'
like "$(jq -r 'select(.id == "13") | .error' e.out)" '^e\.jsonl:13: "expect" and "expected" are both there' 'and two of them'

if [ -r "$data/gsm8k.jsonl" ]; then
	first=$(head -n 1 "$data/gsm8k.jsonl" | jq -r .expected)
	cp s.jsonl squares.jsonl
	forget
	say code "$(program "print('\$' + format($first, ',') + '.00')")"
	say judge "$(verdict pass)"
	batch "$data/gsm8k.jsonl" --out g.out --limit 2 --max-attempts 1 --lang python --role-model plan=off
	is "$code $(jq -r '"\(.status) \([.checks[] | select(.source == "task") | .verdict] | join(","))"' g.out | xargs)" \
		'9 success pass failed fail' "a dataset's expectations are checked as they are"
	mv squares.jsonl s.jsonl
else
	skip "a dataset's expectations are checked as they are" 'no data here'
fi

# --- columns of other names ---

printf 'question,lang,stdin,answer\nSquare it.,python,3,9\nSquare it.,python,4,15\n' >q.csv
batch q.csv --out q.out --map prompt=question,expect=answer --max-attempts 1
is "$code $(said q.out)" '9 line-2 success expected line-3 failed ran' '--map: columns of CSV'
unlike "$err" 'not known' 'whose names are then known'
batch q.csv --out q1.out --map prompt=question --map expected=answer --max-attempts 1
is "$code $(said q1.out)" '9 line-2 success expected line-3 failed ran' '--map may be given again'
printf '{"question":"Square it.","lang":"python","stdin":"3","answer":9}\n{"prompt":"Square it.","question":"x"}\n' >q.jsonl
batch q.jsonl --out q2.out --map prompt=question,expect=answer
is "$(said q2.out)" 'line-1 success expected line-2 failed none' '--map: keys of JSON'
like "$(jq -r 'select(.id == "line-2") | .error' q2.out)" 'both "prompt" and "question"' 'a key that is there twice then is told'
for bad in prompt=frage prompt color=question prompt=question,prompt=answer =x; do
	batch q.csv --out none.out --map "$bad"
	is "$code $(ls none.out 2>/dev/null)" '2 ' "--map $bad"
done
like "$(run batch q.csv --map prompt=frage; cat err.txt)" 'q\.csv: --map prompt=frage: there is no "frage"' 'the column that is not there is named'
printf 'prompt,expect,answer\nx,1,2\n' >two.csv
batch two.csv --map expect=answer
is "$code" 2 'two columns for one key'
like "$err" '^assay: two\.csv:1: two columns are "expect"' 'are named'

# --- formats, told by name or content ---

cat >list.json <<END
[
  {"id": "a", $square, "stdin": "3", "expect": "9"},
  {"id": "b, c] \"", $square,
   "stdin": "4", "expect": {"equals": "16"}},
  {"id": "torn", "prompt": },
  {"id": "d", $square, "stdin": "5", "expect": 25}
]
END
batch list.json --out list.out
is "$code $(jq -r '"\(.id) \(.status)"' list.out | sort | tr '\n' '|')" '9 a success|b, c] " success|d success|line-5 failed|' \
	'a JSON list, of which one is bad'
like "$(jq -r 'select(.id == "line-5") | .error' list.out)" '^list\.json:5: ' 'on its line'
head -n 4 list.json >open.json
batch open.json --out open.out
like "$(jq -r 'select(.error) | .error' open.out)" '^open\.json:5: the list of tasks is never closed' 'a list that is cut off is no whole one'
is "$(jq -r 'select(.status == "success") | .id' open.out | wc -l)" 2 'its whole tasks are done'
printf '{\n "prompt": "Square it.",\n "lang": "python", "stdin": "6", "expect": 36\n}\n' >one.json
batch one.json --out one.out
is "$code $(said one.out)" '0 line-1 success expected' 'one task over several lines'
printf 'id\tprompt\tlang\tstdin\texpect\na\tSquare it, please.\tpython\t7\t49\n' >t.tsv
batch t.tsv --out tsv.out
is "$code $(said tsv.out)" '0 a success expected' 'tabs'
for file in t.tsv list.json q.jsonl two.csv; do
	cp "$file" "${file%.*}.data"
done
batch t.data --out tsv2.out
is "$code $(said tsv2.out)" '0 a success expected' 'tabs, told by content'
piped list.json --out in.out
is "$code $(wc -l <in.out)" '9 4' 'standard input: a list'
piped one.json --out in6.out
is "$code $(said in6.out)" '0 line-1 success expected' 'standard input: one object over several lines'
cat one.json one.json >two.json
piped two.json --out in7.out
is "$code $(jq -r .status in7.out | sort -u) $(jq -s 'map(.attempts) | add' in7.out)" '9 failed 0' \
	'several of them are refused, not taken for prompts'
like "$(jq -r 'select(.id == "line-5") | .error' in.out)" '^standard input:5: ' 'whose lines are counted'
piped t.jsonl --out in2.out --only a
is "$code $(said in2.out)" '0 a success expected' 'standard input: lines of JSON'
piped t.tsv --out in3.out
is "$code $(said in3.out)" '0 a success expected' 'standard input: tabs'
printf 'prompt,lang,stdin,expect\n"Square it, please.",python,8,64\n' >in.csv
piped in.csv --out in4.out
is "$code $(said in4.out)" '0 line-2 success expected' 'standard input: CSV'
printf '[1] is a prompt, and has a comma\nSo is this.\n' >in.txt
forget
say code "$(program 'print("x")')"
piped in.txt --out in5.out --require ran --lang python --role-model plan=off --no-judge
is "$code $(said in5.out)" '0 line-1 success ran line-2 success ran' 'standard input: prompts'
for how in 'question,answer\nWhat is six times seven?,42\n\n"One, or two?",1\n' \
	'The question\tanswer\nWhat is six times seven?\t42\n'; do
	# shellcheck disable=SC2059 # the format is the text
	printf "$how" >other.csv
	piped other.csv --out none.out
	is "$code $(ls none.out 2>/dev/null)" '2 ' 'standard input: a table without prompts is not taken for prompts'
	like "$err" '^assay: standard input:1: no column is "prompt" \(there are "[A-Za-z ]*question", "answer"\): .*--map prompt=COLUMN' \
		'and what to do is told'
done
batch other.csv --out none.out
like "$code $err" '^2 assay: other\.csv:1: no column is "prompt"' 'nor is a file of that kind'
piped other.csv --out tab6.out --map 'prompt=The question' --require ran --lang python --role-model plan=off --no-judge
is "$code $(said tab6.out)" '0 line-2 success ran' '--map names its column'
printf 'Sort these: 3,1,2\nList, in order, the primes below 9\n' >in.txt
piped in.txt --out tab7.out --require ran --lang python --role-model plan=off --no-judge
is "$code $(said tab7.out)" '0 line-1 success ran line-2 success ran' 'prompts with commas stay prompts'
for encoding in UTF-16 UTF-16LE UTF-16BE UTF-32; do
	printf '{"prompt":"Square it."}\n' | iconv -t "$encoding" >wide.jsonl
	batch wide.jsonl --out none.out
	like "$code $err" "^2 assay: wide\\.jsonl: is $encoding, and UTF-8 is expected: iconv -f $encoding -t UTF-8 wide\\.jsonl\$" \
		"$encoding is named, and how to turn it into UTF-8"
done
piped wide.jsonl
like "$code $err" '^2 assay: standard input: is UTF-32, .*: iconv -f UTF-32 -t UTF-8 FILE$' 'on standard input, too'
batch t.tsv --prompts none --out none.out
like "$code $err" '^2 assay: --prompts none: No such file' 'a folder of prompts that is not there is named'
batch t.tsv --prompts t.tsv --out none.out
like "$code $err" '^2 assay: --prompts t\.tsv: is no folder' 'and a file is none'
: >empty
piped empty
is "$code" 2 'standard input: nothing'
like "$err" '^assay: standard input: holds no task' 'is told'
done_testing
