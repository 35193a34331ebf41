#!/bin/sh
# The help, the man page and the completions: complete, correct, and of one mind.
. "$(dirname "$0")/lib.sh"

commands='ask batch replay compare log exec extract screen complete doctor models config completion mcp serve'

# Options in a help text, one "--name" or "--name ARG" per line.
options_of() {
	sed -nE 's/^  (-[A-Za-z], )?(--[a-z-]+( [^ ]+)?)(  .*)?$/\2/p' "$1" | sort
}

# --- the whole ---

run --help
is "$code$err" 0 'assay --help'
cp out.txt help.txt
for command in $commands; do
	grep -qE "^  $command +[a-z]" help.txt || missing="${missing-} $command"
done
is "${missing-none}" none 'lists every command'
is "$(sed -nE 's/^  ([0-9]+) +.*/\1/p' help.txt | tr '\n' ' ')" '0 1 2 3 4 5 6 7 8 9 10 124 125 130 143 ' \
	'and every exit code'
run -h
is "$out" "$(cat help.txt)" 'assay -h is the same'
run help
is "$out" "$(cat help.txt)" 'assay help, too'
run --version
like "$out" '^assay [0-9]+\.[0-9]+\.[0-9]+$' 'assay --version'
version=$out
run -V
is "$code $out" "0 $version" 'assay -V is the same'
run version
like "$code $out" '^0 assay [0-9]+\.' 'and as a word'
run ask --version
is "$code $out" "0 $version" 'every command knows it'

# What the tables of sandboxes name, with what may be left out: azure:[pool:]URL is two names.
named='oci[:RUNTIME] docker:IMAGE microvm[:FOLDER] firecracker[:FOLDER] ssh:[USER@]HOST http:URL e2b[:TEMPLATE]
lambda:FUNCTION[:ALIAS] azure:[pool:]URL modal:URL'
run ask --help
tr -s ' \n' ' ' <out.txt >flat.txt
run completion man
tr -d '\\' <out.txt | tr -s ' \n' ' ' >flat-man.txt
for name in $named; do
	grep -qF "$name" flat.txt || unsaid="${unsaid-} $name"
	grep -qF "$name" flat-man.txt || unsaid="${unsaid-} $name (man)"
done
is "${unsaid-none}" none 'every form of a sandbox has its place in the help and the man page'
for name in $(sed -nE 's/^\| (`[a-z0-9]+(\[?:[^|]*)?`) \|.*/\1/p' "$top/sandbox/remote/README.md" | tr -d '\`,'); do
	says=$(printf '%s' "$name" | sed -E 's/azure:(pool:)?URL/azure:[pool:]URL/; s/lambda:FUNCTION(:ALIAS)?/lambda:FUNCTION[:ALIAS]/')
	grep -qF "$says" flat.txt || untold="${untold-} $name"
done
is "${untold-none}" none 'and so has each of the table of services'

mkfifo unread
exec 8<>unread 9>unread 8<&-
"$ASSAY" --help >&9 2>pipe.txt
exec 9>&-
is "$(cat pipe.txt)" '' 'a reader that leaves (assay --help | head) is no error to speak of'

run mcp --help
tools=$(sed -n 's/.*"name": *"\([a-z_]*\)".*/\1/p' "$top/agent/doors/mcp/tools.json")
is "$(for tool in $tools; do grep -qw "$tool" out.txt || echo "$tool"; done)" '' 'the help of mcp names every tool'
run replay --help
for tier in view pipeline exec model; do
	tr -s ' \n' ' ' <out.txt | grep -q "$tier (" || untold="${untold-} $tier"
done
is "${untold-none}" none 'that of --tier says what each is'

# --- make help ---

make -s -C "$top" help >make.txt 2>&1
is "$(for target in demo check check-all check-ci fuzz bench install; do
	grep -q "^  make $target" make.txt || echo "$target"; done)" '' 'make help says what the targets are for'

# --- lists that stand in tables ---

run ask --help
for role in plan code repair tests cross_check judge answer; do
	printf '%s\n' "$out" | sed -n '/--role-model/,/drops/p' | grep -qw "$role" || unnamed="${unnamed-} $role"
done
is "${unnamed-none}" none 'the help of --role-model names each role'
unlike "$out" 'ROLES|LANGUAGES' 'and no placeholder'

# --- providers ---

sed -n '/^Providers/,/^$/p' help.txt | sed 1d | grep . >providers.txt
is "$(grep -c "ask .*'your question'" providers.txt)" 11 'the providers that most people have'
missing=$(sed -E "s/^  ([^ ]+( Studio)?) +(export|ollama|vllm|lms|llama)/\\1\n\\3/; s/^ +//" providers.txt |
	while read -r words; do grep -qF -- "$words" "$top/README.md" || echo "$words"; done)
