#!/bin/sh
# Whatever was recorded, by whomever: what log show, list and search print of it is obeyed by no
# terminal, neither directly nor through a pipe (log show | less -R, a file shown with cat).
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
[ -x /usr/bin/python3 ] || skip_all 'no python3'

printf 'print(1)\n' >one.py
forget
say plan "$(plan)"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
run ask --script s.jsonl --db ask.db 'How many?'
run exec one.py --db exec.db
is "$code" 0 'two logs to plant in'

# Each row: what is planted, and where. The place is a column of the run, or a member of an event's
# data (stage, path); a list's element is a number.
cat >plant.py <<'P'
import json, pty, os, re, shutil, sqlite3, subprocess, sys

WHAT = {
    'ESC': '\x1b[2J', 'OSC': '\x1b]0;title\x07', 'BEL': '\x07', 'CR': 'a\rb', 'DEL': '\x7f',
    'C1 CSI': '\x9b2J', 'C1 OSC': '\x9d0;t\x9c', 'DCS': '\x1bPq\x1b\\', 'bidi override': '\u202e',
    'bidi isolate': '\u2066', 'bidi mark': '\u200f', 'line separator': '\u2028', 'tag': '\U000e0041',
}
RUNS = ('kind', 'status', 'level', 'reason', 'model', 'provider', 'item', 'replay_of', 'prompt', 'answer')
EVENTS = (
    ('ask', 'extract', ('blocks', 0, 'lang'), 'a fence word'), ('ask', 'extract', ('blocks', 0, 'why'), 'a block, why'),
    ('ask', 'extract', ('blocks', 0, 'code'), 'a program'), ('ask', 'extract', ('convention',), 'a convention'),
    ('ask', 'extract', ('program', 'why'), 'a joined program'), ('ask', 'judge', ('model',), "a server's model"),
    ('ask', 'judge', ('stop_reason',), "a server's stop reason"), ('ask', 'judge', ('failure',), "a server's failure"),
    ('ask', 'judge', ('failure', 'message'), "a server's message"),
    ('ask', 'verify', ('checks', 0, 'detail'), "a judge's reason"), ('ask', 'verify', ('checks', 0, 'kind'), 'a check'),
    ('ask', 'verify', ('checks', 0, 'source'), "a check's source"), ('ask', 'verify', ('carried_by',), 'what carried'),
    ('ask', 'screen', ('verdict',), 'a screening'), ('ask', 'screen', ('findings', 0, 'message'), 'a finding'),
    ('ask', 'execute', ('artifacts', 0, 'path'), 'the name of an artifact'),
    ('ask', 'execute', ('artifacts', 0, 'type'), 'the type of an artifact'),
    ('ask', 'execute', ('artifacts', 0, 'why_not'), 'why an artifact was not kept'),
    ('ask', 'execute', ('error', 'message'), 'a failure'), ('ask', 'task', ('files', 0), 'a file'),
    ('exec', 'execute', ('artifacts', 0, 'path'), 'an artifact of exec'),
)
BAD = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]')

def put(node, path, value):
    for i, key in enumerate(path[:-1]):
        empty = [] if isinstance(path[i + 1], int) else {}
        if isinstance(key, int):
            while len(node) <= key:
                node.append({})
        elif not isinstance(node.get(key), type(empty)):
            node[key] = empty
        node = node[key]
    if isinstance(path[-1], int):
        node.append(value)
    else:
        node[path[-1]] = value

def piped(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

def on_terminal(command):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    seen = b''
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    process.wait()
    os.close(ours)
    return seen.replace(b'\r\n', b'\n')

def look(name, command, text, must):
    for how, read in (('pipe', piped), ('terminal', on_terminal)):
        out = read([os.environ['ASSAY'], 'log', *command, '--color', 'never', '--db', 'p.db'])
        seen = out.decode('utf-8', 'surrogateescape')
        bad = BAD.search(seen)
        if bad:
            print('%s: %s (%s): %r' % (name, command[0], how, seen[max(0, bad.start() - 30):bad.end() + 10]))
        elif must and 'Planted' not in seen:
            print('%s: %s (%s): is not shown' % (name, command[0], how))

def main():
    value = 'Planted ' + ' '.join(WHAT.values()) + ' end'
    for column in RUNS:
        shutil.copy('ask.db', 'p.db')
        db = sqlite3.connect('p.db')
        run = db.execute('select id from runs').fetchone()[0]
        db.execute('pragma ignore_check_constraints = on')
        if column in ('prompt', 'answer'):
            no = db.execute('select %s from runs' % column).fetchone()[0]
            db.execute('update blobs set body = ?, size = ? where no = ?',
                (value.encode(), len(value.encode()), no))
        else:
            db.execute('update runs set %s = ?' % column, (value,))
        db.commit()
        db.close()
        # By its id: "last" is none that is a replay.
        for command in (['show', run], ['list'], ['search', 'many']):
            look(column, command, value, command[0] == 'show')
    for source, stage, path, name in EVENTS:
        shutil.copy(source + '.db', 'p.db')
        db = sqlite3.connect('p.db')
        row = db.execute("select run_id, seq, data_json from v_events where stage = ? and phase in ('done', 'note')", (stage,)).fetchone()
        if row is None:
            print(name + ': no such event')
            continue
        data = json.loads(row[2])
        put(data, path, value)
        place, = db.execute('select no << 20 | ? from runs where id = ?', (row[1], row[0])).fetchone()
        form = db.execute("insert into forms(mark, stage, phase, body) select 0, f.stage, f.phase, char(1) || 'v'"
            ' from events e join forms f on f.no = e.form where place = ?', (place,)).lastrowid
        db.execute('update events set data = ?, form = ? where place = ?',
            (json.dumps(data, ensure_ascii=False), form, place))
        db.commit()
        db.close()
        look(name, ['show'], value, name != 'a failure')  # of an execution that ended well it is not
main()
P
python3 plant.py >problems.txt 2>&1
is "$(cat problems.txt)" '' 'nothing planted in a record is obeyed'
done_testing
