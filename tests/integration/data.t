#!/bin/sh
# Inputs where they are: a file of any size and a folder are seen read-only, nothing is copied, no
# link or socket leads out of them, what changes is noticed, and a replay knows what it was given.
. "$(dirname "$0")/lib.sh"

json() {
	run exec --json "$@"
}
isolation() {
	field '.isolation.inputs // "none"'
}

cat >first.py <<'EOF'
import os, sys
for name in sys.argv[1:]:
    with open('/in/' + name, 'rb') as f:
        print(name, os.fstat(f.fileno()).st_size, f.read(3))
EOF
printf 'abc' >small.txt
head -c 3000000 /dev/zero | tr '\0' x >middle.txt

# --- which way a file is seen ---

json first.py -f small.txt -- small.txt
is "$code $(isolation)" '0 none' 'a small file is bytes, as it was'
json first.py -f small.txt -f middle.txt -- small.txt middle.txt
is "$code $(field .stdout)" "0 small.txt 3 b'abc'
middle.txt 3000000 b'xxx'" 'a large one is there beside it'
is "$(isolation)" '1 mounted' 'it is mounted, and the record says so'
json first.py --keep-inputs 4M -f middle.txt -- middle.txt
is "$code $(isolation)" '0 none' '--keep-inputs has it as bytes'
json first.py --keep-inputs 0 -f small.txt -- small.txt
is "$code $(isolation)" '0 1 mounted' 'and with 0 none is'
run exec first.py --keep-inputs 1T -f small.txt
like "$code $err" '^2 .*--keep-inputs.*256M' 'the log keeps no more than it can'
cp small.txt private.txt
chmod 600 private.txt
json first.py --keep-inputs 0 -f private.txt -- private.txt
like "$code $(field .stdout) $(isolation)" "^0 private.txt 3 b'abc'.* 1 mounted" 'what only its owner may read'
printf 'abc' >'a
b.txt'
json first.py --keep-inputs 0 -f 'a
b.txt' -- 'a
b.txt'
is "$code $(field .stdout | tail -n +2)" "0 b.txt 3 b'abc'" 'a name with a newline is a name'
cat >by_work.py <<'EOF'
print(open('middle.txt').read(1), len(open('/work/middle.txt').read()))
EOF
json by_work.py -f middle.txt
is "$(field .stdout)" 'x 3000000' 'it is there by its bare name, too'

# --- nothing is copied ---

truncate -s 300M sparse.bin
touch -d "1 minute ago" sparse.bin
echo 'print(open("/in/sparse.bin", "rb").seek(0, 2))' >end.py
echo 'print(1)' >nothing.py
echo 'import sys, time; print("ready", flush=True); time.sleep(100)' >stay.py
measure() { # most memory of assay itself while a program runs, KiB
	"$ASSAY" exec --timeout 100 stay.py "$@" >measured.txt 2>err.txt &
	until_true grep -q ready measured.txt
	sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$!/status
	kill -TERM $! # a job of a shell ignores SIGINT
	wait $!
}
run exec end.py -f sparse.bin
like "$err" 'digest of 1 input: 300.0 MiB in .*MiB/s' 'the digest and its rate are told'
is "$code $out" '0 314572800' 'a large file is all there'
before=$(measure)
with=$(measure -f sparse.bin)
[ "$with" -le $((before + 4096)) ]
ok $? 'it costs at most 4 MiB of memory' || diag "$before KiB without, $with KiB with"
[ "$(stat -c %s "$XDG_DATA_HOME/assay/log.db")" -lt 8000000 ]
ok $? 'and the log has none of its bytes'
run exec end.py -f sparse.bin
unlike "$err" 'digest of' 'its digest is known the next time'
run exec end.py -f sparse.bin --memory 64M
is "$code $out" '0 314572800' 'its bytes are none of the memory limit'

# --- never written to ---

cat >write.py <<'EOF'
import os, errno
def attempt(what, f):
    try:
        f()
        print(what, 'DONE')
    except OSError as e:
        print(what, errno.errorcode[e.errno])
