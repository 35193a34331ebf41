#!/bin/bash
# --sandbox firecracker against its published API description: a program that refuses what that
# refuses (firecracker.py), whose machine is played by the keeper. No host at hand has KVM: with a real
# Firecracker this was never run.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/firecracker.sh"
command -v mke2fs >/dev/null || [ -x /usr/sbin/mke2fs ] || skip_all 'no mke2fs: apt-get install e2fsprogs'

play_firecracker
printf 'import sys\nopen("/out/a", "wb").write(bytes(range(256)))\nprint(6 * 7)\n' >p.py

if grep -qE '^flags.* (vmx|svm)' /proc/cpuinfo && [ -w /dev/kvm ]; then
	skip 'no KVM' 'there is one here'
	skip 'why not' 'there is KVM here'
else
	run exec --sandbox "$box" p.py
	is "$code" 6 'no Firecracker, or no KVM: exit 6'
	like "$err" 'there is no firecracker|needs KVM' 'and why'
fi
export ASSAY_FIRECRACKER=$PWD/mock/firecracker

run exec --sandbox "$box" --json --out out p.py
is "$code $(field '.outcome, .stdout' | tr -d '\n')" '0 exit42' 'a program runs in its machine'
is "$(wc -c <out/a)" 256 'and leaves a file'
is "$(field '.isolation.facts[] | select(.name == "machine") | .layer, .value' | tr '\n' ' ')" 'outer Firecracker ' \
	'the record says which'
is "$(cut -d' ' -f1-3 mock/requests)" 'PUT /machine-config 204
PUT /boot-source 204
PUT /drives/root 204
PUT /vsock 204
PUT /actions 204
PATCH /vm 204
PUT /snapshot/create 204
PATCH /vm 204' 'what was asked, all of it allowed'
is "$(find cache/assay -name 'firecracker-*.state' -o -name 'firecracker-*.memory' | wc -l)" 2 'a snapshot is kept'

rm mock/requests
run exec --sandbox "$box" --json p.py
is "$code $(field .stdout | tr -d '\n') $(cut -d' ' -f1-3 mock/requests)" '0 42 PUT /snapshot/load 204' \
	'and is all that the next one needs'
is "$(ls -d "$PWD"/assay-firecracker-* 2>/dev/null)" '' 'no folder is left'

# The memory is written where others have it mapped: one maker at a time.
made=$(echo cache/assay/firecracker-*.state)
made=${made%.state}
rm mock/requests "$made.state" "$made.memory"
exec 9>"$made.lock"
flock 9
run exec --sandbox "$box" --json p.py
is "$code $(field .stdout | tr -d '\n') $(grep -c snapshot mock/requests)" '0 42 0' \
	'while another one makes a snapshot none is made'
exec 9>&-

rm mock/requests cache/assay/firecracker-*
is "$(find cache -name '*.ext4' -size -9k | wc -l) $(find cache -name '*.ext4' | wc -l)" '1 1' 'no image was made'
printf 'no kernel' >kernel/boot/vmlinux-6.1-cloud
run exec --sandbox "$box" p.py
like "$code $(echo $err)" '^6 .*boot-source.*Invalid Elf magic' 'what it refuses is told in its words'
rm kernel/boot/vmlinux-6.1-cloud
run exec --sandbox "$box" p.py
like "$code $(echo $err)" '^6 .*boots no packed kernel' 'a kernel that was not unpacked'
done_testing
