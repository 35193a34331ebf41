# Which constants of a program may come to which places: follows paths.py.


class Closed:
    """The texts of a set that the program writes out; None where something else may be in it."""

    def __init__(self, judge):
        self.judge = judge
        self.known = {}

    def texts(self, node, pick=None):
        """pick: of each item only the part at this place."""
        key = (node, pick)
        if key not in self.known:
            self.known[key] = set()  # within itself: adds nothing
            self.known[key] = self.find(node, pick)
        return self.known[key]

    def every(self, nodes, pick):
        found = set()
        for n in nodes:
            texts = self.texts(n, pick)
            if texts is None:
                return None
            found |= texts
        return found

    def find(self, node, pick):
        if isinstance(node, _ast.Constant):
            return {node.value} if isinstance(node.value, str) else set()
        if isinstance(node, (_ast.List, _ast.Tuple, _ast.Set)):
            return self.every(self.picked(node.elts, pick), None)
        if isinstance(node, _ast.Dict):
            return None if None in node.keys else self.every(node.keys + node.values, None)
        if isinstance(node, _ast.IfExp):
            return self.every([node.body, node.orelse], pick)
        if isinstance(node, (_ast.UnaryOp, _ast.Lambda, _ast.Compare)):
            return set()
        if isinstance(node, _ast.Subscript):
            return self.texts(node.value)
        if isinstance(node, (_ast.GeneratorExp, _ast.ListComp, _ast.SetComp)):
            return self.texts(node.elt)
        if isinstance(node, _ast.Name):
            return self.of_name(node, pick)
        if isinstance(node, _ast.Call):
            return self.of_call(node)
        return None

    def picked(self, items, pick):
        """Of rows the column: all of them, where a row is not written out."""
        rows = [i for i in items if isinstance(i, (_ast.List, _ast.Tuple))]
        if pick is None or len(rows) != len(items) or any(
                len(r.elts) <= pick or any(isinstance(e, _ast.Starred) for e in r.elts[:pick + 1])
                for r in rows):
            return items
        return [r.elts[pick] for r in rows]

    def of_name(self, node, pick):
        judge = self.judge
        space = judge.layout.spaces.get(node)
        home = judge.bindings(node.id, space) if space else None
        if home is None:
            return None
        found = self.every(judge.layout.fills.get(node.id, ()), None)
        for kind, value, where, _, _ in home.names[node.id]:
            if kind in ("class", "function"):
                texts = set()
            elif kind == "value" and value is not None:
                texts = self.texts(value, pick)
            elif kind == "item" and value is not None:
                texts = self.texts(value, judge.layout.picks.get((node.id, value)))
            elif kind == "param":
                texts = self.every_given(*value)
            else:
                texts = None
            if texts is None or found is None:
                return None
            found |= texts
        return found

    def every_given(self, function, arg):
        """What the calls of a function that is only ever called give it."""
        given = calls_of(self.judge, function, arg)
        return None if given is None else self.every(given, None)

    def of_call(self, node):
        """d.items() and the like of what is written out."""
        f = node.func
        if isinstance(f, _ast.Attribute) and f.attr in ("items", "keys", "values", "copy") and (
                not node.args):
            return self.texts(f.value)
        if isinstance(f, _ast.Name) and f.id in ("sorted", "list", "tuple", "set", "reversed") and (
                len(node.args) == 1):
            return self.texts(node.args[0])
        if isinstance(f, _ast.Name) and f.id == "next" and node.args:
            return self.every(node.args, None)
        return None


