#!/bin/sh
# What becomes of a run beside the log (results, reports, JSON) holds as few secrets as the log: none
# by value, none by shape.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

export MY_SERVICE_TOKEN='correct horse "battery" staple'
shaped=ghp_0123456789abcdefghijABCDEFGHIJ012345
jq -cn --arg t "$MY_SERVICE_TOKEN" '$t' >escaped.json
clean() { # FILE name: neither is in it, placeholders are
	grep -qFe "$MY_SERVICE_TOKEN" -e "$shaped" -e "$(sed 's/^"//; s/"$//' escaped.json)" "$1"
	[ $? -eq 1 ]
	ok $? "$2: no secret"
	[ "${3-}" = told ] && return
	grep -q 'REDACTED:MY_SERVICE_TOKEN:' "$1" && grep -q 'REDACTED:GITHUB' "$1"
	ok $? "$2: but placeholders for both"
	[ "${3-json}" != json ] || is "$(jq -e . "$1" >/dev/null 2>err.txt && echo valid)" valid "$2: JSON still"
}
cat >leak.py <<P
import sys
print('correct horse ' + '"battery" staple', '$shaped')
print('correct horse ' + '"battery" staple', '$shaped', file=sys.stderr)
P
run exec --json leak.py
clean out.txt 'exec --json'
is "$code $(field .exit_code)" '0 0' 'and the rest is as it was'
run exec leak.py
is "$(grep -c "$shaped" out.txt)" 1 'its own output is the own business of who runs it'

program="$(program "$(cat leak.py)")"
forget
say plan "$(plan)"
say code "$program"
run ask --script s.jsonl --no-judge --require ran --json 'Leak.'
clean out.txt 'ask --json'
forget
say complete "It is $MY_SERVICE_TOKEN, or $shaped."
run complete --script s.jsonl --json 'Which?'
clean out.txt 'complete --json'

forget
say code "$program"
say code "$program"
jq -cn --arg t "$MY_SERVICE_TOKEN" --arg s "$shaped" '
	{id: "leaks", prompt: "x", lang: "python", expect: {lines: 1}},
	{id: "expects", prompt: "x", lang: "python", expect: {equals: ($t + $s)}, limits: {max_attempts: 1}},
	{id: ("bad " + $t), prompt: 3, key: $s},
	{id: ("named " + $s), prompt: "x", lang: $t}' >t.jsonl
printf '{"id":"twice","%s":1,"%s":2}\n' "$shaped" "$shaped" >>t.jsonl
run batch t.jsonl --script s.jsonl --no-judge --out r.jsonl --junit r.xml
is "$code $(wc -l <r.jsonl)" '9 5' 'a batch of tasks that leak in every way'
clean r.jsonl 'batch --out'
clean r.xml 'batch --junit' xml
clean err.txt 'what batch tells' told
forget
say code "$program"
say code "$program"
run batch t.jsonl --script s.jsonl --no-judge
clean out.txt 'batch on standard output'
is "$("$ASSAY" log export 2>&1 | grep -cFe "$shaped" -e "$(sed 's/^"//; s/"$//' escaped.json)")" 0 'nor has the log any'
# A placeholder is the same in the log and beside it.
is "$(grep -o 'REDACTED:GITHUB[^]]*' out.txt | sort -u)" "$("$ASSAY" log export | grep -o 'REDACTED:GITHUB[^]]*' | sort -u)" \
	'a secret has one placeholder everywhere'

# --- patterns of one's own ---

echo "print('badge B-1234, case C-77, invoice I-5')" >own.py
printf 'redact = B-[0-9]{4}\n[profile careful]\nredact = C-[0-9]+\n' >own.ini
run exec --config own.ini --use careful --redact 'I-[0-9]' --json own.py
is "$(field .stdout | sed 's/:[0-9a-f]*]/]/g')" 'badge [REDACTED:PATTERN], case [REDACTED:PATTERN], invoice [REDACTED:PATTERN]' \
	'patterns of the file, of the profile and of the call add up'
echo "print('case 7 ; C-77, invoice 5')" >semicolon.py
printf 'redact = [0-9] ; C-[0-9]+  \nredact = I ;nothing\njson = true ; a comment\n' >semicolon.ini
run exec --config semicolon.ini semicolon.py
is "$(field .stdout | sed 's/:[0-9a-f]*]/]/g')" 'case [REDACTED:PATTERN], invoice 5' \
	'a pattern goes to the end of its line, whatever begins a comment elsewhere'
for bad in '(' 'x*'; do
	printf 'json = true\nredact = %s\n' "$bad" >bad.ini
	run exec --config bad.ini own.py
	like "$code $err" '^5 .*bad.ini:2: redact "' "a bad pattern is refused with its line: $bad"
done
run exec --redact '(' own.py
like "$code $err" '^2 .*--redact' 'and with its option'
done_testing
