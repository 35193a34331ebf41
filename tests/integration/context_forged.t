#!/bin/sh
# What an earlier program of a conversation makes of a later one's output is no evidence, in any
# language: each of these decides what is printed, and a check of that counts for nothing. What is
# honest counts, and so does what the program does without them, too: it is run again where they have
# never been.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
one_by_one
columns=120

level() {
	"$ASSAY" log export last | jq -r .level
}
checks='[{"kind":"number","arg":42}]'
# A conversation: language, level of what follows, the last program, and those before it
conversation() {
	lang=$1 level=$2 last=$3
	shift 3
	what=$(echo "$1" | tr '\n' ';' | cut -c 1-50)
	forget
	for cell; do
		say plan "$(plan '[]' "$lang")"
		say code "$(program "$cell" "$lang")"
	done
	say plan "$(plan "$checks" "$lang")"
	say code "$(program "$last" "$lang")"
	open --role-model judge=off --role-model answer=off --require none --lang "$lang" --profile off
	for cell; do
		line 'make'
	done
	line 'and then?'
	sees '(^|[^0-9])42$' "$lang: $what: what is printed last"
	until_true at_prompt
	is "$(level)" "$level" "$lang: $what: a check on it"
	close
}

conversation python checked 'print(n * 2)' 'n = 21
class A:
    def __init__(self):
        self.n = n
print(A().n)'
conversation python ran 'import json
print(json.dumps(7))' 'import json
def patch(self):
    self.dumps = lambda v: "42"
patch(json)
print("made")'
conversation python ran 'print(7)' 'import sys
def patch(self):
    write = self.write
    self.write = lambda s: write(s.replace("7", "42"))
patch(sys.stdout)
print("made")'
conversation python ran 'import json
print(json.dumps(7))' 'class A:
    def g(self):
        self.dumps = lambda v: "42"
print("made")' 'import json
A.g(json)
print("made")'
conversation python ran 'import calendar
print(calendar.monthrange(2023, 2)[1])' 'import calendar
calendar.mdays[2] = 42
print("made")'
conversation python ran 'import json
print(json.dumps(7))' 'made = open("helper.p" + "y", "w").write("import js" "on\njs" "on.dum" "ps = lambda v: 42")
print("made")' 'import helper
print("made")'
conversation python checked 'print(count_words(text)["of"] * 2)' '# Counts words; nothing is set globally, no signal, no exec.
from dataclasses import dataclass, field
class WordError(Exception):
    """What eval would say of print = 1."""
@dataclass
class Counts:
    total: int = 0
    by: dict[str, int] = field(default_factory=dict)
def count_words(text, sum=True, max=None):
    return {w: text.split().count(w) for w in text.split()}
text = dict(
    sum="of " * 21,
)["sum"]
print(f"total={len(text.split())}")'
conversation javascript checked 'console.log(n * 2)' '// based on the header, with each row once: see the prototype
class RowError extends Error {}
const n = [42, 0].filter((x) => /^4/.test(x))[0] / 2 // mean
console.log(Object.assign({}, { n }).n)'
conversation bash checked 'total_of 21 2' '# the source of the data; kill nothing (as it is)
total_of() {
  awk -v n="$2" "{ print (\$1 * n) }" <<<"$1"
}
echo "hash of the function: $(total_of 1 1)"'
conversation javascript checked 'console.log(n * 2)' 'class A { constructor() { this.n = 21 } }
const n = new A().n
console.log(n)'
conversation javascript ran '7' "this[Symbol.for('assay.show')] = () => console.log(42)
console.log('made')"
conversation javascript ran "console.log(require('util').inspect(7))" "const q = require('util')
console.log('made')" "q.inspect = () => '42'
console.log('made')"
conversation javascript ran 'console.log(parseInt("7"))' 'function g() { return this }
const t = g()
t.parseInt = () => 42
console.log("made")'
conversation bash checked 'echo "$((n * 2))"' 'n=21
echo "$n"'
conversation bash ran 'echo a | wc -c' "printf 'wc%s { echo 42; }\n' '()' >f
command . ./f
echo made"
conversation bash ran 'echo a | wc -c' "mkdir b
printf '#!/bin/sh\necho 42\n' >b/wc
chmod +x b/wc
p=PA
read \${p}TH <<<\"\$PWD/b:/usr/bin:/bin\"
echo made"

# --- run again without those that could ---

# How long a program takes is not the same in another run: an earlier one may have the answer ready.
conversation python checked 'print(n * 2)' 'n = 21
print(n)' 'import sys
setattr(sys, "made_by", "me")
print("made")'
forget
say plan "$(plan '[]' python)"
say code "$(program 'print(n * 2)' python)"
run ask -c --script s.jsonl --check runtime:60000 --role-model judge=off --role-model answer=off --require none \
	--lang python --profile off 'and how fast?'
is "$code $(level)" '0 ran' 'a check of the time does not count by another run'
like "$("$ASSAY" log show last | grep runtime)" 'it may take another time' 'which is said'

