#!/bin/sh
# Whatever a program, a model, a task file or a log says: on a terminal nothing of it is obeyed, and
# nothing hides. Each command is run with a terminal as its standard output and error; what comes out is
# looked through byte by byte, and a JSON document must be the one that a pipe gets.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
[ -x /usr/bin/python3 ] || skip_all 'no python3'

# ESC, a window title, C1 (CSI, as UTF-8 and as a byte), bidirectional overrides and isolates, a tag, DEL.
nasty=$(printf 'A\033]0;title\007B\033[2JC\302\2332JD\342\200\256E\342\201\246F\357\273\277G\363\240\201\201H\177I\rJ')
printf '%s\n' "$nasty" >nasty.txt
cat >nasty.py <<'P'
import sys
text = open('/in/nasty.txt', 'rb').read().strip()
for stream in (sys.stdout, sys.stderr):
    stream.buffer.write(text + b'\x9b31mK\xff\n')
    stream.buffer.flush()
open('/out/' + 'n\x9bm\u202e.txt', 'w').write('x')
P
printf 'raise ValueError("%s")\n' "$nasty" | tr -d '\r' >raise.py
# Lines that a screening rule quotes, a reply with such a fence, a task with such an id.
printf 'import socket  # %s\n' "$nasty" | tr -d '\r' >screened.py
printf 'So:\n\n```py%s\nprint(1) # %s\n```\n' "$nasty" "$nasty" >reply.md
# Its answer and its artifact, too, are nasty; the judge says so.
forget
say plan "$(plan)"
say code "$(program "$(cat nasty.py)")"
say judge "$(jq -cn --arg t "$nasty" '{verdict: "pass", reason: $t}')"
say answer "$nasty"
say complete "$nasty"
cp s.jsonl ask.jsonl
run ask --script ask.jsonl -f nasty.txt "$nasty"
is "$code" 0 'a question about it'
forget
say code "$(program 'print(1)')"
say code "$(program "$(cat nasty.py)")"
say repair "$(program "$(cat raise.py)")"
{
	jq -cn --arg t "$nasty" '{id: ("id " + $t), prompt: "x", lang: "python", files: ["nasty.txt"],
		expect: {equals: $t}, limits: {max_attempts: 2}}'
	jq -cn --arg t "$nasty" '{id: "b", prompt: 1, ($t): $t}'
	jq -cn --arg t "$nasty" '{id: "c", prompt: "x", lang: $t}'
	jq -cn --arg t "$nasty" '{id: "d", prompt: "x", files: [$t]}'
} >tasks.jsonl
cp s.jsonl batch.jsonl
run batch tasks.jsonl --script batch.jsonl --no-judge --tag "$nasty"
printf 'not a database %s' "$nasty" >"no $nasty.db"

cat >watch.py <<'P'
import json, os, pty, re, subprocess, sys
where, as_json, *command = sys.argv[1:]		# where: both, out or err is the terminal
ours, theirs = pty.openpty()
terminal = {'stdout': theirs, 'stderr': theirs}
if where != 'both':
    terminal['stderr' if where == 'out' else 'stdout'] = subprocess.DEVNULL
process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=dict(os.environ, TERM='xterm'), **terminal)
os.close(theirs)
seen = b''
while True:
    try:
        got = os.read(ours, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
process.wait()
open('seen.txt', 'wb').write(seen)
# Our own: colours, the lines that are replaced in place, ends of lines.
rest = re.sub(rb'\x1b\[[0-9;]*m|\r\x1b\[K(\x1b\[A)?|\r\n|\n|\t', b'', seen)
bad = []
try:
    text = rest.decode()
except UnicodeDecodeError as error:
    sys.exit('not UTF-8: %r' % rest[max(0, error.start - 20):error.start + 20])
for at, c in enumerate(text):
    point = ord(c)
    if (point < 32 or 0x7f <= point < 0xa0 or 0x202a <= point <= 0x202e or 0x2060 <= point <= 0x206f
            or point == 0xfeff or 0xe0000 <= point <= 0xe007f):
        sys.exit('U+%04X in %r' % (point, text[max(0, at - 20):at + 20]))
if not seen:
    sys.exit('nothing was written')
if as_json == 'json':
    piped = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).stdout
    volatile = ('run', 'metrics', 'duration_ms', 'replay', 'elapsed_ms', 'detail', 'tries', 'first_token_ms',
            'duration', 'error')
    def stable(value):
        if isinstance(value, dict):
            return {k: stable(v) for k, v in value.items() if k not in volatile}
        return [stable(v) for v in value] if isinstance(value, list) else value
    def same(document):
        return [stable(json.loads(line)) for line in document.decode().split('\n') if line]
    if same(seen.replace(b'\r\n', b'\n')) != same(piped):
        sys.exit('another document: %r\n%r' % (seen[:3000], piped[:3000]))
P
harmless() { # both|out|err json|text command...
	where=$1 kind=$2
	shift 2
	why=$(/usr/bin/python3 watch.py "$where" "$kind" "$@" 2>&1)
	code=$?
	shown=$(printf %s "$*" | sed "s,$ASSAY,assay," | LC_ALL=C tr -cd '[:print:]')
	ok $code "$where: $shown"
	[ $code -eq 0 ] || diag "$why"
}
nastily() { # command...: with colour and without; its output and its words
	harmless both text "$ASSAY" "$@"
	harmless both text "$ASSAY" "$@" --color always
}
json() {
	harmless out json "$ASSAY" "$@" --json
	harmless err text "$ASSAY" "$@" --json
}
id=$("$ASSAY" log list --json | jq -r '[.[] | select(.kind == "ask")][0].run')
failed=$("$ASSAY" log list --json | jq -r '[.[] | select(.kind == "batch")][0].run')

nastily exec nasty.py -f nasty.txt
harmless out text "$ASSAY" exec nasty.py -f nasty.txt --raw
is "$("$ASSAY" exec nasty.py -f nasty.txt --raw 2>/dev/null | sha256sum)" \
	"$({ tr -d '\n' <nasty.txt; printf '\23331mK\377\n'; } | sha256sum)" '--raw into a pipe: every byte'
json exec raise.py
nastily exec raise.py
nastily exec "$nasty"
nastily ask --script ask.jsonl -f nasty.txt "$nasty"
json ask --script ask.jsonl -f nasty.txt "$nasty"
nastily ask --script "$nasty" x
nastily ask --provider "$nasty" x
nastily complete --script ask.jsonl "$nasty"
json complete --script ask.jsonl "$nasty"
nastily batch tasks.jsonl --script batch.jsonl --no-judge
harmless out text "$ASSAY" batch tasks.jsonl --script batch.jsonl --no-judge
json batch tasks.jsonl --script batch.jsonl --no-judge
nastily extract reply.md
harmless out json "$ASSAY" extract reply.md --json
nastily screen screened.py
harmless out json "$ASSAY" screen screened.py --json
nastily screen raise.py --profile strict
for show in 'list' 'search title' "show $id" "show $failed" "diff $id $failed" 'stats' 'verify'; do
	# shellcheck disable=SC2086
	nastily log $show
done
harmless out json "$ASSAY" log list --json
harmless out json "$ASSAY" log show "$id" --json
harmless out text "$ASSAY" log export
nastily log list --tag "$nasty"
nastily log list --db "no $nasty.db"
nastily log show "$nasty"
nastily log "$nasty"
nastily replay "$id"
nastily replay "$id" --tier view
harmless out json "$ASSAY" replay "$id" --tier view --json
nastily replay "$failed" --tier pipeline
nastily "$nasty"
nastily exec --"$nasty"
nastily config --use "$nasty"
done_testing
