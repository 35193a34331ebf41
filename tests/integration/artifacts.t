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
done_testing
