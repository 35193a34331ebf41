#!/bin/sh
# Runs from log to log: bundles, import and merge keep what was recorded, hashes and all, take each
# run once, and refuse what is not intact or not the same.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

answer() { # db answer [option...]
	db=$1
	forget
	say plan "$(plan)"
	say code "$(program "print(\"$2\")")"
	say judge "$(verdict pass)"
	say answer "$2"
	shift 2
	run ask --script s.jsonl --db "$db" -f data.txt "$@" 'What is in it?'
}
runs() { # db
	"$ASSAY" log list --db "$1" --json | jq length
}
last() { # db
	"$ASSAY" log list --db "$1" --json --limit 1 | jq -r '.[0].run'
}
printf 'a\000b\377' >data.txt
answer there.db one --tag kept
is "$code" 0 'a run there'
id=$(last there.db)
answer there.db two
run replay "$id" --db there.db
is "$(runs there.db)" 3 'another, and a replay'

run log export --bundle "$id" --db there.db -o runs.bundle
is "$code" 0 'log export --bundle'
is "$(find . -name 'runs.bundle*' | sort)" './runs.bundle' 'is one file'
is "$(stat -c %a runs.bundle)" 600 'that its owner alone reads'
run log export --bundle "$id" --db there.db -o runs.bundle
is "$code" 2 'a file that is there is not written over'

# --- here ---

run log import runs.bundle --db here.db --json
is "$code $(jq -c . out.txt)" '0 {"imported":1,"already":0,"unfinished":0}' 'log import'
run log verify --db here.db --json
is "$code $(jq -c 'map(.intact)' out.txt)" '0 [true]' 'what came is intact'
"$ASSAY" log export "$id" --db there.db >there.json
"$ASSAY" log export "$id" --db here.db >here.json
cmp there.json here.json >cmp.txt 2>&1
ok $? 'and the same: times, events, contents'
is "$("$ASSAY" log list --tag kept --db here.db --json | jq length)" 1 'its tags came with it'
is "$("$ASSAY" log search one --db here.db --json | jq -r '.[0].run')" "$id" 'it is found by its words'
run replay "$id" --db here.db --json
is "$code $(jq -r .same out.txt)" '0 true' 'and can be replayed'
run log import runs.bundle --db here.db --json
is "$code $(jq -c . out.txt)" '0 {"imported":0,"already":1,"unfinished":0}' 'a second time nothing comes'
OPENAI_API_KEY='print("one")' "$ASSAY" log import runs.bundle --db keyed.db 2>err.txt
is "$? $("$ASSAY" log verify --db keyed.db --json | jq -c 'map(.intact)')" '0 [true]' \
	'what comes was cleaned where it was made: another secret here does not break its hashes'
cp runs.bundle named.bundle
python3 - <<'P'
import sqlite3
with sqlite3.connect('named.bundle') as db:
    db.execute("update runs set id = substr(id, 1, 19) || '$(./x);'")
P
run log import named.bundle --db here.db
like "$code $err" '^1 .*is no id of a run' 'a run with a name that is no id does not come'
run log export --bundle --db there.db -o all.bundle
run log import all.bundle --db here.db --json
is "$code $(jq -c . out.txt)" '0 {"imported":2,"already":1,"unfinished":0}' 'without RUN a bundle has all, and only what is new comes'

# --- JSON into a file ---

run log export "$id" --db there.db -o one.json
is "$code $(stat -c %a one.json) $out" '0 600 ' 'log export -o FILE'
cmp one.json there.json >cmp.txt 2>&1
ok $? 'has what standard output would have'
run log export --otel --db there.db -o one.json
is "$code $(wc -l <one.json) $(ls | grep -c '^one.json')" '0 3 1' 'traces, too; what was there is replaced'
run log export 0000 --db there.db -o one.json
is "$code $(wc -l <one.json) $(ls | grep -c '^one.json')" '2 3 1' 'a failure leaves it as it was'

# --- from a log that is not as it should be ---

cp there.db lacks.db
python3 -c "
import sqlite3
db = sqlite3.connect('lacks.db')
db.execute('drop index runs_item')
db.commit()"
printf 'print(1)\n' >lacks.py
run exec lacks.py --db lacks.db
is "$code" 10 'a log that lacks an index is not written'
like "$err" 'it has no index runs_item; .*log export --bundle and log import' 'which is named, and what takes its runs elsewhere'
run log export --bundle --db lacks.db -o lacks.bundle
run log import lacks.bundle --db whole.db
run log verify --db whole.db
is "$code $out" '0 3 runs checked, 0 broken' 'and does'

