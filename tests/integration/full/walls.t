#!/bin/bash
# Every sandbox that can run here, by one list (walls_list.sh) and the same tests: the unit tests of the contract
# (outcome by outcome, files and output byte for byte, floods, hostile programs, the doctor), then what
# only a person sees: outer and inner walls in the record, cancelling, replay, kill -9 of assay in the
# middle, and what is left then. Starts what a sandbox needs, and says how long each took.
# Those of ASSAY_TEST_WALLS; without it oci and http. The others, which take longer, are started by files of
# their own (walls_ssh.t, walls_docker.t, walls_microvm.t), so that they run side by side. With
# ASSAY_TEST_SOME (all but make check-walls) of two that differ by little the first: runc and not crun, Docker and not
# Podman, another user over ssh and not this one too.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/limits.sh"
. "$top/tests/integration/full/walls_list.sh"
if [ "${1:-}" = --list ]; then
	print_walls
	exit
fi
. "$top/tests/integration/full/walls_more.sh"
units=$(dirname "$ASSAY")/tests/unit
[ -x "$units/test_sandbox" ] || skip_all 'the unit tests are not built: make units'
id=$(id -u)

weaker= # --weaker, of those that cannot hold all limits
stops=()
stop_all() {
	for one in "${stops[@]}"; do $one; done >/dev/null 2>&1
	rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 1' INT TERM HUP

# --- the tests ---

unit() { # sandbox, program
	case $2 in
	test_sandbox) has_tried contract ;;
	test_sandbox_pair) has_tried pair ;;
	esac
	if ASSAY_TEST_SANDBOX=$1 timeout 600 "$units/$2" >unit.txt 2>&1; then
		ok 0 "$1: $2"
	else
		ok 1 "$1: $2"
		diag "$(grep -vE '^\[ +(OK|RUN)' unit.txt)"
	fi
}
# What test_sandbox has shown, too, where it is whole.
ends_itself() { # sandbox [options]
	for ends in 'exit 3' 'kill -SEGV $$'; do
		echo "$ends" >ends.sh
		run exec --sandbox "$@" --json ends.sh
		field '.outcome, .exit_code, .signal'
	done >ends.txt
	is "$(tr '\n' ' ' <ends.txt)" 'exit 3 null signal null 11 ' "$1: what ends by itself is told as it ended"
}
pid_of() { # a word of its command line, of a guest: not of whoever starts it
	pgrep -fx "sleep $1"
}
appears() { [ -n "$(pid_of "$1")" ]; }
# All that a run is made of: what assay started, and what the guest was started by, each with when it
# began, up to whom it found there.
started() { # pid
	awk '{ sub(/.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null
}
below() { # pid
	for one in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$one:$(started "$one")"
		below "$one"
	done
}
above() { # pid; stops at what was there before assay
	one=$1
	while [ "$one" -gt 1 ] && [ "$(started "$one")" -ge "$began_at" ]; do
		echo "$one:$(started "$one")"
		one=$(awk '/^PPid:/ { print $2 }' "/proc/$one/status" 2>/dev/null)
		one=${one:-0}
	done
}
is_gone() { # pid:start...
	for one; do
		[ "$(started "${one%%:*}")" != "${one#*:}" ] || return 1
	done
}
leftovers() {
	ls -d "$TMPDIR"/assay-* 2>/dev/null
	grep -E 'assay-(oci|keeper)' /proc/self/mountinfo
}
killed_in_the_middle() { # sandbox, signal
	has_tried killed
	word=86$RANDOM$RANDOM
	: >killed.txt
	"$ASSAY" exec --sandbox "$1" --lang bash --timeout 900 - >killed.txt 2>&1 \
		<<<"echo begun; sleep $word" &
	ours=$!
	began_at=$(started "$ours")
	if ! until_true appears "$word"; then
		ok 1 "$1: a guest appears"
		diag "$(cat killed.txt)"
		return
	fi
	# shellcheck disable=SC2046 # a list
	all=$(below "$ours" && for one in $(pid_of "$word"); do above "$one"; done)
	kill -"$2" "$ours"
	wait "$ours" 2>/dev/null
	code=$?
	# shellcheck disable=SC2086 # a list
	until_true is_gone $all
	ok $? "$1: kill -$2 of assay ends $(echo "$all" | sort -u | wc -l) processes"
	is "$(pid_of "$word")" '' "$1: and the guest"
	is "$(leftovers)" '' "$1: nothing is left of it"
}
begins='echo begun; sleep 900' # in $limit_lang
is_cancelled() { # sandbox [options]
	has_tried cancelled
	: >killed.txt
	env --default-signal=INT "$ASSAY" exec --sandbox "$1" --lang $limit_lang --timeout 900 "${@:2}" - >killed.txt 2>&1 \
		<<<"$begins" &
	ours=$!
	until_true grep -q begun killed.txt || diag "$(cat killed.txt)"
	all=$(below "$ours")
	kill -INT "$ours"
	wait "$ours"
	is "$? $(leftovers)" '130 ' "$1: cancelled, and nothing is left of it"
	# shellcheck disable=SC2086 # a list
	until_true is_gone $all
	ok $? "$1: nor of its $(echo "$all" | sort -u | wc -l) processes"
}
# What reaches the sandbox is killed while a program runs: exit 6, and nobody says that nothing ran.
lost_in_the_middle() { # sandbox
	: >lost.txt
	"$ASSAY" exec --sandbox "$1" --lang bash --timeout 900 - >lost.txt 2>&1 <<<'echo begun; sleep 900' &
	ours=$!
	until_true grep -q begun lost.txt
	near=$(below "$ours" | head -n 1)
	kill -KILL "$(below "${near%%:*}" | head -n 1 | cut -d: -f1)"
	wait "$ours"
	is "$? $(grep -c 'it began, and its end is not known' lost.txt) $(grep -c 'nothing ran' lost.txt)" '6 1 0' \
		"$1: lost in the middle, which is told"
}
suite() { # sandbox, what the facts say of its outer wall
	began=$(date +%s%3N)
	unit "$1" test_sandbox
	unit "$1" test_sandbox_pair
	files_through "$1"
	like "$(field '.isolation.facts[] | "\(.layer) \(.name) \(.value)"')" "$2" "$1: the outer wall is in the record"
	is "$(field '.isolation | .userns, .pidns, .netns, .mountns' | tr '\n' ' ')" 'true true true true ' \
		"$1: and so are the inner ones"
	hold_limits "$1"
	limits_are_as_listed "$1"
	ask_and_replay "$1"
	calls_of_tools "$1"
	is_cancelled "$1"
	killed_in_the_middle "$1" KILL
	killed_in_the_middle "$1" TERM
	is "$code" 143 "$1: terminated"
	case $1 in ssh:*) lost_in_the_middle "$1" ;; esac # others are cleaned up by who is killed here
	proven_by_doctor "$1"
	case $1 in ssh:* | http:*) ;; *) is "$(field '[.layers[] | select(.name | startswith("outer")) | .in_force] | join(" ")')" \
		'own own own own own' "$1: and the outer ones" ;; esac
	all_is_tried "$1"
	echo "# $1: $(($(date +%s%3N) - began)) ms"
}
ask_and_replay() { # sandbox [other options]
	has_tried question
	forget
	say plan "$(plan)"
	say code "$(program 'print(6*7)')"
	say judge "$(verdict pass 'yes')"
	say answer '42.'
	ask --sandbox "$@" --lang python --expect 42 'what is six times seven?'
	is "$code" 0 "$1: a question"
	id_of=$(field .run)
	again=
	case $1 in
	ssh:* | http:* | e2b | lambda:* | azure:* | modal:*)
		run replay --tier exec "$id_of"
		like "$code $err" '^2 .*ran on another machine' "$1: replay sends nothing there unasked"
		again="--sandbox $1"
		;;
	esac
	# shellcheck disable=SC2086 # words or none
	run replay --tier exec $weaker $again --json "$id_of"
	is "$code $(field '.environment_changed | length')" '0 0' "$1: replay runs it there again"
	run replay --tier exec --json --sandbox native "$id_of"
	is "$(field '.environment_changed[0] | .name, .before, .after' | tr '\n' ' ')" "sandbox $1 native " \
		"$1: a change of sandbox is named first"
}
# The tool is on this side of the walls, and leaves a line for each call.
calls_of_tools() { # sandbox [options]
	printf '#!/bin/sh\ncat >>%s/marks\ngrep -c . %s/marks\n' "$work" "$work" >mark
	chmod 755 mark && rm -f marks
	printf '[tool next]\ncommand = %s/mark\naction = allow\n' "$work" >tools.ini
	printf 'import assay\nx = assay.call("next")\nprint("first", x)\n' >c1.py
	printf 'print("then", x, assay.call("next"))\n' >c2.py
	run exec --sandbox "$@" --tools --config tools.ini --context "calls $1" c1.py
	case $1 in
	http:*)
		like "$code $(echo $err)" '^6 .*no descriptors by which a program could call tools' "$1: --tools is refused"
		return
		;;
	esac
	has_tried tools
	is "$code $out" '0 first 1' "$1: a program calls a tool"
	run exec --sandbox "$@" --tools --config tools.ini --context "calls $1" c2.py
	is "$code $out" '0 then 1 2' "$1: the next one in its context has the result, which is not called again"
}

