#!/bin/sh
# Nothing runs unlogged: whatever keeps the log from being written, the exit code is 10, no model
# is asked and no guest is started. A guest shows itself by a name that is looked for in /proc all
# the while; that it can be seen is proven first.
. "$(dirname "$0")/lib.sh"

mark=$$-$(date +%N)
printf '(exec -a assay-guest-%s sleep 0.4)\necho guest was here\n' "$mark" >guest.sh
cat >model <<'M'
#!/bin/sh
echo "$ASSAY_STAGE" >>"$CALLS"
printf 'So:\n\n```bash\n%s\n```\n' "$(cat "$GUEST")"
M
chmod +x model
export CALLS="$work/calls.txt" GUEST="$work/guest.sh"
echo '{"id":"one","prompt":"Show yourself.","lang":"bash","expect":{"equals":"guest was here"}}' >tasks.jsonl

# Runs a command and looks for the guest: $code, $err, $seen and $calls are how often each was there.
watched() {
	: >"$CALLS"
	: >seen.txt
	while [ ! -e stop ]; do
		grep -lsaE "assay-gues[t]-$mark" /proc/[0-9]*/cmdline >>seen.txt
		sleep 0.02
	done &
	watcher=$!
	"$@" >out.txt 2>err.txt </dev/null
	code=$?
	: >stop
	wait $watcher
	rm stop
	err=$(cat err.txt)
	seen=$(($(wc -l <seen.txt) > 0))
	calls=$(($(wc -l <"$CALLS") > 0))
}
ask="$ASSAY ask --lang bash --no-judge --expect guest.was.here --model-command $work/model Show"
ask=$(printf '%s' "$ask" | sed 's/guest.was.here/guest\\ was\\ here/')
