#!/bin/sh
# A context by its name: cells of scripts in one namespace, over calls, in the record, and saved.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all 'no jq here'

# Runs cells given as text: cells NAME TEXT [OPTION...]
cells() {
	name=$1
	printf '%s\n' "$2" >"cells.${ending:-py}"
	shift 2
	run exec --context "$name" "$@" "cells.${ending:-py}"
}

# --- cells of a file ---

cat >first.py <<'EOF'
import json
rows = [1, 2, 3]
# %% the sum
total = sum(rows)
total
# %% [markdown]
# words
# %%
print("total", total)
open("/out/t.txt", "w").write("kept")
EOF
run exec --context a first.py
is "$out" '6
total 6' 'the cells of a file, in order: the last value is shown'
is "$code" 0 'and all is well'
is "$("$ASSAY" log list --json | jq length)" 3 'each is a run of the log'
cells a 'print(total * 2, open("t.txt").read())' --json
is "$(jq -r '.cells[0].stdout' out.txt)" '12 kept' 'a later call goes on: names and files are there'
is "$(jq -c '.context, .cells[0].context' out.txt)" '"a"
"a"' 'the document names the context'
like "$(jq -r '.cells[0].after' out.txt)" '^[0-9A-Z]{26}/1$' 'and the execution it starts from'
is "$(jq -r '.cells[0].isolation.state' out.txt)" rebuilt 'and that the state was made again'
is "$(jq -c '.cells[0].artifacts' out.txt)" '[]' 'what an earlier cell wrote is no news'
like "$err" 'context a: its state is made again from 3 cells' 'which is said'
cells secret 't = "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4f"'
unlike "$err" 'secret' 'a cell with a secret in it'
cells secret 'print(t[:4])'
like "$err" 'does not have the secrets of the earlier programs' 'it is said that the log does not have it'
run log export --bundle "$("$ASSAY" log list --limit 1 --json | jq -r '.[0].run')" -o secret.bundle
run log import secret.bundle --db secret.db
cells secret 'print(t[:4])' --db secret.db
like "$err" 'does not have the secrets of the earlier programs' 'nor a copy of the log'
cells b 'print("total" in globals())' --json
is "$(jq -c '.cells[0].stdout, .cells[0].isolation.state, .cells[0].after' out.txt)" '"False\n"
"fresh"
null' 'another name is another context'
cells a 'print("total" in globals())' --fresh
is "$out" False '--fresh begins it anew'
cells a 'x = 5'
cells a 'x'
is "$out" 5 'and it goes on from there'

# --- several files ---

printf 'rows = [1, 2]\n# %%%%\nrows.append(3)\n' >many-1.py
printf '{"cells":[{"cell_type":"code","source":"rows.append(4)"}],"metadata":{},"nbformat":4,"nbformat_minor":4}' >many-2.ipynb
echo 'print(rows)' >many-3.py
run exec --context many many-1.py many-2.ipynb many-3.py
is "$code $out" '0 [1, 2, 3, 4]' 'the cells of several files, in the order of these'
printf 'rows.append(5)\nraise ValueError("no")\n' >many-2.py
run exec --context many many-2.py many-3.py
is "$code $out" '1 ' 'where one fails those of the files after it do not run'
like "$err" '^1 cell after it did not run: many-3.py \(1\); what ran before it stays in context many$' 'which is said'
printf 'print("ran")\n# %%%%\n1 / 0\n# %%%%\nprint(1)\n# %%%%\nprint(2)\n' >halfway.py
run exec --context halfway halfway.py many-1.py many-3.py
like "$err" '^5 cells after it did not run: halfway.py from cell 3 of 4, many-1.py \(2\), many-3.py \(1\); ' \
	'with the cells that are left of the file, and the names of the others'
run exec --context halfway --json halfway.py many-1.py many-3.py
is "$(jq -c '(.cells | length), .not_run' out.txt)" \
	'2
[{"file":"halfway.py","from":3,"cells":2},{"file":"many-1.py","from":1,"cells":2},{"file":"many-3.py","from":1,"cells":1}]' \
	'and in the document'
