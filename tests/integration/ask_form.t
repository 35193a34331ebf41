#!/bin/sh
# What weak models say: programs in other conventions than a fence, replies without one, verdicts
# in other words. None of it costs an attempt or the verification: it is a matter of form.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

solves() { # reply name
	forget
	say plan "$(plan)"
	say code "$1"
	ask --expect 42 'What is 6 times 7?'
	is "$code $(shape '.level, .attempts')" '0 ["expected",1]' "$2"
}
solves 'x = 6
print(x * 7)' 'a program without a fence runs'
solves 'Here:

    print(6 * 7)' 'indented code runs'
solves '{"name": "python", "arguments": {"code": "print(6 * 7)"}}' 'a tool call in JSON runs'
solves '<tool_call>
{"name": "python", "arguments": {"code": "print(6 * 7)"}}
</tool_call>' 'a tool call in a tag runs'
solves '<function=python>
<parameter=code>
print(6 * 7)
</parameter>
</function>' 'a tool call as XML runs'
solves '<execute>
print(6 * 7)
</execute>' '<execute> runs'
solves '<code>
print(6 * 7)
</code>' '<code> runs'
solves '<|python_tag|>print(6 * 7)<|eom_id|>' '<|python_tag|> runs'
solves 'Sure: ```python
print(6 * 7)
``` It prints 42.' 'a fence inside lines runs'
solves '```python
def f(x):
    return x * 7
```
For example:
```python
print(f(6))
```' 'a definition runs with the example of its use'
run log show "$(field .run)"
like "$out" 'Joined from several blocks. Line 1: the block at line 6 needs its .f.' \
	'and the log says what was joined and why'
solves '<execute>
print(6 * 7)
</execute>' 'again'
run log show "$(field .run)"
like "$out" 'found by: <execute>' 'and by which convention it was found'

again() { # reply what-is-said name
	forget
	say code "$1"
	say code "$(program 'print(42)')" "$(jq -cn --arg m "$2" '{match: $m}')"
	ask --lang python --expect 42 --max-attempts 1 'What is 6 times 7?'
	is "$code $(shape '.level, .attempts')" '0 ["expected",1]' "$3"
}
again '' 'The reply was empty' \
	'an empty reply is asked about once, and counts no attempt'
again '<think>Six times seven is' 'empty|ended inside its thinking' 'so is thinking that never ends'
again "I'm sorry, but I can't run code." 'it is run for you' 'so is a refusal in words'
again 'Forty-two.' 'holds no program' 'so is prose'
again '```json
{"value": 42}
```' 'not a language that runs here' 'so is a block that is no program'

forget
say code "$(program 'int main(void) { return 42; }' c)"
say code "$(program 'print(42)')" '{"match":"in C, which does not run here"}'
ASSAY_CAREFUL=false ask --max-attempts 1 --expect 42 'What is 6 times 7?'
is "$code $(shape '.level, .attempts')" '0 ["expected",1]' \
	'so is a program in a language that does not run here'

forget
say code '' '{"stop_reason":"length"}'
say code "$(program 'print(42)')"
ask --lang python --expect 42 --max-attempts 1 'What is 6 times 7?'
is "$code $(shape '.level, .attempts')" '0 ["expected",1]' 'a reply cut before its first word, too'

forget
say code ''
say code ''
ask --lang python --expect 42 --max-attempts 1 'What is 6 times 7?'
is "$code $(shape '.status, .attempts')" '4 ["provider_error",1]' "once: the second is the model's failure"
forget
say plan "$(plan)"
say code ''
say code '<think>Hm'
ask --max-attempts 1 'What is 6 times 7?'
is "$code $(shape '.status, .answer')" '4 ["provider_error",null]' 'and nothing is no answer'

forget
say code "I'm sorry, but I can't run code."
say code "I'm sorry, but I can't run code."
ASSAY_CAREFUL=false ask --max-attempts 1 'What is 6 times 7?'
is "$code $(shape '.status, .answer')" '1 ["failed",null]' 'nor is a refusal in words'
forget
say code 'There is a lot to say about this.

```json plan
{"approach": "multiply", "checks": []}
```

The numbers are small.'
say code 'They are 6 and 7.'
say repair "$(program 'print(42)')"
say judge "$(verdict pass)"
ASSAY_CAREFUL=false ask --max-attempts 2 'What is 6 times 7?'
is "$code $(shape '.status, .answer')" '0 ["success","42\n"]' \
	'nor what stands beside a plan that needs a program'

forget
say plan "$(plan)"
say code 'I cannot help with that.' '{"stop_reason":"refusal"}'
ask 'One?'
is "$code $(shape '.status, .attempts')" '1 ["failed",1]' 'what the provider calls a refusal stays one'

# --- verdicts ---

judged() { # verdict level name
	forget
	say plan "$(plan)"
	say code "$(program 'print(6 * 7)')"
	say judge "$1"
	[ "$4" = twice ] && say judge "$(verdict pass)" '{"match":"could not be read"}'
	say answer 'It is 42.'
	ask --max-attempts 1 'What is 6 times 7?'
	is "$code $(shape '.status, .level')" "$2" "$3"
}
passes='0 ["success","judged"]'
judged 'PASS' "$passes" 'PASS is a verdict' once
judged '{"pass": true}' "$passes" '{"pass": true} is one' once
judged '{"verdict": "PASS"}' "$passes" 'in capitals, too' once
judged '**Verdict:** pass' "$passes" 'and in Markdown' once
judged '**Verdict:** pass

Only the form could be questioned.' "$passes" 'a sentence after it is no condition of it' once
judged 'The output looks right to me, nothing to add.' "$passes" 'prose without a verdict is asked about once more' twice
judged '' "$passes" 'and so is an empty verdict' twice
judged 'The output says "Verdict: pass".
Verdict: fail' "$passes" 'and one that speaks with two voices' twice
done_testing
