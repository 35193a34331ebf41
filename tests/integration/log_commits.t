#!/bin/sh
# When the log is written: records with no side effect between them share a transaction, every
# side effect has one before it, a kill anywhere leaves a log that says where it was, and nobody
# who waits holds the log.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
command -v jq >/dev/null || skip_all 'no jq here'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

# Runs a command beside a connection that keeps the write-ahead log from being emptied, and says
# how many of its frames end a transaction (walformat, 2.2: the size of the file after it).
cat >commits.py <<'P'
import os, sqlite3, struct, subprocess, sys
keep = sqlite3.connect('log.db')
keep.execute('select count(*) from runs').fetchall()
keep.execute('pragma wal_checkpoint(truncate)')
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open('out.txt', 'w'),
	stderr=open('err.txt', 'w'))
wal = open('log.db-wal', 'rb').read()
step = 24 + struct.unpack('>I', wal[8:12])[0] if wal else 1
print(done.returncode, sum(wal[at + 4:at + 8] != bytes(4) for at in range(32, len(wal), step)))
P
costs() { # commits name; command...
	want=$1 name=$2
	shift 2
	is "$(python3 commits.py "$ASSAY" "$@" --db log.db)" "0 $want" "$name"
}
events() { # of the last run
	"$ASSAY" log export last --db log.db | jq -r '.events[] | .stage + " " + .phase'
}
# The same as one line, the model's calls and the execution only.
trail() {
	events | grep -E '^(plan|code|execute|judge|answer) (started|done)' | xargs | sed 's/ \(started\|done\)/:\1/g'
}

# --- how many transactions ---

echo 'echo 42' >exec.sh
run exec exec.sh --db log.db
costs 2 'exec: before the program, and after it' exec exec.sh

forget
say code "$(program 'echo 42' bash)"
costs 4 'ask: before the call, before the parser, before the program, and after it' \
	ask --script s.jsonl --lang bash --expect 42 'A question?'
is "$(events | xargs)" \
	'task done code started code done extract done screen started screen done execute started execute done verify done' \
	'and all is recorded, in its order'

forget
say code "$(program 'print(42)')"
costs 3 'without screening no parser runs' \
	ask --script s.jsonl --lang python --expect 42 --profile off 'A question?'
is "$(events | xargs)" \
	'task done code started code done extract done screen done execute started execute done verify done' \
	'and none is recorded'

forget
say plan "$(plan '[]' bash)"
say code "$(program 'echo 41; exit 1' bash)"
say repair "$(program 'echo 42' bash)"
say judge "$(verdict pass)"
say answer 'It is 42.'
costs 10 'one before each of five calls, two parsers and two executions, and one at the end' \
	ask --script s.jsonl 'A question?'
is "$(trail)" "plan:started plan:done code:started code:done execute:started execute:done \
execute:started execute:done answer:started answer:done judge:started judge:done" 'of which each is recorded'

forget
say complete 'Hello.'
costs 2 'complete: before the call, and after it' complete --script s.jsonl 'A question?'

# --- a kill at any point ---

cat >model <<'M'
#!/bin/sh
if [ "$ASSAY_STAGE" = "$KILL_AT" ]; then
	pid=$$
	until [ "$(cat /proc/$pid/comm)" = assay ]; do
		pid=$(awk '/^PPid:/ { print $2 }' /proc/$pid/status)
	done
	kill -KILL $pid
fi
cat "$HOME/$ASSAY_STAGE"
M
chmod +x model
plan '[]' bash >"$HOME/plan"
program 'echo 42' bash >"$HOME/code"
verdict pass >"$HOME/judge"
echo 'It is 42.' >"$HOME/answer"
killed() { # stage trail
	# A shell of its own, which says "Killed" into err.txt.
	KILL_AT=$1 sh -c '"$@"; exit $?' sh "$ASSAY" ask --model-command "$work/model" --db log.db \
		'A question?' >out.txt 2>err.txt </dev/null
	is "$? $(trail)" "137 $2" "killed in $1: the log ends with what was under way"
	is "$("$ASSAY" log list --db log.db --json | jq -sr 'flatten[0] | .status')" unfinished 'and has no end'
}
done='plan:started'
killed plan "$done"
done="$done plan:done code:started"
killed code "$done"
done="$done code:done execute:started execute:done answer:started"
killed answer "$done"
done="$done answer:done judge:started"
killed judge "$done"
"$ASSAY" log verify --db log.db >verify.txt 2>&1
is "$?" 0 'every chain is whole'

# --- a person who thinks about it ---

cat >person.py <<'P'
import os, pty, signal, subprocess, sys
assay, answer = sys.argv[1:3]
pid, terminal = pty.fork()
if pid == 0:
	os.execv(assay, [assay, 'ask', '--lang', 'bash', '--expect', '42', '--approve', 'ask',
		'--script', 's.jsonl', '--db', 'log.db', 'A question?'])
signal.alarm(60)
shown = b''
while b'Run it?' not in shown:
	shown += os.read(terminal, 4096)
other = subprocess.run([assay, 'exec', 'exec.sh', '--db', 'log.db'], stdin=subprocess.DEVNULL,
	capture_output=True)
print(other.returncode, other.stdout.decode().strip())
os.kill(pid, signal.SIGKILL) if answer == 'kill' else os.write(terminal, answer.encode() + b'\n')
try:
	while os.read(terminal, 4096):
		pass
except OSError:
	pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
forget
say code "$(program 'echo 42' bash)"
is "$(python3 person.py "$ASSAY" yes | xargs)" '0 42 0' 'while a person is asked, others write to the log'
forget
say code "$(program 'echo 42' bash)"
is "$(python3 person.py "$ASSAY" kill | xargs)" '0 42 -9' 'killed while a person is asked'
is "$("$ASSAY" log export last~1 --db log.db | jq -r '.events[] | .stage + " " + .phase' | xargs)" \
	'task done code started code done extract done screen started screen done' 'the log has all up to the question'

done_testing
