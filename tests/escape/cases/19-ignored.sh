# threat: 19 TERM, INT and XCPU ignored
# outcome: timeout_wall
# limit: wall_ms=300
# slower: 1500
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
trap '' TERM INT HUP QUIT XCPU USR1 USR2 ALRM; while :; do sleep 60; done
