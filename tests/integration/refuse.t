#!/bin/sh
# Where a promised layer is missing nothing runs: exit 6, which layer, and the remedy; and a command
# that cannot begin still gives the document that a script reads.
. "$(dirname "$0")/lib.sh"
export ASSAY_CAREFUL=true

# A user namespace in which no further one may be made.
cat >confine.sh <<'EOF'
echo 0 >/proc/sys/user/max_user_namespaces || exit 99
exec "$@"
EOF
cat >touch.py <<'EOF'
print('it ran')
EOF
cat >one.jsonl <<'EOF'
{"stage":"plan","reply":"no plan"}
{"stage":"code","reply":"```python\nprint('it ran')\n```"}
EOF
if unshare -Ur sh confine.sh true 2>/dev/null; then
	unshare -Ur sh confine.sh "$ASSAY" exec touch.py >out.txt 2>err.txt
	is "$?" 6 "exec without user namespaces"
	is "$(cat out.txt)" "" "nothing ran"
	like "$(cat err.txt)" 'user namespace' "the message names the layer"
	like "$(cat err.txt)" 'max_user_namespaces' "and the remedy"
	is "$(grep -c 'max_user_namespaces' err.txt)" 1 "once"
	unshare -Ur sh confine.sh "$ASSAY" exec --json touch.py >out.txt 2>err.txt
	is "$? $(field '[.outcome, .exit_code, .stdout] | tojson')" '6 ["setup_failed",null,""]' "exec --json says setup_failed"
	like "$(field .detail)" 'sysctl -w user.max_user_namespaces=[0-9]+`' "and the whole remedy"
	unshare -Ur sh confine.sh "$ASSAY" ask --json --script one.jsonl x >out.txt 2>err.txt
	is "$? $(field '[.run, .status, .level, .answer, .execution] | tojson')" \
		'6 [null,"sandbox_error","none",null,null]' "ask --json says sandbox_error"
	like "$(field .error)" 'user namespace' "and why"
	unshare -Ur sh confine.sh "$ASSAY" doctor >out.txt 2>err.txt
	is "$?" 6 "doctor ends with 6, too"
else
	skip "a host without user namespaces" "this host does not let one be made to take them away in"
fi

run complete --json x
is "$code $(field '[.text, .stop_reason, .error.class, .run] | tojson')" '5 ["",null,"auth",null]' \
	"complete --json without a model"
run ask --json --script missing.jsonl x
is "$(field '[.run, .status] | tojson')" '[null,"failed"]' "ask --json with a script that is not there"
like "$(field .error)" 'missing.jsonl' "and which"
done_testing