# --- what is refused ---

damage() { # file: statements for the copy of the bundle
	cp runs.bundle bad.bundle
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("bad.bundle")
db.execute(sys.argv[1])
db.commit()
db.close()' "$1"
}
refused() { # name
	rm -f new.db
	run log import bad.bundle --db new.db
	[ "$code" -ne 0 ] && [ ! -e new.db ]
	ok $? "$1 is refused, and nothing comes of it, not even an empty log"
	[ -n "$err" ] || diag 'nothing is said'
}
damage "update runs set status = 'failed'"
refused 'a run whose result was changed'
like "$err" 'not intact' 'and the reason is said'
damage "update runs set model = 'other'"
refused 'a run whose opening was changed'
damage "update blobs set body = x'00'"
refused 'a run whose contents were changed'
damage 'delete from blobs'
refused 'a run without its contents'
damage "delete from events"
refused 'a run without its events'
damage "create table another (x)"
run log import bad.bundle --db new2.db
is "$(runs new2.db)" "$([ "$code" = 0 ] && echo 1 || echo 0)" 'a foreign table changes nothing, or is refused'
damage 'pragma application_id = 5'
refused 'a database of another application'
damage 'pragma user_version = 999'
refused 'a log of a later version'
head -c 9000 runs.bundle >bad.bundle
refused 'a bundle that was cut off'
like "$err" 'bad\.bundle: .*(make it anew where its runs are|copy it from there again)' 'the file is named, and what to do'
unlike "$err" '\-\-db|\.recover' 'which is not what helps a log of one'"'"'s own'
head -c 9000 /dev/urandom >bad.bundle
refused 'noise'
like "$err" 'bad\.bundle: is no log or bundle; make it anew' 'what it is not, and what to do'
: >bad.bundle
refused 'nothing'
run log import none.bundle --db new.db
is "$code" 10 'a bundle that is not there is an error'
like "$err" ': No such file or directory$' 'and said to be that, not a log that the first run makes'

# The same id, another run.
python3 - "$id" <<'P'
import sqlite3, sys
db = sqlite3.connect('here.db')
db.execute("update runs set seal = 'x' || substr(seal, 2) where id = ?", (sys.argv[1],))
db.commit()
P
run log import runs.bundle --db here.db
is "$code" 1 'a run whose id another one has here is refused'
like "$err" "$id is another one" 'and named'

# --- shards ---

task() { # id answer
	jq -cn --arg id "$1" '{id: $id, prompt: "What?"}' >tasks.jsonl
	forget
	say plan "$(plan)"
	say code "$(program "print(\"$2\")")"
	say judge "$(verdict pass)"
	say answer "$2"
}
task t1 yes
run batch tasks.jsonl --script s.jsonl --db s-1.db --out r1.jsonl
task t2 no
run batch tasks.jsonl --script s.jsonl --db s-2.db --out r2.jsonl
run log merge s-1.db s-2.db --into all.db --json
is "$code $(jq -c '[.imported, .already, .missing]' out.txt)" '0 [2,0,[]]' 'log merge'
is "$("$ASSAY" log list --db all.db --json | jq -c '[.[].item] | sort')" '["t1","t2"]' 'has the runs of both'
run log verify --db all.db
is "$code" 0 'all intact'
run log merge s-1.db s-2.db --into all.db --json
is "$code $(jq -c '[.imported, .already]' out.txt)" '0 [0,2]' 'and again nothing'
task t1 changed
run batch tasks.jsonl --script s.jsonl --db s-3.db --out r3.jsonl
run log merge s-1.db s-2.db s-3.db --into new-all.db
is "$code" 1 'two different results of a task are refused'
like "$err" 'task "t1" has two results' 'and named'
[ ! -e new-all.db ]
ok $? 'and no log is left that has some of it'
run log merge s-1.db s-2.db s-3.db --into both.db --keep-both
is "$code $(runs both.db)" '0 3' '--keep-both takes both'
task t1 later
run batch tasks.jsonl --script s.jsonl --db s-1.db --out r4.jsonl
run log merge s-1.db s-2.db --into all.db
is "$code $(runs all.db)" '0 3' 'a newer result in the same log is no second one'
run log merge all.db --into all.db
is "$code" 2 'a log is not merged into itself'

for i in 1 2; do
	printf '{"shard":%s,"of":4,"complete":%s}\n' $i "$([ $i = 1 ] && echo true || echo false)" >s-$i.manifest.json
