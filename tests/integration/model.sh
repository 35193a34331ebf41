# A scripted model for the tests, beside lib.sh: lines of s.jsonl, taken in order per stage.
# Each role has its call here, so that each can be told what to say; ask_calls.t is about the
# usual two calls, and the one.
export ASSAY_CAREFUL=true
forget() { # begins a new script
	: >s.jsonl
}
# jq takes ten times as long to start as sed: a script has hundreds of replies.
json_escapes='s/[\\"]/\\&/g;s/\n/\\n/g;s/\t/\\t/g'
for byte in 01 02 03 04 05 06 07 08 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f; do
	json_escapes="$json_escapes;s/\\x$byte/\\\\u00$byte/g"
done
say() { # stage reply [other members, as a JSON object in one line]
	case ${3:-} in
	'' | '{}') members='}' ;;
	*) members=",${3#\{}" ;;
	esac
	case $2 in
	*[\\\"[:cntrl:]]*) reply=$(printf '%s' "$2" | sed -z "$json_escapes") ;;
	*) reply=$2 ;;
	esac
	printf '{"stage":"%s","reply":"%s"%s\n' "$1" "$reply" "$members" >>s.jsonl
}
program() { # code [info string]
	printf 'A program:\n\n```%s\n%s\n```\n' "${2:-python}" "$1"
}
plan() { # [checks as a JSON array [language]]
	printf '{"needs_code":true,"language":"%s","approach":"compute it","checks":%s,"answer":null}' \
		"${2:-python}" "${1:-[]}"
}
verdict() { # pass|fail [reason]
	printf '{"verdict":"%s","reason":"%s"}' "$1" "${2:-because}"
}
# ./slow is a model that writes the first half of its reply, blank lines, and the rest when there is a file `go`: a
# program that prints forty rows and then stays, as tail-$$-WORD.
slowly() { # word
	cat >slow <<-'S'
		#!/bin/sh
		cat >/dev/null
		cat first.txt
		until [ -e go ]; do sleep 0.1; echo; done
		cat rest.txt
	S
	chmod +x slow
	rm -f go
	cat >first.txt <<-'R'
		```json plan
		{"needs_code": true, "approach": "add up the rows", "checks": []}
		```

		```python
		import os
		total = 0
	R
	cat >rest.txt <<-R
		for row in range(40):
		    print('row', row, flush=True)
		os.execv('/usr/bin/tail', ['tail-$$-$1', '-f', '/dev/null'])
		\`\`\`
	R
}
# A task of a batch: what the program is to do with its standard input.
square() { # id number [other members]
	none='{}'
	jq -cn --arg i "$1" --argjson n "$2" --argjson more "${3:-$none}" \
		'{id: $i, prompt: "Square it.", lang: "python", stdin: ($n | tostring),
		  expect: {equals: ($n * $n | tostring)}} + $more'
}
ask() {
	run ask --script s.jsonl --json "$@"
}
# Members of the result as one compact array: shape '.status, .level'
shape() {
	jq -c "[$1]" out.txt
}
# The verdict of each check: kind source verdict.
verdicts() {
	jq -r '.checks[] | "\(.kind) \(.source) \(.verdict)"' out.txt
}
