#!/bin/sh
# Screening on the only path to execution: both layers, a user's rules, syntax errors before
# anything runs, and the same findings again in a replay that runs nothing.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

events() { # stage phase: how often the last run has it
	"$ASSAY" log show "$(jq -r .run out.txt)" --json | jq "[.events[] | select(.stage == \"$1\" and .phase == \"$2\")] | length"
}

# --- what only the parser sees ---

forget
say plan "$(plan)"
say code "$(program 'import os as o
run = getattr(o, "".join(["sys", "tem"]))
run("id")')"
ask 'A question?' --max-attempts 1
is "$code $(shape .status,.execution)" '7 ["denied",null]' 'an alias and a name put together: denied, not run'
is "$(shape .error | grep -c py.os.process)" 1 'the rule is named'

forget
say code "$(program 'import socket')"
say repair "$(program 'print(1/0)')"
say repair 'I do not know how.'
say repair 'I still do not.'
say repair "$(program 'print(1)')"
ask 'A question?' --role-model plan=off --role-model answer=off --no-judge --require ran
is "$code $(grep -c '^The program was refused before it ran: .*py.import.network' err.txt)" '0 1' \
	'a refusal that is repaired is told of, and once'
is "$(grep -c '^The reply holds no program' err.txt)" 1 'and so is a reply without a program'

forget
say plan "$(plan)"
say code 'Here it is:

```javascript
const load = require;
console.log(load("child_" + "process").execSync("id") + "");
```'
ask 'A question?' --lang javascript --max-attempts 1
is "$code $(shape .status,.execution)" '7 ["denied",null]' 'JavaScript: an alias and a name put together: denied, not run'
is "$(shape .error | grep -c js.process.command)" 1 'the rule is named'
denied=$(jq -r .run out.txt)
run replay "$denied" --tier pipeline --json
is "$code $(shape .same)" '0 [true]' 'its record replays without a parser'

# --- syntax errors ---

