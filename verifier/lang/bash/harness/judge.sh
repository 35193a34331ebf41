# Runs the tests of a program that is not here, and reports how many assertions
# were executed and which failed. What the tests call of it is asked over a pipe
# (bash_program.sh): nothing of the program is ever a command, function or file
# in this shell, and its names are taken only where this shell has none.
#
# An assertion is a [, [[, (( or test command of the tests, or a call of
# assert COMMAND... or assert_equal ACTUAL EXPECTED, which are defined here.
# One that fails outside a condition fails the run, and so does a tests file
# that exits with a status other than 0.
#
# What the program says is text, and text acts where bash takes it for more: a
# name or a subscript in arithmetic, a pattern, words of an unquoted expansion, a
# command. So each command of the tests is looked at before it runs. Where it
# would take an answer for more than a value, and the answer is not plainly one,
# the command does not run, or is given nothing: its assertion is undecided.
#
# What it says about another answer of its own is its own word, as an exit status or
# as yes or no, and so is what one function of it makes of both sides of a comparison.
# A file that it names is one of the tests' walls, where it never was. And an assertion
# that stands in the tests and is never made is undecided, too (unmade.sh). What is
# left: tests too weak to tell a wrong program, and the times between its calls.
_assay_report='@REPORT@'
_assay_dir=${BASH_SOURCE[0]%/*}
_assay_tests=$_assay_dir/'@TESTS@'
_assay_tmp=$(mktemp -d /tmp/assay.XXXXXX)
_assay_shell=$$
exec {_assay_from}<&3 3<&- {_assay_to}>&4 4>&-
_assay_acts=
_assay_line=0
_assay_command=
_assay_text=$(cat "$_assay_tests"; printf x)
_assay_text=${_assay_text%x}
rm -f -- "$_assay_tests" "${BASH_SOURCE[0]}" 2>/dev/null
: >"$_assay_tmp/said"
: >"$_assay_tmp/undecided"
: >"$_assay_tmp/lines"
: >"$_assay_tmp/calls"
: >"$_assay_tmp/answers"
# One question at a time, also from two sides of a pipe.
mkfifo "$_assay_tmp/turn"
exec {_assay_turn}<>"$_assay_tmp/turn"
printf . >&"$_assay_turn"

# --- the report ---

# Also from a subshell.
_assay_undecided()
{
	printf '%s\n' "{\"line\":$1,\"why\":$(_assay_quote "$2")}" >>"$_assay_tmp/undecided"
}

_assay_finish()
{
	trap - DEBUG ERR EXIT
	local unlike=null undecided
	[ -e "$_assay_tmp/asked" ] || [ -n "$_assay_given" ] || [ "$_assay_failed" -gt 0 ] ||
		printf 'they ask nothing of the program' >"$_assay_tmp/unlike"
	[ -s "$_assay_tmp/unlike" ] && unlike=$(_assay_quote "$(cat "$_assay_tmp/unlike")")
	[ "$_assay_failed" -gt 0 ] || _assay_look_back
	undecided=$(sort -u "$_assay_tmp/undecided" | head -n 100 | paste -sd,)
	printf '{"assertions":%d,"failed":%d,"failures":[%s],"undecided":[%s],"unlike":%s}\n' \
		"$_assay_count" "$_assay_failed" "$_assay_failures" "$undecided" "$unlike" \
		>"$_assay_report"
	exit $((_assay_failed > 0))
}

# The lines of the tests from which an assertion was made.
_assay_made()
{
	printf '%s\n' "${BASH_LINENO[@]:1:${#BASH_LINENO[@]}-3}" >>"$_assay_tmp/lines"
}

assert()
{
	_assay_made
	_assay_count=$((_assay_count + 1))
	"$@" || _assay_fail "${BASH_LINENO[0]}" "assert $*"
	return 0
}

assert_equal()
{
	_assay_made
	_assay_count=$((_assay_count + 1))
	[ "$1" = "$2" ] || _assay_fail "${BASH_LINENO[0]}" "is '$1', should be '$2'"
	return 0
}

# --- what an answer may do where it stands ---

# A whole number is the same number wherever it stands, and one word of these
# letters is itself as a pattern and as a word.
_assay_number='^[[:space:]]*-?(0|[1-9][0-9]{0,17})[[:space:]]*$'
_assay_word='^[[:alnum:]_.,:/@%+=-]+$'

# How a command of the tests would take a value: n(umber, arithmetic), p(attern),
# r(egular expression), w(ords), e(xecuted), f(ile).
_assay_n='\(\(|\$\[|(^|[;&|[:space:]])(let[[:space:]]|printf[[:space:]]+-v|(declare|typeset|local)[[:space:]]+-[a-zA-Z]*i)|[[:space:]]-v[[:space:]]'
_assay_n+='|(^|[;&|[:space:]])(declare|typeset|local|export|readonly|unset|mapfile|readarray|read)[[:space:]][^=<]*[$`]'
_assay_n+='|[A-Za-z0-9_]\[[^]@*"]*[A-Za-z$`][^]]*\]|\$\{[A-Za-z0-9_@*#!]+:[^-+=?}]'
_assay_n+='|[A-Za-z0-9_]\["[^]]*[$`]'
_assay_p='\$\{[^}]*[#%/^,]|(^|[;&|[:space:]])(grep|egrep|fgrep|sed|awk|gawk|mawk|expr|find|perl|python3?|ls)[[:space:]]'
_assay_e='(^|[;&|({[:space:]])(eval|source|\.|exec|bash|sh|dash|trap|xargs|env|command|builtin|coproc|enable|alias|timeout|nohup|nice)([[:space:]]|$)|^[[:space:]]*"?[$`]|^assert[[:space:]]+"?[$`]'
_assay_f='^(\[\[?|test)[[:space:]]((([^$`]|\$[A-Za-z_0-9{])*[[:space:]])?-[bcdefghkprstuwxGLNOS][[:space:]]+"?[^[:space:]]*[$`]|.*-(nt|ot|ef)[[:space:]])'
_assay_f+='|^(cat|head|tail|wc|cmp|diff|stat|file|cksum|md5sum|sha[0-9]*sum|sort|uniq|comm|join|paste|od|xxd|tac|nl|cut|readlink|realpath|du)[[:space:]](([^<|]*[[:space:]])?"?[^-<[:space:]][^<|]*|[[:space:]]*"?)[$`]'
_assay_from_file='(^|[^<])<[[:space:]]*"?[^<([:space:]]*[$`]'
_assay_from_asked='(^|[^<])<[[:space:]]*"?[^<([:space:]]*(\$\(|`)'
_assay_side='(=~|==|!=|[[:space:]]=[[:space:]])([^&|]*)'
_assay_splits_none='^((local|declare|typeset|export|readonly)[[:space:]]+(-[a-zA-Z]+[[:space:]]+)*)?[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=|^(for|select)[[:space:]]|^(echo|printf)[[:space:]]|^\(\('
_assay_part='^([^"'\''$`\]*)(["'\''$`\])'
_assay_compare='[[:space:]]-(eq|ne|lt|le|gt|ge)[[:space:]]'

# An expansion that no double quote holds together.
_assay_is_loose()
{
	local rest=$1 quoted=
	while [[ $rest =~ $_assay_part ]]; do
		rest=${rest:${#BASH_REMATCH[0]}}
		case ${BASH_REMATCH[2]} in
		\\) rest=${rest:1} ;;
		\') [ -n "$quoted" ] || rest=${rest#*\'} ;;
		\") [ -n "$quoted" ] && quoted= || quoted=1 ;;
		*) [ -n "$quoted" ] || return 0 ;;
		esac
	done
	return 1
}

# The right sides of a [[: patterns where no quote makes them text.
_assay_look_at_sides()
{
	local rest=$1 side
	while [[ $rest =~ $_assay_side ]]; do
		rest=${rest#*"${BASH_REMATCH[0]}"}
		side=${BASH_REMATCH[2]}
		if [[ ${BASH_REMATCH[1]} == '=~' && $side == *[\$\`]* ]]; then
			_assay_holds+=r
		elif _assay_is_loose "$side"; then
			_assay_holds+=p
		else
			continue
		fi
		_assay_scanned+=" $side"
		[[ $side == *'$('* || $side == *'`'* ]] && _assay_acts+=${_assay_holds: -1}
	done
}

# What is read from, where a file is named by an expansion.
_assay_look_at_files()
{
	[[ $1 != '[['* && $1 != '(('* && $1 =~ $_assay_from_file ]] || return
	_assay_holds+=f _assay_scanned+=" ${1#*"${BASH_REMATCH[0]%?}"}"
	[[ $1 =~ $_assay_from_asked ]] && _assay_acts+=f
}

# Whether an assignment is to a variable that reckons whatever it is given.
_assay_reckons()
{
	[[ $1 =~ ^([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?\+?= ]] || return 1
	local -n _assay_ref=${BASH_REMATCH[1]}
	[[ ${_assay_ref@a} == *i* ]]
}

# _assay_acts: how this command would take what is asked for within it.
# _assay_holds: how it would take the variables that _assay_scanned names.
_assay_look()
{
	_assay_acts= _assay_holds= _assay_scanned=
	[[ $1 =~ $_assay_e ]] && _assay_acts+=e
	[[ $1 =~ $_assay_n ]] && _assay_acts+=n
	_assay_reckons "$1" && _assay_acts+=n
	[[ $1 =~ $_assay_p ]] && _assay_acts+=p
	[[ $1 =~ $_assay_f ]] && _assay_acts+=f
	if [[ $1 == '[['* ]]; then
		[[ $1 =~ $_assay_compare ]] && _assay_acts+=n
	elif ! [[ $1 =~ $_assay_splits_none ]] && _assay_is_loose "${1%%<<<*}"; then
		_assay_acts+=w
	fi
	[ -z "$_assay_acts" ] || _assay_holds=$_assay_acts _assay_scanned=$1
	_assay_look_at_files "$1"
	if [[ $1 == case\ * && -n $_assay_cases ]]; then
		_assay_acts+=p
		_assay_holds+=p _assay_scanned=$_assay_text
	fi
	[[ $1 == '[['* ]] && _assay_look_at_sides "$1"
}

# Patterns of a case that expand something, anywhere in the tests: bash tells of
# a case its first line only.
_assay_cases=
[[ $_assay_text == *case* ]] && awk '
	BEGIN { RS = "\001" }
	{
		count = split($0, part, /(^|[[:space:];])in([[:space:]]|$)|;;&?|;&/)
		for (i = 2; i <= count; i++) {
			sub(/\).*/, "", part[i])
			if (part[i] ~ /[$`]/ && part[i] !~ /(^|[[:space:];])(do|then|esac)([[:space:]]|$)/)
				found = 1
		}
	}
	END { exit !found }' <<<"$_assay_text" && _assay_cases=1

# Why a text that the program said may not stand where it would be taken like
# that: in _assay_why. Not 0: it may.
_assay_may_act()
{
	_assay_why=
	[[ $2 =~ $_assay_number && $1 != *[erf]* ]] && return 1
	case $1 in
	*e*) _assay_why='what the program said would be run as a command' ;;
	*n*) _assay_why='what the program said is no whole number, and would be reckoned with' ;;
	*r*) _assay_why='what the program said would be a regular expression' ;;
	*f*) _assay_why='what the program said would be the name of a file' ;;
	*[pw]*) [[ $2 =~ $_assay_word ]] ||
		_assay_why='what the program said would be taken for more than a value' ;;
	esac
	[ -n "$_assay_why" ]
}

# Whether the program said this, alone or within more.
_assay_is_said()
{
	local line
	while IFS= read -r line; do
		[[ -z $1 && -z $line || -n $line && -n $1 && ( $1 == *"$line"* || $line == *"$1"* ) ]] &&
			return 0
	done <"$_assay_tmp/said"
	return 1
}

_assay_is_said_path()
{
	local line
	while IFS= read -r line; do
		[[ -n $line && ( $1 == "$line" || $1 == "$line"/* || $1 == */"$line" ) ]] && return 0
	done <"$_assay_tmp/said"
	return 1
}

# Variables that hold what the program said, where they would act. No local has a name
# that the tests may use.
_assay_variables_may_act()
{
	local _assay_rest=$_assay_scanned _assay_name
	while [[ $_assay_rest =~ [A-Za-z_][A-Za-z0-9_]* ]]; do
		_assay_name=${BASH_REMATCH[0]}
		_assay_rest=${_assay_rest#*"$_assay_name"}
		[[ $_assay_name == _assay_* ]] && continue
		local -n _assay_ref=$_assay_name
		_assay_values_may_act "${_assay_ref[@]}" && return 0
		unset -n _assay_ref
	done
	return 1
}

_assay_values_may_act()
{
	local value
	for value; do
		_assay_may_act "$_assay_holds" "$value" || continue
		if [[ $_assay_why == *' file' ]]; then
			_assay_is_said_path "$value" && return 0
		else
			_assay_is_said "${value//$'\n'/ }" && return 0
		fi
	done
	return 1
}

# What an assignment made of the program's word is its word, too, whatever the tests
# did with it in between.
_assay_gives='^([A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=|((local|declare|typeset|export|readonly)[[:space:]]+(-[a-zA-Z]+[[:space:]]+)*[A-Za-z_][A-Za-z0-9_]*\+?=|(read|mapfile|readarray)[[:space:]]))'
_assay_remember()
{
	local _assay_rest=$1 _assay_before=$_assay_said_size _assay_name
	_assay_said_size=$(stat -c %s "$_assay_tmp/said")
	[ "$_assay_said_size" != "$_assay_before" ] || _assay_names_said "$1" || return
	_assay_rest=${_assay_rest%%<*}
	[[ $_assay_rest == *=* ]] && _assay_rest=${_assay_rest%%=*}
	while [[ $_assay_rest =~ [A-Za-z_][A-Za-z0-9_]* ]]; do
		_assay_name=${BASH_REMATCH[0]}
		_assay_rest=${_assay_rest#*"$_assay_name"}
		[[ $_assay_name == _assay_* ]] && continue
		local -n _assay_ref=$_assay_name
		[ "${#_assay_ref[@]}" = 0 ] || printf '%s\n' "${_assay_ref[@]//$'\n'/ }" >>"$_assay_tmp/said"
		unset -n _assay_ref
	done
	_assay_said_size=$(stat -c %s "$_assay_tmp/said")
}
_assay_said_size=0

# Whether a command names a variable that holds what the program said.
_assay_names_said()
{
	local _assay_rest=$1 _assay_name
	while [[ $_assay_rest =~ \$\{?([A-Za-z_][A-Za-z0-9_]*) ]]; do
		_assay_name=${BASH_REMATCH[1]}
		_assay_rest=${_assay_rest#*"${BASH_REMATCH[0]}"}
		local -n _assay_ref=$_assay_name
		[ -n "${_assay_ref[*]}" ] && _assay_is_said "${_assay_ref[*]//$'\n'/ }" && return 0
		unset -n _assay_ref
	done
	return 1
}

# --- what it says about its own answers ---

_assay_compares='equal|same|close|near|approx|almost|similar|match|compare|cmp|diff|verify|check|assert|expect|valid'
_assay_yes='^(true|false|yes|no|y|n|ok|equal|same|[01])$'
_assay_by_chance='^([0-9]{1,2}|.?)$'
_assay_bare='^[A-Za-z_][A-Za-z0-9_]*='

# Whether a text is an answer of another function: given on this line, or anywhere when
# the tests have it from a variable.
_assay_is_answer()
{
	local line by text
	while IFS=$'\t' read -r line by text; do
		[[ $by != "$2" && "$text" == "${1//$'\n'/ }" ]] || continue
		[ "$line" = "$_assay_line" ] && return 0
		[[ $_assay_command == *'$'* && ! $text =~ $_assay_by_chance ]] && return 0
	done <"$_assay_tmp/answers"
	return 1
}

# Whether a text is nowhere in the tests and stands where another function answered: they
# made it of that.
_assay_is_made_of_answer()
{
	local line by text
	[[ $_assay_text != *"$1"* ]] || return 1
	while IFS=$'\t' read -r line by text; do
		[[ $line == "$_assay_line" && $by != "$2" ]] && return 0
	done <"$_assay_tmp/answers"
	return 1
}

# Before the answer: whether function $1 is asked about another's, or else about what
# only the tests have; and whether it was asked about the other.
_assay_about=
_assay_look_at_call()
{
	local word name=$1 line=$_assay_line
	_assay_about=tests
	for word in "${@:2}"; do
		while [[ $word == *$'\n' ]]; do
			word=${word%$'\n'}
		done
		{ _assay_is_answer "$word" "$name" || _assay_is_made_of_answer "$word" "$name"; } &&
			_assay_about=answer
	done
	[[ $_assay_about == tests && $_assay_command =~ $_assay_bare ]] && line=any
	printf '%s\t%s\t%s\n' "$line" "$name" "$_assay_about" >>"$_assay_tmp/calls"
	if [ "$_assay_about" = answer ] && [[ ${name,,} =~ $_assay_compares ]]; then
		_assay_undecided "$_assay_line" "the program's $name is asked about its own answer"
	fi
}

_assay_look_at_answer()
{
	local text=$2
	while [[ $text == *$'\n' ]]; do
		text=${text%$'\n'}
	done
	printf '%s\t%s\t%s\n' "$_assay_line" "$1" "${text//$'\n'/ }" >>"$_assay_tmp/answers"
	[[ $_assay_about == answer && ( -z $text || ${text,,} =~ $_assay_yes ) ]] || return
	_assay_undecided "$_assay_line" "the program's $1 is asked about its own answer"
}

# --- asking ---

# Whether this command was given a standard input of its own: written beside it,
# or by the pipeline it is in; not that of the loop around it.
_assay_has_input()
{
	[[ ${_assay_command//'<('/} == *'<'* ]] ||
		! [[ /proc/self/fd/0 -ef /proc/$_assay_shell/fd/0 ]]
}

_assay_lost()
{
	[ -s "$_assay_tmp/unlike" ] || printf '%s' "$1" >"$_assay_tmp/lost"
	kill -TERM $$
	exit 1
}

# A variable of the program: where this shell has none of that name and the tests,
# which speak of it, give it no value themselves.
_assay_may_set()
{
	local _assay_own="(^|[^A-Za-z0-9_\$\{])$1(\[[^]]*\])?\+?="
	local _assay_giving="(for|read|mapfile|readarray|declare|local|typeset|export|readonly|printf|getopts|select|unset)[^;&|]*[^A-Za-z0-9_\$\{]$1([^A-Za-z0-9_]|$)"
	[[ $1 =~ ^[A-Za-z][A-Za-z0-9_]*$ && ! $1 =~ ^(BASH|LC_|POSIX|HIST|GLOB|COMP_|READLINE_) ]] || return 1
	[[ " $_assay_given " == *" $1 "* ]] && return 0
	[[ $_assay_text =~ \$\{$1:?[=-] ]] && return 1
	[[ -z ${!1+set} && $_assay_text == *"$1"* && ! $_assay_text =~ $_assay_own && ! $_assay_text =~ $_assay_giving ]] || return 1
	case $1 in
	IFS | PATH | ENV | TMOUT | FUNCNEST | EXECIGNORE | CDPATH | LANG | LANGUAGE | TZ | MAILPATH | FIGNORE | IGNOREEOF | INPUTRC | PS[0-4] | PROMPT_COMMAND | TIMEFORMAT | SECONDS | RANDOM | LINENO | OPTIND | OPTARG | OPTERR | REPLY | MAPFILE | HOME | PWD | OLDPWD | SHELLOPTS | CHILD_MAX | HOSTFILE | auto_resume | histchars)
		return 1 ;;
	esac
	_assay_given+=" $1"
}
_assay_given=
_assay_count_ok='^[0-9]{1,8}$'

_assay_set_variable()
{
	local _assay_name=$1 _assay_kind=$2 _assay_left=$3 _assay_take= _assay_k _assay_v _assay_key _assay_value
	[[ $_assay_kind =~ ^[saA]$ && $_assay_left =~ ^[0-9]{1,5}$ ]] || _assay_lost 'the program'"'"'s answer cannot be read'
	_assay_may_set "$_assay_name" && _assay_take=1
	[ -n "$_assay_take" ] && case $_assay_kind in
	a) declare -ga "$_assay_name=()" ;;
	A) declare -gA "$_assay_name=()" ;;
	esac
	for ((; _assay_left > 0; _assay_left--)); do
		IFS=' ' read -r _assay_k _assay_v <&"$_assay_from"
		_assay_raw _assay_key "$_assay_k"
		_assay_raw _assay_value "$_assay_v"
		[ -n "$_assay_take" ] || continue
		printf '%s\n' "${_assay_value//$'\n'/ }" >>"$_assay_tmp/said"
		declare -n _assay_ref=$_assay_name
		case $_assay_kind in
		s) _assay_ref=$_assay_value ;;
		a) [[ $_assay_key =~ ^[0-9]{1,9}$ ]] && _assay_ref[10#$_assay_key]=$_assay_value ;;
		A) [ -n "$_assay_key" ] && _assay_ref[$_assay_key]=$_assay_value ;;
		esac
		unset -n _assay_ref
	done
}

# That many bytes, no more and no less.
_assay_raw()
{
	local LC_ALL=C
	[[ $2 =~ $_assay_count_ok ]] || _assay_lost 'the program'"'"'s answer cannot be read'
	printf -v "$1" ''
	[ "$2" = 0 ] && return
	IFS= read -r -N "$2" "$1" <&"$_assay_from" && local -n got=$1 && [ "${#got}" = "$2" ] ||
		_assay_lost 'the program ended before it answered'
}

# The next answer: _assay_status, _assay_out and _assay_err, and its variables. No local
# has a name that the program may use.
_assay_read()
{
	local _assay_outs _assay_errs _assay_vars _assay_name _assay_kind _assay_items
	IFS=' ' read -r _assay_status _assay_outs _assay_errs _assay_vars <&"$_assay_from" ||
		_assay_lost 'the program ended before it answered'
	[[ $_assay_status =~ ^[0-9]{1,3}$ && $_assay_vars =~ ^[0-9]{1,4}$ ]] ||
		_assay_lost 'the program'"'"'s answer cannot be read'
	_assay_raw _assay_out "$_assay_outs"
	_assay_raw _assay_err "$_assay_errs"
	for ((; _assay_vars > 0; _assay_vars--)); do
		IFS=' ' read -r _assay_name _assay_kind _assay_items <&"$_assay_from"
		_assay_set_variable "$_assay_name" "$_assay_kind" "$_assay_items"
	done
}

_assay_ask()
{
	local _assay_out _assay_err _assay_input=- _assay_word_of
	for _assay_word_of; do
		[[ $_assay_word_of == /dev/fd/* || $_assay_word_of == /proc/* ]] &&
			printf '%s' "$1 is given a file that only the tests have ($_assay_word_of)" >"$_assay_tmp/unlike"
	done
	if _assay_has_input; then
		_assay_input=+
		while IFS= read -r -d '' _assay_out; do
			_assay_input+=$_assay_out
		done
		_assay_input+=$_assay_out
	fi
	: >"$_assay_tmp/asked"
	_assay_word_of=("${_assay_input#+}")
	[ "$_assay_input" != - ] || _assay_word_of=()
	_assay_look_at_call "$@" "${_assay_word_of[@]}"
	IFS= read -r -N 1 _assay_out <&"$_assay_turn"
	printf '%q ' "$((BASH_SUBSHELL > 0))" "$_assay_input" "$@" >&"$_assay_to" 2>/dev/null
	printf '\n' >&"$_assay_to" 2>/dev/null
	_assay_read
	printf . >&"$_assay_turn"
	_assay_look_at_answer "$1" "$_assay_out"
	printf '%s\n' "${_assay_err//$'\n'/ }" >>"$_assay_tmp/said"
	printf '%s' "$_assay_err" >&2
	_assay_out_is "$_assay_out" && printf '%s' "$_assay_out"
}

# Whether what a function printed may stand where it was asked for.
_assay_out_is()
{
	local text=$1
	while [[ $text == *$'\n' ]]; do
		text=${text%$'\n'}
	done
	printf '%s\n' "${text//$'\n'/ }" >>"$_assay_tmp/said"
	((BASH_SUBSHELL > 0)) && _assay_may_act "$_assay_acts" "$text" || return 0
	_assay_undecided "$_assay_line" "$_assay_why"
	return 1
}

# --- the run ---

# In the order: before each command of the tests. Not 0: it is not run.
_assay_watch()
{
	[[ ${BASH_SOURCE[1]} == "$_assay_tests" && $1 != _assay_* ]] || return 0
	local _assay_own_acts=$_assay_acts _assay_own_line=$_assay_line
	[[ $_assay_command =~ $_assay_gives ]] && _assay_remember "$_assay_command"
	_assay_command=$1
	_assay_line=$2
	_assay_look "$1"
	# Inside of what an outer command expands, that one's dangers are there, too.
	if [ "$BASHPID" != "$_assay_shell" ]; then
		[ "$_assay_own_line" = "$2" ] && _assay_acts+=$_assay_own_acts
	else
		_assay_shell=$BASHPID
	fi
	case $1 in
	'[ '* | '[[ '* | '(('* | 'test '*) _assay_count=$((_assay_count + 1)) ;;
	esac
	case $1 in
	'[ '* | '[[ '* | '(('* | 'test '* | 'assert '* | 'assert_equal '*)
		printf '%s\n' "$2" >>"$_assay_tmp/lines"
		_assay_made ;;
	esac
	[ -n "$_assay_holds" ] || return 0
	_assay_variables_may_act ||
		{ [[ $_assay_scanned =~ \$\{?[!#]?[0-9@*] ]] && _assay_values_may_act "${@:3}"; } || return 0
	_assay_undecided "$2" "$_assay_why"
	return 1
}
_assay_broken()
{
	[[ $2 == ". "* ]] || _assay_fail "$1" "$2"
}
_assay_leave()
{
	local status=$?
	[ "$BASHPID" = $$ ] || return
	[ -s "$_assay_tmp/lost" ] && _assay_fail "$_assay_line" "$(cat "$_assay_tmp/lost")"
	[ "$status" = 0 ] && [ ! -s "$_assay_tmp/lost" ] && return
	[ "$_assay_failed" -gt 0 ] || _assay_fail 0 "the tests ended with status $status"
	_assay_finish
}

# Our own commands are not watched, which would take its time.
_assay_stand_in()
{
	eval "$1() { set +T; _assay_ask $1 \"\$@\"; set -T; return \"\$_assay_status\"; }"
}

# A function of the program stands in for a command of this host only where the
# tests name nothing else of it.
_assay_define()
{
	local name commands=() others=
	for name in $_assay_out; do
		[[ $name =~ ^[A-Za-z_][A-Za-z0-9_-]*$ && $name != _assay_* && $_assay_text == *"$name"* ]] || continue
		case $(type -t -- "$name") in
		'') others=1 ;;
		file) commands+=("$name") && continue ;;
		*) continue ;;
		esac
		_assay_stand_in "$name"
	done
	[ -z "$others" ] && [ ${#commands[@]} = 1 ] && _assay_stand_in "${commands[0]}"
}

trap '_assay_leave' EXIT
trap 'exit 1' TERM
_assay_read
_assay_define
printf %s "$_assay_text" >"$_assay_tests"
shopt -s extdebug
set -o functrace +o errtrace
trap '_assay_watch "$BASH_COMMAND" "$LINENO" "$@"' DEBUG
trap '_assay_broken "$LINENO" "$BASH_COMMAND"' ERR
. "$_assay_tests"
trap - DEBUG ERR
_assay_finish
