# threat: 67 nothing planted by an earlier run has an effect
# out: clean
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
shopt -s nullglob dotglob
for f in /work/* /tmp/* /out/* /dev/shm/*; do [ "$f" = /work/main.sh ] || echo "$f"; done
bash -lc 'echo clean'
