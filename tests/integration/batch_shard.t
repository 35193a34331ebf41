#!/bin/sh
# A batch in parts: which tasks each has, what it writes, that it goes on by the same command, and
# how it learns which one it is.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true

forget
say code "$(program 'print(int(input()) ** 2)')"
seq 12 | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python", stdin: tostring, expect: (if . == 5 then "no" else . * . end)}' >t.jsonl
shard() { # [OPTION...]
	run batch t.jsonl --script s.jsonl --json --out out/r.jsonl --max-attempts 1 "$@"
}
mkdir out
codes=
for i in 1 2 3; do
	shard --shard "$i/3" --junit out/r.xml -j 2
	codes="$codes $code"
done
is "$(printf '%s\n' $codes | sort | xargs)" '0 0 9' 'three parts, of which one has a task that fails'
is "$(ls out | grep -v -e journal -e '-wal$' -e '-shm$' | xargs)" "$(for i in 1 2 3; do for e in db jsonl manifest.json xml; do echo "r-$i-of-3.$e"; done; done | xargs)" \
	'each has results, a log, a manifest and reports of its own'
is "$(cat out/*.jsonl | jq -r .id | sort -V | xargs)" "$(jq -r .id t.jsonl | xargs)" 'together they have each task once'
is "$(jq -c '[.shard, .of, .complete, (.tasks == .summary.total), .tasks_of_all]' out/*.manifest.json | xargs)" \
	'[1,3,true,true,12] [2,3,true,true,12] [3,3,true,true,12]' 'the manifests say so'
is "$(jq -r .settings out/*.manifest.json | sort -u | wc -l)" 1 'and that they were asked alike'
is "$(for i in 1 2 3; do "$ASSAY" log list --json --db "out/r-$i-of-3.db" | jq length; done | paste -sd+ | bc)" 12 \
	'the logs have the runs'
is "$(test -e "$XDG_DATA_HOME/assay/log.db" && echo there)" '' 'the usual log has none'
before=$(cat out/*.jsonl | sort | cksum)
shard --shard 2/3
is "$(field '.success + .failed') $(cat out/*.jsonl | sort | cksum)" "0 $before" 'the same command again does nothing'
head -n 1 out/r-2-of-3.jsonl >one
rest=$(($(wc -l <out/r-2-of-3.jsonl) - 1))
mv one out/r-2-of-3.jsonl
shard --shard 2/3 --limit 1
is "$(field .success) $(jq .complete out/r-2-of-3.manifest.json)" '1 false' 'one that is not done says so'
shard --shard 2/3
is "$(field '.success + .failed') $(jq .complete out/r-2-of-3.manifest.json)" "$((rest - 1)) true" 'and goes on'
sort -R t.jsonl >u.jsonl
mv u.jsonl t.jsonl
shard --shard 1/3
is "$(field '.success + .failed')" 0 'a task stays in its part wherever in the file it is'
mkdir many
run batch t.jsonl --script s.jsonl --json --out many/r.jsonl --shard 7/100 --db many/log.db
ids=$(cat many/r-007-of-100.jsonl | wc -l)
is "$code $ids $(ls many | grep -v -e journal -e '-wal$' -e '-shm$' | xargs)" "0 $(field .total) log-007-of-100.db r-007-of-100.jsonl r-007-of-100.manifest.json" \
	'names are in the order of their numbers; --db names the log'

# --- which one it is ---

auto() { # VARIABLE=VALUE...: the part that it takes itself for, or what it says
	rm -rf auto
	mkdir auto
	env "$@" "$ASSAY" batch t.jsonl --script s.jsonl --json --out auto/r.jsonl --shard auto --limit 1 >out.txt 2>err.txt </dev/null
	code=$?
	ls auto | sed -n 's/^r-\(.*\)\.jsonl$/\1/p'
}
slurm='SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=5'
# shellcheck disable=SC2086 # several variables
{
	is "$(auto SLURM_ARRAY_TASK_ID=20 $slurm)" 3-of-4 'Slurm'
	is "$(auto SLURM_ARRAY_TASK_ID=21 $slurm)$(cat err.txt | grep -c 'name the part with --shard I/N')" 1 'Slurm, with an index that is none of the array'
}
is "$(auto JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=2)" 1-of-2 'Kubernetes'
is "$(auto JOB_COMPLETION_INDEX=0)$(grep -c 'JOB_COMPLETIONS: put the job' err.txt)" 1 'Kubernetes, without the number of parts'
is "$(auto AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=2)" 2-of-2 'AWS Batch'
is "$(auto CI_NODE_INDEX=2 CI_NODE_TOTAL=2)" 2-of-2 'GitLab'
is "$(auto NONE=1)$(grep -c 'none of SLURM_ARRAY_TASK_ID' err.txt)" 1 'nobody'
for bad in 0/3 4/3 1 1/ /2 a/b 1/2/3 -1/3 '1/2 '; do
	shard --shard "$bad"
	is "$code" 2 "usage: --shard $bad"
done
run batch t.jsonl --script s.jsonl --shard 1/2
is "$code" 2 '--shard without --out'
done_testing