class PlaceNames:
    """Texts made of the name that __set_name__ is told: one that a class of the program gives
    a value."""

    DEPTH_MAX = 5

    def __init__(self, judge):
        self.judge = judge

    def texts(self, node):
        """None where another text may be; what is stored under them has these names."""
        words = self.made(node, 0)
        if words is None or any(word[:2] == "__" for word in words):
            return None
        for word in words:
            self.judge.layout.own.setdefault(word, [])
        return words

    def made(self, node, depth):
        if depth > self.DEPTH_MAX:
            return None
        if isinstance(node, _ast.Constant):
            return {node.value} if isinstance(node.value, str) else None
        if isinstance(node, _ast.JoinedStr):
            parts = [getattr(v, "value", v) if isinstance(v, _ast.FormattedValue) else v
                     for v in node.values]
            return self.joined(parts, depth)
        if isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Add):
            return self.joined([node.left, node.right], depth)
        values = self.values(node)
        if values is None:
            return self.in_classes() if self.is_told(node) else None
        found = [self.made(v, depth + 1) for v in values]
        return set().union(*found) if found and None not in found else None

    def joined(self, parts, depth):
        found = {""}
        for part in parts:
            texts = self.made(part, depth + 1)
            if texts is None:
                return None
            found = {a + b for a in found for b in texts}
        return found

    def bound(self, node):
        home = isinstance(node, _ast.Name) and self.judge.bindings(
            node.id, self.judge.layout.spaces[node])
        return home.names[node.id] if home else []

    def values(self, node):
        """What an attribute or a variable is given, each known; None: something else."""
        if isinstance(node, _ast.Attribute):
            held = [v for v, _ in self.judge.layout.own.get(node.attr, ())]
        else:
            held = [b[1] if b[0] == "value" else None for b in self.bound(node)]
        return held if held and None not in held else None

    def is_told(self, node):
        bound = self.bound(node)
        if [b[0] for b in bound] != ["param"]:
            return False
        function, param = bound[0][1]
        return getattr(function, "name", "") == "__set_name__" and (
            function.args.args[2:3] == [param])

    def in_classes(self):
        """The names that classes give what may be asked for its own."""
        plain = (_ast.Constant, _ast.List, _ast.Tuple, _ast.Dict, _ast.Set, _ast.Lambda)
        return {name for space in self.judge.layout.classes.values()
                for name, held in space.names.items()
                if any(b[0] == "value" and not isinstance(b[1], plain) for b in held)}


def calls_of(judge, function, arg):
    """The arguments given for one parameter; None where the function may be called unseen."""
    name = getattr(function, "name", None)
    args = function.args
    names = [a.arg for a in args.posonlyargs + args.args]
    rest = arg is args.vararg  # all that is left
    if name is None or arg.arg not in names and not rest or function.decorator_list or len(
            judge.layout.functions.get(name, ())) != 1:
        return None
    method = judge.layout.spaces[function].kind == "class"
    at = len(names) if rest else names.index(arg.arg)
    if method and at == 0:
        return None
    default = {a.arg: d for a, d in zip(reversed(args.args), reversed(args.defaults))}
    found = [default[arg.arg]] if arg.arg in default else []
    for node in judge.layout.spaces:
        if getattr(node, "id", None) != name and getattr(node, "attr", None) != name:
            continue
        if not method and isinstance(node, _ast.Attribute) and judge.what(node):
            continue  # of a library: subprocess.run beside the program's own run
        call = judge.layout.parents.get(node)
        if not isinstance(call, _ast.Call) or call.func is not node or any(
                isinstance(a, _ast.Starred) for a in call.args) or any(
                k.arg is None for k in call.keywords):
            return None
        end = None if rest else at - method + 1
        given = call.args[at - method:end] + [
            k.value for k in call.keywords if k.arg == arg.arg]
        if not given and arg.arg not in default and not rest:
            return None
        found += given
    return found