run exec --context halfway --json --fresh many-1.py many-3.py
is "$code $(jq -c .not_run out.txt)" '0 []' 'of which it says that there are none where all ran'
unlike "$err" 'did not run' 'and nothing is said'
: >nothing.py
run exec --context halfway many-2.py nothing.py
unlike "$err" 'did not run' 'nor of files without cells'
run exec --context halfway many-2.py many-3.py many-3.py many-3.py many-3.py many-3.py many-3.py many-3.py many-3.py
like "$err" '^8 cells after it did not run: (many-3.py \(1\), ){5}many-3.py \(1\) and those of 2 more files; ' \
	'many names are counted'
run exec --context many many-3.py
is "$code $out" '0 [1, 2, 3, 4]' 'and nothing of it is left'

# --- a cell happened or it did not ---

cells c 'rows = [1]
open("made.txt", "w").write("1")'
cells c 'rows.append(2)
open("made.txt", "w").write("2")
1 / 0
# %%
rows.append(3)'
is "$code" 1 'a cell that fails'
like "$err" 'File "cell 2", line 3' 'names itself and its own line'
unlike "$err" 'assay_' 'and no frame of ours'
like "$err" '1 cell after it did not run' 'those after it do not run'
cells c 'print(rows, open("made.txt").read())'
is "$out" '[1] 1' 'and it leaves nothing, in memory or in the work folder'
cells c 'rows.append(4)
import time
time.sleep(600)' --timeout 0.5
cells c 'print(rows)'
is "$out" '[1]' 'nor does one that runs out of time'
cells c 'import os
rows.append(5)
os._exit(0)'
like "$err" 'ended its interpreter itself: nothing of it is kept' 'one that ends its interpreter is told of'
cells c 'print(rows)'
is "$out" '[1]' 'and leaves nothing'

# --- the others ---

cat >n.ipynb <<'EOF'
{"cells":[{"cell_type":"markdown","source":["# t"]},
 {"cell_type":"code","source":["x = 20\n","y = 22"]},{"cell_type":"code","source":"x + y"}],
 "metadata":{"kernelspec":{"language":"python"}},"nbformat":4,"nbformat_minor":4}
EOF
run exec --context d n.ipynb
is "$out" 42 'a notebook'
echo '{"a":1}' >bad.ipynb
run exec --context d bad.ipynb
is "$code" 2 'one that is none'
like "$err" 'bad.ipynb: a notebook has a list of cells' 'is told what it lacks'
ending=js
cells js 'const a = [1, 2, 3]
// %%
const b = a.map((v) => v * 2)
b'
is "$out" '[ 2, 4, 6 ]' 'JavaScript'
cells js 'const a = await Promise.resolve(b.length); console.log(a)'
unlike "$err" 'left running' 'nothing is left open'
is "$out" 3 'declared again, awaited'
ending=sh
cells sh 'count() { echo "$#"; }
names=(a b c)
# %%
count "${names[@]}"'
is "$out" 3 'bash'
ending=pl
cells pl 'print 1'
is "$code" 2 'a language without contexts'
like "$err" 'cells\.pl: perl has no contexts; these have: python, javascript, bash$' 'is refused by name, with those that have some'
ending=py

cells mix 'open("/out/mix.txt", "w").write("from python")
print("written")'
ending=sh
cells mix 'x=$(cat mix.txt); echo "$x"'
is "$out" 'from python' 'a language has a state of its own, and the files of the others'
ending=py
cells mix 'import os
print(open("/work/mix.txt").read(), "x" in globals())'
is "$("$ASSAY" replay last~1 --json 2>/dev/null | jq .same)" true 'a replay has those files'
is "$out" 'from python False' 'and goes on where it was'

# --- a folder that several cells write to ---

for n in 1 2 3; do
	cells plots "import os
os.makedirs('/out/plots/sub', exist_ok=True)
open('/out/plots/$n', 'w').write('$n')
open('/out/plots/sub/one', 'w').write('$n')"
done
cells plots 'print(sorted(os.listdir("plots")), open("plots/sub/one").read())'
is "$code $out" "0 ['1', '2', '3', 'sub'] 3" 'a folder of /out has what each cell put there'
cells half 'f = open("/out/half.txt", "w")
print(f.write("half"))'
cells half 'print(open("half.txt").read())'
is "$code $out" '0 half' 'what stood in the memory of an open file of /out has moved with it'
cells quiet 'import gc
gc.get_objects = lambda: print("all that is in memory") or []
open("/out/q.txt", "w").close()'
cells quiet 'print(open("q.txt").read() + "moved")'
is "$code $out" '0 moved' 'where none is open nothing looks for it in memory'
ending=js
for n in 1 2 3; do
	cells plotsjs "fs = require('fs')