# --- ssh ---

with_sshd() { # a function to call then
	command -v sshd >/dev/null || [ -x /usr/sbin/sshd ] || { skip ssh 'no sshd: apt-get install openssh-server' && return; }
	getent passwd "$id" >/dev/null || { skip ssh "uid $id has no name, which ssh wants" && return; }
	command -v ssh >/dev/null || { skip ssh 'no ssh: apt-get install openssh-client' && return; }
	chmod 711 "$work"
	mkdir -p sshd far-tmp && chmod 1777 far-tmp && cd sshd || return
	for key in host key; do ssh-keygen -q -t ed25519 -N '' -f $key; done
	cp key.pub authorized && chmod 644 authorized && chmod 755 .
	port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/authorized" \
		"PidFile $PWD/pid" 'PermitRootLogin prohibit-password' 'StrictModes no' 'UsePAM no' \
		'PasswordAuthentication no' "SetEnv TMPDIR=$work/far-tmp" >sshd.conf
	printf '%s\n' 'Host there' "User $(id -un)" 'Host there-user' 'User walls' 'Host *' 'HostName 127.0.0.1' \
		"Port $port" "IdentityFile $PWD/key" 'IdentitiesOnly yes' "UserKnownHostsFile $PWD/known" \
		'StrictHostKeyChecking accept-new' >ssh.conf
	export ASSAY_SSH_CONFIG=$PWD/ssh.conf
	cp /etc/passwd passwd
	echo 'walls:x:12346:12346::/tmp:/bin/sh' >>passwd
	start=/usr/sbin/sshd
	if [ "$id" -eq 0 ]; then # which sees one user more
		mkdir -p /run/sshd
		start='unshare -m sh -c "mount --bind passwd /etc/passwd; exec /usr/sbin/sshd \"\$@\"" sshd'
	fi
	if ! eval "$start -f '$PWD/sshd.conf' -E '$PWD/log'" || ! until_true [ -s pid ]; then
		skip ssh "sshd does not start: $(tail -n 1 log)"
		cd ..
		return
	fi
	pid=$(cat pid)
	stops+=("kill $pid")
	cd .. || return
	TMPDIR=$work/far-tmp
	"$@"
	kill "$pid"
}
over_ssh() {
	[ "${ASSAY_TEST_SOME:-}" ] && [ "$id" -eq 0 ] || suite ssh:there 'outer machine there'
	run exec --sandbox ssh:there p.py # by which its key is known from here on
	is "$code" 0 'ssh: a program as this user'
	ssh_refusals
	[ "$id" -eq 0 ] || skip 'ssh to another user' 'not root'
	[ "$id" -ne 0 ] || suite ssh:there-user 'outer machine there-user'
}
ssh_refusals() {
	for host in '-oProxyCommand=id' 'a b' "x'y" 'a;id' '$(id)'; do
		run exec --sandbox "ssh:$host" p.py
		is "$code" 2 "ssh: $host is no host"
	done
	run exec --sandbox ssh:ssh://127.0.0.1:1 p.py
	is "$code" 6 'ssh: a host that is not there: exit 6'
	printf '#!/bin/sh\necho Welcome\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n' >sshd/banner
	chmod 755 sshd/banner
	sed -i "s,^,command=\"$PWD/sshd/banner\" ," sshd/authorized
	run exec --sandbox ssh:there p.py
	like "$code $(echo $err)" '^6 .*said something else than a keeper does; Welcome' 'ssh: a shell that talks is told of'
	printf '#!/bin/sh\necho assay-stream 9 9\n' >sshd/banner
	run exec --sandbox ssh:there p.py
	like "$code $(echo $err)" '^6 .*another version' 'ssh: a keeper of another version is refused'
	sed -i 's,^command="[^"]*" ,,' sshd/authorized
}

