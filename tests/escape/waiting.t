#!/bin/sh
# The same attacks, with interpreters that are started ahead and wait for them in the languages that
# can, those in Python in forks of a template: none may get further than in a fresh one. The others run
# beside, as cases build on those before.
top=$(cd "$(dirname "$0")/../.." && pwd)
ASSAY_TEST_WARM=1 exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases"