fs.mkdirSync('/out/plots/sub', { recursive: true })
fs.writeFileSync('/out/plots/$n', '$n')
fs.writeFileSync('/out/plots/sub/one', '$n')"
done
cells plotsjs 'console.log(fs.readdirSync("plots").join(), fs.readFileSync("plots/sub/one", "utf8"))'
is "$code $out" '0 1,2,3,sub 3' 'in JavaScript'
ending=sh
for n in 1 2 3; do
	cells plotssh "mkdir -p /out/plots/sub
echo $n >/out/plots/$n
echo $n >/out/plots/sub/one"
done
cells plotssh 'echo plots/* "$(cat plots/sub/one)"'
is "$code $out" '0 plots/1 plots/2 plots/3 plots/sub 3' 'in bash'
ending=py

# --- what a state was made within ---

cells within 'held = bytearray(96 << 20)
open("file", "w").write("x" * (3 << 20))' --memory 256M --disk 8M
cells within 'print(len(held) >> 20)' --memory 64M --disk 1M
is "$code $out" '0 96' 'a state is made again within the limits that it was made within'
like "$err" '^its record gives what is continued more than is set here: memory 256\.0 MiB, disk 8\.0 MiB ' \
	'which is said, before anything runs, with those that are raised'
cells within '1' --memory 256M --disk 8M
unlike "$err" 'its record gives' 'of what is within what is set nothing is'
cells within '1' --fresh --memory 64M --disk 1M --db elsewhere.db
unlike "$err" 'its record gives' 'nor where it begins anew'
run log export --bundle "$("$ASSAY" log list --limit 1 --json | jq -r '.[0].run')" -o within.bundle
run log import within.bundle --db theirs.db
cells within 'print(len(held) >> 20)' --db theirs.db
is "$code $out" '0 96' 'out of a log of somebody else'"'"'s'
unlike "$err" 'its record gives' 'where that is no more than is set'
cells within 'print(len(held) >> 20)' --db theirs.db --memory 64M --pids 8
like "$err" '^its record gives what is continued more than is set here: memory 512\.0 MiB, processes 64 ' \
	'it is said, too: of all programs that it goes on from'
cells within 'more = bytearray(128 << 20)' --memory 64M --disk 1M --json
is "$code $(jq -r '.cells[0].outcome' out.txt)" '0 exit' 'which are those of all of its programs, together'
run replay last
is "$code" 0 'so it is in a replay'
cells within 'more = bytearray(256 << 20)' --memory 64M
like "$err" 'memory limit of 256 MiB reached' 'and there is no more for all of them'
cells within 'import time
begun = time.process_time()
while time.process_time() - begun < 0.7: pass' --timeout 60 --cpu-seconds 60
cells within 'print(len(held) >> 20)' --timeout 60 --cpu-seconds 0.5
is "$code $out" '0 96' 'time to make it again is none of what a program has itself'

# --- a file that goes to another folder ---

cells moves 'import shutil, subprocess
for path in ("/tmp/a", "/work/b", "/work/c/d"):
    shutil.os.makedirs(shutil.os.path.dirname(path), exist_ok=True)
    open(path, "w").close()
shutil.move("/tmp/a", "/out/a")
shutil.move("/work/c", "/out/c")
print(subprocess.call(["mv", "/work/b", "/out/b"]), sorted(shutil.os.listdir("/out")))'
is "$code $out" "0 0 ['a', 'b', 'c']" 'files and folders are moved from one folder to another, whatever these are'

# --- input files are part of what happened ---

