#!/bin/sh
# Nothing runs unlogged: whatever keeps the log from being written, the exit code is 10, no model
# is asked and no guest is started. A guest shows itself by a name that is looked for in /proc all
# the while, and goes on once it was seen; that it can be seen is proven first.
. "$(dirname "$0")/lib.sh"

mark=$$-$(date +%N)
printf '(exec -a assay-guest-%s sleep 600)\necho guest was here\n' "$mark" >guest.sh
cat >model <<'M'
#!/bin/sh
echo "$ASSAY_STAGE" >>"$CALLS"
printf 'So:\n\n```bash\n'
cat "$GUEST"
printf '```\n'
M
chmod +x model
export CALLS="$work/calls.txt" GUEST="$work/guest.sh"
echo '{"id":"one","prompt":"Show yourself.","lang":"bash","expect":{"regex":"guest"}}' >tasks.jsonl
ask="ask --disk 2m --lang bash --no-judge --expect-regex guest --model-command $work/model Show"
batch="batch tasks.jsonl --disk 2m --no-judge --model-command $work/model --out results.jsonl"

# Runs a command and looks for the guest: $code, $out, $err; $ran: "calls guests", each 0 or 1.
watched() {
	: >"$CALLS"
	: >seen.txt
	while [ ! -e stop ]; do
		for seen in $(grep -lsaE "assay-gues[t]-$mark" /proc/[0-9]*/cmdline); do
			echo "$seen" >>seen.txt
			pid=${seen#/proc/}
			kill -9 "${pid%/cmdline}" 2>/dev/null
		done
		sleep 0.02
	done &
	watcher=$!
	"$@" >out.txt 2>err.txt </dev/null
	code=$?
	: >stop
	wait $watcher
	rm stop
	out=$(cat out.txt)
	err=$(cat err.txt)
	ran="$(($(wc -l <"$CALLS") > 0)) $(($(wc -l <seen.txt) > 0))"
}
works() { # name; command...
	name=$1
	shift
	watched "$@"
	is "$code $ran" '0 1 1' "$name"
}
# The log cannot be opened or begun: nothing at all happens.
refused() { # name pattern; log; command before assay...
	name=$1 pattern=$2 log=$3
	shift 3
	watched "$@" "$ASSAY" $ask --db "$log"
	is "$code $ran" '10 0 0' "$name: ask"
	like "$err" "$pattern" "$name: and it says what is wrong"
	is "$out" '' "$name: nothing on standard output"
	watched "$@" "$ASSAY" exec guest.sh --db "$log"
	is "$code $ran$out" '10 0 0' "$name: exec"
}
# A program of 800 KB that no log holds yet.
make_large() {
	{
		cat guest.sh
		printf '# '
		head -c 400000 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
		echo
	} >large.sh
}
# The log gives out in the middle, before a program that is too large for it.
given_out() { # name; log; command before assay...
	name=$1 log=$2
	shift 2
	make_large
	GUEST="$work/large.sh"
	watched "$@" "$ASSAY" $ask --db "$log"
	is "$code $ran" '10 1 0' "$name: the model was asked, its program does not run"
	like "$err" 'log' "$name: and it says why"
	watched "$@" "$ASSAY" exec large.sh --db "$log"
	is "$code $ran$out" '10 0 0' "$name: exec"
	GUEST="$work/guest.sh"
}

# --- that it would be seen ---

works 'with a log the guest runs and is seen' "$ASSAY" $ask --db log.db
is "$(stat -c %a log.db)" 600 'the log is private'
make_large
GUEST="$work/large.sh"
works 'a large one, too' "$ASSAY" $ask --db scratch.db
GUEST="$work/guest.sh"
watched "$ASSAY" exec guest.sh --db log.db
is "$code $ran$out" '0 0 1guest was here' 'and one without a model'
watched "$ASSAY" $batch --db log.db
is "$code $ran" '0 1 1' 'and one of a batch'
rows=$("$ASSAY" log list --db log.db --json | jq -s 'flatten | length')

# --- files that are no log ---

mkdir folder.db
refused 'a folder' 'directory|folder' folder.db
head -c 20000 /dev/urandom >garbage.db
refused 'garbage' 'garbage\.db' garbage.db
cp garbage.db garbage.orig
cmp -s garbage.db garbage.orig
ok $? 'garbage is left as it was'
size=$(stat -c %s log.db)
head -c $((size / 2)) log.db >half.db
refused 'half a log' 'half\.db' half.db
{ head -c 4096 log.db; head -c $((size - 4096)) /dev/zero | tr '\0' '\377'; } >torn.db
refused 'a log of ruined pages' 'torn\.db' torn.db
python3 - <<'P'
import sqlite3
db = sqlite3.connect('other.db')
db.executescript("create table bookmarks (url text); insert into bookmarks values ('mine');")
db = sqlite3.connect('newer.db')
db.executescript("pragma application_id = 0x%08x; pragma user_version = 999; create table t (a);"
	% sqlite3.connect('log.db').execute('pragma application_id').fetchone()[0])
P
sha256sum other.db >other.sum
refused "another program's database" 'another application' other.db
sha256sum -c --status other.sum
ok $? "another program's database is left as it was, to the byte"
refused 'the log of a newer assay' 'newer' newer.db
refused 'a folder that is a file' 'tasks\.jsonl' tasks.jsonl/log.db
watched env -u HOME -u XDG_DATA_HOME "$ASSAY" exec guest.sh
is "$code $ran" '10 0 0' 'no place for a log at all'
rm results.jsonl
watched "$ASSAY" $batch --db garbage.db
is "$code $ran" '10 0 0' 'a batch without a log'
[ ! -s results.jsonl ] || [ "$(wc -l <results.jsonl)" = 1 ]
ok $? 'writes no result of its own'

# --- the file may not grow ---

# Its file may not grow any more, but what is beside it may: nothing is lost, it only waits there.
cp scratch.db limit.db
python3 - <<'P'
import sqlite3
db = sqlite3.connect('limit.db')
db.execute("insert into blobs(sha256, size, body) values ('-', 0, zeroblob(90000000))")
db.commit()
db.execute("delete from blobs where sha256 = '-'")
db.commit()
P
works 'a file-size limit that is wide enough' prlimit --fsize=100000000 "$ASSAY" $ask --db limit.db
make_large
GUEST="$work/large.sh"
works 'a file-size limit below the log' prlimit --fsize=80000000 "$ASSAY" $ask --db limit.db
GUEST="$work/guest.sh"
works 'the log is whole afterwards' "$ASSAY" $ask --db limit.db
"$ASSAY" log verify --db limit.db >verify.txt 2>&1
is "$?" 0 'and every chain in it is unbroken'

# --- folders and disks ---

if [ "$(id -u)" -ne 0 ]; then
	mkdir closed
	cp log.db closed/
	chmod 500 closed
	refused 'a folder that may not be written' 'log' closed/log.db
	chmod 700 closed
	chmod 400 closed/log.db
	refused 'a file that may not be written' 'log' closed/log.db
fi
# Mounts of its own: setup is run there before the command.
ns_flags=$([ "$(id -u)" -eq 0 ] && echo -m || echo -rm)
mounted() { # setup command...
	setup=$1
	shift
	unshare $ns_flags sh -c "$setup && exec \"\$@\"" sh "$@"
}
mkdir disk
if mounted 'mount -t tmpfs none disk' true 2>ns.txt; then
	works 'on a disk of its own' mounted 'mount -t tmpfs none disk' "$ASSAY" $ask --db disk/log.db
	refused 'a read-only disk' 'log' disk/log.db \
		mounted 'mount -t tmpfs none disk && cp log.db disk && mount -o remount,bind,ro disk'
	refused 'a read-only disk without a log' 'log' disk/new/log.db \
		mounted 'mount -t tmpfs none disk && mount -o remount,bind,ro disk'
	refused 'a writable log in a read-only folder' 'log' disk/log.db \
		mounted 'mount -t tmpfs none disk && mkdir disk/rw && mount -t tmpfs none disk/rw &&
			cp log.db disk/rw && : >disk/log.db && mount -o remount,bind,ro disk &&
			mount --bind disk/rw/log.db disk/log.db'
	refused 'a disk without room for a log' 'log' disk/log.db \
		mounted 'mount -t tmpfs -o size=8k none disk'
	refused 'a full disk' 'log' disk/log.db \
		mounted 'mount -t tmpfs -o size=2m none disk && cp log.db disk &&
			! dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null'
	given_out 'a disk that fills up' disk/log.db \
		mounted "mount -t tmpfs -o size=$((size + 400000)) none disk && cp log.db disk"
else
	skip 'read-only and full disks' "no mounts here: $(head -n 1 ns.txt)"
fi

# --- nothing was harmed ---

is "$("$ASSAY" log list --db log.db --json | jq -s 'flatten | length')" "$rows" 'the good log holds what it held'

done_testing
