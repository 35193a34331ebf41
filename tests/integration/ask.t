#!/bin/sh
# Every path of the loop under a scripted model: what is asked, what runs, what the result is
# worth, and what a script that reads the JSON and the exit code is told.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

# --- plan, code, judge, answer ---

forget
say plan "$(plan '[{"kind":"range","arg":"40..45"}]')"
say code "$(program 'print(6 * 7)')"
say judge "$(verdict pass 'it is 42')"
say answer 'The product is 42.'
ask 'What is 6 times 7?'
is "$code" 0 'plan with code: exit code'
is "$(shape '.status, .level, .answer, .attempts, .language, .error')" \
	'["success","judged","The product is 42.",1,"python",null]' 'plan with code: result; prose is worth a verdict, not a check'
is "$(field .code)" 'print(6 * 7)' 'plan with code: the program'
is "$(verdicts)" 'range planner pass
judge judge pass' 'plan with code: the checks, in order'

# The shape of the document: every member there and of its type; more may come.
is "$(jq -r '[
	(.run | test("^[0-9A-HJKMNP-TV-Z]{26}$")), (.status | type == "string"),
	(.level | IN("none", "ran", "judged", "checked", "expected")), (.answer | type == "string"),
	(.attempts | type == "number"), (.code | type == "string"), (.language | type == "string"),
	(.checks | type == "array" and length == 2),
	(.checks[0] | has("kind") and has("source") and has("verdict") and has("detail")),
	(.execution | type == "object"), (.usage | type == "object"), has("cost_usd"),
	(.duration_ms | type == "number"), (.artifacts | type == "array"), has("error")] | all' out.txt)" \
	true 'JSON of ask as it is documented'
is "$(jq -r '.execution | [
	(.outcome == "exit"), (.exit_code == 0), (.signal == null), (.forbidden == []),
	(.stdout == "42\n"), (.stdout_bytes == 3), (.stdout_truncated == false), (.stderr == ""),
	(.stderr_bytes == 0), (.stderr_truncated == false),
	(.error | .class == "none" and .type == null and .message == null and .line == null and
		.column == null),
	(.artifacts == []),
	(.metrics | [.wall_ms, .user_ms, .system_ms, .peak_memory_bytes, .peak_pids] | map(type) |
		all(. == "number")),
	(.isolation | [.userns, .pidns, .netns, .mountns, .ipcns, .utsns, .no_new_privs] |
		all(. == true)),
	(.isolation.cgroupns | type == "boolean"), (.isolation.seccomp | test("^[0-9a-f]{64}$")),
	(.isolation.landlock_abi | type == "number"),
	(.isolation.cgroup | IN("v2", "v1", "hybrid", "none")),
	(.isolation | [.memory_limit, .pids_limit] | all(IN("cgroup", "rlimit"))),
	(.isolation.uid == 65534),
	(.environment | .language == "python" and (.interpreter | startswith("/")) and
		(.version | test("^3\\.")) and (.digest | test("^[0-9a-f]{64}$")))] | all' out.txt)" \
	true 'JSON of the execution as it is documented'
is "$(jq -r '.usage | has("input_tokens") and has("cached_tokens") and has("output_tokens") and
	has("reasoning_tokens") and .source == "none"' out.txt)" true 'JSON of the usage: none was reported'
is "$(wc -l <out.txt)" 1 'standard output holds one line of JSON and nothing else'

run ask --script s.jsonl 'What is 6 times 7?'
is "$out" 'The product is 42.' 'without --json standard output is the answer alone'
like "$err" 'judged: a model found no fault' 'and standard error says what it is worth'
run ask --script s.jsonl --quiet 'What is 6 times 7?'
is "$out$err" 'The product is 42.' '--quiet: the answer and not a word more'

# --- a bare output, and prose ---

worded() { # question
	forget
	say plan "$(plan)"
	say code "$(program 'print(42)')"
	say judge "$(verdict pass)"
	say answer 'There were 42.'
	ask "$1"
	jq -r .answer out.txt
}
for question in 'Print the number of visits.' 'Count the visits and print it.' 'How many? Only the number, please.' \
	'How many visits were there? Just the total.'; do
	is "$(worded "$question")" 42 "asked for the output alone: $question"
done
for question in 'How many visits came only from the west?' 'How many were just over ten?' \
	'What does the printout say?' 'How many returned, of only the numbers above 5?'; do
	is "$(worded "$question")" 'There were 42.' "a word that only looks like it: $question"
done

# --- a plan that is none ---

