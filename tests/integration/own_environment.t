#!/bin/sh
# A Python and modules of the user's own: seen read-only, described with their packages, told to
# the model, recorded and had again by a replay; what leads out of them is explained.
. "$(dirname "$0")/lib.sh"
python=$(readlink -f /usr/bin/python3)
[ -x "$python" ] || skip_all 'no /usr/bin/python3 here'
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
library=$("$python" -c 'import os; print(os.path.dirname(os.__file__))')

package() { # folder name version: as pip leaves one
	mkdir -p "$1/$2" "$1/$2-$3.dist-info"
	echo "__version__ = '$3'" >"$1/$2/__init__.py"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$2" "$3" >"$1/$2-$3.dist-info/METADATA"
}
"$python" -m venv --without-pip venv || skip_all 'no venv here'
site=venv/lib/python$version/site-packages
package $site flour 1.0
cat >uses.py <<'EOF'
import sys, subprocess
print(sys.executable, sys.prefix)
try:
    import flour
    print('flour', flour.__version__)
except ImportError as e:
    print(e)
print(subprocess.run(['python3', '-c', 'import sys; print(sys.prefix)'], capture_output=True, text=True).stdout)
try:
    open(sys.prefix + '/pyvenv.cfg', 'a')
    print('WRITTEN')
except OSError as e:
    print(type(e).__name__)
EOF

run exec uses.py
like "$out" "No module named 'flour'" 'without it the module is not there'
for named in venv venv/ venv/bin/python "$PWD/venv/bin/python3"; do
	run exec --python "$named" --json uses.py
	is "$code $(field .stdout | tr '\n' ' ')" \
		'0 /env/python/bin/python /env/python flour 1.0 /env/python  OSError  ' "--python $named"
done
is "$(field '.environment.packages')" 'flour 1.0' 'the record has its packages'
is "$(field '.environment.from, .environment.version')" "$PWD/venv/bin/python3
$("$python" -c 'import platform; print(platform.python_version())')" 'the record names it'
run exec --python "$python" uses.py
like "$out" "^$python " 'an interpreter of the system is that'

# --- an installation that is not the system's, and a virtual environment of that ---

mkdir -p home/opt/bin home/opt/lib
cp "$python" home/opt/bin/python$version
ln -s python$version home/opt/bin/python3
cp -r "$library" home/opt/lib/python$version
rm -rf home/opt/lib/python$version/test
package home/opt/lib/python$version/dist-packages water 2.0
cat >where.py <<'EOF'
import sys, json
print(sys.prefix, sys.base_prefix, json.__file__)
EOF
run exec --python home/opt where.py
is "$code $out" "0 /env/python /env/python /env/python/lib/python$version/json/__init__.py" 'a folder with an interpreter in it'
cp home/opt/bin/python$version home/opt/bin/python-of-mine
echo 'import os; print(os.path.basename(os.readlink("/proc/self/exe")))' >which.py
run exec --python home/opt/bin/python-of-mine which.py
is "$code $out" '0 python-of-mine' 'the interpreter that was named, not another beside it'
home/opt/bin/python3 -m venv --without-pip other
package other/lib/python$version/site-packages flour 3.0
run exec --python other where.py
is "$code $out" "0 /env/python /env/base /env/base/lib/python$version/json/__init__.py" 'a virtual environment of that'
run exec --python other uses.py
like "$out" '^flour 3.0$' 'with its packages'
like "$out" '^/env/python/bin/python ' 'whose own interpreter starts another'
is "$(sed -n 's/^home = //p' other/pyvenv.cfg)" "$PWD/home/opt/bin" 'nothing of it was changed'

# --- told, recorded, had again ---

mkdir -p outside
echo "$PWD/outside" >$site/mine.pth
ln -s "$PWD/outside" $site/linked
run exec --python venv uses.py
like "$err" "not to be had in the sandbox: .*linked is a link to $PWD/outside, outside of the environment" 'a link out of it is explained'
like "$err" "mine.pth leads to $PWD/outside, outside of the environment" 'and what an editable install leads to'
package $site butter 4.5
cat >$site/butter-4.5.dist-info/direct_url.json <<'EOF'
{"url": "file:///home/me/butter", "dir_info": {"editable": true}}
EOF
run exec --python venv uses.py
like "$err" 'butter is an editable install of file:///home/me/butter' 'an editable install by its name'
rm -r $site/linked $site/mine.pth $site/butter*
cat >model <<M
#!/bin/sh
cat >"$work/prompt.txt"
echo '{"needs_code": false, "answer": "seen"}'
M
chmod +x model
run ask -q --model-command "$work/model" --require none --python venv 'What is there?'
like "$(cat prompt.txt)" 'Python packages beyond the standard library: .*flour 1.0' 'the model is told of its packages'
mkdir -p "$XDG_CONFIG_HOME/assay"
printf '[profile bakery]\npython = %s/venv\n' "$PWD" >"$XDG_CONFIG_HOME/assay/config.ini"
run exec --use bakery --json uses.py
like "$(field .stdout)" 'flour 1.0' 'a profile can set it'
first=$(field .run)
run replay "$first"
is "$code" 0 'a replay has it again'
digest=$("$ASSAY" log export "$first" | jq -r '.events[]|select(.stage=="execute" and .phase=="done").data.environment.digest')
rm -r $site/flour*
package $site flour 1.1
run exec --use bakery --json uses.py
[ "$(field .environment.digest)" != "$digest" ]
ok $? 'other packages are another environment'
run replay "$first"
is "$code" 8 'and a replay with it is told to differ'
echo 'import flour; print(flour.__version__)' >baked.py
run exec --context bread --python venv baked.py
run log save last -o bread.py
is "$code" 0 'a program that is saved is tried with it, too'
mv venv gone
run replay "$first"
like "$code $err" "^[1-9][0-9]* .*--python $PWD/venv: No such file" 'one that is gone is named'
mv gone venv

