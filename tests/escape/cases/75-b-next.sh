# threat: 75 do not stop the next run
# out: ran
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
echo ran
