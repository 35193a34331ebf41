# Runs a solution, then its tests in the same shell, and reports how many
# assertions were executed and which failed.
#
# An assertion is a [, [[, (( or test command of the tests, or a call of
# assert COMMAND... or assert_equal ACTUAL EXPECTED, which are defined here.
# One that fails outside a condition fails the run, and so does a tests file
# that exits with a status other than 0. A solution that calls exit ends the
# shell: no report, no pass; write such programs as functions.
#
# What one shell reports may be forged. The calls of the solution's functions
# are noted, too, one quoted line each; "answer" makes them again where the
# tests are not, and "confirm" runs the tests where the solution is not, on its
# answers. verifier/tests.h says which of them is believed.
_assay_mode='@MODE@'
_assay_report='@REPORT@'
_assay_data='@DATA@'
_assay_dir=${BASH_SOURCE[0]%/*}
_assay_solution=$_assay_dir/'@SOLUTION@'
_assay_tests=$_assay_dir/'@TESTS@'
_assay_tmp=$(mktemp -d /tmp/assay.XXXXXX)
_assay_in=$(readlink /proc/self/fd/0)
_assay_count=0
_assay_failed=0
_assay_failures=
_assay_busy=

_assay_quote()
{
	local text=${1:0:400}
	text=${text//\\/\\\\}
	text=${text//\"/\\\"}
	text=${text//[[:cntrl:]]/ }
	printf '"%s"' "$text"
}

_assay_fail()
{
	_assay_failed=$((_assay_failed + 1))
	_assay_failures+=${_assay_failures:+,}"{\"line\":$1,\"message\":$(_assay_quote "$2")}"
	printf '%s: line %s: failed: %s\n' "$_assay_tests" "$1" "$2" >&2
}

# The first reason why the tests cannot be judged apart; subshells may find one.
_assay_unlike()
{
	[ -s "$_assay_tmp/unlike" ] || printf '%s' "$1" >"$_assay_tmp/unlike"
}

_assay_finish()
{
	trap - DEBUG ERR EXIT
	local unlike=null
	[ -s "$_assay_tmp/unlike" ] && unlike=$(_assay_quote "$(cat "$_assay_tmp/unlike")")
	printf '{"assertions":%d,"failed":%d,"failures":[%s],"unlike":%s}\n' \
		"$_assay_count" "$_assay_failed" "$_assay_failures" "$unlike" >"$_assay_report"
	[ "$_assay_mode" != together ] || cat "$_assay_tmp/calls" >"$_assay_data" 2>/dev/null
	exit $((_assay_failed > 0))
}

assert()
{
	_assay_count=$((_assay_count + 1))
	"$@" || _assay_fail "${BASH_LINENO[0]}" "assert $*"
	return 0
}

assert_equal()
{
	_assay_count=$((_assay_count + 1))
	[ "$1" = "$2" ] || _assay_fail "${BASH_LINENO[0]}" "is '$1', should be '$2'"
	return 0
}

# --- calls: whether in a subshell, standard input if it was given any, the words ---

_assay_key()
{
	local input=-
	if [ "$(readlink /proc/self/fd/0)" != "$_assay_in" ]; then
		input=$(cat; printf x)
		printf %s "${input%x}" >"$_assay_tmp/in.$BASHPID"
		input=+$input
	fi
	_assay_depth=$((BASH_SUBSHELL > 0))
	_assay_line=$(printf '%q ' "$_assay_depth" "$input" "$@")
}

# Nothing local: a function of the solution would see it.
_assay_call()
{
	if [ -n "$_assay_busy" ]; then
		"_assay_real_$@"
		return
	fi
	_assay_key "$@"
	printf '%s\n' "$_assay_line" >>"$_assay_tmp/calls"
	_assay_busy=1
	if [ -e "$_assay_tmp/in.$BASHPID" ]; then
		"_assay_real_$@" <"$_assay_tmp/in.$BASHPID"
	else
		"_assay_real_$@"
	fi
	set -- $?
	_assay_busy=
	rm -f "$_assay_tmp/in.$BASHPID"
	return "$1"
}

_assay_functions()
{
	compgen -A function | grep -Ev '^(_assay_.*|assert|assert_equal)$' | grep -E '^[A-Za-z_][A-Za-z0-9_]*$'
}

# One line a variable of the solution: its name and its value.
_assay_variables()
{
	local _assay_name
	for _assay_name in $(compgen -v); do
		case $_assay_name in
		_* | BASH* | SHELLOPTS | FUNCNAME | EUID | UID | PPID | RANDOM | SRANDOM | SECONDS | EPOCH*) ;;
		*) printf '%s =%s ' "$_assay_name" "$(printf %s "${!_assay_name}" | base64 -w0)" ;;
		esac
	done
}

# --- answer: the functions' names, the variables, then a line a call ---

# No local has a name that the solution may use, nor is told as its variable.
_assay_answer()
{
	local _assay_line _assay_words _assay_input _assay_status
	{
		_assay_functions | tr '\n' ' '
		echo
		_assay_variables
		echo
	} >"$_assay_tmp/answers"
	while IFS= read -r _assay_line <&9; do
		eval "_assay_words=($_assay_line)"
		_assay_input=/dev/null
		if [ "${_assay_words[1]}" != - ]; then
			_assay_input=${_assay_words[1]#+}
			printf %s "${_assay_input%x}" >"$_assay_tmp/in"
			_assay_input=$_assay_tmp/in
		fi
		if [ "${_assay_words[0]}" = 1 ]; then
			("${_assay_words[@]:2}") <"$_assay_input" >"$_assay_tmp/out"
		else
			"${_assay_words[@]:2}" <"$_assay_input" >"$_assay_tmp/out"
		fi
		_assay_status=$?
		printf '%s =%s %s\n' "$_assay_status" "$(base64 -w0 <"$_assay_tmp/out")" \
			"$(_assay_variables)" >>"$_assay_tmp/answers"
	done 9<"$_assay_dir/assay_calls"
	cat "$_assay_tmp/answers" >"$_assay_data"
}

# --- confirm ---

# Only variables that this shell does not have, and that the tests speak of.
_assay_set()
{
	while [ $# -gt 1 ]; do
		if [[ $1 =~ ^[A-Za-z][A-Za-z0-9_]*$ && $_assay_text == *"$1"* ]] &&
		   { [[ " $_assay_given " == *" $1 "* ]] || [ -z "${!1+set}" ]; }; then
			printf -v "$1" %s "$(base64 -d <<<"${2#=}" 2>/dev/null)"
			_assay_given+=" $1"
		fi
		shift 2
	done
}

# What a test that is loose with its quotes, or reckons, could take for more
# than a value: a program could pass, or do, anything with it.
_assay_odd='[^[:alnum:][:space:]._:,/+-]|(^|[[:space:]])-[a-z]'
_assay_is_loose()
{
	[[ $_assay_text =~ \(\(|let\ |\ -(eq|ne|lt|le|gt|ge)\  || $_assay_text =~ (\[|test)\ ([^\"]*[^\"\$])?\$ ]]
}

_assay_ask()
{
	local _assay_at _assay_status _assay_out _assay_rest
	_assay_key "$@"
	rm -f "$_assay_tmp/in.$BASHPID"
	_assay_at=$(cat "$_assay_tmp/at")
	if [ "${_assay_calls[_assay_at]}" != "$_assay_line" ]; then
		_assay_unlike "without the program, the tests make other calls ($1)"
		return 1
	fi
	echo $((_assay_at + 1)) >"$_assay_tmp/at"
	read -r _assay_status _assay_out _assay_rest <<<"${_assay_answers[_assay_at + 2]}"
	if ! [[ $_assay_status =~ ^[0-9]{1,3}$ && $_assay_out =~ ^=[A-Za-z0-9+/]*=*$ ]]; then
		_assay_unlike "the answer of $1 cannot be read"
		return 1
	fi
	if _assay_is_loose && base64 -d <<<"${_assay_out#=}" | grep -qE "$_assay_odd"; then
		_assay_unlike "$1 prints what an unquoted test could take for more than a value"
	fi
	base64 -d <<<"${_assay_out#=}"
	set -f
	_assay_set $_assay_rest
	set +f
	return "$_assay_status"
}

_assay_confirm()
{
	local name
	mapfile -t _assay_calls <"$_assay_dir/assay_calls"
	# A NUL ends what is compared of a line; what follows could be the tests' secrets.
	[ ${#_assay_calls[@]} = 0 ] || printf '%s\n' "${_assay_calls[@]}" >"$_assay_tmp/calls"
	[ "$(base64 -w0 <"$_assay_dir/assay_calls")" = "$(base64 -w0 <"$_assay_tmp/calls")" ] ||
		_assay_unlike 'calls that hold more than calls'
	mapfile -t _assay_answers <"$_assay_dir/assay_answers"
	echo 0 >"$_assay_tmp/at"
	set -f
	for name in ${_assay_answers[0]}; do
		[[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] && ! type -t "$name" >/dev/null &&
			eval "$name() { _assay_ask $name \"\$@\"; }"
	done
	_assay_set ${_assay_answers[1]}
	set +f
}

# --- the run ---

if [ "$_assay_mode" != answer ]; then
	_assay_text=$(cat "$_assay_tests"; printf x)
	_assay_text=${_assay_text%x}
fi
rm -f -- "$_assay_tests" "${BASH_SOURCE[0]}" 2>/dev/null
: >"$_assay_tmp/calls"
if [ "$_assay_mode" = confirm ]; then
	_assay_confirm
else
	. "$_assay_solution"
fi
if [ "$_assay_mode" = answer ]; then
	_assay_answer
	exit 0
fi
if [ "$_assay_mode" = together ]; then
	for _assay_name in $(_assay_functions); do
		eval "_assay_real_$(declare -f "$_assay_name")"
		eval "$_assay_name() { _assay_call $_assay_name \"\$@\"; }"
	done
fi
printf %s "$_assay_text" >"$_assay_tests"

_assay_watch()
{
	[[ ${BASH_SOURCE[1]} == "$_assay_tests" ]] || return 0
	case $1 in
	'[ '* | '[[ '* | '(('* | 'test '*) _assay_count=$((_assay_count + 1)) ;;
	esac
}
_assay_leave()
{
	local status=$?
	[ "$status" = 0 ] && return
	[ "$_assay_failed" -gt 0 ] || _assay_fail 0 "the tests ended with status $status"
	_assay_finish
}
set -o functrace
trap '_assay_leave' EXIT
trap '_assay_watch "$BASH_COMMAND"' DEBUG
trap '[[ $BASH_COMMAND == ". "* ]] || _assay_fail "$LINENO" "$BASH_COMMAND"' ERR
. "$_assay_tests"
trap - DEBUG ERR
if [ "$_assay_mode" = confirm ] && [ "$(cat "$_assay_tmp/at")" != "${#_assay_calls[@]}" ]; then
	_assay_unlike 'without the program, the tests make fewer calls'
fi
_assay_finish