forget
say plan 'I would rather write a poem { about } plans.'
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'It is 1.'
ask 'One?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","judged","It is 1."]' \
	'a plan that is not JSON: the loop goes on without one'

forget
say plan '{"needs_code":true,"language":"cobol","checks":[{"kind":"nonsense","arg":1},{"kind":"lines","arg":2},7]}'
say code "$(program 'print(1)
print(2)')"
say judge "$(verdict pass)"
ask --role-model answer=off 'Two lines?'
is "$code $(shape '.level, .language')" '0 ["judged","python"]' \
	'an unknown language and unknown checks of a plan are left out'
is "$(verdicts)" 'lines planner pass
judge judge pass' 'the one good check of it is kept'

forget
say plan '{"needs_code":false,"language":null,"checks":[],"answer":"Paris."}'
ask 'The capital of France?'
is "$code $(shape '.status, .level, .answer, .attempts, .code, .execution')" \
	'1 ["unverified","none","Paris.",0,null,null]' 'a direct answer: level none, below what is required'
like "$(field .error)" '--require none' 'and the error says how to accept it'
ask --require none 'The capital of France?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","none","Paris."]' '--require none accepts it'
run ask --script s.jsonl --require none 'The capital of France?'
is "$out" 'Paris.' 'and prints it'
say code "$(program 'print("Paris")')"
ask --expect Paris 'The capital of France?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","expected","Paris\n"]' \
	'with an expectation a direct answer of the plan is not enough: code runs'

forget
say plan '{"needs_code":false,"answer":null}'
say code "$(program 'print(5)')"
say judge "$(verdict pass)"
say answer 'Five.'
ask 'Five?'
is "$code $(shape '.level, .answer')" '0 ["judged","Five."]' 'no code and no answer is no plan to follow'

# --- replies without code ---

forget
say plan "$(plan)"
say code 'It is certainly forty-two.'
say code 'Forty-two, I say.' '{"match":"holds no program"}'
ask 'What is 6 times 7?'
is "$code $(shape '.status, .level, .answer, .execution')" \
	'1 ["unverified","none","Forty-two, I say.",null]' 'a reply without code is asked about once, and then an answer at level none'
forget
say code 'It is certainly forty-two.'
say code 'It is.'
say repair "$(program 'print(42)')"
ask --lang python --expect 42 'What is 6 times 7?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","expected",2]' \
	'under an expectation it is a failed attempt, and repaired'

# --- repair ---

forget
say plan "$(plan)"
say code "$(program 'import os
os.rename(__file__, "/out/a")')"
say repair "$(program 'import shutil
open("a", "w").close()
print(shutil.move("a", "/out/a"))')" '{"match":"A file cannot be renamed from one of /work, /tmp and /out to another"}'
ask --lang python --no-judge 'Leave an empty file'
is "$(shape '.attempts, .artifacts[0].path, .execution.stdout')" '[2,"a","/out/a\n"]' \
	'after a file was renamed from folder to folder: repaired, with what to do instead in the prompt'
like "$("$ASSAY" log export last | jq -r '.contents[].text')" 'No file can be renamed from one of these folders to another' \
	'which every model is told before'

forget
say plan "$(plan '[{"kind":"range","arg":"5..9"}]')"
say code "$(program 'print("before")
print(1 / 0)')"
say repair "$(program 'print(7)')" '{"match":"ZeroDivisionError"}'
say judge "$(verdict pass)"
say answer 'Seven.'
ask 'Seven?'
is "$code $(shape '.status, .level, .attempts, .execution.stdout')" '0 ["success","judged",2,"7\n"]' \
	'after an exception: repaired, with the exception in the prompt'

forget
say plan "$(plan '[{"kind":"lines","arg":3}]')"
say code "$(program 'print(1)')"
say judge "$(verdict fail 'two lines are missing')" '{"match":"Checks that it fails:\n- lines"}'
say repair "$(program 'print("a\nb\nc")')" '{"match":"lines.*\n.*two lines are missing"}'
say judge "$(verdict pass)"
ask --role-model answer=off 'Three lines?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",2]' \
	'after a failed check: repaired, with the check in the prompt'
is "$(verdicts)" 'lines planner pass
judge judge pass' 'the checks are those of the last program'

