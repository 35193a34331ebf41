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
printf '#!/bin/sh\nexit 3\n' >opener/xdg-open.tmp
chmod +x opener/xdg-open.tmp
mv opener/xdg-open opener/kept
mv opener/xdg-open.tmp opener/xdg-open
clear
line '/open other.txt'
sees '^assay: xdg-open ended with status 3 and opened nothing; the file is' 'an opener that fails is said to'
lacks '^opened' 'and nothing to be opened'
printf '#!/bin/sh\nexec sleep 60\n' >opener/xdg-open
line '/open other.txt'
sees '^opening .*/other.txt' 'of one that goes on only that'
mv opener/kept opener/xdg-open
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

# --- of a conversation that is taken up again ---

rm -f opened.txt
saved=$(echo "$work"/assay-out/*)
open $quick --continue
line '/open other.txt'
until_true test -s opened.txt
is "$(cat opened.txt)" "$saved/other.txt" 'after --continue /open opens what the last program left'
line '/open none.txt'
sees 'left no file none.txt' 'and nothing else'
rm -r opened.txt assay-out
line '/open'
until_true test -s opened.txt
is "$(cat opened.txt)" "$saved/a table.csv" 'what is not there any more is saved again, out of the log'
is "$(cat "$saved/a table.csv" "$saved/other.txt")" "$(printf 'a;b\nx')" 'as it was'
tm set-option -s set-clipboard on
line '/copy'
until_true eval 'tm show-buffer | grep -q forty'
ok $? '/copy has its answer'
keys C-d
left 0 'left'

# --- figures ---

has_library() {
	ldconfig -p 2>/dev/null | grep -q libchafa.so.0 || ls /usr/lib/*/libchafa.so.0 >/dev/null 2>&1
}
# An image of 64 by 32 pixels, left half red, right half blue.
figure='import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
row = b"\0" + b"\xff\0\0" * 32 + b"\0\0\xff" * 32
with open("/out/figure.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 32, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(row * 32)) + chunk(b"IEND", b""))
print("drawn")'
broken='open("/out/broken.png", "wb").write(b"\x89PNG\r\n\x1a\n\0\0\0\x10IHDRrubbish \033]0;owned\a")
print("broken")'

if ! has_library; then
	skip 'figures' 'no libchafa here'
	done_testing
fi
forget
say code "$(program "$figure")"
say code "$(program "$broken")"
open $quick
tm select-pane -T innocent
line 'draw'
sees '^drawn$' 'a program that draws'
sees '^[█▀▄▌▐ ]{20,}' 'a terminal without pictures shows a figure in blocks'
tm capture-pane -p -e -S -200 | grep -a '█\|▀\|▄\|▌\|▐\|48;' | grep -qaE '[34]8;5;(196|9|160)|[34]8;2;25[0-9];'
ok $? 'in its colours'
line 'break'
sees 'no image that can be shown' 'a broken one is said to be'
lacks 'does not see' 'a figure of a turn before is nothing that the model was to see'
is "$(tm display-message -p '#{pane_title}')" innocent 'and touches nothing'
keys C-d
left 0 'left'

# --- /save ---

forget
say plan "$(plan)"
say code "$(program 'import time
print("begun", flush=True)
time.sleep(0.5) # long enough to be told what goes on')"
say judge "$(verdict pass)"
say answer 'It began.'
open --lang python
line 'begin'
sees '^judged: ' 'a turn that a judge ended'
until_true at_prompt
raw
line '/save s.py'
sees '^run from nothing it gives the same' 'is saved'
until_true at_prompt
like "$(cat raw.txt)" 'running what is saved from nothing' 'what is tried for it is called so'
unlike "$(cat raw.txt)" 'judging' 'and not by the stage of the turn before'
keys C-d
left 0 'left'

drawn() { # kind regex name
	forget
	say code "$(program "$figure")"
	printf 'draw\n/quit\n/quit\n' | timeout 600 python3 "$top/tests/integration/answering.py" "$1" sent.txt \
		"$ASSAY" --script s.jsonl $quick
	is "$(tr '\033' '@' <sent.txt | grep -caE -- "$2" | sed 's/[1-9][0-9]*/some/')" some "$3"
	is "$(tr '\033' '@' <sent.txt | grep -caE 'assay> .*typed/quit' | sed 's/[1-9][0-9]*/some/')" some \
		"$1: keys typed while the terminal was asked are kept"
}
drawn kitty '@_G[^@]*a=T' 'kitty: as its pictures'
drawn iterm2 '@\]1337;File=' 'iTerm2: as its pictures'
drawn sixel '@P[0-9;]*q"' 'sixel: as such'
drawn plain '[34]8;5;[0-9]+m' 'others: in blocks'

done_testing
