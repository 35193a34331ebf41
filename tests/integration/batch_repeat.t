#!/bin/sh
# Several runs of each task: what they say together, and the answer that most of them give.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true

# a succeeds in 2 of 4 runs, b in all, c in none, whoever of the workers has them.
forget
say code "$(program 'print(1)')" '{"id":"a","repeat":2}'
say code "$(program 'print(1)')" '{"id":"a","repeat":4}'
say code "$(program 'print(2)')" '{"id":"a"}'
say code "$(program 'print(1)')" '{"id":"b"}'
say code "$(program 'print(3)')" '{"id":"c"}'
for id in a b c; do
	printf '{"id":"%s","prompt":"One?","lang":"python","expect":"1"}\n' "$id"
done >t.jsonl
run batch t.jsonl --script s.jsonl --json --out r.jsonl --repeat 4 --max-attempts 1 -j 3
is "$code $(jq -r '"\(.id)\(.repeat) \(.status)"' r.jsonl | sort | xargs)" \
	'9 a1 failed a2 success a3 failed a4 success b1 success b2 success b3 success b4 success c1 failed c2 failed c3 failed c4 failed' \
	'each task runs K times'
is "$(python3 - <<'END'
import json
from math import comb, sqrt
s = json.load(open("out.txt"))["repeats"]
tasks = {"a": 2, "b": 4, "c": 0}
n = 4
def wilson(p, n, z=1.959963984540054):
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0, middle - reach), min(1, middle + reach)
good = s["k"] == 4 and s["tasks"] == 3 and s["runs"] == 12
for k in range(1, 5):
    at = sum(1 - comb(n - c, k) / comb(n, k) for c in tasks.values()) / 3
    hat = sum(comb(c, k) / comb(n, k) for c in tasks.values()) / 3
    for name, want in (("pass@%d" % k, at), ("pass^%d" % k, hat)):
        low, high = wilson(want, 3)
        good &= abs(s[name]["value"] - want) < 1e-9 and abs(s[name]["low"] - low) < 1e-9 and abs(s[name]["high"] - high) < 1e-9
print(good)
END
)" True 'pass@k, pass^k and their intervals'
is "$(jq -c '.success_rate | [.value, .n]' out.txt)" '[0.5,12]' 'and the rate of all runs'
run batch t.jsonl --script s.jsonl --out r2.jsonl --repeat 4 --max-attempts 1 --vote --quiet
run batch t.jsonl --script s.jsonl --out r2.jsonl --repeat 4 --max-attempts 1 --vote --resume
like "$err" '^pass@1 50\.0 % \([0-9.]+ to [0-9.]+\), pass@4 66\.7 % .*, pass\^4 33\.3 % ' 'people are told, also of results from before'
like "$err" '^by vote, 1 of 3 succeeded$' 'of a tie the first answer wins'
run batch t.jsonl --script s.jsonl --json --out r2.jsonl --repeat 5 --max-attempts 1 --vote --resume
is "$code $(field '[.success, .failed, .skipped] | tojson')" '9 [1,2,12]' '--resume with more of them runs what is missing'
is "$(jq -c '.votes | [.tasks, .success, (.answers | map([.id, .answer, .votes, .of, .status]))]' out.txt)" \
	'[3,1,[["a","2\n",3,5,"failed"],["b","1\n",5,5,"success"],["c","3\n",5,5,"failed"]]]' '--vote: the answer that most give'
run batch t.jsonl --script s.jsonl --json --out r3.jsonl --repeat 3 --limit 1 --max-attempts 1 --junit r.xml --csv r.csv
is "$(wc -l <r3.jsonl) $(grep -c '"a \[[23]\]"' r.xml) $(grep -o '^a,[0-9]' r.csv | sort | xargs)" '3 2 a,1 a,2 a,3' '--limit counts tasks; reports tell runs apart'
for bad in '--repeat 0' '--repeat 1001' '--vote' '--vote --repeat 1'; do
	# shellcheck disable=SC2086 # an option and its value
	run batch t.jsonl --script s.jsonl --json $bad
	is "$code" 2 "usage: $bad"
done
done_testing
