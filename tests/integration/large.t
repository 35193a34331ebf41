#!/bin/sh
# Large inputs cost in proportion: each of these took a minute and more when something was looked for
# from the beginning every time. Four times as much may cost eight times as much, where a search from
# the beginning costs sixteen: processor time in one row, so that neither a busy machine nor a slow one
# matters, and without the kernel's, which with sanitizers is mostly the mapping of memory. With those
# all is a quarter as large: they look for wrong reads and writes, which do not need the rest.
. "$(dirname "$0")/lib.sh"
[ -x /usr/bin/python3 ] || skip_all 'no python3'

cat >measure.py <<'P'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open('out.txt', 'w'), stderr=open('err.txt', 'w'))
print(int(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime * 1000))
P
measure() { # command...: milliseconds of the processor; what it wrote is in out.txt and err.txt
	/usr/bin/python3 measure.py "$ASSAY" "$@"
}
proportional() { # name: $quarter and $whole are what each took; under 50 ms the clock tells nothing
	[ "$quarter" -ge 50 ] || quarter=50
	[ "$whole" -le $((quarter * 8)) ]
	ok $? "$1"
	[ "$whole" -le $((quarter * 8)) ] || diag "a quarter took $quarter ms of the processor, the whole $whole ms"
}
fraction=1
[ "${ASSAY_TEST_PHASE-}" != sanitized ] || fraction=4
/usr/bin/python3 - $fraction <<'P'
import json, sys
fraction = int(sys.argv[1])
for name, n in ('quarter', 20000 // fraction), ('whole', 80000 // fraction):
    members = {'k%06d' % i: i for i in range(n)}
    def write(what, text):
        open(what + '-' + name + '.jsonl', 'w').write(text + '\n')
    def reply(what, text):
        write(what, json.dumps({'stage': 'code', 'reply': text}))
    write('wide', json.dumps(dict(members, prompt='x', id=1)))
    open(name + '.csv', 'w').write('prompt,expect,' + ','.join(members) + '\nx,1,' + ','.join(map(str, members.values())) + '\n')
    reply('code', '```json plan\n' + json.dumps(members) + '\n```\n```python\nprint(1)\n```\n')
    # Each id is the one that the line before would be given: half as many are a quarter of the bytes.
    write('ids', '{"id":"line-2","prompt":1}\n' * 2 + '\n'.join('{"id":"line-2%s","prompt":1}' % ('+' * i) for i in range(int((n * 400) ** .5))))
    reply('print', '```python\nimport json\nprint(json.dumps({"k%%06d" %% i: i for i in range(%d)}))\n```' % n)
    want = dict(members, **{'k%06d' % (n - 1): 'else'})
    write('want', json.dumps({'id': 'a', 'prompt': 'x', 'lang': 'python', 'expect': {'json': want}}))
P
once='--no-judge --require ran --max-attempts 1'
quarter=$(measure batch wide-quarter.jsonl --script code-quarter.jsonl $once)
whole=$(measure batch wide-whole.jsonl --script code-whole.jsonl $once)
proportional 'a task of 80,000 members'
like "$(cat out.txt)" '"id":"1"' 'has its result'
quarter=$(measure batch quarter.csv --script code-quarter.jsonl $once)
whole=$(measure batch whole.csv --script code-whole.jsonl $once)
proportional 'a row of 80,000 columns'
like "$(cat out.txt)" '"id":"line-2"' 'has its result'
quarter=$(measure batch want-quarter.jsonl --script print-quarter.jsonl --no-judge --max-attempts 2 --output-bytes 8M)
whole=$(measure batch want-whole.jsonl --script print-whole.jsonl --no-judge --max-attempts 2 --output-bytes 8M)
proportional 'an expectation of 80,000 members, and where an output misses it'
like "$(cat out.txt)" 'fail' 'which it does'
quarter=$(measure batch ids-quarter.jsonl --script print-quarter.jsonl)
whole=$(measure batch ids-whole.jsonl --script print-whole.jsonl)
proportional 'ids that are taken, one after the other'

if python3 -c 'import sqlite3' 2>/dev/null; then
	printf 'print(1)\n' >one.py
	grown() { # runs: a log that holds so many old ones
		rm -f log.db*
		run exec one.py --db log.db
		python3 - "$1" <<'P'
import sqlite3, sys
n = int(sys.argv[1])
db = sqlite3.connect('log.db')
db.executemany("insert into runs (id, kind, started_at_ms, ended_at_ms, status, app_version)"
	" values (?, 'ask', 1000, 2000, 'success', '1')", [('01AAAA%020d' % i,) for i in range(n)])
# What is shown of a question is a line: all its characters are controls.
db.execute("insert into blobs (sha256, size, body) values ('x', 4096, ?)", (b'\x1b' * 4096,))
db.execute("update runs set prompt = (select no from blobs where sha256 = 'x') where id > ?", ('01AAAA%020d' % (n - 100),))
db.commit()
P
	}
	grown $((12500 / fraction))
	quarter=$(measure log list --db log.db)
	quarter_removed=$(measure log prune --since 2001-01-01 --db log.db)
	grown $((50000 / fraction))
	whole=$(measure log list --db log.db)
	proportional 'a list of fifty thousand runs'
	is "$(wc -l <out.txt)" $((50000 / fraction + 1)) 'is whole'
	quarter=$quarter_removed
	whole=$(measure log prune --since 2001-01-01 --db log.db)
	proportional 'to remove them'
	like "$(cat err.txt)" "^$((50000 / fraction)) runs removed" 'is done'
else
	skip 'a list of fifty thousand runs' 'no sqlite3 module'
fi
done_testing
