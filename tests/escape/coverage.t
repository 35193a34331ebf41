#!/bin/sh
# Every line of the list in README, 1 to 73, has a case that names it.
cd "$(dirname "$0")" || exit 1
echo 1..73
status=0
named=$(sed -n 's,^\(#\|//\) threat: \([0-9 ]*\).*,\2,p' cases/* ./*.t)
n=1
while [ $n -le 73 ]; do
	# shellcheck disable=SC2086 # a list of numbers
	if printf '%s\n' $named | grep -qx $n && grep -q "^| $n |" README; then
		echo "ok $n - line $n"
	else
		echo "not ok $n - line $n"
		status=1
	fi
	n=$((n + 1))
done
exit $status
