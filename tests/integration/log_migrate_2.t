#!/bin/sh
# A log that the program made while the schema was version 2 (tests/cases/log), with a run removed
# and one that has no end: the first run brings it up to date, and all that it says, with each of
# its hashes, stays as it was. Who is killed in it leaves the one or the other.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/killed_in_it.sh"
command -v jq >/dev/null || skip_all 'no jq here'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

gzip -dc "$top/tests/cases/log/version-2.db.gz" >old.db
printf 'print(1)\n' >one.py
chmod 600 old.db
cp old.db log.db
# As `log verify --head` of that time kept it.
python3 -c "
import sqlite3
print(*sqlite3.connect('old.db').execute('select place, lower(hex(link)) from ledger order by place desc').fetchone())" >head

run log list --json --db log.db
is "$code $(jq length out.txt)" '0 7' 'who only reads is shown it'
like "$err" 'older assay' 'and told what would bring it up to date'
run log verify --head head --db log.db
is "$code $out" '0 7 runs checked, 0 broken' 'what is read is what was written'
cmp -s old.db log.db
ok $? 'it is as it was, to the byte'
mkdir read
cp old.db read/log.db
chmod 400 read/log.db
chmod 500 read
run log show last --db read/log.db
is "$code" 0 'also where nothing can be written'
like "$out" 'nobody answers' 'all of it'
chmod 700 read
run exec one.py --db log.db
is "$code $out" '0 1' 'the first run brings it up to date'
run log verify --head head --db log.db
is "$code $out" '0 8 runs checked, 0 broken' 'every chain goes on, and the head of before is in it'
run log stats --json --db log.db
is "$(jq -c '[.runs, .by_status, .by_kind]' out.txt)" \
	'[8,{"started":1,"success":7},{"ask":2,"batch":4,"exec":2}]' 'what there is is counted'

# Every row of every view and of every table that says something of a run.
cat >same.py <<'P'
import json, sqlite3, subprocess, sys
old, new = sqlite3.connect('old.db'), sqlite3.connect('log.db')
last, = old.execute('select max(no) from runs').fetchone()
runs = [run for run, in old.execute('select id from runs')]
marks = '(%s)' % ','.join('?' * len(runs))
bad = []
for view, in old.execute("select name from sqlite_schema where type = 'view' and name != 'v_events'").fetchall():
    key = 'id' if view == 'v_runs' else 'run_id'
    names = [row[1] for row in old.execute('pragma table_info(%s)' % view)]
    query = 'select %s from %s where %s in %s' % (', '.join('"%s"' % n for n in names), view, key, marks)
    if sorted(map(repr, old.execute(query, runs))) != sorted(map(repr, new.execute(query, runs))):
        bad.append(view)
query = 'select run_id, seq, at_ms, stage, attempt, phase, data_json from v_events where run_id in ' + marks + ' order by 1, 2'
for mine, theirs in zip(old.execute(query, runs), new.execute(query, runs), strict=True):
    if mine[:6] != theirs[:6] or json.loads(mine[6]) != json.loads(theirs[6]):
        bad.append(mine[:4])
for run in runs:
    told = json.loads(subprocess.check_output([sys.argv[1], 'log', 'export', run, '--db', 'log.db']))
    then = [json.loads(data) for data, in old.execute('select data_json from v_events where run_id = ? order by seq', (run,))]
    if [event['data'] for event in told['events']] != then:
        bad.append(run)
for query in ('select * from runs where no <= %d order by no', 'select run, blob from refs where run <= %d order by 1, 2',
        'select run, tag from tags where run <= %d order by 1, 2', 'select place, hash from events where place >> 20 <= %d order by 1',
        'select * from ledger where coalesce(run, 0) <= %d order by place', 'select * from meta where %d'):
    if old.execute(query % last).fetchall() != new.execute(query % last).fetchall():
        bad.append(query)
blobs = 'select no, sha256, size, media_type, redactions, deflated, body from blobs where no <= (select max(blob) from refs where run <= %d) order by no'
if old.execute(blobs % last).fetchall() != new.execute(blobs % last).fetchall()[:old.execute('select count(*) from blobs').fetchone()[0]]:
    bad.append('blobs')
size = 'select total(length(%s)) from events where place >> 20 <= %d'
if new.execute(size % ('data', last)).fetchone()[0] * 3 > old.execute(size % ('data_json', last)).fetchone()[0]:
    bad.append('size')
print(*bad or ['same'])
P
is "$(python3 same.py "$ASSAY")" same 'all that it says is what it said'
found() { # words: the ends of the ids
	"$ASSAY" log search "$@" --json --db log.db | jq -r '[.[].run[-8:]] | sort | join(" ")'
}
is "$(found hello)" Z5WDSDQX 'its runs are found by their words'
is "$(found words found later)" EXB7FPZ5 'and by those of an earlier program'
run replay FYR3B95Y --tier pipeline --json --db log.db
is "$code $(jq -c .same out.txt)" '0 true' 'a run of it replays'
run log show EXB7FPZ5 --db log.db
like "$out" 'a long first program that fails' 'and is shown'
run log rm Z5WDSDQX EXB7FPZ5 --db log.db
is "$code" 0 'and can be removed'
is "$(found hello) $(found words found later)" ' ' 'with its words'
run log verify --head head --db log.db
is "$code" 0 'which the chain says'

# Who is not what was written does not become so.
for change in "update events set data_json = replace(data_json, 'exit', 'exot') where place >> 20 = 1" \
	"update blobs set body = cast('x' as blob) where media_type = 'text/plain' and size > 400" \
	"update runs set level = 'judged' where no = 2" \
	"delete from events where place & 1048575 = 3" \
	"update objects set body = replace(body, 'userns', 'usermy')" \
	"update tags set tag = tag || 'x' where run = 1" \
	"update ledger set cover = x'00' where place = 4"; do
	cp old.db changed.db
	python3 -c "
import sqlite3, sys
db = sqlite3.connect('changed.db')
assert db.execute(sys.argv[1]).rowcount
db.commit()" "$change"
	run exec one.py --db changed.db
	is "$code" 0 "changed before: $change"
	run log verify --db changed.db
	is "$code" 1 'is found after it, too'
done

# --- on a disk that has no room for it ---

mkdir disk
ns_flags=$([ "$(id -u)" -eq 0 ] && echo -m || echo -rm)
room=$(($(stat -c %s old.db) + 65536))
if unshare $ns_flags mount -t tmpfs none disk 2>ns.txt; then
	unshare $ns_flags sh -c 'mount -t tmpfs -o size=$1 none disk && cp old.db disk/log.db &&
		{ "$2" exec one.py --db disk/log.db 2>"$3"; echo "$?" >"$4"; "$2" log verify --db disk/log.db 2>&1; }' \
		sh "$room" "$ASSAY" "$PWD/full.txt" "$PWD/full.code" >verify.txt
	is "$(cat full.code)" 10 'a full disk ends it'
	like "$(cat full.txt)" 'no room to bring it up to date.*it is as it was' 'with what it takes'
	like "$(cat verify.txt)" '7 runs checked, 0 broken' 'and the log is whole'
else
	skip 'a full disk' "no mounts here: $(head -n 1 ns.txt)"
fi

# --- killed in it ---

killed_in_it -wal Z5WDSDQX "len(db.execute('select * from v_events').fetchall()) > 50" 'pwrite64 fdatasync ftruncate' \
	'2 ok 7 True' '3 ok 7 True' '3 ok 6 True'
done_testing
