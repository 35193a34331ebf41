#!/bin/sh
# The architecture check finds what it is for: a planted violation of each kind.
. "$(dirname "$0")/lib.sh"

mkdir tree
cd tree || exit 1
for entry in base llm sandbox verifier audit agent tests prompts Makefile README.md LICENSE; do
	cp -r "$top/$entry" .
done
is "$("$top/tests/layers" . 2>&1)" "" "the tree as it is has none"

# The check takes a second of the processor: what it says of violations is asked for all of them together,
# those of one kind each in a file of its own.
forget() {
	: >../plants.txt
}
plant() { # file line pattern name
	[ -e "$1.before" ] || cp "$1" "$1.before"
	printf '%s\n' "$2" >>"$1"
	printf '%s\t%s\t%s\n' "$1" "$3" "$4" >>../plants.txt
}
tab=$(printf '\t')
newline='
'
found() { # what kind they are
	said=$("$top/tests/layers" . 2>&1)
	is "$?" 1 "$1: refused"
	while IFS=$tab read -r file pattern name; do
		like "$said" "$pattern" "$name"
		[ ! -e "$file.before" ] || mv "$file.before" "$file"
	done <../plants.txt
}

forget
# Includes of what is not below.
plant base/io.c '#include "audit/audit.h"' 'base/io.c may not include audit/audit.h' 'base knows nobody'
plant llm/llm.c '#include "sandbox/sandbox.h"' 'llm/llm.c may not include' 'llm does not meet the sandbox'
plant audit/db.c '#include "llm/llm.h"' 'audit/db.c may not include' 'the log does not meet the model'
plant verifier/check/check.c '#include "sandbox/native/protocol.h"' 'verifier/check/check.c may not include' \
	'the verifier sees only the contract of the sandbox'
plant agent/cli/session.c '#include "sandbox/backend.h"' 'session.c may not include' \
	'who runs code sees only the contract, too'
plant agent/cli/main.c '#include "sandbox/native/native.h"' 'main.c may not include' 'and no backend'
plant sandbox/backend.c '#include "sandbox/native/native.h"' 'sandbox/backend.c may not include' \
	'the contract names no backend: the list does'
plant sandbox/native/keeper/main.c '#include "agent/loop.h"' 'keeper/main.c may not include' 'arrows point down'
plant agent/machine.c '#include "agent/cli/settings.h"' 'agent/machine.c may not include' \
	'the engine knows no command line'
plant agent/record/journal.h '#include "agent/cli/terminal/term.h"' 'journal.h may not include' \
	'nor does any folder of it'
plant base/mem.c '#include <curl/curl.h>' 'base/mem.c includes curl' 'curl has one door'
plant verifier/check/kind.c '#include <pcre2.h>' 'kind.c includes pcre2' 'PCRE2 has one door'
plant agent/plan.c '#include <sqlite3.h>' 'agent/plan.c includes sqlite3' 'SQLite has one door'
plant llm/reply.c '#include <cjson/cJSON.h>' 'llm/reply.c includes cjson' 'cJSON has one door'
plant llm/script.c '#include "../sandbox/sandbox.h"' 'llm/script.c includes ' 'a path upwards does not hide it'
plant llm/models.c '#include <sandbox/sandbox.h>' 'llm/models.c may not' 'nor do angle brackets'
plant agent/task.c '#include "sqlite3.h"' 'agent/task.c includes sqlite3' 'nor quotes'
plant agent/price.c '#	include <pcre2.h>' 'agent/price.c includes pcre2' 'nor a tab'
plant base/buf.c '#include  "audit/audit.h"' 'base/buf.c may not' 'nor two blanks'
plant base/error.c '  #include "audit/audit.h"' 'base/error.c may not' 'nor indentation'
plant llm/http/retry.c '#include "base/http/curl.h"' 'retry.c includes base/http/curl.h' 'nor by its own header'
# Rooms inside a folder.
plant audit/redact/redact.c '#include "audit/db.h"' 'redact.c may not include audit/db.h' \
	'what takes secrets out knows no database'
plant llm/wire/capability.c '#include "llm/http/target.h"' 'capability.c may not include llm/http' 'a wire knows no HTTP'
plant sandbox/native/keeper/util.c '#include "sandbox/sandbox.h"' 'util.c may not include' \
	'nor the keeper its callers'
plant agent/record/player.c '#include "agent/stages/verify.h"' 'player.c may not include agent/stages/verify.h' \
	'a record knows no stage'
plant agent/record/compare.c '#include "agent/prompt/prompt.h"' 'compare.c may not include agent/prompt' 'nor a prompt'
plant agent/prompt/quote.c '#include "agent/stages/call.h"' 'quote.c may not include agent/stages/call.h' \
	'who makes a prompt asks nobody with it'
