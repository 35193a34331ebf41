# threat: 75 do not stop the next run
# alone: it takes all descriptors on their way that a user may have
# out: ran
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
echo ran
