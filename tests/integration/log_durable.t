#!/bin/sh
# What is on the disk, and when: how often the disk is waited for, and what a power cut may take.
# Power cuts are made up from what the program wrote and synced (power.py).
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can trace a process that cannot be dumped'
strace -f -o /dev/null true 2>/dev/null || skip_all 'no strace here, or it may not trace'
command -v jq >/dev/null || skip_all 'no jq here'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'
export ASAN_OPTIONS=detect_leaks=0 # it traces, too

# --- how often ---

syncs() { # command...: how many of the log's files; the cache of what was found has its own
	strace -f -y -e trace=fdatasync,fsync -o trace.txt "$ASSAY" "$@" --db log.db >out.txt 2>err.txt </dev/null
	echo "$? $(grep -cE 'sync\([0-9]+<[^>]*(/log\.db(-wal)?|assay-test\.[^/>]*)>' trace.txt)"
}
echo 'echo 42' >exec.sh
run exec exec.sh --db log.db
is "$(syncs exec exec.sh)" '0 2' 'exec waits for the disk once before the program, and when it ends'
run log list --db log.db
is "$(stat -c %s log.db-wal)" 0 'who reads the log makes the file whole'
# An empty write-ahead log begins: its header and its folder.
is "$(syncs exec exec.sh)" '0 4' 'twice more where the write-ahead log begins'
most=0 moved=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	run exec exec.sh --db log.db
	size=$(stat -c %s log.db-wal)
	[ "$size" -gt 0 ] || moved=$((moved + 1))
	[ "$size" -le "$most" ] || most=$size
done
ok "$([ "$most" -le 524288 ] && [ "$moved" -gt 0 ] && [ "$moved" -lt 8 ]; echo $?)" \
	"what exec leaves there is short: $most bytes, moved $moved times"
run log verify --db log.db
is "$code" 0 'and the log is whole'
# As the last to close it a question moves it into the file: one for each file.
forget
say code "$(program 'echo 42' bash)"
is "$(syncs ask --script s.jsonl --lang bash --expect 42 'A question?')" '0 5' \
	'a question: no more, since calls and parsers run nothing of a guest'
forget
say code "$(program 'exit 1' bash)"
say repair "$(program 'echo 42' bash)"
is "$(syncs ask --script s.jsonl --lang bash --expect 42 'A question?')" '0 6' 'and one for each program more'

for i in 1 2 3 4 5 6 7 8; do
	printf '{"id":"t%s","prompt":"Task %s?","lang":"bash","expect":{"regex":"42"}}\n' $i $i
done >tasks.jsonl
cat >model <<'M'
#!/bin/sh
printf 'So:\n\n```bash\nsleep 0\necho 42\n```\n'
M
chmod +x model
batch="batch tasks.jsonl --no-judge --model-command $work/model"
# What does not depend on how its workers meet: no more than one a task, and what opens and closes it.
got=$(syncs $batch -j 2)
[ "${got#0 }" -le 14 ]
is "$? ${got%% *}" '0 0' "eight tasks: one each at most, and what begins and ends a log ($got)"

# Results are told to be there only when the runs that they name are.
strace -f -y -e trace=fdatasync,fsync,write,pwrite64 -o trace.txt "$ASSAY" $batch -j 2 --db log.db \
	--out results.jsonl >out.txt 2>err.txt </dev/null
is "$? $(wc -l <results.jsonl)" '0 8' 'a batch with results'
first=$(grep -nE 'write\([0-9]+<[^>]*results\.jsonl>' trace.txt | head -n 1 | cut -d: -f1)
is "$(tail -n +"$first" trace.txt | grep -oE 'fdatasync\([0-9]+<[^>]*log\.db-wal>|fsync\([0-9]+<[^>]*results\.jsonl>' |
	grep -oE 'wal|results' | head -n 1)" wal 'the log is synced before the results are'

# --- a disk that does not keep what it was given ---

broken() { # which sync of LOG-wal fails, and those after it: the exit code, and what was printed
	run log list --db log.db # leaves it empty
	strace -f -o trace.txt -P "$work/log.db-wal" -e trace=fdatasync -e "inject=fdatasync:error=EIO:when=$1+" \
		"$ASSAY" exec exec.sh --db log.db >out.txt 2>err.txt </dev/null
	echo "$? $(xargs <out.txt)"
}
if strace -f -o trace.txt -e trace=fdatasync -e inject=fdatasync:error=EIO true 2>/dev/null; then
	is "$(broken 2)" '10 ' 'a start that is not on the disk starts nothing'
	like "$(cat err.txt)" 'log\.db: .*may not be on the disk.*--db' 'which is said'
	is "$(broken 3)" '10 42' 'an end that is not on the disk is no success'
	like "$(cat err.txt)" 'log\.db: .*may not be on the disk' 'nor that'
	run log verify --db log.db
	is "$code" 0 'the log is whole'
else
	skip 'a disk that fails' 'this strace cannot inject faults'
fi

# --- what a power cut may take ---

echo 'sleep 0; echo 42' >exec.sh
for before in nothing a-run; do
	run log list --db log.db
	[ $before = nothing ] || run exec exec.sh --db log.db
	is "$(python3 "$here/power.py" "$ASSAY" exec exec.sh --db log.db 2>&1)" \
		'60 power cuts, 1 guests, some lost an end' \
		"exec, $before in the write-ahead log: whole after each, and what began is in it"
done
is "$(python3 "$here/power.py" "$ASSAY" $batch -j 2 --db log.db --out cut.jsonl 2>&1)" \
	'60 power cuts, 8 guests, some lost an end' 'a batch: the same'
done_testing
