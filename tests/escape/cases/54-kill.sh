# threat: 54 kill everything there is
# out: alive
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
sleep 60 &
kill -9 -1; kill -9 1; kill -9 $PPID 2>/dev/null
echo alive
