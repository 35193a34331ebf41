#!/usr/bin/python3
# Guest modes of the native sandbox: Python as WebAssembly (Pyodide, from npm; numpy of the package that has it), and RestrictedPython (Debian's
# python3-restrictedpython). Programs print what they print elsewhere, what a mode refuses is said, and the
# native walls are around both.
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
sys.dont_write_bytecode = True
import corpus
import npm_clients
import tap
from tap import ok, same, write

PLACE = os.path.join(tap.TOP, "build/npm-pyodide")
MODULES = os.path.join(PLACE, "node_modules")
# All but make check-walls: of whole sets a part, and of numpy that it is there and has its files.
SOME = os.environ.get("ASSAY_TEST_SOME")
INNER = ("userns", "pidns", "netns", "mountns", "no_new_privs")


def programs():
    return [(r["task_id"], r["prompt"] + r["canonical_solution"] + "\n" + r["test"] + "\ncheck(%s)\nprint('held')\n" % r["entry_point"])
            for r in corpus.load("humaneval.jsonl")]


def many(run, given, at_once=2):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda one: (one[0], run(*one)), given))


# --- Pyodide ---

def in_pyodide(code, *args):
    return tap.assay("exec", "--sandbox", "pyodide", "--node-modules", MODULES, "--timeout", "120", "--cpu-seconds",
                     "60", "--json", "--lang", "python", *args, write("p%d.py" % abs(hash(code)), code))


def pyodide():
    try:
        npm_clients.install(os.path.join(tap.TOP, "tests/integration/pyodide"), PLACE, MODULES + "/pyodide/package.json")
    except tap.SkipAll as why:
        return tap.skip("pyodide", why)
    got = tap.assay("exec", "--sandbox", "pyodide", write("p.py", "print(1)"))
    ok(got.code == 5 and "npm install pyodide" in got.err, "pyodide: without its folder it says what to do", got)
    began = time.time()
    got = in_pyodide("import sys\nd = open('in.bin', 'rb').read()\nopen('/out/out.bin', 'wb').write(d[::-1])\n"
                     "sys.stderr.write('warned')\nprint(sys.platform, len(d), sys.argv, sys.stdin.read())\nraise SystemExit(7)\n",
                     "-f", write_bytes("in.bin"), "--stdin", write("typed", "typed"), "--out", "out").json()
    print("# pyodide: a program with its files, cold: %.1f s, %.0f MiB" % (time.time() - began, (
        got.get("metrics", {}).get("peak_memory_bytes") or 0) / (1 << 20)))
    same((got.get("outcome"), got.get("exit_code"), got.get("stdout"), got.get("stderr")),
         ("exit", 7, "emscripten 256 ['main.py'] typed\n", "warned"), "pyodide: words, input, files, exit code")
    with open(os.path.join(tap.work, "out/out.bin"), "rb") as f:
        same(f.read(), bytes(range(256))[::-1], "pyodide: a file out, byte for byte")
    ok(re.match(r"3\.\d+\.\d+$", got["environment"]["version"]) and
       got["environment"]["version"] != "%d.%d.%d" % sys.version_info[:3], "pyodide: its own Python's version is recorded",
       got["environment"])
    same([got["isolation"].get(n) for n in INNER], [True] * 5, "pyodide: the native walls are around it")
    got = tap.assay("doctor", "--sandbox", "pyodide", "--node-modules", MODULES, "--json").json()
    same([l["name"] for l in got.get("layers", [{"name": "none"}]) if l.get("required") and not l.get("ok")], [],
         "pyodide: doctor proves the walls around it")
    got = in_pyodide("import js\nfs = js.process.mainModule.require('fs')\nprint(fs.existsSync('/root'), "
                     "js.process.env.HOME)\n", ).json()
    ok("True" not in got.get("stdout", "") , "pyodide: who leaves it by js is in the native walls", got)
    got = in_pyodide("def f():\n    return 1 / 0\nf()\n").json()
    ok('File "/work/main.py", line 2, in f' in got["stderr"] and got["exit_code"] == 1 and
       got["error"]["type"] == "ZeroDivisionError", "pyodide: an error is told as Python's", got)
    got = in_pyodide("while True: pass", "--timeout", "5").json()
    same(got.get("outcome"), "timeout_wall", "pyodide: wall time")
    began = time.time()
    ran = many(lambda _, code: in_pyodide(code).json(), programs()[::164 if SOME else 55], 1)
    bad = [(t, r.get("outcome"), r.get("stderr", "")[-200:]) for t, r in ran if r.get("stdout") != "held\n"]
    same(bad, [], "pyodide: %d programs of HumanEval hold (%.1f s each)" % (len(ran), (time.time() - began) / len(ran)))
    judged_apart()
    own_packages()
    numpy()
    if not SOME:
        whole_sets()