# How often something ran in the last run.
executions() {
	"$ASSAY" log export last | jq '[.events[] | select(.stage == "execute" and .phase == "done")] | length'
}
set_up='import sys
setattr(sys, "made_by", "me")
print("made")'
conversation python checked 'print(n * 2)' 'n = 21
print(n)' "$set_up"
is "$(executions)" 2 'it ran once more'
is "$("$ASSAY" log export last | jq -c '[.events[] | select(.stage == "verify") | .data.needed // empty]')" '[[0]]' \
	'the record has after which'
is "$("$ASSAY" log export last | jq '[.events[] | select(.data.state)] | length')" 1 \
	'once it left a state'
conversed=$("$ASSAY" log export last | jq -r .run)
for tier in pipeline exec; do
	run replay "$conversed" --json --tier "$tier"
	is "$code,$(jq .same out.txt),$(level),$(executions)" '0,true,checked,2' "a replay of tier $tier finds the same"
done
conversation python checked 'print(twice(n))' 'def twice(v):
    return 2 * v
n = 21
print(n)' 'import sys
def trace(*args):
    return None
sys.settrace(trace)
print("made")' 'm = trace
print(m is not None)'
conversation python ran 'print(n * 2)' 'import sys
setattr(sys, "made_by", "me")
n = 21
print(n)'
# What a text would be without a line of it: a program that was a string.
conversation python ran 'print(n * 2)' 's = vars() and """
import socket, urllib.request
print("ran unscreened", socket.AF_INET)
# """
n = 21
print("made")'
is "$("$ASSAY" log export last | jq -r '.contents[(.events[] | select(.stage == "verify") | .data.program // empty).sha256].text')" 'print(n * 2)' \
	'and no cell runs again without a line of it'
conversation python ran 'print(n * 2)' 'import sys
setattr(sys, "n", 21)
n = getattr(sys, "n" + "")
print(n)'
conversation python ran 'print(n)' 'n = 7
n = globals().get("m", 42)
print("made")'
conversation javascript ran 'console.log(n * 2)' 'const n = 21
Object.defineProperty(Array.prototype, "last", {
  get() { return this[this.length - 1] },
})
console.log([1, 2].last)'
conversation python ran 'print(7)' 'n = 21
print(n)' 'import builtins
shown = builtins.print
setattr(builtins, "print", lambda *values, **how: shown(*[42 if v == 7 else v for v in values], **how))
print("made")'
conversation python ran 'print(same(7))' 'def same(v):
    return v
print(same(1))' 'globals()["same"] = lambda v: 42
print("made")'
conversation python ran 'print(42 if n == 42 else 7)' 'n = 7
print(n)' 'class Any(int):
    def __eq__(self, other):
        return True
globals()["n"] = Any(7)
print("made")'
conversation python ran 'import json
print(json.dumps(7))' 'n = 21
print(n)' 'import sys, types
other = types.ModuleType("json")
other.dumps = lambda v: "42"
sys.modules["json"] = other
print("made")'
conversation python ran 'import os
print(open("n.txt").read() if os.path.exists("n.txt") else 7)' 'n = 21
print(n)' 'with open("n.txt", "w") as f:
    exec("f.write(str(42))")
print("made")'
conversation python ran 'import uuid
print(uuid.uuid4(), n * 2)' 'n = 21
print(n)' "$set_up"
conversation python ran 'import os
open("/out/n.txt", "w").write(str(os.environ.get("N")))
print(42)' 'n = 21
print(n)' 'import os
os.environ["N"] = "42"
setattr(os, "made_by", "me")
print("made")'
conversation javascript checked 'console.log(n * 2)' 'const n = 21
console.log(n)' 'Object.defineProperty(Array.prototype, "last", { get() { return this[this.length - 1] } })
console.log([1, 2].last)'
conversation javascript ran 'console.log(7)' 'const n = 21
console.log(n)' 'const shown = console.log
console.log = (...values) => shown(...values.map((v) => v === 7 ? 42 : v))
console.log("made")'
conversation bash checked 'echo "$((n * 2))"' 'n=21
echo "$n"' 'echo() { command echo "$@"; }
echo made'
conversation bash ran 'echo 7' 'n=21
echo "$n"' 'echo() { command printf "%s\n" "${1/7/42}"; }
echo made'

# --- what a program of another language left where this one imports ---

# The first program in bash, the second in Python: level, the last line, both
of_two() {
	level=$1
	forget
	say plan "$(plan '[]' bash)"
	say code "$(program "$3" bash)"
	say plan "$(plan "$checks" python)"
	say code "$(program "$4" python)"
	open --role-model judge=off --role-model answer=off --require none --profile off
	line 'make'
	line 'and then?'
	sees '(^|[^0-9])42$' "$2: what is printed last"
	until_true at_prompt
	is "$(level)" "$level" "$2: a check on it"
	close
}
of_two ran 'a module in place of one' 'echo "def mean(v): return 42" >/out/statistics.py
echo made' 'import statistics
print(statistics.mean([7]))'
of_two checked 'a module that nothing loads' 'echo "def half(v): return v / 2" >/out/helper.py
echo made' 'import statistics
print(statistics.mean([42]))'
of_two checked 'data' 'echo 21 >/out/n.txt
echo made' 'print(int(open("/in/n.txt").read()) * 2)'

done_testing
