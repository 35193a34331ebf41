#!/bin/sh
# Completions in the shells themselves: names with blanks, files where files belong, runs, providers.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
rows=30

mkdir bin files
ln -s "$ASSAY" bin/assay
ln -s "$(dirname "$ASSAY")/assay-keeper" bin/assay-keeper
export PATH="$work/bin:$PATH"
echo x >'files/a file.csv'
echo x >files/program.py
for shell in bash zsh fish; do
	"$ASSAY" completion "$shell" >"complete.$shell"
done
run exec files/program.py
forget
say code "$(program 'print(1)')"
run ask --role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python \
	--script s.jsonl 'one'
run exec --context "sales of '26" files/program.py
run exec --context stock files/program.py
id=$("$ASSAY" log list --limit 1 --json | jq -r '.[0].run[-8:]')

# A shell with its completions, in a folder with two files.
start() { # shell
	sessions=$((sessions + 1))
	case $1 in
	bash) begin="exec bash --norc --noprofile -i" ;;
	zsh) begin="exec zsh -f -i" ;;
	fish) begin="exec fish --no-config -i" ;;
	esac
	tm new-session -d -s assay -x "$columns" -y "$rows" \
		"cd '$work/files'; PS1='> '; export PS1; $begin"
	until_true shell_ready
	case $1 in
	bash) line 'bind "set bell-style none"; . ../complete.bash; clear; echo is ready' ;;
	zsh) line 'PS1="> "; autoload -U compinit; compinit -u -D; . ../complete.zsh; clear; echo is ready' ;;
	fish) line 'function fish_prompt; echo "> "; end; source ../complete.fish; clear; echo is ready' ;;
	esac
	see '^is ready'
}
shell_ready() {
	[ -n "$(screen | grep .)" ]
}
completes() { # typed regex name: after Tab
	tm send-keys C-u
	keys -l "$1"
	keys Tab
	[ "$shell" = fish ] || keys Tab
	sees "$2" "$shell: $3"
	keys Escape
	tm send-keys C-u
	tm send-keys C-l
	until_true eval '[ "$(tm capture-pane -p | grep -c .)" -le 1 ]'
}

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null; then
		skip "$shell" "no $shell here"
		continue
	fi
	start "$shell"
	completes 'assay ask -f a' '^> assay ask -f a\\ file.csv' 'a name with a blank'
	completes 'assay ask --provider lms' '^> assay ask --provider lmstudio' 'a provider'
	completes 'assay ask --provider azure-' '^> assay ask --provider azure-dated' 'each of them'
	completes "assay log show $(printf %.5s "$id")" "^> assay log show $id" 'a run'
	completes "assay replay $(printf %.5s "$id")" "^> assay replay $id" 'to be replayed, too'
	completes "assay ask --continue-from $(printf %.5s "$id")" "^> assay ask --continue-from $id" 'or to go on from'
	completes 'assay exec pro' '^> assay exec program.py' 'a program'
	completes 'assay exec --sandbox firec' '^> assay exec --sandbox firecracker' 'a sandbox'
	completes 'assay exec --profile restr' '^> assay exec --profile restricted' 'a profile'
	completes 'assay exec --context st' '^> assay exec --context stock' 'a context'
	completes 'assay exec --context sa' '^> assay exec --context sales\\ of\\ \\'"'26" 'one whose name has blanks and a quote'
	completes 'assay log exp' '^> assay log export' 'a subcommand'
	completes 'assay ask --cont' '^> assay ask --continue' 'an option'
	close
done

# Where no file belongs none is offered.
cd files || exit 1
offers() { # words of bash: what its function leaves to the shell is "(files)"
	bash -c '. ../complete.bash; compopt() { default=off; }; default=on
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay
		[ "$default" = off ] || echo "(files)"; printf "%s\n" "${COMPREPLY[@]}"' - "$@" | grep .
}
is "$(offers assay ask -f '')" '(files)' 'after -f files, and nothing else'
is "$(offers assay ask --file = '')" '(files)' 'after --file=, too'
is "$(offers assay ask --max-calls '')" '' 'after a number nothing'
is "$(offers assay doctor '')" '' 'nor after a command without arguments'
is "$(offers assay exec '')" '(files)' 'of exec files'
if command -v fish >/dev/null; then
	is "$(fish --no-config -c 'source ../complete.fish; complete -C "assay ask -f "' | sort)" 'a file.csv
program.py' 'fish: after -f files, and nothing else'
	is "$(fish --no-config -c 'source ../complete.fish; complete -C "assay doctor "')" '' 'none after a command without'
else
	skip 'fish' 'no fish here'
fi

# A log may hold anything: what no id can be is not offered, and nothing in it is run.
cd "$work" || exit 1
python3 - "$("$ASSAY" log path)" <<'P'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("update runs set id = substr(id, 1, 19) || '$(./x)' where no = 1")
    db.execute("update runs set id = substr(id, 1, 19) || '`./x`;' where no = 2")
    db.execute("update runs set session = 'context stolen$(./x)`./x`;./x' where session = 'context stock'")
    db.execute("update runs set session = 'context ' || char(27) || '[2J' where no = 1")
P
printf '#!/bin/sh\ntouch "%s/was-run"\n' "$work" >files/x
chmod +x files/x
for shell in bash zsh fish; do
	command -v "$shell" >/dev/null || continue
	rm -f was-run
	start "$shell"
	completes 'assay replay la' '^> assay replay last' 'a log with such ids'
	completes 'assay exec --context stol' '^> assay exec --context stolen\\\$\\\(' 'and names of contexts'
	close
	[ ! -e was-run ]
	ok $? "$shell: runs nothing that is in an id"
done
done_testing
