#!/bin/sh
# What `make bench` saves and prints, of a run of one round and of planted samples. Nothing is timed.
. "$(dirname "$0")/lib.sh"
tree=$(cd "$(dirname "$ASSAY")/.." && pwd)
bench="$top/tests/bench/bench"
[ -x /usr/bin/python3 ] || skip_all 'no /usr/bin/python3'
[ "$tree" = "$top" ] && [ -x "$top/build/assay" ] || skip_all 'another build than the one that bench measures'
for probe in spawn sandbox log redact floor; do
	[ -x "$top/build/tests/bench/probe_$probe" ] || skip_all 'no probes (make probes)'
done

bench() {
	"$bench" "$@" >out.txt 2>err.txt
	code=$?
	out=$(cat out.txt)
	err=$(cat err.txt)
}

# --- a run ---
bench run --rounds 1 --only loop-bash,exec-bash,log,redact-code --json run.json
is "$code $err" '0 ' 'a run of one round'
is "$(jq -r '[.schema, .rounds, (.rows | map(.id) | join(" "))] | @csv' run.json)" \
	'1,1,"loop-bash exec-bash log-append log-verify redact-code"' 'its rows are those that were asked for'
is "$(jq -c '[.rows[] | select((.samples.ours | length) != 1 or .samples.ours[0] <= 0
	or .figures.ours.n != 1 or .figures.ours.median != .samples.ours[0] or .unit != "ms"
	or .failed != {} or .skipped != null or .what == null or .group == null)]' run.json)" '[]' \
	'each has one sample, and its figures'
is "$(jq -c '[.rows[] | select(.samples.bare) | .id]' run.json)" '["loop-bash","exec-bash","log-append"]' \
	'those that can be had bare are'
is "$(jq -c '.machine | [.cpu, .cores, .memory_gib, .kernel, .cgroup, .python, .log_fs, .load_before, .load_after]
	| map(select(. == null or . == ""))' run.json)" '[]' 'the machine is named'
is "$(jq -c '[.peers[].state] | unique - ["present", "absent", "fails", "not tried"]' run.json)" '[]' \
	'of each other sandbox it is said what became of it'
is "$(jq '[.rows[] | select(.id == "exec-bash") | .cpu.ours[0] > 0] | all' run.json)" true \
	'a process has its processor time beside'
like "$out" '^bash, : +[0-9.]+ +[0-9.]+-[0-9.]+ +[0-9.]+ +[0-9.]+ ' 'the table has a line for a row'
is "$(awk 'length > 100' out.txt)" '' 'and none is longer than 100 columns'
is "$("$bench" table run.json)" "$out" 'what was saved prints the same table'

bench run --rounds 1 --only floor,exec-python --json run.json
floors='floor-end floor-first floor-fork floor-large floor-namespaces'
! /usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null || floors="$floors floor-pandas"
is "$code $(jq -r '[.rows[] | select(.id | startswith("floor") and . != "floor-attach") | select(.samples | keys == ["bare"]) | .id]
	| sort | join(" ")' run.json)" "0 $floors floor-sync" 'what nobody can go below is no assay'\''s'
like "$out" '^fork, exit, wait +- +- +- +[0-9.]+ ' 'and stands in the table'
like "$out" '^python3, print\(1\), assay exec +[0-9.]+ +1\.35 +-  times of bare$' 'and so does what is to be reached'

bench run --rounds 1 --only exec-socket --json run.json
is "$code $(jq -c '[.rows[] | [.id, (.samples | keys)[]]]' run.json)" '0 [["exec-socket","bare","ours"],["exec-socket-I-S","bare","ours"]]' \
	'exec at a server of its own'
like "$out" '^python3, --socket, assay exec +[0-9.]+ +1\.35 +-  times of bare$' 'with what it is to reach'

mkdir data
jq -cn '{task_id: "one", prompt: "def f():\n", canonical_solution: "    return 1\n", entry_point: "f",
	test: "def check(f):\n    assert f() == 1\n"}' >data/humaneval.jsonl
ASSAY_DATA=$PWD/data bench run --rounds 1 --only batch-humaneval --json run.json
is "$code $(jq -c '[.rows[] | [.id, (.samples | keys)[]]]' run.json)" \
	'0 [["batch-humaneval","bare","ours"],["batch-humaneval-floor","bare"]]' 'beside a data set stands its floor'
is "$(jq '.rows[1].cpu.bare[0] > 0' run.json)" true 'with its processor time'

ASSAY_DATA=$work/none bench run --rounds 1 --only batch --json run.json
is "$code $(jq -c '[.rows[].skipped != null] | unique' run.json)" '0 [true]' 'without its data a row is skipped'
like "$out" '^skipped: HumanEval, 164 tasks: no .*humaneval.jsonl' 'and says so'
bench run --only nothing
is "$code" 2 'a row that there is not is refused'
like "$err" 'there are: loop-true, .*redact-code' 'with those there are'

