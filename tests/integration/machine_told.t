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
# A batch is as quiet as its lines, and two workers wait: one of them tells.
rm -rf cache/assay
: >err.txt # what stands there is of one before
printf '{"id": "b", "prompt": "y"}\n' >>tasks.jsonl
"$work/bin/assay" batch tasks.jsonl -j 2 --sandbox "microvm:$work/kernel" --model-command cat --json >out.txt 2>err.txt &
until_true told
ok $? 'batch: it is told what takes so long'
touch cache/assay/enough
wait $!
is "$? $(grep -E "$making" err.txt | sort | uniq -d) $(grep -c making out.txt)" '6  0' \
	'batch: once, and on standard error alone'
# A door tells whoever started it when somebody waits.
rm -rf cache/assay
: >err.txt # what stands there is of one before
calls=$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
	'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"language":"python","code":"print(1)"}}}')
mkfifo calls
"$work/bin/assay" mcp --sandbox "microvm:$work/kernel" <calls >out.txt 2>err.txt &
exec 5>calls
echo "$calls" >&5
until_true told
ok $? 'mcp: it is told what takes so long'
touch cache/assay/enough
until_true grep -q setup_failed out.txt
ok $? 'mcp: who called is told why none could be made'
exec 5>&-
wait $!
is "$(grep -c 'once, half' out.txt)" 0 'mcp: the protocol has nothing but answers'
rm -rf cache/assay
: >err.txt # what stands there is of one before
"$work/bin/assay" serve --socket "$work/own.sock" --sandbox "microvm:$work/kernel" 2>err.txt &
server=$!
until_true grep -q 'listening on' err.txt
"$ASSAY" exec --socket "$work/own.sock" --sandbox "microvm:$work/kernel" p.py >out.txt 2>&1 &
until_true told
ok $? 'serve: it is told what takes so long'
touch cache/assay/enough
wait $!
like "$? $(tr '\n' ' ' <out.txt)" '^6 .*no room for an image' 'serve: and who asked, why none could be made'
kill $server
wait $server
done_testing
