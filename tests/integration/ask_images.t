#!/bin/sh
# Images among the files: sent to a model that sees, as the record says; else a file alone, as is said.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
command -v jq >/dev/null || skip_all 'no jq here'
quick="--role-model plan=off --role-model answer=off --require ran --lang python"
printf '\211PNG\r\n\032\nrest' >photo.png
echo text >text.png

sent() { # images of each call of the run: how many
	"$ASSAY" log export last | jq -c '.contents as $c | [.events[] | select(.phase == "started" and .data.messages) |
		{(.stage): [$c[.data.messages.sha256].text | fromjson | .[] | .images // [] | .[]] | length}]'
}
forget
say code "$(program 'print(len(open("/in/photo.png", "rb").read()))')"
say judge "$(verdict pass)"
ask $quick -m gpt-5-mini -f photo.png -f text.png 'what is on it?'
is "$(shape '.status, .answer')" '["success","12\n"]' 'a question about an image'
is "$(sent)" '[{"code":1},{"judge":0}]' 'who writes the program sees it, and what only looks like one is not sent'
unlike "$err" 'does not see' 'nothing is said of that'
run replay last
is "$code" 0 'it replays'
ask $quick -m blind-1 -f photo.png 'what is on it?'
is "$(sent)" '[{"code":0},{"judge":0}]' 'a model that is not known to see is not sent it'
run ask --script s.jsonl $quick -m blind-1 -f photo.png 'what is on it?'
like "$err" 'photo.png is a file for the program alone, the model does not see it' 'which is said'
like "$err" '[-]-images always' 'with what sends it'
ask $quick -m blind-1 --images always -f photo.png 'what is on it?'
is "$(sent)" '[{"code":1},{"judge":0}]' '--images always does'
ask $quick -m gpt-5-mini --images never -f photo.png 'what is on it?'
is "$(sent)" '[{"code":0},{"judge":0}]' '--images never does not'
{ printf '\211PNG\r\n\032\n'; head -c 2097152 /dev/zero; } >large.png
{ printf '\211PNG\r\n\032\n'; head -c 5242880 /dev/zero; } >huge.png
ask $quick -m gpt-5-mini -f large.png -f photo.png 'what is on them?'
is "$(sent)" '[{"code":2},{"judge":0}]' 'one larger than what the log keeps of other files is sent, too'
run replay last
is "$code" 0 'and in the log for the replay'
run ask --script s.jsonl $quick -m gpt-5-mini -f huge.png -f photo.png 'what is on them?'
like "$err" 'huge.png is a file for the program alone, .* 5 MiB each' 'of one that is too large for a model it is said'
is "$(sent)" '[{"code":1},{"judge":0}]' 'and the other is sent'
run ask --script s.jsonl $quick -m gpt-5-mini --keep-inputs 1M -f large.png -f photo.png 'what is on them?'
like "$err" 'large.png is a file for the program alone, .*--keep-inputs' 'of one that the log may not keep, too'
run ask --images some 'x'
is "$code" 2 'other words are refused'

done_testing
