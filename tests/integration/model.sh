# A scripted model for the tests, beside lib.sh: lines of s.jsonl, taken in order per stage.
# Each role has its call here, so that each can be told what to say; ask_calls.t is about the
# usual two calls, and the one.
export ASSAY_CAREFUL=true
forget() { # begins a new script
	: >s.jsonl
}
say() { # stage reply [other members, as a JSON object]
	none='{}'
	jq -cn --arg s "$1" --arg r "$2" --argjson more "${3:-$none}" \
		'{stage: $s, reply: $r} + $more' >>s.jsonl
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
