#!/bin/sh
# One conversation with all that a person does in it, typed and read at each kind of terminal that people have:
# the usual size, a narrow one, a large one, one that is made smaller while a program runs, one without colours and
# one that can do nothing. What only one of them shows is in repl*.t and context_repl.t.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

mkdir opener
cat >opener/xdg-open <<S
#!/bin/sh
echo "\$1" >"$work/opened.tmp" && mv "$work/opened.tmp" "$work/opened.txt"
S
chmod +x opener/xdg-open
export PATH="$work/opener:$PATH"
mkdir 'a folder'
echo x >'a folder/some data.csv'
printf 'city;sales\nRiga;40\nOslo;2\n' >sales.csv
printf '\211PNG\r\n\032\nrest' >photo.png

# --- what the model says ---

# An image of 64 by 32 pixels, left half red, right half blue; long notes; a long output.
figure='import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
row = b"\0" + b"\xff\0\0" * 32 + b"\0\0\xff" * 32
with open("/out/a figure.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 32, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(row * 32)) + chunk(b"IEND", b""))
for n in range(40):
    print("left out, row", n, file=sys.stderr)
for n in range(120):
    print("line", n, total)'
# What a bar of progress writes again and again, in a program that is longer than what changes in it.
progress='import os
columns = ["first", "second", "third"]
numbers = {name: n for n, name in enumerate(columns)}
print(sorted(numbers))
print(len(numbers), "columns")
print(sum(numbers.values()), "in all")
for n in range(101):
    print(f"\r{n} of 100", end="", flush=True)'
many() { # questions that are answered at once, the first with a table
	forget
	say code "$(program 'for n in range(3):
    print(n, "column " * 40, "end", n)')"
	for n in 2 3 4 5 6 7; do
		say code "$(program "print('answer', $n)")"
	done
}
script() { # word
	forget
	say code "$(program 'print("separator", open("/in/sales.csv").readline()[4])' 'python look')"
	say code "$(program 'rows = [row.strip().split(";") for row in open("/in/sales.csv")]
total = sum(int(n) for _, n in rows[1:])
for city, n in rows:
    print(f"{city:5} {n:>6}")')"
	say code "$(program "$progress
os.execv('/usr/bin/tail', ['tail-$$-$1', '-f', '/dev/null'])")"
	say repair "$(program "$progress
print(' mended', total)")"
	say code "$(program "$figure")"
	say code "$(program 'raise ValueError("no such city")')"
	say repair "$(program 'raise ValueError("no such city")')"
	say code "$(program "import os
os.execv('/usr/bin/tail', ['tail-$$-$1-ends', '-f', '/dev/null'])")"
}

# --- what is typed, and seen ---

resized() { # columns rows
	size="$2 $1"
	tm resize-window -t assay -x "$1" -y "$2"
	until_true eval '[ "$(stty size <"$(tm display-message -p "#{pane_tty}")")" = "$size" ]'
}
escapes() { # regex: lines of what was sent that have such a sequence
	grep -caE -- "$(printf '\033')$1" raw.txt
}
draws() {
	[ "$term" != dumb ] && { ldconfig -p 2>/dev/null | grep -q libchafa.so.0 ||
		ls /usr/lib/*/libchafa.so.0 >/dev/null 2>&1; }
}
ready() {
	until_true at_prompt_or_left
}

record() { # what the terminal is sent
	tm pipe-pane "cat >>$work/raw.txt"
}
coming() { # what [columns rows, meanwhile]: a reply and an output as they come
	slowly "$1-comes"
	ASSAY_CAREFUL=false model='--model-command ./slow'
	open --fast --require none --timeout 60 --profile off --max-attempts 1
	ASSAY_CAREFUL=true model='--script s.jsonl'
	record
	line 'what is the sum?'
	if [ "$term" = dumb ]; then
		sees '^writing the program \.\.\.$' "$1: what goes on is a line like others"
		: >go
		sees '^running \.\.\.$' "$1: each"
	else
		sees '^approach: add up the rows$' "$1: the approach, before the program is there"
		sees '^total = 0$' "$1: the program as it comes"
		[ "$columns" -lt 60 ] ||
			sees '^writing the program \.\.\. ~[0-9]+ tokens, ~[0-9]+ a second, [0-9]+ s$' "$1: and how fast"
		[ $# -lt 3 ] || resized "$2" "$3"
		: >go
		sees '^(│ )?row 39$' "$1: the output while the program runs"
		sees "^running \.\.\. [0-9]+ bytes, [0-9]+ MiB, [0-9]+ s$" "$1: its time and memory"
	fi
	until_true pgrep -f "tail-$$-$1-comes" >/dev/null
	pkill -f "tail-$$-$1-comes"
	sees '^failed: ' "$1: its end"
	ready
	is "$(screen | grep -c '^approach: add up the rows$')" 1 "$1: the approach stays, once"
	is "$(screen | grep -c '^total = 0$')" 1 "$1: and the program"
	lacks '^(writing the program|running) .* s$' "$1: no live line is left of it"
	keys C-d
	left 0 "$1: left"
}
turns() { # what: more of them than the model is told
	many
	open $quick --fresh
	record
	line 'wide?'
	sees '^2 column .*…$' "$1: a wide table is cut"
	sees '^cut to this terminal.s width; /show output has' "$1: which is said"
	ready
	line '/show output'
	sees ' end 2$' "$1: /show output has it whole"
	ready
	for n in 2 3 4 5 6 7; do
		line "question $n"
		see "^answer $n$"
		ready
	done
	sees '^no longer sent to the model, which is' "$1: a turn that is dropped"
	sees 'told 6 turns: "wide\?"$' "$1: is named"
	id=$("$ASSAY" log list --limit 1 --json | jq -r '.[0].run[-8:]')
	keys -l "/show $(printf %.7s "$id")"
	keys Tab
	sees "^assay> /show $id *$" "$1: Tab completes a run"
	keys C-u
	keys -l '/model claude-op'
	keys Tab
	sees '^assay> /model claude-opus-4-1 *$' "$1: and a model"
	keys C-u
	keys C-d
	left 0 "$1: left with seven turns"
}
questions() { # what [columns rows, while a program runs]
	line 'how much?'
	sees '^the model looked first' "$1: a look is told of"
	sees '^photo.png is a file for the' "$1: so is an image that the model does not see"
	sees '^Riga      40$' "$1: a table"
	ready
	line 'wait'
	until_true pgrep -f "tail-$$-$1" >/dev/null
	[ $# -lt 3 ] || resized "$2" "$3"
	[ "$term" = dumb ] || sees '^100 of 100$' "$1: of a bar of progress the last is seen"
	line 'typed early'
	keys -l 'half'
	pkill -f "tail-$$-$1"
	sees "^-os.execv" "$1: what the repair took away"
	sees "^\+print\(' mended', total\)$" "$1: and what it put there"
	is "$(screen | grep -c '^numbers = ')" 1 "$1: not the whole program again"
	sees '100 of 100 mended 42$' "$1: its output, from the state before it"
	sees '^assay> typed early$' "$1: what was typed during the run has its turn"
	sees '^line 99 42$' "$1: and its answer"
	sees '^\.\.\. 20 more lines; /show output has' "$1: which is folded"
	sees '^  \.\.\. [0-9]+ of [0-9]+ bytes not' "$1: as is what it noted"
	sees '^assay-out/[0-9A-Z]{8}/a figure.png' "$1: what it saved is named"
	! draws || sees '^ *[▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▔▕▖▗▘▙▚▛▜▝▞▟]' "$1: and drawn"
	sees '^assay> half$' "$1: what was not sent stands in the line"
	lacks '^(writing the program|running|looking first) .* s$' "$1: no live line is left"
}
typing() { # what
	keys C-c
	sees '^assay> half\^C$' "$1: Ctrl-C leaves what it clears to be read"
	ready
	lacks 'Ctrl-C again' "$1: and is not the first of two"
	# A terminal that can do nothing does not mark what is pasted: there 300 lines are 300 that were typed.
	if [ "$term" != dumb ]; then
		seq 300 | tm load-buffer -
		tm paste-buffer -p
		sees '^assay> \[pasted 1: 300 lines\]$' "$1: 300 pasted lines are one word"
		keys C-u
	fi
	keys -l '/attach a\ f'
	keys Tab
	sees '^assay> /attach a\\ folder/ *$' "$1: Tab completes a folder with a blank"
	keys C-u
	keys -l '/contex'
	keys Tab Enter
	sees '^ +[0-9]+  turn 1: how much\?$' "$1: a command, and /context has the turns"
	sees '^rows: list of 3' "$1: and what is in memory"
	ready
}
commands() { # what
	line '/show output'
	sees '^line 119 42$' "$1: /show output has all of an output"
	sees '^left out, row 39$' "$1: and of what was noted"
	line '/runs'
	sees '^[0-9A-Z]{8}  .*ran .*how much' "$1: /runs shows the question"
	for kind in py ipynb md; do
		rm -f "a folder/it.$kind"
		line "/save 'a folder/it.$kind'"
		until_true test -s "a folder/it.$kind"
		ok $? "$1: /save writes $kind, in a folder with a blank"
		ready
	done
	is "$(screen | grep -c '^run from nothing it gives the same')" 3 "$1: and proves each"
	line '/export a\ folder/runs.jsonl'
	sees '^3 runs of this session in a' "$1: /export, too"
	line '/open'
	until_true test -s opened.txt
	like "$(cat opened.txt)" 'assay-out/[0-9A-Z]{8}/a figure\.png$' "$1: /open opens what was saved"
	rm -f opened.txt
	ready
	line '/copy'
	if [ "$term" = dumb ]; then
		sees 'no clipboard that is known' "$1: /copy says that there is none"
	else
		sees '^copied$' "$1: /copy"
	fi
	line '/undo'
	sees '^forgotten, and what its program' "$1: /undo"
	ready
}
failures() { # what
	line 'it fails'
	sees 'ValueError: no such city' "$1: an error is told"
	sees '^assay> it fails$' "$1: below the question that it is of"
	ready
	line 'stop'
	until_true pgrep -f "tail-$$-$1-ends" >/dev/null
	keys C-c
	ready
	sees 'cancelled' "$1: Ctrl-C ends a program, and it is said"
}
sequences() { # what: those that the terminal was sent
	case $1 in
	dumb) is "$(escapes '')" 0 "$1: no sequence is sent" ;;
	NO_COLOR) is "$(escapes '\[[1-9][0-9;]*m')" 0 "$1: no colour is sent" ;;
	*) like "$(escapes '\[[1-9][0-9;]*m')" '^[1-9]' "$1: colours are sent" ;;
	esac
	[ "$term" = dumb ] || like "$(escapes '\]8;;file://')" '^[1-9]' "$1: a path is a link"
}

while read -r what columns rows term to; do
	term=${term#-}
	[ "$what" != NO_COLOR ] || export NO_COLOR=1
	: >raw.txt
	# shellcheck disable=SC2086 # none, or two
	coming "$what" $to
	turns "$what"
	script "$what"
	open $quick --timeout 60 --profile off -m blind-1 -f sales.csv -f photo.png
	record
	# shellcheck disable=SC2086 # none, or two
	questions "$what" $to
	typing "$what"
	commands "$what"
	failures "$what"
	keys C-d
	left 0 "$what: left"
	sequences "$what"
	open $quick --continue
	sees '^before: how much\?$' "$what: --continue says what was asked before"
	keys C-d
	left 0 "$what: left again"
	unset NO_COLOR
done <<'T'
usual 80 24 -
narrow 40 20 -
large 200 50 -
resized 100 30 - 48 18
NO_COLOR 80 24 -
dumb 80 24 dumb
T

done_testing
