#!/bin/sh
# Nothing runs unlogged: whatever keeps the log from being written, the exit code is 10, no model
# is asked and no guest is started. A guest would show itself: it bears a name that is looked for
# in /proc all the while; that it does show is proven first.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

marker=assay-guest-$$-$(date +%N)
printf '( exec -a %s sleep 0.4 )\necho guest was here\n' "$marker" >guest.sh
cat >model <<'M'
#!/bin/sh
echo "$ASSAY_STAGE" >>"$CALLS"
printf '```bash\n'
cat "$GUEST"
printf '```\n'
M
chmod +x model
export CALLS="$work/calls.txt" GUEST="$work/guest.sh"

# Looks for the guest while a command runs: $seen is how often.
watch_guest() { # command...
	: >"$CALLS"
	: >seen.txt
	while [ ! -e stop ]; do
		grep -lsaF "$marker" /proc/[0-9]*/cmdline 2>/dev/null | grep -v self >>seen.txt
		sleep 0.02
	done &
	watcher=$!
	"$@" >out.txt 2>err.txt </dev/null
	code=$?
	: >stop
	wait $watcher
	rm stop
	seen=$(grep -c . seen.txt)
	err=$(cat err.txt)
}