echo 1 >n.txt
cells in 'n = int(open("n.txt").read())' -f n.txt
cells in 'print(n)' -f n.txt
is "$out" 1 'the same file again'
echo 2 >n.txt
cells in 'print("n" in globals())' -f n.txt
is "$out" False 'a state made from another file is no more'
like "$err" 'begun anew: /in/n.txt, which it was made from, has changed' 'which is said'
cells in 'print("m")'
like "$err" 'begun anew: /in/n.txt, which it was made from, is not given any more' 'as is one that is gone'
printf 'a,b\n' >d.csv
cells anew 'first = open("/in/d.csv").read()' -f d.csv
printf 'a,b,c\n' >d.csv
cells anew 'rows = open("/in/d.csv").read().strip()' -f d.csv
like "$err" 'begun anew' 'what one cell begins anew'
cells anew 'print(rows, "first" in globals())' -f d.csv
is "$out" 'a,b,c False' 'the next goes on with'
like "$err" 'made again from 1 cell ' 'and with it alone'
unlike "$err" 'begun anew' 'and begins nothing again'
run log save last -o anew.py
like "$err" '2 of 2 cells' 'a program that is saved has none from before'
run replay last~1 --json
is "$code $(field '.environment_changed | length')" '0 0' 'and the one that began anew replays, in the environment that it had'
head -c 3000000 /dev/zero | tr '\0' x >large.txt
cells large 'import os
size = os.path.getsize("/in/large.txt")' -f large.txt
cells large 'print(size)' -f large.txt
is "$out" 3000000 'a large file, too'
touch large.txt
run replay last
is "$code" 0 'a replay has the state where a large file is another by its time only'
cells varies 'import time
print(time.time_ns())'
cells varies 'print(1)'
like "$err" 'cell 1 printed something else when it was run again' 'a cell that does not do the same is told of'
cells left 'import subprocess
p = subprocess.Popen(["sleep", "1"], stdout=subprocess.PIPE)'
like "$err" 'left running or open.*pipe' 'what is left open is named'

# --- what is shown: stand-ins for libraries that are not everywhere ---

echo '__path__ = ["/in"]' >matplotlib.py
cat >pyplot.py <<'EOF'
class Figure:
    def savefig(self, path):
        open(path, "w").write("a figure")
class Line2D:
    pass
Line2D.__module__ = "matplotlib.lines"
figures = []
def plot(*values):
    figures.append(Figure())
    return [Line2D()]
def get_fignums():
    return list(range(1, len(figures) + 1))
def figure(number):
    return figures[number - 1]
def show():
    raise RuntimeError("there is no window")
def close(which):
    figures.clear()
EOF
cat >pandas.py <<'EOF'
class DataFrame:
    columns, dtypes = ["month", "sum"], ["object", "int64"]
    def __init__(self, n):
        self.n = n
    def __len__(self):
        return self.n
    def head(self, n):
        return "  month  sum"
    def __repr__(self):
        return "the table"
    def _repr_html_(self):
        return "<table></table>"
class Labels(list):
    name = "month"
    def tolist(self):
        return list(self)
class Series(list):
    dtypes = "int64"
    index = Labels(["Jan", "Feb", "Mar"])
    def head(self, n):
        return Series(self[:n])
    def tolist(self):
        return list(self)
class Rows(list):
    index, values = Labels([0]), Series([1])
    def to_string(self):
        return "a b c d"
    def __repr__(self):
        return "a ... d"
class Wide(DataFrame):
    def head(self, n):
        return Rows()
EOF
figure='-f matplotlib.py -f pyplot.py'
cells fig 'import matplotlib.pyplot as plt
plt.plot([1])' $figure --out one
is "$code $out $(ls one)" '0  figure-1.png' 'a figure that is not even shown is kept, and its parts are not printed'
cells fig 'print("none")' $figure --out two
is "$out $(ls two 2>&1 | grep -c figure)" 'none 0' 'one of before is no news'
cells fig 'plt.plot([1])' $figure --out three
is "$(ls three)" 'figure-1.png' 'the same once more is'
cells pd 'import pandas
df = pandas.DataFrame(12)
df' -f pandas.py --json
is "$(jq -r '.cells[0].stdout' out.txt)" 'the table' 'a table is text'
id=$(jq -r '.cells[0].run' out.txt)
like "$("$ASSAY" log export "$id")" '<table></table>' 'and HTML in the record'
like "$("$ASSAY" log export "$id")" 'DataFrame of 12 rows, 2 columns: month .object., sum .int64.' 'with its columns told'
cells pd 's = pandas.Series([5, 6, 7, 8])
w = pandas.Wide(1)
p = [(1, 2), [3]]' -f pandas.py
names=$("$ASSAY" log export last | jq -r '.contents[] | .text // "" | fromjson? | objects | .names // empty | .[] | join(": ")')
like "$names" "^s: Series of 4, int64, by month: .Jan.: 5, .Feb.: 6, .Mar.: 7, \.\.\.$" 'a series by its labels and first values'
like "$names" '^a b c d$' 'a table with all its columns, as long as there is room'
like "$names" '^p: list of 2: \(1, 2\), list of 1$' 'a tuple is no list'
like "$names" '^w: Wide of 1 rows, 2 columns, those of df$' 'columns that were told are named once'
cat >numpy.py <<'EOF'
class Type(str):
    kind = "f"
