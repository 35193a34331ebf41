# What the log holds of a run, but for what is measured and what the host was like: of its document.
def measured: del(.elapsed_ms, .metrics, .wall_limit_ms);
# What it is worth, and its execution: the same through every door that runs a program.
def execution: {status, level, exit_code, attempts, reason,
	execution: [.events[] | select(.stage == "execute") |
		{phase, attempt, data: (.data | measured | del(.isolation, .environment, .packages))}]};
# All of it: two of one command, in sandboxes that are to be the same.
def whole: {status, level, exit_code, attempts, kind, config, packages,
	reason: (.reason // "" | gsub("[0-9.]+ ms"; "MS") | gsub("peak was [0-9.]+ MiB"; "peak was N MiB")),
	artifacts: [.artifacts[]? | {path, sha256, size}],
	events: [.events[] | {stage, phase, attempt, data: (.data | measured |
		if .isolation then .isolation |= del(.start, .socket) else . end)}]};
# How it ended alone, where the program is a part of what ran.
def worth: [.status, .level, .exit_code, .attempts] +
	([.events[] | select(.stage == "execute" and .phase == "done") | .data] | last | [.outcome, .exit_code]);
