#!/bin/bash
# walls.t's containers, made by an ordinary user, whose runtime makes a user namespace of its own; and what is said where
# the user may make none. Where walls.t itself is run by such a user, it has the first.
. "$(dirname "$0")/walls.t"
if [ -z "${ASSAY_TEST_ORDINARY:-}" ]; then
	[ "$id" -eq 0 ] || skip_all 'this user is an ordinary one: walls.t'
	place=$work/place
	mkdir -p "$place/build/tests/unit" "$work/own"
	cp -r "$top/tests" "$top/Makefile" "$place" # the latter is where the top is
	cp "$(dirname "$ASSAY")"/assay* "$place/build"
	cp "$(dirname "$ASSAY")"/tests/unit/test_sandbox{,_pair} "$place/build/tests/unit"
	chmod -R go+rX "$place" && chmod 711 "$work"
	chown 65001:65001 "$work/own"
	cd "$work/own" || exit
	ASSAY_TEST_ORDINARY=yes ASSAY_TEST_CACHE='' HOME=$work/own TMPDIR=$work/own ASSAY=$place/build/assay setpriv --reuid 65001 --regid 65001 \
		--clear-groups "$place/tests/integration/full/walls_ordinary.t"
	exit
fi
export TMPDIR=$work/far-tmp
mkdir -p "$TMPDIR"
chmod go+x "$work"
printf 'print(1)\n' >p.py
# With ASSAY_TEST_SOME the one that walls.t does not play.
[ "${ASSAY_TEST_SOME:-}" ] && runtimes=crun || runtimes='runc crun'
for runtime in $runtimes; do
	box=oci:$runtime
	if ! command -v $runtime >/dev/null && [ ! -x /usr/sbin/$runtime ]; then
		skip "$box" "not installed: apt-get install $runtime"
		continue
	fi
	run exec --sandbox "$box" p.py
	if [ "$code" -eq 0 ]; then
		suite "$box" "outer runtime $runtime"
	else
		is "$code $(leftovers)" '6 ' "$box cannot run here, says so and leaves nothing"
		skip "$box" "$(echo $err)"
	fi
	unshare -U --map-current-user true 2>/dev/null || { skip "$box: no user namespace" 'none here at all' && continue; }
	unshare -U --map-current-user --keep-caps sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' sh \
		setpriv --ambient-caps=-all --inh-caps=-all "$ASSAY" exec --sandbox "$box" p.py >out.txt 2>err.txt </dev/null
	like "$? $(echo $(cat err.txt))" '^6 .*needs a user namespace, and those are switched off here: `sysctl -w' \
		"$box: where no user namespace may be made it is refused"
	is "$(leftovers)" '' "$box: which leaves nothing"
done
done_testing
