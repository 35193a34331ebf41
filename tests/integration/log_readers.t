#!/bin/sh
# Who reads the log stops nobody who writes it: a program run, a question and a whole batch go on
# beside a sqlite3 session that began to read before them and ends after them.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

echo 'echo 42' >exec.sh
run exec exec.sh --db log.db
is "$code" 0 'a log'
cat >beside.py <<'P'
import sqlite3, subprocess, sys
reader = sqlite3.connect('log.db')
reader.execute('begin')
before = reader.execute('select count(*) from runs').fetchone()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open('out.txt', 'w'),
	stderr=open('err.txt', 'w'))
after = reader.execute('select count(*) from runs').fetchone()
print(done.returncode, 'undisturbed' if before == after else 'disturbed')
P
is "$(python3 beside.py "$ASSAY" exec exec.sh --db log.db)" '0 undisturbed' 'exec beside a reader'
is "$(cat out.txt)" 42 'it ran'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	printf '{"id":"t%s","prompt":"Task %s?","lang":"bash","expect":{"regex":"42"}}\n' $i $i
done >tasks.jsonl
cat >model <<'M'
#!/bin/sh
printf 'So:\n\n```bash\necho 42\n```\n'
M
chmod +x model
is "$(python3 beside.py "$ASSAY" batch tasks.jsonl --no-judge -j 3 --model-command "$work/model" \
	--db log.db --out results.jsonl)" '0 undisturbed' 'a batch of several workers beside a reader'
is "$(jq -r .status results.jsonl | sort | uniq -c | xargs)" '12 success' 'all of it'
is "$(python3 beside.py "$ASSAY" log rm last --db log.db)" '0 undisturbed' 'a removal beside a reader'
like "$(cat err.txt)" 'log.db-wal until' 'says what the reader still holds'
is "$(python3 beside.py "$ASSAY" log backup copy.db --db log.db)" '0 undisturbed' 'a backup beside a reader'
run log verify --db copy.db
is "$code $out" '0 13 runs checked, 0 broken' 'the backup is one file, and whole'
run log stats --json --db log.db
is "$(jq -r .journal out.txt)" wal 'log stats says how the file is journalled'
run doctor --json --db log.db
is "$(jq -r .log.stats.journal out.txt)" wal 'doctor, too'

# Last of all a trigger, as somebody may plant it: no run is lost, and it is named.
python3 - <<'P'
import sqlite3
db = sqlite3.connect('log.db')
db.execute('create trigger wipe after insert on events begin delete from events; end')
db.commit()
P
run exec exec.sh --db log.db
is "$code" 10 'a log with a trigger is not written'
like "$err" 'trigger wipe' 'it is named'
run log list --db log.db
is "$code" 0 'but read'
like "$err" 'trigger wipe' 'with a warning'
python3 -c "
import sqlite3
sqlite3.connect('log.db').execute('drop trigger wipe')"
run exec exec.sh --db log.db
is "$code" 0 'and is a log again without it'
# A link to the log: its write-ahead log is beside the file, not beside the link.
mkdir far
run exec exec.sh --db far/log.db
ln -s far/log.db link.db
run exec exec.sh --db link.db
is "$code $out" '0 42' 'a run is recorded through a link'
run replay last --db link.db
is "$code" 0 'and replayed'
run batch tasks.jsonl --model-command ./model --no-judge --require ran -j 2 --db link.db
is "$code" 0 'and so is a batch'
run log list --db link.db --json
is "$(jq -c '[length, (map(.status) | unique)]' out.txt)" '[15,["success"]]' 'whole'
done_testing
