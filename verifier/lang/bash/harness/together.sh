# Runs a solution, then its tests in the same shell, and reports how many
# assertions were executed and which failed.
#
# An assertion is a [, [[, (( or test command of the tests, or a call of
# assert COMMAND... or assert_equal ACTUAL EXPECTED, which are defined here.
# One that fails outside a condition fails the run, and so does a tests file
# that exits with a status other than 0. A solution that calls exit ends the
# shell: no report, no pass; write such programs as functions.
#
# What one shell reports may be forged: verifier/tests.h says what of it is believed.
_assay_report='@REPORT@'
_assay_dir=${BASH_SOURCE[0]%/*}
_assay_solution=$_assay_dir/'@SOLUTION@'
_assay_tests=$_assay_dir/'@TESTS@'

_assay_finish()
{
	trap - DEBUG ERR EXIT
	printf '{"assertions":%d,"failed":%d,"failures":[%s]}\n' \
		"$_assay_count" "$_assay_failed" "$_assay_failures" >"$_assay_report"
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

# --- the run ---

_assay_text=$(cat "$_assay_tests"; printf x)
_assay_text=${_assay_text%x}
rm -f -- "$_assay_tests" "${BASH_SOURCE[0]}" 2>/dev/null
. "$_assay_solution"
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
_assay_finish
