#!/bin/bash
# The first image of a machine takes half a minute or two: that is told while it is made, on standard error
# alone, by whatever waits for it. What makes it here is ours, and makes none.
. "$(dirname "$0")/lib.sh"
[ -x /usr/bin/qemu-system-x86_64 ] || skip_all 'no QEMU: apt-get install qemu-system-x86'
mkdir -p bin kernel/boot kernel/lib/modules/9.9.9 cache
cp "$ASSAY" "$(dirname "$ASSAY")/assay-keeper" bin
printf 'kernel' >kernel/boot/vmlinuz-9.9.9
cat >bin/assay-image <<'END'
#!/bin/sh
mkdir -p "$1/machine-making-test" && touch "$1/begun"
while [ ! -e "$1/enough" ]; do sleep 0.05; done
rmdir "$1/machine-making-test"
echo 'no room for an image' >&2
exit 1
END
chmod +x bin/assay-image
export XDG_CACHE_HOME=$work/cache
making="making the machine's file system of what is installed here: once, half a minute or two; [0-9]+ s so far"
echo 'print(1)' >p.py
printf '{"id": "a", "prompt": "x"}\n' >tasks.jsonl
told() { grep -qE "$making" err.txt; }

for command in 'exec p.py' 'doctor'; do
	rm -rf cache/assay
	# shellcheck disable=SC2086 # words
	"$work/bin/assay" $command --sandbox "microvm:$work/kernel" --json >out.txt 2>err.txt &
	until_true told
	ok $? "$command: it is told what takes so long"
	touch cache/assay/enough
	wait $!
	code=$?
	is "$code $(grep -c making out.txt)" "${code#0} 0" "$command: and nowhere but on standard error"
	like "$(cat out.txt err.txt)" 'no room for an image' "$command: why none could be made"
done
done_testing
