#!/bin/sh
# Many runs leave nothing behind: soak.c, which takes the number of runs (ten thousand by hand).
top=$(cd "$(dirname "$0")/../.." && pwd)
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/soak" "$@"