FORGES = "class Any:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Any()"


def judged_apart():
    """A program and its tests, each in a node and in walls of its own."""
    tests = "assert add(1, 2) == 3\nassert add([1], [2]) == [1, 2]\n"
    programs_of = {"right": "def add(a, b):\n    return a + b", "forges": FORGES}
    tap.dump(os.path.join(tap.work, "s.jsonl"), [
        {"stage": "code", "id": one, "reply": "```python\n%s\n```\n" % code} for one, code in programs_of.items()])
    tap.dump(os.path.join(tap.work, "tasks.jsonl"), [{"id": one, "prompt": "add", "tests": tests} for one in programs_of])
    tap.assay("batch", "tasks.jsonl", "--script", "s.jsonl", "--sandbox", "pyodide", "--node-modules", MODULES, "--no-judge",
              "--max-attempts", "1", "--timeout", "120", "--cpu-seconds", "120", "--out", "apart.jsonl")
    with open(os.path.join(tap.work, "apart.jsonl")) as f:
        got = {r["id"]: r for r in map(json.loads, f)}
    same([(got[one]["level"], got[one]["checks"][0]["verdict"]) for one in programs_of],
         [("expected", "pass"), ("ran", "skipped")],
         "pyodide: tests pass apart from their program, and one that forges what it answers proves nothing")
    same([f["value"] for f in got["right"]["execution"]["isolation"]["facts"] if f["name"] == "guest_mode"], ["pyodide"],
         "pyodide: as the record of it says")


