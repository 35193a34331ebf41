# A run at $socket, compared with a plain one. Sourced after lib.sh; needs jq.
#   record RUN; latest; document; both NAME ARGUMENTS-OF-EXEC...; waited FILE
# What is measured is no part of it; two differences are meant, isolation's start and socket.
record() { # run
	"$ASSAY" log export "$1" | jq -S '{status, level, exit_code, attempts, kind, config, packages,
		reason: (.reason // "" | gsub("[0-9.]+ ms"; "MS") | gsub("peak was [0-9.]+ MiB"; "peak was N MiB")),
		artifacts: [.artifacts[]? | {path, sha256, size}],
		events: [.events[] | {stage, phase, attempt, data: (.data | del(.elapsed_ms, .metrics, .wall_limit_ms) |
			if .isolation then .isolation |= del(.start, .socket) else . end)}]}'
}
latest() {
	"$ASSAY" log list --json --limit 1 | jq -r '.[0].run'
}
document() { # what --json says, but for what differs from run to run
	jq -S 'del(.run, .metrics, .isolation.start, .isolation.socket)' out.txt
}
both() { # name; arguments of exec
	name=$1
	shift
	run exec --json "$@"
	was_code=$code was=$(document) was_record=$(record "$(latest)")
	is "$(field .isolation.socket)" null "$name: a plain one names no socket"
	run exec --warm 2 --socket "$socket" --json "$@"
	is "$code" "$was_code" "$name: the same exit code"
	is "$(document)" "$was" "$name: the same document"
	is "$(record "$(latest)")" "$was_record" "$name: the same record"
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
