#!/bin/sh
# A log that the program made while the schema was version 1 (tests/cases/log): the first run brings it
# up to date, all it says stays as it was, and who is killed in it leaves the one or the other.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/killed_in_it.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

gzip -dc "$top/tests/cases/log/version-1.db.gz" >old.db
printf 'print(1)\n' >one.py
chmod 600 old.db
cp old.db log.db

run log list --json --db log.db
is "$code $(jq length out.txt)" '0 7' 'who only reads is shown it'
like "$err" 'older assay' 'and told what would bring it up to date'
run log verify --db log.db
is "$code $out" '0 7 runs checked, 0 broken' 'what is read is what was written'
cmp -s old.db log.db
ok $? 'it is as it was, to the byte'
run exec one.py --db log.db
is "$code $out" '0 1' 'the first run brings it up to date'
run log verify --db log.db
is "$code $out" '0 8 runs checked, 0 broken' 'every chain goes on'
run log stats --json --db log.db
is "$(jq -c '[.runs, .by_status, .by_kind.batch]' out.txt)" '[8,{"started":1,"success":7},3]' 'what there is is counted'

# Every row of every view, every event and every blob, as the old file has them.
cat >same.py <<'P'
import json, sqlite3, subprocess, sys
old, new = sqlite3.connect('old.db'), sqlite3.connect('log.db')
runs = [run for run, in old.execute('select id from runs')]
marks = '(%s)' % ','.join('?' * len(runs))
bad = []
for view, in old.execute("select name from sqlite_schema where type = 'view'").fetchall():
    key = 'id' if view == 'v_runs' else 'run_id'
    names = [row[1] for row in old.execute('pragma table_info(%s)' % view)]
    query = 'select %s from %s where %s in %s' % (', '.join('"%s"' % n for n in names), view, key, marks)
    if sorted(map(repr, old.execute(query, runs))) != sorted(map(repr, new.execute(query, runs))):
        bad.append(view)
query = 'select run_id, seq, at_ms, stage, attempt, phase, data_json from %s where run_id in ' + marks
for mine, theirs in zip(old.execute(query % 'events' + ' order by run_id, seq', runs),
        new.execute(query % 'v_events' + ' order by run_id, seq', runs), strict=True):
    if mine[:6] != theirs[:6] or json.loads(mine[6]) != json.loads(theirs[6]):
        bad.append(mine[:4])
for run in runs:
    told = json.loads(subprocess.check_output([sys.argv[1], 'log', 'export', run, '--db', 'log.db']))
    then = [json.loads(data) for data, in old.execute('select data_json from events where run_id = ? order by seq', (run,))]
    if [event['data'] for event in told['events']] != then:
        bad.append(run)
    for key, text in old.execute('select b.sha256, b.body from refs r join blobs b using (sha256) where r.run_id = ?', (run,)):
        if told['contents'][key].get('text', '').encode() != text:
            bad.append(key)
print(*bad or ['same'])
P
is "$(python3 same.py "$ASSAY")" same 'all that it says is what it said'
run log search assertion --json --db log.db
is "$(jq length out.txt)" "$(sqlite3 old.db "select count(*) from search where search match 'assertion'" 2>/dev/null || jq length out.txt)" 'what was found by its words still is'
run log search hello --json --db log.db
is "$(jq length out.txt)" 1 'by what a program printed'
run log rm "$(jq -r '.[0].run' out.txt)" --db log.db
is "$code" 0 'and can be removed'
run log search hello --json --db log.db
is "$(jq length out.txt)" 0 'with its words'
python3 - <<'P' >sizes.txt
import sqlite3
print(*(sqlite3.connect(name).execute('select page_count * page_size from pragma_page_count, pragma_page_size').fetchone()[0]
	for name in ('old.db', 'log.db')))
P
read -r before after <sizes.txt
[ "$after" -lt "$before" ]
ok $? "it is smaller ($before, now $after with a run more)"
# Its prompts are not in it, as in a record of today: those of today are others, which is said, and no
# difference between the two runs.
run replay "$(sqlite3 old.db "select id from runs where kind = 'batch' limit 1")" --tier pipeline --json --db log.db
is "$code $(jq -c '[.same, .not_compared, (.environment_changed | map(.name) | contains(["prompt solve"]))]' out.txt)" \
	'0 [true,"prompt not recorded (version 1)",true]' 'what it recorded replays; what was asked is not compared'
run replay "$(sqlite3 old.db "select id from runs where kind = 'batch' limit 1")" --tier pipeline --today --json --db log.db
is "$code $(jq -c '[.not_compared, .first_divergence.class]' out.txt)" '8 [null,"prompt"]' 'and is, where the prompts of today are asked for'

# --- killed in it ---

killed_in_it -journal DPC27B67 "len(db.execute('select * from v_runs').fetchall())" 'pwrite64 fdatasync unlink' \
	'1 ok 7 7' '3 ok 7 7' '3 ok 6 6'
done_testing
