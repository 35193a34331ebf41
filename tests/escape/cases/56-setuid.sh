# threat: 56 setuid programs gain nothing
[ "$HOSTNAME$$" = assay2 ] || { echo "refuses to run outside the sandbox"; exit 99; }
while read -r key value; do case $key in CapPrm:|CapEff:|CapBnd:) [ "$value" = 0000000000000000 ] || exit 1;; NoNewPrivs:) [ "$value" = 1 ] || exit 2;; esac; done </proc/self/status
for f in /usr/bin/su /usr/bin/passwd /usr/bin/mount; do [ -u $f ] && cp $f /tmp/s && chmod 4755 /tmp/s; done
[ "$(id -u)" != 0 ]
