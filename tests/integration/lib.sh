# TAP for shell tests. Sourced; gives each test a home of its own.
#   . tests/integration/lib.sh
#   is "$got" "$want" name;  like "$text" 'regex' name;  run CMD...; done_testing
set -u
: "${ASSAY:=$PWD/build/assay}"
export ASSAY
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here" && while [ ! -e Makefile ] && [ "$PWD" != / ]; do cd ..; done && pwd)
data=${ASSAY_DATA:-$top/../shared/data}
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" XDG_DATA_HOME="$work/home/data"
export XDG_CACHE_HOME="${ASSAY_TEST_CACHE:-$work/home/cache}" XDG_STATE_HOME="$work/home/state"
export ASAN_OPTIONS="detect_leaks=${ASSAY_TEST_LEAKS:-1}:abort_on_error=0"
mkdir -p "$HOME"
unset OPENAI_API_KEY ANTHROPIC_API_KEY OPENAI_BASE_URL ANTHROPIC_BASE_URL ASSAY_MODEL ASSAY_PROVIDER NO_COLOR
cd "$work" || exit 1
# Debian's, as the tests in Python are run: what a manager of versions puts before it takes ten times as long to start.
[ ! -x /usr/bin/python3 ] || python3() { /usr/bin/python3 "$@"; }
# What is piped into a question is its input: the tests say so where it is.
exec </dev/null
count=0
failures=0

ok() { # status name
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failures=$((failures + 1))
	fi
}
diag() {
	printf '%s\n' "$*" | sed 's/^/# /' | head -n 40
}
is() { # got want name
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "got:  $1"
		diag "want: $2"
	fi
}
like() { # text regex name
	if printf '%s\n' "$1" | grep -qE -- "$2"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "text:  $1"
		diag "lacks: $2"
	fi
}
unlike() { # text regex name
	if printf '%s\n' "$1" | grep -qE -- "$2"; then
		ok 1 "$3"
		diag "text: $1"
		diag "has:  $2"
	else
		ok 0 "$3"
	fi
}
# Runs assay: $code, $out, $err.
run() {
	"$ASSAY" "$@" >out.txt 2>err.txt </dev/null
	code=$?
	out=$(tr -d '\000' <out.txt)
	err=$(tr -d '\000' <err.txt)
}
# Until a command succeeds, for two minutes and more: the machine may be busy.
until_true() {
	for _ in $(seq "${ASSAY_TEST_PATIENCE:-2400}"); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
skip_all() { # reason
	echo "1..0 # SKIP $1"
	exit 0
}
skip() { # name reason
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
done_testing() {
	echo "1..$count"
	[ "$failures" -eq 0 ]
	exit
}
# A field of the JSON in out.txt: field '.a.b'
field() {
	jq -r "$1" out.txt
}