done
run log merge s-1.db s-2.db --into all.db --json
is "$code $(jq -c '[.missing, .incomplete]' out.txt)" '1 [[3,4],[2]]' 'missing shards are named, and the exit code is 1'
like "$err" 'missing: \[3,4\]' 'to people too'
printf '{"shard":1e9,"of":1e15}' >s-1.manifest.json
printf '[' >s-2.manifest.json
run log merge s-1.db s-2.db --into all.db
is "$code" 0 'a manifest that is none is passed over'

# --- parts ---

rm -f *.manifest.json
task p1 yes
jq -c '(., .id = "p2", .id = "p3")' tasks.jsonl >three.jsonl
part() { # I/N [OPTION...]
	run batch three.jsonl --script s.jsonl --out parts/r.jsonl --shard "$@"
}
merge() { # into, log...
	into=$1
	shift
	run log merge "$@" --into "$into" --json
}
mkdir parts
for i in 1 2; do part $i/2 --db parts/log.db; done
merge m.db parts/log-1-of-2.db
is "$code $(jq -c '[.missing, .incomplete]' out.txt)" '1 [[2],[]]' 'with --db, too, a missing shard is named'
jq -c '.complete = false' parts/r-1-of-2.manifest.json >new.json
mv new.json parts/r-1-of-2.manifest.json
merge m.db parts/log-?-of-2.db
is "$code $(jq -c '[.missing, .incomplete]' out.txt)" '1 [[],[1]]' 'and one that is not done'
mkdir alone
cp parts/log-2-of-2.db* alone
merge m.db alone/log-2-of-2.db
is "$code $(jq -c '[.missing, .incomplete]' out.txt)" '1 [[1],[]]' 'without any manifest, names tell what is missing'
for i in 1 2 3; do part $i/3; done
merge m3.db parts/r-?-of-3.db
is "$code $(jq -c '[.imported, .missing, .incomplete]' out.txt)" '0 [3,[],[]]' 'all of three'
merge m4.db parts/log-1-of-2.db parts/r-2-of-3.db
is "$code $(ls m4.db 2>&1 | grep -c '^m4')" '1 0' 'parts of two splits are refused'
like "$err" 'log-1-of-2.db is one of 2 parts, .*r-2-of-3.db one of 3' 'and named'
part 3/3 --no-judge
merge m5.db parts/r-?-of-3.db
is "$code" 1 'a part that was asked with other settings is refused'
like "$err" 'r-1-of-3.db and .*r-3-of-3.db are of batches with other models or settings' 'and named'
merge m5.db --keep-both parts/r-?-of-3.db
is "$code $(jq -c '.missing' out.txt)" '0 []' 'but with --keep-both'
part 3/3
jq -c '(., .id = "p4")' tasks.jsonl >more.jsonl
cat more.jsonl three.jsonl | jq -sc 'unique_by(.id) | .[]' >t && mv t three.jsonl
part 2/3
merge m6.db parts/r-?-of-3.db
is "$code" 1 'so is a part of a file that has had other tasks since'
like "$err" 'another number of tasks: run the older part again' 'and what to do is said'
for i in 1 3; do part $i/3; done
merge m6.db parts/r-?-of-3.db
is "$code $(jq -c '[.missing, .incomplete]' out.txt)" '0 [[],[]]' 'which helps'
i=0
for name in -of-2 1-of-2 x-1-of- x-3-of-2 x-0-of-2 x-1-of-2y -1-of-99999999999999999999; do
	cp s-2.db "./$name.db"
	merge m7.db "./$name.db"
	[ "$code" = 0 ] || diag "$name: $code $err $out"
	[ "$code" != 0 ] || i=$((i + 1))
done
is "$i" 7 'a name that says no part is passed over'

# A run that has not ended stays where it is.
printf 'import time\nopen("/work/x","w")\ntime.sleep(600)\n' >long.py
"$ASSAY" exec --timeout 500 --db open.db long.py >/dev/null 2>&1 &
executes() { # jq -e of nothing is no failure
	[ "$("$ASSAY" log export last --db open.db 2>/dev/null | jq '.events[-1] | .stage == "execute" and .phase == "started"')" = true ]
}
until_true executes
run log merge open.db --into all2.db --json
kill -9 $!
wait $! 2>/dev/null
is "$code $(jq -c '[.imported, .unfinished]' out.txt)" '0 [0,1]' 'a run that has not ended is left out, and counted'
done_testing
