# Every sandbox there is and everything that is tried in one: the list, and what is asked of it. Sourced by
# walls.t, whose functions start what each needs; `walls.t --list` prints it.
#
# A row: sandbox | what it is here | the files that ask | limits that the record names as not held |
# limits of which there is nothing, since what would pass them is refused | THINGS: why they are not tried; ...
# What a row says is what has to come: a limit of neither list is held, and what is not excused is tried.
things='contract pair files limits question tools cancelled killed doctor attacks'
of_modes='contract: for programs of all languages; attacks: its walls are the native ones'
of_services='contract attacks: the wall there is the service; pair tools: no descriptors for others'
lost="memory processes disk inodes network"
files_lost="disk inodes open-files artifacts artifact-bytes"
wall_rows="
native|namespaces of this host|limits.t, escape/escape.t|||
oci:runc|runc|walls.t, walls_ordinary.t, walls_attacked.t|||
oci:crun|crun|walls.t, walls_ordinary.t, walls_attacked.t|||
oci:runsc|gVisor's runsc|gvisor.t|inodes||
docker|Debian's dockerd|walls_docker.t, walls_attacked_docker.t|||
podman|Debian's Podman, by the same API|walls_docker.t, walls_attacked_docker.t|||
ssh|Debian's sshd on loopback|walls_ssh.t, walls_attacked.t|||
microvm|QEMU, computing in software|walls_microvm.t, walls_attacked_microvm.t|||
firecracker|a mock of the published API, its machine played by a keeper|firecracker.t, walls_modes.t|||contract pair tools attacks: its machine is the native sandbox
http|assay serve on loopback|walls.t|||tools: refused, for want of descriptors; attacks: its sandbox is the native one
pyodide|of npm, under node|guest_modes.t, walls_modes.t||processes|pair: guest_modes.t has one; tools: it has no descriptors for others; $of_modes
restricted|Debian's RestrictedPython|guest_modes.t, walls_modes.t||processes $files_lost|files: no program opens one there; pair tools: it has no descriptors for others; $of_modes
e2b|assay serve on loopback; a mock of the published API|walls_remote.t, remote.t|$lost||$of_services
lambda|a mock of the published API; an emulator from npm|walls_remote.t, remote.t, lambda_emulator.t|$lost||$of_services
azure|a mock of the published API; the container itself|walls_remote.t, remote.t|$lost||$of_services
modal|a mock of the published API|walls_remote.t, remote.t|$lost||$of_services
"
key_of() { # sandbox: of its row
	case $1 in
	oci:*) echo "$1" ;;
	docker:localhost/*) echo podman ;;
	*) echo "${1%%:*}" ;;
	esac
}
of_row() { # key, column
	awk -F'|' -v key="$1" -v column="$2" '$1 == key { print $column }' <<<"$wall_rows"
}
why_not() { # key, thing
	of_row "$1" 6 | tr ';' '\n' | sed -nE "s/^ *([a-z]+ )*$2( [a-z]+)*: //p"
}
# What has been tried in the sandbox that is asked now.
tried=' '
has_tried() { # things
	tried="$tried$* "
}
all_is_tried() { # sandbox; attacks are in files of their own
	wrong=
	for thing in ${things% attacks}; do
		why=$(why_not "$(key_of "$1")" "$thing")
		case $tried in
		*" $thing "*) [ -z "$why" ] || wrong="$wrong $thing:tried-though-excused" ;;
		*) [ -n "$why" ] || wrong="$wrong $thing:not-tried" ;;
		esac
	done
	is "$wrong" '' "$1: all of the list was tried, or it says why not, and nothing is both"
	tried=' '
}
# Which limits are held is what the row says. What a runner lets pass now and then is no other limit's.
limits_are_as_listed() { # sandbox
	has_tried limits
	key=$(key_of "$1")
	listed=" $(of_row "$key" 4) "
	is "$(for one in $not_held; do case $listed in *" $one "*) ;; *) echo "$one" ;; esac done)" '' \
		"$1: no limit is not held but what the list says ($(of_row "$key" 4))"
	is "$(field '[.isolation.facts[] | select(.name == "not_held") | .value][0] // ""' | tr -d ,)" "$(of_row "$key" 4)" \
		"$1: which is what the record has"
	is "$(echo $refused)" "$(of_row "$key" 5)" "$1: and refused is what the list says"
}
print_walls() { # as the README of sandbox/ has it
	printf '| sandbox | here | not held, which is recorded | refused | not tried |\n|---|---|---|---|---|\n'
	awk -F'|' 'NF { printf "| `%s` | %s | %s | %s | %s |\n", $1, $2, $4, $5, $6 }' <<<"$wall_rows" | sed 's/|  |/| |/g; s/|  |/| |/g'
}
