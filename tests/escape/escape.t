#!/bin/sh
# What hostile code tries, and what must come of it: one program per threat in cases/, run in the
# sandbox by a driver that the build makes beside the program.
# One at a time on a host, of whichever user: some take all that the kernel gives a user, and those
# that are charged for what they read are not where another has read it.
exec 9</tmp && flock 9
top=$(cd "$(dirname "$0")/../.." && pwd)
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/escape" "$top/tests/escape/cases" "$@"
