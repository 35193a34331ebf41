#!/bin/sh
# What a task file may name: what is below its own folder or a --files-from folder, nothing of the
# kernel's, whatever links and dots lead there.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

forget
say code "$(program 'import os
for name in sorted(os.listdir("/in")):
    print(name, open("/in/" + name, "rb").read()[:60])')"
mkdir -p tasks/data/deep other/sub outside
echo inside >tasks/data/a.csv
echo deep >tasks/data/deep/b.csv
echo secret >outside/secret.txt
echo allowed >other/sub/c.csv
ln -s ../../outside/secret.txt tasks/data/link.txt
ln -s ../../outside tasks/data/folder
ln -s a.csv tasks/data/alias.csv
ln -s ../other/sub tasks/shortcut
ln -s /proc/self/environ tasks/data/environ
ln -s loop tasks/data/loop
mkfifo tasks/data/fifo
here=$(pwd -P)

task() { # id path
	jq -cn --arg id "$1" --arg path "$2" '{id: $id, prompt: "Print it.", lang: "python", files: [$path], expect: {lines: 1}}'
}
# Which file a task names, and what becomes of it: "ok" and a word of it, or "no".
while read -r want path; do
	n=$((${n-0} + 1))
	task "$n" "$path" >>tasks/t.jsonl
	printf '%s %s\n' "$want" "$path" >>want.txt
done <<T
inside data/a.csv
inside ./data/../data/a.csv
inside ../tasks/data/a.csv
deep data/deep/b.csv
inside data/alias.csv
inside $here/tasks/data/a.csv
no data/link.txt
no data/folder/secret.txt
no ../outside/secret.txt
no data/../../outside/secret.txt
no $here/outside/secret.txt
no /etc/passwd
no ../../../../../../../../../etc/passwd
no /proc/self/environ
no data/environ
no /proc/self/cwd/tasks/data/a.csv
no /proc/self/root$here/outside/secret.txt
no /sys/kernel/notes
no /dev/null
no data/fifo
no data/loop
no data
no ../other/sub/c.csv
no shortcut/c.csv
no data/none.csv
T
checked() { # name; option...: runs the file, compares with want.txt
	name=$1
	shift
	rm -f r.jsonl
	run batch tasks/t.jsonl --script s.jsonl --out r.jsonl --no-judge --require ran "$@"
	jq -r '"\(.id) \(if .status == "success" then (.answer | capture("b\u0027(?<word>[a-z]+)").word) else "no" end)"' r.jsonl |
		sort -n | cut -d' ' -f2 >got.txt
	is "$(paste -d' ' got.txt want.txt | awk '$1 != $2')" '' "$name"
}
checked 'files below the folder of the task file, and no others'
unlike "$(cat r.jsonl)" 'secret"|root:|HOME=' 'nothing of what was refused is in the results'
why() { # id
	jq -r "select(.id == \"$1\").error" r.jsonl
}
like "$(why 9)" 'tasks/t\.jsonl:9: files: \.\./outside/secret\.txt is not below tasks,.*--files-from' \
	'the message says where, what, and what to do'
like "$(why 14)" 'proc/self/environ: nothing of /proc, /sys or /dev' 'and that some are never an input'
like "$(why 25)" 'data/none\.csv: No such file' 'a file that is not there is just that'

sed -i 's,^no \(\.\./other/sub/c.csv\|shortcut/c.csv\),allowed \1,' want.txt
checked '--files-from allows a folder, by its own name and through a link' --files-from other/sub

mkdir data
checked 'one of several' --files-from data --files-from "$here/other"
sed -i -e 's,^no \(.*outside/secret.txt\|data/link.txt\|data/folder/secret.txt\)$,secret \1,' \
	-e 's,^no \(.*/etc/passwd\)$,root \1,' -e 's,^secret /proc,no /proc,' want.txt
checked '/ allows all files, but not what is of the kernel' --files-from /
run batch tasks/t.jsonl --script s.jsonl --files-from nowhere
is "$code" 2 'a folder that is not there is an error of usage'
like "$err" 'files-from nowhere' 'and named'

# The same where there is no openat2: then no link is followed.
if strace -o /dev/null -e inject=openat2:error=ENOSYS true 2>/dev/null; then
	rm -f r.jsonl
	ASAN_OPTIONS=detect_leaks=0 strace -f -o /dev/null -e trace=openat2 -e inject=openat2:error=ENOSYS \
		"$ASSAY" batch tasks/t.jsonl --script s.jsonl --out r.jsonl --no-judge --require ran >out.txt 2>err.txt </dev/null
	jq -r '"\(.id) \(.status)"' r.jsonl | sort -n | awk '$2 == "success" { print $1 }' | xargs >got.txt
	like "$(cat got.txt)" '^1 2 3 4 5 6$' 'an old kernel: the same files'
else
	skip 'an old kernel: the same files' 'no strace here'
fi

# A column of a CSV file is no other way in.
printf 'prompt,lang,expect,files\nPrint it.,python,"{""lines"":1}",../outside/secret.txt\nPrint it.,python,"{""lines"":1}",data/a.csv\n' >tasks/t.csv
run batch tasks/t.csv --script s.jsonl --out c.jsonl --no-judge --require ran
is "$code $(jq -rs 'map(.status) | join(" ")' c.jsonl)" '9 failed success' 'nor is a CSV'
# What the user names is the user's.
forget
say plan "$(plan)"
say code "$(program 'print(open("/in/secret.txt").read())')"
run ask --script s.jsonl --no-judge --require ran -f outside/secret.txt 'Print it.'
is "$code" 0 'a file of the command line may be anywhere'
done_testing
