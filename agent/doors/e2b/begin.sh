# A command of a sandbox: this is its first line, twice. The first time it makes the sandbox's
# files, starts the same program again and, when that has ended, leaves what it changed in /out;
# the second time it does nothing, and the command follows.
if [ "${ASSAY_COMMAND-}" = runs ]; then
	unset ASSAY_COMMAND ASSAY_CWD ASSAY_SECONDS
	return 0
fi
mkdir -p /tmp/user
tar -xf /in/.e2b/home.tar -C /tmp/user || exit 126
assay_list() {
	(cd /tmp/user && find . -mindepth 1 \( -type l -lname '/in/.e2b/*' -printf 'l %l %P\0-\0' -o -printf '%y %m %P\0%T@\0' \))
}
declare -A assay_had
while IFS= read -r -d '' entry && IFS= read -r -d '' stamp; do
	assay_had[$entry]=$stamp
done < <(assay_list)
cd -- "${ASSAY_CWD:-/home/user}" || exit 1
limit=(${ASSAY_SECONDS:+timeout --foreground -s KILL "$ASSAY_SECONDS"}) # that its client waits
ASSAY_COMMAND=runs HOME=/home/user "${limit[@]}" /bin/bash "$0" "$@"
code=$?
changed=()
whole=yes
{
	while IFS= read -r -d '' entry && IFS= read -r -d '' stamp; do
		printf '%s\0' "$entry" || whole=
		[ "${entry:0:1}" != f ] || [ "${assay_had[$entry]-}" = "$stamp" ] || changed+=("${entry#f * }")
	done < <(assay_list)
	wait $! && [ "$whole" ] && printf '.\0'
} >/out/.e2b-list
[ ${#changed[@]} = 0 ] || (cd /tmp/user && cp --parents -t /out -- "${changed[@]}")
exit $code
