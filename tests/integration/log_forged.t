#!/bin/sh
# A log from elsewhere may hold anything: times that are none, and queries that never end. What is
# shown of it is true, and whoever reads it can stop.
. "$(dirname "$0")/lib.sh"

printf 'print(1)\n' >one.py
run exec one.py --db log.db
is "$code" 0 'a log to forge'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

# --- times that are none ---

cp log.db times.db
python3 - <<'P'
import sqlite3
db = sqlite3.connect('times.db')
for name, began, ended, then in (('A', 2**63 - 1, -2**63, -2**63), ('B', -2**63, 2**63 - 1, 2**63 - 1),
		('C', 2**55, 2**55 + 5000, 2**55), ('D', 10**12, -2**63, -2**63)):
	run = '01ZZZZZZZZZZZZZZZZZZZZZZ' + name + 'Z'
	db.execute('insert into runs (id, kind, started_at_ms, ended_at_ms, status, app_version, cost_micro_usd)'
		' values (?, ?, ?, ?, ?, ?, ?)', (run, 'ask', began, ended, 'success', '1', 2**63 - 1))
	no = db.execute('select no from runs where id = ?', (run,)).fetchone()[0]
	form = db.execute("insert into forms(mark, stage, phase, body) values (0, 'task', 'note', '{}')").lastrowid
	db.execute("insert into events values (? << 20 | 1, ?, 0, ?, null, '', x'')", (no, then, form))
db.commit()
P
run log list --db times.db
is "$code $(grep -c ' success ' out.txt) $(grep -c '(no such date)' out.txt)" '0 5 3' 'log list: no such dates'
unlike "$out" '[0-9]{7,}' 'and no time that took ages'
run log list --json --db times.db
is "$(jq -c 'map([.started, .ended, .duration_ms])[0:4] | unique' out.txt)" \
	'[[null,null,null],["2001-09-09T01:46:40.000Z",null,null]]' 'in JSON they are null'
for name in A B C D; do
	run log show "ZZ${name}Z" --db times.db
	like "$out" "$([ $name = D ] && echo 'started 20' || echo 'started .no such date')" "log show $name"
	unlike "$out" 'took|\+[0-9.-]+ s$' 'no span between dates that are none'
	run log export "ZZ${name}Z" --db times.db
	is "$code $(jq -c .events[0].at out.txt)" '0 null' "log export $name"
done
run log stats --json --db times.db
is "$code $(jq -c '[.runs, .by_status.success]' out.txt)" '0 [1,1]' 'log stats counts what was written by this program'

# --- tables that are none ---

python3 - <<'P'
import shutil, sqlite3
for table in ('runs', 'events', 'blobs', 'meta'):
	shutil.copy('log.db', table + '.db')
	db = sqlite3.connect(table + '.db')
	db.execute('pragma legacy_alter_table = on')
	for name, in db.execute("select name from sqlite_schema where type = 'view'").fetchall():
		db.execute('drop view ' + name)
	columns = ', '.join('t.' + row[1] for row in db.execute('pragma table_info(%s)' % table))
	db.execute('alter table %s rename to t' % table)
	db.execute('create view %s as with recursive n(x) as (select 1 union all select x + 1 from n)'
		' select %s from t, n where n.x < 0' % (table, columns))
	db.commit()
P
id=$("$ASSAY" log list --json --db log.db | jq -r '.[0].run')
while read -r table command; do
	# shellcheck disable=SC2086
	run $command --db "$table.db"
	is "$code" 10 "$command, endless $table: refused"
	like "$err" "view $table" 'by name'
done <<C
runs log list
runs log show
runs log stats
runs log prune --since 2001-01-01
events log show $id
events replay $id
blobs log export
meta exec one.py
C

# --- more rows than anybody waits for ---

python3 - "$id" <<'P'
import shutil, sqlite3, sys
shutil.copy('log.db', 'many.db')
db = sqlite3.connect('many.db')
db.execute('pragma synchronous = off')
db.execute("""with recursive n(x) as (select 100 union all select x + 1 from n where x < 400000)
	insert into events select place - 1 + x, at_ms, attempt, form, stage, data, hash
	from events, n where place = (select no << 20 | 1 from runs where id = ?)""", sys.argv[1:])
db.execute("""with recursive n(x) as (select 1 union all select x + 1 from n where x < 200000)
	insert into runs(id, kind, started_at_ms, app_version, prompt, config)
	select printf('00%024d', x), kind, started_at_ms, app_version, prompt, config
	from runs, n where id = ?""", sys.argv[1:])
db.commit()
P
# As the shell would not let it be interrupted in the background.
interrupted() { # COMMAND...: SIGINT after a moment; $code, $err, $took in seconds
	took=$(date +%s)
	env --default-signal=INT timeout --preserve-status -k 120 -s INT 0.5 "$ASSAY" "$@" >out.txt 2>err.txt </dev/null
	code=$?
	took=$(($(date +%s) - took))
	err=$(cat err.txt)
}
late() { # COMMAND...: with a deadline that comes soon
	took=$(date +%s)
	timeout -k 5 120 "$ASSAY" "$@" --deadline 0.3 >out.txt 2>err.txt </dev/null
	code=$?
	took=$(($(date +%s) - took))
	err=$(cat err.txt)
}
soon() { # name: an endless query would last until it is killed
	[ "$took" -le 60 ]
	ok $? "$1"
}
while read -r command; do
	# shellcheck disable=SC2086
	late $command --db many.db
	is "$code" 124 "$command, too many rows: ends by its deadline"
	soon 'and soon'
	like "$err" 'the deadline has passed' 'and says so'
	# shellcheck disable=SC2086
	interrupted $command --db many.db
	is "$code" 130 "$command, too many rows: ends when interrupted"
	soon 'and soon'
done <<C
log list --json
log show $id
log verify
log export $id
C

# An honest log is read to its end all the same.
run log verify --db log.db --deadline 20
is "$code" 0 'a deadline that is far off changes nothing'
run log backup copy.db --db log.db
is "$code" 0 'a backup'
run log verify --db copy.db
is "$code $out" '0 1 run checked, 0 broken' 'is whole'
done_testing
