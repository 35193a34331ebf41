#!/bin/sh
# The same attacks as waiting.t, those in Python in forks of a template that has imported numpy and pandas:
# none may get further than in a fresh interpreter.
/usr/bin/python3 -I -c 'import numpy, pandas' 2>/dev/null || {
	echo '1..0 # SKIP no python3-numpy, python3-pandas'
	exit
}
top=$(cd "$(dirname "$0")/../.." && pwd)
export ASSAY_TEST_WARM=1 ASSAY_TEST_MODULES=numpy,pandas
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases"
