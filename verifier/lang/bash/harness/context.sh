# The cells of a context in one shell: the earlier ones again, for nobody to see, then the new
# one with the streams of the run. At its end a report (a file of the run's own) says what is
# there now and what the cells before it printed; it is the guest's word, and nothing is decided
# by it but whether there is a state. A cell that calls exit ends the shell: it leaves none.
_assay_work=${BASH_SOURCE[0]%/*}
_assay_n=1
_assay_printed=
_assay_names=$(compgen -v; compgen -A function)

# Names that are set by loops alone, and used in those alone, are of no use after them. Told of
# the new cell's words by awk, on a line "passing NAME ..." and, of those that were so before and
# are not any more, "lasting NAME ..."; nothing where the words are not understood.
_assay_loops='
function leave(  n) {
	for (n in own) if (own[n] == depth) delete own[n]
	depth--
}
function target(name) {
	if (name ~ /^[A-Za-z_][A-Za-z_0-9]*$/ && !(name in own)) own[name] = depth
	if (name in own) passing[name] = 1
}
BEGIN { split(had, list, " "); for (i in list) before[list[i]] = 1 }
{
	sub(/(^|[ \t])#.*/, "")
	gsub(/[;&|(){}<>]/, " & ")
	count = split($0, word, /[ \t]+/)
	for (i = 1; i <= count; i++) {
		w = word[i]
		if (w == "for" || w == "select" || w == "while" || w == "until") {
			depth++; head = w; reads = 0
			if (w == "for" || w == "select") {
				if (word[i + 1] ~ /^[A-Za-z_]/) target(word[++i])
				else head = "count"
			}
		} else if (w == "do") {
			head = ""; reads = 0
		} else if (w == "done") {
			if (head != "" || depth < 1) exit bad = 1
			leave()
		} else if (head == "while" && w == "read") {
			reads = 1
		} else if (reads && w ~ /^[;&|<>]$/) {
			reads = 0
		} else if (reads && w !~ /^-/) {
			target(w)
		} else if (head == "count" && w word[i + 1] ~ /^[A-Za-z_][A-Za-z_0-9]*=/) {
			sub(/=.*/, "", w); target(w)
		} else {
			while (match(w, /[A-Za-z_][A-Za-z_0-9]*/)) {
				name = substr(w, RSTART, RLENGTH)
				if (!(name in own)) outside[name] = 1
				w = substr(w, RSTART + RLENGTH)
			}
		}
	}
}
END {
	if (bad || depth || head != "") exit
	printf "passing"
	for (name in passing) if (!(name in outside)) printf " %s", name
	printf "\nlasting"
	for (name in outside) if (name in before) printf " %s", name
	print ""
}'
_assay_passing=' ' # those that are not told
_assay_known=' '   # and those that were there before the new cell

_assay_has_loop()
{
	[[ $(<"/tmp/cell $_assay_n") == *[[:space:]\;]done* ]]
}
_assay_note_names()
{
	_assay_has_loop || return 0
	_assay_known=$(compgen -v)
	_assay_known=" ${_assay_known//$'\n'/ } "
}
_assay_note_loops()
{
	local _assay_text _assay_word _assay_kind
	_assay_has_loop || [ "$_assay_passing" != ' ' ] || return 0
	while read -r _assay_kind _assay_text; do
		for _assay_word in $_assay_text; do
			if [ "$_assay_kind" = lasting ]; then
				_assay_passing=${_assay_passing/" $_assay_word "/ }
			elif [[ $_assay_known != *" $_assay_word "* && $_assay_passing != *" $_assay_word "* ]]; then
				_assay_passing+="$_assay_word "
			fi
		done
	done < <(awk -v had="$_assay_passing" "$_assay_loops" "/tmp/cell $_assay_n" 2>/dev/null)
	wait "$!" 2>/dev/null
	return 0
}

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
	local _assay_name _assay_list= _assay_about _assay_files= _assay_size _assay_top _assay_path
	local _assay_out= _assay_count=0 _assay_left= IFS=$' \t\n' _assay_seen=" ${_assay_names//$'\n'/ } "

	_assay_note_loops
	for _assay_name in $(compgen -v); do
		[[ $_assay_name == _assay* || $_assay_name == _ || $_assay_seen == *" $_assay_name "* ]] && continue
		case $_assay_name in
		BASH* | FUNCNAME | PIPESTATUS | LINENO | RANDOM | SECONDS | EPOCH* | SRANDOM | REPLY | OLDPWD) continue ;;
		esac
		[[ $_assay_passing == *" $_assay_name "* ]] && continue
		eval "_assay_about=\${$_assay_name[*]@A}"
		_assay_quote "$_assay_name"
		_assay_list+="${_assay_list:+,}[$REPLY,"
		_assay_quote "${_assay_about#declare }"
		_assay_list+="$REPLY]"
	done
	for _assay_name in $(compgen -A function); do
		[[ $_assay_name == _assay* || $_assay_seen == *" $_assay_name "* ]] && continue
		_assay_quote "$_assay_name"
		_assay_list+="${_assay_list:+,}[$REPLY,\"function\"]"
	done
	if [ "$PWD" != "$_assay_work" ]; then
		_assay_quote "$PWD"
		_assay_list+="${_assay_list:+,}[\"working folder\",$REPLY]"
	fi
	while read -r _assay_size _assay_top _assay_path && [ $((_assay_count += 1)) -le 200 ]; do
		if [ "$_assay_top" = /out ]; then
			_assay_quote "$_assay_path"
			_assay_out+="${_assay_out:+,}$REPLY"
		fi
		_assay_quote "$_assay_work/$_assay_path"
		_assay_files+="${_assay_files:+,}[$REPLY,$_assay_size]"
	done < <(find "$_assay_work" /out -type f ! -name '.assay-tests-*' \
		! -path "$_assay_work/.*" ! -path "$_assay_work/*/.*" -printf '%s %H %P\n' 2>/dev/null)
	wait "$!" 2>/dev/null
	[ -z "$(jobs -p)" ] || _assay_left='"process &"'
	printf '{"out":[%s],"printed":[%s],"kept":true,"names":[%s],"more":0,"files":[%s],"left":[%s],"html":[]}' \
		"$_assay_out" "$_assay_printed" "$_assay_list" "$_assay_files" "$_assay_left"
}

