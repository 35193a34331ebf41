#!/bin/sh
# The session that the README shows is what assay prints: the demonstration's replies, with the plan that the
# README tells of. Of times, sizes, the run's id and what is installed here only the form.
. "$(dirname "$0")/lib.sh"
[ -r /var/lib/dpkg/status ] || skip_all 'no packages of Debian here'
command -v jq >/dev/null || skip_all 'no jq here'

# Each line of it up to the answer, which is this machine's.
form() {
	sed -E 's/ in [0-9.]+ m?s, [0-9.]+ MiB$/ in TIME, SIZE/; s/ · [0-9.]+ s · run [0-9A-Z]{26}$/ · TIME · run ID/
		/· TIME · run ID$/q'
}
sed -n '/^## A session$/,/^## /s/^    //p' "$top/README.md" >session.txt
sed '1,2d' session.txt | form >want.txt
question=$(sed -n '1,2p' session.txt | tr -d '\n' | sed -E 's/.*"([^\\]*)\\ *(.*)"$/\1\2/')
like "$question" '^Which ten .*\? Print each .* first\.$' 'the question'

cat >plan.txt <<'P'
```json plan
{"approach": "read the paragraphs of the file, sort by Installed-Size", "needs_code": true, "checks": [
 {"kind": "lines", "arg": 10}, {"kind": "unique"},
 {"kind": "regex", "arg": "^[a-z0-9][a-z0-9+.:-]* [0-9]+\\.[0-9] MiB$"}]}
```

P
jq -c --rawfile plan plan.txt 'if .stage == "code" then .reply = $plan + .reply else . end' \
	"$top/tests/demo/packages.script.jsonl" >s.jsonl
run ask -f /var/lib/dpkg/status --script s.jsonl "$question"
is "$code $(printf '%s\n' "$out" | wc -l)" '0 10' 'it has an answer'
form <err.txt >got.txt
is "$(diff want.txt got.txt)" '' 'and prints what the README shows'
done_testing
