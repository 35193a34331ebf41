#!/bin/bash
# What the host sees of hostile code: links that race the set-up, killed supervisors, odd names.
# threat: 26 47 63 66 69 74 75
. "$(dirname "$0")/../integration/lib.sh"

base=/tmp # where the keeper puts its root together
trap=$work/trap
mkdir "$trap"

# 47: links flip where the root is built, while it is built.
flip() {
	while [ ! -e still ]; do
		for name in usr etc proc dev tmp; do
			ln -sfn "$trap" "$base/$name.assay-test" && mv -T "$base/$name.assay-test" "$base/$name" 2>/dev/null
			rm -f "$base/$name"
		done
	done
}
if [ -e $base/usr ] || [ -e $base/etc ] || [ -e $base/dev ]; then
	skip '47 links are swapped while the root is built' "$base is in use"
else
	flip &
	flipper=$!
	seen=
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		seen="$seen$(echo 'echo "$HOSTNAME:$$"; [ -e /etc/passwd ] && [ ! -e /home/user ] && [ ! -w /usr ] && echo sound' |
			"$ASSAY" exec -q --raw --lang bash - 2>&1 | tr '\n' ' ')"
	done
	: >still
	wait $flipper 2>/dev/null
	rm -f $base/usr $base/etc $base/proc $base/dev $base/tmp $base/*.assay-test
	is "$seen" "$(for _ in 1 2 3 4 5 6 7 8 9 10; do printf 'assay:2 sound '; done)" '47 links are swapped while the root is built: never followed'
	is "$(ls -A "$trap")" '' '47 and nothing was made behind them'
fi

# 69: a supervisor is killed. The marker is a length nobody else sleeps for.
mark=98765.$$
alive() { pgrep -f "sleep $mark" | wc -l; }
groups_of() { find /sys/fs/cgroup -name "assay-$1-*" 2>/dev/null; }
says_nothing() {
	left=$("$@")
	[ -z "$left" ] || [ "$left" = 0 ]
}
settle() { # command that must print nothing, or 0, before long
	until_true says_nothing "$@"
}
start() { # sets $program and $keeper, once the code runs
	cat >mark.sh <<-END
		for i in 1 2 3; do (trap '' TERM INT HUP; setsid sleep $mark) & done
		echo x >/out/x; sleep $mark
	END
	"$ASSAY" exec -q --timeout 60 mark.sh >start.out 2>&1 &
	program=$!
	until_true eval '[ "$(alive)" -ge 4 ]'
	is "$(alive)" 4 'hostile processes run'
	keeper=$(pgrep -P $program assay-keeper)
}
# Mounts that were not there: but for those of tests beside this one, which are below their folders.
mounts() { awk '{ print $2 }' /proc/self/mounts | sort; }
mounts >mounts.txt
mounts_left() { mounts | comm -13 mounts.txt - | grep -v '/assay-test[.]'; }
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

start
kill -9 "$program"
wait "$program" 2>/dev/null
settle alive; ok $? '69 assay is killed: the code is dead'
settle groups_of "$keeper"; ok $? '69 and no control group is left'

start
kill -9 "$keeper"
wait "$program"
is $? 6 '69 the keeper is killed: the run is told as failed by us'
settle alive; ok $? '69 and the code is dead'
settle groups_of "$keeper"; ok $? '69 and no control group is left'

start
janitor=$(pgrep -f assay-janitor -P "$keeper")
# shellcheck disable=SC2086 # the janitor may not exist
kill -9 "$program" $janitor "$keeper"
wait "$program" 2>/dev/null
settle alive; ok $? '69 everybody who could clean up is killed: the code is dead'
echo true | "$ASSAY" exec -q --lang bash - >/dev/null 2>&1
settle groups_of "$keeper"; ok $? '69 and the next start removes the litter'
settle mounts_left; is "$(mounts_left)" '' '69 no mount is left'
is "$(ls -A "$TMPDIR"; find "$base" -maxdepth 1 -name "*assay*[.-]$keeper*" -o -maxdepth 1 -name "*assay*[.-]$program*")" \
	'' '69 no folder is left'

# 69: a pid namespace ends, and the janitor with it; the /proc in there is the host's.
before=$(find /sys/fs/cgroup -name 'assay-*' 2>/dev/null | sort)
unshare --user --map-root-user --pid --fork sh -c "\"$ASSAY\" exec -q --timeout 60 mark.sh &
	until [ \$(pgrep -fc '[s]leep $mark') -ge 4 ] || ! kill -0 \$!; do sleep 0.05; done" >/dev/null 2>&1
settle alive; ok $? '69 a pid namespace ends around us: the code is dead'
echo true | "$ASSAY" exec -q --lang bash - >/dev/null 2>&1
strays() {
	for group in $(find /sys/fs/cgroup -name 'assay-*' 2>/dev/null | sort); do
		pid=${group##*/assay-}
		printf '%s\n' "$before" | grep -qxF "$group" ||
			grep -qsx assay-keeper "/proc/${pid%%-*}/comm" || echo "$group"
	done
}
settle strays; ok $? '69 and the next start removes its groups'