# --- another assay ---

serve() { # arguments; sets $far to its address and $key
	: >serve.txt
	case ${1-} in --socket) where= ;; *) where='--listen 0' ;; esac
	# shellcheck disable=SC2086 # words
	"$ASSAY" serve $where --db "$work/far.db" --key-file "$work/far-keys" "$@" 2>serve.txt &
	far_server=$!
	stops+=("kill $far_server")
	until_true grep -q 'listening on' serve.txt
	far=$(sed -n 's/.*listening on //p' serve.txt)
}
over_http() {
	printf 'test assay-%064d\n' 7 >far-keys && chmod 600 far-keys
	export ASSAY_SERVE_KEY=assay-$(printf %064d 7)
	serve --profile off --timeout 1000 --cpu-seconds 1000
	suite "http:$far" "outer machine $far"
	is "$(grep -c "$ASSAY_SERVE_KEY" serve.txt)" 0 'http: the server says no key'
	printf 'import os\nprint(os.environ)\nprint(open("/proc/self/environ").read())\n' >env.py
	run exec --sandbox "http:$far" --json env.py
	is "$code $(grep -c "$ASSAY_SERVE_KEY" out.txt)" '0 0' 'http: no guest sees the key'
	printf 'print("%s")\n' "$ASSAY_SERVE_KEY" >key.py
	run exec --sandbox "http:$far" --json key.py
	is "$code $(grep -c "$ASSAY_SERVE_KEY" out.txt) $(grep -ac "$ASSAY_SERVE_KEY" "$XDG_DATA_HOME/assay/log.db")" \
		'0 0 0' 'http: what prints it is redacted, in the result and in the log'
	run exec --sandbox "http:$far" --memory 64G p.py
	like "$code $(echo $err)" '^2 .*a limit of 68719476736 for memory_bytes is more than is allowed there' \
		'http: a limit above the server'\''s is refused'
	ASSAY_SERVE_KEY=assay-$(printf %064d 8) run exec --sandbox "http:$far" p.py
	like "$code $(echo $err)" '^6 .*does not know this key' 'http: a wrong key, exit 6'
	kill "$far_server" && wait "$far_server"
	run exec --sandbox "http:$far" p.py
	like "$code $(echo $err)" '^6 .*no connection' 'http: nobody there, exit 6'
	serve
	run exec --sandbox "http:$far" p.py
	like "$code $(echo $err)" '^6 .*refuses: .*--profile off' 'http: a server that screens refuses'
	kill "$far_server" && wait "$far_server"
	for url in ftp://x 127.0.0.1:1 http:// 'http://u:p@h' 'http://a b'; do
		run exec --sandbox "http:$url" p.py
		is "$code" 2 "http: $url is no address"
	done
}

