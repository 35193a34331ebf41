#!/bin/sh
# What a batch starts, counted: an interpreter that is not needed costs more than all else of a task.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can trace a process that cannot be dumped'
strace -f -o /dev/null true 2>/dev/null || skip_all 'no strace here, or it may not trace'
[ -x /usr/bin/python3 ] || skip_all 'no python3'
export ASAN_OPTIONS=detect_leaks=0 # it traces, too

for i in 1 2 3 4 5 6; do
	printf '{"id":"t%s","prompt":"Task %s?","lang":"python","tests":"assert f(%s) == %s\\n"}\n' $i $i $i $i
done >tasks.jsonl
cat >model <<'M'
#!/bin/sh
printf 'So:\n\n```python\ndef f(n):\n    return n\n```\n'
M
chmod +x model
batch="batch tasks.jsonl -j 1 --no-judge --model-command $work/model --db log.db"
run $batch --out once.jsonl # what is found out of Python and made of harnesses is kept
is "$code $(grep -c '"level":"expected"' once.jsonl)" '0 6' 'six tasks with tests'
starts() { # the last words of a command line: how often
	grep -E 'execve\("/usr/bin/python3[^"]*", ' trace.txt | grep -cE "$1\], "
}
strace -f -o trace.txt -e trace=execve -s 200 "$ASSAY" $batch --out again.jsonl >out.txt 2>err.txt
is "$? $(grep -c '"level":"expected"' again.jsonl)" '0 6' 'again'
# The template, and forks of it; one that starts before where the machine makes it wait: how soon is its, but not
# that most are forks.
like "$(starts '"/work/assay_program.py"') $(starts '"/work/assay_judge.py"')" '^[1-5] [1-5]$' \
	'programs and their judges start at most once each, and are forks of one then'
# More than that where this machine makes one wait so long that another is started.
like "$(starts '"/work/main.py"') $(starts '"/work/main.py", "many"')" '^([01] 1|[12] [12])$' \
	'one parser for all, and at most one that starts before it'
strace -f -o trace.txt -e trace=execve -s 200 "$ASSAY" $batch --warm 0 --out cold.jsonl >out.txt 2>err.txt
is "$(starts '"/work/main.py"') $(starts '"/work/main.py", "many"')" '6 0' 'or one each, where none may wait'
is "$(starts '"/work/assay_program.py"') $(starts '"/work/assay_judge.py"')" '6 6' 'a program and its judge each, too'
same() { # what a run's programs were found to do
	run log show "$1" --json --db log.db
	python3 -c 'import json, sys
print([(e["data"]["verdict"], e["data"]["tree"]) for e in json.load(sys.stdin)["events"] if e["stage"] == "screen" and e["phase"] == "done"])' <out.txt
}
ids() {
	python3 -c 'import json, sys
for line in open(sys.argv[1]): print(json.loads(line)["run"])' "$1" | tail -n 1
}
is "$(same "$(ids again.jsonl)")" "$(same "$(ids cold.jsonl)")" 'and the record is the same'
done_testing
