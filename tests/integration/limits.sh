# Every limit of a run, passed by a program of its own, over any sandbox: it is held, and told as what it is,
# or the record names it as not held (--weaker). After lib.sh; bash is what each sandbox has, but for modes of
# Python's, whose list is guest_modes.t's.
#
# Columns: what not_held calls it, options, what is asked of the result, what that is when it is held, program.
limit_rows='
wall|--timeout 1|.outcome|timeout_wall|sleep 600
CPU|--cpu-seconds 1 --timeout 60|.outcome|timeout_cpu|while :; do :; done
memory|--memory 48M --timeout 60|.outcome|memory|x=$(head -c 200000000 /dev/zero \| tr "\\0" x); echo ${#x}
processes|--pids 8 --timeout 2|.outcome|process_limit|for i in {1..30}; do sleep 50 & done; wait
disk|--disk 1M|.outcome|disk_limit|head -c 8000000 /dev/zero >/tmp/fill
inodes||.outcome|disk_limit|for i in {1..40000}; do : >/tmp/$i || exit; done
stdout|--output-bytes 1000|(.stdout \| length), .stdout_truncated|1000true|head -c 5000 /dev/zero \| tr "\\0" x
stderr|--output-bytes 1000|(.stderr \| length), .stderr_truncated|1000true|head -c 5000 /dev/zero \| tr "\\0" x >&2
open files||.stdout|no 300|n=0; for i in {1..300}; do exec {fd}</dev/null \|\| break; n=$((n + 1)); done; [ $n -lt 256 ] && echo no 300
artifacts||[.artifacts[] \| select(.kept)] \| length|32|for i in {1..40}; do : >/out/$i; done
artifact bytes||[.artifacts[] \| select(.kept)] \| length|0|head -c 6000000 /dev/zero >/out/a
'
hold_limits() { # sandbox [options, as --weaker]
	box=$1
	shift
	wrong=
	not_held=
	while IFS= read -r row; do
		[ -n "$row" ] || continue
		# A "|" of a program or a filter has a backslash before it.
		IFS=$'\t' read -r name options filter wanted code <<<"$(sed 's/\\|/\x01/g; s/||/| |/g; s/|/\t/g; s/\x01/|/g' <<<"$row")"
		options=${options/--timeout 2/--timeout $((2 * ${ASSAY_TEST_SLOWNESS:-1}))} # what is counted is not told sooner
		printf '%s\n' "$code" >limit.sh
		# shellcheck disable=SC2086 # words
		run exec --sandbox "$box" "$@" --json --lang bash $options limit.sh
		got=$(field "$filter" 2>&1 | tr -d '\n')
		[ "$got" != "$wanted" ] || continue
		# It is said, then, and of none that another word is.
		case ", $(field '.isolation.facts[] | select(.name == "not_held") | .value')," in
		*", $name,"*) not_held="$not_held $name" ;;
		*) wrong="$wrong; $name: $got $(echo $err | cut -c1-200)" ;;
		esac
	done <<<"$limit_rows"
	is "$wrong" '' "$box: every limit is held${not_held:+, but those of which the record says that they are not:$not_held}"
}
