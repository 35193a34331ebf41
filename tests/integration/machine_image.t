#!/bin/bash
# Which image a machine's file system is (sandbox/microvm/image.sh): another one when what it copies
# changes, the same when anything else is installed, removed or half installed. None is made here.
. "$(dirname "$0")/lib.sh"
image=$(dirname "$ASSAY")/assay-image
[ -r /var/lib/dpkg/status ] && command -v mke2fs >/dev/null || skip_all 'no packages of Debian, or no e2fsprogs'
unshare -rm true 2>/dev/null || skip_all 'no namespaces to show another list of packages in'

name_with() { # a program of sed, of the list of packages
	sed "$1" /var/lib/dpkg/status >status
	unshare -rm sh -c 'mount --bind status /var/lib/dpkg/status && exec "$0" "$@"' "$image" "$work/cache" --name
}
now=$("$image" "$work/cache" --name)
like "$now" "^$work/cache/machine-[0-9a-f]{32}\.ext4$" 'a name'
is "$(ls cache 2>/dev/null)" '' 'and nothing is made'
is "$(name_with '')" "$now" 'the same list, the same image'
is "$(name_with '$a\
Package: quite-another\
Status: install ok installed\
Version: 1\
')" "$now" 'a package more that is not copied: the same'
is "$(name_with '/^Package: tzdata$/,/^$/s/^Priority: .*/Priority: extra/')" "$now" 'what is said of one that is copied: the same'
version=$(name_with '/^Package: bash$/,/^$/s/^Version: .*/Version: 99/')
[ -n "$version" ] && [ "$version" != "$now" ]
ok $? 'another version of one that is copied: another'
gone=$(name_with '/^Package: tzdata$/,/^$/s/^Status: .*/Status: deinstall ok config-files/')
[ -n "$gone" ] && [ "$gone" != "$now" ] && [ "$gone" != "$version" ]
ok $? 'one that is copied is not installed any more: another'
# What the languages' rows name (sandbox/language.c), the build has put into the script.
has=$(sed -n "s/^interpreters='\(.*\)'/\1/p" "$image" | xargs -n 1 readlink -e)
for one in $("$ASSAY" doctor --json | jq -r '.languages[].interpreter // empty' | grep '^/usr/bin/'); do
	like "$has" "^$one\$" "it has $one"
done
done_testing