# --- containers ---

# Of every class of attack that differs in what has to hold (processes, memory, disk, output, calls, files,
# forgeries, leftovers), one; limits of time are in walls.t. For a machine, which in software takes ten times as
# long for each, where the walls are the native ones and only their surroundings differ, and for ASSAY_TEST_SOME.
classes='01-fork-bomb.py 02-orphans 05-bytearray 06-memfd.py 07-disk 11-mkdirs 14-child-oom
	19-ignored.sh 20-flood.py 21-stderr-flood 24-sparse 26-names 29-segfault.py 32-calls 37-unknown
	38-calls.py 39-proc 40-self-exe.py 41-descriptors 53-sockets 54-kill 55-init 56-setuid.sh 59-fexecve
	61-rename 64-forged.py 66-secrets 67 68-a 68-b 70-stdin-read'

attacked() { # sandbox: by everything that hostile code tries
	attacks_began=$(date +%s%3N)
	ASSAY_TEST_SANDBOX=$1 "$top/tests/escape/escape.t" >attacks.txt 2>&1
	is "$? $(grep '^not ok' attacks.txt)" '0 ' "$1: $(grep -c '^ok' attacks.txt) attacks"
	echo "# attacks on $1: $(($(date +%s%3N) - attacks_began)) ms"
}

