# The cells of a context in one shell: the earlier ones again, for nobody to see, then the new
# one with the streams of the run. At its end a report (a file of the run's own) says what is
# there now and what the cells before it printed; it is the guest's word, and nothing is decided
# by it but whether there is a state. A cell that calls exit ends the shell: it leaves none.
_assay_work=${BASH_SOURCE[0]%/*}
_assay_n=1
_assay_printed=
_assay_names=$(compgen -v; compgen -A function)

_assay_quote()
{
	local _assay_text=${1:0:160} LC_ALL=C
	_assay_text=${_assay_text//\\/\\\\}
	_assay_text=${_assay_text//\"/\\\"}
	_assay_text=${_assay_text//[[:cntrl:]]/ }
	REPLY=\"${_assay_text//[^ -~]/?}\"
}

_assay_report()
{
	local _assay_name _assay_list= _assay_about _assay_files= _assay_size _assay_path _assay_out= IFS=$' \t\n' _assay_seen=" ${_assay_names//$'\n'/ } "
	for _assay_name in $(compgen -v); do
		[[ $_assay_name == _assay* || $_assay_name == _ || $_assay_seen == *" $_assay_name "* ]] && continue
		case $_assay_name in
		BASH* | FUNCNAME | PIPESTATUS | LINENO | RANDOM | SECONDS | EPOCH* | SRANDOM | REPLY | OLDPWD) continue ;;
		esac
		_assay_about=$(declare -p "$_assay_name" 2>/dev/null)
		_assay_about=${_assay_about#declare }
		_assay_quote "$_assay_name"
		_assay_list+="${_assay_list:+,}[$REPLY,"
		_assay_quote "${_assay_about#-- }"
		_assay_list+="$REPLY]"
	done
	for _assay_name in $(compgen -A function); do
		[[ $_assay_name == _assay* || $_assay_seen == *" $_assay_name "* ]] && continue
		_assay_quote "$_assay_name"
		_assay_list+="${_assay_list:+,}[$REPLY,\"function\"]"
	done
	while IFS=' ' read -r _assay_size _assay_path; do
		_assay_quote "$_assay_path"
		_assay_files+="${_assay_files:+,}[$REPLY,$_assay_size]"
	done < <(find "$_assay_work" /out -type f ! -name '.assay-tests-*' -printf '%s %P\n' 2>/dev/null |
		sed "s| | $_assay_work/|" | sort -u -k 2 | head -n 60)
	while read -r _assay_path; do
		_assay_quote "$_assay_path"
		_assay_out+="${_assay_out:+,}$REPLY"
	done < <(find /out -type f ! -name '.assay-tests-*' -printf '%P\n' 2>/dev/null | head -n 200)
	printf '{"out":[%s],"printed":[%s],"kept":true,"names":[%s],"more":0,"files":[%s],"left":[%s],"html":[]}' \
		"$_assay_out" "$_assay_printed" "$_assay_list" "$_assay_files" "$(jobs -p | sed 's/.*/"process &"/' | paste -sd , -)"
}

exec {_assay_in}<&0 {_assay_out}>&1 {_assay_err}>&2
mkdir -p /tmp/.assay
for _assay_cell in $(cd "$_assay_work" && ls assay_cells 2>/dev/null | grep -x '[0-9]*' | sort -n); do
	mv -- "$_assay_work/assay_cells/$_assay_cell" "/tmp/.assay/$_assay_cell"
	[ ! -e "$_assay_work/assay_cells/$_assay_cell.in" ] ||
		mv -- "$_assay_work/assay_cells/$_assay_cell.in" "/tmp/.assay/$_assay_cell.in"
	_assay_last=$_assay_cell
done
mv -- "$_assay_work/@SOLUTION@" /tmp/.assay/new
rm -rf -- "$_assay_work/assay_cells" "${BASH_SOURCE[0]}"
: "${_assay_last:=0}"

while [ "$_assay_n" -le "$_assay_last" ]; do
	mv -- "/tmp/.assay/$_assay_n" "/tmp/cell $_assay_n"
	[ -e "/tmp/.assay/$_assay_n.in" ] || : >"/tmp/.assay/$_assay_n.in"
	exec <"/tmp/.assay/$_assay_n.in" >"/tmp/.assay/out" 2>"/tmp/.assay/err"
	. "/tmp/cell $_assay_n"
	_assay_status=$?
	{ set +euxo pipefail; } 2>/dev/null
	exec <&"$_assay_in" >&"$_assay_out" 2>&"$_assay_err"
	if [ "$_assay_status" != 0 ]; then
		cat /tmp/.assay/err >&2
		printf '{"printed":[%s],"broken":%d}' "$_assay_printed" "$_assay_n" >'@REPORT@'
		exit 1
	fi
	read -r _assay_sum _ < <(sha256sum </tmp/.assay/out)
	_assay_printed+="${_assay_printed:+,}\"$_assay_sum\""
	rm -f -- "/tmp/cell $_assay_n"
	# Files of an earlier cell stay, in the work folder.
	find /out -mindepth 1 -maxdepth 1 -exec sh -c 'rm -rf -- "$1/${2##*/}"; mv -- "$2" "$1/"' sh \
		"$_assay_work" {} \;
	_assay_n=$((_assay_n + 1))
done
mv -- /tmp/.assay/new "/tmp/cell $_assay_n"
rm -rf /tmp/.assay
exec {_assay_in}<&- {_assay_out}>&- {_assay_err}>&-
. "/tmp/cell $_assay_n"
_assay_status=$?
{ set +euxo pipefail; } 2>/dev/null
[ "$_assay_status" = 0 ] || exit "$_assay_status"
rm -f -- "/tmp/cell $_assay_n"
_assay_report >'@REPORT@'
exit 0
