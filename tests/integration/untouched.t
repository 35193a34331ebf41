#!/bin/sh
# --db names what is no log of ours: no command changes it, or anything beside it, in any way. And
# what only reads or removes makes neither a log nor a folder.
. "$(dirname "$0")/lib.sh"

printf 'print(1)\n' >one.py
printf '{"stage":"code","reply":"x"}\n' >s.jsonl
printf '{"id":"a","prompt":"x"}\n' >tasks.jsonl
"$ASSAY" exec one.py >/dev/null 2>&1
mkdir place
printf 'my notes\n' >place/notes.txt
printf 'SQLite format 3\000 is what a database begins with\n' >place/short.db
head -c 4096 /dev/zero >place/zeros.bin
{ printf 'SQLite format 3\000'; head -c 8000 /dev/urandom; } >place/broken.db
python3 - <<'P' || skip_all 'no python3 with sqlite3'
import os, sqlite3
db = sqlite3.connect('place/other.db')
db.executescript("create table bookmarks (url text); insert into bookmarks values ('mine')")
db.close()
# As a crash left them: a journal to be rolled back, a write-ahead log to be read.
for name, mode in (('rolled.db', 'delete'), ('wal.db', 'wal')):
	if os.fork() == 0:
		db = sqlite3.connect('place/' + name, isolation_level=None)
		db.execute('pragma journal_mode = ' + mode)
		db.execute('create table t (a)')
		db.execute('pragma cache_size = 1')
		db.execute('begin')
		db.executemany('insert into t values (?)', [('x' * 3000,)] * 100)
		if mode == 'wal':
			db.execute('commit')
		os._exit(0)
	os.wait()
P
ls place/rolled.db-journal place/wal.db-wal >/dev/null || skip_all 'no journal was left to find'
chmod 644 place/*
chmod 755 place

look() { # everything there is to see of the folder
	(cd place && find . -printf '%p %i %m %U %s %T@ %C@\n' | sort && cat ./* | sha256sum)
}
look >before.txt
left_alone() { # name
	look >after.txt
	cmp -s before.txt after.txt
	ok $? "$1"
	[ -z "$(diff before.txt after.txt)" ] || diag "$(diff before.txt after.txt)"
}
for file in notes.txt short.db zeros.bin broken.db other.db rolled.db wal.db; do
	for command in 'log list' 'log show' 'log search x' 'log stats' 'log export' 'log verify' \
		'log diff last last~1' 'log rm last' 'log prune --since 1d' 'log backup copy.db' \
		'exec one.py' 'ask --script s.jsonl x' 'complete --script s.jsonl x' 'replay last' \
		'replay last --tier view' 'batch --script s.jsonl tasks.jsonl'; do
		# shellcheck disable=SC2086
		run $command --db "place/$file"
		[ "$code" = 10 ] || diag "$command: exit code $code: $err"
		codes="${codes-} $code"
	done
	is "$(printf '%s\n' $codes | sort | uniq -c | xargs)" '16 10' "$file: all commands refuse it"
	codes=
	left_alone "$file: and leave it as it was, to its times"
	like "$err" "$file.*name another log with --db" "$file: the message names it, and says what to do"
done
run doctor --sandbox oci:none --json --db place/notes.txt
like "$(jq -r .log.error out.txt)" 'notes\.txt' 'assay doctor says what is wrong with it'
left_alone 'and leaves it, too'
[ ! -e copy.db ]
ok $? 'no backup was made of any'

# --- no log at all ---

for command in 'log show' 'log stats' 'log export' 'log verify' 'log rm last' 'log prune --since 1d' \
	'log backup copy.db' 'replay last' 'replay last --tier view'; do
	# shellcheck disable=SC2086
	run $command --db new/folder/log.db
	codes="${codes-} $code"
done
is "$(printf '%s\n' $codes | sort | uniq -c | xargs)" '9 10' 'there is nothing to read or to remove'
like "$err" 'does not exist yet' 'and the message says so'
run log list --db new/folder/log.db
is "$code" 0 'to list nothing is no error'
run doctor --sandbox oci:none --json --db new/folder/log.db
[ ! -e new ]
ok $? 'and nobody made a folder'

# --- our own ---

run exec one.py --db ours.db
chmod 644 ours.db
run log list --db ours.db
is "$code $(stat -c %a ours.db)" '0 600' 'a log that others could read is made private'
: >empty.db
chmod 644 empty.db
run log list --db empty.db
is "$code $(stat -c '%a %s' empty.db)" '10 644 0' 'an empty file is no log to read'
run exec one.py --db empty.db
is "$code $(stat -c %a empty.db)" '0 600' 'but may become one'
done_testing
