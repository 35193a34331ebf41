#!/bin/sh
# log rm: a run's replays hold what it held, and go with it; on a full disk, too.
. "$(dirname "$0")/lib.sh"

printf 'print("walrus")\n' >one.py
run exec one.py --db log.db
id=$("$ASSAY" log list --db log.db --json | jq -r '.[0].run')
run replay last --db log.db
run replay last --db log.db
is "$("$ASSAY" log list --db log.db --json | jq length)" 3 'a run and two replays'
run log rm "$id" --keep-replays --with-replays --db log.db
is "$code" 2 'both ways is none'
run log rm "$id" --dry-run --json --db log.db
is "$(jq -c '[.removed, (.runs | length)]' out.txt)" '[false,3]' 'they would go with it'
cp log.db kept.db
run log rm "$id" --keep-replays --db kept.db
is "$("$ASSAY" log list --db kept.db --json | jq length)" 2 'unless they are to stay'
run log rm "$id" --db log.db
is "$code $("$ASSAY" log list --db log.db --json | jq length)" '0 0' 'they go'
like "$err" 'with 2 replays \(--keep-replays leaves them\)' 'which is said'
is "$(cat log.db log.db-wal 2>/dev/null | grep -ac walrus)" 0 'nothing of them is left'
run log verify --db log.db
is "$code" 0 'and the log says that they were there'

# --- a run that runs ---

# Its model answers when it was removed.
mkfifo removed
cat >slow <<'M'
#!/bin/sh
echo >asked
read -r _ <removed
printf '```python\nprint(1)\n```\n'
M
chmod +x slow
"$ASSAY" ask --model-command "$work/slow" --fast 'A question?' --db under.db >out.txt 2>err.txt &
until [ -e asked ]; do sleep 0.05; done
"$ASSAY" log rm last --db under.db 2>/dev/null
echo >removed
wait $!
is "$?" 10 'a run that was removed while it ran ends'
like "$(cat err.txt)" 'run [0-9A-Z]{26} is not there: it was removed' 'and says so'
run log verify --db under.db
is "$code $out" '0 0 runs checked, 0 broken' 'nothing is left of it'

# --- what was saved ---

cat >art.py <<'P'
import os
os.makedirs('/out/sub/deep')
open('/out/a.txt', 'w').write('one')
open('/out/sub/deep/b.txt', 'w').write('two')
P
art() {
	run exec art.py --db art.db
	folder=assay-out/$("$ASSAY" log list --db art.db --json | jq -r '.[0].run[-8:]')
}
art
is "$(cat "$folder/a.txt" "$folder/sub/deep/b.txt")" onetwo 'files of a run are saved'
run log rm last --dry-run --db art.db
[ -e "$folder/sub/deep/b.txt" ]
ok $? 'a dry run leaves them'
run log rm last --db art.db
[ ! -e "$folder" ]
ok $? 'they go with it, and their folder'
like "$err" '2 saved files removed' 'which is said'
art
echo mine >"$folder/mine.txt"
echo changed >"$folder/sub/deep/b.txt"
run log prune --since 1970-01-02 --db art.db
[ -e "$folder/a.txt" ]
ok $? 'what is not removed keeps its files'
run log rm last --db art.db
is "$code $(cd "$folder" && find . -type f | sort | xargs)" '0 ./mine.txt ./sub/deep/b.txt' \
	'what was changed, or is of somebody else, stays'
like "$err" "$folder stays" 'which is said'
art
mv "$folder" elsewhere
ln -s "$work/elsewhere" "$folder"
run log rm last --db art.db
is "$code $(cat elsewhere/a.txt)" '0 one' 'no link is followed'
art
mv "$folder/sub" sub
ln -s "$work/sub" "$folder/sub"
run log rm last --db art.db
is "$code $(cat sub/deep/b.txt) $(ls "$folder")" '0 two sub' 'nor one below it'
# A folder that a person named is theirs: the run's files go, as they were written, and no others.
mkdir named
echo mine >named/a.txt
run exec art.py --db art.db --out named
is "$(find named -type f | sort | xargs cat | xargs)" 'mine two' 'what is there already is not replaced'
run exec art.py --db art.db --out named/more
echo changed >named/more/a.txt
(cd / && "$ASSAY" log rm last last~1 --db "$work/art.db") >out.txt 2>err.txt
is "$? $(find named -type f | sort | xargs) $(cat named/a.txt named/more/a.txt | xargs)" \
	'0 named/a.txt named/more/a.txt mine changed' 'files in folders that --out named go with their runs'
like "$(cat err.txt)" "$work/named/more/a.txt stays: it was changed since" 'what was changed stays, and is named'
like "$(cat err.txt)" '2 saved files removed' 'the others are counted'
is "$(cat art.db-saved)" '' 'and nothing is known of them any more'
run exec art.py --db art.db --out "$work/victim"
"$ASSAY" log export --bundle last --db art.db -o art.bundle
run log import art.bundle --db victim.db
run log rm last --db victim.db
is "$(cat victim/a.txt)" one 'what comes from elsewhere removes nothing here'
art
python3 - <<'P'
import sqlite3
db = sqlite3.connect('art.db')
db.execute("""update events set data = replace(data, '"a.txt"', '"../../art.py"')""")
db.commit()
P
run log rm last --db art.db
[ -e art.py ]
ok $? 'a forged record names nothing outside'

# --- a full disk ---

ns_flags=$([ "$(id -u)" -eq 0 ] && echo -m || echo -rm)
mkdir disk
cat >fill.sh <<'E2'
mount -t tmpfs -o size=8m none disk || exit 77
i=0
while [ $i -lt 12 ]; do
	head -c 60000 /dev/urandom | od -An -v -tx1 | tr -d ' \n' | sed 's/^/# /' >big.py
	echo 'print(1)' | cat big.py - >more.py
	"$ASSAY" exec more.py --db disk/log.db >/dev/null 2>&1 || exit 1
	i=$((i + 1))
done
# Room for a step of one run is needed, since what changes is written beside the log first.
room=$(($(stat -f -c '%a * %S' disk) - 1500000))
head -c $room /dev/zero >disk/fill
"$ASSAY" log prune --since 1970-01-02 --db disk/log.db >/dev/null 2>&1
"$ASSAY" log list --db disk/log.db --json | jq -r '.[4:][].run' >old.txt
"$ASSAY" log rm $(cat old.txt) --db disk/log.db >out.txt 2>err.txt || exit 2
"$ASSAY" log verify --db disk/log.db >>out.txt 2>&1 || exit 3
"$ASSAY" log list --db disk/log.db --json | jq length >left.txt
E2
unshare $ns_flags sh fill.sh 2>ns.txt
case $? in
77) skip 'a full disk' "no mounts here: $(head -n 1 ns.txt)" ;;
0)
	ok 0 'removal on a disk that has little room'
	is "$(cat left.txt)" 4 'what was named is gone'
	;;
*)
	ok 1 'removal on a disk that has little room'
	diag "$(cat err.txt out.txt ns.txt)"
	;;
esac
done_testing
