#!/bin/sh
# The conversation where readline is not to be had, and where there is no terminal.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
. "$top/tests/integration/screen.sh"

# --- no readline ---

forget
say plan "$(plan)"
say code "$(program 'print(7)')"
say answer 'Seven.'
mkdir broken
: >broken/libreadline.so.8
export LD_LIBRARY_PATH="$work/broken"
open --lang python --no-judge --require ran
unset LD_LIBRARY_PATH
line 'Seven?'
sees '^7$' 'where readline is missing or broken, lines are read plainly'
line '/quit'
left 0 'and that is a conversation, too'

# --- no terminal ---

run
is "$code" 2 'without a terminal there is no conversation'
like "$err" 'assay ask' 'and the error says what to do instead'

done_testing