is "$missing" '' 'stand in the README with the same two lines'
for name in $(sed -nE 's/.*--provider ([^ ]+).*/\1/p' providers.txt); do
	timeout 20 "$ASSAY" complete --provider "$name" -m m --base-url http://127.0.0.1:9/v1 --retries 0 q \
		>/dev/null 2>>unknown.txt </dev/null
	[ $? -ne 2 ] || wrong_provider="${wrong_provider-} $name"
done
is "${wrong_provider-none}" none 'and are known by those names'
for variable in $(grep -o '[A-Z_]*_API_KEY' providers.txt); do
	grep -qF "\"$variable\"" "$top/agent/cli/vendor.c" || wrong_key="${wrong_key-} $variable"
done
is "${wrong_key-none}" none 'as are their keys'

# --- each command ---

mkdir help
for command in $commands; do
	run "$command" --help
	is "$code$err $(head -n 1 out.txt | cut -d ' ' -f 1-3)" "0 usage: assay $command" "assay $command --help"
	cp out.txt "help/$command"
	run help "$command"
	cmp -s out.txt "help/$command"
	ok $? "assay help $command is the same"
	options_of "help/$command" >"$command.options"
done
is "$(cat help/* | awk 'length > 100' | head -n 3)" '' 'no line is longer than 100 columns'
cat ./*.options | sort -u >all.options
[ "$(wc -l <all.options)" -gt 50 ]
ok $? 'there are options to speak of'

# Every option tried on every command: taken exactly when its help lists it. With sanitizers, where two
# thousand starts take half a minute of the processor, those that it lists are given at once only, and
# of the others each goes to one command only.
sanitized=
[ "${ASSAY_TEST_PHASE-}" != sanitized ] || sanitized=yes
turn=0
for command in $commands; do
	taken= at_once=
	turn=$((turn + 1)) number=0
	while read -r option argument; do
		number=$((number + 1))
		if grep -qxF -- "$option${argument:+ $argument}" "$command.options"; then
			at_once="$at_once $option${argument:+=1}"
			[ -z "$sanitized" ] || continue
		elif [ "$sanitized" ] && [ $((number % 15 + 1)) -ne "$turn" ]; then
			continue
		fi
		"$ASSAY" "$command" "$option${argument:+=1}" --help >/dev/null 2>&1 </dev/null &&
			taken="$taken$option${argument:+ $argument}
"
	done <all.options
	is "$(printf %s "$taken")" "$([ "$sanitized" ] || cat "$command.options")" \
		"assay $command takes what its help lists, and no more"
	# shellcheck disable=SC2086 # options
	run "$command" $at_once --help
	is "$code" 0 'and all of that at once'
done

# --- mistakes ---

run aks
is "$code" 2 'a command that is none: exit code 2'
like "$err" 'did you mean "ask"' 'and the nearest is named'
run zzzzzzzz
is "$code" 2 'one that is near to none'
unlike "$err" 'did you mean' 'gets no silly suggestion'
run 'What is 6 times 7?'
is "$code" 2 'a question without ask'
like "$err" 'assay ask' 'is told where it belongs'
run ask --modle x y
is "$code" 2 'an option that is none'
like "$err" '"?--model' 'and the nearest is named'
run ask --timeout
is "$code" 2 'an option without its value'
run exec --judge-me x
is "$code" 2 'an option of nobody'
unlike "$err" 'stands behind' 'before FILE it can be nothing else'
printf 'import sys\nprint(sys.argv[1:])\n' >told.py
run exec told.py --verbose
like "$code $err" '^2 .*unknown option --verbose; .*; an argument that begins with - stands behind --$' 'after it, where an argument stands is said'
run exec told.py -n 3
like "$code $err" '^2 .*unknown option -n; .* stands behind --$' 'of one letter, too'
run exec -q told.py -- --verbose -n 3
is "$code $out" "0 ['--verbose', '-n', '3']" 'and it is one there'
run ask --json=yes x
is "$code" 2 'a switch with a value'
is "$out" '' 'nothing of it goes to standard output'
run help nonsense
is "$code" 2 'help on nothing'

# --- the man page ---

run completion man
is "$code$err" 0 'assay completion man'
cp out.txt assay.1
if command -v groff >/dev/null; then
	is "$(groff -man -ww -Tutf8 assay.1 2>&1 >page.txt)" '' 'groff has nothing to warn of'
	if command -v man >/dev/null; then
		is "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z assay.1 2>&1 >/dev/null)" '' \
			'nor man'
	else
		skip 'nor man' 'no man here'
	fi
	LC_ALL=C.UTF-8 groff -man -Tutf8 -P-c -P-b -P-u -rHY=0 assay.1 >page.txt 2>/dev/null
	tr -s ' \n' ' ' <page.txt >flat.txt
	missing=$(while read -r option argument; do
		grep -qF -- "$option${argument:+ }" flat.txt || echo "$option"
	done <all.options)
	is "$missing" '' 'every option is on the page'
else
	skip 'groff has nothing to warn of' 'no groff here'
fi
is "$(grep -B 1 '^For: ' assay.1 | grep -v '^For: \|^--' | sort -u)" .br 'who takes an option stands on a line of its own'
is "$(sed -n '/^\.SS assay ask/,/^\.SS/p' assay.1 | grep -c '^\.PP$')" 2 'a paragraph of the help is one of the page'
missing=$(for command in $commands; do grep -q "^\.SS assay $command" assay.1 || echo "$command"; done)
is "$missing" '' 'and every command'
is "$(sed -nE '/^\.SH EXIT/,/^\.SH FILES/s/^\.B ([0-9]+)$/\1/p' assay.1 | tr '\n' ' ')" \
	'0 1 2 3 4 5 6 7 8 9 10 124 125 130 143 ' 'and every exit code'
# "For: ask, batch." under an option names the commands whose help has it.
awk '/^\.B / && /\\-\\-/ { name = $0; sub(/.*\\-\\-/, "--", name); sub(/ .*/, "", name); gsub(/\\-/, "-", name) }
	sub(/.*For: /, "") && name { sub(/\.$/, ""); gsub(/, /, " "); sub(/\(none\) ?/, ""); print name " " $0 }' \
	assay.1 | sed 's/ *$//' | sort >man.takers
