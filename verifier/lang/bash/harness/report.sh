# How a failed assertion is written into the report, whichever way the tests run: stands before
# judge.sh and together.sh in their runs.
_assay_count=0
_assay_failed=0
_assay_failures=

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

