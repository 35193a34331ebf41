#!/bin/sh
# A batch as an array job of a real Slurm, one node on this machine, from Debian's packages: four
# parts, one of which has to be tried again, whose logs and results are then one. What Slurm needs
# lies in the folder of the test, its programs too unless they are installed, and ends with it.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/integration/model.sh"
export ASSAY_CAREFUL=false ASSAY_FAST=true
script=$top/agent/cli/batch/engines/slurm.sh
began=$(date +%s)

[ "$(id -u)" -eq 0 ] || skip_all 'a Slurm of our own is started by root'

# --- its programs ---

place= # below which they are, unless they are installed
fetch() {
	mkdir -p debs/partial &&
		timeout 40 apt-get install -qq -y --no-install-recommends --download-only \
			-o Dir::Cache::archives="$PWD/debs" -o APT::Sandbox::User=root -o Acquire::Retries=0 \
			-o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o Debug::NoLocking=1 \
			slurmctld slurmd slurm-client munge >fetch.txt 2>&1 &&
		for deb in debs/*.deb; do dpkg-deb -x "$deb" root || return 1; done
}
if ! command -v slurmctld-wlm >/dev/null || ! command -v munged >/dev/null; then
	command -v apt-get >/dev/null || skip_all 'Slurm is not installed, and there is no apt-get'
	fetch || skip_all "Slurm cannot be had from Debian: $(tail -n 1 fetch.txt)"
	place=$PWD/root
fi
libraries=$(dirname "$(find "$place/usr/lib" -name slurm-wlm -type d | head -n 1)")
[ -e "$libraries/slurm-wlm/auth_munge.so" ] || skip_all "no plugins of Slurm below $place/usr/lib"
export PATH="$place/usr/sbin:$place/usr/bin:$PATH"
[ -z "$place" ] || export LD_LIBRARY_PATH="$libraries:$libraries/slurm-wlm"
fetched=$(date +%s)

# --- the cluster ---

pids=
stop() {
	# Told to end, slurmd waits for its jobs. They are no children of ours, but all that we start has
	# this folder in its variables.
	# shellcheck disable=SC2086 # several processes
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	for one in $(grep -lsF "$work" /proc/[0-9]*/environ); do
		kill -9 "$(basename "$(dirname "$one")")" 2>/dev/null
	done
	wait
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
start() { # program [argument...]: in the foreground, so that it is our child
	"$@" >"log.${1##*/}" 2>&1 &
	pids="$! $pids"
}
host=$(hostname -s)
ports=$(python3 -c 'import socket
both = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]
print(*[s.getsockname()[1] for s in both])')
mkdir state spool
chmod 755 "$work"
head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
cat >slurm.conf <<C
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=root
AuthType=auth/munge
# A job that is queued again waits for as long as a credential lasts.
AuthInfo=socket=$work/munge.socket,cred_expire=5
CredType=cred/munge
PluginDir=$libraries/slurm-wlm
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MinJobAge=300
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
# How often it looks whether a job that was put off may begin.
SchedulerParameters=sched_interval=1
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=10 State=UP
C
export SLURM_CONF="$work/slurm.conf"
start munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
	--pid-file="$work/munge.pid" --seed-file="$work/munge.seed" --num-threads=2
until_true [ -S munge.socket ]
start slurmctld-wlm -D -i
start slurmd-wlm -D -d "$place/usr/sbin/slurmstepd-wlm"
idle() {
	[ "$(sinfo -h -o %T 2>/dev/null)" = idle ]
}
until_true idle
ok $? "a node of $(slurmd-wlm -V) waits for jobs"
up=$(date +%s)

# --- a batch ---

