#!/bin/sh
# What an earlier program of a conversation makes of a later one's output is no evidence, in any
# language: each of these decides what is printed, and a check of that counts for nothing. What is
# honest counts.
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

done_testing
