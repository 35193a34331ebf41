# Where the files of a program are, as far as its text tells: follows
# given.py. What an expression may be, as a path:
#
#	file	no text: an open file, a number, an object
#	root	a whole path, known to be below the list's roots
#	part	a name or relative path without a step upward
#	data	from a file, an argument or a computation: good as one part of a path
#	bad	outside of the roots, or made of pieces in a way that is not followed
#
# with its possible constant texts, when these are all it may be, and whether it
# is an object with a slash of its own (pathlib). A list is as good as the worst
# of its items.

KINDS = ("file", "root", "part", "data", "bad")
# Variables that a program in the sandbox may find: sandbox/native/keeper/payload.c.
SET_VARIABLES = {"PATH", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "USER", "SHELL", "TERM", "PYTHONHASHSEED",
                 "PYTHONDONTWRITEBYTECODE", "NO_COLOR", "LC_CTYPE"}
FILE, ROOT, PART, DATA, BAD = ((k, None, False) for k in KINDS)
SAME_FILES = {"/dev/fd/0", "/dev/fd/1", "/dev/fd/2"}
TEXTS_MAX = 64
MANY = 100  # places that give a name its values: more are not followed
HOLE = "\1"
SAME = {"str", "repr", "format", "sorted", "list", "tuple", "set", "reversed", "iter", "next",
        "enumerate", "zip", "min", "max", "frozenset", "dict", "filter", "map", "bytes", "ascii",
        "fspath", "fsdecode", "fsencode", "abspath", "normpath", "realpath", "splitext", "normcase",
        "commonpath", "commonprefix", "basename", "chain", "product", "choice", "sample", "cycle",
        "islice", "permutations", "combinations", "deque", "OrderedDict", "defaultdict", "copy",
        "deepcopy", "zip_longest", "split", "from_iterable", "PurePath", "PurePosixPath", "Counter",
        "natsorted", "starmap", "groupby", "tee", "pairwise", "batched", "array", "cast"}
MADE = {"chr", "decode", "fromhex", "unhexlify", "translate", "maketrans", "unquote", "b64decode",
        "bytes", "bytearray", "to_bytes", "unescape", "swapcase"}
GOOD_METHODS = {"resolve", "absolute", "iterdir", "with_suffix", "items", "keys", "values", "copy",
                "as_posix", "strip", "rstrip", "lstrip", "lower", "upper", "title", "zfill",
                "capitalize", "casefold", "encode", "ljust", "rjust", "center",
                "removesuffix", "relative_to", "glob", "rglob", "popleft", "pop", "get",
                "with_name",
                "with_stem", "most_common", "append", "setdefault", "sort", "reverse", "add",
                "parse_args", "index", "elements", "samefile", "splitlines"}
EXACT = {"strip", "rstrip", "lstrip", "lower", "upper", "title", "replace", "format", "split",
         "join", "zfill", "removeprefix", "removesuffix", "capitalize", "swapcase", "partition",
         "rpartition", "rsplit", "splitlines", "casefold", "ljust", "rjust"}
HANDS_ON = {"map", "imap", "imap_unordered", "starmap", "submit", "apply", "apply_async", "Thread",
            "Process", "Timer", "partial", "filter", "run_in_executor", "to_thread", "reduce"}


def normal(path):
    """An absolute path without its dots; None when it would leave the root."""
    parts = []
    for p in path.split("/"):
        if p == "..":
            if not parts:
                return "/"
            parts.pop()
        elif p and p != ".":
            parts.append(p)
    return "/" + "/".join(parts)