# --- planted samples ---
row() { # id ours bare [members as JSON]
	jq -cn --arg id "$1" --argjson ours "$2" --argjson bare "$3" --argjson more "${4:-{\}}" \
		'{id: $id, what: "what is \($id)", group: "planted", unit: "ms", samples: {ours: $ours, bare: $bare},
		cpu: {}, failed: {}, skipped: null} + $more'
}
planted() { # file commit, rows on standard input
	jq -s --arg commit "$2" '{schema: 1, began: "2026-01-01 00:00", rounds: 5, seconds: 1, rows: .,
		assay: {commit: $commit, changed: false},
		machine: {cpu: "a processor", cores: 2, memory_gib: 1, kernel: "6.1", cgroup: "v2", python: "3.11.2",
			node: null, log_fs: "ext4", user: "root", load_before: "0.0", load_after: "0.1"},
		peers: [{name: "bubblewrap", package: "Debian: bubblewrap", state: "present", why: null},
			{name: "firejail", package: "Debian: firejail", state: "absent", why: null},
			{name: "another", package: "its sources", state: "present", why: null},
			{name: "docker", package: "Debian: docker.io", state: "fails", why: "no daemon"}]}' >"$1"
}
{
	row one '[10,30,20,50,40]' '[4,5,6]' '{"samples":{"ours":[10,30,20,50,40],"bare":[4,5,6],"bubblewrap":[10],"another":[20]}}'
	row two '[100,100,100]' '[50]'
	row three '[1,1,1]' '[0]'
} | planted old.json aaaaaaa
bench table old.json
is "$code" 0 'planted samples'
like "$out" '^what is one +30\.0 +14\.0-46\.0 +10\.0 +5\.00 +4\.20-5\.80 +6\.00 +10\.0 +2\.00$' \
	'medians, p10 and p90 between the nearest, minimum, ratios to bare'
like "$out" '^what is three +1\.00 +1\.00-1\.00 +1\.00 +0\.00 +0\.00-0\.00 +-' 'nothing is divided by nothing'
like "$out" '^what is one +20\.0 \(4\.00\)$' 'another sandbox has a table of its own'
like "$out" '^not on this machine .*: firejail \(Debian: firejail\)$' 'one that is not here says where it comes from'
like "$out" '^does not run here: docker: no daemon$' 'one that does not run says why'
like "$out" '^fewer rounds: what is two 3, what is three 3$' 'and fewer rounds than asked for are said'

{
	row one '[12,32,22,52,42]' '[5]'
	row two '[210,200,205]' '[50]' '{"cpu":{"ours":[3,3,3]}}'
	row three '[0.5,0.5]' '[1]'
	row four '[1]' '[1]'
} | planted new.json bbbbbbb
bench compare old.json new.json --json both.json
is "$code" 0 'two saved runs'
like "$out" '^before: aaaaaaa, .*' 'before'
like "$out" '^after:  bbbbbbb, .*' 'and after'
like "$out" '^what is one +30\.0 +14\.0-46\.0 +32\.0 +16\.0-48\.0 +1\.07 +1\.20 +-  within noise$' \
	'spreads that overlap are within noise'
like "$out" '^what is two +100 +100-100 +205 +201-209 +2\.05 +2\.00 +-  slower$' 'others are not'
like "$out" '^what is three .* too few runs$' 'two samples have no spread'
unlike "$out" 'what is four' 'what was not measured before cannot be compared'
is "$(jq -c '[.rows[] | [.id, .ratio, .verdict]]' both.json)" \
	"$(printf '%s' '[["one",1.0666666666666667,"within noise"],["two",2.05,"slower"],["three",0.5,"too few runs"]]')" \
	'the same in what is saved'
bench compare new.json old.json
like "$out" '^what is two .* faster$' 'and the other way round'

{
	row one '[1]' '[1]' '{"failed":{"ours":"exit code 6: no sandbox"}}'
	row two '[1]' '[1]'
} | planted bad.json ccccccc
bench table bad.json
is "$code" 1 'a row that failed is a failure of all'
like "$out" '^FAILED: what is one, ours: exit code 6: no sandbox$' 'that says why'
like "$out" '^what is two +1\.00' 'and the rest is there'

