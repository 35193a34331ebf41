#!/bin/sh
# What lifts a result to which level, and what must not: the checks of the command line, tests
# that the model writes, a second program, and each level against --require.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

# One program, no planner, no judge: asks with the given checks.
check() { # program options...
	forget
	say code "$(program "$1")"
	shift
	ask --lang python --no-judge --max-attempts 1 --require expected "$@" 'Print it.'
}
passes() { # name; then as check
	name=$1
	shift
	check "$@"
	is "$code $(shape '.status, .level, .checks[0].verdict, .checks[0].source')" \
		'0 ["success","expected","pass","user"]' "$name: passes"
}
fails() { # name; then as check
	name=$1
	shift
	check "$@"
	is "$code $(shape '.status, .level, .checks[0].verdict')" '1 ["failed","ran","fail"]' "$name: fails"
}

passes '--expect' 'print("a  b ")' --expect 'a  b'
fails '--expect' 'print("a b")' --expect 'a  b'
passes '--expect-regex' 'print("x\nn = 12")' --expect-regex '^n = \d+$'
fails '--expect-regex' 'print("n = twelve")' --expect-regex '^n = \d+$'
passes '--expect-number, within its tolerance' 'print("pi: 3.14159")' --expect-number '3.14±0.01'
fails '--expect-number, beyond its tolerance' 'print("pi: 3.16")' --expect-number '3.14±0.01'
fails '--expect-number without a tolerance' 'print(41.999)' --expect-number 42
fails '--expect-number, no number' 'print("nan")' --expect-number 42
passes '--check lines' 'print(1)
print(2)' --check lines:2
fails '--check lines' 'print(1)' --check lines:2
passes '--check range' 'print(5)' --check range:1..10
fails '--check range' 'print(11)' --check range:1..10
passes '--check contains' 'print("the total is 5")' --check contains:total
fails '--check contains' 'print("the sum is 5")' --check contains:total
passes '--check json' 'print("{\"a\": 1}")' --check 'json:{"a":1}'
fails '--check json' 'print("{\"a\": 2}")' --check 'json:{"a":1}'
fails '--check nonnegative' 'print(1, -2)' --check nonnegative
fails '--check sorted' 'print("2\n1")' --check sorted
fails '--check unique' 'print("2\n2")' --check unique
passes '--artifact' 'open("/out/r.csv", "w").write("a,b\n1,2\n")' --artifact '*.csv'
fails '--artifact, another name' 'open("/out/r.txt", "w").write("x")' --artifact '*.csv'
fails '--artifact, written elsewhere' 'open("/tmp/r.csv", "w").write("x")' --artifact '*.csv'
check 'print(1)
print(2)' --check lines:2 --expect-number 3
is "$code $(verdicts | tr '\n' ';')" '1 number user fail;lines user pass;' 'one failed check among several fails all'

# --- what proves nothing lifts nothing ---

for empty in --expect-regex=.* --check=contains: '--check=range:-inf..inf'; do
	check 'print(1)' "$empty"
	if [ "$code" -eq 2 ]; then
		like "$err" 'argument' "a check that nothing could fail ($empty) is refused"
	else
		is "$code $(shape '.status, .level, .checks[0].verdict')" '1 ["unverified","ran","skipped"]' \
			"a check that nothing could fail ($empty) proves nothing"
	fi
done
forget
say plan "$(plan '[{"kind":"regex","arg":".*"},{"kind":"contains","arg":""}]')"
say code "$(program 'print(1)')"
ask --no-judge --role-model answer=off 'One?'
is "$code $(shape '.status, .level')" '1 ["unverified","ran"]' 'nor does a vacuous check of the planner'
forget
say code "$(program 'raise SystemExit(0)')"
ask --lang python --expect 42 --max-attempts 1 'x'
is "$code $(shape '.status, .level')" '1 ["failed","ran"]' 'an exit code of 0 alone meets no expectation'
forget
say code "$(program 'print(42)
raise SystemExit(1)')"
ask --lang python --expect 42 --max-attempts 1 'x'
is "$code $(shape '.status, .level')" '1 ["failed","none"]' 'nor does the right output of a program that failed'

# --- each level against each that may be required ---