p = '/in/middle.txt'
attempt('open', lambda: open(p, 'r+'))
attempt('append', lambda: open(p, 'a'))
attempt('truncate', lambda: os.truncate(p, 0))
attempt('unlink', lambda: os.unlink(p))
attempt('rename', lambda: os.rename(p, '/in/x'))
attempt('chmod', lambda: os.chmod(p, 0o777))
attempt('utime', lambda: os.utime(p))
attempt('create', lambda: open('/in/new', 'w'))
fd = os.open(p, os.O_RDONLY)
attempt('by descriptor', lambda: os.open('/proc/self/fd/%d' % fd, os.O_RDWR))
attempt('link', lambda: os.link(p, '/work/l'))
attempt('execute', lambda: os.execv(p, [p]))
EOF
json write.py -f middle.txt
unlike "$(field .stdout)" DONE 'nothing writes to it'
is "$(field .stdout | grep -c .)" 11 'each was tried'
is "$(stat -c %s middle.txt)" 3000000 'the file is what it was'

# --- what is refused, by name ---

mkfifo pipe
python3 -I -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
mkdir logs
refused() { # name pattern arguments...
	name=$1 pattern=$2
	shift 2
	run exec nothing.py "$@"
	like "$code $err" "^2 assay: .*$pattern" "$name is refused"
}
refused 'a named pipe' 'pipe: is a named pipe' -f pipe
refused 'a socket' 'socket: is a socket' -f socket
refused 'a device' '/dev/zero: is a device' -f /dev/zero
refused 'a file of the kernel' "/proc/self/status: is the kernel's word" -f /proc/self/status
refused 'a folder of the kernel' "/proc/self: is the kernel's word" -f /proc/self
refused 'a control group' "is the kernel's word" -f /sys
refused 'the log' 'the log of the runs' -f "$XDG_DATA_HOME/assay/log.db"
refused 'the folder of the log' 'the log of the runs' -f "$XDG_DATA_HOME/assay"
ln -s "$XDG_DATA_HOME/assay/log.db" innocent.txt
refused 'a link to the log' 'the log of the runs' -f innocent.txt
refused 'a pattern without a file' 'no file fits' -f '*.nothing'
refused '..' 'is no name' -f ..=small.txt

# --- a folder ---

mkdir -p tree/sub/deep
echo one >tree/one.txt
echo two >tree/sub/two.sh
chmod 750 tree/sub/two.sh
ln -s /etc/passwd tree/out
ln -s "$work/small.txt" tree/away
ln -s ../one.txt tree/sub/in
mkfifo tree/pipe
cat >tree.py <<'EOF'
import os, stat
for folder, folders, files in os.walk('/in'):
    for n in sorted(folders + files):
        p = os.path.join(folder, n)
        print(p, stat.filemode(os.lstat(p).st_mode))
def first(p):
    try:
        return open(p).readline().strip()
    except OSError as e:
        return type(e).__name__
for p in 'one.txt', 'sub/two.sh', 'sub/in', 'out', 'away':
    print(p, first('/in/tree/' + p))
EOF
json tree.py -f tree
like "$code $(isolation)" '^0 1 mounted' 'a folder is mounted'
like "$(field .stdout)" '/in/tree/sub/two.sh -rwxr-x---' 'with its mode bits'
like "$(field .stdout)" '^one.txt one$' 'what is in it is read'
like "$(field .stdout)" '^sub/in one$' 'links within it lead on'
like "$(field .stdout)" '^out root:x:0:0:root:/nonexistent' "a link that leads out leads to the sandbox's own"
like "$(field .stdout)" '^away FileNotFoundError$' 'or nowhere'
sed 's/middle.txt/tree\/one.txt/' write.py >write_tree.py
json write_tree.py -f tree
unlike "$(field .stdout)" DONE 'nothing in it is written to'
run exec tree.py -f tree/
like "$code $out" '^0.*' 'a slash behind its name is nothing'
like "$out" '/in/tree/one.txt' 'it is called the same'

cat >talk.py <<'EOF'
import os, socket, errno, time
def attempt(what, f):
    try:
        f()
        print(what, 'DONE', flush=True)
    except OSError as e:
        print(what, 'refused' if e.errno in (errno.ECONNREFUSED, errno.ENXIO, errno.EACCES) else e, flush=True)
