#!/bin/sh
# assay exec --profile: one's own program screened like a model's, and recorded and replayed as that.
# Without the option exec screens nothing.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all 'no jq here'

shape() {
	jq -c "[$1]" out.txt
}
stages() { # of the last run
	"$ASSAY" log export last | jq -r '[.events[] | .stage + ":" + .phase] | join(" ")'
}
ended() {
	"$ASSAY" log export last | jq -c '[.kind, .status, .level, .exit_code, .attempts]'
}

echo 'print(6 * 7)' >good.py
printf 'import socket\nprint("ran")\n' >denied.py
printf 'import os\nprint("probed" if len(os.environ) else "")\n' >probe.py
printf 'print("never"\n' >broken.py

# --- none asked for ---

run exec denied.py
is "$code $out" '0 ran' 'without --profile nothing is screened'
is "$(stages)" 'execute:started execute:done' 'and nothing but the execution is recorded'
ASSAY_PROFILE=strict run exec denied.py
is "$code $out" '0 ran' 'nor where the environment sets a profile: that is for what a model writes'
run exec --profile off denied.py
is "$code $(stages)" '0 execute:started execute:done' '--profile off is the same as none'

# --- refused ---

for profile in standard strict; do
	run exec --profile "$profile" denied.py
	is "$code $out" '7 ' "--profile $profile: denied, exit code 7, and nothing ran"
	like "$err" '^nothing ran: .*line 1: .*py\.import\.network' "--profile $profile: why"
	is "$(ended)" '["exec","denied","none",7,1]' "--profile $profile: recorded as that"
	is "$(stages)" 'task:done screen:started screen:done' "--profile $profile: the program and its screening"
done
run log show last
like "$out" '^import socket' 'log show shows the program that was refused'
for tier in exec pipeline; do
	run replay last --tier "$tier" --json
	is "$code $(shape .same)" '0 [true]' "a refusal is replayed at tier $tier"
	is "$(ended)" '["exec","denied","none",7,1]' "at tier $tier: refused again"
done
run exec --profile standard --json denied.py
is "$code $(shape '.outcome, .exit_code, .stdout')" '7 ["not_run",null,""]' '--json: a document that says so'
like "$(jq -r .detail out.txt)" 'py\.import\.network' 'and why'
run exec --profile standard --propagate denied.py
is "$code" 7 'with --propagate, too: no code of the program can be meant'
run exec --profile standard broken.py
is "$code $(ended)" '1 ["exec","failed","none",1,1]' 'a program that is not valid is not run, and has failed'
like "$err" '^nothing ran: .*SyntaxError' 'and what is wrong with it is said'

# --- confirmed ---

run exec --profile standard probe.py
is "$code $(ended)" '7 ["exec","denied","none",7,1]' 'what wants a yes is denied outside a terminal'
like "$err" 'no terminal to ask at \(--allow RULE approves beforehand\).*py\.os\.environ' 'which is said'
run exec --profile standard --allow py.os.environ probe.py
is "$code $out" '0 probed' '--allow approves it beforehand'
is "$(stages)" 'task:done screen:started screen:done approve:done execute:started execute:done' \
	'which is recorded'
run replay last --json
is "$code $(shape .same)" '0 [true]' 'and replayed'
printf 'rule mine.good\nlang python\nstandard deny\nmatch good\nmessage no\n' >mine.rules
run exec --profile standard --approve never probe.py
is "$code" 7 '--approve never denies what wants a yes'
like "$err" '^nothing ran: The program was refused' 'and asks nobody'

# --- let through ---

printf 'a\nb\n' >in.txt
printf 'import sys\nprint(sys.argv[1:], open("/in/in.txt").read().split(), sys.stdin.read())\nsys.exit(3)\n' >args.py
run exec --profile standard --propagate -f in.txt --stdin in.txt args.py one two
is "$code" 3 'a program that is let through runs, and --propagate is its own exit code'
like "$out" "^\['one', 'two'\] \['a', 'b'\] a" 'with its arguments, file and input'
rm in.txt args.py
for tier in exec pipeline; do
	run replay last~0 --tier "$tier" --json
	is "$code $(shape .same)" '0 [true]' "replayed with all of them at tier $tier"
done
run log show last
is "$(printf '%s\n' "$out" | grep -c '^import sys$')" 1 'log show shows the program once'

echo 'good = 1' >mine.py
run exec --profile standard --rules mine.rules mine.py
is "$code" 7 'a rule of --rules denies, too'
for option in '--allow py.os.environ' '--approve never' '--rules mine.rules'; do
	run exec $option good.py
	is "$code" 2 "$option without --profile is an error of usage"
	like "$err" "${option%% *} is about screening, which exec does only with --profile" 'that says why'
done

# --- at a terminal ---

cat >answer.py <<'P'
import os, pty, sys
answer, *command = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.execv(command[0], command)
seen = b''		# the second line of an answer is the empty reason of a no
while True:
    try:
        read = os.read(fd, 4096)
    except OSError:
        read = b''
    if not read:
        break
    seen += read
    while answer and b'Run it?' in seen:
        os.write(fd, answer.encode() + b'\n\n')
        answer = ''
os.write(1, seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
if /usr/bin/python3 -c 'import pty' 2>/dev/null; then
	/usr/bin/python3 answer.py y "$ASSAY" exec --profile standard probe.py >terminal.txt 2>&1
	is "$? $(ended)" '0 ["exec","success","ran",0,1]' 'at a terminal: yes runs it'
	like "$(cat terminal.txt)" 'line 2: .*\[py\.os\.environ\]' 'after what was found'
	run replay last --json
	is "$code $(shape .same)" '0 [true]' 'the yes is replayed'
	/usr/bin/python3 answer.py n "$ASSAY" exec --profile standard probe.py >terminal.txt 2>&1
	is "$? $(ended)" '7 ["exec","denied","none",7,1]' 'no denies it'
	like "$(cat terminal.txt)" 'nothing ran: the program was not approved' 'and says so'
else
	skip 'at a terminal' 'no pty in python3'
fi
done_testing
