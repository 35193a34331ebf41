#!/bin/sh
# log verify: of one run, and of the log as a whole; the head that is kept elsewhere.
. "$(dirname "$0")/lib.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

printf 'print(1)\n' >one.py
run exec one.py --db log.db
cp log.db early.db
run exec one.py --db log.db
run log verify --db log.db
is "$code $out" '0 2 runs checked, 0 broken' 'a log as it was written'
run log verify --head head --db log.db
is "$code" 0 'its head is kept'
like "$err" 'head is in head: keep it where the log is not' 'which is said'
like "$(cat head)" '^3 [0-9a-f]{64}$' 'as a number and a hash'
cp early.db cut.db
run log verify --db cut.db
is "$code" 0 'a log of before is whole by itself'
run log verify --head head --db cut.db
is "$code" 1 'but not what it was'
like "$out" '^log  the log was cut off' 'and it is said how'
run log verify --head head --json --db cut.db
is "$(jq -c '[.[] | select(.intact | not) | .run]' out.txt)" '[null]' 'in JSON without a run'
run exec one.py --db log.db
run log rm last --db log.db
run log verify --head head --db log.db
is "$code $out" '0 2 runs checked, 0 broken' 'what was removed as it should be is no finding'
like "$(cat head)" '^5 ' 'the head goes on'
echo 'not a head' >other
run log verify --head other --db log.db
is "$code" 2 'a file that is no head is refused'
is "$(cat other)" 'not a head' 'and stays'
run log verify last --head head --db log.db
is "$code" 2 'a head is of the whole log'

# A run that has no end is in no entry of the chain: the head has a line for each.
cat >kills <<'M'
#!/bin/sh
kill -9 $PPID
M
chmod +x kills
cp log.db open.db
"$ASSAY" ask --model-command "$work/kills" --tag one 'A question?' --db open.db >out.txt 2>&1
run log verify --head open --db open.db
is "$code" 0 'a log with a run that has no end'
like "$(sed -n '2,$p' open)" '^open [0-9A-Z]{26} [0-9]+ [0-9a-f]{64} [0-9a-f]{64}$' 'its head says what that run was'
cp open.db undone.db
python3 -c "
import sqlite3
db = sqlite3.connect('undone.db')
db.execute(\"update tags set tag = 'two'\")
db.execute(\"delete from counts where name like 'contents%'\")
db.commit()"
run log verify --db undone.db
is "$code" 0 'one who makes every sum fit is not found in the file'
cp open kept
run log verify --head open --db undone.db
is "$code" 1 'but by its head'
like "$out" '^log  run [0-9A-Z]{26} was open when the head was kept, and what it said then is not what it says' 'which says what'
cmp -s open kept
ok $? 'and stays'
run log rm last --db open.db
run log verify --head open --db open.db
is "$code $(wc -l <open)" '0 1' 'what was removed as it should be is no line of the next'
sed 's/^open [^ ]*/open/' kept >other
run log verify --head other --db open.db
is "$code" 2 'a line that is none is refused'
like "$err" 'other, line 2: ' 'and named'

# What one who can write the file does.
python3 - <<'P'
import sqlite3
db = sqlite3.connect('log.db')
db.execute('pragma foreign_keys = off')
db.executescript('delete from events where place >> 20 = 1; delete from refs where run = 1;'
	'delete from runs where no = 1;')
P
run log verify --db log.db
is "$code" 1 'a run that is gone is found'
like "$out" 'is gone without having been removed' 'and said'
like "$out" '; the log as a whole is not what was written$' 'also in the sum'
run log reindex --db log.db
is "$code" 0 'the full-text index is made anew'
done_testing
