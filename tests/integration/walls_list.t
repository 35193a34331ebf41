#!/bin/bash
# The list of sandboxes and of what is tried in each (full/walls_list.sh): every sandbox that there is has a row, and
# what a row names is there. What the rows say is held against what comes by the files that they name.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/full/walls_list.sh"
run exec --sandbox no-such-sandbox p.py
names=$(grep -oE '[a-z0-9]+(\[?:[A-Z]+\]?)? \(' <<<"$err" | sed 's/[^a-z0-9].*//' | sort -u)
like "$names" '^native$' 'the program says which sandboxes there are'
is "$(for one in $names; do grep -qE "^$one[:|]" <<<"$wall_rows" || echo "$one"; done)" '' 'each has a row'
is "$(awk -F'|' 'NF && NF != 6 { print $1 }' <<<"$wall_rows")" '' 'of six columns'
files=$(awk -F'|' '{ print $3 }' <<<"$wall_rows" | tr -d ' ' | tr ',' '\n' | grep .)
is "$(for one in $files; do ls "$here/$one" "$here/full/$one" "$top/tests/$one" 2>/dev/null | grep -q . || echo "$one"; done)" '' \
	'what asks is there'
excused=$(awk -F'|' '{ print $6 }' <<<"$wall_rows" | tr ';' '\n' | sed -n 's/: ..*//p' | tr ' ' '\n' | grep . | sort -u)
is "$(for one in $excused; do case " $things " in *" $one "*) ;; *) echo "$one" ;; esac done)" '' 'what is not tried is one of the things'
limits=network$'\n'$(sed -n "/^limit_rows='/,/^'/s/^\([A-Za-z ]*\)|.*/\1/p" "$here/limits.sh" | tr ' ' '-')
named=$(awk -F'|' '{ print $4, $5 }' <<<"$wall_rows" | tr ' ' '\n' | grep .)
is "$(for one in $named; do grep -qx -- "$one" <<<"$limits" || echo "$one"; done)" '' 'and each limit is one of the list'
attacked=$(awk -F'|' 'NF && $6 !~ /attacks/ && $3 !~ /walls_attacked|escape\/escape[.]t|gvisor[.]t/ { print $1 }' <<<"$wall_rows")
is "$attacked" '' 'a row that does not excuse attacks names a file that has them'
# What is asked at the end of a sandbox that was tried: http's row excuses tools and attacks.
asked_of_http() { (has_tried "$@" && all_is_tried http:x | sed -n 's/^# got:  *//p'); }
every='contract pair files limits question cancelled killed doctor'
is "$(asked_of_http $every)" '' 'what is excused is not asked for'
is "$(asked_of_http ${every#contract })" contract:not-tried 'what was not tried is told'
is "$(asked_of_http $every tools)" tools:tried-though-excused 'and so is what was tried though it is excused'
"$here/full/walls.t" --list >table.txt
is "$(grep -xcFf table.txt "$top/sandbox/README.md") $(grep -c . table.txt)" "$(grep -c . table.txt) $((2 + $(grep -c . <<<"$wall_rows")))" \
	"the sandbox's README has the table that walls.t --list prints"
done_testing
