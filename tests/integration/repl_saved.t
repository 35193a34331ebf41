#!/bin/sh
# What a program left, at the terminal: links, /open, /copy, figures.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
columns=80
rows=40
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"
raw() { # what the terminal is sent, from now on
	: >raw.txt
	tm pipe-pane "cat >>$work/raw.txt"
}

mkdir opener
cat >opener/xdg-open <<S
#!/bin/sh
echo "\$1" >"$work/opened.tmp" && mv "$work/opened.tmp" "$work/opened.txt"
S
chmod +x opener/xdg-open
export PATH="$work/opener:$PATH"

forget
say code "$(program 'open("/out/a table.csv", "w").write("a;b\n")
open("/out/other.txt", "w").write("x")
print("\033]52;c;aGk=\a forty", 2)')"
open $quick
line '/open'
sees 'left no file' '/open before there is one'
line '/copy'
sees 'nothing to copy' '/copy, too'
raw
line 'write'
sees '^assay-out/[0-9A-Z]{8}/a table.csv \(4 bytes' 'a saved file is named, in a folder with a short name'
until_true at_prompt
is "$(grep -c "$(printf '\033]8;;file://[^/]*%s/assay-out/[0-9A-Z]*/a%%20table.csv\033' "$work")" raw.txt)" 1 \
	'as a link to its place'
line '/open'
until_true test -s opened.txt
is "$(cat opened.txt)" "$(echo "$work"/assay-out/*/a\ table.csv)" '/open opens it'
rm opened.txt
keys -l '/open oth'
keys Tab
keys Enter
until_true test -s opened.txt
is "$(cat opened.txt)" "$(echo "$work"/assay-out/*/other.txt)" 'another by its name, which Tab completes'
line '/open ../../s.jsonl'
sees 'left no file ../../s.jsonl' 'and nothing else'
tm set-option -s set-clipboard on
line '/copy'
sees '^copied' '/copy'
is "$(tm show-buffer)" '<1B>]52;c;aGk=<07> forty 2' 'the answer is in the clipboard, harmless'
line '/copy code'
until_true eval 'tm show-buffer | grep -q other.txt'
ok $? 'or the code'
line '/copy everything'
sees '/copy takes code, output or nothing' 'what else there is not'
keys C-d
left 0 'left'

done_testing
