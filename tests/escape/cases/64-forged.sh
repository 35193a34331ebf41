# threat: 54 64 its own SIGKILL is a signal
# outcome: signal
# signal: 9
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
kill -9 $$
