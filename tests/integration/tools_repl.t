#!/bin/sh
# --tools in a conversation: what a program called is answered where its state is made again, after /undo, by
# /save and with --continue. The tool leaves a mark for each call: none is made twice.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"
one_by_one
columns=120

made() {
	cat "$work/made" 2>/dev/null | wc -l
}
mkdir -p "$XDG_CONFIG_HOME/assay"
cat >"$work/tool" <<'END'
#!/bin/sh
cat >>"$(dirname "$0")/made"
grep -c . "$(dirname "$0")/made"
END
chmod +x "$work/tool"
cat >"$XDG_CONFIG_HOME/assay/config.ini" <<END
[tool next]
command = $work/tool
description = Counts.
action = allow
[tool pay]
command = $work/tool
END
quick="--role-model plan=off --role-model judge=off --role-model answer=off --require ran --lang python"

forget
say code "$(program 'import assay
x = assay.call("next")
print("first", x)')"
say code "$(program 'print("then", x, assay.call("next"))')"
say code "$(program 'print("wrong", x, assay.call("next"))')"
say code "$(program 'print("after", x, assay.call("pay"))')"
open $quick --tools
like "$(screen)" 'programs may call tools; /tools lists them' 'a conversation with tools says so'
clear
line '/tools'
sees '^  next \(allow\) Counts\.$' '/tools lists them'
sees '^  pay \(confirm\)' 'and who says yes'
clear
line 'one?'
sees '^first 1$' 'a program calls'
clear
line 'two?'
sees '^then 1 2$' 'the next one has what it got, and calls its own'
clear
line 'three?'
sees '^wrong 1 3$' 'a third'
line '/undo'
clear
line 'four?'
sees 'Make this call\?' 'after /undo another one calls what wants a yes'
is "$(made)" 3 'nothing was called before that'
keys -l y
keys Enter
sees '^after 1 4$' 'with a yes it is made'
is "$(made)" 4 'once'
clear
line '/save saved.py'
sees 'run from nothing it gives the same' '/save proves the program'
is "$(made)" 4 'without a call'
close
forget
say code "$(program 'print("again", x)')"
say code "$(program 'print("lone", assay.call("next"))')"
open $quick --continue
line 'five?'
sees '^again 1$' 'taken up again, without --tools, the state has what was called'
is "$(made)" 4 'and nothing is called for it'
clear
line '/tools'
sees 'programs can call nothing' '/tools says so'
clear
line '/tools on'
sees '^  next \(allow\) Counts\.$' '/tools on'
clear
line 'six?'
sees '^lone 5$' 'lets programs call'
line '/tools off'
sees 'programs can call nothing' '/tools off'
close
run replay last
is "$code" 0 'the last turn replays'
is "$(made)" 5 'and calls nothing'
done_testing
