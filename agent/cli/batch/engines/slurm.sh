#!/bin/sh
# A batch in four parts, an array of Slurm, each part with a log, results and a manifest of its own:
#   job=$(sbatch --parsable slurm.sh tasks.jsonl results.jsonl [OPTION...])
# and when all have ended, however they did, one log and one file of results:
#   sbatch --dependency="afterany:$job" --wrap 'assay log merge results-?-of-4.db --into all.db &&
#           cat results-?-of-4.jsonl >all.jsonl'
# Another number of parts: --array=0-15 before slurm.sh. A single part once more: --array cannot
# say of how many it is one; srun assay batch tasks.jsonl --out results.jsonl --shard 3/4 can.
#SBATCH --job-name=assay
#SBATCH --array=0-3
#SBATCH --output=assay-%A_%a.txt
#SBATCH --open-mode=append
#SBATCH --requeue
set -u
retries_max=5
tasks=$1
results=$2
shift 2
"${ASSAY:-assay}" batch "$tasks" --out "$results" --shard auto "$@"
code=$?
case $code in
4 | 10 | 124 | 130 | 143) # the same command can go on where it stopped
	[ "${SLURM_RESTART_COUNT:-0}" -ge "$retries_max" ] || scontrol requeue "$SLURM_JOB_ID"
	;;
esac
# 0 and 9: the part is complete, and with 9 some of its tasks failed. Others: somebody has to look;
# with 3 a cap is reached, which counts what the results used, so that only a higher one goes on.
exit "$code"
