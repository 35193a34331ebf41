#!/bin/sh
# The same attacks in interpreters that were started ahead and waited for them: those in a language
# that can wait; none may get further than in a fresh one.
top=$(cd "$(dirname "$0")/../.." && pwd)
ASSAY_TEST_WARM=1 exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases" .py .js
