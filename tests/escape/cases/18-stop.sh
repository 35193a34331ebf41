# threat: 18 everything is stopped, and still killed
# outcome: timeout_wall
# limit: wall_ms=300
# slower: 2500
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
sleep 60 & sleep 60 &
kill -STOP $! $$