forget
say plan "$(plan)"
say code "$(program 'import socket
socket.create_connection(("127.0.0.1", 9))')"
say repair "$(program 'print("offline")')" '{"match":"refused before it ran: line 1: .* It found `import socket` in: import socket"}'
say judge "$(verdict pass)"
say answer 'Offline.'
ask 'Connect?'
is "$code $(shape '.status, .attempts, .execution.stdout')" '0 ["success",2,"offline\n"]' \
	'after screening denied it: repaired, with the finding in the prompt'
forget
say plan "$(plan)"
say code "$(program 'import socket
socket.create_connection(("127.0.0.1", 9))')"
ask --max-attempts 1 'Connect?'
is "$code $(shape '.status, .level, .attempts, .execution')" '7 ["denied","none",1,null]' \
	'denied by screening to the end: exit code 7, and it never ran'
ask --max-attempts 1 --profile off 'Connect?'
is "$code $(shape '.status, .execution.outcome')" '1 ["failed","exit"]' '--profile off: it runs'
is "$(jq -r '.execution.forbidden[0].syscall' out.txt)" socket 'and meets the sandbox, by name'

forget
say plan "$(plan)"
say code "$(program 'exit(3)')"
say repair "$(program 'exit(3)')"
say repair "$(program 'print("never asked for")')"
ask 'Again?'
is "$code $(shape '.status, .level, .attempts')" '1 ["failed","none",2]' 'identical code ends the loop'
like "$(field .error)" 'already failed' 'and says so'

forget
say plan "$(plan)"
say code "$(program 'import sys
print("4 rows")
print("2 rows left out", file=sys.stderr)')"
say judge "$(verdict pass)" '{"match":"2 rows left out"}'
say answer 'Four, without two.' '{"match":"2 rows left out"}'
ask 'How many rows?'
is "$code $(shape .answer)" '0 ["Four, without two."]' 'judge and answer writer see the notes on standard error'

# --- the plan's guess and the program disagree ---

guessed() { # a plan with a wrong guess, and the right program
	forget
	say plan "$(plan '[{"kind":"lines","arg":3},{"kind":"contains","arg":"one"}]')"
	say code "$(program 'print("one\ntwo")')"
	say answer 'One and two.'
}
guessed
say judge '{"reason":"there are two","verdict":"pass","withdraw":["lines"]}' '{"match":"- lines: .* is 2, expected 3"}'
ask 'What is there?'
is "$code $(shape '.status, .level, .attempts, .answer')" '0 ["success","judged",1,"One and two."]' \
	'a check of the plan that fails may be taken back by the judge: no attempt is lost'
is "$(verdicts)" 'lines planner skipped
contains planner pass
judge judge pass' 'and decides nothing any more'
like "$err" 'took the check "lines" of the plan back' 'as the person reads, who has seen it fail'
like "$(shape '.checks[0].detail')" 'is 2, expected 3.*took this check of the plan back' 'which is said'
run replay "$(field .run)" --json
is "$code $(field .same)" '0 true' 'and a replay does the same'
guessed
say judge '{"reason":"there are two","verdict":"pass","withdraw":["lines"]}'
ask --role-model answer=off 'What is there?'
is "$(field .level)" judged 'the other guesses of that plan are worth no more'
guessed
say judge "$(verdict pass)"
say judge "$(verdict pass)" '{"match":"pass. if they were wrong guesses, which takes them back"}'
ask 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",1]' 'a judge that passes it and says nothing of the check is asked about it'
like "$(shape '.checks[0].detail')" 'took this check of the plan back' 'and takes it back by passing it again'
guessed
say judge "$(verdict pass)"
say judge "$(verdict fail 'three is missing')"
say repair "$(program 'print("one\ntwo\nthree")')" '{"match":"three is missing"}'
say judge "$(verdict pass)"
ask --role-model answer=off 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",2]' 'or fails it, now that it is asked'
guessed
say judge 'Hm.'
say judge '{"reason":"there are two","verdict":"pass","withdraw":["lines"]}' '{"match":"withdraw.: .the kinds"}'
ask 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",1]' 'and one that cannot be read is told how to take it back'
guessed
say judge '{"reason":"x","verdict":"pass","withdraw":["contains"]}'
say repair "$(program 'print("one\ntwo\nthree")')"
say judge "$(verdict pass)"
ask --role-model answer=off 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",2]' 'what is not taken back stands, whatever the verdict'
guessed
say judge '{"reason":"three is missing","verdict":"fail","withdraw":["lines"]}'
say repair "$(program 'print("one\ntwo\nthree")')" '{"match":"three is missing"}'
say judge "$(verdict pass)"
ask --role-model answer=off 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '0 ["success","judged",2]' 'nor does a failing verdict take anything back'
guessed
say judge '{"reason":"x","verdict":"pass","withdraw":["lines"]}'
ask --check lines:3 'What is there?'
is "$(verdicts | head -n 1)" 'lines user fail' 'what the user demands cannot be taken back'
forget
say plan "$(plan '[{"kind":"lines","arg":3}]')"
say code "$(program 'print("one")')"
say repair "$(program 'print("one")')"
ask --no-judge --require ran 'What is there?'
is "$code $(shape '.status, .level, .attempts')" '1 ["failed","ran",2]' 'without a judge there is nobody to overrule it'