# Groups that were not there before and that nothing is in: those of tests beside this one have
# processes, but for a moment.
groups() { find /sys/fs/cgroup -maxdepth 3 -name 'assay-oci-*' 2>/dev/null; }
groups_left() {
	groups | grep -vxF "$groups_before" | while read -r group; do
		[ -n "$(find "$group" -name cgroup.procs -exec cat {} + 2>&1)" ] || echo "$group"
	done
}
no_group_left() { [ -z "$(groups_left)" ]; }
over_oci() {
	groups_before=$(groups)
	[ -n "$groups_before" ] || groups_before=none
	runtimes='runc crun' # runsc: gvisor.t
	[ -z "${ASSAY_TEST_SOME:-}" ] || runtimes=runc
	for runtime in $runtimes; do
		if ! command -v $runtime >/dev/null && [ ! -x /usr/sbin/$runtime ]; then
			skip "oci:$runtime" "not installed: apt-get install $runtime"
			continue
		fi
		echo 'print(1)' >can.py
		run exec --sandbox oci:$runtime can.py
		if [ "$code" -ne 0 ]; then
			is "$code $(leftovers)" '6 ' "oci:$runtime cannot run here, says so and leaves nothing"
			like "$(echo $err)" "the sandbox cannot be set up: .{20}" "oci:$runtime: why not"
			skip "oci:$runtime" "$(echo $err)"
			continue
		fi
		suite oci:$runtime "outer runtime $runtime"
		[ $runtime = crun ] || attacked oci:$runtime
		until_true no_group_left
		is "$(groups_left)" '' "oci:$runtime: no group is left"
	done
	run exec --sandbox oci:nothing p.py
	like "$code $err" '^2 .*no OCI runtime' 'oci: a runtime nobody knows'
	run exec --oci-runtime runc --sandbox native p.py
	like "$code $err" '^2 .*--oci-runtime' 'oci: a runtime of another sandbox is refused'
}