plant agent/input/digest.c '#include "audit/audit.h"' 'digest.c may not include audit/audit.h' \
	'what identifies an input decides and records nothing'
plant verifier/screen/profile.c '#include "verifier/check/check.h"' 'profile.c may not include verifier/check/check.h' \
	'screening comes before there is something to check'
plant verifier/check/near.c '#include "verifier/judge.h"' 'near.c may not include verifier/judge.h' \
	'and a check asks no judge'
# Names of languages.
plant verifier/reply/choose.c 'static bool is_shell(const char *l) { return !strcmp(l, "bash"); }' \
	'choose.c names the language bash' "a language's name stands in its rows only"
plant agent/price.c 'static const char *f(void) { return "python, javascript and bash"; }' \
	'price.c:[0-9]+ lists languages' 'nor are they listed elsewhere'
plant agent/doors/mcp/tools.c 'static bool f(const struct language *l) { return l == language_find("py"); }' \
	'tools.c:[0-9]+ asks for a language by a name' 'nor asked for by a short name'
# Files beside the seam.
plant audit/db.c 'static int f(int fd) { return fdatasync(fd); }' 'audit/db.c:[0-9]+ touches a file beside the seam' \
	'a sync that no test can make fail'
plant agent/cli/keys.c 'static int f(const char *path) { return unlink(path); }' 'keys.c:[0-9]+ touches a file beside' \
	'nor a removal'
# Names of options.
plant agent/budget.c 'static const char *f(void) { return "all are used (--max-calls)"; }' \
	'agent/budget.c:[0-9]+ names an option' 'the engine does not know what an option is called'
plant base/http/http.c 'static const char *f(void) { return "--ca-file"; }' 'http.c:[0-9]+ names an option' \
	'nor does what it stands on'
plant agent/stages/write.c 'static const char *f(void) { return "so; --require none accepts it"; }' \
	'write.c:[0-9]+ names an option' 'nor a stage'
# Names of sandboxes.
plant agent/live.c 'static bool f(const char *s) { return !strcmp(s, "oci"); }' \
	'agent/live.c names the sandbox oci' "a backend's name stands in its folder and in the list"
plant agent/cli/foreign.c 'static const char *f(void) { return "or --sandbox docker"; }' \
	'foreign.c names the sandbox docker' 'in words, too'
plant agent/cli/commands/complete.c 'static const char *f(void) { return "native oci ssh: http:"; }' \
	'complete.c:[0-9]+ lists sandboxes' 'and no text lists them'
plant agent/cli/places.c 'static const char *f(void) { return "the folder of microvm, or (native: here)"; }' \
	'places.c:[0-9]+ speaks of one sandbox' 'nor speaks of one'
plant sandbox/oci/oci.c 'static bool f(const char *s) { return !strcmp(s, "native"); }' \
	'sandbox/oci/oci.c names the sandbox native' 'nor does one backend name another'
plant sandbox/sandbox.h '/* as sandbox/remote/wire.h has it */' 'sandbox.h:[0-9]+ names a backend' \
	'the contract names none at all'
# Names of files.
plant verifier/check/kind.h '/* --- check_gone.c --- */' 'kind.h:[0-9]+: there is no check_gone.c' \
	'a part of a header is that of a file'
plant base/io.h '/* See agent/cli/gone.c. */' 'base/io.h:[0-9]+ names agent/cli/gone.c, which is not there' \
	'and what a comment speaks of is in the tree'
plant llm/think.c '/* As gone_away.c has it. */' 'think.c:[0-9]+ names gone_away.c, which is nowhere' 'by its name alone, too'
plant tests/unit/test_sigv4.c 'int signs; /* as in test_gone.c */' 'sigv4.c:[0-9]+ names test_gone.c, which is nowhere' \
	'in a test and behind code, too'
# Declarations far from their use: what stands bare at a function's head, and its first value.
late() { # declaration statement
	printf 'static int f(int x)\n{\n\t%s\n\n\tg();\n\t%s\n\treturn x;\n}' "$1" "$2"
}
plant base/io.c "$(late 'int n;' 'n = g();')" 'base/io.c:[0-9]+: n could be declared where' 'a scalar'
plant llm/llm.c "$(late 'struct reply *n, **m;' 'm = g();')" 'llm/llm.c:[0-9]+: m could be declared where' \
	'a pointer beside another'
plant audit/db.c "$(late 'size_t i;' "for (i = 0; i < 3; i++)$newline$tab${tab}g(i);")" \
	'audit/db.c:[0-9]+: i belongs to its loop' 'a counter of one loop'
