# Every limit of a run, passed by a program of its own, over any sandbox: it is held, and told as what it is,
# or the record names it as not held (--weaker), or the program is refused what it would take. After lib.sh.
#
# Columns: what not_held calls it, options, what is asked of the result, what that is when it is held, a program of
# bash, which each sandbox has, and one of Python for modes of that ($limit_lang); \n is a new line there.
limit_rows='
wall|--timeout 1|.outcome|timeout_wall|sleep 600|import time\ntime.sleep(600)
CPU|--cpu-seconds 1 --timeout 60|.outcome|timeout_cpu|while :; do :; done|while True:\n    pass
memory|--memory 48M --timeout 60|.outcome|memory|x=$(head -c 200000000 /dev/zero \| tr "\\0" x); echo ${#x}|x = bytearray(900000000)\nprint(len(x))
processes|--pids 8 --timeout 2|.outcome|process_limit|for i in {1..30}; do sleep 50 & done; wait|import os\nwhile True:\n    os.fork()
disk|--disk 1M|.outcome|disk_limit|head -c 8000000 /dev/zero >/tmp/fill|open("/out/fill", "wb").write(bytes(8000000))
inodes||.outcome|disk_limit|for i in {1..40000}; do : >/tmp/$i \|\| exit; done|for i in range(40000):\n    open("/out/%d" % i, "w").close()
stdout|--output-bytes 1000|(.stdout \| length), .stdout_truncated|1000true|head -c 5000 /dev/zero \| tr "\\0" x|print("x" * 5000)
stderr|--output-bytes 1000|(.stderr \| length), .stderr_truncated|1000true|head -c 5000 /dev/zero \| tr "\\0" x >&2|raise ValueError("x" * 5000)
open files||.stdout|no 300|n=0; for i in {1..300}; do exec {fd}</dev/null \|\| break; n=$((n + 1)); done; [ $n -lt 256 ] && echo no 300|n = []\ntry:\n    while len(n) < 300:\n        n.append(open("/work/main.py"))\nexcept OSError:\n    print("no 300")
artifacts||[.artifacts[] \| select(.kept)] \| length|32|for i in {1..40}; do : >${ASSAY_OUT:-/out}/$i; done|for i in range(40):\n    open("/out/%d" % i, "w").close()
artifact bytes||[.artifacts[].kept] \| tostring|[false]|head -c 6000000 /dev/zero >${ASSAY_OUT:-/out}/a|open("/out/a", "wb").write(bytes(6000000))
'
limit_lang=bash
# Of a sandbox that takes more before its program begins.
limit_memory=48M limit_pids=8
hold_limits() { # sandbox [options, as --weaker]; sets $not_held and $refused, each a list with spaces around
	box=$1
	shift
	wrong=
	not_held=' '
	refused=' '
	while IFS= read -r row; do
		[ -n "$row" ] || continue
		# A "|" of a program or a filter has a backslash before it.
		IFS=$'\t' read -r name options filter wanted code python <<<"$(sed 's/\\|/\x01/g; s/||/| |/g; s/|/\t/g; s/\x01/|/g' <<<"$row")"
		options=${options/--timeout 2/--timeout $((2 * ${ASSAY_TEST_SLOWNESS:-1}))} # what is counted is not told sooner
		options=${options/48M/$limit_memory}
		options=${options/--pids 8/--pids $limit_pids}
		[ $limit_lang = bash ] && printf '%s\n' "$code" >limit.in || printf '%b\n' "$python" >limit.in
		# shellcheck disable=SC2086 # words
		run exec --sandbox "$box" "$@" --json --lang $limit_lang $options limit.in
		got=$(field "$filter" 2>&1 | tr -d '\n')
		[ "$got" != "$wanted" ] || continue
		# It is said, then, and of none that another word is.
		case ", $(field '.isolation.facts[] | select(.name == "not_held") | .value')," in
		*", $name,"*) not_held="$not_held${name// /-} " && continue ;;
		esac
		if [ "$(field '.outcome, .exit_code' | tr -d '\n')" = exit1 ] &&
			field .stderr | grep -qE 'not allowed in the restricted mode|is not defined|Function not implemented|does not support proc|has no attribute .fork'; then
			refused="$refused${name// /-} "
		else
			wrong="$wrong; $name: $got $(echo $err | cut -c1-200)"
		fi
	done <<<"$limit_rows"
	is "$wrong" '' "$box: every limit is held, but:$not_held(not held, as the record says)$refused(refused)"
}
