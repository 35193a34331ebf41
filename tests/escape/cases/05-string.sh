# threat: 5 ten gigabytes
# outcome: memory
# limit: memory_mib=64
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done
