#!/bin/sh
# Every budget of a question ends it with its own status and exit code, and none is overdrawn.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

ms() {
	echo $(($(date +%s%N) / 1000000))
}
# Asks and measures: $took in ms.
timed() {
	begun=$(ms)
	ask "$@"
	took=$(($(ms) - begun))
}
failing() { # a script of programs that all fail, each another
	forget
	say plan "$(plan)"
	say code "$(program 'exit(1)')"
	for n in 2 3 4 5 6; do say repair "$(program "exit($n)")"; done
}

# --- attempts ---

failing
for n in 1 2 5; do
	ask --max-attempts $n 'x'
	is "$code $(shape '.status, .attempts, .execution.exit_code')" "1 [\"failed\",$n,$n]" "--max-attempts $n"
done

# --- calls ---

failing
ask --max-calls 3 'x'
is "$code $(shape '.status, .execution.exit_code')" '3 ["budget",2]' '--max-calls 3: a plan, a program, one repair'
like "$(field .error)" 'max-calls' 'the error names the flag'
ask --max-calls 1 'x'
is "$code $(shape '.status, .execution, .attempts')" '3 ["budget",null,1]' '--max-calls 1: nothing to run'
forget
say plan "$(plan '[{"kind":"range","arg":"0.5..1.5"}]')"
say code "$(program 'print(1)')"
say judge "$(verdict pass)"
say answer 'One.'
ask --max-calls 2 --require checked 'One?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","checked","1\n"]' \
	'what was verified before the calls ran out stays verified'

# --- tokens ---

failing
ask --max-tokens 100 'x'
is "$code $(shape '.status, .attempts')" '3 ["budget",0]' '--max-tokens too small for one call'
like "$(field .error)" 'max-tokens' 'the error names the flag'
forget
usage='{"usage":{"input_tokens":9000,"cached_tokens":0,"output_tokens":900,"reasoning_tokens":0}}'
say plan "$(plan)" "$usage"
say code "$(program 'exit(1)')" "$usage"
say repair "$(program 'exit(2)')" "$usage"
say repair "$(program 'exit(3)')" "$usage"
ask --max-tokens 25000 'x'
is "$code $(shape '.status, .usage.source')" '3 ["budget","reported"]' 'reported tokens are what counts'
used=$(field '.usage.input_tokens + .usage.output_tokens')
[ "$used" -ge 19800 ] && [ "$used" -le 29700 ]
ok $? "and the loop ends when they are used ($used)"
is "$(field '.usage.input_tokens % 9000, .usage.output_tokens % 900' | tr '\n' ' ')" '0 0 ' 'usage is the sum of the calls'

# --- cost ---

mkdir -p "$XDG_CONFIG_HOME/assay"
printf '[prices]\nscripted = 1,2\n' >"$XDG_CONFIG_HOME/assay/config.ini"
failing
ask -m scripted --max-cost 0.00001 'x'
like "$err$(field .error)" 'of \$0\.000010 are used' '--max-cost: a small cap is said as it is'
rm "$XDG_CONFIG_HOME/assay/config.ini"

failing
ask --max-cost 0.5 'x'
is "$code" 5 '--max-cost without a price is an error of the configuration, not a free pass'
like "$err$(field .error)" 'price' 'and says what is missing'
mkdir -p "$XDG_CONFIG_HOME/assay"
printf '[prices]\nscripted = 1000,2000\n' >"$XDG_CONFIG_HOME/assay/config.ini"
ask -m scripted --max-cost 0.5 'x'
is "$code $(shape '.status, .attempts')" '3 ["budget",0]' '--max-cost: a call that may cost more is not made'
forget
say plan '{"needs_code":false,"answer":"One."}' "$usage"
ask -m scripted --max-cost 50 'x'
is "$(shape .cost_usd)" '[10.8]' 'cost is tokens times price'
rm "$XDG_CONFIG_HOME/assay/config.ini"

# --- execution time ---

forget
say plan "$(plan)"
say code "$(program 'import time
time.sleep(60)')"
say repair "$(program 'import time
time.sleep(61)')" '{"match":"timeout"}'
timed --max-exec-seconds 0.5 'x'
is "$code $(shape '.status, .execution.outcome')" '3 ["budget","timeout_wall"]' '--max-exec-seconds'
like "$(field .error)" 'max-exec-seconds' 'the error names the flag'
[ "$took" -ge 500 ] && [ "$took" -lt 30000 ]
ok $? "and it holds ($took ms)"
timed --timeout 0.3 --max-attempts 1 'x'
is "$code $(shape '.status, .execution.outcome, .execution.error.class')" '1 ["failed","timeout_wall","timeout"]' \
	'--timeout is of one execution'

# --- the deadline ---

timed --deadline 0.5 'x'
is "$code $(shape '.status')" '124 ["budget"]' '--deadline while a program runs'
[ "$took" -ge 500 ] && [ "$took" -lt 30000 ]
ok $? "and it holds ($took ms)"
timed --deadline 0.5 --max-attempts 1 'x'
is "$code $(shape '.status')" '124 ["budget"]' '--deadline while the last program runs'
forget
say plan "$(plan)" '{"delay_ms":60000}'
timed --deadline 0.5 'x'
is "$code $(shape '.status, .execution')" '124 ["budget",null]' '--deadline while the model thinks'
[ "$took" -ge 500 ] && [ "$took" -lt 30000 ]
ok $? "and it holds ($took ms)"
timed --request-timeout 0.5 'x'
is "$code $(shape '.status')" '4 ["provider_error"]' '--request-timeout is a failure of the provider'

# --- what each budget must be ---

for bad in --max-attempts=0 --max-calls=-1 --max-tokens=many --max-cost=-1 --max-exec-seconds=0 --deadline=soon; do
	run ask --script s.jsonl "$bad" 'x'
	is "$code:$(printf '%s' "$err" | grep -c -- "${bad%=*}")" 2:1 "$bad is refused by name"
done

done_testing