needed() { awk '$3 ~ "^/" && !seen[$3]++ { print $3; system("readlink -f " $3) }'; }
# An image of this host's own programs: nothing is pulled.
make_image() { # file
	packages='bash coreutils dash libc6 libc-bin python3 python3-minimal python3.11 python3.11-minimal
		libpython3-stdlib libpython3.11-minimal libpython3.11-stdlib perl-base grep sed mawk findutils
		util-linux tar gzip media-types tzdata'
	# shellcheck disable=SC2086 # a list
	{
		dpkg -L $packages 2>/dev/null | grep -vE '/share/(doc|man|locale|info|lintian)/'
		for one in $packages; do
			dpkg -L "$one" 2>/dev/null | grep -E '/bin/|\.so' | xargs -r ldd 2>/dev/null
		done | needed
		readlink -f "$(command -v node)" && ldd "$(readlink -f "$(command -v node)")" | needed
		ls -d /etc/passwd /etc/group /etc/ld.so.cache /etc/nsswitch.conf /etc/mime.types /etc/alternatives /usr/bin/sh
		printf '/%s\n' bin sbin lib lib64
	} | sed -E 's,^/(bin|sbin|lib|lib64)/,/usr/\1/,' | sort -u | while read -r one; do
		[ ! -e "$one" ] || { [ -d "$one" ] && [ ! -L "$one" ]; } || echo "${one#/}"
	done >image.txt
	tar -C / --no-recursion --ignore-failed-read -cf "$1" -T image.txt 2>/dev/null
	grep -qx usr/bin/node image.txt || [ ! -x "$(command -v node)" ] || ln -s "$(readlink -f "$(command -v node)")" node
	[ ! -L node ] || tar --transform 's,^,usr/bin/,' -rf "$1" node
}
with_dockerd() { # a function to call then
	[ "$id" -eq 0 ] || { skip docker 'a dockerd of our own is started by root' && return; }
	command -v dockerd >/dev/null && command -v docker >/dev/null ||
		{ skip docker 'no dockerd: apt-get install docker.io' && return; }
	mkdir -p dockerd && cd dockerd || return
	begun=$(date +%s%3N)
	dockerd --data-root "$PWD/data" --exec-root "$PWD/exec" -H "unix://$PWD/sock" --pidfile "$PWD/pid" \
		--iptables=false --ip6tables=false --bridge=none >log 2>&1 &
	stops+=("kill $!")
	daemon=$!
	export DOCKER_HOST=unix://$PWD/sock
	for _ in $(seq 300); do
		docker version >/dev/null 2>&1 && break
		sleep 0.1
	done
	if docker version >/dev/null 2>&1; then
		make_image image.tar
		docker import image.tar walls:1 >import.txt 2>&1
		is "$?" 0 "docker: an image of this host's programs"
	else
		skip docker "dockerd does not start here: $(tail -n 1 log)"
		cd ..
		return
	fi
	echo "# dockerd and an image of $(du -m image.tar | cut -f1) MiB: $(($(date +%s%3N) - begun)) ms"
	cd ..
	"$@"
	kill "$daemon" && wait "$daemon"
	unset DOCKER_HOST
}
with_podman() { # a function to call then
	[ "$id" -eq 0 ] || { skip podman 'started by root' && return; }
	command -v podman >/dev/null || { skip podman 'no podman: apt-get install podman' && return; }
	mkdir -p podman && cd podman || return
	begun=$(date +%s%3N)
	runtime=$(command -v runc || echo crun)
	own=(podman --root "$PWD/root" --runroot "$PWD/run" --cgroup-manager=cgroupfs --runtime "$runtime")
	"${own[@]}" system service --time=0 "unix://$PWD/sock" >log 2>&1 &
	daemon=$!
	stops+=("kill $daemon")
	[ -e ../dockerd/image.tar ] || make_image image.tar
	if ! "${own[@]}" import "$(ls ../dockerd/image.tar image.tar 2>/dev/null | head -n 1)" walls:1 >import.txt 2>&1 ||
		! until_true [ -S sock ]; then
		skip podman "it does not start here: $(tail -n 1 import.txt)"
		cd ..
		return
	fi
	echo "# podman and its image: $(($(date +%s%3N) - begun)) ms"
	export DOCKER_HOST=unix://$PWD/sock
	cd ..
	"$@"
	kill "$daemon" && wait "$daemon"
	unset DOCKER_HOST
	umount podman/root/* podman/run/* 2>/dev/null
}
over_podman() {
	suite docker:localhost/walls:1 'outer image localhost/walls:1'
	is "$("${own[@]}" ps -aq)$("${own[@]}" volume ls -q)" '' 'podman: no container and no volume is left'
}
# Who speaks to the engine is killed, so that nobody removes the container: its input has ended, and the engine does.
engine_killed() { # sandbox
	: >killed.txt
	"$ASSAY" exec --sandbox "$1" --lang bash --timeout 900 - >killed.txt 2>&1 <<<'echo begun; sleep 900' &
	ours=$!
	until_true grep -q begun killed.txt || diag "$(cat killed.txt)"
	like "$(docker inspect -f '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}}' "$(docker ps -q)")" \
		'^([1-9][0-9]{7,}) \1 [1-9][0-9]*$' "$1: the engine limits memory and processes, too"
	for one in $(below "$ours"); do
		! tr '\0' ' ' <"/proc/${one%%:*}/cmdline" | grep -q -- '^[^ ]*assay-keeper --engine' || kill -KILL "${one%%:*}"
	done
	wait "$ours"
	is "$? $(grep -c 'it began, and its end is not known' killed.txt)" '6 1' "$1: who speaks to the engine is killed, which is told"
	until_true eval '[ -z "$(docker ps -aq)" ]'
	is "$(docker ps -aq)$(docker volume ls -q)" '' "$1: and the container goes nonetheless"
}
over_docker() {
	suite docker:walls:1 'outer image walls:1'
	engine_killed docker:walls:1
	run exec --sandbox docker:walls:1 --memory 9000G p.py
	like "$code $(echo $err)" '^[26] .*memory limit of 9216000 MiB cannot be held' 'docker: a limit beyond the container is refused'
	until_true eval '[ -z "$(docker ps -aq)" ]'
	is "$(docker ps -aq)$(docker volume ls -q)" '' 'docker: no container and no volume is left'
	printf 'print(1)\n' >p.py
	run exec --sandbox docker --image nothing:9 p.py
	like "$code $(echo $err)" '^6 .*no such image here; pull it first: nothing:9' 'docker: an image that is not here'
	for image in '-v' 'a b' 'x"y' 'a,b'; do
		run exec --sandbox docker --image "$image" p.py
		is "$code" 2 "docker: $image is no image"
	done
	DOCKER_HOST=tcp://127.0.0.1:1 run exec --sandbox docker:walls:1 p.py
	like "$err" 'only unix://PATH' 'docker: an engine over the network is refused'
	DOCKER_HOST=unix:///nothing run exec --sandbox docker:walls:1 p.py
	like "$code $(echo $err)" '^6 .*does not answer' 'docker: no engine, exit 6'
}

# --- machines ---

# Debian's kernel for clouds, extracted and not installed. Whoever has one names it.
find_kernel() {
	kernel=${ASSAY_TEST_KERNEL:-}
	[ ! -d "$kernel" ] || return 0
	mkdir -p "$shared/kernel/package" && cd "$shared/kernel/package" || return
	kernel=$shared/kernel
	[ ! -d "$kernel/boot" ] || { cd "$work" && return; }
	package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }')
	apt-get download "${package:-linux-image-cloud-amd64}" >../log 2>&1 && dpkg-deb -x ./*.deb .. >>../log 2>&1
	cd "$work" || return
	[ -d "$kernel/boot" ]
}
with_kernel() { # a function to call then
	[ -x /usr/bin/qemu-system-x86_64 ] || { skip microvm 'no QEMU: apt-get install qemu-system-x86' && return; }
	# Tests that run beside this one share both (tests/everything); whoever comes first makes them.
	shared=${ASSAY_TEST_IMAGES:-$work}
	export XDG_CACHE_HOME=${ASSAY_TEST_CACHE:-$shared/cache}
	begun=$(date +%s%3N)
	exec 7<"$shared" && flock 7
	find_kernel || { skip microvm "no kernel: $(tail -n 1 "$shared/kernel/log")" && return; }
	"$(dirname "$ASSAY")/assay-image" "$XDG_CACHE_HOME/assay" >image-path.txt 2>image-log.txt
	is "$?" 0 "microvm: an image of this host's programs"
	exec 7<&-
	cat image-log.txt >&2
	echo "# a kernel and an image of $(du -m "$(cat image-path.txt)" | cut -f1) MiB: $(($(date +%s%3N) - begun)) ms"
	export ASSAY_TEST_SLOWNESS=6
	"$@"
	unset ASSAY_TEST_SLOWNESS XDG_CACHE_HOME
}
# As every other; what is left is looked for by who started it: nothing of a machine's guest is a process here.
machine_killed() { # sandbox, signal, what is below assay [options]
	has_tried killed
	: >killed.txt
	"$ASSAY" exec --sandbox "$1" --lang $limit_lang --timeout 900 "${@:4}" - >killed.txt 2>&1 <<<"$begins" &
	ours=$!
	until_true grep -q begun killed.txt || diag "$(cat killed.txt)"
	all=$(below "$ours")
	like "$(for one in $all; do cat "/proc/${one%%:*}/comm"; done 2>/dev/null | tr '\n' ' ')" "$3" "$1: $3 is below assay"
	kill -"$2" "$ours"
	wait "$ours" 2>/dev/null
	code=$?
	# shellcheck disable=SC2086 # a list
	until_true is_gone $all
	ok $? "$1: kill -$2 of assay ends $(echo "$all" | sort -u | wc -l) processes"
	is "$(leftovers)" '' "$1: nothing is left of it"
}
over_microvm() {
	box=microvm:$kernel
	began=$(date +%s%3N)
	unit "$box" test_sandbox_pair
	# In software all of the contract takes a minute of CPU; what limits end is tried below in any case.
	[ "${ASSAY_TEST_SOME:-}" ] && part=test_languages || part='*'
	ASSAY_TEST_ONLY=$part unit "$box" test_sandbox
	echo "# test_sandbox: $(grep -cE '^\[ +OK' unit.txt) passed"
	cold=$(date +%s%3N)
	files_through "$box" --timeout 60
	echo "# microvm: from nothing to an artifact in $(($(date +%s%3N) - cold)) ms"
	like "$(field '.isolation.facts[] | "\(.layer) \(.name) \(.value)"')" 'outer machine QEMU microvm, ' \
		'microvm: the outer wall is in the record'
	is "$(field '.isolation | .userns, .pidns, .netns, .cgroup' | tr '\n' ' ')" 'true true true v2 ' \
		'microvm: and so are the inner ones'
	# In one machine, that of a service: each of its own has to boot first.
	serve --socket "$work/machine.sock" --sandbox "$box" --warm 1 --parallel 1 --timeout 240 --cpu-seconds 240
	hold_limits "$box" --warm 1 --socket "$work/machine.sock" --timeout 120 --cpu-seconds 120
	ends_itself "$box" --warm 1 --socket "$work/machine.sock"
	kill "$far_server" && wait "$far_server"
	limits_are_as_listed "$box"
	ask_and_replay "$box" --timeout 60 --cpu-seconds 60
	calls_of_tools "$box" --timeout 60 --cpu-seconds 60
	is_cancelled "$box"
	machine_killed "$box" KILL qemu
	machine_killed "$box" TERM qemu
	is "$code" 143 'microvm: terminated'
	lost_in_the_middle "$box"
	proven_by_doctor "$box"
	is "$(field '.layers[] | select(.name == "outer kernel") | .in_force')" own 'microvm: and that the kernel is another'
	run exec --sandbox "$box" --memory 2G p.py
	like "$code $(echo $err)" '^[26] .*memory limit of 2048 MiB cannot be held' 'microvm: a limit it cannot hold is refused'
	run exec --sandbox microvm:/nothing p.py
	like "$code $(echo $err)" '^2 .*has no kernel' 'microvm: no kernel'
	all_is_tried "$box"
	echo "# microvm: $(($(date +%s%3N) - began)) ms"
}

# --- all ---

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # walls_attacked.t has a list of its own
export TMPDIR=$work/far-tmp
mkdir -p "$TMPDIR"
chmod go+x "$work" # gVisor leads the way to it as nobody
printf 'print(open("/proc/self/status").readline())\n' >p.py
walls=${ASSAY_TEST_WALLS:-oci http}
# shellcheck disable=SC2154 # of walls_more.sh
for wall in $walls; do
	case $wall in
	oci) over_oci ;;
	docker) with_dockerd over_docker ;;
	podman) with_podman over_podman ;;
	ssh) with_sshd over_ssh ;;
	microvm) with_kernel over_microvm ;;
	http) over_http ;;
	firecracker) with_firecracker over_firecracker ;;
	pyodide) over_pyodide ;;
	restricted) over_restricted ;;
	e2b) over_e2b ;;
	lambda | azure | container | modal) over_service "$wall" ;;
	esac
done
done_testing