plant verifier/judge.c "$(late 'char *text = NULL;' 'text = g();')" 'judge.c:[0-9]+: text could be declared where' \
	'a value that says nothing'
plant agent/task.c "$(late 'int n;' "if (x) {$newline$tab${tab}n = g();$newline$tab}")" \
	'agent/task.c:[0-9]+: n belongs in the block' 'what one inner block alone uses'
plant agent/price.c "$(late 'int n;' "g();$newline${tab}g();$newline${tab}x = h(&n);")" \
	'price.c:[0-9]+: n could be declared where it is first used' 'what three statements do without'
plant tests/fuzz/check.c "$(late 'size_t i;' "for (i = 0; i < 3; i++)$newline$tab${tab}g(i);")" \
	'fuzz/check.c:[0-9]+: i belongs to its loop' 'so it is in tests'
plant tests/unit/test_cases.h "$(late 'int n;' 'n = g();')" 'test_cases.h:[0-9]+: n could be declared where' \
	'and in headers'
# What stages remember.
plant agent/stages/write.h 'struct write_memory {' 'write.h:[0-9]+ shows what a stage remembers' 'a stage keeps to its own'
plant agent/stages/judge.c 'static void f(struct run *r) { r->language = NULL; }' \
	'judge.c:[0-9]+ writes language of struct run' 'what several share is written by those it names'
plant agent/calls.c 'static void f(struct calls *c) { c->run->attempt++; }' \
	'calls.c:[0-9]+ writes attempt of struct run' 'however it is spelt'
plant agent/stages/answer.c 'static void f(struct run *r) { free(r->previous); }' \
	'answer.c:[0-9]+ writes previous of struct run' 'and released by them'
found 'what stages remember'
forget
plant agent/loop.h 'static int runs;' 'agent/loop.h:[0-9]+ outlives the run' 'no run is counted in the process'
plant llm/reply.c 'static const char *last;' 'llm/reply.c:[0-9]+ outlives the run' 'nor is what it points at constant'
plant sandbox/fact.c 'struct sandbox_fact facts[8];' 'sandbox/fact.c:[0-9]+ outlives the run' 'known elsewhere or not'
plant audit/head.c 'static int next(void) { return 0; }
int head_next(void)
{
	static int n = 1;
	return n++;
}' 'audit/head.c:[0-9]+ outlives the run' 'nor in a function'
found 'state of the process'
forget
# Another dialect.
plant sandbox/artifact.c 'static bool is_none(const char *p) { return p == NULL; }' 'artifact.c:[0-9]+: is compared' \
	'a pointer is asked with !'
plant llm/think.c 'static bool is_a(const char *p) { return strcmp(p, "a") == 0; }' 'think.c:[0-9]+: is compared' \
	'and so is a comparison'
plant llm/error.c 'static bool is_b(const char *p) { return strcmp(p, f(g(p))) != 0; }' 'error.c:[0-9]+: is compared' \
	'that of two texts that differ, too'
plant tests/unit/test_sigv4.c 'static bool is_c(const char *p) { return p != NULL && *p; }' 'sigv4.c:[0-9]+: is compared' \
	'in a test, too'
plant tests/fuzz/wire.c 'static void f(const char *p) { if (g(p) != NULL) h(); }' 'wire.c:[0-9]+: is compared' \
	'and in a fuzzer'
plant tests/escape/cases/probe.h 'static bool is_d(const char *p) { return memcmp(p, "a", 1) == 0; }' \
	'probe.h:[0-9]+: is compared' 'and in a guest'
# Fixed sleeps.
plant tests/unit/test_sigv4.c "static void f(void)$newline{$newline${tab}usleep(1000);$newline}" 'sigv4.c:[0-9]+ sleeps' \
	'a test that sleeps, and waits for nothing'
plant tests/integration/full/tap.py "if count:$newline    time.sleep(1)" 'tap.py:[0-9]+ sleeps' 'nor may one in Python'
plant tests/integration/batch.t 'sleep 0.1' 'batch.t:[0-9]+ sleeps' 'nor a script'
# Errors without an errno.
plant base/io.c 'static int f(struct error *err) { return error_set(err, ERR_FAILED, "x: %s", strerror(errno)); }' \
	'base/io.c:[0-9]+ has the text of an errno alone' 'an error keeps its errno'
plant agent/plan.c 'static bool f(struct error *err) { return strstr(err->message, "No such file"); }' \
	'plan.c:[0-9]+ reads the message of an error' 'by which its callers go'
# What is too long, and whose length is poked.
plant audit/db.c 'static void f(struct buf *b) { b->len = 0; }' 'audit/db.c:[0-9]+ writes the length of a struct buf' \
	'a buffer is cut by its own function'