def own_packages():
    """A wheel that somebody put there, in the place of a package of Pyodide's list: a stand-in, of the same form."""
    folder = os.path.join(tap.work, "own/node_modules")
    shutil.copytree(os.path.join(MODULES, "pyodide"), folder + "/pyodide")
    path = folder + "/pyodide/pyodide-lock.json"
    with open(path) as f:
        lock = json.load(f)
    wheel = os.path.join(folder, "pyodide", lock["packages"]["numpy"]["file_name"])
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("numpy/__init__.py", "__version__ = 'stand-in'\ndef array(x):\n    return list(x)\n")
        z.writestr("numpy-2.dist-info/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 2\n")
        z.writestr("numpy-2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("numpy-2.dist-info/RECORD", "")
    with open(wheel, "rb") as f:
        lock["packages"]["numpy"]["sha256"] = hashlib.sha256(f.read()).hexdigest()
    with open(path, "w") as f:
        json.dump(lock, f)
    got = tap.assay("exec", "--sandbox", "pyodide", "--node-modules", folder, "--timeout", "120", "--cpu-seconds", "60", "--json",
                    write("own.py", "import numpy as np\nprint(np.array((1, 2)), np.__version__)\n")).json()
    same((got.get("stdout"), got.get("stderr")), ("[1, 2] stand-in\n", ""), "pyodide: a wheel in its folder is loaded when it is imported")
    before = got["environment"]["digest"]
    os.rename(wheel, wheel + ".not")
    got = tap.assay("exec", "--sandbox", "pyodide", "--node-modules", folder, "--timeout", "120", "--cpu-seconds", "60", "--json",
                    os.path.join(tap.work, "own.py")).json()
    ok("No module named 'numpy'" in got["stderr"] and got["environment"]["digest"] != before,
       "pyodide: without it there is none, and the record has another environment's digest", got)


NUMPY = [  # of numpy's own introduction, and what programs do
    ("import numpy as np\na = np.arange(15).reshape(3, 5)\nprint(a.shape, a.ndim, a.dtype.itemsize, a.sum(axis=0).tolist(), a.T[2].tolist())\n",
     "(3, 5) 2 4 [15, 18, 21, 24, 27] [2, 7, 12]\n"),
    ("import numpy as np\nx = np.linalg.solve(np.array([[3., 1.], [1., 2.]]), np.array([9., 8.]))\nprint(x.round(6).tolist())\n", "[2.0, 3.0]\n"),
    ("import numpy as np\nr = np.random.RandomState(7)\nprint(np.sort(r.permutation(5)).tolist(), np.histogram([1, 2, 2, 4], 3)[0].tolist(), "
     "np.allclose(np.cov([1, 2, 3]), 1))\n", "[0, 1, 2, 3, 4] [1, 2, 1] True\n"),
]


def numpy():
    """The one npm package that has numpy, and with it a Pyodide of 2021; 185 MB."""
    place = os.path.join(tap.TOP, "build/npm-pyodide-numpy")
    began = time.time()
    try:
        npm_clients.install(os.path.join(tap.TOP, "tests/integration/pyodide-numpy"), place,
                            place + "/node_modules/@pyodide/pyodide/dist/numpy.data")
    except tap.SkipAll as why:
        return tap.skip("pyodide: numpy", why)
    print("# pyodide: a package with numpy: %.1f s" % (time.time() - began))

    def run(name, *args):
        return tap.assay("exec", "--sandbox", "pyodide", "--node-modules", place + "/node_modules", "--timeout", "120",
                         "--cpu-seconds", "60", "--json", name, *args).json()
    began = time.time()
    for code, out in NUMPY[:1] if SOME else NUMPY:
        got = run(write("np.py", code))
        same((got.get("stdout"), got.get("stderr")), (out, ""), "pyodide: numpy: " + code.split("\n")[1][:50])
    print("# pyodide: numpy: %.1f s, %.0f MiB" % ((time.time() - began) / (1 if SOME else len(NUMPY)), (got["metrics"]["peak_memory_bytes"] or 0) / (1 << 20)))
    ok(re.match(r"3\.8\.", got["environment"]["version"]), "pyodide: its Python is recorded", got["environment"])
    same([got["isolation"].get(n) for n in INNER], [True] * 5, "pyodide: numpy runs in the native walls")
    got = run(write("np.py", "import numpy as np, os, sys\na = np.fromfile('/in/in.bin', 'u1')\nassert a.sum() == 32640\n"
                    "a[::-1].tofile('/out/out.bin')\nos.mkdir('/out/d')\nnp.save('/out/d/a', a)\n"
                    "sys.stderr.write('warned')\nprint(sys.argv, sys.stdin.read(), os.environ['HOME'], os.listdir('/in'))\nraise SystemExit(7)\n"),
              "-f", write_bytes("in.bin"), "--stdin", write("typed", "typed"), "--out", "np-out")
    same((got.get("exit_code"), got.get("stdout"), got.get("stderr")), (7, "['main.py'] typed /work ['in.bin']\n", "warned"),
         "pyodide: numpy: words, input, files, exit code")
    with open(os.path.join(tap.work, "np-out/out.bin"), "rb") as f:
        same(f.read(), bytes(range(256))[::-1], "pyodide: numpy: a file out, byte for byte")
    same(sorted(a["path"] for a in got["artifacts"] if a["kept"]), ["d/a.npy", "out.bin"], "pyodide: numpy: and one in a folder")
    if SOME:
        return
    got = run(write("np.py", "import pandas as pd\nd = pd.DataFrame({'k': list('aab'), 'n': [1, 2, 3]})\nprint(d.groupby('k').n.sum().to_dict())\n"), "--memory", "1G")
    same(got.get("stdout"), "{'a': 3, 'b': 3}\n", "pyodide: and so does pandas")
    got = run(write("np.py", "def f():\n    import numpy as np\n    return np.zeros(2)[5]\nf()\n"))
    ok(got["exit_code"] == 1 and got["error"]["type"] == "IndexError" and 'line 3, in f' in got["stderr"],
       "pyodide: numpy: an error is told as Python's", got)


# Whole sets, in one process each: to start a Pyodide for each program would take ten minutes.
ALL = """import contextlib, io, json
bad = []
for name, text in json.load(open('/in/%s')):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, name, 'exec'), {'__name__': '__main__'})
    except BaseException as e:
        bad.append([name, repr(e)[:200]])
print(json.dumps(bad))
"""


def whole_sets():
    mbpp = [("mbpp/%d" % r["task_id"], "\n".join([r["code"], r["test_setup_code"], *r["test_list"]]) + "\n")
            for r in corpus.load("mbpp.jsonl")]
    for name, given in (("humaneval", programs()), ("mbpp", mbpp)):
        began = time.time()
        got = in_pyodide(ALL % (name + ".json"), "-f", write(name + ".json", json.dumps(given))).json()
        try:
            bad = json.loads(got.get("stdout", ""))
        except ValueError:
            bad = [got.get("outcome"), got.get("stderr", "")[-500:]]
        same(bad, [], "pyodide: all %d programs of %s hold, on its own Python" % (len(given), name))
        print("# pyodide: %s: %d programs, %.1f s" % (name, len(given), time.time() - began))


def write_bytes(name):
    path = os.path.join(tap.work, name)
    with open(path, "wb") as f:
        f.write(bytes(range(256)))
    return path


# --- RestrictedPython ---

def restricted(code, *args):
    return tap.assay("exec", "--sandbox", "restricted", "--json", "--lang", "python", *args,
                     write("r%d.py" % abs(hash(code)), code))


ALLOWED = [  # of RestrictedPython's documentation, and what programs do
    ("def example():\n    return 'Hello World!'\nprint(example())\n", "Hello World!\n"),
    ("x: int = 3\nprint([1, 2, 3][x - 2], 'abc'[::-1], f'{x:03d}')\n", "2 cba 003\n"),
    ("import math\nfrom collections import Counter\nprint(math.floor(2.5), Counter('hello').most_common(1))\n", "2 [('l', 2)]\n"),
    ("class P:\n    y = 4\n    def twice(self, x):\n        return x * 2\nprint(P().twice(P.y))\n", "8\n"),
    ("d = {}\nd['a'] = [1]\nd['a'].append(2)\nn = 1\nn += 4\na, (b, c) = 1, (2, 3)\nprint(d, n, a + b + c, sum(x for x in d['a']))\n",
     "{'a': [1, 2]} 5 6 3\n"),
    ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e)\n", "division by zero\n"),
]
REFUSED = ["import os\nprint(os.listdir('/'))", "import sys", "import subprocess", "open('/etc/passwd')", "print(().__class__)",
           "exec('1')", "eval('1')", "import json\njson.codecs.open('x')", "'{0.__class__}'.format(1)",
           "str.format('{0.__class__}', 1)", "print(getattr(1, '__class__'))", "import dataclasses\ndataclasses.sys.exit(0)",
           "print((i for i in [1]).gi_frame)", "from collections import _sys", "import random\nrandom._os", "__import__('os')",
           "globals()", "type('X', (), {})", "print.__self__", "compile('1', '', 'eval')", "breakpoint()",
           "from random import _os as o", "'{0}'.format_map({})", "print('x', file=[])"]