{
	row forked-first '[0.7]' '[7]'
	row forked-result '[2.4]' '[6]'
	row exec-python '[16]' '[10]'
	row pandas-result '[7]' '[204]'
	row exec-bash '[7]' '[1]' '{"samples":{"ours":[7],"bare":[1],"bubblewrap":[4.5]}}'
	row start '[1.25]' '[0.6]'
	row floor-namespaces null '[0.5]' '{"samples":{"bare":[0.5]}}'
	row floor-sync null '[0.25]' '{"samples":{"bare":[0.25]}}'
	row floor-first null '[0.1]' '{"samples":{"bare":[0.1]}}'
} | planted goals.json ddddddd
bench table goals.json
like "$out" '^goals, by the medians +is +goal +floor$' 'goals have the floors beside them'
like "$out" '^what is forked-first +0\.70 +0\.35 +0\.10  ms$' 'one that was measured'
like "$out" '^what is forked-result +2\.40 +2\.00 +-  ms$' 'none where it was not'
like "$out" '^what is exec-bash, assay exec +2\.50 +2\.00 +1\.75  ms more than bwrap$' 'or what is put together of others'
like "$out" '^what is exec-python, assay exec +1\.60 +1\.35 +1\.23  times of bare$' 'in the words of the goal'
like "$out" '^what is pandas-result +0\.034 +0\.030  *- +times of bare$' 'three digits where two would hide a miss'
# A fork of a process that holds much is no floor of one that holds nothing: they are asked in turn.
mkfifo ask
"$top/build/tests/bench/probe_floor" "$work" <ask >said.txt &
probe=$!
exec 9>ask
printf 'large\n' >&9
until [ -s said.txt ]; do sleep 0.05; done
is "$(sed 's/ .*//' said.txt) $(awk '/^RssAnon:/ {print ($2 < 16384)}' /proc/$probe/status)" 'ok 1' 'what one held is let go of'
exec 9>&-
wait $probe

# --- what is no run ---
echo '{"schema": 7}' >other.json
bench compare other.json new.json
is "$code" 2 'a file of another kind is refused'
like "$err" '^bench: other.json: not a run that bench saved' 'by its name'
bench compare no-such-commit
is "$code" 2 'so is what is neither file nor commit'
like "$err" '^bench: no-such-commit is neither a saved run nor a commit here' 'and is named'

# --- the README ---
printf 'Before.\n<!-- bench: written by make bench-readme -->\nold\n<!-- /bench -->\nAfter.\n' >README.md
bench readme old.json README.md
is "$code $(sed -n '1p;$p' README.md | tr '\n' ' ')" '0 Before. After. ' 'what is around the table stays'
is "$(sed -n 's/^    //p' README.md)" "$("$bench" table old.json | grep .)" 'the table is between the marks'
unlike "$(cat README.md)" '^old$' 'in the place of the one before'

# --- what sandboxes cost ---
walls() { # sandbox cold open [memory]
	row "walls-cold-$1" "[$2]" '[]'
	row "walls-open-$1" "[$3]" '[]'
	[ -z "${4-}" ] || row "walls-memory-$1" "[$4]" '[]'
}
{
	walls native 7.4 1.7 0.2
	walls oci:runc 36 2.3 10
	walls oci:runsc 300 310 0
	walls ssh:there 90 2.5
	walls pyodide 2000 1900
	walls 'e2b (played here)' 30 20
} | planted walls.json ddddddd
bench table walls.json
like "$out" '^oci:runc +36\.0 +36\.0-36\.0 +36\.0 +2\.30 +2\.30-2\.30 +2\.30 +10\.0$' 'a sandbox is one row: cold, open, memory'
like "$out" '^ssh:there +90\.0 .* -$' 'of which one may not have all'
cat >before.md <<'END'
| `--sandbox` | around | cold, open; memory | needs |
|---|---|---|---|
| `native` | nothing | old | Linux |
| [`oci`](x) | a container | old; 9 MiB | runc |
| `oci --oci-runtime runsc` | gVisor | old; 9 MiB | runsc |
| `microvm` | not measured | old; 9 MiB | QEMU |
| [`ssh:HOST`](x) | a machine | 28 times; 12 MiB | ssh |
| `pyodide` | node | old | node |
| [`e2b`](x) | a service | theirs | a key |

| `native` | another table | old | stays |
<!-- bench: written by make bench-readme -->
<!-- /bench -->
END
cp before.md README.md
bench walls walls.json README.md
sed -e '/^| `native` | nothing/s/old/7.40, 1.70 ms; 0.20 MiB/' -e '/^| .`oci`/s/old; 9 MiB/36.0, 2.30 ms; 10.0 MiB/' \
	-e '/runsc/s/old; 9 MiB/300, 310 ms/' -e '/ssh/s/28 times/90.0, 2.50 ms/' \
	-e '/pyodide/s/old/2000, 1900 ms (Python)/' -e '/e2b/s/theirs/30.0, 20.0 ms here, and theirs/' before.md >wanted.md
is "$code $(cat README.md)" "0 $(cat wanted.md)" 'what was measured is in its cell, and the rest stays'
cp before.md README.md
bench readme walls.json README.md
is "$(grep -c '^| .* 36.0, 2.30 ms; 10.0 MiB' README.md) $(grep -c '^    oci:runc ' README.md)" '1 1' \
	'bench-readme writes both tables'

echo 'No marks.' >README.md
bench readme old.json README.md
is "$code $(cat README.md)" '2 No marks.' 'a README without marks is left as it is'
done_testing
