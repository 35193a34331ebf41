#!/bin/sh
# assay replay --from: a recorded run goes on live from one of its stages, or from its end.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

fork() {
	run replay --json "$@" --script s.jsonl
	fork=$(field .replay)
}
exported() { # jq filter of the fork's record
	"$ASSAY" log export "$fork" | jq -c "$1"
}

forget
say plan "$(plan)"
say code "$(program 'import time
print(time.time())')"
say judge "$(verdict pass)"
ask --role-model answer=off 'What time is it?'
first=$(field .run)
printed=$(field .answer)

# What came before the fork is as it is recorded, not run again.
forget
say judge "$(verdict pass 'well')"
fork "$first" --from judge
is "$code $(exported ".answer | rtrimstr(\"\\n\")")" "0 \"$printed\"" 'what came before the fork is played back'
is "$(exported .config.from)" '"judge"' 'the record says where it began'

# --- a program of one's own ---

printf 'print(11)\n' >own.py
forget
say judge "$(verdict pass)" '{"usage":{"input_tokens":50,"output_tokens":5}}'
fork "$first" --from code --code own.py
is "$code $(exported '[.answer, .status, .attempts]')" '0 ["11\n","success",1]' '--code: the program of a file instead of the model'"'"'s'
is "$(exported '[.input_tokens, .output_tokens]')" '[50,5]' 'only the judge was asked'
run replay "$fork" --json
is "$code $(field .same)" '0 true' 'and the fork can be replayed'
run replay "$first" --code own.py
is "$code" 2 '--code without --from is an error'
like "$err" '--from code' 'that says what it needs'
fork "$first" --from code --code gone.py
is "$code" 2 'so is a file that is not there'

# --- a run that ended for its budget goes on ---

forget
say plan "$(plan)"
say code "$(program 'print(1 / 0)')"
ask --max-attempts 1 --role-model answer=off 'Divide?'
is "$code $(field .status)" '1 failed' 'a run that had one attempt'
first=$(field .run)
forget
say repair "$(program 'print(3)')"
say judge "$(verdict pass)"
fork "$first" --from end --max-attempts 3
is "$code $(exported '[.answer, .status, .attempts]')" '0 ["3\n","success",2]' 'goes on from its end with more'
is "$(exported '[.events[] | select(.stage == "code" and .phase == "done")] | length')" 1 'with what it had before'
run replay "$first" --max-attempts 3
is "$code" 2 'without --from the budget is the recorded one'
forget
say plan "$(plan)"
say code "$(program 'print(4)')"
say judge "$(verdict pass)"
ask --max-calls 2 --role-model answer=off 'Four?'
is "$code $(field .status)" '3 budget' 'a run that had two calls'
first=$(field .run)
forget
say judge "$(verdict pass)"
fork "$first" --from end
is "$code" 2 'from its end with nothing raised it would end there again'
like "$err" "$first has ended \(budget\).*--max-calls" 'which is said, and what it needs'
fork "$first" --from end --max-calls 2
is "$code" 2 'what is no more is not raised'
fork "$first" --from end --max-calls 5
is "$code $(exported '[.answer, .status]')" '0 ["4\n","success"]' 'goes on with more of them'

done_testing
