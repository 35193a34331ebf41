#!/bin/sh
# The attacks in Python in forks of a template that has imported numpy and pandas: none may get further than
# in a fresh interpreter. Those in other languages would do what they do in waiting.t, but for the ones
# that an attack in Python builds on.
/usr/bin/python3 -I -c 'import numpy, pandas' 2>/dev/null || {
	echo '1..0 # SKIP no python3-numpy, python3-pandas'
	exit
}
top=$(cd "$(dirname "$0")/../.." && pwd)
export ASSAY_TEST_WARM=1 ASSAY_TEST_MODULES=numpy,pandas
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases" .py $(ls "$top/tests/escape/cases" | grep -oE '^[0-9]+-[a-z]-' | cut -d- -f1 | sort -u | sed 's/$/-/')
