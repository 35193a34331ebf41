#!/bin/sh
# log export --html in a real browser: the page opens from a file, shows what was recorded, asks
# nobody for anything, and nothing that was planted in it runs, not even without the page's policy.
. "$(dirname "$0")/../lib.sh"
here=$(dirname "$here")
. "$here/model.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'
command -v chromium >/dev/null || skip_all 'no chromium here (apt-get install chromium)'

# Who asks for anything is in asked.txt.
cat >server.py <<'P'
import http.server
class Ask(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open('asked.txt', 'a').write(self.path + '\n')
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(('127.0.0.1', 0), Ask)
open('port.new', 'w').write(str(server.server_address[1]))
import os
os.rename('port.new', 'port')
server.serve_forever()
P
: >asked.txt
/usr/bin/python3 server.py &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until [ -e port ]; do sleep 0.1; done
from=http://127.0.0.1:$(cat port)
owned='document.documentElement.setAttribute(&quot;data-owned&quot;,1)'
script='document.documentElement.setAttribute("data-owned",1)'
evil="ZZ</script></style></title></pre></textarea>--><script>$script</script><img src=$from/img onerror='$script'>\
<link rel=stylesheet href=$from/css><iframe src=$from/frame></iframe><svg onload='$script'><style>@import url($from/style);</style>\
<meta http-equiv=refresh content='0;url=$from/refresh'><details open ontoggle='$script'>\" onload=\"$owned\" style=\"background:url($from/bg)"
. "$here/hostile_page.sh"
run log export --html "$id" -o page.html
is "$code" 0 'a page of a run whose every text is hostile'

browse() { # page option: what it prints
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
		--disable-background-networking --disable-component-update --user-data-dir="$work/profile" \
		--window-size=1100,3200 --virtual-time-budget=3000 "$2" "file://$work/$1" 2>browser.txt
}
# What a page becomes that does not escape: the browser is one in which it would be seen.
# Without what would leave it for another page before it is looked at.
printf '<!DOCTYPE html><html><body><pre>%s</pre></body></html>' "$evil" | sed 's/<meta [^>]*>//' >bare.html
browse bare.html --dump-dom >bare.dom
like "$(cat bare.dom)" '<html data-owned="1"' 'unescaped it runs in this browser'
like "$(sort -u asked.txt | xargs)" '/img' 'and asks'

: >asked.txt
browse page.html --dump-dom >page.dom
unlike "$(head -c 400 page.dom)" 'data-owned' 'nothing of it runs in the page'
is "$(cat asked.txt)" '' 'and nobody is asked'
sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' page.html >open.html
[ "$(wc -c <open.html)" -lt "$(wc -c <page.html)" ]
ok $? 'the same page without its policy'
browse open.html --dump-dom >open.dom
unlike "$(head -c 400 open.dom)" 'data-owned' 'nothing of it runs there either'
is "$(cat asked.txt)" '' 'nor asks'

# What a person sees, as text: each part of the page, and what was planted as the letters it is.
cat >seen.py <<'P'
import html.parser, sys
class Text(html.parser.HTMLParser):
    text, hidden = '', 0
    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ('style', 'script')
    def handle_endtag(self, tag):
        self.hidden -= tag in ('style', 'script')
    def handle_data(self, data):
        self.text += '' if self.hidden else data
page = Text()
page.feed(open(sys.argv[1], encoding='utf-8').read())
print(' '.join(word for word in sys.argv[2:] if word not in page.text) or 'all', page.text.count('ZZ</script></style>') > 14)
P
is "$(/usr/bin/python3 seen.py page.dom Timeline Question Answer execute verify judge stdout stderr walls no_new_privs)" 'all True' \
	'timeline, prompts, code, output, checks and walls are there'
is "$(grep -o '<img[^>]*src="data:image/[a-z]*' page.dom | wc -l)" 2 'and images'

# And as a picture: colours and shapes all over it, not an error's page.
browse page.html --screenshot="$work/page.png" >/dev/null
cat >picture.py <<'P'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
width, height, depth, kind = struct.unpack('>IIBB', data[16:26])
pixel = {2: 3, 6: 4}[kind]
body, at = b'', 8
while at < len(data):
    size, = struct.unpack('>I', data[at:at + 4])
    if data[at + 4:at + 8] == b'IDAT':
        body += data[at + 8:at + 8 + size]
    at += size + 12
raw, step, before, rows = zlib.decompress(body), width * pixel + 1, bytearray(width * pixel), []
for y in range(height):
    how, line = raw[y * step], bytearray(raw[y * step + 1:(y + 1) * step])
    for i in range(len(line)):
        left, up = line[i - pixel] if i >= pixel else 0, before[i]
        corner = before[i - pixel] if i >= pixel else 0
        if how == 4:
            p = left + up - corner
            near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
        line[i] = (line[i] + (0, left, up, (left + up) // 2, near if how == 4 else 0)[how]) & 255
    rows.append(bytes(line))
    before = line
busy = sum(len({row[i:i + pixel] for i in range(0, len(row), pixel)}) > 3 for row in rows)
colours = {row[i:i + pixel] for row in rows[::7] for i in range(0, len(row), pixel * 3)}
print(width, height, busy > height // 4, len(colours) > 30)
P
is "$(/usr/bin/python3 picture.py page.png)" '1100 3200 True True' 'a picture of it has lines of text in their colours'
[ -z "${ASSAY_KEEP_PICTURE-}" ] || cp page.png page.html "$ASSAY_KEEP_PICTURE"
done_testing