plant base/json.c "static int g(void)$newline{$newline$(seq -f '	f(%g);' 60)$newline}" \
	'base/json.c:[0-9]+: a function of 62 lines' 'a function fits a screen'
plant tests/unit/test_base_buf.c "$(seq -f '/* %g */' 600)" 'test_base_buf.c has [0-9]+ lines; 600 are the most' \
	'and a file has six hundred lines'
# Names of what is told.
body="$newline{$newline${tab}term_note(TERM_DIM, \"x\");$newline}"
plant llm/reply.c "static void tell_x(struct buf *out)$newline{$newline}" 'reply.c:[0-9]+: tell_x lets nothing out' \
	'what fills a buffer is no telling'
plant audit/list.c "static char *show_x(int x)$newline{$newline}" 'list.c:[0-9]+: show_x lets nothing out' \
	'nor is what returns a text showing'
plant agent/plan.c "static void say_x(int x)$body" 'plan.c:[0-9]+: say_x lets something out' \
	'who finds words leaves it to the caller what becomes of them'
plant verifier/number.c "static void describe_x(int x)$body" 'number.c:[0-9]+: describe_x lets something out' \
	'and so does who describes'
plant agent/price.c "static void report(int x)$newline{$newline}" 'price.c:[0-9]+: a report is a thing' \
	'a report is no verb'
found 'all of these'

# Circles, which some of those would be in.
forget
plant base/error.h '#include "base/io.h"' 'a circle between files: .*base/' 'two headers that include each other'
plant base/json_scan.c '#include "base/json.h"' 'a circle between files: .*base/json_scan' \
	'a part that includes what it is a part of'
plant verifier/check/kind.h '#include "verifier/check/check.h"' 'a circle between files: .*verifier/check/' \
	'inside a folder, between two pairs of header and implementation'
plant agent/cli/keys.c '#include "agent/cli/app.h"' 'a circle between files: .*agent/cli/' 'and in the command line'
plant agent/doors/service/weight.c '#include "agent/doors/mcp/message.h"' 'a circle between doors: .*(service|mcp)' \
	'two folders of doors, through whichever of their files'
found 'circles'

# What looks like one of those and is none.
cp base/io.c ../io.before
{ late 'int n;' 'g(&n);' && late 'int n;' 'n = n + 1;' &&
	late 'int n;' "for (n = 0; g(n); n++)$newline$tab$tab;$newline${tab}g(n);" &&
	late 'int n[3];' "while (g()) {$newline$tab${tab}n[x] = x++;$newline$tab${tab}g(n);$newline$tab}"; } >>base/io.c
cp tests/unit/test_sigv4.c ../sigv4.before
printf 'static void f(void)\n{\n\twhile (g())\n\t\tusleep(1000);\n\tusleep(9000); /* somebody looks */\n}\n' >>tests/unit/test_sigv4.c
said=$("$top/tests/layers" . 2>&1)
unlike "$said" 'base/io.c' 'what another function fills, or a loop leaves or fills, may stand before'
unlike "$said" 'sigv4.c' 'a sleep may be in a loop, or say what for'
mv ../io.before base/io.c
mv ../sigv4.before tests/unit/test_sigv4.c

# What is no line of a file.
sed 's/^    agent  .*/    agent                 -> base/' README.md >../other.md && mv ../other.md README.md
printf '#include "base/mem.h"\n' >base/silent.c
printf '/* Half of it. */\n#include "base/mem.h"\n' >base/half.c
{ echo '/*' && seq -f ' * Line %g of it.' 11 && echo ' */'; } >base/long.c
printf '#include "base/mem.h"\n' >tests/unit/test_silent.c
rm audit/redact/README.md
mkdir extra
said=$("$top/tests/layers" . 2>&1)
like "$said" 'README.md shows other arrows' 'the picture in the README is the one that is drawn'
like "$said" 'base/silent.c does not open with what it is' 'a file says what it is'
like "$said" 'base/half.c does not open with what it is' 'and what it may not do'
like "$said" 'base/long.c opens with more than ten lines' 'in few words: a README.md has room for more'
like "$said" 'test_silent.c does not open with what it shows' 'a test says what it is'
like "$said" 'audit/redact has no README.md' 'a folder says what lives there'
like "$said" 'extra does not belong at the top level' 'the top level holds what it should'
needed=$(LC_ALL=C readelf -d "$ASSAY" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
like "$needed" 'libc\.so' 'what the program is linked to can be seen'
unlike "$needed" 'curl|ssl|crypto|readline|tinfo' \
	'what only a call or a conversation needs is not loaded with every command'
done_testing