class ndarray(list):
    dtype = Type("float64")
    shape = property(lambda self: (len(self),))
    size = property(list.__len__)
    def __getitem__(self, part):
        return ndarray(list.__getitem__(self, part))
    def tolist(self):
        return list(self)
class float64(float):
    dtype, shape = Type("float64"), ()
    def __str__(self):
        return "2.5"
EOF
cells np 'import numpy
a = numpy.ndarray([0.5, 1.5, 2.5, 3.5])
m = numpy.float64(2.5)
e = numpy.ndarray()
nothing = None' -f numpy.py
names=$("$ASSAY" log export last | jq -r '.contents[] | .text // "" | fromjson? | objects | .names // empty | .[] | join(": ")')
like "$names" '^a: array of float64, shape \(4,\): 0\.5, 1\.5, 2\.5, \.\.\.$' 'an array by its first values'
like "$names" '^m: float64 2\.5$' 'a number of numpy by its value'
like "$names" '^e: array of float64, shape \(0,\)$' 'an empty one by its shape'
like "$names" '^nothing: None$' 'and None as such'

# --- files that are told ---

told() {
	"$ASSAY" log export last | jq -c '.contents[] | .text // "" | fromjson? | objects | .files // empty'
}
cells hid 'import os
os.makedirs(".cache/fonts")
open(".cache/fonts/a", "w").close()
open("seen", "w").close()'
is "$(told)" '[["/work/seen",0]]' 'a file is told, caches of libraries are not'
echo 'mkdir -p .cache s/.h; : >.cache/a; : >s/.h/b; : >.c; : >s/seen' >hid.sh
run exec --context hidsh hid.sh
is "$(told)" '[["/work/s/seen",0]]' 'of bash, too'
echo 'const fs = require("fs"); fs.mkdirSync(".cache"); fs.writeFileSync(".cache/a", ""); fs.writeFileSync("seen", "")' >hid.js
run exec --context hidjs hid.js
is "$(told)" '[["/work/seen",0]]' 'and of JavaScript'

# --- the record ---

cells r 'x = 6'
cells r 'print(x * 7)'
run replay last --tier pipeline
is "$code" 0 'a replay of what is recorded alone'
run replay last
is "$code" 0 'a replay builds the context from the recorded cells'
like "$out$err" 'identical' 'and does the same'
cells again 'x = 1'
cells again 'y = x + 1'
run replay last~1
cells again 'print(x, y)'
is "$out" '1 2' 'one of an earlier cell takes nothing from the context'
cells clock 'import time
now = time.time()
print(1)'
run replay last
is "$code" 0 'what is in memory may differ: it is no result'
run exec --context r --json cells.py
id=$(jq -r '.cells[0].run' out.txt)
is "$("$ASSAY" log export "$id" | jq -r '.events[] | select(.stage == "execute" and .phase == "started") | .data | .context, (.cells | length)')" 'r
2' 'the record has the context and its cells'
"$ASSAY" log export --bundle "$id" -o one.bundle >/dev/null 2>&1
run log import one.bundle --db other.db
run replay "$id" --db other.db
is "$code" 0 'they travel with the run'
unlike "$("$ASSAY" log show "$id")" 'assay-report' 'what a harness left is no file of the program'

# --- saved, and proven ---

cells s 'import json
rows = json.loads("[3, 4]")
# %%
noise = list(range(100))
# %%
def total(v):
    return sum(v)