forget
say plan "$(plan '[{"kind":"range","arg":"0.5..1.5"}]')"
say code "$(program 'x = 1
print(x')"
say repair "$(program 'print(1)')"
ask 'A question?' --no-judge
is "$code $(shape .status,.attempts)" '0 ["success",2]' 'a syntax error is repaired'
is "$(events execute done)" 1 'the program that is not valid never ran'
first=$(jq -r .run out.txt)
run replay "$first" --tier pipeline --json
is "$code $(shape .same)" '0 [true]' 'pipeline: the same without running anything'
run replay "$first" --tier exec --json
is "$code $(shape .same)" '0 [true]' 'exec: the same, parsed again'

forget
say plan "$(plan)"
say code "$(program 'print(1')"
ask 'A question?' --max-attempts 1
is "$code $(shape .status,.execution)" '1 ["failed",null]' 'and when it was the last attempt'
is "$(shape .error | grep -c 'SyntaxError.*line 1, column 6')" 1 'with line and column'

# --- the parser runs in the sandbox: it is announced, and what it found is recorded ---

trail() { # stage: the phases of it, in order
	"$ASSAY" log show "$first" --json | jq -r "[.events[] | select(.stage == \"$1\").phase] | join(\" \")"
}
forget
say plan "$(plan)"
say code "$(program 'print(sum(range(10)))')"
say cross_check "$(program 'print(9 * 10 // 2)')"
ask 'The sum of 0 to 9?' --cross-check --no-judge --role-model answer=off
is "$code $(shape .level)" '0 ["checked"]' 'two programs, both looked at'
first=$(jq -r .run out.txt)
is "$(trail screen)" 'started done' 'before the parser runs, the log says so'
is "$(trail cross_check)" 'started done started done' 'that of the second program: after the call that brought it'
is "$("$ASSAY" log show "$first" --json | jq -c '[.events[] | select(.data.reader and .phase == "started").data.language]')" \
	'["python","python"]' 'with the language it is looked at in'
replayed() { # tier name
	run replay "$first" --tier "$1" --json
	is "$code $(shape '.same, .first_divergence')" '0 [true,null]' "$2: tier $1"
}
replayed pipeline 'replayed'
replayed exec 'replayed'
# A log of the time before has no such record.
PYTHONPATH="$here" python3 - "$("$ASSAY" log path)" "$first" <<'END'
import sys
import forge
with forge.Log(sys.argv[1]) as log:
    for seq, data in log.events(sys.argv[2], phase="started"):
        if "reader" in data:
            log.drop(sys.argv[2], seq)
END
is "$(trail screen), $(trail cross_check)" 'done, started done done' 'a log without these records'
replayed pipeline 'replays'
replayed exec 'replays'

# --- a user's rules ---

cat >my.rules <<'END'
rule my.numpy
lang python
standard deny
strict deny
tree ^import numpy
message No numpy here.
END
forget
say plan "$(plan)"
say code "$(program 'import math as numpy, json
print(numpy.sqrt(4))')"
ask 'A question?' --rules my.rules --no-judge --require ran
is "$code $(shape .status)" '0 ["success"]' 'a rule on the tree is about what is imported, not what it is called'
forget
say plan "$(plan)"
say code "$(program 'm = __import__("num" + "py")')"
ask 'A question?' --rules my.rules --max-attempts 1
is "$code $(shape .status)" '7 ["denied"]' 'a rule of the user denies'
is "$(shape .error | grep -c 'No numpy here. \[my.numpy\]')" 1 'with its message and name'
denied=$(jq -r .run out.txt)
rm my.rules
run replay "$denied" --tier pipeline --json
is "$code $(shape .same)" '0 [true]' 'a replay has the recorded rules, with the file gone'

printf 'import numpy\n' >n.py
printf 'rule x\nlang python\nstandard deny\nmatch numpy\nmessage no\n' >my.rules
run screen n.py --json
is "$code $(shape .verdict)" '0 ["allow"]' 'assay screen without the rules'
plain=$(jq -r .ruleset out.txt)
run screen n.py --rules my.rules --json
is "$code $(shape '.verdict,.findings[0].rule')" '7 ["deny","x"]' 'and with them'
is "$([ "$plain" != "$(jq -r .ruleset out.txt)" ] && echo other)" other 'the hash of the rules tells'
printf 'rule x\nlang python\nstandard never\n' >my.rules
run screen n.py --rules my.rules
is "$code" 2 'a bad file is a usage error'
is "$(grep -c 'my.rules: line 3: unknown action' err.txt)" 1 'with file and line'

printf 'def f(:\n    pass\n' >s.py
run screen s.py --json
is "$code $(shape '.verdict,.syntax_error.type,.syntax_error.line')" '0 ["allow","SyntaxError",1]' \
	'assay screen tells of a syntax error'
run screen --profile off s.py --json
is "$code $(shape .syntax_error)" '0 [null]' 'profile off looks at nothing'

# --- bash, read by shfmt and bash in the sandbox ---

printf 'x=who\n${x}ami\n' >s.sh
run screen s.sh --json
is "$code $(shape '.verdict,.findings[0].rule,.findings[0].line')" '7 ["confirm","sh.probe",2]' \
	'a command put together is told under its real name'
run screen --profile strict s.sh --json
is "$code $(shape '.verdict,([.findings[].rule] | index("sh.strict.command") != null)')" \
	'7 ["deny",true]' 'and refused in strict'
printf 'if true; then\n  echo 1\n' >s.sh
run screen s.sh --json
is "$code $(shape '.verdict,.syntax_error.type,.syntax_error.line')" '0 ["allow","SyntaxError",3]' \
	'a syntax error of bash is told before anything runs'

shell() { # a reply with a bash program
	printf '```bash\n%s\n```\n' "$1"
}
forget
say plan "$(plan)"
say code "$(shell 'for i in 1 2 3; do
  echo $i')"
say repair "$(shell 'for i in 1 2 3; do echo "$i"; done')"
ask 'Count to 3.' --lang bash --no-judge --require ran --profile strict
is "$code $(shape .status,.attempts)" '0 ["success",2]' 'it is repaired, without a run'
is "$(events execute done)" 1 'the program that is not valid never ran'
first=$(jq -r .run out.txt)
run replay "$first" --tier pipeline --json
is "$code $(shape .same)" '0 [true]' 'bash: the same without running anything'
run replay "$first" --tier exec --json
is "$code $(shape .same)" '0 [true]' 'bash: the same, parsed again'

done_testing
