#!/bin/bash
# Which version of the API is spoken with a container engine: the oldest that both know, so that neither an
# engine of years ago nor one that has left that behind refuses. The engine is ours; real ones are in full/.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
echo 'print(6 * 7)' >p.py

engine() { # oldest newest
	[ -z "${engine:-}" ] || kill "$engine"
	rm -f engine.sock requests.txt
	: >requests.txt
	/usr/bin/python3 "$here/docker_engine.py" "$work/engine.sock" "$work/requests.txt" "$1" "$2" 2>engine.err &
	engine=$!
	until_true test -S engine.sock
}
ended() {
	grep '^DELETE' requests.txt | sed -E 's,.*/,,; s/5{64}/ours/; s/a{63}/left/' | tr '\n' ' '
}
host=$(grep -xE '[0-9a-f]{32}' /etc/machine-id || cat /proc/sys/kernel/random/boot_id)
owner=$(id -u)\\.$(printf 'assay.owner %s' "$host" | sha256sum | head -c 32)
export DOCKER_HOST=unix://$work/engine.sock
for versions in '12 41 41' '24 43 41' '44 52 44'; do
	# shellcheck disable=SC2086 # words
	set -- $versions
	engine "$1" "$2"
	run exec --sandbox docker:image p.py
	is "$code $out" '0 42' "an engine of 1.$1 to 1.$2 runs a program"
	is "$(grep -o '/v1\.[0-9]*' requests.txt | sort -u)" "/v1.$3" "it is spoken to as 1.$3"
	is "$(head -n 1 requests.txt)" 'GET /version' 'what it knows is asked first, of no version'
	until_true grep -q '^DELETE.*/a*3' requests.txt
	ok $? 'what this user left who was killed before its start is removed'
	until_true eval '! pgrep -f -- "--engine $work/engine.sock" >/dev/null'
	is "$(ended)" 'ours?force=1&v=1 left1?v=1 left2?v=1 left3?v=1 ' \
		'after the container, by force: no more than three, nothing that is just being made by its clock (whose list is in pieces), nothing of others'
	like "$(grep json requests.txt)" "assay.owner=$owner%22" \
		'others are other users and hosts, and not the times before this one booted'
done
engine 12 41
say plan "$(plan)"
say code "$(program 'print(6 * 7)')"
say judge "$(verdict pass yes)"
say answer '42.'
ask --sandbox docker:image --lang python --expect 42 'Six times seven?'
id=$(field .run)
: >requests.txt
run replay --tier exec --json "$id"
is "$code $(field '.environment_changed | length') $(grep -c '/containers/create' requests.txt)" '0 0 1' \
	'a replay has one container for all that it runs'
engine 10 30
run exec --sandbox docker:image p.py
is "$code" 6 'one that knows none of it'
like "$err" 'client version 1.41 is too new' 'its refusal is told'
done_testing
