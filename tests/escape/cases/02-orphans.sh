# threat: 2 children that ignore everything, and a parent that exits 0
# out: done
# slower: 3000
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
for i in {1..20}; do (trap '' TERM INT HUP QUIT; setsid sleep 60 &); done
echo done