for command in $commands; do
	sed "s/ .*//; s/\$/ $command/" "$command.options"
done | awk -v all="$(echo "$commands" | wc -w)" '{ who[$1] = who[$1] " " $2; count[$1]++ }
	END { for (option in who) if (count[option] != all) print option who[option] }' | sort >help.takers
sort_words() {
	while read -r option who; do
		echo "$option $(printf '%s\n' $who | sort | tr '\n' ' ')"
	done
}
is "$(sort_words <man.takers)" "$(sort_words <help.takers)" 'the page names the commands that take an option, as their help does'

# --- completions ---

for shell in bash zsh fish; do
	run completion "$shell"
	is "$code$err" 0 "assay completion $shell"
	cp out.txt "complete.$shell"
	if command -v "$shell" >/dev/null; then
		"$shell" -n "complete.$shell" 2>err.txt
		is "$?$(cat err.txt)" 0 "$shell can read it"
	else
		skip "$shell can read it" "no $shell here"
	fi
	missing=$(while read -r option argument; do
		grep -qE -- "(^|[ \"])(--|-l )${option#--}([ \"]|\$)" "complete.$shell" || echo "$option"
	done <all.options)
	is "$missing" '' "$shell: it knows every option"
done
complete_words() { # command word: what bash offers
	bash -c '. ./complete.bash; COMP_WORDS=(assay "$@"); COMP_CWORD=$#; _assay; printf "%s\n" "${COMPREPLY[@]}"' \
		- "$@"
}
if command -v bash >/dev/null; then
	for command in $commands; do
		offered=$(complete_words "$command" -- | sort)
		[ "$offered" = "$(cut -d ' ' -f 1 "$command.options")" ] || wrong="${wrong-} $command"
	done
	is "${wrong-none}" none 'bash offers what the help lists'
	is "$(complete_words ba)" batch 'and commands'
	is "$(complete_words replay --tier v)" view 'and values'
	is "$(complete_words log ver)" verify 'and subcommands'
else
	skip 'bash offers what the help lists' 'no bash here'
fi
run completion tcsh
is "$code" 2 'a shell that is not known'


# --- subcommands ---

for sub in list show search stats export import merge diff verify save rm prune reindex backup path; do
	run log "$sub" --help
	is "$code $(head -n 1 out.txt | cut -d' ' -f1-5)" "0 usage: assay log $sub [OPTION...]" "log $sub --help is its own"
	run help log "$sub"
	is "$code $(head -n 1 out.txt | cut -d' ' -f1-5)" "0 usage: assay log $sub [OPTION...]" "and help log $sub"
done
run log verify --help
like "$out" '[-]-head FILE' 'it has the options that it heeds'
unlike "$out" '[-]-(bundle|keep-days|status)' 'and no other'
run log --help
is "$(sed -n 's/^\([a-z]*\)  *[A-Za-z[-].*/\1/p' out.txt | grep -xE 'backup|diff|export|import|list|merge|path|prune|reindex|rm|save|search|show|stats|verify' | sort -u | wc -l)" \
	15 'log --help has all of them'

done_testing
