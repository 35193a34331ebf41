#!/bin/bash
# Inputs that a guest sees where they are: it writes to none, is led nowhere by one, and sees what
# was opened, whatever is renamed meanwhile. As root some are mounted with their owner's right.
# threat: 77 78 79 80
. "$(dirname "$0")/../integration/lib.sh"

keep='--keep-inputs 0' # every file stays where it is
chmod 755 "$work"

# 77: whatever can write.
echo 'unchanged' >mine
cp mine theirs
chmod 666 mine
cat >write.py <<'EOF'
import ctypes, errno, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, f):
    try:
        print(what, 'DONE' if f() != -1 else 'refused', flush=True)
    except (OSError, PermissionError, ValueError):
        print(what, 'refused', flush=True)
for p in '/in/mine', '/work/mine', '/in/folder/mine':
    fd = os.open(p, os.O_RDONLY)
    attempt('open', lambda: os.open(p, os.O_WRONLY))
    attempt('truncating open', lambda: os.open(p, os.O_RDONLY | os.O_TRUNC))
    attempt('append', lambda: os.open(p, os.O_RDWR | os.O_APPEND))
    attempt('truncate', lambda: os.truncate(p, 0))
    attempt('proc', lambda: os.open('/proc/self/fd/%d' % fd, os.O_WRONLY))
    attempt('proc root', lambda: os.open('/proc/self/root' + p, os.O_WRONLY))
    attempt('write', lambda: os.write(fd, b'x'))
    attempt('shared map', lambda: mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
    attempt('allocate', lambda: os.posix_fallocate(fd, 0, 99))
    attempt('chmod', lambda: os.chmod(p, 0o777))
    attempt('fchmod', lambda: os.fchmod(fd, 0o777))
    attempt('chown', lambda: os.chown(p, os.getuid(), os.getgid()))
    attempt('xattr', lambda: os.setxattr(p, 'user.x', b'y'))
    attempt('times', lambda: os.utime(fd))
    attempt('unlink', lambda: os.unlink(p) if p.startswith('/in') else -1)
    attempt('rename over', lambda: os.rename('/work/write.py' if os.path.exists('/work/write.py') else '/work/main.py', p) if p.startswith('/in') else -1)
    attempt('hard link', lambda: os.link(p, '/work/again') if p.startswith('/in') else -1)
    attempt('remount', lambda: libc.mount(None, p.encode(), None, 32 | 4096, None))
    attempt('remount all', lambda: libc.mount(None, b'/in', None, 32, None))
    attempt('unmount', lambda: libc.umount2(p.encode(), 2))
    attempt('unmount all', lambda: libc.umount2(b'/in', 2))
    attempt('bind', lambda: libc.mount(p.encode(), b'/work', None, 4096, None))
    attempt('mapped memory', lambda: open('/proc/self/mem', 'r+b').write(b'x') and -1)
EOF
mkdir folder
cp mine folder/
chmod 777 folder
chmod 666 folder/mine
run exec $keep write.py -f mine -f folder
like "$code $(printf '%s\n' "$out" | grep -c refused)" '^0 69$' '77 each way of writing was tried'
unlike "$out" DONE '77 and refused'
is "$(cat mine folder/mine)" 'unchanged
unchanged' '77 the files are what they were'

# 78: names are swapped all the time; what is seen is what was opened.
echo 'what was meant' >meant
echo 'what was never meant' >secret
ln -s "$PWD/secret" link
cp meant swapped
flip() {
	while [ ! -e still ]; do
		cp meant next && mv -T next swapped
		ln -sfn "$PWD/secret" next && mv -T next swapped
	done
}
cat >hash.py <<'EOF'
import hashlib
print(hashlib.sha256(open('/in/%s' % __import__('os').listdir('/in')[0], 'rb').read()).hexdigest())
EOF
flip &
flipper=$!
bad=
seen=0
for _ in $(seq 25); do
	run exec $keep --json hash.py -f swapped
	if [ "$code" = 0 ]; then
		seen=$((seen + 1))
		saw=$(field .stdout)
		opened=$("$ASSAY" log export "$(field .run)" | jq -r '.events[]|select(.stage=="inputs").data.inputs[0].digest')
		# A digest is of what was opened; there is none where that had changed meanwhile.
		[ "$opened" = null ] || [ "$saw" = "$opened" ] || bad="$bad $saw:$opened"
	fi
done
: >still
wait $flipper
is "$bad" '' '78 what the program saw is what was opened'
[ "$seen" -gt 0 ]
ok $? '78 and it was seen' || diag "$out $err"

# 79: a folder holds its files and nothing else.
mkdir -p tree/sub outside
echo outside >outside/file
echo inside >tree/file
ln outside/file tree/hard
ln -s ../outside tree/relative
ln -s "$PWD/outside" tree/absolute
ln -s /proc/1/root tree/magic
ln -s /proc/self/cwd tree/cwd
mkfifo tree/pipe
[ "$(id -u)" -ne 0 ] || mknod tree/null c 1 5
cat >reach.py <<'EOF'
import os
def attempt(p):
    try:
        print(p, sorted(os.listdir(p))[:3] if os.path.isdir(p) else open(p).read().strip()[:20], flush=True)
    except OSError as e:
        print(p, 'refused', flush=True)
d = os.open('/in/tree', os.O_RDONLY)
for p in ('file', 'hard', 'relative/file', 'absolute/file', 'magic', 'null', 'sub/../../../outside/file'):
    attempt('/in/tree/' + p)
for p in ('..', '../..', 'sub/../../..'):
    print(p, sorted(os.listdir('/proc/self/fd/%d/%s' % (d, p)))[:1], flush=True)
f = os.open('..', os.O_RDONLY, dir_fd=d)
print('up', os.listdir(f))
print(open('/proc/self/mountinfo').read().count('outside'))
EOF
run exec reach.py -f tree
like "$out" '^/in/tree/file inside$' '79 a file of the folder is seen'
like "$out" '^/in/tree/hard outside$' '79 a hard link is such a file'
unlike "$out" '(relative|absolute|magic|sub).* outside$' '79 links lead to nothing outside'
unlike "$out" '^/in/tree/(magic|null) \[?.*[a-z]{4}.*(home|root)' '79 not by /proc either'
like "$out" '^/in/tree/null refused$' '79 a device is none'
like "$out" "^up \['tree'\]" '79 above the folder is /in'
if [ "$(id -u)" -eq 0 ]; then
	mkdir tree/other
	unshare -m sh -c 'mount -t tmpfs other tree/other && echo elsewhere >tree/other/file &&
		"$ASSAY" exec reach.py -f tree' >out.txt 2>&1
	like "$? $(cat out.txt)" '^2 .*tree.* other is another file system' '79 another file system below it is refused by name'
	echo root >owned
	chmod 600 owned
	run exec --json $keep hash.py -f owned
	like "$(field '.isolation.inputs')" "mounted with the owner's right|copied" "79 what only root may read is seen with root's right"
	is "$(field .stdout)" "$(sha256sum <owned | cut -d' ' -f1)" '79 as it is'
	chmod 0 owned
	run exec --json $keep hash.py -f owned
	is "$(field .stdout) $(field .isolation.inputs)" "$(sha256sum <owned | cut -d' ' -f1) 1 copied (Permission denied)" '79 what nobody may read is copied for root'
else
	echo mine >owned
	chmod 0 owned
	run exec $keep hash.py -f owned
	like "$code $err" '^1 .*Permission denied' '79 what its owner may not read is refused'
fi

# 80: what is no input.
no() { # pattern file
	run exec hash.py -f "$2"
	like "$code $err" "^2 assay: .*$1" "80 refused: $2"
}
no "the kernel's word" /proc/self/status
no "the kernel's word" /proc
no "the kernel's word" /proc/self/fd
no "the kernel's word" /sys/kernel
no 'is a device' /dev/null
no 'is a named pipe' tree/pipe
no 'the log of the runs' "$XDG_DATA_HOME/assay/log.db"
no 'the log of the runs' "$XDG_DATA_HOME"
echo odd >"$(printf 'odd\nname')"
run exec --json $keep hash.py -f "$(printf 'odd\nname')"
is "$code $(field .stdout)" "0 $(echo odd | sha256sum | cut -d' ' -f1)" '80 a newline in a name is a newline'
done_testing