level() { # required want-code
	ask --require "$1" 'One?'
	is "$code" "$2" "$3, $1 is required: exit code $2"
}
forget
say plan '{"needs_code":false,"answer":"one"}'
for r in none:0 ran:1 judged:1; do level "${r%:*}" "${r#*:}" 'level none'; done
forget
say plan "$(plan)"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
for r in ran:0 judged:0 checked:1 expected:1; do level "${r%:*}" "${r#*:}" 'level judged'; done
is "$(shape '.status, .level, .answer')" '["unverified","judged","1\n"]' 'below what is required: unverified, with the output for an answer'
forget
say plan "$(plan '[{"kind":"equals","arg":"1"}]')"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
for r in checked:0 expected:1; do level "${r%:*}" "${r#*:}" 'level checked'; done

# --- tests that the model writes ---

tested() { # tests [options]
	forget
	say plan "$(plan)"
	say code "$(program 'def double(n):
	return 2 * n

print(double(21))')"
	say tests "$1"
	shift
	ask --tests --no-judge --role-model answer=off --max-attempts 1 "$@" 'Twice 21?'
}
tested "$(program 'assert double(2) == 4
assert double(0) == 0' 'python tests')"
is "$code $(shape '.status, .level') $(verdicts)" '0 ["success","checked"] tests tests pass' 'tests that pass: checked'
is "$(field .execution.stdout)" 42 'the output is that of the program, not of its tests'
tested "$(program 'assert double(2) == 5' 'python tests')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["failed","ran"] tests tests fail' 'tests that fail: failed'
tested "$(program 'print("all 12 tests passed")' 'python tests')"
is "$(verdicts | grep -c pass)" 0 'tests without an assertion prove nothing, whatever they print'
unlike "$(shape .level)" 'checked|expected' 'and lift no level'
tested "$(program 'if False:
	assert double(2) == 4' 'python tests')"
is "$(verdicts | grep -c pass)" 0 'nor does an assertion that is never reached'
tested "$(program 'raise SystemExit(0)
assert double(2) == 4' 'python tests')"
is "$(verdicts | grep -c pass)" 0 'nor tests that leave with exit code 0 before any'
tested 'I think it is correct.'
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] tests tests error' 'a tester without code'
tested "$(program 'import socket
socket.create_connection(("127.0.0.1", 9))
assert True' 'python tests')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] tests tests error' 'tests are screened like any code'

# --- a second program ---

crossed() { # second program
	forget
	say plan "$(plan)"
	say code "$(program 'print(sum(range(10)))')"
	say cross_check "$1"
	ask --cross-check --no-judge --role-model answer=off --max-attempts 1 'The sum of 0 to 9?'
}
crossed "$(program 'print(9 * 10 // 2)')"
is "$code $(shape '.status, .level') $(verdicts)" '0 ["success","checked"] equals cross_check pass' \
	'a second program agrees: checked'
crossed "$(program 'print(10 * 11 // 2)')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["failed","ran"] equals cross_check fail' 'it disagrees: failed'
crossed "$(program 'print(sum(range(10)))')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] cross_check cross_check skipped' \
	'the same program again is no second one'
crossed "$(program 'print( sum( range(10) ) )')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] cross_check cross_check skipped' \
	'nor is it with other blanks'
crossed "$(program 'raise ValueError')"
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] cross_check cross_check error' \
	'one that fails compares nothing'
bytes() { # first program's bytes, second program's: the verdicts, with --cross-check
	forget
	say code "$(program "import sys
sys.stdout.buffer.write($1)")"
	say cross_check "$(program "import os
os.write(1, $2)")"
	ask --cross-check --no-judge --role-model plan=off --role-model answer=off --max-attempts 1 'Bytes?'
	verdicts
}
is "$(bytes 'b"a\0b\n"' 'b"a\0b\n"')" 'equals cross_check pass' 'outputs with a NUL byte are compared'
is "$(bytes 'b"a\0b\n"' 'b"a\0c\n"')" 'equals cross_check fail' 'also past the NUL byte'
like "$(jq -r '.checks[0].detail' out.txt)" 'but the output is "a\\0c' 'and the sentence goes on after it'
is "$(bytes 'b"a\xff\n"' 'b"a\xff\n"')" 'equals cross_check pass' 'as are bytes that are no text'
crossed 'I agree with the first.'
is "$code $(shape '.status, .level') $(verdicts)" '1 ["unverified","ran"] cross_check cross_check error' \
	'words are no second program'
