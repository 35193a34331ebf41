#!/bin/sh
# What a process keeps beside what it is given, found in the objects: every variable that can be
# written and belongs to no struct. A new one fails here, until it is a member of what owns it, or
# stands below with the reason why it cannot be.
. "$(dirname "$0")/lib.sh"
command -v objdump >/dev/null || skip_all 'no objdump here'
command -v cc >/dev/null || skip_all 'no cc here'
[ -e "$top/build/base/io.o" ] || skip_all 'no objects here: they are where assay was built'

# Objects: each variable as "FILE NAME". What only the loader writes (.data.rel.ro) is a constant.
# gcc numbers those of a function: NAME.N.
variables() {
	objdump -t "$@" | awk '
		/file format/ { file = $1; sub(/\.o:$/, "", file); sub(/^.*build\//, "", file) }
		$0 ~ "[\t ](\\.t?bss|\\.t?data|\\.data\\.rel|\\.data\\.rel\\.local|\\*COM\\*)(\\.[^r\t][^\t]*)?\t" &&
			$2 != "d" && $3 != "d" { name = $NF; sub(/\.[0-9]+$/, "", name); print file, name }' |
		grep -v ' \.' | sort -u
}

# What may be: FILE, NAMES; why.
cat >known.txt <<'K'
agent/cli/signals last_signal,signal_count,signal_pipe; a handler is given a number and nothing else
agent/cli/terminal/term ticking; the line that a timer's handler draws again
agent/cli/terminal/keyboard keyboard; the modes of the terminal, which a signal's handler must restore
agent/cli/terminal/line api,state; a library, loaded once
agent/cli/terminal/line reading; readline asks for a key without saying for whom
agent/cli/terminal/chafa api,loaded; a library, loaded once
agent/doors/http/microhttpd microhttpd; a library, loaded once
base/buf buf_empty; what an empty buffer shows: nobody writes it
base/http/curl curl,library,loading; a library, loaded once
base/json_index once,process_key; random, drawn once, so that nobody outside can choose keys that collide
base/regex once,stack_key; where a thread has the stack of its expressions
base/ulid last_ms,last_pid,random_bits; ids of one thread ascend within a millisecond
verifier/cells_forge made,making; what is looked for in cells, compiled once of each language
verifier/compiled known,lock; compiled from texts of this program, found by all that it was made of
verifier/screen/rulebook digest,once,printed; made once of texts of this program
verifier/screen/rules lock,sets; made once of texts of this program
verifier/screen/tree kept,lock; made once of texts of this program
K
while IFS=';' read -r row why; do
	[ -n "$why" ] || echo "no reason for $row" >>expected.txt
	for name in $(echo "${row#* }" | tr ',' ' '); do
		echo "${row%% *} $name" >>expected.txt
	done
done <known.txt
# Not in it: the keeper and what is loaded into an interpreter, which are processes of one keeper and of one
# guest, single-threaded, and keep what may lie on no stack (sandbox/native/README.md).
# shellcheck disable=SC2046 # names of objects
variables $(find "$top"/build/base "$top"/build/llm "$top"/build/sandbox "$top"/build/verifier "$top"/build/audit \
	"$top"/build/agent -name '*.o' ! -path '*/sandbox/native/keeper/*') >found.txt
is "$(sort expected.txt | comm -13 - found.txt)" '' 'no variable of the process that is not known'
is "$(sort expected.txt | comm -23 - found.txt)" '' 'and all that are known are there'

# A thread owns nothing of a command: who prints, asks or runs is given what it needs (struct app).
of_threads() {
	objdump -t "$@" | awk '$0 ~ "[\t ]\\.t(bss|data)(\\.[^\t]*)?\t" && $2 != "d" && $3 != "d" { print $NF }' | sort -u
}
# shellcheck disable=SC2046
is "$(of_threads $(find "$top"/build/agent -name '*.o'))" '' 'no variable of a thread in agent/'

cat >planted.c <<'C'
static int hidden;
int shown = 7, ours;
static _Thread_local int of_a_thread;
static const char *const table[] = { "a", "b" };
static const char *rebound = "c";
const char *of(int i)
{
	static int calls;
	hidden += i + ++calls + ++of_a_thread;
	rebound = i ? table[i & 1] : rebound;
	return hidden ? rebound : table[0];
}
C
cc -O2 -fPIE -c -o planted.o planted.c
is "$(variables planted.o | tr '\n' ' ')" \
	'planted calls planted hidden planted of_a_thread planted ours planted rebound planted shown ' \
	'each kind of a variable is found, and no constant'
is "$(of_threads planted.o)" of_a_thread 'and which of them is a thread'"'"'s'
done_testing
