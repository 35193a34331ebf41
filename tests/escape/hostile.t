#!/bin/sh
# The hostile programs of the data set, unscreened: hostile.c.
top=$(cd "$(dirname "$0")/../.." && pwd)
data=${ASSAY_DATA:-$top/../shared/data}
exec "$(dirname "${ASSAY:-$top/build/assay}")/tests/escape/hostile" "$data/hostile.jsonl" "$data/hostile_effects.jsonl"
