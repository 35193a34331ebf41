#!/bin/sh
# The demonstration shows what it says it shows.
. "$(dirname "$0")/../lib.sh"
[ -r /var/lib/dpkg/status ] || skip_all "no /var/lib/dpkg/status: not a Debian"
command -v node >/dev/null || skip_all "no node for the JavaScript task"

ASSAY_DEMO_COLOR=never "$top/tests/demo/run" "$ASSAY" >out.txt 2>&1
code=$?
out=$(cat out.txt)
is "$code" 0 "it ends well"
like "$out" 'is a script' "the model is called a script"
like "$out" 'failed: exit 1' "the first program fails on real data"
like "$out" 'judged: a model found no fault · 2 programs' "and is repaired; what its checks would not notice is left to the judge"
tasks=$(grep -cE '^(success|failed|budget) ' out.txt)
[ "$tasks" -ge 23 ]
ok $? "at least 20 tasks ($tasks)"
like "$out" 'hostile .*refused: socket, mount, unshare, ptrace' "the hostile program is named by what it tried"
like "$out" 'failed +wrong-answer' "a wrong answer is not verified"
like "$out" 'budget +never-ends' "one runs out of its budget"
is "$(grep -cE '^success ' out.txt)" "$((tasks - 3))" "all others succeed"
like "$out" '^identical: [0-9]+ records' "the replay is identical"
like "$out" 'export ANTHROPIC_API_KEY' "it ends with how to do the same with a key"
unlike "$(cat "$top/README.md")" '@[A-Z]+@' "the README has no gap"
done_testing