def restricted_mode():
    if subprocess.run(["/usr/bin/python3", "-c", "import RestrictedPython"], stderr=subprocess.DEVNULL).returncode:
        got = tap.assay("exec", "--sandbox", "restricted", write("p.py", "print(1)"))
        ok(got.code == 6 and "python3-restrictedpython" in got.err, "restricted: without its package it says what to do", got)
        return tap.skip("restricted", "not installed: apt-get install python3-restrictedpython")
    for code, out in ALLOWED:
        got = restricted(code)
        ok(got.json().get("stdout") == out, "restricted: allowed: " + code.split("\n")[0], got)
    for code in REFUSED:
        got = restricted(code + "\nprint('got through')\n").json()
        ok(got.get("exit_code") == 1 and "got through" not in got.get("stdout", "") and
           re.search("not allowed|is not defined|invalid|takes 1 positional|only standard", got.get("stderr", "")),
           "restricted: refused: " + code.replace("\n", "; "), got)
    got = restricted("print(1)").json()
    same([got["isolation"].get(n) for n in INNER], [True] * 5, "restricted: the native walls are around it")
    same([f["value"] for f in got["isolation"]["facts"] if f["name"] == "guest_mode"], ["restricted"], "restricted: the record says so")
    question()
    began = time.time()
    ran = many(lambda _, code: restricted(code).json(), programs()[::4 if SOME else 1])
    held = [t for t, r in ran if r.get("stdout") == "held\n"]
    refused, wrong = {}, []
    for task, r in ran:
        if task in held:
            continue
        said = re.search(r"(?:not allowed in the restricted mode: Line \d+: (.*)|(\S+ is not allowed) in the restricted mode|"
                         r"NameError: (name .* is not defined))", r.get("stderr", ""))
        if not said:
            wrong.append((task, r.get("stderr", "")[-300:]))
            continue
        why = re.sub(r'^"[^"]*"', "a name", next(g for g in said.groups() if g).split(";")[0])
        refused[why] = refused.get(why, 0) + 1
    print("# restricted: HumanEval: %d of %d hold, %.1f s" % (len(held), len(ran), time.time() - began))
    for why, n in sorted(refused.items(), key=lambda one: -one[1]):
        print("# restricted: refused %d: %s" % (n, why))
    same(wrong, [], "restricted: what does not hold is refused, and says why")
    ok(len(held) > 0.73 * len(ran), "restricted: most of HumanEval holds", len(held))


