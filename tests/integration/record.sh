# What the log has of a run, to be compared with another. Sourced after lib.sh; needs jq.
record() { # run; execution or whole (record.jq)
	"$ASSAY" log export "$1" | jq -cS -L "$top/tests/integration" "include \"record\"; $2"
}
newest() { # which run of the log, from 0
	"$ASSAY" log list --json --limit 9 | jq -r ".[$1].run"
}
