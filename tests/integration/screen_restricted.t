#!/bin/bash
# The profile restricted: what RestrictedPython would not compile, and modules that are not on its short
# list, are refused before anything runs, by name, line and reason; in exec, in a question, whose program
# is repaired, and again in its replay. Python alone; without the package nothing passes.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

printf 'import math\nfrom collections import Counter\nprint(math.pi > 3, Counter("aab")["a"])\n' >good.py
printf 'import math\nimport os.path\nx = ().__class__\nexec("1")\n' >bad.py
printf 'echo no Python\n' >other.sh
printf 'print(1' >broken.py

run screen --profile restricted --json other.sh
is "$code $(field '.findings[0] | .rule, .action' | tr '\n' ' ')" '7 limit.restricted deny ' 'another language is refused'
if ! /usr/bin/python3 -c 'import RestrictedPython' 2>/dev/null; then
	run screen --profile restricted good.py
	# What is told in several lines, as one.
	like "$code $(cat out.txt err.txt | xargs -d '\n')" '^7 .*python3-restrictedpython' 'without its package nothing passes, and it says what to do'
	skip 'the profile restricted' 'not installed: apt-get install python3-restrictedpython'
	done_testing
	exit
fi
run screen --profile restricted good.py
is "$code" 0 'what computes passes'
run screen --profile restricted --json bad.py
is "$code $(field '.findings[] | select(.rule == "py.restricted") | "\(.line) \(.message)"' | tr '\n' '|')" \
	'7 2 the module os.path is not allowed|3 "__class__" is an invalid attribute name because it starts with "_".|4 Exec calls are not allowed.|' \
	'what does not is told by line and reason'
run exec --profile restricted good.py
is "$code $out" '0 True 2' 'exec runs what passes'
run exec --profile restricted bad.py
is "$code" 7 'and not what does not'
like "$(echo $err)" 'line 2: the module os.path is not allowed .* line 3: "__class__" .* line 4: Exec calls' 'each reason is told'
run exec --profile restricted broken.py
like "$code $(echo $err)" "^[0-9]+ .*was never closed" 'what is no Python is told as ever'
run exec --profile restricted --sandbox restricted good.py
is "$code $out" '0 True 2' 'and in the sandbox of that name'

say plan "$(plan)"
say code "$(program 'import os
print(os.getpid() * 0 + 42)')"
say repair "$(program 'print(6 * 7)')"
say judge "$(verdict pass 'yes')"
say answer '42.'
ask --profile restricted --lang python --expect 42 'what is six times seven?'
is "$code $(field '.attempts')" '0 2' 'a question: refused, and repaired'
id_of=$(field .run)
like "$("$ASSAY" log show "$id_of" --json)" 'the module os is not allowed' 'the record has why'
run replay --json "$id_of"
is "$code" 0 'a replay from the record alone finds the same'
done_testing
