#!/bin/sh
# A key is nowhere but in the request: not in the log, a message, an artifact, an argument, the
# environment of a child, or the memory map of any process of ours but the one that must hold it.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/server.sh"

key=sk-test-4f8c1d9e7b2a6053keykeykey
cat >server.py <<'E2'
# Answers every request after a while, echoing the key it was sent in an error when asked to.
import os, time
from json_server import Handler, serve
class H(Handler):
    def do_GET(self): self.answer(200, {"data": [{"id": "m"}]})
    def do_POST(self):
        self.body()
        sent = " ".join(f"{k}: {v}" for k, v in self.headers.items())
        with open("requests.log", "a") as f: f.write(sent + "\n")
        for _ in range(1200):
            if os.path.exists("slow"): time.sleep(0.05)
        if os.path.exists("echo"): return self.answer(401, {"error": {"message": "Incorrect API key provided: " + sent, "code": sent}})
        code = "import os\nprint(sorted(os.environ))\nopen('/out/env.txt', 'w').write(open('/proc/self/environ').read())"
        self.answer(200, {"choices": [{"message": {"content": "```python\n" + code + "\n```"}, "finish_reason": "stop"}],
                          "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
serve(H)
E2
start_server
base=$host/v1
config=$XDG_CONFIG_HOME/assay/config.ini
mkdir -p "$(dirname "$config")"

# Everything that was written, but for the server's own record and the key's own file.
leaks() {
	grep -rlaF -- "$key" . 2>/dev/null | grep -vE '^\./(requests\.log|keyfile|server)' | sort
}
sent() { # the last request had the key
	grep -cF "Authorization: Bearer $key" requests.log 2>/dev/null || true
}

# --- a whole run with a key from the environment ---

OPENAI_API_KEY=$key run ask --base-url "$base" -m m --provider openai --role-model plan=off \
	--no-judge --require ran --role-model answer=off --profile off --json 'q'
is "$code" 0 'a run with a key from the environment'
is "$(sent)" 1 'the request had the key'
is "$(leaks)" '' 'no file of the run has it: log, artifacts, output'
unlike "$(sed 's/PERL_PERTURB_KEYS//' assay-out/*/env.txt)" 'KEY|sk-' 'the code saw none of the environment'

# --- a server that echoes what it was sent ---

touch echo
for how in '' --json; do
	OPENAI_API_KEY=$key run complete $how --base-url "$base" -m m --provider openai 'q'
	is "$code" 5 "a key that is refused $how"
	unlike "$out$err" "$key" "an error that quotes the key is masked $how"
done
is "$(leaks)" '' 'nor does the log have it'
rm echo

# --- /proc while a request is under way ---

: >requests.log
touch slow
scan() { # root of a tree of processes: those whose arguments or environment have the key
	for pid in $(ps -e -o pid=,ppid= | awk -v root="$1" '
		{ parent[$1] = $2 }
		END { for (p in parent) { q = p; while (q && q != root) q = parent[q]; if (q == root) print p } }'); do
		tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qaF -- "$key" && echo "$pid cmdline"
		tr '\0' ' ' 2>/dev/null <"/proc/$pid/environ" | grep -qaF -- "$key" && echo "$pid environ"
	done
	true
}
ulimit -c unlimited 2>/dev/null
OPENAI_API_KEY=$key "$ASSAY" ask --base-url "$base" -m m --provider openai 'q' >/dev/null 2>&1 </dev/null &
assay=$!
is_asked() {
	[ "$(sent)" -gt 0 ]
}
until_true is_asked
children=$(ps -e -o ppid= | grep -cw "$assay")
ok "$([ "$children" -ge 1 ]; echo $?)" 'the keeper is there to be looked at'
is "$(scan $assay)" '' 'neither argument nor environment of any process of ours has it'
cat >memory.py <<'E3'
# Processes below the given one whose memory has the key: "holder" for that one itself, "closed"
# when not even its own user may look into it, which is so for all but root.
import os, re, sys
root, key = int(sys.argv[1]), sys.argv[2].encode()
def parent(p):
    try: return int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1])
    except OSError: return 0
for p in [int(x) for x in os.listdir("/proc") if x.isdigit()]:
    q = p
    while q and q != root: q = parent(q)
    if q != root: continue
    try:
        found = False
        with open(f"/proc/{p}/mem", "rb", 0) as mem:
            for line in open(f"/proc/{p}/maps"):
                m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if not m or "[vvar" in line or "[vsyscall" in line: continue
                a, b = int(m[1], 16), int(m[2], 16)
                if b - a > 1 << 28: continue
                try: mem.seek(a); found |= key in mem.read(b - a)
                except OSError: pass
        if found: print("holder" if p == root else f"{p} found")
    except PermissionError:
        if p == root: print("closed")
    except OSError: pass
E3
holder=closed
[ "$(id -u)" != 0 ] || holder=holder
is "$("$python" memory.py $assay "$key")" $holder 'only the process that must hold it has it in memory'
kill -SEGV $assay
wait $assay 2>/dev/null
is "$(find . -name 'core*' -type f)" '' 'no core is dumped'
rm slow

# --- files and commands ---

printf '%s\n' "$key" >keyfile
chmod 600 keyfile
for source in "file:$PWD/keyfile" "$PWD/keyfile" "command:cat $PWD/keyfile"; do
	: >requests.log
	printf '[keys]\nOPENAI_API_KEY = %s\n' "$source" >"$config"
	run complete --base-url "$base" -m m --provider openai 'q'
	is "$code $(sent)" '0 1' "a key from ${source%%:*}"
done
is "$(leaks)" '' 'keys of files and commands are in no log either'
chmod 644 keyfile
printf '[keys]\nOPENAI_API_KEY = file:%s\n' "$PWD/keyfile" >"$config"
run complete --base-url "$base" -m m --provider openai 'q'
is "$code" 5 'a file that others may read is refused'
like "$err" 'chmod 600' 'and says what to do'
printf '[keys]\nOPENAI_API_KEY = %s\n' "$key" >"$config"
run complete --base-url "$base" -m m --provider openai 'q'
is "$code" 5 'a key in the configuration itself is refused'
unlike "$out$err" "$key" 'without showing it'
rm -f "$config"

# --- a value too short to be taken out of texts ---

echo 'echo done' >ok.sh
note='OPENAI_API_KEY: a value of fewer than 8 bytes is no real key'
OPENAI_API_KEY=seven.. run exec ok.sh
is "$(grep -c "$note" err.txt)$out" '1done' 'a short key is told of'
printf '{"id":"%s","prompt":"1","lang":"bash","expect":{"equals":"done"}}\n' 1 2 3 >short.jsonl
cat >short <<'E5'
#!/bin/sh
printf '```bash\necho done\n```\n'
E5
chmod +x short
OPENAI_API_KEY=seven.. run batch short.jsonl --model-command "$PWD/short" -j 2 --out short.out
is "$code $(grep -c "$note" err.txt)" '0 1' 'once, however many workers there are'
OPENAI_API_KEY=seven... run exec ok.sh
is "$(grep -c "$note" err.txt)$out" '0done' 'and one of eight bytes is not'

touch echo
OPENAI_API_KEY=e run complete --base-url "$base" -m m --provider openai 'q'
rm echo
is "$code" 5 'a key of one letter that is refused'
like "$err" 'Incorrect API key provided: ' 'leaves the words of the error as they are'

# --- programs as the model ---

cat >model <<'E4'
#!/bin/sh
cat >/dev/null
echo "openai=$OPENAI_API_KEY other=$OTHER_API_KEY"
E4
chmod +x model
OPENAI_API_KEY=$key OTHER_API_KEY=other-key-value-1 run complete --model-command "$PWD/model" 'q'
like "$out" "openai=$key other=other-key-value-1" 'a program used as the model has the keys it was given: assay read none'
printf '[keys]\nOPENAI_API_KEY = command:sh -c "echo $OTHER_API_KEY"\n' >"$config"
OTHER_API_KEY=$key run complete --base-url "$base" -m m --provider openai 'q'
is "$code" 0 'a key command has the environment'
is "$(leaks)" '' 'which the log does not'

# --- doctor, where there are no walls to try ---

rm -f "$config"
OPENAI_API_KEY=$key GROQ_API_KEY=$key-groq run doctor --sandbox oci:none --json
is "$(field '[.keys[] | select(.set) | .name] | join(" ")')" 'OPENAI_API_KEY GROQ_API_KEY' 'doctor says which keys there are'
unlike "$out$err" "$key" 'and not what they are'
done_testing