# --- modules ---

mkdir -p js/node_modules/lefty js/node_modules/@scope/righty
echo '{"name": "lefty", "version": "2.1.0", "main": "i.js"}' >js/node_modules/lefty/package.json
echo 'module.exports = 7' >js/node_modules/lefty/i.js
echo '{"name": "@scope/righty", "version": "0.3.0", "type": "module", "exports": "./i.js"}' >js/node_modules/@scope/righty/package.json
echo 'export default 8' >js/node_modules/@scope/righty/i.js
ln -s ../../gone js/node_modules/linked
if [ -x /usr/bin/node ]; then
	echo 'console.log(require("lefty"))' >a.js
	printf 'import x from "@scope/righty"\nimport y from "lefty"\nconsole.log(x + y)\n' >b.mjs
	run exec --node-modules js/node_modules a.js
	is "$code $out" '0 7' 'require finds a module'
	like "$err" 'linked is a link to ../../gone, outside of the folder' 'a link out of it is explained'
	run exec --lang js --node-modules js/node_modules b.mjs
	is "$code $out" '0 15' 'and so does import'
	run ask -q --model-command "$work/model" --require none --node-modules js/node_modules 'What is there?'
	like "$(cat prompt.txt)" '@scope/righty 0.3.0, lefty 2.1.0' 'the model is told of them'
else
	skip 'modules' 'no node here'
fi

# As pnpm makes it: links within, and those of a workspace out of it.
pnpm=pn/node_modules/.pnpm
mkdir -p $pnpm/lefty@1.0.0/node_modules/lefty $pnpm/dep@2.0.0/node_modules/dep pn/mine "$PWD/.hom"
echo '{"name": "lefty", "version": "1.0.0", "main": "i.js"}' >$pnpm/lefty@1.0.0/node_modules/lefty/package.json
echo 'module.exports = require("dep") + 1' >$pnpm/lefty@1.0.0/node_modules/lefty/i.js
echo '{"name": "dep", "version": "2.0.0", "main": "i.js"}' >$pnpm/dep@2.0.0/node_modules/dep/package.json
echo 'module.exports = 41' >$pnpm/dep@2.0.0/node_modules/dep/i.js
ln -s ../../dep@2.0.0/node_modules/dep $pnpm/lefty@1.0.0/node_modules/dep
ln -s .pnpm/lefty@1.0.0/node_modules/lefty pn/node_modules/lefty
ln -s ../mine pn/node_modules/mine
ln -s "$PWD/pn/node_modules" .hom/modules
if [ -x /usr/bin/node ]; then
	run exec --node-modules pn/node_modules a.js
	is "$code $out" '0 42' 'modules that are links within the folder, as pnpm makes them'
	like "$err" 'mine is a link to ../mine, outside of the folder' 'one of a workspace beside it is explained'
	run exec --node-modules .hom/modules a.js
	is "$code $out" '0 42' 'the folder by a link'
	printf '[profile js]\nnode-modules = ~/modules\n[profile none]\nnode-modules = ~/gone\n' >>"$XDG_CONFIG_HOME/assay/config.ini"
	HOME="$PWD/.hom" run exec --use js a.js
	is "$code $out" '0 42' 'a profile names what is in the home by ~'
	HOME="$PWD/.hom" run exec --use none --node-modules '' a.js
	like "$err" "Cannot find module 'lefty'" 'an empty name takes back what a profile sets'
fi
(cd pn && run exec --node-modules . ../uses.py; echo "$code $err" >../told)
like "$(cat told)" '^2 .*what has modules is its folder node_modules: name .*/node_modules' 'the folder of a project: what to name is said'

# --- what is none ---

refused() { # name pattern arguments...
	name=$1 pattern=$2
	shift 2
	run exec "$@" uses.py
	like "$code $err" "^2 assay: .*$pattern" "refused: $name"
}
refused 'what is not there' '--python .*/nowhere: No such file' --python nowhere
refused 'a folder without an interpreter' 'has no bin/python3' --python js
refused 'what is no program' 'uses.py: is no program' --python uses.py
refused 'modules that are not there' 'nowhere: No such file' --node-modules nowhere
mkdir -p homely/bin homely/.local/bin
cp /usr/bin/python3 homely/bin/python3
cp /usr/bin/python3 homely/.local/bin/python3
HOME="$PWD/homely" run exec --python homely/bin/python3 uses.py
like "$code $err" '^2 .*homely: all that is in it would be seen by the program' 'refused: the home of a person'
HOME="$PWD/homely" run exec --python homely/.local/bin/python3 uses.py
like "$code $err" '^2 .*would be seen' 'and what else is his own'
mkdir -p broken/bin && ln -s /no/such/bin/python3 broken/bin/python3 && echo 'home = /no/such/bin' >broken/pyvenv.cfg
refused 'a virtual environment whose base is gone' 'leads to /no/such/bin/python3, which is not there: make' --python broken
printf '#!/bin/sh\nexec %s "$@"\n' "$python" >shim && chmod +x shim
refused 'a script that starts one' 'shim: is a script that starts an interpreter' --python ./shim
printf '#!/bin/sh\necho no\n' >home/opt/bin/fake
chmod +x home/opt/bin/fake
mkdir -p fake/bin && cp home/opt/bin/fake fake/bin/python3
run exec --python fake uses.py
is "$code" 6 'what is no Python: the exit code'
like "$err" 'fake: .* runs in the sandbox, but not as python does' 'what is no Python runs nothing'
done_testing
