#!/bin/bash
# A task with tests where a program and its tests cannot be kept apart is refused before anybody is asked for a
# program.
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import RestrictedPython' 2>/dev/null || skip_all 'no python3-restrictedpython'
cat >asked.sh <<'S'
#!/bin/sh
touch "$PWD/asked"
cat >/dev/null
printf '~~~python\nprint(2)\n~~~\n'
S
chmod +x asked.sh
run ask --db log.db --model-command "$PWD/asked.sh" --fast --require ran --sandbox restricted 'One and one?'
is "$code" 0 'without tests it runs'
rm asked
run ask --db log.db --model-command "$PWD/asked.sh" --tests --sandbox restricted 'One and one?'
is "$code" 2 'with tests it is refused'
like "$err" 'the restricted sandbox cannot run a program and its tests apart' 'which is said'
[ ! -e asked ]
ok $? 'and nobody was asked for a program'
echo '{"id": "a", "prompt": "One and one?", "tests": "assert True"}' >tasks.jsonl
run batch --db log.db --model-command "$PWD/asked.sh" --sandbox restricted --out results.jsonl tasks.jsonl
like "$(cat results.jsonl)" 'apart from each other' 'as it is of a task of a batch'
[ ! -e asked ]
ok $? 'of which nobody was asked, either'

done_testing
