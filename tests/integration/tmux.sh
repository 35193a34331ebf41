# Terminals for tests that type and read, of this test's own. Sourced after lib.sh, where there is tmux.
#   tm ARGUMENT...: tmux at the test's server; $sessions names it: each of a test's terminals can have another.
#   quote WORD...: as words of a shell's line
sessions=0
# tmux runs commands with $SHELL, which is not the same everywhere.
export TMUX_TMPDIR="$work" LC_ALL=C.UTF-8 SHELL=/bin/sh
unset TMUX
tm() {
	tmux -L "assay-test-$$-$sessions" -f /dev/null "$@" 2>/dev/null
}
# This test's own programs that still run: their numbers.
ours() {
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe")" = "$ASSAY" ] || continue
		case $(readlink "${exe%exe}cwd") in "$work"*) basename "${exe%/exe}" ;; esac
	done
}
# The sanitizers' search for leaks may wait for itself for ever where a signal ends what it searches.
leave() {
	trap '' HUP INT TERM
	# A second signal to the group, as timeout(1) sends one, would end the client before it has asked.
	setsid -w tmux -L "assay-test-$$-$sessions" kill-server 2>/dev/null
	case $ASSAY in
	*/asan/*)
		for _ in $(seq 50); do
			[ -n "$(ours)" ] || break
			sleep 0.1
		done
		ours | xargs -r kill -9
		;;
	esac
	rm -rf "$work"
}
trap leave EXIT
# A shell that a signal ends does nothing at its end, and the server is in a session of its own.
trap 'trap "" HUP INT TERM; exit 1' HUP INT TERM
quote() {
	for word; do
		printf "'%s' " "$word"
	done
}
# The screen and what scrolled off it.
screen() {
	tm capture-pane -p -J -S -2000
}
