# threat: 22 a byte now and then does not reset the clock
# outcome: timeout_wall
# limit: wall_ms=500
# slower: 2500
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
while :; do printf .; sleep 0.02; done
