# Assertions that stand in the tests and were never made: a part of judge.sh, which calls
# _assay_look_back at its end. The text is looked at by its words, not parsed. An assertion
# may also be only named, as an argument, in a trap or in a variable: then that line has to
# be one from which it was made. What is not seen here is not counted as unmade, and nothing
# here decides that an assertion held.

_assay_site='(^|[;&({!]|(^|[[:space:]])(then|do|else|if|elif|while|until))[[:space:]]*(\[\[?|\(\(|test|assert|assert_equal)[[:space:]]'
# Lines that call, or only name, a function of the tests that holds an assertion, or a
# variable with the name of one; of a line that goes on the one where it begins, too.
_assay_named='
	function is_word(text, name) {
		return text ~ "(^|[^A-Za-z0-9_./-])" name "([^A-Za-z0-9_=(./-]|$)"
	}
	function is_held(text, name) { return text ~ "[$]{?" name "([^A-Za-z0-9_]|$)" }
	function plain(text, part) {
		gsub(/\\\\./, "", text)
		if (text !~ /(^|[;&|[:space:]])trap[[:space:]]/)
			gsub(/\047[^\047]*\047|"[^"(]*"/, " ", text)
		sub(/(^|[[:space:]])#.*/, "", text)
		return text
	}
	function know(name, kind) {
		if (!(name in known)) {
			known[name] = kind
			grown = 1
		}
	}
	{
		whole[NR] = $0
		line[NR] = plain($0)
		begins[NR] = NR > 1 && whole[NR - 1] ~ /(\\\\|\||&&|\()[[:space:]]*$/ ? begins[NR - 1] : NR
		if (!owner && match($0, /^[[:space:]]*(function[[:space:]]+)?[A-Za-z_][A-Za-z0-9_]*[[:space:]]*(\(\)|\{)/)) {
			owner = $0
			sub(/^[[:space:]]*(function[[:space:]]+)?/, "", owner)
			sub(/[^A-Za-z0-9_].*/, "", owner)
			indent = $0
			sub(/[^[:space:]].*/, "", indent)
			defines[NR] = owner
		}
		of[NR] = owner
		if (owner && ($0 ~ "^" indent "[})]" || (defines[NR] && $0 ~ /[})][[:space:]]*$/)))
			owner = ""
	}
	END {
		know("assert", "own")
		know("assert_equal", "own")
		while (grown) {
			grown = 0
			for (n = 1; n <= NR; n++) {
				body = line[n]
				if (defines[n])
					sub(/^[^{(]*(\(\))?[[:space:]]*[{(]?/, "", body)
				holds = body ~ site
				for (name in known) {
					if (match(body, "[A-Za-z_][A-Za-z0-9_]*=" name "([[:space:];]|$)")) {
						held = substr(body, RSTART, RLENGTH)
						sub(/=.*/, "", held)
						if (!(held in known))
							know(held, "variable")
						continue
					}
					if (of[n] == name || body ~ /(^|[;&|[:space:]])(export|declare|unset|type|typeset)[[:space:]]/)
						continue
					is = known[name] == "variable" ? is_held(whole[n], name) : is_word(body, name)
					if (is)
						holds = found[n] = 1
				}
				if (holds && of[n])
					know(of[n], "function")
			}
		}
		for (n = 1; n <= NR; n++)
			if (found[n])
				print n, begins[n]
	}'

_assay_look_at_named()
{
	local number begins at
	while read -r number begins; do
		for ((at = begins; at <= number + 1; at++)); do
			grep -qx -e "$at" "$_assay_tmp/lines" && continue 2
		done
		_assay_undecided "$number" 'this assertion was never made'
	done < <(awk -v site="${_assay_site//\\/\\\\}" "$_assay_named" <<<"$_assay_text")
}

_assay_look_back()
{
	local line number=0 name about before=
	_assay_look_at_named
	while IFS=$'\t' read -r line name about; do
		[ "$about" = answer ] &&
			grep -qxE "($line|any)"$'\t'"$name"$'\t'tests "$_assay_tmp/calls" &&
			_assay_undecided "$line" "the program's $name makes both what is compared"
	done <"$_assay_tmp/calls"
	while IFS= read -r line; do
		number=$((number + 1))
		name=$before before=$line
		[[ $line =~ $_assay_site && $line != *([[:space:]])'#'* && $name != *'||' ]] || continue
		[[ $line == *\\ ]] && name=$((number + 1)) || name=$number
		grep -qx -e "$number" -e "$name" "$_assay_tmp/lines" ||
			_assay_undecided "$number" 'this assertion was never made'
	done <<<"$_assay_text"
}
