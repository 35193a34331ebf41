#!/bin/sh
# What a guest wrote must not become what another program obeys.
. "$(dirname "$0")/lib.sh"

mkdir -p repo/.git && cd repo || exit 1
echo '[core]' >.git/config
echo mine >Makefile
cat >plant.py <<'EOF'
import os
os.makedirs("/out/.git")
for name in (".git/config", ".envrc", "Makefile", "-rf", "new.txt", "sub/.hidden", "sub/seen.txt", "a\nb"):
    os.makedirs(os.path.dirname("/out/" + name), exist_ok=True)
    open("/out/" + name, "w").write("planted")
EOF
run exec plant.py --out .
is "$code" 0 "the program ran"
is "$(cat .git/config)" '[core]' "git's configuration is what it was"
is "$(cat Makefile)" mine "a file that is there is not replaced"
[ ! -e .envrc ] && [ ! -e ./-rf ] && [ ! -e sub/.hidden ]
ok $? "no hidden name and none that reads as an option"
is "$(cat new.txt sub/seen.txt)" plantedplanted "the others are saved"
like "$err" 'not saved: Makefile \(a file of that name is there already' "what was not saved is said"
like "$err" 'not saved: .git/config \(its name is not written' "and why"
unlike "$err" '^b' "a line end in a name does not make a line"
cd ..

# A stand-in for matplotlib, which is not everywhere: a package whose figures can be saved.
echo '__path__ = ["/in"]' >matplotlib.py
cat >pyplot.py <<'EOF'
class Figure:
    def savefig(self, path):
        open(path, "w").write("a figure")
figures = []
def plot(*values):
    figures.append(Figure())
def get_fignums():
    return list(range(1, len(figures) + 1))
def figure(number):
    return figures[number - 1]
def show():
    raise RuntimeError("there is no window")
EOF
cat >shown.py <<'EOF'
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
plt.show()
plt.plot([3, 4])
figures = plt.figures
figures[1].savefig("/out/own.png")
plt.show()
EOF
run exec shown.py -f matplotlib.py -f pyplot.py --out kept
is "$code" 0 "a program that only shows its figures runs"
is "$(ls kept)" 'figure-1.png
own.png' "what it showed is kept, once, and what it saved itself is as it was"
is "$(cat kept/figure-1.png)" 'a figure' "with the figure in it"
run replay last
like "$code $out" '^0 identical' "a replay keeps them, too"
. "$top/tests/integration/model.sh"
say plan "$(plan)"
say code "$(program "$(cat shown.py)")"
say judge "$(verdict pass)"
ask --out asked -f matplotlib.py -f pyplot.py 'Plot it.'
is "$code $(ls asked | tr '\n' ' ')" '0 figure-1.png own.png ' "and so it is where a model wrote the program"
done_testing
