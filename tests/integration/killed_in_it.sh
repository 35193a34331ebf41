# Who is killed while a log of another version is brought up to date leaves the one or the other. Sourced
# after lib.sh; the log is old.db.
#   killed_in_it SIDE RUN WHOLE CALLS OUTCOME...
# SIDE is the end of the file that SQLite keeps beside the log meanwhile, RUN a run that is removed by
# what is killed, WHOLE what is shown of the log beside its version, its integrity and its number of
# runs (Python), CALLS the system calls it is killed at, and each OUTCOME what may be shown then.
state_of_killed() { # WHOLE
	python3 -c "
import sqlite3
db = sqlite3.connect('killed.db')
print(db.execute('pragma user_version').fetchone()[0], db.execute('pragma integrity_check').fetchone()[0],
	db.execute('select count(*) from runs').fetchone()[0], $1)"
}
kill_at() { # call, which one of them; WHOLE, SIDE, RUN as above. Fails when there are not so many
	rm -f killed.db*
	cp old.db killed.db
	ASAN_OPTIONS=detect_leaks=0 strace -f -o trace.txt -P "$work/killed.db" -P "$work/killed.db$4" \
		-e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		"$ASSAY" log rm "$5" --db "$work/killed.db" >out.txt 2>&1
	[ $? -ge 128 ] || return
	shown=$(state_of_killed "$3")
}
killed_in_it() {
	side=$1 removed=$2 whole=$3 calls=$4
	shift 4
	# Which file a call is on only root can see of a process that cannot be dumped.
	if [ "$(id -u)" -ne 0 ] || ! strace -f -o /dev/null true 2>/dev/null; then
		skip 'killed in it' 'no strace here, or not root'
		return
	fi
	killed=0
	for call in $calls; do
		for at in 1 2 3 5 8 13 21 34 55 89 144 233 377; do
			kill_at "$call" "$at" "$whole" "$side" "$removed" || break
			killed=$((killed + 1))
			if ! printf '%s\n' "$@" | grep -qxF -- "$shown"; then
				ok 1 "killed at $call $at"
				diag "$shown"
			fi
			"$ASSAY" log rm "$removed" --db killed.db >out.txt 2>&1
			"$ASSAY" log verify --db killed.db >out.txt 2>&1
			is "$? $(tail -n 1 out.txt)" '0 6 runs checked, 0 broken' "killed at $call $at: the next goes on"
		done
	done
	[ $killed -gt 10 ]
	ok $? "killed $killed times"
}
