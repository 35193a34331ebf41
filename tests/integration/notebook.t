#!/bin/sh
# Cells of a notebook with lines that only notebooks have: what they mean in a context, in the
# record, in a saved program, and which of them are refused by cell and line.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all 'no jq here'

# A notebook of cells given as texts: notebook FILE CELL...
notebook() {
	file=$1
	shift
	jq -n '{cells: [$ARGS.positional[] | {cell_type: "code", source: .}], nbformat: 4, nbformat_minor: 4,
		metadata: {kernelspec: {language: "python"}}}' --args -- "$@" >"$file"
}

# Runs cells: cells NAME CELL...
cells() {
	name=$1
	shift
	notebook cells.ipynb "$@"
	run exec --context "$name" cells.ipynb
}

# --- lines of the shell ---

cells shell '%matplotlib inline
%load_ext autoreload
folder = "of two words"' 'print("before")
!mkdir "{folder}" && echo "made ${HOME:+it}" \
  and more
print("after", _exit_code)
names = !ls -d of*; exit 3
names'
is "$code $out" "0 before
made it and more
after 0
['of two words']" 'lines of a shell: in their place, with values of names, over two lines, as a list'
cells shell '%%bash
cd of*
printf %s one >"it'"'"'s"
for f in *; do echo "$f"; done'
is "$code $out" "0 it's" 'a cell of bash, in the same folder'
cells shell 'print(open("of two words/it'"'"'s").read(), folder)
%cd of two words
%ls
%env GREETING=good day
!echo $GREETING'
is "$code $out" "0 one of two words
it's
good day" 'what it wrote is there; folders and variables are set'
cells shell '!pwd; exit 5
1 / 0'
like "$err" 'File "cell 5", line 2' 'a line of the shell that fails ends nothing; a line stays the line that it was'
cells shell '%%bash
exit 3'
is "$code" 1 'a cell of bash that fails does'
cells shell '%%writefile out.py
def f():
    "Says \"so\"."
    return "\\"' 'import sys
