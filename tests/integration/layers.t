#!/bin/sh
# The architecture check finds what it is for: a planted violation of each kind.
. "$(dirname "$0")/lib.sh"

for entry in base llm sandbox verifier audit agent tests prompts Makefile README.md LICENSE; do
	cp -r "$top/$entry" .
done
rm -f out.txt err.txt
rm -rf home
is "$("$top/tests/layers" . 2>&1)" "" "the tree as it is has none"

plant() { # file line pattern name
	printf '%s\n' "$2" >>"$1"
	found=$("$top/tests/layers" . 2>&1)
	code=$?
	like "$code $found" "$3" "$4"
	sed -i '$d' "$1"
}
plant base/io.c '#include "audit/audit.h"' '^1 .*base/io.c may not include audit/audit.h' 'base knows nobody'
plant llm/llm.c '#include "sandbox/sandbox.h"' '^1 .*llm/llm.c may not include' 'llm does not meet the sandbox'
plant audit/db.c '#include "llm/llm.h"' '^1 .*audit/db.c may not include' 'the log does not meet the model'
plant verifier/check.c '#include "sandbox/protocol.h"' '^1 .*verifier/check.c may not include' \
	'the verifier sees only the contract of the sandbox'
plant sandbox/keeper/keeper.c '#include "agent/loop.h"' '^1 .*keeper.c may not include' 'arrows point down'
plant base/io.c '#include <curl/curl.h>' '^1 .*base/io.c includes curl' 'curl has one door'
plant verifier/check.c '#include <pcre2.h>' '^1 .*check.c includes pcre2' 'PCRE2 has one door'
plant agent/loop.c '#include <sqlite3.h>' '^1 .*loop.c includes sqlite3' 'SQLite has one door'
plant llm/llm.c '#include <cjson/cJSON.h>' '^1 .*llm.c includes cjson' 'cJSON has one door'
plant llm/llm.c '#include "../sandbox/sandbox.h"' '^1 .*llm/llm.c includes ' 'a path upwards does not hide it'
plant llm/llm.c '#include <sandbox/sandbox.h>' '^1 .*llm/llm.c may not' 'nor do angle brackets'
plant agent/loop.c '#include "sqlite3.h"' '^1 .*loop.c includes sqlite3' 'nor quotes'
plant agent/loop.c '#	include <pcre2.h>' '^1 .*loop.c includes pcre2' 'nor a tab'
plant base/io.c '#include  "audit/audit.h"' '^1 .*io.c may not' 'nor two blanks'
plant base/io.c '  #include "audit/audit.h"' '^1 .*io.c may not' 'nor indentation'
mkdir extra
like "$("$top/tests/layers" . 2>&1)" 'extra does not belong at the top level' 'the top level holds what it should'
needed=$(LC_ALL=C readelf -d "$ASSAY" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
like "$needed" libsqlite3 'what the program is linked to can be seen'
unlike "$needed" 'curl|ssl|crypto|readline|tinfo' \
	'what only a call or a conversation needs is not loaded with every command'
done_testing