forget
say plan "$(plan)"
say code "$(program 'pass')"
say cross_check "$(program 'x = 1')"
ask --cross-check --no-judge --role-model answer=off --max-attempts 1 'Say nothing.'
unlike "$(shape .level)" 'checked|expected' 'two programs that print nothing agree on nothing'

# --- files, standard input, artifacts ---

printf 'a,b\n1,2\n' >data.csv
printf 'line one\nline two\n' >in.txt
forget
say code "$(program 'import sys
print(open("/in/data.csv").read().split()[1], len(sys.stdin.readlines()))
open("/out/copy.csv", "w").write("x")
open("/out/note.txt", "w").write("y" * 5)')" '{"match":"Read them"}'
ask --lang python -f data.csv --stdin in.txt --expect '1,2 2' --out got 'Read them.'
is "$code $(shape '.status, .level')" '0 ["success","expected"]' '-f is under /in and in the prompt, --stdin is its input'
is "$(cat got/copy.csv):$(cat got/note.txt)" x:yyyyy 'artifacts are written to --out'
is "$(jq -c '[.artifacts[] | [.path, .size, .kept, .why_not]] | sort' out.txt)" \
	'[["copy.csv",1,true,null],["note.txt",5,true,null]]' 'and listed in the result'
is "$(field '.artifacts[] | select(.path == "copy.csv").sha256')" \
	"$(printf x | sha256sum | cut -d' ' -f1)" 'with the hash of their bytes'
ask --lang python -f data.csv --stdin in.txt --expect '1,2 2' 'Read them.'
is "$(cat "assay-out/$(field ".run[-8:]")/copy.csv")" x 'without --out they are in assay-out/RUN/'
forget
say code "$(program 'import os
for name in ("/in/data.csv", "/in/new"):
	try:
		open(name, "w")
	except OSError as e:
		print(e.errno)
os.symlink("/in/data.csv", "/out/link")')"
ask --lang python -f data.csv --profile off --expect-regex '^(13|30)$' --out evil 'Write there.'
is "$code $(field .execution.stdout | sort -u | grep -cE '^(13|30)$') $(cat data.csv | wc -l)" '0 1 2' '/in is read-only'
is "$(shape '.artifacts[0].kept')" '[false]' 'a symbolic link is no artifact'
[ ! -e evil/link ] && [ ! -L evil/link ]
ok $? 'and is not written to --out'

# --- approval ---

forget
say plan "$(plan '[]' javascript)"
say code "$(program 'console.log(({}).__proto__ === Object.prototype)' javascript)"
for approve in never auto ask; do
	ask --max-attempts 1 --no-judge --require ran --approve $approve 'Run it.'
	is "$code $(shape '.status, .execution')" '7 ["denied",null]' \
		"--approve $approve: what screening wants confirmed is not run without a person"
done
like "$(field .error)" 'no terminal' 'and the error says why'
forget
say plan "$(plan)"
say code "$(program 'print(1)')"
ask --max-attempts 1 --no-judge --require ran --approve never 'Run it.'
is "$code $(shape '.status')" '0 ["success"]' '--approve never: what screening allows runs'
ask --max-attempts 1 --no-judge --require ran --approve ask 'Run it.'
is "$code $(shape '.status, .execution')" '7 ["denied",null]' '--approve ask without a terminal: nobody said yes'
like "$(field .error)" 'no terminal' 'and the error says why'

# --- approved beforehand ---

forget
say plan "$(plan)"
say code "$(program 'import os
print(len(os.environ) > 0)')"
ask --max-attempts 1 --no-judge --require ran 'Run it.'
is "$code $(shape '.status')" '7 ["denied"]' 'what wants a yes is denied where nobody can say it'
like "$(field .error)" '--allow RULE.*line 2.*\[py.os.environ\]' 'and the error names the rule, and the way to approve it'
for approve in auto never; do
	ask --max-attempts 1 --no-judge --require ran --approve $approve --allow 'py.os.*' 'Run it.'
	is "$code $(shape '.status, .execution.stdout')" '0 ["success","True\n"]' \
		"--approve $approve: --allow with a pattern of its rule has said it"
