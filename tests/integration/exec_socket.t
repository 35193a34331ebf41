#!/bin/sh
# exec in what waits at a server of the same user (--warm N --socket PATH): the record is that of a
# plain exec, but for what is named here; who may be asked; and what happens when nobody is there,
# or no longer.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/same_record.sh"
command -v jq >/dev/null || skip_all 'no jq here'
socket=$work/assay.sock
trap 'server_end; rm -rf "$work"' EXIT
server=
server_begin() { # arguments of serve
	: >serve.txt # the one before listens no more, whatever it said
	"$ASSAY" serve --socket "$socket" --parallel 1 "$@" >serve.txt 2>&1 &
	server=$!
	until_true grep -q "listening on $socket" serve.txt
}
server_end() { # [signal]
	[ -z "$server" ] && return
	kill "-${1:-TERM}" "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}

# --- the same record ---

cat >good.py <<'P'
import sys
data = open('/in/data.csv').read()
open('/out/sum.txt', 'w').write(str(len(data)))
print(sys.argv[1:], sys.stdin.read(), len(data))
print('to stderr', file=sys.stderr)
P
printf 'a,b\n1,2\n' >data.csv
printf 'some input' >input.txt
printf 'print("before")\nraise ValueError("bad")\n' >bad.py
printf 'import socket\nsocket.socket(socket.AF_PACKET)\n' >forbidden.py
printf 'import time\nwhile True: time.sleep(1)\n' >slow.py
printf 'import sys\nfor i in range(300000): sys.stdout.write("line %%d of many\\n" %% i)\n' >many.py
printf 'x = bytearray(1 << 30)\n' >large.py
printf 'import sys\nsys.stdout.buffer.write(bytes(range(256)))\n' >bytes.py
printf 'echo "$GREETING"; exit 3\n' >three.sh
printf 'console.log(6 * 7)\n' >six.js
server_begin
# The interpreters there come to wait.
for _ in 1 2 3 4; do
	"$ASSAY" exec --socket "$socket" bytes.py >/dev/null 2>&1
done
until_true waited bytes.py
ok $? 'an interpreter that waited is used'
both 'files, input, arguments, artifacts' -f data.csv --stdin input.txt good.py one 'two words'
both 'one that fails' bad.py
both 'a forbidden call' forbidden.py
both 'a wall limit' --timeout 1 slow.py
both 'a memory limit' --memory 64M large.py
both 'more than is kept' many.py
both 'more than is on its way at once' --output-bytes 16M many.py
both 'bytes that are no text' bytes.py
run exec --raw --socket "$socket" bytes.py
is "$(cksum <out.txt)" "$(/usr/bin/python3 bytes.py | cksum)" '--raw: the bytes themselves'
both 'a shell, a variable, its own exit code' --propagate --env GREETING=hello three.sh
command -v node >/dev/null && both 'JavaScript' six.js
both 'screened' --profile standard bad.py
run exec --socket "$socket" good.py -f data.csv
run replay last
is "$code" 0 'replayed, without the server'
like "$out" '^identical: ' 'with the same'
unlike "$out$err" 'socket' 'and no change of walls'
head -c 13000000 /dev/zero >zeros
run exec --socket "$socket" -f zeros bad.py
is "$code" 2 'more than a server takes: a usage error'
like "$err" 'MiB as a request, and a server takes 16 MiB: run it without --socket' 'that says how much, and what to do'

# --- cancelled ---

printf 'import time\nprint("begun", flush=True)\ntime.sleep(600)\n' >long.py
begun() {
	grep -q begun long.txt
}
interrupted() { # arguments: $cancelled is what is recorded then
	: >long.txt
	# A shell's background jobs ignore SIGINT.
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ASSAY" exec --timeout 700 "$@" long.py >long.txt 2>long-err.txt &
	pid=$!
	until_true begun
	kill -INT "$pid"
	wait "$pid"
	code=$?
	cancelled=$(record "$(newest 0)" whole)
}
interrupted
is "$code" 130 'Ctrl-C of a plain one: exit code 130'
was=$cancelled
like "$was" '"outcome":"cancelled"' 'Ctrl-C of a plain one is recorded'
interrupted --socket "$socket"
is "$code" 130 'Ctrl-C of one at the server: exit code 130'
is "$cancelled" "$was" 'Ctrl-C of one at the server: the same record'

# --- the server goes ---

: >long.txt
"$ASSAY" exec --timeout 700 --socket "$socket" long.py >long.txt 2>long-err.txt &
pid=$!
until_true begun
server_end KILL
wait "$pid"
is "$?" 6 'the server is killed under a run: exit code 6'
like "$(cat long-err.txt)" 'it began, and its end is not known' 'which says what is known'
is "$(grep -c begun long.txt)" 1 'and it is not run again'
is "$("$ASSAY" log export last | jq -r .status)" sandbox_error 'as the record does'
run exec --socket "$socket" --propagate three.sh
is "$code" 3 'nobody listens any more: it runs here'
run exec --socket "$socket" bad.py
is "$code$out" 1before 'with the exit code and output as ever'
is "$(printf '%s\n' "$err" | grep -c 'it runs here')" 1 'and one line says so'
like "$err" "^note: --socket $socket: Connection refused: it runs here" 'which names the socket'
run exec --socket "$work/none.sock" --json bad.py
like "$err" 'No such file or directory: it runs here' 'no such socket: the same'
is "$(field .isolation.socket)" null 'and the record has no socket'

# --- who may be asked ---

answers() { # one that takes the job and closes, or refuses; as a socket of that mode
	rm -f "$socket"
	/usr/bin/python3 - "$socket" "$@" <<'P' &
import os, socket, sys
path, mode, how = sys.argv[1:]
s = socket.socket(socket.AF_UNIX)
if how.startswith("uid "):
    os.setuid(int(how[4:]))
s.bind(path)
s.listen(8)
os.chmod(path, int(mode, 8)) # what is waited for comes last
asked = 0
while True:
    c, _ = s.accept()
    asked += 1
    open(path + ".asked", "w").write(str(asked))
    if how == "part":       # it goes before it has all
        c.recv(10)
        c.close()
        continue
    data = b""
    while not data.endswith(b"}"):
        data += c.recv(65536)
    if how == "busy":
        c.sendall(b"HTTP/1.1 429 Too Many\r\n\r\n{\"message\": \"later\"}")
    elif how == "other":
        c.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")
    c.close()
P
	server=$!
	until_true test -S "$socket"
	until_true eval '[ "$(stat -c %a "$socket")" = "'"$1"'" ]'
}
answers 660 none
run exec --socket "$socket" bad.py
is "$code" 6 'a socket that others may use: exit code 6'
like "$err" 'is open to others \(mode 0660, not 0600\): nothing is run there' 'and why'
is "$out" '' 'it does not run here either'
[ ! -e "$socket.asked" ]
ok $? 'and nothing was asked'
server_end KILL
printf 'x\n' >plain.sock
run exec --socket "$work/plain.sock" bad.py
is "$code" 6 'a file that is no socket: exit code 6'
like "$err" 'is no socket' 'and why'
if [ "$(id -u)" = 0 ]; then
	mkdir -m 777 shared
	chmod 755 "$work"
	socket=$work/shared/s
	answers 600 'uid 65534'
	run exec --socket "$socket" bad.py
	is "$code" 6 "another user's socket: exit code 6"
	like "$err" "is another user's \(uid 65534\)" 'and whose'
	chown 0 "$socket"
	run exec --socket "$socket" bad.py
	is "$code" 6 'one given to us, at which another listens: exit code 6'
	server_end KILL
	socket=$work/assay.sock
else
	skip "another user's socket" 'only root can make one'
fi
answers 600 busy
run exec --socket "$socket" bad.py
is "$code$out" 1before 'a server that takes nothing now: it runs here'
like "$err" 'the server answers 429: later: it runs here' 'which is said'
server_end KILL
answers 600 other
run exec --socket "$socket" bad.py
is "$code$out" 6 'what is no server of ours: exit code 6'
server_end KILL
server_begin --sandbox oci --weaker
if grep -q listening serve.txt; then
	run exec --socket "$socket" bad.py
	is "$code" 6 'a server with another sandbox: exit code 6'
	like "$err" 'runs programs in the sandbox oci, and native is meant|oci' 'and which'
fi
server_end

# --- flags ---

run exec --warm 2 bad.py
is "$code" 2 '--warm without --socket is a usage error'
like "$err" 'needs --socket PATH' 'that says what is missing'
run exec --warm 0 --socket "$work/none.sock" bad.py
is "$code" 1 '--warm 0: it runs here'
unlike "$err" 'note:' 'and nothing is said of a server'
run exec --socket "$socket" --context a bad.py
is "$code" 2 'a context does not go there'
run exec --socket "$socket" --python /usr/bin/python3 bad.py
is "$code" 2 'an environment of one'"'"'s own does not either'
done_testing