# %%
total(rows)'
run log save last -o s.py
is "$code" 0 'a program is saved'
like "$err" '3 of 4 cells' 'with the cells it needs'
like "$err" 'run from nothing it gives the same' 'and proven'
is "$(python3 s.py)" 7 'it stands alone'
unlike "$(cat s.py)" noise 'and has nothing else'
run log save last~1 -o s.ipynb
is "$code" 0 'a notebook'
unlike "$err" 'is a program in' 'whose name says nothing of a language'
is "$(jq -c '[.nbformat, (.cells | map(select(.cell_type == "code")) | length)]' s.ipynb)" '[4,3]' 'in its form'
run log save last~2 -o s.md
like "$(cat s.md)" '^~~~~python' 'a page'
cells w 'open("/out/w.csv", "w").write("1,2")
# %%
print("w", open("/work/w.csv").read())'
run log save last -o w.py
is "$code" 0 'one that reads again what it wrote'
like "$(cat w.py)" 'shutil.copy\("/out/w.csv", "w.csv"\)' 'does what the context did'
cells wk 'open("/work/k.csv", "w").write("1,2")
# %%
print("k", open("k.csv").read())'
run log save last -o k.py
is "$code" 0 'one that reads what it wrote into the work folder'
ending=js
cells wj 'const fs = require("fs")
let a = [1, 2]
// %%
const fs = require("fs")
fs.writeFileSync("/out/a.txt", "3")
// %%
let b = fs.readFileSync("a.txt", "utf8") + a.length
b'
run log save last -o w.js
is "$code" 0 'in JavaScript, where a name is declared twice'
like "$err" '3 of 3 cells' 'with all cells'
ending=sh
cells wb 'echo 1 >/out/w.txt
# %%
cat w.txt'
run log save last -o w.sh
is "$code" 0 'in bash, too'
unlike "$err" 'is a program in' 'whose name tells its language'
cells wc 'echo 1 >/work/c.txt
# %%
cat c.txt'
run log save last -o c.js
is "$code" 0 'and with what it wrote into the work folder'
like "$err" 'it is a program in bash, whose files end in .sh' 'a name that tells another language is noticed'
ending=py
cells v 'import time
print(time.time_ns())'
run log save last -o v.py
is "$code" 1 'one that does not give the same'
like "$err" 'does not give the same: its output is another' 'is said not to'
cells p 'drawn = "a plot"
print("first")
# %%
open("/out/plot.png", "wb").write(b"\x89PNG\r\n\x1a\n" + drawn.encode())'
run log save last -o p.py
is "$code" 0 'one that prints nothing and leaves a file'
like "$err" 'run from nothing it gives the same, 1 file too' 'is proven by its file'
run log save last~1 -o p.ipynb
is "$(jq -c '[.cells[] | select(.cell_type == "code") | [.execution_count, [.outputs[] | [.output_type, .text]]]]' p.ipynb)" \
	'[[1,[["stream","first\n"]]],[2,[["display_data",null]]]]' 'a notebook has what its cells printed and drew'
cells q 'import time
open("/out/plot.png", "w").write(str(time.time_ns()))'
run log save last -o q.py
is "$code" 1 'one whose file is another each time'
like "$err" 'does not give the same: plot.png is another' 'is said not to, by the name of the file'
cells f '1 / 0'
run log save last -o f.py
is "$code" 2 'one that failed left nothing'

# --- how it is asked for ---

ASSAY_FRESH=true run exec first.py
is "$code" 0 "ASSAY_FRESH is for conversations"
run exec --fresh first.py
is "$code" 2 '--fresh alone'
like "$err" 'needs --context NAME' 'says what it is about'
run log contexts
is "$(printf '%s\n' "$out" | sort -u | wc -l)" "$(printf '%s\n' "$out" | wc -l)" 'their names, each once'
like "$out" '^halfway$' 'as they were given'
used=$out
run exec --context "two words" first.py
run exec --context a first.py
run log contexts
is "$(printf '%s\n' "$out" | head -3)" "a
two words
$(printf '%s\n' "$used" | grep -vx a | head -1)" 'the last used first'
run log contexts --json
is "$(jq -c '.[0] | keys' out.txt) $(jq -r '.[1].context' out.txt)" '["context","run","started"] two words' 'with the last run of each'
run log contexts --db none.db --json
is "$code $out" '0 []' 'none before the first run'
run exec --context '' first.py
is "$code" 2 'an empty name'
run exec --context x
like "$err" 'FILE is missing' 'no file'
cells x 'eval("1")' --profile strict
is "$code" 7 'cells are screened as programs are'

done_testing