def connect(p):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    s.connect(p)
attempt('connect', lambda: connect('/in/talk/there'))
attempt('write', lambda: os.open('/in/talk/fifo', os.O_WRONLY | os.O_NONBLOCK))
while 'later' not in os.listdir('/in/talk'):
    time.sleep(0.01)
attempt('connect later', lambda: connect('/in/talk/later'))
EOF
mkdir talk
chmod 755 talk
cat >listen.py <<'EOF'
import os, socket, sys, time
def listen(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind('talk/' + name)
    os.chmod('talk/' + name, 0o777)
    s.listen(9)
    return s
os.mkfifo('talk/fifo')
os.chmod('talk/fifo', 0o666)
fd = os.open('talk/fifo', os.O_RDONLY | os.O_NONBLOCK)
kept = [listen('there')]
print('ready', flush=True)
while not os.path.exists('go'):
    time.sleep(0.01)
kept.append(listen('later'))
sys.stdin.read()
EOF
mkfifo hold
/usr/bin/python3 -I listen.py <hold >listening.txt &
listener=$!
exec 7>hold
until_true grep -q ready listening.txt
(until_true grep -q ^write talking.txt && : >go) &
"$ASSAY" exec talk.py -f talk >talking.txt 2>err.txt
exec 7>&-
wait "$listener"
is "$(cat talking.txt)" 'connect refused
write refused
connect later refused' 'nobody is behind its sockets and pipes, those that come later too'

# --- several ---

mkdir -p a/x b/x
echo 1 >a/x/data.csv
echo 2 >b/x/data.csv
echo 3 >a/other.csv
json tree.py -f a/x/data.csv -f b/x/data.csv
is "$(field .stdout | grep -c '^/in/[ab]/x/data.csv ')" 2 'two of one name are kept apart by their folders'
json tree.py -f a/x/data.csv -f b/x/data.csv --keep-inputs 0
is "$(field .stdout | grep -c '^/in/[ab]/x/data.csv ') $(isolation)" '2 2 mounted' 'where they are, too'
run exec nothing.py -f a/x/data.csv -f ./a/x/data.csv
like "$code $err" '^2 .*another input file is called data.csv' 'the same one twice is an error'
json tree.py -f 'a/*'
is "$(field .stdout | grep -cE '^/in/(other.csv|x/data.csv) ')" 2 'a pattern is all that fits'

# --- what changes is noticed ---

cp middle.txt growing.txt
cat >wait.py <<'EOF'
import os, time
print('ready', flush=True)
while os.stat('/in/growing.txt').st_size == 3000000:
    time.sleep(0.01)
EOF
(until_true grep -q ready waiting.txt && echo more >>growing.txt) &
"$ASSAY" exec wait.py -f growing.txt >waiting.txt 2>err.txt
is "$?" 0 'a file may change'
wait
like "$(cat err.txt)" '/in/growing.txt changed while the run went on' 'and it is said'
run replay last --tier pipeline
is "$code" 0 'a replay of what is recorded alone has it so, too'
run log show last --stage inputs
like "$out" 'changed' 'and recorded'

printf 'as it was' >little.txt
printf 'as it is' >other.txt
cat >thinking <<M
#!/bin/sh
printf 'as it is.' >"$work/little.txt"
printf 'as it is' >"$work/other.txt"
echo '{"needs_code": false, "answer": "seen"}'
M
chmod +x thinking
run ask --json --model-command "$work/thinking" --require none -f little.txt -f other.txt 'What is in it?'
is "$(field '.changed_inputs | tojson')" '["little.txt"]' 'one that was read and is another at the end is noticed, too'
like "$err" '/in/little.txt was read, and is another or gone since' 'and said'
unlike "$err" 'other.txt was read' 'of one that was only written again, nothing is'
run replay last
is "$code" 0 'a replay has what was read'
printf 'as it was' >little.txt
run ask -c --json --model-command "echo '{\"needs_code\": false, \"answer\": \"again\"}'" --require none 'And now?'
is "$code $(field '.changed_inputs | tojson')" '0 []' 'who goes on is told of it no more'

# --- names ---

mkdir apart
ln -s "$work/little.txt" link.csv
ln -s "$work/other.txt" apart/link.csv
cat >names.py <<'EOF'
import os
print(sorted(n for _, _, names in os.walk("/in") for n in names))
EOF
run exec names.py -f link.csv
is "$out" "['link.csv']" 'a link is called what it is given as'
cat >names.py <<'EOF'
print(open("/in/apart/link.csv").read())
EOF
run exec names.py -f link.csv -f apart/link.csv
is "$out" 'as it is' 'and two of one name are kept apart by the folders that they are in'

# --- with an interpreter that waited for its program ---

. "$top/tests/integration/model.sh"
forget
say plan "$(plan)"
say code "$(program 'print(open("/in/sparse.bin", "rb").seek(0, 2)); raise SystemExit(1)')"
for n in 2 3 4; do say repair "$(program "print($n, open('/in/sparse.bin', 'rb').seek(0, 2)); raise SystemExit($n)")"; done
ask -f sparse.bin 'How large is it?'
"$ASSAY" log export last >log.json
is "$(jq -r '[.events[]|select(.stage=="execute" and .phase=="done")|.data.isolation.inputs]|unique[]' log.json)" \
	'1 mounted' 'each attempt sees the file where it is'
like "$(jq -r '.events[]|select(.stage=="execute" and .phase=="done")|.data.isolation.start' log.json)" '^waiting$' \
	'those that had waited, too'
like "$(field '.execution.stdout')" '314572800' 'and read it'

# --- what takes longer than there is time ---

truncate -s 8G again.bin
run exec --deadline 0.4 end.py -f again.bin
run log show last --stage inputs
like "$out" '"digest": ?null|digest +(null|-)' 'a digest is not waited for longer than the deadline lets'

# --- a batch ---

mkdir tasks
cp middle.txt tasks/large.txt
cp -r a tasks/tree
printf '%s\n' '{"id": "t", "prompt": "How much?", "files": ["large.txt", "tree", "../small.txt"]}' >tasks/bad.jsonl
printf '%s\n' '{"id": "t", "prompt": "How much?", "files": ["large.txt", "tree"]}' >tasks/good.jsonl
forget
say plan "$(plan)"
say code "$(program 'import os; print(os.stat("/in/large.txt").st_size, sorted(os.listdir("/in/tree")))')"
say judge "$(verdict pass)"
say answer 'so much'
run batch tasks/good.jsonl --script s.jsonl --out results.jsonl
is "$code $(jq -r '.execution.stdout' results.jsonl)" "0 3000000 ['other.csv', 'x']" 'a task may name large files and folders'
like "$(jq -r '.execution.isolation.inputs' results.jsonl)" 'mounted' 'which are mounted'
run batch tasks/bad.jsonl --script s.jsonl --out bad.jsonl
like "$(cat bad.jsonl)" 'is not below' 'below its own folder'

# --- a replay ---

run exec first.py -f middle.txt -- middle.txt
run replay last
is "$code" 0 'a replay has the file again'
first=$("$ASSAY" log list --json | jq -r '[.[]|select(.replay_of==null)][0].run')
rm middle.txt
head -c 3000000 /dev/zero | tr '\0' y >middle.txt
run replay "$first"
like "$err" '/in/middle.txt is not what it was' 'that it is another is said'
run replay "$first" --json
is "$(field '.first_divergence.class, (.environment_changed[]|select(.name|startswith("input")).name)' | tr '\n' ' ')" \
	'input input middle.txt ' 'and of its class'
mv middle.txt gone.txt
run replay "$first"
like "$err" '/in/middle.txt is gone' 'one that is gone is said before anything runs'
run replay "$first" --tier pipeline
is "$code" 0 'without running anything it can be replayed all the same'
ls -l "$XDG_CACHE_HOME/assay/digests" | awk 'NR > 1 && $1 !~ /^-rw-------/ { print }' >open.txt
is "$(cat open.txt)$(stat -c %a "$XDG_CACHE_HOME/assay/digests")" 700 'the digests that are kept are ours alone'

# --- standard input is in the record, whole ---

truncate -s 257M huge.bin
echo 'print(1)' >one.py
run exec --stdin huge.bin one.py
is "$code" 1 'standard input that is too large for that'
like "$err" 'huge.bin: larger than the limit of 268435456 bytes; --file takes a file of any size' 'is told what takes it'
rm huge.bin

done_testing
