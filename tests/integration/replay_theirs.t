#!/bin/sh
# A log may come from anybody. What it says of a run sends nothing of its reader's anywhere, and is no yes
# of its reader's to a call.
. "$(dirname "$0")/lib.sh"

python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'
forge() { # log, run, member of its configuration, value as JSON
	PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 python3 - "$@" <<'P'
import forge, json, sys
name, run, member, value = sys.argv[1:]
with forge.Log(name) as log:
    config = log.config(run)
    config[member] = json.loads(value)
    log.put_config(run, config)
P
}

# --- another machine ---

cat >server.py <<'P'
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open("got", "ab") as f:
            f.write(str(self.headers).encode() + body)
        self.send_response(500)
        self.end_headers()
    do_GET = do_POST
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as f:
    f.write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
P
/usr/bin/python3 server.py &
server=$!
trap 'kill $server; wait $server 2>/dev/null; rm -rf "$work"' EXIT
until_true test -e port
far=http:http://127.0.0.1:$(cat port)
export ASSAY_SERVE_KEY=the-readers-own-key-0123456789
printf 'x = 1\nprint(open("/in/own.txt").read())\n' >p.py
echo 'nobody elses' >own.txt
run exec --db theirs.db --context c -f own.txt p.py
is "$code" 0 'a run'
id=$("$ASSAY" log list --db theirs.db --json | jq -r '.[0].run')
forge theirs.db "$id" sandbox "\"$far\""
run replay "$id" --db theirs.db
is "$code" 2 'a record that names another machine is not run there'
like "$err" "run $id ran on another machine.* ASSAY_SANDBOX=$far" 'which is said, and how it would be'
run replay "$id" --db theirs.db --from end --max-attempts 9
is "$code" 2 'nor does one go on there'
run log save "$id" --db theirs.db -o saved.py
is "$code" 2 'nor is one saved there'
ASSAY_SANDBOX=native run replay "$id" --db theirs.db
is "$code" 2 'nor where another sandbox is meant here'
test ! -e got
ok $? 'nothing was sent: no key, no code, no input'
run replay "$id" --db theirs.db --tier pipeline
is "$code" 0 'what runs nothing is replayed'
run replay "$id" --db theirs.db --sandbox native
is "$code" 0 'and here it runs where that is said'
run replay "$id" --db theirs.db --sandbox "$far"
like "$code $(cat got)" 'X-API-Key: the-readers-own-key' 'who names it themselves has it asked'
rm got
export ASSAY_SANDBOX="$far"
run replay "$id" --db theirs.db
unset ASSAY_SANDBOX
test -e got
ok $? 'by a setting, too'
for name in ssh:nobody@127.0.0.1 e2b lambda:name modal:https://127.0.0.1:1 azure:http://127.0.0.1:1; do
	forge theirs.db "$id" sandbox "\"$name\""
	run replay "$id" --db theirs.db --weaker
	like "$code $err" '^2 .*ran on another machine' "$name"
done

# --- limits ---

run exec --db limits.db -f own.txt p.py
id=$("$ASSAY" log list --db limits.db --json | jq -r '.[0].run')
PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 python3 - "$id" <<'P'
import forge, json, sys
with forge.Log('limits.db') as log, open('limits', 'w') as f:
    json.dump(log.config(sys.argv[1])['limits'], f)
P
limited() { # member, value: a replay with that in the record
	forge limits.db "$id" limits "$(jq -c ".$1 = $2" limits)"
	run replay "$id" --db limits.db
}
limited memory_bytes 1073741824
is "$code" 0 'a record has the limits it had'
for member in memory_bytes processes disk_bytes wall_ms stdout_bytes; do
	limited $member -1
	like "$code $err" '^125 .*cannot be read' "a limit that is none: $member"
done
for member in memory_bytes stdout_bytes artifact_bytes; do
	limited $member 1125899906842624
	like "$code $err" '^2 .*more than a record may have of this machine' "more than there is: $member"
done
limited memory_bytes 1125899906842624
like "$err" 'ASSAY_MEMORY allows' 'and how it would be'
limited processes 1000000
like "$code $err" '^2 .*1000000 processes' 'nor may it have so many processes'
limited processes 10000
is "$code" 2 'nor fewer than that'
export ASSAY_PIDS=10000
run replay "$id" --db limits.db
unset ASSAY_PIDS
is "$code" 0 'unless it is said here'

# --- a yes ---

cat >tool <<'S'
#!/bin/sh
cat >>"$0.calls"
echo 1
S
chmod 755 tool
mkdir -p "$XDG_CONFIG_HOME/assay"
printf '[tool %s]\ncommand = %s/tool\n' pay "$work" other "$work" >"$XDG_CONFIG_HOME/assay/config.ini"
printf 'import assay\nprint(assay.call("pay", {"to": 1}))\nprint(assay.call("other", {"to": 2}))\n' >c.py
run exec --db calls.db --tools c.py
is "$code" 7 'a run that waits for a yes'
id=$("$ASSAY" log list --db calls.db --json | jq -r '.[0].run')
for pattern in 'tool.*' 'tool.pay' 'py.os.probe, *' 'to?l.*' '[t]ool.pay' 'py.x,tool.pay'; do
	forge calls.db "$id" allow "\"$pattern\""
	run replay "$id" --db calls.db --from end --tools
	test ! -e tool.calls
	is "$code $?" '7 0' "a yes to $pattern in the record is none"
done
run replay "$id" --db calls.db --from end --tools --allow tool.pay
is "$code $(cat tool.calls)" '7 {"to":1}' 'one given here is, for what it names'
done_testing