# --- the texts; a text is read at once, and its messages name the file that it is in ---

_assay_last=0
while [ -e "$_assay_work/assay_cells/$((_assay_last + 1))" ]; do
	_assay_last=$((_assay_last + 1))
	printf '%s\n' "$(<"$_assay_work/assay_cells/$_assay_last")" >"/tmp/cell $_assay_last"
	: >"/tmp/cell $_assay_last.in"
	[ ! -e "$_assay_work/assay_cells/$_assay_last.in" ] ||
		cat "$_assay_work/assay_cells/$_assay_last.in" >"/tmp/cell $_assay_last.in"
done
printf '%s\n' "$(<"$_assay_work/@SOLUTION@")" >"/tmp/cell $((_assay_last + 1))"
rm -rf -- "$_assay_work/assay_cells" "$_assay_work/@SOLUTION@" "${BASH_SOURCE[0]}"

# --- the cells ---

# A folder goes into one of its name; all else takes the place of what is there.
_assay_put='to=$1/${2##*/}
if [ -d "$2" ] && [ ! -L "$2" ] && [ -d "$to" ] && [ ! -L "$to" ]; then
	for path in "$2"/* "$2"/.[!.]* "$2"/..?*; do
		[ ! -e "$path" ] && [ ! -L "$path" ] || sh -c "$0" "$0" "$to" "$path"
	done
	rmdir -- "$2"
else
	rm -rf -- "$to"
	mv -- "$2" "$1/"
fi'
# Files of an earlier cell stay, in the work folder.
_assay_clear_out()
{
	[ -z "$(compgen -G '/out/*' || compgen -G '/out/.[!.]*')" ] ||
		find /out -mindepth 1 -maxdepth 1 -exec sh -c "$_assay_put" "$_assay_put" "$_assay_work" {} \;
}
exec {_assay_in}<&0 {_assay_out}>&1 {_assay_err}>&2
while [ "$_assay_n" -le "$_assay_last" ]; do
	_assay_note_names
	exec <"/tmp/cell $_assay_n.in" >"/tmp/cell.out" 2>"/tmp/cell.err"
	. "/tmp/cell $_assay_n"
	_assay_status=$?
	{ set +euxo pipefail; } 2>/dev/null
	exec <&"$_assay_in" >&"$_assay_out" 2>&"$_assay_err"
	if [ "$_assay_status" != 0 ]; then
		cat /tmp/cell.err >&2
		printf '{"printed":[%s],"broken":%d}' "$_assay_printed" "$_assay_n" >'@REPORT@'
		exit 1
	fi
	_assay_note_loops
	read -r _assay_sum _ < <(sha256sum </tmp/cell.out)
	_assay_printed+="${_assay_printed:+,}\"$_assay_sum\""
	_assay_clear_out
	_assay_n=$((_assay_n + 1))
done
exec {_assay_in}<&- {_assay_out}>&- {_assay_err}>&-
# In one piece, which is read before it runs: copies have their place in this file in common. The
# name to open is sandbox/sandbox.h's; the call returns in copies only, each with a cell of its
# own. It is in the shell itself that cells run, and in no function, where names would be local.
{
	_assay_note_names
	. "/tmp/cell $_assay_n"
	_assay_status=$?
	{ set +euxo pipefail; } 2>/dev/null
	[ "$_assay_status" = 0 ] || exit "$_assay_status"
	_assay_to='@REPORT@'
	_assay_report >"$_assay_to"
	while [ -S /proc/self/fd/200 ]; do
		_assay_had=$_assay_to _assay_to= _assay_printed=
		exec {_assay_in}</proc/self/assay-hold
		{ IFS= read -r _assay_to && cat >"/tmp/cell $((_assay_n + 1))"; } <&"$_assay_in"
		exec {_assay_in}<&-
		[ -n "$_assay_to" ] || break
		_assay_n=$((_assay_n + 1))
		rm -f -- "$_assay_had"
		_assay_clear_out
		_assay_note_names
		. "/tmp/cell $_assay_n"
		_assay_status=$?
		{ set +euxo pipefail; } 2>/dev/null
		[ "$_assay_status" = 0 ] || exit "$_assay_status"
		_assay_report >"$_assay_to"
	done
	exit 0
}
