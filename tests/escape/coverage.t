#!/bin/sh
# Every line of the list in README has a case that names it, and none is left out.
cd "$(dirname "$0")" || exit 1
last=$(sed -n 's/^| \([0-9]*\) |.*/\1/p' README | tail -n 1)
echo "1..$last"
status=0
named=$(sed -n 's,^\(#\|//\) threat: \([0-9 ]*\).*,\2,p' cases/* ./*.t)
n=1
while [ "$n" -le "$last" ]; do
	# shellcheck disable=SC2086 # a list of numbers
	if printf '%s\n' $named | grep -qx "$n" && grep -q "^| $n |" README; then
		echo "ok $n - line $n"
	else
		echo "not ok $n - line $n"
		status=1
	fi
	n=$((n + 1))
done
exit $status
