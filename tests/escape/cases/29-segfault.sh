# threat: 29 64 a signal it sends itself is reported as that
# outcome: signal
# signal: 11
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
kill -SEGV $$