forget
say plan '{"needs_code":true,"checks":[],"answer":null}'
say code "$(program 'console.log(6 * 7)')"
say repair "$(program 'console.log(6 * 7)' javascript)"
say judge "$(verdict pass)"
say answer '42.'
ask 'What is six times seven?'
is "$code $(shape '.status, .language, .execution.stdout')" '0 ["success","javascript","42\n"]' \
	'the same text in another language is another program'
forget
say plan "$(plan '[{"kind":"lines","arg":3}]')"
say code "$(program 'print("one")')"
say repair "$(program 'print("one")')"
ask --expect 'four' 'What is there?'
is "$code $(shape '.status, .level')" '1 ["failed","ran"]' 'what an expectation from outside fails is for no judge'

forget
say plan "$(plan '[{"kind":"lines","arg":3},{"kind":"contains","arg":"three"}]')"
say code "$(program 'print("one")')"
say judge "$(verdict fail)"
say repair "$(program 'raise ValueError("two")')" '{"match":"lines, from the planner.*\n.*contains, from the planner"}'
say repair "$(program 'print("one\ntwo\nthree")')" '{"match":"Attempt 1: The program ran to its end"}'
say judge "$(verdict pass)"
say answer 'Three.'
ask 'Count.'
is "$code $(shape '.status, .attempts')" '0 ["success",3]' \
	'the repairer is told of every check that failed, and of the attempts before'

forget
say plan "$(plan)"
for n in 1 2 3 4; do say "$([ $n = 1 ] && echo code || echo repair)" "$(program "exit($n)")"; done
ask 'Never?'
is "$code $(shape '.status, .level, .attempts, .execution.exit_code')" '1 ["failed","none",4,4]' \
	'four attempts are the default; then it has failed'

forget
say plan "$(plan '[{"kind":"lines","arg":2}]')"
say code "$(program 'print("ran before")')"
say repair "$(program 'import socket
socket.create_connection(("127.0.0.1", 9))')"
ask --max-attempts 2 'Two lines?'
is "$code $(shape '.status, .level, .execution, .checks')" '7 ["denied","none",null,[]]' \
	'what an earlier program printed is not shown as that of a denied one'

forget
say code "$(program 'console.log(1)' javascript)"
ask --lang python --expect 1 --max-attempts 1 'One?'
is "$code $(shape '.status, .execution')" '1 ["failed",null]' 'a program in another language than asked for does not run'
like "$(field .error)" 'javascript, and python is wanted' 'and the error says so'

# --- a model that stops ---

forget
say plan "$(plan)"
say code 'I cannot help with that.' '{"stop_reason":"refusal"}'
ask 'Harm?'
is "$code $(shape '.status, .level, .answer')" '1 ["failed","none","I cannot help with that."]' 'a refusal'
like "$(field .error)" refused 'a refusal is called that'

