# Sandboxes that are no keeper somewhere else: modes of Python's, services, and a machine whose monitor is played.
# Sourced by walls.t, whose functions this uses; what is tried in each is in walls_list.sh.
. "$top/tests/integration/firecracker.sh"

# --- what any of them is asked ---

files_through() { # sandbox [options]
	has_tried files
	printf 'given\n' >in.txt
	printf '%s\n' 'import os' 'open(os.environ.get("ASSAY_OUT", "/out") + "/a", "wb").write(bytes(range(256)))' \
		'print(open(os.environ.get("ASSAY_IN", "/in") + "/in.txt").read())' >files.py
	rm -rf out
	run exec --sandbox "$1" --json -f in.txt --out out "${@:2}" files.py
	is "$code $(field '.outcome, .stdout, .isolation.backend' | tr -d '\n')" "0 exitgiven$1" "$1: exec, files in"
	is "$(sha256sum <out/a)" "$(printf '%b' "$(printf '\\x%02x' $(seq 0 255))" | sha256sum)" "$1: a file out"
}
limits_of() { # sandbox [options]
	hold_limits "$@"
	limits_are_as_listed "$1"
}
proven_by_doctor() { # sandbox
	has_tried doctor
	run doctor --sandbox "$1" --json
	is "$(field '[.layers[] | select(.required and (.ok | not)) | .name] | join(",")')" '' "$1: doctor proves the layers"
}
ended_here() { # sandbox, what is below assay [options]
	is_cancelled "$1" "${@:3}"
	machine_killed "$1" KILL "$2" "${@:3}"
	machine_killed "$1" TERM "$2" "${@:3}"
	is "$code" 143 "$1: terminated"
}

# --- what waits, below a server ---