done
first=$("$ASSAY" log list --json --limit 1 | jq -r '.[0].run')
run log show "$first" --json
is "$(jq -c '[.events[] | select(.stage == "approve").data | .decision, .reason]' out.txt)" \
	'["beforehand","line 2: py.os.environ"]' 'the decision is in the log'
is "$(jq -c '[.events[] | select(.stage == "screen" and .phase == "done").data.findings[] | .rule, .action, .approved]' out.txt)" \
	'["py.os.environ","confirm",true]' 'and so is the finding'
run replay "$first" --json --tier pipeline
is "$code $(shape .same)" '0 [true]' 'a replay decides the same'
ask --max-attempts 1 --no-judge --require ran --allow py.bomb --allow py.path.secret 'Run it.'
is "$code" 7 'other rules say nothing about it'
ASSAY_ALLOW='py.bomb, py.os.environ' run ask --script s.jsonl --max-attempts 1 --no-judge --require ran 'Run it.'
is "$code" 0 'ASSAY_ALLOW does the same'
echo 'allow = py.os.environ' >assay.ini
echo 'allow = py.os.environ' >config.ini
echo 'allow = py.os.environ' >.assay
ask --max-attempts 1 --no-judge --require ran 'Run it.'
is "$code" 7 'a file of the working directory does not'
run ask --config config.ini --script s.jsonl --max-attempts 1 --no-judge --require ran 'Run it.'
is "$code" 0 'a configuration file that was named does'
printf 'option = top_k=1\noption = seed=2\n' >config.ini
run config --config config.ini
like "$out" 'option += top_k=1 +; configuration' 'an option that may be repeated is shown with each of its values'
like "$out" 'option += seed=2 +; configuration' 'a line each'
run config --config config.ini --json
is "$(jq -c '.settings[] | select(.name == "option") | .values' out.txt)" '["top_k=1","seed=2"]' 'in JSON as a list'
rm assay.ini config.ini .assay
ask --allow py.os.prob 'Run it.'
is "$code" 2 'a rule that does not exist is a slip'
like "$err" 'screening rule' 'and is told'
printf '%s\n' '{"id":"a","prompt":"Run it."}' >t.jsonl
run batch t.jsonl --script s.jsonl --no-judge --require ran --allow py.os.environ --out r.jsonl
is "$code $(jq -r .status r.jsonl)" '0 success' 'in a batch, too'
rm -f t.jsonl r.jsonl
forget
say plan "$(plan)"
say code "$(program 'import socket
print(socket.gethostname())')"
ask --max-attempts 1 --no-judge --require ran --allow '*' 'Run it.'
is "$code $(shape '.status, .execution')" '7 ["denied",null]' 'what is denied stays denied, whatever is allowed'
printf 'import os\nprint(len(os.environ))\n' >x.py
run screen --json --allow py.os.environ x.py
is "$code $(shape '.verdict, .findings[0].approved')" '0 ["warn",true]' 'assay screen knows it, too'

# The expected value is the grader's: neither the coder nor the repairer is shown it.
cat >seen.sh <<'EOF'
#!/bin/sh
cat >>prompts.txt
case $ASSAY_STAGE in
plan) echo '{"needs_code":true,"language":"python","checks":[]}' ;;
code) printf '```python\nprint(1)\n```\n' ;;
repair) printf '```python\nprint(2)\n```\n' ;;
esac
EOF
chmod +x seen.sh
run ask --model-command ./seen.sh --max-attempts 2 --expect 987651234 --expect-regex '^[0-9]+$' 'a number'
is "$code" 1 "an expectation that neither program meets"
like "$err" '987651234' "the person is told what was expected"
like "$(cat prompts.txt)" 'is not what was expected' "the repairer is told that it was not met"
like "$(cat prompts.txt)" 'line 1, column 1: the output has "1"' "and where it differs"
unlike "$(cat prompts.txt)" '987651234' "and no prompt holds the expected value"
# What the plan demands is put to the coder in words.
forget
say plan "$(plan '[{"kind":"lines","arg":"2..4"},{"kind":"unique"},{"kind":"count","arg":"2:x"}]')"
say code "$(program 'print("x1\nx2")')" '{"match":"lines of the output is between 2 and 4\\n.*comes twice\\n.*in it 2 times: x\\n"}'
say judge "$(verdict pass)"
say answer 'Done.'
ask 'Which?'
is "$code $(shape .status)" '0 ["success"]' 'the requirements, in words'

done_testing
