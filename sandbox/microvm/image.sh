#!/bin/sh
# The guest's file system for sandboxes that are machines: this host's interpreters with all that
# their packages depend on, read-only, as an ext4 image. Made once for what it copies, kept below
# CACHE and used again until one of those packages, this script or an interpreter changes. It decides
# what a guest can read: nothing but files of installed packages, never one of a person.
#   image.sh CACHE           prints the image's path; says on standard error why not
#   image.sh CACHE --name    prints what path it has, or would have, and makes none
set -eu
cache=$1
umask 022
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin

# Of the languages' rows (sandbox/language.c), which the build puts here: their packages and interpreters.
roots='@packages@'
interpreters='@interpreters@'
roots="$roots bash coreutils dash libc-bin perl-base grep sed mawk gawk findutils
	diffutils util-linux tar gzip bzip2 xz-utils bc file media-types tzdata base-files hostname procps"
fail() {
	echo "$1" >&2
	exit 1
}
status=/var/lib/dpkg/status
[ -r $status ] || fail "an image is made of Debian's packages, and $status is not here"
command -v mke2fs >/dev/null || fail 'no mke2fs: install e2fsprogs'

# The packages and all they depend on, as far as they are installed: name and version.
closure() {
	awk -v roots="$(dpkg-query -W -f '${Package} ' 'python3-*' 2>/dev/null) $roots" '
		/^Package: /{ p = $2 }
		/^Version: /{ version[p] = $2 }
		/^Status: /{ if ($0 ~ / installed$/) is[p] = 1 }
		/^(Pre-)?Depends: /{ d = $0; sub(/^[^:]*: /, "", d); needs[p] = needs[p] ", " d }
		/^Provides: /{
			d = $0; sub(/^[^:]*: /, "", d); n = split(d, v, /, */)
			for (i = 1; i <= n; i++) { sub(/ .*/, "", v[i]); by[v[i]] = by[v[i]] " " p }
		}
		END {
			count = split(roots, list, /[ \t\n]+/)
			for (at = 1; at <= count; at++) {
				p = list[at]
				if (seen[p]++) continue
				n = split(by[p], v, " ")
				for (i = 1; i <= n; i++) list[++count] = v[i]
				if (!is[p]) continue
				print p, version[p]
				gsub(/\([^)]*\)|\[[^]]*\]|:any/, "", needs[p])
				n = split(needs[p], v, /[ ,|]+/)
				for (i = 1; i <= n; i++) list[++count] = v[i]
			}
		}' $status
}
packages=$(closure)
key=$({
	cat "$0"
	echo "$packages"
	ls -lLgG --time-style=+%s $interpreters 2>/dev/null || :
	ls -lgG --time-style=+%s /usr/lib/python3/dist-packages 2>/dev/null
} | sha256sum | cut -c1-32)
image=$cache/machine-$key.ext4
if [ -f "$image" ] || [ "${2:-}" = --name ]; then
	echo "$image"
	exit
fi

# Of these, only what programs need; by the places that files have since /bin and /lib are links.
files() {
	for one in $(echo "$packages" | cut -d" " -f1); do
		cat "/var/lib/dpkg/info/$one.list" "/var/lib/dpkg/info/$one:$(dpkg --print-architecture).list" 2>/dev/null || :
	done | sed -E 's,^/(bin|sbin|lib|lib32|lib64|libx32)/,/usr/\1/,' |
		grep -E '^/usr/|^/etc/(ld\.so|alternatives|python3|mime\.types|fonts|protocols|services|debian_version|matplotlibrc)' |
		grep -vE '^/usr/(include|src|games|local)/|^/usr/share/(doc|man|locale|info|lintian|bug|gtk-doc|help|icons|applications)/' |
		grep -vE '^/usr/lib/(gcc|llvm-[0-9]+/(bin|build|share)|[^/]+/dri)/|\.a$'
	find /usr/lib/python3/dist-packages /usr/lib/python3.[0-9]* -xdev ! -type d ! -path '*/test/*' ! -path '*/tests/*'
	find /usr/bin /usr/lib -xdev -type l -lname '/etc/alternatives/*'
	find /etc/alternatives /etc/ld.so.cache /etc/mime.types ! -type d
	for one in $interpreters; do
		one=$(readlink -e "$one") || continue
		echo "$one"
		ldd "$one" 2>/dev/null | grep -oE '/[^ ]+' | xargs -r readlink -f
	done
}

echo "making the machine's file system of $(echo "$packages" | wc -l) installed packages, once: $image" >&2
mkdir -p "$cache"
work=$(mktemp -d "$cache/machine-making-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/root"
files 2>/dev/null | sort -u | while IFS= read -r one; do
	if [ -L "$one" ] || [ -f "$one" ]; then echo "${one#/}"; fi
done >"$work/files"
tar -C / --no-recursion --ignore-failed-read -cf - -T "$work/files" 2>/dev/null |
	tar -C "$work/root" --no-same-owner -xf - || fail "no room for an image in $cache"
cd "$work/root"
chmod -R go+rX,go-w .
mkdir -p dev proc sys tmp etc run
for one in bin sbin lib lib32 lib64 libx32; do
	[ ! -L "/$one" ] || ln -s "$(readlink "/$one")" "$one"
done
kib=$(du -sk . | cut -f1)
mke2fs -q -t ext4 -O ^has_journal,^resize_inode -m 0 -b 4096 -N $(($(wc -l <"$work/files") * 5 / 4 + 4096)) \
	-E root_owner=0:0,lazy_itable_init=0 -d . "$work/image" $((kib * 11 / 10 + 16384))k >&2 ||
	fail 'mke2fs made no image'
chmod 444 "$work/image"
# What was made for packages that are here no more goes.
find "$cache" -maxdepth 1 -name 'machine-*.ext4' -mtime +1 -delete
mv "$work/image" "$image"
echo "$image"
