#!/bin/sh
# A conversation that lends a sandbox to this user's `assay exec --socket PATH`: the record is that of a plain exec,
# nothing else is answered there, neither is in the other's way, and what is left when it ends.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
. "$top/tests/integration/same_record.sh"
socket=$work/talk.sock
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"
# shellcheck disable=SC2086 # options, meant to be split
talk() { # [OPTION...]
	open $quick --socket "$socket" --profile off --timeout 600 "$@"
}

printf 'import sys\nprint(sys.argv[1:], open("/in/data.csv").read())\nopen("/out/a.txt", "w").write("kept")\n' >good.py
printf 'a,b\n1,2\n' >data.csv
printf 'print("before")\nraise ValueError("bad")\n' >bad.py
printf 'echo "$GREETING"; exit 3\n' >three.sh
printf 'import time\nprint("begun", flush=True)\ntime.sleep(600)\n' >long.py

# --- the same record ---

forget
say code "$(program 'kept = 6 * 7
print("kept", kept)')"
say code "$(program "import os
print('begun', flush=True)
os.execv('/usr/bin/sleep', ['asleep-$$', '600'])")"
say code "$(program 'print("still", kept)')"
talk
sees 'assay exec --socket' 'the greeting says that it lends'
is "$(stat -c %a "$socket")" 600 'the socket is its user'"'"'s alone'
for _ in 1 2 3; do
	"$ASSAY" exec --socket "$socket" bad.py >/dev/null 2>&1
done
until_true waited bad.py
ok $? 'an interpreter that waited there is used'
both 'files, arguments, artifacts' -f data.csv good.py one 'two words'
both 'one that fails' bad.py
both 'a shell, a variable, its own exit code' --propagate --env GREETING=hello three.sh
line 'what is six times seven?'
sees '^(│ )?kept 42$' 'the conversation goes on beside'
line 'wait'
until_true eval 'pgrep -f "asleep-$$" >/dev/null'
run exec --socket "$socket" --propagate three.sh
is "$code" 3 'a program of another runs while one of its own does'
unlike "$err" 'runs here' 'and there'
keys C-c
sees '^cancelled: ' 'Ctrl-C ends its own'
line 'and now?'
sees '^(│ )?still 42$' 'which has its state, and no other'

# --- nobody else, and nothing else ---

asked() { # path: the status that is answered
	curl -s -o answer.txt -w '%{http_code}' --unix-socket "$socket" "http://localhost$1" 2>/dev/null
}
if command -v curl >/dev/null; then
	is "$(asked /runs)" 404 'its log is not answered'
	is "$(asked /contexts)" 404 'nor a context'
	is "$(asked /execute)" 404 'nor a program of the usual kind'
	is "$(curl -s -o answer.txt -w '%{http_code}' --unix-socket "$socket" -H 'E2b-Sandbox-Id: abc' http://localhost/files)" 404 \
		'nor a sandbox of another wire'
	is "$(curl -s -o answer.txt -w '%{http_code}' --unix-socket "$socket" -H 'Origin: http://evil.example' -H 'Content-Type: application/json' \
		-d '{}' http://localhost/sandbox)" 403 'nor a page of another server'
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		chmod 711 "$work"
		chmod 666 "$socket"
		is "$(setpriv --reuid 65534 --regid 65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' --unix-socket "$socket" \
			-H 'Content-Type: application/json' -d '{}' http://localhost/sandbox)" 403 "another user's program is refused"
		run exec --socket "$socket" bad.py
		is "$code" 6 'and a socket that was opened to others is not asked'
		chmod 600 "$socket"
		chmod 700 "$work"
	else
		skip "another user's program" 'only root can be one'
	fi
else
	skip 'what else is asked there' 'no curl here'
fi
# shellcheck disable=SC2086 # options, meant to be split
run_second() {
	script -qec "$(quote "$ASSAY" $model $quick --socket "$socket")" /dev/null >second.txt 2>&1 </dev/null
}
if command -v script >/dev/null; then
	run_second
	like "$(tr -d '\r' <second.txt | xargs)" 'Address already in use' 'a second conversation does not get the same socket'
	run exec --socket "$socket" --propagate three.sh
	is "$code" 3 'and does not take it away'
	unlike "$err" 'runs here' 'it still runs there'
else
	skip 'a second conversation' 'no script here'
fi

# --- its end ---

"$ASSAY" exec --timeout 600 --socket "$socket" long.py >long.txt 2>long-err.txt &
pid=$!
until_true grep -q begun long.txt
keys C-d
sees 'still runs here; Ctrl-C ends it' 'who leaves is told what runs there'
ok "$(has_left; echo $((! $?)))" 'and waits for it'
kill "$pid"
wait "$pid"
ok $((! $?)) 'until its own user ends it'
left 0 'then it leaves'
[ ! -e "$socket" ]
ok $? 'the socket is gone'
run exec --socket "$socket" bad.py
is "$code$out" 1before 'and what is run then runs here'
like "$err" 'it runs here' 'and says so'

forget
talk
: >long.txt # what the one before said is not waited for: its end would be waited for, too
"$ASSAY" exec --timeout 600 --socket "$socket" long.py >long.txt 2>long-err.txt &
pid=$!
until_true grep -q begun long.txt
keys C-d
sees 'still runs here' 'one that does not end'
keys C-c
until_true has_left
wait "$pid"
ok $((! $?)) 'is ended by Ctrl-C'
close

forget
talk --warm 0
run exec --socket "$socket" --json bad.py
is "$(field .isolation.start)" cold '--warm 0: nothing waits there'
is "$(field .isolation.socket)" "$socket" 'but it runs there'
close
until_true eval '! pgrep -f "$socket"'
run exec --socket "$socket" bad.py
is "$code$out" 1before 'it was killed: it runs here'
talk
run exec --socket "$socket" --json bad.py
is "$(field .isolation.socket)" "$socket" 'another one takes the place of what was left'
rm "$socket"
echo mine >"$socket"
keys C-d
left 0 'and ends'
is "$(cat "$socket")" mine 'what stands now where its socket was is left'
rm "$socket"
done_testing
