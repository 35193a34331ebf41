# threat: 21 stderr floods, stdout is silent
# outcome: output_limit
# slower: 6000
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
yes >&2