forget
say code "$(program 'print(int(input()) ** 2)')" '{"usage": {"input_tokens": 100, "output_tokens": 20}}'
seq 24 | jq -c '{id: "t\(.)", prompt: "Square it.", lang: "python", stdin: tostring, expect: (if . == 5 then "no" else . * . end)}' >t.jsonl
limits='--script s.jsonl --max-attempts 1'
# shellcheck disable=SC2086 # several options
run batch t.jsonl $limits --json --out whole.jsonl --db whole.db
is "$code $(field .total)" '9 24' 'the batch in one'
mv out.txt whole.json

# The second part cannot write its log the first time.
cat >assay <<C
#!/bin/sh
echo "\$SLURM_ARRAY_TASK_ID" >>asked
if [ "\$SLURM_ARRAY_TASK_ID" = 1 ] && [ ! -e tried ]; then
	touch tried
	exec "$ASSAY" "\$@" --db /proc/none/log.db
fi
exec "$ASSAY" "\$@"
C
chmod +x assay
# shellcheck disable=SC2086 # several options
job=$(ASSAY=$work/assay sbatch --parsable --chdir="$work" "$script" t.jsonl r.jsonl $limits 2>sbatch.txt)
of_job() { # member: of each part, in order
	for i in 0 1 2 3; do
		scontrol -o show job "${job}_$i" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$1=//p"
	done
}
ended() {
	[ "$(of_job JobState | grep -cE '^(COMPLETED|FAILED)$')" = 4 ]
}
until_true ended || diag "$(tail -n 12 sbatch.txt log.*) $(tail -n 20 assay-*.txt)"
is "$(of_job ExitCode | sort | xargs)" '0:0 0:0 0:0 9:0' 'four parts end, and Slurm knows how'
is "$(sort asked | xargs) $(of_job Restarts | xargs)" '0 1 1 2 3 0 1 0 0' \
	'the one that had a reason to be tried again at its second try'
is "$(jq -c .complete r-?-of-4.manifest.json | xargs)" 'true true true true' 'all are complete'

# --- as one ---

mv r-2-of-4.db away.db
run log merge r-?-of-4.db --into all.db --json
is "$code $(jq -c '[.imported > 0, .missing, .incomplete]' out.txt)" '1 [true,[2],[]]' 'a log that is not there is named'
mv away.db r-2-of-4.db
run log merge r-?-of-4.db --into all.db --json
is "$code $(jq -c '[.imported + .already, .missing, .incomplete]' out.txt)" '0 [24,[],[]]' 'the four logs are one'
run log merge r-?-of-4.db --into all.db --json
is "$code $(jq -c '[.imported, .already]' out.txt)" '0 [0,24]' 'and once more nothing is added'
run log verify --db all.db
is "$code" 0 'all its runs are intact'
cat r-?-of-4.jsonl >all.jsonl
# What does not depend on when and how fast.
figures='{total, success, failed, levels, usage, retries}'
is "$(cat r-?-of-4.manifest.json | jq -cs "
	map(.summary | $figures) | reduce .[] as \$one ({}; reduce (\$one | paths(numbers)) as \$p
		(.; setpath(\$p; (getpath(\$p) // 0) + (\$one | getpath(\$p))))) | $figures" | jq -cS .)" \
	"$(jq -cS "$figures" whole.json)" \
	'the summaries of the parts add up to that of the whole'
summary() { # results
	"$ASSAY" batch t.jsonl --script s.jsonl --max-attempts 1 --json --db none.db --resume --out "$1" |
		jq -cS 'del(.duration_ms)'
}
is "$(summary all.jsonl)" "$(summary whole.jsonl)" 'a summary of the results of all parts is that of the batch in one'
like "$(summary all.jsonl)" '"skipped":24,.*"total":24' 'for which nothing is run again'
stats() { # log
	"$ASSAY" log stats --db "$1" --json | jq -cS '[.rates | .runs, .success, .input_tokens, .output_tokens]'
}
is "$(stats all.db)" "$(stats whole.db)" 'and so are the statistics of the logs'
ended=$(date +%s)
diag "$((fetched - began)) s to fetch Slurm, $((up - fetched)) s to start it, $((ended - up)) s for the jobs and the rest"
done_testing