# 75: a run has all the descriptors on their way that the kernel lets it have, and keeps them there.
cat >hold.py <<END
import array, os, socket, subprocess, time
null = [os.open("/dev/null", os.O_RDONLY)] * 250
held, sent, end = [], 0, time.monotonic() + 20
while True:
    try:
        held.append(socket.socketpair())
        held[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", null))])
        sent += len(null)
    except OSError as e:
        # Another run of this user, in a test beside this one, may hold them all for a moment.
        if sent > 256 or time.monotonic() > end:
            print(e.strerror, sent > 256, flush=True)
            break
        held.pop()
        time.sleep(0.1)
subprocess.run(["sleep", "$mark"])
END
exec 8</var/tmp 9</tmp && flock 8 && flock 9 && exec 8<&- # no case of tests/escape/cases runs meanwhile (turn.h)
"$ASSAY" exec -q --raw --timeout 60 hold.py >hold.out 2>&1 9<&- &
program=$!
until_true eval '[ "$(alive)" -ge 1 ]'
is "$(echo 'echo ran' | "$ASSAY" exec -q --raw --lang bash - 2>&1)" ran '75 another run starts all the same'
is "$( (ulimit -Sn 200; echo 'echo ran' | "$ASSAY" exec -q --raw --lang bash -) 2>&1)" ran '75 also where our own limit is lower'
if [ "$(id -u)" -eq 0 ]; then
	skip '75 a limit that cannot be raised is told with its remedy' 'root has a user of its own for each run'
else
	told=$( (ulimit -n 200; echo 'echo ran' | "$ASSAY" exec -q --raw --lang bash -; echo "exit $?") 2>&1)
	is "$(printf '%s' "$told" | grep -c -e 'LimitNOFILE=' -e '^exit 6$' -e '^ran$')" 2 '75 a limit that cannot be raised is told with its remedy'
fi
kill -TERM "$program" # a shell lets what it starts beside itself ignore SIGINT
wait "$program" 2>/dev/null
exec 9<&-
is "$(grep -c '^Too many references.* True$' hold.out)" 1 '75 and it was at its end'
settle alive; ok $? '75 it is dead'

# 66: nothing of our environment, and no key, in any process of the sandbox.
export OPENAI_API_KEY=sk-canary-$$ CANARY_$$=canary-value
cat >hunt.py <<'END'
import os
for folder, _, names in os.walk("/proc"):
    for name in names:
        if name in ("environ", "cmdline", "auxv", "maps", "mounts", "mountinfo"):
            try: data = open(os.path.join(folder, name), "rb").read(1 << 20)
            except OSError: continue
            if b"canary" in data: print("found in", folder, name)
print("hunted", "canary" in str(os.environ))
END
is "$("$ASSAY" exec -q --raw hunt.py 2>&1)" 'hunted False' '66 keys and environment of the host are nowhere'
unset OPENAI_API_KEY

# 26: names that would move a cursor or fake a line reach neither terminal nor file system raw.
cat >names.py <<'END'
import os
for name in (b"new\nline", b"\x1b[2J\x1b]0;t\x07", b"\xff\xfe", b"-rf", b".hidden", b"fine.txt"):
    with open(b"/out/" + name, "w") as f: f.write("x")
print("done")
END
"$ASSAY" exec --out kept names.py >names.out 2>names.err
is $? 0 '26 a run with hostile names'
is "$(cat names.out names.err | LC_ALL=C tr -d '\n\t -~' | LC_ALL=C tr -d '\200-\377' | wc -c)" 0 '26 no control character is printed'
is "$(cat names.out names.err | iconv -f utf-8 -t utf-8 >/dev/null 2>&1; echo $?)" 0 '26 and no bad UTF-8'
is "$(find kept -type f -name '[!.-]*' | tr '\n' ' ')" 'kept/fine.txt ' '26 the harmless name is saved, and no other that a shell or terminal could trip over'
is "$(find kept -type f -name '.*' | wc -l)" 0 '26 no hidden file is saved'

# 63: what is in the folder for artifacts beforehand is not followed.
echo untouched >victim
mkdir -p linked
ln -s "$work/victim" linked/x
echo 'echo overwritten >/out/x' | "$ASSAY" exec -q --lang bash --out linked - >/dev/null 2>&1
is "$(cat victim)" untouched '63 an artifact is not written through a link'

# A limit on file sizes that we inherit is told, with what to do, before anything runs.
echo 'echo ran' >ran.sh
told=$( (ulimit -f 20000; "$ASSAY" exec -q --raw --db small.db ran.sh; echo "exit $?") 2>&1)
is "$(printf '%s' "$told" | grep -c -e 'ulimit -f unlimited' -e '^exit 6$' -e '^ran$')" 2 'an inherited limit on file sizes is told with its remedy'
is "$( (ulimit -Sf 20000; "$ASSAY" exec -q --raw --db small.db ran.sh) 2>&1)" ran 'one that we may lift is lifted'

# 74: a hard limit on core files of 0 that we inherit, at which a handler of crashes would be started.
echo 'grep "Max core" /proc/self/limits | tr -s " "' >core.sh
if (ulimit -c 0 && ulimit -Hc 1) 2>/dev/null; then
	is "$( (ulimit -c 0; "$ASSAY" exec -q --raw core.sh) 2>&1)" 'Max core file size 1 1 bytes ' '74 an inherited limit on cores is lifted'
else
	skip '74 an inherited limit on cores is lifted' 'a hard limit may not be raised here (CAP_SYS_RESOURCE)'
fi

# 74: a v1 group that asks for the host's program when it is empty hands that on to those below.
for tree in /sys/fs/cgroup/pids /sys/fs/cgroup/memory; do
	mkdir "$tree/told-$$" 2>/dev/null || continue
	echo 1 >"$tree/told-$$/notify_on_release"
	echo 'sleep 60' >sleep.sh
	(echo $BASHPID >"$tree/told-$$/tasks" && exec "$ASSAY" exec -q sleep.sh) >/dev/null 2>&1 &
	program=$!
	until_true eval 'ls -d "$tree/told-$$"/assay-* >/dev/null 2>&1'
	is "$(cat "$tree/told-$$"/assay-*/notify_on_release)" 0 "74 ${tree##*/}: a group of ours asks for no program"
	kill -INT $program
	wait $program 2>/dev/null
	echo 0 >"$tree/told-$$/notify_on_release"
	until_true rmdir "$tree/told-$$" 2>/dev/null
done

# A group above us that has less than the one processor a run gets (v1 refuses more).
half=
for tree in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
	mkdir "$tree/half-$$" 2>/dev/null || continue
	half=$tree/half-$$
	echo 50000 >"$half/cpu.cfs_quota_us"
	break
done
if [ -n "$half" ]; then
	is "$( (echo $BASHPID >"$half/tasks" && "$ASSAY" exec -q --raw ran.sh) 2>&1)" ran 'half a processor is enough'
	until_true rmdir "$half" 2>/dev/null
else
	skip 'half a processor is enough' 'no v1 cpu group can be made here'
fi

# Hosts that refuse a wall: what is told is the one thing to do, and nothing runs.
on() { # what to do to the host first
	unshare --user --map-root-user --mount sh -c "$1 && \"\$ASSAY\" exec -q --raw --db host.db ran.sh" 2>&1
	echo "exit $?"
}
refused() { # host, remedy, name
	told=$(on "$1")
	case $told in
	*"$2"*'exit 6') ok 0 "$3: told with its remedy" ;;
	*) ok 1 "$3: told with its remedy"; diag "$told" ;;
	esac
}
refused 'echo 0 >/proc/sys/user/max_user_namespaces' 'sysctl -w user.max_user_namespaces=15000' 'no user namespaces'
refused 'mount -t tmpfs none /proc' 'mount -t proc proc /proc' 'no /proc'
printf '|/bin/true' >pipe
printf '@/run/handler' >socket
refused 'ulimit -c 0 && mount --bind pipe /proc/sys/kernel/core_pattern' 'kernel.core_pattern is a pipe' '74 a handler of crashes that no limit keeps from being started'
refused 'mount --bind socket /proc/sys/kernel/core_pattern' 'kernel.core_pattern is a socket' '74 a service for crashes'
refused 'mount --bind /dev/null /proc/version' '--security-opt systempaths=unconfined' 'a masked /proc, as in Docker'

done_testing
