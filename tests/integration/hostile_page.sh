# A run whose every text wants to break a page, beside lib.sh and model.sh; its id is in $id. What the
# texts have in them is $evil, which may be set before; ZZ finds it again.
if [ -z "${evil-}" ]; then
	evil='ZZ</script></style></title></pre><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x'"' autofocus='"' &#60;b&#62; <!-- ]]> javascript:x'
fi
cat >plant.py <<'P'
import json, sys
evil = sys.argv[1] + '\u202e\u2066\x1b[2J\x9b\x00\x7f\u2028\ufffe\uffff\U000e0041'
text = evil.replace('\0', '')
program = '# %s\nimport struct, sys, zlib\nprint(%s)\nsys.stdout.buffer.write(%s)\nprint(%s, file=sys.stderr)\n' % (
    text.replace('\u2028', ''), ascii(evil), ascii(evil.encode() + b'\xff\xfe'), ascii(evil))
program += '''
def chunk(t, d):
    return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
open('/out/ZZ"><b>.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
    + chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b''))
open('/out/ZZ.svg', 'w').write('<svg onload="alert(1)"><script>ZZ</script></svg>')
open('/out/ZZ.gif', 'wb').write(b'GIF89a"><script>ZZ</script>')
'''
def say(stage, reply):
    print(json.dumps({'stage': stage, 'reply': reply}))
say('plan', json.dumps({'needs_code': True, 'language': 'python', 'approach': text, 'checks': [{'kind': 'contains', 'arg': text}], 'answer': None}))
say('code', '%s\n\n```python %s\n%s\n```\n' % (text, 'ZZ"><b>', program))
say('judge', json.dumps({'verdict': 'pass', 'reason': text}))
say('answer', text)
P
python3 plant.py "$evil" >s.jsonl
printf '%s' "$evil" >'ZZ"><b>.txt'
run ask --script s.jsonl -f 'ZZ"><b>.txt' "$evil" --tag "$evil"
is "$(jq -Rn '[inputs] | length' err.txt | grep -c .) $("$ASSAY" log export last | jq -r '[.events[].stage] | contains(["execute", "verify"])')" '1 true' \
	'a run of hostile parts'
id=$("$ASSAY" log list --json | jq -r '.[0].run')
# What only a forged log can hold. It is called a replay, too, so that it is not the last run.
python3 - "$evil" <<'P'
import os, sqlite3, sys
db = sqlite3.connect(os.environ['XDG_DATA_HOME'] + '/assay/log.db')
for column in ('kind', 'status', 'reason', 'model', 'provider', 'item', 'replay_of', 'session'):
    db.execute('update runs set %s = ?' % column, (sys.argv[1] + '\u202e\x1b[2J' + column,))
db.commit()
P