class Idle:
    """The constants that no file's name, and nothing that is refused, is made of.

    From every expression that names a file, back to all that may have come into it, by name
    and without regard to order; what comes from anywhere else may have been any of them."""

    CALLS = SAME | EXACT | GOOD_METHODS | {
        "Path", "joinpath", "join", "gettempdir", "mkdtemp", "mkstemp", "TemporaryDirectory",
        "NamedTemporaryFile", "getcwd", "exists", "is_dir", "is_file", "isfile", "isdir",
        "strftime", "now", "today", "isoformat", "len", "int", "float", "round", "range", "uuid4",
        "time", "getpid", "access", "dirname", "expanduser", "cwd", "hexdigest", "md5", "sha256",
        "sha1", "encode"} - {"cast", "array", "get", "pop", "parse_args"}

    def __init__(self, judge, tree):
        self.judge = judge
        self.tree = tree
        self.reached = set()

    def constants(self):
        """None of them where something is not followed."""
        if self.judge.count or self.has_classes() or not self.follow(list(self.judge.places)):
            return set()
        return {n for n in below(self.tree) if isinstance(n, _ast.Constant)} - self.reached

    def has_classes(self):
        """type(x) and x.__class__ may make what x is: a path as well."""
        up = self.judge.layout.parents.get
        return any((getattr(n, "attr", "") == "__class__" or isinstance(n, _ast.Call) and
                    getattr(n.func, "id", "") == "type") and not isinstance(
                        up(n), (_ast.Attribute, _ast.Compare, _ast.Expr))
                   for n in self.judge.layout.spaces)

    def given_to_values(self):
        """What is given to a function that is a value, whatever it may be."""
        layout = self.judge.layout
        owned = {c.name for c in layout.classes} | set(layout.functions)
        return [a for call in layout.calls if not isinstance(call.func, _ast.Attribute) and
                getattr(call.func, "id", None) not in owned and not self.judge.what(call.func)
                and self.is_bound(call.func) for a in call.args + [k.value for k in call.keywords]]

    def is_bound(self, node):
        space = self.judge.layout.spaces.get(node)
        return not isinstance(node, _ast.Name) or space is None or bool(
            self.judge.bindings(node.id, space))

    def follow(self, work):
        while work:
            node = work.pop()
            if node in self.reached or not isinstance(node, _ast.AST):
                continue
            self.reached.add(node)
            more = self.sources(node)
            if more is None:
                return False
            work += more
        return True

    def sources(self, node):
        if isinstance(node, _ast.Name):
            return self.of_name(node)
        if isinstance(node, _ast.Call):
            return self.of_call(node)
        if isinstance(node, _ast.Attribute):
            if self.judge.what(node):
                return []
            held = self.judge.layout.own.get(node.attr, ())
            own = [v for v, _ in held if v is not None]
            own += self.judge.layout.fills.get(node.attr, [])
            asked = self.arguments_of(node.value)
            if asked is not None:
                return own + asked
            return own + [node.value] + self.given_to_values()
        if isinstance(node, (_ast.Await, _ast.Yield, _ast.YieldFrom, _ast.Lambda)):
            return None
        return children(node)

    def arguments_of(self, node):
        """Of a name that holds what parse_args gives, and no more: what is parsed, and what
        the program's own functions make of it. The defaults are the attribute's own."""
        space = self.judge.layout.spaces.get(node)
        home = self.judge.bindings(node.id, space) if isinstance(node, _ast.Name) and space else None
        held = home.names[node.id] if home else ()
        calls = [v for kind, v, _, _, _ in held if kind == "value" and isinstance(v, _ast.Call)]
        if not held or len(calls) != len(held) or any(
                getattr(c.func, "attr", "") != "parse_args" for c in calls):
            return None
        found = [a for c in calls for a in c.args + [k.value for k in c.keywords]]
        for call in self.judge.layout.calls:
            for k in call.keywords:
                if k.arg in ("const", "type", "default", "choices"):
                    found.append(k.value)
                    found += [v for f in self.judge.layout.functions.get(
                        getattr(k.value, "id", ""), ()) for v, _ in self.judge.layout.returns.get(f, ())]
        return found

    def of_name(self, node):
        layout = self.judge.layout
        space = layout.spaces.get(node)
        home = self.judge.bindings(node.id, space) if space else None
        if home is None:
            return [] if self.judge.what(node) else None
        found = list(layout.fills.get(node.id, ()))
        for kind, value, _, _, _ in home.names[node.id]:
            if kind == "import" or kind in ("class", "function"):
                continue
            if kind == "param":
                given = self.given(*value)
                if given is None:
                    return None
                found += given
            elif value is None:
                return None
            else:
                found.append(value)
        return found

    def given(self, function, arg):
        names = [a.arg for a in function.args.args]
        if self.judge.layout.spaces[function].kind == "class" and names[:1] == [arg.arg]:
            return []
        if getattr(function, "name", "") == "__init__":
            owner = self.judge.layout.spaces[function].node.name
            calls = [c for c in self.judge.layout.calls if getattr(c.func, "id", "") == owner]
            given = [a for c in calls for a in c.args + [k.value for k in c.keywords]]
            return given + self.given_to_values() or None
        return calls_of(self.judge, function, arg)

    def of_call(self, node):
        layout = self.judge.layout
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
        parts = list(node.args) + [k.value for k in node.keywords]
        if name in layout.functions:
            return parts + [v for f in layout.functions[name] for v, _ in
                            layout.returns.get(f, ())]
        if name not in self.CALLS:
            return None
        return parts + ([node.func.value] if isinstance(node.func, _ast.Attribute) else [])
