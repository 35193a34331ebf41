# threat: 1 fork bomb
# outcome: process_limit
# limit: processes=32 wall_ms=800
# slower: 2500
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
b() { b | b & }; b; wait; sleep 5
