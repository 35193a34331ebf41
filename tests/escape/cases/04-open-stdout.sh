# threat: 4 a grandchild keeps stdout open
# out: first
# slower: 2500
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
(setsid sleep 60 &)
echo first
