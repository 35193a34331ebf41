"""A log after power cuts that are made up: power.py COMMAND...

Runs the command under strace, and takes down what it writes to log.db and log.db-wal and when it
syncs them. Then it makes the files, again and again, as a power cut may leave them: what was synced is
there; of the rest each block of 4 KiB is there or not, as chance has it, and changes of a file's
size are there up to some moment, in their order, as journalling file systems have it. Each must be a log that is
whole, with all runs of before, and with a start of each guest (who runs "sleep") that had begun.
Prints what is not so, and a summary last.
"""
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

BLOCK = 4096
IMAGES = int(os.environ.get('IMAGES', '60'))
NAMES = ('log.db', 'log.db-wal')
command = sys.argv[1:]
chance = random.Random(7)


def unescape(text):
    return bytes.fromhex(text.replace('\\x', ''))


def readable(path):
    return unescape(path).decode() if path.startswith('\\x') else path


def read_trace(lines):
    """Yields (kind, name, offset, bytes) in the order in which the calls returned, and ('begin',
    name) where a sync began."""
    open_calls = {}
    for line in lines:
        pid, _, rest = line.rstrip('\n').partition(' ')
        rest = rest.strip()
        if rest.endswith('<unfinished ...>'):
            open_calls[pid] = rest[:-len('<unfinished ...>')]
            begun, whole = open_calls[pid], False
        elif rest.startswith('<...'):
            begun, whole = open_calls.pop(pid, '') + rest.split('resumed>', 1)[1], True
        else:
            begun, whole = rest, True
        call = re.match(r'(\w+)\(\d+<([^>]*)>', begun)
        if 'execve("' in begun and whole and begun.rstrip().endswith('= 0'):
            if unescape(re.search(r'execve\("([^"]*)"', begun).group(1)).endswith(b'/sleep'):
                yield ('guest', None, 0, b'')
        name = call and os.path.basename(readable(call.group(2)))
        if name not in NAMES:
            continue
        if call.group(1) == 'fdatasync':
            if not whole or not rest.startswith('<...'):
                yield ('begin', name, pid, b'')
            if whole:
                yield ('synced', name, pid, b'')
        elif whole and call.group(1) == 'pwrite64':
            data = re.search(r'"([^"]*)", (\d+), (\d+)\s*\)', begun)
            yield ('write', name, int(data.group(3)), unescape(data.group(1)))
        elif whole and call.group(1) == 'ftruncate':
            yield ('size', name, int(re.search(r', (\d+)\s*\)', begun).group(1)), b'')


def write(image, at, data):
    if len(image) < at:
        image.extend(bytes(at - len(image)))
    image[at:at + len(data)] = data


def survive(image, pending):
    """What may be left of the file: image with some of what was not synced."""
    image = bytearray(image)
    sizes = chance.randint(0, len(pending))
    for number, (kind, at, data) in enumerate(pending):
        if kind == 'size':
            if number < sizes:
                del image[at:]
                image.extend(bytes(at - len(image)))
            continue
        if number < sizes and len(image) < at + len(data):
            image.extend(bytes(at + len(data) - len(image)))
        while data:
            part = min(len(data), BLOCK - at % BLOCK)
            if at + part <= len(image) and chance.random() < 0.5:
                write(image, at, data[:part])
            at, data = at + part, data[part:]
    return image


def look(number, guests, before):
    """What is wrong with an image, and whether a run in it has no end."""
    path = os.path.join('image', 'log.db')
    verify = subprocess.run([os.environ['ASSAY'], 'log', 'verify', '--db', path],
        capture_output=True, text=True)
    if verify.returncode:
        print(f'image {number}: {verify.stdout}{verify.stderr}')
    db = sqlite3.connect(path)
    whole, = db.execute('pragma integrity_check').fetchone()
    started, = db.execute("select count(*) from v_events where stage = 'execute' "
        "and phase = 'started'").fetchone()
    runs, ended = db.execute('select count(*), count(seal) from runs').fetchone()
    db.close()
    if whole != 'ok' or runs < before[0] or started - before[1] < guests:
        print(f'image {number}: {whole}, {runs} runs, {started} starts, {guests} guests had begun')
    return ended < runs


def known():
    """Of a copy: who closes a log last moves what is in its write-ahead log."""
    with tempfile.TemporaryDirectory() as folder:
        for n in filter(os.path.exists, NAMES):
            shutil.copy(n, folder)
        db = sqlite3.connect(os.path.join(folder, NAMES[0]))
        found = (db.execute('select count(*) from runs').fetchone()[0], db.execute("select count(*) "
            "from v_events where stage = 'execute' and phase = 'started'").fetchone()[0])
        db.close()
    return found


def main():
    counts = known()
    before = {n: bytearray(open(n, 'rb').read()) if os.path.exists(n) else bytearray() for n in NAMES}
    subprocess.run(['strace', '-f', '-y', '-xx', '-s', '1000000', '-o', 'power.txt',
        '-e', 'trace=pwrite64,ftruncate,fdatasync,execve', *command],
        stdin=subprocess.DEVNULL, stdout=open('out.txt', 'w'), stderr=open('err.txt', 'w'), check=True)
    calls = list(read_trace(open('power.txt')))
    cuts = sorted(chance.choices(range(len(calls) + 1), k=IMAGES))
    durable = before
    pending = {n: [] for n in NAMES}
    began, guests, made, lost = {}, 0, 0, 0
    for place in range(len(calls) + 1):
        while made < len(cuts) and cuts[made] == place:
            shutil.rmtree('image', ignore_errors=True)
            os.makedirs('image')
            for n in NAMES:
                with open(os.path.join('image', n), 'wb') as f:
                    f.write(survive(durable[n], pending[n]))
            lost += look(made, guests, counts)
            made += 1
        if place == len(calls):
            break
        kind, name, at, data = calls[place]
        if kind == 'guest':
            guests += 1
        elif kind == 'begin':
            began[at, name] = len(pending[name])
        elif kind == 'synced':
            done = began.pop((at, name), 0)
            for what, where, written in pending[name][:done]:
                if what == 'size':
                    del durable[name][where:]
                    durable[name].extend(bytes(where - len(durable[name])))
                else:
                    write(durable[name], where, written)
            del pending[name][:done]
            for key in began:
                if key[1] == name:
                    began[key] = max(0, began[key] - done)
        else:
            pending[name].append((kind, at, data))
    print(f'{made} power cuts, {guests} guests' + (', some lost an end' if lost else ''))


main()
