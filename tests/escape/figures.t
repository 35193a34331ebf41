#!/bin/sh
# What attacks cost us, printed and bounded: figures.c.
# threat: 1 3 15 16 65
top=$(cd "$(dirname "$0")/../.." && pwd)
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/figures" "$@"
