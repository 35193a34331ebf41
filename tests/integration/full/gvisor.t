#!/bin/bash
# The sandbox in a container of runsc: gVisor's kernel, one for each run. The unit tests of the contract, every
# attack (a case that ends otherwise there says how, and why), HumanEval, and what walls.t asks of all.
. "$(dirname "$0")/walls.t"
export TMPDIR=$work/far-tmp
mkdir -p "$TMPDIR"
chmod go+x "$work" # gVisor leads the way to it as nobody
[ "$(id -u)" -eq 0 ] || chmod 777 "$TMPDIR"
printf 'print(1)\n' >p.py
box=oci:runsc
weaker=--weaker
export ASSAY_TEST_WEAKER=yes
[ -x /usr/bin/runsc ] || [ -x /usr/sbin/runsc ] || skip_all 'no runsc: apt-get install runsc'
run exec --sandbox $box $weaker p.py
[ "$code" -eq 0 ] || skip_all "runsc does not run here: $(echo $err)"
began=$(date +%s%3N)

run exec --sandbox $box p.py
like "$code $(echo $err)" '^6 .*the oci:runsc sandbox cannot hold all limits \(inodes\): --weaker' \
	'what it cannot hold is refused, by name'
run exec --oci-runtime runsc --sandbox oci p.py
like "$code $(echo $err)" '^6 .*cannot hold all limits \(inodes\)' 'named by itself, too'
hidden='for one in /usr/sbin /usr/bin; do for r in runc crun; do [ ! -e $one/$r ] || mount --bind /dev/null $one/$r; done
	done; exec "$@"'
private='unshare -m'
[ "$(id -u)" -eq 0 ] || private='unshare -rm'
# shellcheck disable=SC2086 # words
$private sh -c "$hidden" sh "$ASSAY" exec --sandbox oci $weaker p.py >out.txt 2>err.txt </dev/null
like "$? $(cat err.txt)" '^6 .*no OCI runtime that holds all limits is installed' 'and it is not taken unnamed'
export ASSAY_TEST_SLOWNESS=3 # each program has a kernel to start
# All of the contract takes most of a minute of the processor; what limits end is tried below in any case.
[ "${ASSAY_TEST_SOME:-}" ] && part=test_languages || part='*'
ASSAY_TEST_ONLY=$part unit $box test_sandbox
unit $box test_sandbox_pair
unset ASSAY_TEST_SLOWNESS
files_through $box $weaker
facts=$(field '.isolation.facts[] | "\(.layer) \(.name) \(.value)"')
like "$facts" 'outer runtime runsc' 'the record names the outer wall'
like "$facts" "outer kernel gVisor's, one for each run" 'and whose kernel it is'
like "$facts" 'forbidden_calls refused, not told' 'and what is not told there'
like "$facts" ' not_held inodes' 'and what is not held'
like "$facts" 'files_limit by memory, not by number' 'and what is limited otherwise'
is "$(field '.isolation | .userns, .mountns, .pidns, .netns, .landlock_abi' | tr '\n' ' ')" 'false false true true 0 ' \
	'and which inner walls there are, and are not'

# Nothing crosses between runs: each has a kernel that was started for it.
printf '%s\n' 'a = open("/proc/uptime").read(); open("/dev/shm/left", "w").write("x"); open("/tmp/left", "w").write("x")' \
	'import os; print(os.listdir("/proc/sys/kernel") and float(a.split()[0]) < 60)' >once.py
for n in 1 2; do
	run exec --sandbox $box $weaker once.py
	is "$code $out" '0 True' "run $n has a kernel as young as it is"
done

# Who asks a server that does without has to say so, too, and before anything runs.
printf 'test assay-%064d\n' 7 >far-keys && chmod 600 far-keys
export ASSAY_SERVE_KEY=assay-$(printf %064d 7)
serve --profile off --sandbox $box $weaker
run exec --sandbox "http:$far" p.py
like "$code $(echo $err)" "^6 .*the server's sandbox $box does not hold all limits \(inodes\): --weaker here, too" \
	'over http it is refused, by name'
run exec --sandbox "http:$far" $weaker --json once.py
is "$code $(field '.isolation.facts[] | select(.name == "not_held") | .value')" '0 inodes' 'or recorded'
kill "$far_server" && wait "$far_server"
serve --socket "$work/own.sock" --sandbox $box $weaker
run exec --socket "$work/own.sock" --sandbox $box once.py
like "$code $(echo $err)" '^6 .*hold all limits \(inodes\)' 'over a socket, too'
kill "$far_server" && wait "$far_server"

