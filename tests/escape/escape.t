#!/bin/sh
# What hostile code tries, and what must come of it: one program per threat in cases/, run in the
# sandbox by a driver that the build makes beside the program.
# Several may run at once: what cannot bear another beside it says so in its header ("alone").
top=$(cd "$(dirname "$0")/../.." && pwd)
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases" "$@"
