# threat: 29 no core of a child either
# out: 139
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
ulimit -c unlimited 2>/dev/null
(kill -SEGV $BASHPID) 2>/dev/null; echo $?
for f in core* /tmp/core* /out/*; do [ -e "$f" ] && echo "$f"; done; exit 0