# One waits, with a kernel that was started for whoever comes next, and no run has it after that one.
: >serve.txt
"$ASSAY" serve --socket "$work/w.sock" --sandbox $box $weaker --warm 1 --parallel 1 --timeout 900 2>serve.txt &
far_server=$!
stops+=("kill $far_server")
until_true grep -q 'listening on' serve.txt
serving=$(tr -d ' ' <"/proc/$far_server/task/$far_server/children")
asks_there() { # options
	env --default-signal=INT "$ASSAY" exec -q --warm 1 --socket "$work/w.sock" --sandbox $box $weaker --lang bash "$@" - >ran.txt 2>&1
}
asks_there <<<'echo ran' # the first is used to learn what there is
is "$(cat ran.txt)" ran 'a program runs at a server'
until_true has_begun 3
before=$(those_of "$serving")
asks_there --timeout 900 <<<'echo begun; sleep 900' &
ours=$!
until_true grep -q begun ran.txt || diag "$(cat ran.txt)"
is "$(comm -23 <(sort <<<"$before") <(those_of "$serving" | sort)) $(kept "$serving")" ' 1' \
	"a program runs in the one that waits, with its $(grep -c . <<<"$before") processes, and none is started for it"
kill -INT "$(pgrep -P "$ours")" && wait "$ours"
# shellcheck disable=SC2086 # a list
until_true is_gone $before
ok $? 'which serves no second one'
until_true keeps "$serving" 1
ok $? 'and another waits then'
kill "$far_server" && wait "$far_server"

hold_limits $box $weaker
ends_itself $box $weaker
limits_are_as_listed $box

ask_and_replay $box $weaker
calls_of_tools $box $weaker
# A guest of that kernel is no process here: what is left is looked for by who started it.
ended_by() { # signal
	has_tried killed
	: >killed.txt
	"$ASSAY" exec --sandbox $box $weaker --lang bash --timeout 900 - >killed.txt 2>&1 <<<'echo begun; sleep 900' &
	ours=$!
	until_true grep -q begun killed.txt || diag "$(cat killed.txt)"
	all=$(below "$ours")
	like "$(for one in $all; do cat "/proc/${one%%:*}/comm"; done 2>/dev/null | tr '\n' ' ')" runsc "runsc is below assay"
	kill -"$1" "$ours"
	wait "$ours" 2>/dev/null
	code=$?
	# shellcheck disable=SC2086 # a list
	until_true is_gone $all
	ok $? "kill -$1 of assay ends $(echo "$all" | sort -u | wc -l) processes"
	until_true eval '[ -z "$(leftovers)" ]'
	is "$(leftovers)" '' 'nothing is left of it'
}
is_cancelled $box $weaker
ended_by KILL
ended_by TERM
is "$code" 143 'terminated'
proven_by_doctor $box
is "$(field '.layers[] | select(.name == "outer kernel") | .in_force')" own 'and that the kernel is another'
is "$(field '.layers[] | select(.name == "inodes limit") | .in_force')" 'not held' 'and names what is not held, by trying'

# --- attacks ---

# Each ends as is written in it, where that is something else for that kernel with the reason.
attacks_began=$(date +%s%3N)
# shellcheck disable=SC2086 # a list
ASSAY_TEST_SANDBOX=$box "$(dirname "$ASSAY")/tests/escape/escape" "$top/tests/escape/cases" \
	${ASSAY_TEST_ATTACKS-${ASSAY_TEST_SOME:+$classes}} >attacks.txt 2>&1
is "$? $(grep '^not ok' attacks.txt)" '0 ' "$(grep -c '^ok' attacks.txt) attacks end as is written"
echo "# attacks: $(($(date +%s%3N) - attacks_began)) ms"
is "$(leftovers)" '' 'they leave nothing'

[ "${ASSAY_TEST_SOME:-}" ] && set=sample || set=right
ASSAY_TEST_SANDBOX=$box ASSAY_TEST_SET=$set "$here/humaneval.t" >set.txt 2>&1
is "$? $(grep '^not ok' set.txt)" '0 ' "HumanEval: $(sed -n 's/^# humaneval: //p' set.txt | head -n 1)"
is "$(leftovers)" '' 'nothing is left'
all_is_tried $box
echo "# $box: $(($(date +%s%3N) - began)) ms"
done_testing
