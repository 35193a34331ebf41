# A run at $socket, compared with a plain one. Sourced after lib.sh; needs jq.
#   document; both NAME ARGUMENTS-OF-EXEC...; waited FILE
# What is measured is no part of it; two differences are meant, isolation's start and socket.
. "$top/tests/integration/record.sh"
document() { # what --json says, but for what differs from run to run
	jq -S 'del(.run, .metrics, .isolation.start, .isolation.socket)' out.txt
}
both() { # name; arguments of exec
	name=$1
	shift
	run exec --json "$@"
	was_code=$code was=$(document) was_record=$(record "$(newest 0)" whole)
	is "$(field .isolation.socket)" null "$name: a plain one names no socket"
	run exec --warm 2 --socket "$socket" --json "$@"
	is "$code" "$was_code" "$name: the same exit code"
	is "$(document)" "$was" "$name: the same document"
	is "$(record "$(newest 0)" whole)" "$was_record" "$name: the same record"
	is "$(field .isolation.socket)" "$socket" "$name: which says where it ran"
	unlike "$err" 'runs here' "$name: it ran there"
	run exec "$@"
	was=$code$out
	cp out.txt plain.txt
	run exec --socket "$socket" "$@"
	is "$code$out" "$was" "$name: the same streamed"
	cmp -s out.txt plain.txt
	ok $? "$name: byte for byte"
}
waited() { # program: one that waited there ran it
	run exec --socket "$socket" --json "$1"
	[ "$(field .isolation.start)" != cold ]
}
