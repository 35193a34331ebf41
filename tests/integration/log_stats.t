#!/bin/sh
# log stats: rates, times and buckets; log prune: what the configuration keeps.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

printf 'print(1)\n' >good.py
printf 'import sys; sys.exit(3)\n' >bad.py
forget
say plan "$(plan)"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
run ask --script s.jsonl --tag even --tag odd 'How many?'
run log stats --by tag
like "$out" '^tokens +unknown: no model reported them$' 'tokens that nobody counted are not none'
like "$out" '^even .* - +- +-$' 'nor in a table'
for _ in 1 2 3 4; do
	run exec good.py
done
run exec bad.py
run replay last
is "$("$ASSAY" log list --json | jq length)" 7 'six runs and a replay'

# Their times, models and costs, as if others had made them: run N began N days ago and took N s.
python3 - <<'P'
import sqlite3, time
db = sqlite3.connect('%s/assay/log.db' % __import__('os').environ['XDG_DATA_HOME'])
now = int(time.time()) * 1000
ids = [row[0] for row in db.execute('select id from runs where replay_of is null order by id desc')]
for n, run in enumerate(ids, 1):
	began = now - n * 86400000 + 3600000
	db.execute('update runs set started_at_ms = ?, ended_at_ms = ?, model = ?, cost_micro_usd = ?, input_tokens = 10'
		' where id = ?', (began, began + n * 1000, None if n > 4 else 'm%d' % (n % 2), None if n == 1 else n * 500000, run))
db.commit()
P

run log stats --json
is "$code $(jq -c '[.runs, .by_status.success, .rates.runs, .rates.success]' out.txt)" '0 [7,5,6,5]' \
	'counts are of all runs, rates of those that are no replays'
is "$(jq -c '.rates | [.success_rate * 6, .median_ms, .p95_ms, .input_tokens, .cost_usd, .runs_cost_unknown,
	.runs_tokens_unknown]' out.txt)" '[5,3000,6000,60,10,1,0]' \
	'rate, median and 95th percentile by nearest rank, tokens, cost'
run log stats
like "$out" '^success +83\.3%$' 'for people: the rate'
like "$out" '^time +median 3\.0s, p95 6\.0s$' 'and the times'
like "$out" '^cost +\$10\.00 \(1 run of unknown cost\)$' 'and the cost'

buckets() {
	"$ASSAY" log stats --json "$@" | jq -c '[.by, (.buckets[] | [.name, .runs, .median_ms])]'
}
is "$(buckets --by model)" '["model",["m0",2,2000],["m1",2,1000],[null,2,5000]]' '--by model: and those without one'
is "$(buckets --by status)" '["status",["failed",1,1000],["success",5,4000]]' '--by status'
is "$("$ASSAY" log stats --by tag --json | jq -c '[.buckets[] | [.name, .runs]]')" '[["even",1],["odd",1],[null,5]]' \
	'--by tag: a run is in each of its tags'
is "$("$ASSAY" log stats --by day --json | jq -c '[.buckets[].runs] | [length, add]')" '[6,6]' '--by day'
is "$(buckets --by model --since 60h)" '["model",["m0",1,2000],["m1",1,1000]]' 'and only of the runs that the filters name'
run log stats --by model
like "$out" '^m0 +2 +100\.0% +2\.0s +4\.0s +20 +0 +\$3\.00$' 'for people: a table'
run log stats --by weather
is "$code" 2 'an unknown bucket is refused'
like "$err" 'model, day, tag' 'with those there are'

# --- what to keep ---

ids() {
	"$ASSAY" log list --json | jq -r 'sort_by(.run) | [.[] | select(.replay_of == null) | .run] | length'
}
run log prune
is "$code $(ids)" '2 6' 'log prune: with nothing that says what to keep it removes nothing'
like "$err" 'keep-days' 'and names the settings'
mkdir -p "$XDG_CONFIG_HOME/assay"
printf 'keep-days = 3\nkeep-failed = true\n' >"$XDG_CONFIG_HOME/assay/config.ini"
run log prune --dry-run --json
is "$code $(jq -c '[.removed, (.runs | length)]' out.txt) $(ids)" '0 [false,3] 6' '--dry-run names what would go, and removes nothing'
run exec good.py
is "$(ids)" 7 'nothing goes by itself'
run log prune
is "$code $(ids)" '0 4' 'log prune removes what is too old'
is "$("$ASSAY" log list --status failed --json | jq length)" 2 'but not what failed, nor its replay'
printf 'keep-bytes = 1\nkeep-failed = true\n' >"$XDG_CONFIG_HOME/assay/config.ini"
run log prune
is "$code $("$ASSAY" log list --json | jq -c 'map(.status) | unique')" '0 ["failed"]' 'keep-bytes: the oldest beyond it go, and what failed is kept'
run log prune --keep-failed=x
is "$code" 2 'a switch takes no value'
printf 'keep-bytes = lots\n' >"$XDG_CONFIG_HOME/assay/config.ini"
run log prune
is "$code" 5 'a bad value of the configuration is refused'
like "$err" 'config\.ini:1: keep-bytes: "lots" is not' 'and named with its line'
rm "$XDG_CONFIG_HOME/assay/config.ini"
run log rm last --dry-run
is "$code $("$ASSAY" log list --json | jq length)" '0 2' 'log rm --dry-run removes nothing'
done_testing
