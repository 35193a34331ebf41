#!/bin/sh
# The counting of the tests: what is said of a test that passes, fails, fails once, dies or is skipped.
. "$(dirname "$0")/lib.sh"

test_program() { # name, lines of shell
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}
counted() { # tests: $code, $out, and $last, the results alone
	"$top/tests/tally" -p PHASE -o results.txt "$@" >out.txt 2>err.txt
	code=$?
	out=$(cat out.txt)
	last=$(cat results.txt)
}
test_program good.t 'echo "ok 1 - one"; echo "ok 2 - two # SKIP no zsh"; echo 1..2'
test_program bare.t 'echo "ok 1 # SKIP why not"; echo "ok 2 - a"; echo 1..2'
test_program none.t 'echo "1..0 # SKIP nothing to test"'
test_program once.t 'echo 1..2; echo "ok 1 - one"
[ -e been ] && echo "ok 2 - two" && exit; : >been
echo "not ok 2 - two"; echo "# got: 3"; echo cry >&2; exit 1'
test_program bad.t 'echo "not ok 1 - one"; echo "# got: 4"; echo "ok 2 - two"; echo 1..2; echo x >>times; exit 1'
test_program dies.t 'echo "ok 1 - one"; echo "the reason" >&2; kill -9 $$'
test_program short.t 'echo 1..3; echo "ok 1 - one"'

counted ./good.t ./none.t
is "$code $last" '0 1 passed, 0 failed, 2 skipped' 'what passes and what is skipped is counted'
like "$out" '^skipped: PHASE: ./good.t: - two: no zsh$' 'a skipped assertion says why'
like "$out" '^skipped: PHASE: ./none.t: nothing to test$' 'so does a skipped file'
counted ./bare.t
like "$out" '^skipped: PHASE: ./bare.t: why not$' 'and one that has no name'

counted -j 2 ./once.t ./good.t
is "$code $last" '0 unsteady: PHASE: ./once.t: 2 - two
  # got: 3
  stderr: cry
1 unsteady
3 passed, 0 failed, 1 skipped' 'what fails once is run again: it counts as passed, and is named with what failed'

# Long enough for another to come in between.
for n in 1 2 3; do test_program wait$n.t 'mkdir one || exit 1; sleep 0.2; rmdir one; echo 1..1; echo "ok 1 - alone"'; done
"$top/tests/tally" -j 3 -s './wait?.t' ./good.t ./none.t ./wait1.t ./wait2.t ./wait3.t >out.txt 2>&1
is "$(tail -n 1 out.txt)" '4 passed, 0 failed, 2 skipped' 'what waits for one another runs one after the other'
is "$(grep -oE '[a-z]+[1-3]?\.t ' out.txt | grep -nm 1 wait1 | cut -d: -f1 | grep -c '[123]')" 1 'from the beginning'

like "$(cat out.txt)" '^longest: [0-9.]+ s, cost [0-9.]+ s: ./wait[1-3].t$' 'what took longest is told'
like "$(cat out.txt)" '^cost of all: [0-9.]+ s$' 'and what all cost'
like "$(cat out.txt)" '^idle: [0-9]+ % of the processors in [0-9]+ s; by tenths: ([0-9-]+ ){9}[0-9-]+$' 'and when processors stood idle'

# Two lines: in each one runs at a time, and the lines side by side: the first of each waits for the other's.
for line in a b; do for n in 1 2; do
	test_program line-$line$n.t "mkdir $line || exit 1
for i in \$(seq 400); do [ -e begun.a ] && [ -e begun.b ] && beside=1 && break; : >begun.$line; sleep 0.05; done
rmdir $line; echo 1..1; [ \$beside ] && echo 'ok 1 - beside the other line'"
done; done
"$top/tests/tally" -j 3 -s './line-a?.t' -s './line-b?.t' ./line-a1.t ./line-a2.t ./line-b1.t ./line-b2.t >out.txt 2>&1
is "$(tail -n 1 out.txt)" '4 passed, 0 failed, 0 skipped' 'what is of one line waits for those before it, and not for another line'

test_program with 'PLACE=there exec "$@"'
test_program where.t 'echo 1..1; [ "${PLACE-}" = there ] && echo "ok 1 - there" || echo "not ok 1 - there"'
"$top/tests/tally" -p HERE ./where.t -p THERE -w ./with ./where.t >out.txt 2>&1
is "$(tail -n 2 out.txt)" 'failed: HERE: ./where.t: 1 - there
1 passed, 1 failed, 0 skipped' 'a test may be in several phases, each with a program that runs it'
like "$(cat out.txt)" '^cost: [0-9.]+ s of [0-9.]+ s: THERE: ./where.t$' 'what a test cost is told'

counted ./bad.t ./good.t
is "$code $last" '1 failed: PHASE: ./bad.t: 1 - one
  # got: 4
2 passed, 1 failed, 1 skipped' 'what fails twice is a failure'
is "$(wc -l <times)" 2 'and has run twice'

counted ./dies.t ./good.t
is "$code $last" '1 failed: PHASE: ./dies.t: it ended before its plan, or with an error
  stderr: the reason
2 passed, 1 failed, 1 skipped' 'a program that dies is a failure, whatever it had counted, and its last words are told'
is "$(tail -n 3 out.txt)" "$last" 'the results are the last that is printed'
counted ./short.t
like "$code $last" '^1 failed: PHASE: ./short.t: it ended before' 'so is one that stops before its plan'
counted ./none.t
is "$code $last" '1 0 passed, 0 failed, 1 skipped' 'where nothing passes, nothing is well'

