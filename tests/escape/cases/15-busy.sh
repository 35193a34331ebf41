# threat: 15 busy loop: the wall limit is kept
# outcome: timeout_wall
# limit: wall_ms=200
# overshoot: 10
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
while :; do :; done
