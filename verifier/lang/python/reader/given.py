# Where the files of a program are that a call or a parameter gives: stands before paths.py in the
# same run, whose Paths it is a part of, and which says what a kind is.


class PathsGiven:
    """What calls and parameters may be, as paths."""

    def of_Call(self, node):
        judge = self.judge
        found = judge.what(node.func)
        if found:
            return self.of_library(node, found)
        if isinstance(node.func, _ast.Lambda):
            return self.kind(node.func.body)
        if isinstance(node.func, _ast.Name):
            return self.of_own(node, node.func.id)
        if isinstance(node.func, _ast.Attribute):
            if node.func.attr in judge.layout.functions:
                return self.of_own(node, node.func.attr)
            return self.of_method(node)
        return DATA

    def of_variable(self, args):
        """A variable that nobody sets in the sandbox is what the program says for that case."""
        names = self.judge.closed.texts(args[0]) if args else None
        if not names or names & (SET_VARIABLES | set(self.judge.allowed.groups["environment"])):
            return BAD
        return self.kind(args[1]) if len(args) > 1 else FILE

    def of_library(self, node, found):
        name = found[1]
        last = name.rpartition(".")[2]
        args = node.args
        if name in ("os.path.join", "pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath",
                    "pathlib.PurePosixPath"):
            kind = self.joined(args)
            return (kind[0], kind[1], "pathlib" in name)
        if name == "os.path.dirname" and args:
            kind = self.upward(args[0], self.kind(args[0]))
            return (kind[0], kind[1], False)
        if name == "os.path.basename" and args and self.kind(args[0])[1] is not None:
            return self.of_texts([t.rpartition("/")[2] for t in self.kind(args[0])[1]])
        if name in ("os.getenv", "os.environ.get"):
            return self.of_variable(args)
        if name == "os.path.basename":
            return self.last_part(self.kind(args[0]) if args else BAD)
        if name in ("os.getcwd", "pathlib.Path.cwd"):
            return self.of_texts(["/work"], name != "os.getcwd")
        if name == "tempfile.gettempdir":
            return self.of_texts(["/tmp"])
        if name.startswith("tempfile."):
            return FILE if last in ("NamedTemporaryFile", "TemporaryFile") else ROOT
        if name == "open" or last == "open":
            return FILE
        if name in ("os.listdir",):
            return PART
        if name == "os.walk":
            return PART
        if judge_how(self.judge, found) and name.startswith(("glob.", "os.")):
            return ROOT if last in ("glob", "iglob", "scandir") else FILE
        if judge_how(self.judge, found):
            return FILE
        if last in MADE and found[0] == "builtin" or name in ("bytes", "bytearray"):
            return BAD
        if name == "input":
            return DATA
        if found[0] == "builtin" and last not in SAME:
            return FILE
        if last in SAME:
            return self.same(node, args)
        if name.startswith(("io.", "csv.", "threading.", "numpy.", "math.", "time.time")):
            return FILE
        return self.computed(node)

    def same(self, node, args):
        if getattr(node.func, "id", "") == "map" and args and len(args) > 1:
            return self.mapped(args[0], args[1:])
        if getattr(node.func, "id", "") in ("filter",):
            args = args[1:]
        kinds = [self.kind(a) for a in args if not isinstance(a, _ast.Lambda)]
        kinds += [self.kind(k.value) for k in node.keywords if k.arg not in ("key", "default")]
        kind = self.worst(kinds)
        if getattr(node.func, "id", "") == "str" and kind[0] == "file":
            return PART
        if isinstance(node.func, _ast.Attribute) and node.func.attr in ("abspath", "realpath"):
            return kind if kind[0] != "part" or kind[1] is not None else ROOT
        letters = getattr(node.func, "id", "") in ("list", "tuple", "sorted", "reversed", "iter",
                                                    "set", "next", "max", "min", "enumerate", "zip")
        if letters and kind[1] is not None and any(
                isinstance(a, (_ast.Constant, _ast.JoinedStr)) for a in args):
            return BAD
        if kind[1] is not None and getattr(node.func, "attr", "") in ("choice", "sample", "cycle",
                                                                       "product", "chain"):
            if any(isinstance(a, _ast.Constant) for a in args):
                return BAD
        return kind

    def mapped(self, function, args):
        found = self.judge.what(function)
        if found and found[1] in ("int", "float", "len"):
            return FILE
        if isinstance(function, _ast.Lambda):
            return self.kind(function.body)
        if found and found[1] in ("chr",):
            return BAD
        return self.worst([self.kind(a) for a in args])

    def computed(self, node):
        """Of a computation: data; of constants alone it might be anything."""
        parts = list(node.args) + [k.value for k in node.keywords]
        kinds = [self.kind(a) for a in parts if not isinstance(a, _ast.Lambda)]
        made = kinds and all(k[1] for k in kinds)
        return BAD if made or any(k[0] == "bad" and k[1] is None for k in kinds) else DATA

    def of_own(self, node, name):
        layout = self.judge.layout
        if name not in layout.functions:
            return FILE if any(c.name == name for c in layout.classes) else DATA
        values = [v for f in layout.functions[name] for v, _ in layout.returns.get(f, ())]
        return self.worst(self.kind(v) for v in values)

    def of_method(self, node):
        method = node.func.attr
        found = self.judge.what(node.func.value)
        if found and found[0] == "builtin":
            return self.computed(node)
        base = self.kind(node.func.value)
        args = [self.kind(a) for a in node.args]
        if method == "format" and base[1] is not None:
            return self.formatted(node, base, args)
        if method == "join" and base[1] is not None and node.args:
            return self.joined_text(node, base)
        if method in EXACT and base[1] is not None and self.is_text(node.func.value):
            return self.exact(node, method, base, args)
        if method in ("joinpath",):
            kind = self.joined_kinds([base] + args)
            return (kind[0], kind[1], True)
        if method in MADE:
            return DATA if base[0] in ("data", "file") and base[1] is None and method in (
                "decode", "translate", "swapcase") and not self.is_made(node) else BAD
        if method == "replace" and base[0] in ("root", "part"):
            good = len(args) > 1 and self.is_good(args[1]) and args[1][1] is not None and all(
                t.strip("./") or not t for t in args[1][1])
            return (base[0], None, base[2]) if good else BAD
        if method == "cwd":
            return self.of_texts(["/work"], True)
        if method in ("glob", "rglob", "iterdir") and base[0] in ("root", "part"):
            return ("root", None, True) if self.is_good(self.worst(args)) else BAD
        if method in ("with_name", "with_stem") and base[1] is not None:
            kind = self.joined_kinds([self.steps(base, 1)] + args)
            return (kind[0], kind[1], True)
        if method in ("with_suffix", "with_name", "with_stem", "resolve", "absolute"):
            kind = self.worst([base] + args)
            return (base[0] if kind[0] != "bad" else "bad", None, True)
        if method in ("parse_args", "parse_known_args"):
            return DATA
        if method in GOOD_METHODS:
            return self.worst([base] + args) if base[0] != "file" else DATA
        if method in ("split", "rsplit", "partition", "rpartition", "splitlines"):
            return PART if base[0] in ("root", "part") else base if base[0] == "bad" else DATA
        if base[1] and self.is_text(node.func.value):
            return BAD
        return BAD if self.worst([base] + args)[0] == "bad" and base[0] != "file" else DATA

    def is_made(self, node):
        return any(isinstance(n, (_ast.List, _ast.Tuple)) or isinstance(n, _ast.Constant)
                   and isinstance(n.value, bytes) for n in below(node.func.value))

    def formatted(self, node, base, args):
        if not all(isinstance(t, str) for t in base[1]):
            return BAD
        found = []
        named = {k.arg: self.kind(k.value) for k in node.keywords if k.arg}
        for text in base[1]:
            parts, i, at = [], 0, 0
            while i < len(text):
                end = text.find("}", i) if text[i] == "{" else -1
                if end < 0:
                    i += 1
                    continue
                field = text[i + 1:end].split(":")[0].split("!")[0]
                parts.append(("part", [text[at:i]], False))
                kind = named.get(field)
                if kind is None:
                    n = int(field) if field.isdigit() else sum(k[1] is None for k in parts)
                    kind = args[n] if n < len(args) else DATA
                    kind = self.worst(args) if args else kind
                parts.append(PART if kind[0] == "file" else (kind[0], None, False)
                             if kind[1] is None or len(args) > 1 else kind)
                if kind[0] == "bad" and kind[1] is not None and not self.is_upward(kind):
                    return BAD
                i = at = end + 1
            parts.append(("part", [text[at:]], False))
            found.append(self.concat(parts))
        return self.worst(found)

    def joined_text(self, node, base):
        arg = node.args[0]
        sep = ("part", base[1], False)
        if isinstance(arg, (_ast.List, _ast.Tuple)) and arg.elts:
            parts = []
            for e in arg.elts:
                parts += [sep, self.kind(e)] if parts else [self.kind(e)]
            return self.concat(parts)
        kind = self.kind(arg)
        if kind[0] == "bad" or kind[1] is not None and kind[1]:
            return BAD
        return PART if kind[0] in ("file", "part") else kind

    def exact(self, node, method, base, args):
        values = []
        for a in node.args:
            value = getattr(a, "value", None)
            if isinstance(a, _ast.Name) and self.kind(a)[1] and len(self.kind(a)[1]) == 1:
                value = self.kind(a)[1][0]
            if not isinstance(value, (str, int)):
                return self.worst([base, BAD]) if args else BAD
            values.append(value)
        found = []
        for t in base[1]:
            try:
                result = getattr(t, method)(*values)
            except (TypeError, ValueError, AttributeError):
                return BAD
            found += [result] if isinstance(result, str) else list(result)
        return self.of_texts([t for t in found if len(t) < TEXT_MAX])

    # --- parameters ---

    def of_param(self, function, arg):
        """Whatever the program's own calls of that function give it."""
        if self.sites is None:
            self.find_sites()
        args = function.args
        names = [a.arg for a in args.posonlyargs + args.args]
        method = self.judge.layout.spaces[function].kind == "class" and names
        static = any(getattr(d, "id", "") == "staticmethod" for d in
                     getattr(function, "decorator_list", ()))
        if method and not static and arg.arg == names[0]:
            return FILE
        kinds = self.defaults(args, arg, names)
        at = names.index(arg.arg) - bool(method and not static) if arg.arg in names else None
        name = getattr(function, "name", None)
        if name == "__init__":
            name = self.judge.layout.spaces[function].node.name
        sites = self.sites.get(name, []) + self.sites.get(function, [])
        kinds += [BAD] if len(sites) > MANY else []
        for call, shift in sites[:MANY]:
            kinds.append(self.given(call, shift, at, arg, args))
        kinds = [k for k in kinds if k is not None]
        return self.worst(kinds) if sites and kinds else DATA

    def defaults(self, args, arg, names):
        for a, d in zip(reversed(args.posonlyargs + args.args), reversed(args.defaults)):
            if a is arg:
                return [self.kind(d)]
        for a, d in zip(args.kwonlyargs, args.kw_defaults):
            if a is arg and d is not None:
                return [self.kind(d)]
        return []

    def given(self, call, shift, at, arg, args):
        if shift == "items":  # map(f, xs): each parameter is an item of its list
            lists = call.args[1:]
            return self.item_of(lists[at]) if at is not None and at < len(lists) else (
                self.worst([self.item_of(a) for a in lists]))
        for k in call.keywords:
            if k.arg == arg.arg:
                return self.kind(k.value)
            if k.arg == "args" and shift == "thread":
                return self.kind(k.value)
        if shift == "thread":
            return self.worst([self.kind(a) for a in call.args[1:]]) if call.args[1:] else None
        if any(isinstance(a, _ast.Starred) for a in call.args) or arg in (args.vararg, args.kwarg):
            return self.worst([self.item(self.kind(a)) for a in call.args])
        if at is not None and at < len(call.args):
            return self.kind(call.args[at])
        return None

    def find_sites(self):
        self.sites = {}
        for call in self.judge.layout.calls:
            name = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
            if isinstance(call.func, _ast.Lambda):
                self.sites.setdefault(call.func, []).append((call, 0))
            if name in HANDS_ON:
                how = "items" if name in ("map", "imap", "imap_unordered", "starmap", "filter",
                                          "reduce") else "thread"
                given = call.args[:2] + [k.value for k in call.keywords
                                         if k.arg in ("target", "func")]
                for f in given:
                    key = f if isinstance(f, _ast.Lambda) else getattr(f, "id", None) or (
                        getattr(f, "attr", None))
                    if key in self.judge.layout.functions or isinstance(f, _ast.Lambda):
                        self.sites.setdefault(key, []).append((call, how))
            if name:
                self.sites.setdefault(name, []).append((call, 0))
