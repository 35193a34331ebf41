#!/bin/bash
# What hostile code tries, and a functional set, over every sandbox that can run here: one list, and the
# cases and programs that the native one has (tests/escape, HumanEval); and what of them waits between runs.
# walls.t, whose functions start what each needs, asks everything else.
#   ASSAY_TEST_WALLS='docker ssh'   those; without it ssh and oci, and the others have files of their own;
#   ASSAY_TEST_ATTACKS='01-fork 44'   only such cases
#   ASSAY_TEST_SOME=yes   of each class of attack one, and one set (all but make check-walls)
. "$(dirname "$0")/walls.t"
export TMPDIR=$work/far-tmp
mkdir -p "$TMPDIR"
chmod go+x "$work"
printf 'print(1)\n' >p.py

attacks_on() { # sandbox [cases]
	local box=$1 began_ms
	shift
	began_ms=$(date +%s%3N)
	# shellcheck disable=SC2086 # a list
	ASSAY_TEST_SANDBOX=$box "$top/tests/escape/escape.t" ${ASSAY_TEST_ATTACKS:-"$@"} >attacks.txt 2>&1
	is "$? $(grep '^not ok' attacks.txt)" '0 ' "$box: $(grep -c '^ok' attacks.txt) attacks"
	grep -q '^not ok' attacks.txt && diag "$(grep -B 12 '^not ok' attacks.txt)"
	echo "# attacks on $box: $(($(date +%s%3N) - began_ms)) ms"
	is "$(leftovers)" '' "$box: they leave nothing"
}
functional_sets_in() { # sandbox sets
	local box=$1 set
	shift
	for set; do
		ASSAY_TEST_SANDBOX=$box ASSAY_TEST_SET=right "$here/$set.t" >set.txt 2>&1
		is "$? $(grep '^not ok' set.txt)" '0 ' "$box: $(sed -n '/^# .* succeeded/s/^# //p' set.txt | head -n 1)"
	done
}
# What waits between two runs of a service: so many containers or machines as --warm says, and no more.
server= # while there is one; its number may be another's afterwards
stop_server() { [ -z "$server" ] || kill "$server"; }
stops+=(stop_server)
memory_kib() { # pid:start...: what they hold, each page once
	for one; do
		awk '/^Pss:/ { print $2 }' "/proc/${one%%:*}/smaps_rollup" 2>/dev/null
	done | awk '{ kib += $1 } END { print kib + 0 }'
}
asks() { # sandbox, which job
	"$ASSAY" exec -q --warm 1 --socket "$work/w$warm.sock" --sandbox "$1" --timeout 60 a.sh >ran"$2".txt 2>&1 &
	ran[$2]=$!
}
# When a program has run, all that waited is there, and nothing else: none was started, nor booted, for it.
one_has_run() { # sandbox
	is "$(comm -3 <(sort <<<"$waits") <(those_of $serving | sort))" '' \
		"$1: a program runs in the one that waits, with its $(grep -c . <<<"$waits") processes, and none is started for it"
	[ "$(id -u)" -eq 0 ] || return 0
	# shellcheck disable=SC2086 # a list
	holds=$(memory_kib $waits)
	[ "$holds" -gt 0 ] && [ "$holds" -le $((1536 * 1024)) ]
	ok $? "$1: which holds no more than is stated, 1536 MiB: $holds KiB"
}
warms='1 0'
waiting_of() { # sandbox [of how many processes one is]
	echo 'echo ran' >a.sh
	for warm in $warms; do
		: >serve.txt
		"$ASSAY" serve --socket "$work/w$warm.sock" --sandbox "$1" --warm $warm --parallel 2 --timeout 60 2>serve.txt &
		server=$!
		until_true grep -q 'listening on' serve.txt
		serving=$(tr -d ' ' <"/proc/$server/task/$server/children") # what was started has the socket, and this one
		is "$(kept $serving)" $warm "$1: --warm $warm: so many of two are there before there is a job"
		if [ $warm = 1 ]; then # one that comes before a machine is booted may have another
			asks "$1" 1
			wait "${ran[1]}"
			until_true keeps $serving 1
			until_true has_begun "${2:-3}"
		fi
		waits=$(those_of $serving)
		asks "$1" 1
		wait "${ran[1]}"
		[ $warm = 0 ] || one_has_run "$1"
		asks "$1" 2 # two at once
		asks "$1" 3
		wait "${ran[2]}" "${ran[3]}"
		is "$(cat ran?.txt | tr '\n' ' ')" 'ran ran ran ' "$1: --warm $warm: one job and two at once"
		until_true keeps $serving $warm
		ok $? "$1: --warm $warm: and as many are there afterwards"
		kill $server && wait $server
		server=
	done
	is "$(leftovers)" '' "$1: nothing is left of what waited"
}
[ "${ASSAY_TEST_SOME:-}" ] && all_sets= || all_sets=yes
of_docker() {
	attacks_on docker:walls:1 ${ASSAY_TEST_SOME:+$classes}
	functional_sets_in docker:walls:1 humaneval ${all_sets:+mbpp}
	waiting_of docker:walls:1 2 # the container's are the engine's
	is "$(docker ps -aq)$(docker volume ls -q)" '' 'docker: no container and no volume is left'
}
of_podman() {
	attacks_on docker:localhost/walls:1 $classes
	waiting_of docker:localhost/walls:1 2
	is "$("${own[@]}" ps -aq)$("${own[@]}" volume ls -q)" '' 'podman: no container and no volume is left'
}
of_ssh() {
	attacks_on ssh:there $classes
	functional_sets_in ssh:there humaneval
}
# Each program takes a second there, and a machine three to boot: with ASSAY_TEST_SOME one attack for each thing that has
# to hold, and that nothing waits where nothing may is for containers to show.
of_microvm() {
	holds='01-fork-bomb.py 02-orphans 05-bytearray 07-disk 20-flood.py 32-calls 38-calls.py 39-proc 41-descriptors 53-sockets
		54-kill 56-setuid.sh 64-forged.py 66-secrets 67 68-a 68-b'
	[ -z "${ASSAY_TEST_SOME:-}" ] || classes=$holds warms=1
	attacks_on "microvm:$kernel" $classes
	waiting_of "microvm:$kernel"
}
of_oci() { # all attacks on runc are in walls.t
	for runtime in runc crun; do
		run exec --sandbox oci:$runtime p.py
		if [ "$code" -eq 0 ]; then
			case $runtime in
			runc) functional_sets_in oci:runc humaneval ${all_sets:+mbpp cruxeval humaneval-js} ;;
			crun)
				attacks_on oci:crun $classes
				functional_sets_in oci:crun humaneval
				;;
			esac
			waiting_of oci:$runtime
		else
			skip "oci:$runtime" "$(echo $err)"
		fi
	done
}

for wall in ${ASSAY_TEST_WALLS:-ssh oci}; do
	case $wall in
	oci) of_oci ;;
	docker) with_dockerd of_docker ;;
	podman) with_podman of_podman ;;
	ssh) with_sshd of_ssh ;;
	microvm) with_kernel of_microvm ;;
	esac
done
done_testing