def question():
    plan = {"needs_code": True, "language": "python", "approach": "compute it", "checks": [], "answer": None}
    code = "A program:\n\n```python\n%s\n```\n"
    tap.dump(os.path.join(tap.work, "s.jsonl"), [
        {"stage": "plan", "reply": json.dumps(plan)},
        {"stage": "code", "reply": code % "import os\nprint(os.getpid() * 0 + 42)"},
        {"stage": "repair", "reply": code % "import math\nprint(math.prod([6, 7]))"}])
    got = tap.assay("ask", "--script", "s.jsonl", "--json", "--careful", "--no-judge", "--sandbox", "restricted", "--role-model",
                    "answer=off", "--profile", "off", "--expect", "42", "What is six times seven?").json()
    same((got.get("status"), got.get("attempts"), got.get("level")), ("success", 2, "expected"),
         "restricted: a question, whose program was refused once and repaired")
    tap.dump(os.path.join(tap.work, "s.jsonl"), [
        {"stage": "plan", "reply": json.dumps(plan)}, {"stage": "code", "reply": code % "print(6 * 7)"}])
    got = tap.assay("ask", "--script", "s.jsonl", "--json", "--careful", "--no-judge", "--sandbox", "restricted", "--role-model",
                    "answer=off", "--expect", "42", "What is six times seven?").json()
    same((got.get("status"), got.get("level")), ("success", "expected"), "restricted: and one whose program is screened first")


def main():
    restricted_mode()
    pyodide()


tap.main(main)