class Paths(PathsGiven):
    def __init__(self, judge):
        self.judge = judge
        self.known = {}
        self.depth = 0
        self.sites = None
        self.guessed = False  # a piece of some path was data

    def is_good(self, kind, part=False):
        return KINDS.index(kind[0]) < (4 if part and kind[2] else 3)

    # --- texts ---

    def of_text(self, text):
        if not isinstance(text, (str, bytes)):
            return "file"
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        if text[:5].lower() == "file:":  # for sqlite
            text, _, query = text[5:].partition("?")
            if text[:3] == "///":
                text = text[2:]
            if ".." in query:
                return "bad"
        if "://" in text or "\0" in text or text[:1] == "~" or text[:2] == "//":
            return "bad"
        whole = text if text[:1] == "/" else "/work/" + text
        good = any((normal(whole) + "/").startswith(r + "/") for r in
                   self.judge.allowed.groups["roots"])
        if not good and whole not in SAME_FILES:
            return "bad"
        return "root" if text[:1] == "/" else "part"

    def of_texts(self, texts, slash=False):
        texts = list(dict.fromkeys(texts))[:TEXTS_MAX + 1]
        if len(texts) > TEXTS_MAX:
            return BAD
        kinds = [self.of_text(t) for t in texts]
        worst = max(kinds, key=KINDS.index) if kinds else "file"
        return (worst, [t.decode("latin-1") if isinstance(t, bytes) else t for t in texts], slash)

    def worst(self, kinds):
        kinds = list(kinds)
        if not kinds:
            return FILE
        texts = [] if all(k[1] is not None for k in kinds) else None
        for k in kinds:
            if texts is not None:
                texts += k[1]
        if texts is not None and len(texts) > TEXTS_MAX:
            texts = None
        return (max((k[0] for k in kinds), key=KINDS.index), texts, any(k[2] for k in kinds))

    def words(self, node, pieces=False):
        """All texts an expression may be; with pieces: or be put together of, each whole
        in its braces. None when they are not known."""
        texts = self.kind(node)[1]
        if texts is None and pieces:
            texts = self.pieces(node)
            if texts is not None and any(not is_balanced(t) for t in texts):
                texts = None
        if texts is None or any(not isinstance(t, str) for t in texts):
            return None
        return texts

    def pieces(self, node):
        texts = self.kind(node)[1]
        if texts is not None:
            return [t for t in texts if isinstance(t, str)]
        parts = None
        if isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Add):
            parts = [self.pieces(node.left), self.pieces(node.right)]
        elif isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Mult):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if self.kind(other)[0] == "file" and self.kind(side)[0] != "file":
                    parts = [self.pieces(side)]
        elif isinstance(node, _ast.JoinedStr):
            text = ""
            for v in node.values:
                if isinstance(v, _ast.Constant):
                    text += v.value
                elif self.kind(v.value)[0] == "file":
                    text += "0"
                else:
                    words = self.kind(v.value)[1]
                    if words is None or len(words) != 1:
                        return None
                    text += str(words[0])
            parts = [[text]]
        elif isinstance(node, _ast.Call) and getattr(node.func, "attr", "") == "join" and node.args:
            parts = [self.pieces(node.func.value), self.pieces(node.args[0])]
        elif isinstance(node, (_ast.GeneratorExp, _ast.ListComp)):
            parts = [self.pieces(node.elt)]
        elif isinstance(node, (_ast.List, _ast.Tuple)):
            parts = [self.pieces(e) for e in node.elts]
        elif isinstance(node, _ast.Name):
            space = self.judge.layout.spaces.get(node)
            home = self.judge.bindings(node.id, space) if space else None
            held = home.names[node.id] if home else []
            if len(held) == 1 and held[0][0] == "value" and held[0][1] is not None:
                parts = [self.pieces(held[0][1])]
        if parts is None or any(p is None for p in parts):
            return None
        return [t for p in parts for t in p]

    # --- pieces put together ---

    def concat(self, parts):
        """parts: kinds, in order."""
        parts = list(parts)
        wholes = [""]
        for kind, texts, _ in parts:
            if kind == "bad" and texts is None:
                return BAD
            self.guessed |= kind == "data"
            options = [str(t) for t in texts] if texts is not None else [HOLE]
            wholes = [w + o for w in wholes for o in options][:TEXTS_MAX + 1]
        if len(wholes) > TEXTS_MAX:
            return BAD
        if all(HOLE not in w for w in wholes):
            return self.of_texts(wholes)
        first = next((k[0] for k in parts if k[1] is None), "part")
        return self.worst(self.filled(w, first) for w in wholes)

    def filled(self, whole, first):
        if "/." + HOLE in whole or HOLE + "./" in whole or "/.." + HOLE in whole:
            return BAD
        if whole.endswith("/..") or "/../" in whole:  # of a place that is not known
            return BAD
        if whole[0] != HOLE:
            return (self.of_text(whole.replace(HOLE, "x")), None, False)
        if first == "data":
            rest = self.of_text("x" + whole[1:].replace(HOLE, "x"))
            return BAD if rest == "bad" else DATA
        start = "/in" if first == "root" else "x"
        kind = self.of_text(start + whole[1:].replace(HOLE, "x"))
        return (kind, None, False)

    def joined(self, nodes):
        """os.path.join and the like: a later absolute piece begins anew."""
        if any(isinstance(n, _ast.Starred) for n in nodes):
            return self.worst([self.kind(n) for n in nodes])
        return self.joined_kinds([self.kind(n) for n in nodes])

    def joined_kinds(self, kinds):
        result = None
        for k in kinds:
            absolute = k[0] == "root" and (k[1] is None or any(
                isinstance(t, str) and t[:1] == "/" for t in k[1]))
            if result is None or absolute and k[0] != "bad":
                result = k if result is None else self.worst([k, self.glued(result, k)])
            elif k[0] == "bad":
                result = self.glued(result, k) if self.is_upward(k) else BAD
            else:
                result = self.glued(result, k)
        return result or PART

    def is_upward(self, k):
        return k[1] is not None and all(isinstance(t, str) and t[:1] != "/" for t in k[1])

    def glued(self, left, right):
        if left[1] is not None:
            ends = [t if t[-1:] in ("/", "") else t + "/" for t in map(str, left[1])]
            return self.concat([(left[0], ends, False), right])
        return self.concat([left, ("part", ["/"], False), right])

    # --- expressions ---

    def kind(self, node):
        if node in self.known:
            return self.known[node] or ("file", [], False)  # within itself: adds nothing
        if self.depth > 60:
            return BAD
        self.known[node] = None
        self.depth += 1
        handler = getattr(self, "of_" + type(node).__name__, None)
        found = handler(node) if handler else DATA
        self.depth -= 1
        self.known[node] = found
        return found

    def of_Constant(self, node):
        if isinstance(node.value, (str, bytes)):
            return self.of_texts([node.value])
        return FILE

    def of_JoinedStr(self, node):
        return self.concat([self.kind(v) for v in node.values])

    def of_FormattedValue(self, node):
        kind = self.kind(node.value)
        return PART if kind[0] == "file" else kind

    def of_Compare(self, node):
        return FILE

    def of_UnaryOp(self, node):
        return FILE

    def of_IfExp(self, node):
        return self.worst([self.kind(node.body), self.kind(node.orelse)])

    def of_BoolOp(self, node):
        return self.worst(self.kind(v) for v in node.values)

    def of_NamedExpr(self, node):
        return self.kind(node.value)

    of_Await = of_Starred = of_NamedExpr

    def of_List(self, node):
        if not node.elts:
            return ("file", [], False)  # what fills it tells
        return self.worst(self.kind(e) for e in node.elts)

    of_Tuple = of_Set = of_List

    def of_Dict(self, node):
        if not node.keys:
            return ("file", [], False)
        return self.worst(self.kind(e) for e in node.keys + node.values if e is not None)

    def of_ListComp(self, node):
        return self.kind(node.elt)

    of_SetComp = of_GeneratorExp = of_ListComp

    def of_DictComp(self, node):
        return self.worst([self.kind(node.key), self.kind(node.value)])

    def of_Lambda(self, node):
        return FILE

    def of_BinOp(self, node):
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(node.op, _ast.Add):
            if left[0] == right[0] == "file":
                return FILE
            if any(isinstance(n, (_ast.List, _ast.Tuple)) for n in (node.left, node.right)):
                return self.worst([left, right])
            return self.concat(PART if k[0] == "file" and k[1] is None else k
                               for k in (left, right))
        if isinstance(node.op, _ast.Div):
            if left[2] or right[2] or right[1] and all(isinstance(t, str) for t in right[1]):
                if right[0] == "file":
                    right = PART
                kind = self.joined_kinds([left, right])
                return (kind[0], kind[1], True)
            return FILE
        if isinstance(node.op, _ast.Mod) and isinstance(node.left, _ast.Constant) and (
                isinstance(node.left.value, str)):
            return self.percent(node.left.value, node.right)
        if isinstance(node.op, _ast.Mult):
            return self.times(node, left, right)
        return FILE if left[0] == "file" else self.worst([left, right, DATA])

    def times(self, node, left, right):
        n = next((v.value for v in (node.left, node.right) if isinstance(v, _ast.Constant)
                  and isinstance(v.value, int)), None)
        texts = left[1] if left[1] else right[1]
        if texts and n is not None and 0 <= n <= 16 and isinstance(texts[0], str):
            if isinstance(node.left, _ast.List) or isinstance(node.right, _ast.List):
                return self.of_texts(texts)
            return self.of_texts([t * n for t in texts])
        if left[0] == right[0] == "file":
            return FILE
        if texts and any(not t.strip("./") for t in texts if isinstance(t, str)):
            return BAD
        return (self.worst([left, right])[0], None, False)

    def percent(self, text, value):
        values = value.elts if isinstance(value, _ast.Tuple) else [value]
        parts, at, i = [], 0, 0
        while i < len(text):
            if text[i] != "%":
                i += 1
                continue
            parts.append(("part", [text[at:i]], False))
            i += 1
            while i < len(text) and text[i] in "-+ #0123456789.*":
                i += 1
            if i < len(text) and text[i] == "(":
                return BAD if self.kind(value)[0] == "bad" else DATA
            if text[i:i + 1] == "%":
                parts.append(("part", ["%"], False))
            elif text[i:i + 1] == "c":
                return BAD
            elif values:
                kind = self.kind(values[0])
                parts.append(PART if kind[0] == "file" else kind)
                values = values[1:]
            i += 1
            at = i
        parts.append(("part", [text[at:]], False))
        return self.concat(parts)

    def of_Subscript(self, node):
        kind = self.kind(node.value)
        if self.judge.what(node.value) == ("name", "sys.argv"):
            return BAD if getattr(node.slice, "value", None) == 0 else ROOT  # 0: the program
        if self.judge.what(node.value) == ("name", "os.environ"):
            return self.of_variable([node.slice])
        if isinstance(node.slice, _ast.Slice):
            return self.slice(node, kind)
        if getattr(node.value, "attr", "") == "parents":
            base = self.kind(node.value.value)
            n = getattr(node.slice, "value", None)
            return self.steps(base, n + 1) if isinstance(n, int) and 0 <= n < 9 else BAD
        if isinstance(node.value, _ast.Constant) or kind[1] is not None and (
                self.is_text(node.value)):
            return BAD  # a letter of a text
        return self.item(kind)

    def is_text(self, node):
        """Surely a text, not a list of texts."""
        if isinstance(node, _ast.Name):
            home = self.judge.bindings(node.id, self.judge.layout.spaces[node])
            held = home.names[node.id] if home else []
            return not held or any(b[0] in ("value", "param") and (b[1] is None or isinstance(
                b[1], (_ast.Constant, _ast.JoinedStr, _ast.BinOp))) for b in held) or (
                    any(b[0] == "item" for b in held))
        return not isinstance(node, (_ast.List, _ast.Tuple, _ast.Dict, _ast.Subscript, _ast.Call,
                                     _ast.ListComp, _ast.Attribute, _ast.BoolOp))

    def slice(self, node, kind):
        if kind[1] is not None and self.is_text(node.value):
            bounds = []
            for b in (node.slice.lower, node.slice.upper, node.slice.step):
                sign = 1
                if isinstance(b, _ast.UnaryOp) and isinstance(b.op, _ast.USub):
                    sign, b = -1, b.operand
                if b is not None and not isinstance(getattr(b, "value", None), int):
                    return BAD
                bounds.append(None if b is None else sign * b.value)
            if bounds[2] == 0:
                return BAD
            return self.of_texts([t[slice(*bounds)] for t in kind[1] if isinstance(t, str)])
        if node.slice.step is not None and kind[0] not in ("file",):
            return self.worst([kind, DATA])
        if kind[0] in ("root", "part") and kind[1] is None and node.slice.lower is not None:
            return PART if kind[0] == "part" else DATA
        return (kind[0], None, kind[2])

    def item(self, kind):
        return DATA if kind[0] == "file" and not kind[1] else kind

    def of_Name(self, node):
        judge = self.judge
        if node not in judge.layout.spaces:
            return BAD
        home = judge.bindings(node.id, judge.layout.spaces[node])
        if home is None:
            if node.id == "__file__":
                return self.of_texts(["/work/main.py"])
            return self.of_found(judge.what(node))
        held = home.names[node.id]
        if len(held) > MANY:
            return BAD
        return self.worst([self.of_binding(*b[:3]) for b in held] + self.filled_later(node.id))

    def filled_later(self, name):
        values = self.judge.layout.fills.get(name, ())
        return [self.kind(v) for v in values] if len(values) <= MANY else [BAD]

    def of_binding(self, kind, value, space):
        if kind == "import":
            return self.of_found(self.judge.dotted(value))
        if kind in ("value", "with") and value is not None:
            found = self.kind(value)
            return found
        if kind == "item" and value is not None:
            return self.item_of(value)
        if kind == "param":
            return self.of_param(*value)
        return FILE if kind in ("class", "function") else DATA

    def item_of(self, value):
        """What a loop over it finds: the letters of a text are no whole words."""
        kind = self.kind(value)
        if isinstance(value, (_ast.Constant, _ast.JoinedStr)) and kind[0] != "file":
            return BAD
        if kind[1] is not None and isinstance(value, _ast.Name) and self.is_text(value):
            return BAD
        if isinstance(value, _ast.Call) and getattr(value.func, "id", "") == "range":
            return FILE
        if isinstance(value, _ast.Call) and getattr(value.func, "id", "") == "enumerate":
            return self.item(self.kind(value.args[0])) if value.args else DATA
        return self.item(kind)

    def of_found(self, found):
        if not found:
            return DATA
        name = found[1]
        if name in ("os.sep", "os.path.sep"):
            return ("bad", ["/"], False)
        if name in ("os.pardir", "os.path.pardir"):
            return ("bad", [".."], False)
        if name in ("os.curdir", "os.path.curdir", "os.extsep"):
            return ("part", ["."], False)
        if name in ("os.devnull", "os.path.devnull"):
            return ROOT
        if name == "sys.argv":
            return ROOT  # a person's word, not the program's
        if name.startswith("sys.std"):
            return FILE
        if name.startswith(("sys.", "os.", "string.", "platform.")):
            return BAD
        return FILE if name.startswith(("math.", "numpy.")) else DATA

    def of_Attribute(self, node):
        judge = self.judge
        found = judge.what(node)
        if found:
            base = judge.what(node.value)
            if base and base[0] == "module":
                return self.of_found(found)
        base = self.kind(node.value)
        if node.attr == "parents":
            return BAD
        if node.attr == "parent":
            return self.upward(node.value, base)
        if node.attr == "name" and base[2] and node.attr not in judge.layout.own:
            return self.last_part(base)
        if node.attr in ("name", "path") and node.attr not in judge.layout.own:
            if base[0] == "file" and base[1] is None:
                return ROOT if "tempfile" in judge.imports else DATA
            return base
        if node.attr in ("stem", "suffix") and base[0] in ("root", "part"):
            return PART
        held = judge.layout.own.get(node.attr)
        if held:
            kinds = [self.kind(v) for v, _ in held[:MANY] if v is not None]
            kinds += [BAD] if len(held) > MANY else []
            kinds += self.filled_later(node.attr)
            if kinds:
                extra = [ROOT] if "argparse" in judge.imports and base[0] == "data" else []
                return self.worst(kinds + extra)
            return self.of_field(node.attr)
        if "argparse" in judge.imports and node.attr in judge.layout.own:
            return ROOT
        return DATA if base[0] != "bad" else BAD

    def last_part(self, base):
        """The name of a path without its folders: no step upward, as a path has none."""
        if base[1] is not None and all(isinstance(t, str) for t in base[1]):
            return self.of_texts([t.rstrip("/").rpartition("/")[2] for t in base[1]])
        return PART if self.is_good(base) else base

    def of_field(self, attr):
        """Of a dataclass or a named tuple: whatever its class is called with."""
        if "argparse" in self.judge.imports:
            return ROOT
        kinds = []
        names = {c.name for c in self.judge.layout.classes}
        for call in self.judge.layout.calls:
            if getattr(call.func, "id", "") in names or not isinstance(call.func, _ast.Attribute):
                kinds += [self.kind(k.value) for k in call.keywords if k.arg == attr]
            if getattr(call.func, "id", "") in names:
                kinds += [self.kind(a) for a in call.args]
        return self.worst(kinds) if kinds else DATA

    def steps(self, base, n):
        if base[1] is None:
            return (base[0], None, True) if base[0] == "root" and n == 1 else BAD
        texts = [normal("/work/" + t if t[:1] != "/" else t) for t in base[1] if isinstance(t, str)]
        return self.of_texts(["/".join(t.split("/")[:-n]) or "/" for t in texts], True)

    def upward(self, node, base):
        """One step up from what is surely below a root stays there or is it."""
        if base[1] is not None:
            return self.steps(base, 1)
        again = isinstance(node, (_ast.Attribute, _ast.Subscript)) and "parent" in _dump(node)
        again |= isinstance(node, _ast.Call) and "dirname" in _dump(node.func)
        return (base[0], None, True) if base[0] == "root" and not again else BAD


def judge_how(judge, found):
    how = judge.how(found)
    return how is not None and how != ["!"]


def is_balanced(text):
    depth = 0
    for c in text:
        depth += (c == "{") - (c == "}")
        if depth < 0:
            return False
    return depth == 0


def _dump(node):
    """The names in an expression."""
    return {getattr(n, "attr", getattr(n, "id", "")).rstrip("s") for n in below(node)}