# A unit program speaks as cmocka does.
mkdir -p tests/unit
test_program tests/unit/unit 'echo 1..2; echo "ok 1 - a"; echo "skipped: no data"
echo "not ok 2 # SKIP b"'
counted tests/unit/unit
like "$out" '^skipped: PHASE: tests/unit/unit: b: no data$' 'what cmocka skips says why'
is "$code $last" '0 1 passed, 0 failed, 1 skipped' 'what cmocka skips is skipped'
test_program tests/unit/unit 'echo 1..2; [ "$CMOCKA_MESSAGE_OUTPUT" = TAP ]; echo "ok 1 - a"; echo "not ok 2 - b"; exit 1'
counted tests/unit/unit
is "$code $last" '1 failed: PHASE: tests/unit/unit: 2 - b
1 passed, 1 failed, 0 skipped' 'what fails fails'
test_program tests/unit/unit 'echo 1..1; echo "ok 1 - a"; exit 3'
counted tests/unit/unit
like "$code $last" '^1 failed: PHASE: tests/unit/unit: it ended' 'and its exit code is seen'

# A test that is ended takes its terminals along (tmux.sh): they are not of its group.
if command -v tmux >/dev/null; then
	test_program ended.t ". '$here/lib.sh'; . '$here/tmux.sh'
tm new-session -d 'sleep 600'; tm display-message -p '#{pid}' >'$work/server.new'
mv '$work/server.new' '$work/server'; sleep 600 & wait"
	timeout 600 ./ended.t >ended.txt 2>&1 &
	until_true [ -s server ]
	kill -TERM $!
	wait $!
	gone() { ! kill -0 "$(cat server)" 2>/dev/null; }
	until_true gone
	ok $? 'a test that is ended leaves no terminal'
else
	skip 'a test that is ended leaves no terminal' 'no tmux here'
fi

# A name that tests/everything knows and that is misspelt would leave its test to every phase.
missing=
for name in $(sed -n "/^once=/,/^is_among/p" "$top/tests/everything" | grep -oE "test_[a-z_]+|[a-z]+/[a-z_-]+[.]t"); do
	[ -e "$top/tests/unit/$name.c" ] || [ -e "$top/tests/$name" ] || [ -e "$top/tests/integration/$name" ] ||
		missing="$missing $name"
done
is "$missing" '' 'every test that tests/everything names is there'

# tests/everything in a tree of its own: what the phases found is told together, last.
mkdir -p tree/build/tests/unit tree/build/asan/tests/unit tree/tests/integration/full
cd tree || exit 1
for entry in base llm sandbox verifier audit agent prompts; do mkdir "$entry"; done
touch Makefile README.md LICENSE .ci build/assay build/assay-keeper build/assay-warm.so build/assay-hold.so build/assay-image
cp "$top/tests/everything" "$top/tests/tally" tests
for unit in build/tests/unit/unit build/asan/tests/unit/unit; do test_program "$unit" 'echo 1..1; echo "ok 1 - a"'; done
test_program tests/integration/bad.t 'echo 1..1; echo "not ok 1 - one"; echo "# why"; exit 1'
test_program tests/integration/once.t 'echo 1..1; d=$(dirname "$0"); [ -e "$d/been" ] && echo "ok 1 - a" && exit
: >"$d/been"; echo "not ok 1 - a"; exit 1'
test_program tests/integration/full/good.t 'echo 1..1; echo "ok 1 - a"'
chmod 777 tests/integration
tests/everything build/tests/unit/unit -- tests/integration/bad.t tests/integration/once.t \
	tests/integration/full/good.t >../out.txt 2>&1
is "$?" 1 'one failure is a failure of everything'
like "$(grep '^unsteady: ' ../out.txt)" '^unsteady: with sanitizers: tests/integration/once.t: 1 - a$' \
	'what was unsteady is named with its phase'
like "$(cat ../out.txt)" '^[12] unsteady$' 'and counted'
sed '1,/^[12] unsteady$/d' ../out.txt >../last.txt
like "$(grep -A 1 '^failed: with sanitizers' ../last.txt | xargs -d '\n')" \
	'^failed: with sanitizers: tests/integration/bad.t: 1 - one   # why$' 'then comes what failed, with what was printed'
like "$(cat ../last.txt)" '^failed: as (this|an ordinary) user: tests/integration/bad.t: 1 - one$' 'in whichever phase'
like "$(tail -n 1 ../last.txt)" '^[0-9]+ passed, [23] failed, 0 skipped$' 'then the figures of all'

# Which tests are run, by a tally that only tells what it was asked: none is left out, neither of CI nor of check-all.
test_program tests/tally 'printf "%s\n" "$@"'
units=$(cd "$top" && ls tests/unit/test_*.c | sed 's,^\(.*\)[.]c$,build/\1,' | grep -v '/test_native$')
scripts=$(cd "$top" && ls tests/integration/*.t tests/integration/full/*.t tests/escape/*.t)
all=$(printf '%s\n' $units $scripts | sort)
for mode in '' --once; do
	# shellcheck disable=SC2086 # lists
	tests/everything $mode $units -- $scripts >../asked.txt
	is "$(sed -n 's,^build/asan/,build/,; /^\(build\|tests\)\//p' ../asked.txt | sort -u)" "$all" "everything $mode: every test"
done
is "$(grep -c '^build/asan/' ../asked.txt)" 0 'each once: not with sanitizers'
is "$(awk '/^-[wsj]$/ { getline; next } $0 == "-p" { getline; phase = $0; next } phase == "as this user"' ../asked.txt | sort)" "$all" \
	'but each as this user'
if [ "$(id -u)" -eq 0 ]; then
	is "$(grep -cE '^tests/(escape/escape|integration/input)[.]t$' ../asked.txt)" 4 'and what is about walls as an ordinary one, too'
else
	skip 'what is about walls as an ordinary one, too' 'not root'
fi
done_testing