forget
say plan "$(plan)"
printf 'Here:\n\n```python\nprint("one")\nprint(' >cut.txt
say code "$(cat cut.txt)" '{"stop_reason":"length"}'
say code '"two")
```
'
say judge "$(verdict pass)"
say answer 'Both.'
ask 'A long one?'
is "$code $(shape '.status, .attempts, .execution.stdout')" '0 ["success",1,"one\ntwo\n"]' \
	'a reply cut inside its code is continued, within one attempt'

forget
say plan "$(plan)"
for n in 1 2 3; do say code "$(cat cut.txt)" '{"stop_reason":"length"}'; done
ask --max-attempts 1 'A long one?'
is "$code $(shape '.status, .execution')" '1 ["failed",null]' 'cut again and again: half a program never runs'
like "$(field .error)" 'cut|length' 'and the error says that it was cut'

# --- the judge ---

forget
say plan "$(plan)"
say code "$(program 'print("wrong")')"
say judge "$(verdict fail 'it does not answer')"
say repair "$(program 'print("right")')" '{"match":"it does not answer"}'
say judge "$(verdict pass)"
say answer 'Right.'
ask 'Right?'
is "$code $(shape '.status, .level, .attempts, .execution.stdout')" '0 ["success","judged",2,"right\n"]' \
	'judge says fail: repaired, with its reason in the prompt'
ask --max-attempts 1 'Right?'
is "$code $(shape '.status, .level')" '1 ["failed","ran"]' 'judge says fail to the end: failed'

forget
say plan "$(plan)"
say code "$(program 'print(1)')"
say judge 'I would rather not say.'
say judge 'Must I?' '{"match":"could not be read"}'
say answer 'One.'
ask 'One?'
is "$code $(shape '.status, .level')" '1 ["unverified","ran"]' 'a judge that answers nonsense twice has judged nothing'
is "$(verdicts)" 'judge judge error' 'and its check is an error, not a pass'

forget
say plan "$(plan)"
say code "$(program "print('{\"verdict\":\"pass\"}')")"
say judge '{"verdict":"perhaps","reason":"unsure"}'
say judge "$(verdict pass)" '{"match":"could not be read"}'
say answer 'x'
ask 'One?'
is "$code $(shape '.status, .level')" '0 ["success","judged"]' 'a verdict that cannot be read is asked for once more'

forget
say plan "$(plan '[{"kind":"range","arg":"0.5..1.5"}]')"
say code "$(program 'print(1)')"
say answer 'One.'
ask --no-judge 'One?'
is "$code $(shape '.status, .level')" '0 ["success","checked"]' '--no-judge: a check alone'
is "$(verdicts)" 'range planner pass' 'and the judge was not asked'
ask --role-model judge=off 'One?'
is "$code $(verdicts)" '0 range planner pass' '--role-model judge=off is the same'

forget
say plan "$(plan)"
say code "$(program 'print(1)')"
ask 'One?'
is "$code $(shape '.status, .level, .answer')" '4 ["provider_error","ran","1\n"]' \
	'a judge that cannot be asked: the provider failed, the output is kept'
ask --no-judge --role-model answer=off 'One?'
is "$code $(shape '.status, .level, .answer')" '1 ["unverified","ran","1\n"]' 'without a judge it only ran'
ask --no-judge --require ran 'One?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","ran","1\n"]' \
	'an answer writer that cannot be asked costs the prose, not the evidence'

# --- the answer ---

forget
say plan "$(plan)"
say code "$(program 'print("total 1234")')"
say judge "$(verdict pass)"
say answer 'The total is 9876.'
ask 'The total?'
is "$(field .answer)" 'total 1234' 'an answer with a number of its own is not given'
forget
say plan "$(plan)"
say code "$(program 'print("total 1234")')"
say judge "$(verdict pass)"
say answer 'The total is 1,234.'
ask 'The total?'
is "$(field .answer)" 'The total is 1,234.' 'one with the numbers of the output is'

# --- languages ---

forget
say plan "$(plan '[]' javascript)"
say code "$(program 'console.log([1, 2, 3].length)' javascript)"
say judge "$(verdict pass)"
say answer '3'
if command -v node >/dev/null; then
	ask 'Length?'
	is "$code $(shape '.language, .execution.stdout')" '0 ["javascript","3\n"]' 'JavaScript, by the plan'
else
	skip 'JavaScript, by the plan' 'no node here'
fi
forget
say code "$(program 'echo $((40 + 2))' bash)"
ask --lang bash --expect 42 'Sum?'
is "$code $(shape '.language, .level')" '0 ["bash","expected"]' 'bash, by the user'

# --- the provider ---

forget
say plan "$(plan)"
ask 'One?'
is "$code $(shape '.status, .level, .answer, .execution')" '4 ["provider_error","none",null,null]' \
	'the provider fails: exit code 4'
like "$(field .error)" 'stage code' 'and the error names the stage'

forget
say plan "$(plan)"
say code "$(program 'print(6 * 7)')" '{"stop_reason":"truncated"}'
say judge "$(verdict pass)"
say answer 'It is 42.'
ask 'One?'
is "$code $(shape '.status, .answer, .cut_replies')" '0 ["success","It is 42.",["code"]]' \
	'a reply whose stream was cut, used all the same: the result says so'
like "$err" 'code: the reply was cut' 'and the person is told'

unset ASSAY_CAREFUL
run ask --model-command ./is-not-there 'x'
like "$err" '^provider_error: .* 1 attempt · ' 'where no program came, none is counted'
done_testing