kept() { # a server
	cat /proc/"$1"/task/*/children | wc -w
}
keeps() { [ "$(kept "$1")" -eq "$2" ]; }
# What waits: a near end, what it started, and of that what the machine or the container is; with when each began.
those_of() { # process [levels]
	for one in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$one:$(started "$one")"
		[ "${2:-3}" -eq 1 ] || those_of "$one" $((${2:-3} - 1))
	done
}
has_begun() { # how many processes
	[ "$(those_of $serving | grep -c .)" -ge "$1" ]
}

# --- a machine ---

with_firecracker() { # a function to call then
	command -v mke2fs >/dev/null || [ -x /usr/sbin/mke2fs ] || { skip firecracker 'no mke2fs: apt-get install e2fsprogs' && return; }
	mkdir -p firecracker && cd firecracker || return
	play_firecracker
	cd "$work" || return
	export ASSAY_FIRECRACKER=$work/firecracker/mock/firecracker TMPDIR=$work/far-tmp
	"$@"
	unset ASSAY_FIRECRACKER XDG_CACHE_HOME
}
over_firecracker() {
	files_through "$box"
	limits_of "$box"
	ask_and_replay "$box"
	ended_here "$box" firecracker
	has_tried doctor
	run doctor --sandbox "$box" --json
	is "$(field '[.layers[] | select(.required and (.ok | not)) | .name] | join(",")')" 'outer kernel' \
		"$box: doctor proves the layers, and sees that the machine is played"
	all_is_tried "$box"
}

# --- modes ---

in_python() { # a function to call then
	limit_lang=python
	begins=$'import time\nprint("begun", flush=True)\ntime.sleep(900)'
	"$@"
	limit_lang=bash
	begins='echo begun; sleep 900'
}
over_restricted() {
	/usr/bin/python3 -c 'import RestrictedPython' 2>/dev/null ||
		{ skip restricted 'not installed: apt-get install python3-restrictedpython' && return; }
	in_python mode_is_tried restricted python3
}
install_from_npm='import os, sys
import npm, tap
package, modules, last = sys.argv[1:]
try:
    npm.install(package, os.path.dirname(modules), os.path.join(modules, last), os.path.basename(package))
except tap.SkipAll as why:
    print(str(why).splitlines()[0])
'
over_pyodide() {
	modules=$top/build/npm-pyodide/node_modules # what guest_modes.t takes, too: whoever comes first installs it
	why=$(HOME=$(getent passwd "$id" | cut -d: -f6) PYTHONPATH=$here /usr/bin/python3 -B -c "$install_from_npm" \
		"$top/tests/integration/pyodide" "$modules" pyodide/package.json)
	[ -d "$modules/pyodide" ] || { skip pyodide "${why:-it cannot be installed}" && return; }
	export ASSAY_NODE_MODULES=$modules
	limit_memory=400M limit_pids=64 # WebAssembly and node: some 160 MiB and a dozen threads
	ASSAY_TEST_SLOWNESS=60 # and some seconds
	in_python mode_is_tried pyodide node --timeout 240 --cpu-seconds 240
	limit_memory=48M limit_pids=8
	unset ASSAY_NODE_MODULES ASSAY_TEST_SLOWNESS
}
mode_is_tried() { # sandbox, what is below assay [options]
	[ "$1" = restricted ] || files_through "$1" "${@:3}"
	limits_of "$1" "${@:3}"
	ask_and_replay "$1" "${@:3}"
	ended_here "$@"
	proven_by_doctor "$1"
	like "$(field '[.layers[] | select(.wanted == "refused")] | length')" '^[2-9]$' "$1: and tries what the mode is to refuse"
	is "$(field '.layers[] | select(.wanted == "refused" and (.in_force != "refused" or .proof == "")) | .name')" '' \
		"$1: which it does, and says how"
	all_is_tried "$1"
}

# --- services ---

# The machine that it would be, so that what a program leaves in its folders is in none of this one's. This tree may
# be below the folder that it has another of.
apart() {
	unshare -rm sh -c 'cd "$0" && mount -t tmpfs -o size=128m,nr_inodes=100000 none /tmp &&
		{ [ -e "$0" ] || { mkdir -p "$0" && mount -c --bind . "$0"; }; } && exec "$@"' "$top" "$@"
}
# What runs there is seen here: it is cancelled; and what goes on when assay was killed ends when its time is up.
ended_there() { # sandbox
	has_tried cancelled killed
	for signal in INT KILL; do
		word=86$RANDOM$RANDOM
		[ $signal = INT ] && wall=150 || wall=5
		env --default-signal=INT "$ASSAY" exec --sandbox "$1" --weaker --lang bash --timeout $wall - >killed.txt 2>&1 \
			<<<"sleep $word" &
		ours=$!
		until_true appears "$word" || diag "$(cat killed.txt)"
		all=$(below "$ours")
		kill -$signal "$ours"
		wait "$ours" 2>/dev/null
		code=$?
		# shellcheck disable=SC2086 # a list
		is_gone $all && [ -z "$(leftovers)" ]
		ok $? "$1: kill -$signal of assay leaves nothing here"
		[ $signal = KILL ] || is "$code" 130 "$1: cancelled"
		[ $signal = KILL ] && { until_true eval '! appears $word'; ok $? "$1: what ran there ends when its time is up"; }
		appears "$word" && kill "$(pid_of "$word")"
	done
}
service_is_tried() { # sandbox
	files_through "$1" --weaker
	limits_of "$1" --weaker
	weaker=--weaker
	ask_and_replay "$1" --weaker
	weaker=
	ended_there "$1"
	proven_by_doctor "$1"
	all_is_tried "$1"
}
play_service() { # lambda, azure, container (of Azure) or modal; sets $box, and $service to who plays it
	: >service.txt
	apart /usr/bin/python3 -B "$top/tests/integration/remote_mocks.py" "$1" >service.txt 2>service-log.txt &
	service=$!
	stops+=("kill $service")
	until_true grep -q '^# all' service.txt || diag "$(cat service-log.txt)"
	. ./service.txt
}
over_service() { # as play_service
	apart true 2>/dev/null || { skip "$1" 'no namespaces to play its machine in' && return; }
	play_service "$1"
	service_is_tried "$box"
	kill "$service" && wait "$service"
}
sandboxes_of_e2b() { # a filter of jq: of its list
	curl -s -H "X-API-Key: $E2B_API_KEY" "$far/v2/sandboxes" | jq -r "$1"
}
serve_e2b() {
	printf 'test assay-%064d\n' 7 >far-keys && chmod 600 far-keys
	serve --profile off --timeout 1000 --cpu-seconds 1000
	export E2B_API_KEY=assay-$(printf %064d 7) E2B_API_URL=$far E2B_SANDBOX_URL=$far
}
over_e2b() {
	serve_e2b
	service_is_tried e2b
	until_true eval '[ "$(sandboxes_of_e2b length)" -le 1 ]'
	# That of who was killed, which nobody can end: for no longer than its program and a minute.
	is "$(sandboxes_of_e2b '.[] | (.endAt | sub("\\.[0-9]+"; "") | fromdate) - (.startedAt | sub("\\.[0-9]+"; "") | fromdate) | . <= 66')" \
		true 'e2b: all were ended, and who was killed leaves one for a short time'
	kill "$far_server" && wait "$far_server"
}