sys.path.insert(0, "/work/of two words")
import out
out.f?
out.f()'
like "$out" 'Says "so"' 'a question is answered'
like "$out" '^\\$' 'and a file is what was written'
cells shell 'text = """
!not a line
%time"""
rows = [
  7
  % 4]
print(len(text), rows)'
is "$out" '18 [3]' 'what stands in strings and brackets is none'
run exec --context d cells.ipynb --lang bash
unlike "$err" 'line [0-9]*: .*magic' 'nor are those of another language'

# --- time, and what waits ---

cells timed '%%time
total = sum(range(1000))
total'
is "$code $out" '0 499500' 'what is timed gives its value'
like "$err" '^%time: the cell took [0-9.]+ s$' 'and the time is told, not printed'
cells timed '%time again = total + 1
%time again'
is "$out" 499501 'of a line, too'
run replay last
is "$code" 0 'so that a replay is the same'
cells waits 'import asyncio
async def give(n):
    await asyncio.sleep(0)
    return n' 'task = asyncio.create_task(give(4))
await task' 'x = await give(7)
async with asyncio.Lock():
    print(x)'
is "$code $out" '0 4
7' 'await outside of functions, in one loop for each cell'
cells waits 'print(x)'
is "$out" 7 'what it set is kept'
run replay last
is "$code" 0 'and replays'
cells waits 'x = await give(8)

raise ValueError(x)'
like "$err" 'File "cell 5", line 3, in <module>' 'an error in one names its line'
unlike "$err" 'asyncio/' 'and none of the loop'

# --- the record ---

cells kept 'made = "sum"' '!echo {made} >f.txt
lines = !cat f.txt' 'print(lines)'
run replay last~1
is "$code" 0 'lines of a shell replay'
run log save last -o kept.py
is "$code" 0 'and are saved as a program of the language alone'
is "$(mkdir apart && cd apart && python3 ../kept.py)" "['sum']" 'which runs anywhere'

# --- what is refused, before anything runs ---

runs() {
	"$ASSAY" log list --json | jq length
}
before=$(runs)
while IFS='|' read -r line says; do
	cells refused 'x = 1' "y = 2
$line"
	is "$code" 2 "refused: $line"
	like "$err" "cells.ipynb cell 2 of 2: line 2: $says" 'by its cell and line'
done <<'LINES'
%pip install numpy|nothing can be installed.*--python PATH
!pip install -q numpy|nothing can be installed.*--python PATH
!python3 -m pip install numpy|nothing can be installed
%conda install numpy|nothing can be installed
out = !apt-get install -y jq|nothing can be installed
!{sys.executable} -m pip install -q numpy|nothing can be installed
!cd /work && mkdir -p deep/er ; cd deep && pip3.11 install numpy|nothing can be installed
!ls requirements.txt; python3 -m pip install -r requirements.txt|nothing can be installed
!ls;pip install numpy|nothing can be installed
!true&&/usr/bin/python3.11 -I -mpip install numpy|nothing can be installed
!PIP_QUIET=1 A="b c" pip install numpy|nothing can be installed
!env -u HOME PIP_QUIET=1 pip install numpy|nothing can be installed
!sudo -H pip install numpy|nothing can be installed
!sudo -u root env A=1 nice -n 5 timeout 60 apt-get -y -o Dpkg::Use-Pty=0 -o x=y install jq|nothing can be installed
!if ! "pip" --version 2>&1 >/dev/null; then apt install pip; fi|nothing can be installed
!echo $(pip install numpy)|nothing can be installed
!ls & pip install numpy|nothing can be installed
!!pip install numpy|nothing can be installed
!bash -c "pip install numpy"|nothing can be installed
!/bin/sh -ec 'cd /work && python3 -m pip install numpy'|nothing can be installed
!sudo -H env A=1 bash -o pipefail -lc "sh -c 'pip install numpy' | tail -n 1"|nothing can be installed
!xargs -I@ sh -c 'pip install @' <names|nothing can be installed
!eval "pip install numpy"|nothing can be installed
!echo "done: $(pip install numpy)"|nothing can be installed
%ls && pip install numpy|nothing can be installed
%timeit x|%timeit runs a line many times.*%time
%store x|the magic %store is not known here
LINES
cells refused 'x = 1' '%%html
<b>x</b>'
like "$err" 'cell 2 of 2: line 1: the magic %%html is not known here' 'so is a cell'
cells refused 'x = 1' '%%bash --bg
ls'
like "$err" 'cell 2 of 2: line 1: "--bg" after the first word is not known here' 'and what is asked of one of bash'
for line in 'pip install numpy' 'cd /work && pip install -q numpy' 'if true; then
pip install numpy; fi' 'cat <<END
$((1 << 2)) "
END
pip install numpy' 'ls | xargs -n 1 pip install'; do
	cells refused 'x = 1' "%%bash
ls # pip install
$line"
	is "$code" 2 "refused in a cell of bash: $line"
	number=$(printf '%s\n' "$line" | grep -n 'pip install' | cut -d: -f1)
	like "$err" "cells.ipynb cell 2 of 2: line $((number + 2)): nothing can be installed.*--python PATH" 'by cell and line'
done
for line in 'bash -c "ls
pip install numpy"' 'bash -e <<END
echo $(($(echo 1) + 1))
pip install numpy
END'; do
	cells refused 'x = 1' "%%bash
ls
$line"
	is "$code" 2 "refused in a program of a cell of bash: $line"
	like "$err" "cells.ipynb cell 2 of 2: line 3: nothing can be installed.*--python PATH" 'by cell and its first line'
done
notebook good.ipynb 'x = 1' 'y = 2'
notebook bad.ipynb '%timeit x'
run exec --context refused good.ipynb bad.ipynb
is "$code" 2 'refused in the second of two files'
like "$err" 'bad.ipynb cell 1 of 1: line 1: %timeit' 'which is named'
run exec --context refused good.ipynb nothere.py
is "$code" 1 'so is one that is not there'
is "$(runs)" "$before" 'of the cells before them none has run'
notebook cells.ipynb 'x = 1' 'y = 2
!ls'
run exec --context screened --profile standard cells.ipynb
is "$code" 7 'what a line of the shell becomes is screened'
like "$err" 'line 2: ' 'and refused by its line'
like "$err" 'cells.ipynb cell 2 of 2: a line has its number as it was written' 'in the cell that is named'
cells comments '%%bash
# pip install numpy
echo ran # apt-get install jq'
is "$code $out" '0 ran' 'a comment installs nothing'
cells words '!echo pip install numpy; echo "a; pip install b" c\;pip install d; ls | grep -c install >pip' \
	'!echo 2>&1 pip install; which pip >/dev/null; pip=install; echo $pip; python3 -c "print(1)" -m pip install' '%%bash
cat <<-"END"
pip install numpy
	END
echo "
pip install numpy"
bash -c "echo pip install numpy" pip install
bash <<END
echo "$(echo 1) pip install"
END
eval "echo pip" install' '!!echo "$(echo a) pip install"; echo b'
is "$code $out" '0 pip install numpy
a; pip install b c;pip install d
pip install
install
1
pip install numpy

pip install numpy
pip install numpy
1 pip install
pip install
['"'a pip install', 'b'"']' 'nor does what is another command'"'"'s word, in a string or in a here-document'

done_testing
