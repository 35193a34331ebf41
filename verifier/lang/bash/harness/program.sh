# Runs a solution and answers the calls of its functions, which come one a line
# on descriptor 3: whether in a subshell, the standard input or -, the words, as
# printf %q writes them. An answer on descriptor 4 is raw bytes after their
# lengths: "STATUS OUT ERR VARIABLES", standard output, standard error, then for
# each variable "NAME KIND COUNT" and for each of its elements "KEY VALUE".
# The tests are not here, and what is here decides nothing (bash_judge.sh does).
_assay_solution=${BASH_SOURCE[0]%/*}/'@SOLUTION@'
_assay_tmp=$(mktemp -d /tmp/assay.XXXXXX)
exec {_assay_from}<&3 3<&- {_assay_to}>&4 4>&-
rm -f -- "${BASH_SOURCE[0]}" 2>/dev/null

# Every name of a variable, without a process to list them.
printf -v _assay_names '"${!%s@}" ' {a..z} {A..Z}
declare -A _assay_had
eval "for _assay_name in $_assay_names _; do _assay_had[\$_assay_name]=1; done"

# A file's bytes, without the NULs that no variable can hold.
_assay_slurp()
{
	_assay_bytes=
	while IFS= read -r -d '' _assay_part; do
		_assay_bytes+=$_assay_part
	done <"$1"
	_assay_bytes+=$_assay_part
}

_assay_element()
{
	local LC_ALL=C
	_assay_more+="${#1} ${#2}"$'\n'$1$2
}

_assay_variable()
{
	declare -n _assay_ref=$1
	local _assay_kind=s _assay_key
	case ${_assay_ref@a} in
	*A*) _assay_kind=A ;;
	*a*) _assay_kind=a ;;
	esac
	[[ $_assay_kind != s || -n ${_assay_ref+set} ]] || return
	_assay_more+="$1 $_assay_kind ${#_assay_ref[@]}"$'\n'
	for _assay_key in "${!_assay_ref[@]}"; do
		_assay_element "$_assay_key" "${_assay_ref[$_assay_key]}"
	done
	_assay_count=$((_assay_count + 1))
}

# The solution's variables; a subshell's are lost with it.
_assay_variables()
{
	_assay_more= _assay_count=0
	[ "${_assay_words[0]}" = 1 ] && return
	eval "set -- $_assay_names"
	for _assay_name; do
		[[ -n ${_assay_had[$_assay_name]} ]] || _assay_variable "$_assay_name"
	done
}

_assay_answer()
{
	local LC_ALL=C
	_assay_slurp "$_assay_tmp/out"
	local out=$_assay_bytes
	_assay_slurp "$_assay_tmp/err"
	printf '%s\n' "$1 ${#out} ${#_assay_bytes} $_assay_count" >&"$_assay_to"
	printf %s "$out" "$_assay_bytes" "$_assay_more" >&"$_assay_to"
}

. "$_assay_solution"

# Its own options are for its functions, not for what calls them.
_assay_set=
[[ $- == *e* ]] && _assay_set+=e
[[ $- == *u* ]] && _assay_set+=u
set +eu

# The functions, then the variables as with an answer.
_assay_words=(0)
_assay_variables
compgen -A function | grep -Ev '^_assay_' >"$_assay_tmp/out"
: >"$_assay_tmp/err"
_assay_answer 0

# Not in a function, nor with a name that a function of the solution may use.
while IFS= read -r _assay_line <&"$_assay_from"; do
	eval "_assay_words=($_assay_line)"
	if [ "${_assay_words[1]}" = - ]; then
		_assay_input=/dev/null
	else
		_assay_input=$_assay_tmp/in
		printf %s "${_assay_words[1]#+}" >"$_assay_input"
	fi
	if [ "${_assay_words[0]}" = 1 ]; then
		(
			[ -z "$_assay_set" ] || set "-$_assay_set"
			"${_assay_words[@]:2}"
		) <"$_assay_input" >"$_assay_tmp/out" 2>"$_assay_tmp/err"
	else
		"${_assay_words[@]:2}" <"$_assay_input" >"$_assay_tmp/out" 2>"$_assay_tmp/err"
	fi
	_assay_status=$?
	_assay_variables
	_assay_answer "$_assay_status"
done
trap - EXIT
exit 0
