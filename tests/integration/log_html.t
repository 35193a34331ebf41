#!/bin/sh
# log export --html: one page that needs nothing else, in which nothing that a model, a program, a
# file or a server said becomes markup.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no python3 with sqlite3'

. "$here/hostile_page.sh"
run log export --html "$id" -o page.html
is "$code $(stat -c %a page.html)" '0 600' 'written to --output, readable by its owner'

cat >look.py <<'P'
import html.parser, re, sys
data = open(sys.argv[1], 'rb').read().decode('utf-8')
TAGS = set('html head meta title style body h1 h2 h3 p pre table tr th td details summary span div a i img'.split())
ATTRS = {'lang': {'html'}, 'charset': {'meta'}, 'http-equiv': {'meta'}, 'content': {'meta'}, 'name': {'meta'},
         'class': None, 'id': {'details'}, 'open': {'details'}, 'href': {'a'}, 'style': {'i'}, 'alt': {'img'}, 'src': {'img'}}
faults, opened, texts, policy, images = [], [], [], [], []
class Look(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            faults.append('element %s' % tag)
        for name, value in attrs:
            if name not in ATTRS or (ATTRS[name] and tag not in ATTRS[name]):
                faults.append('attribute %s of %s' % (name, tag))
            if value and ('ZZ' in value or 'alert' in value):
                faults.append('planted in %s: %r' % (name, value))
            if name == 'href' and not re.fullmatch(r'#e\d+', value):
                faults.append('link %r' % value)
            if name == 'src':
                images.append(value)
                if not re.fullmatch(r'data:image/(png|gif|jpeg|webp);base64,[A-Za-z0-9+/]+=*', value):
                    faults.append('image %r' % value)
        policy.extend(v for k, v in attrs if k == 'content' and dict(attrs).get('http-equiv') == 'Content-Security-Policy')
        if tag not in ('meta', 'img'):
            opened.append(tag)
    def handle_endtag(self, tag):
        if not opened or opened.pop() != tag:
            faults.append('end of %s' % tag)
    def handle_data(self, text):
        texts.append(text)
        if opened and opened[-1] in ('style', 'title') and 'ZZ' in text:
            faults.append('planted in %s' % opened[-1])
    def handle_comment(self, text):
        faults.append('comment %r' % text[:40])
    def handle_pi(self, text):
        faults.append('instruction %r' % text[:40])
    def unknown_decl(self, text):
        faults.append('declaration %r' % text[:40])
look = Look()
look.feed(data)
look.close()
if opened:
    faults.append('never closed: %r' % opened)
if policy != ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]:
    faults.append('policy %r' % policy)
if re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]', data):
    faults.append('a control character')
text = ''.join(texts)
if text.count('ZZ</script></style>') < 15:
    faults.append('planted texts are missing: %d' % text.count('ZZ</script></style>'))
for word in sys.argv[2:]:
    if word not in text:
        faults.append('nothing of %r' % word)
print('\n'.join(faults) or 'nothing wrong, %d images' % len(images))
P
shown() { # words...
	/usr/bin/python3 look.py page.html "$@"
}
is "$(shown execute verify walls no_new_privs stdout stderr judge Question Answer Timeline)" 'nothing wrong, 2 images' \
	'nothing planted is markup, and everything is there; two images are images'
unlike "$(cat page.html)" 'intact when this page was made' 'a forged run is not called intact'

run log export --html "$id"
is "$code $(printf '%s\n' "$out" | cmp - page.html 2>&1)" '0 ' 'the same to standard output'
printf 'print(1)\n' >one.py
run exec one.py
run log export --html last -o page.html
like "$(cat page.html)" 'intact when this page was made' 'an intact one is'
like "$(cat page.html)" 'print.*<span class="number">1</span>' 'code has its colours'
run log export --html last "$id"
is "$code" 2 'one run a page'
run log export last -o page.json
is "$code $(jq -r .kind page.json)" '0 exec' '--output without --html is JSON in a file'
run log export --html last -o /dev/null/page.html
is "$code" 1 'a folder that is none is an error'
run log export --html -o /nowhere/page.html
is "$code" 1 'a page that cannot be written is an error'
like "$err" '/nowhere/page.html' 'that names it'
done_testing
