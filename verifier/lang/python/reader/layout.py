# The list of what the profile `strict` allows, and the layout of a program: which
# scope each expression belongs to and what is bound where, as the language has
# it. Follows ast.py in the same run; allow.py asks both. ALLOWED is
# the text of verifier/lang/python/python.allow.


class Allowed:
    """The list: groups of words, each word with what is said of its call."""

    def __init__(self, text):
        self.groups = {}
        self.starts = {}
        self.modules = {}
        into = None
        for line in text.split("\n"):
            if line[:1] == "\t":
                for word in line.split():
                    self.add(into, word)
            elif line and line[0] != "#":
                into = line
                self.groups.setdefault(into, {})
        for name in self.groups:
            if name.startswith("module "):
                self.modules[name[7:]] = name
        self.prefixes = {m.rsplit(".", i)[0] for m in self.modules for i in range(m.count(".") + 1)}

    def add(self, into, word):
        name, _, how = word.partition("(")
        if name.endswith("*"):
            self.starts.setdefault(into, []).append(name[:-1])
        self.groups[into][name] = how[:-1].split(",") if how else None

    def has(self, group, name):
        if name in self.groups.get(group, ()):
            return True
        return not name.startswith("_") and any(name.startswith(s)
                                                for s in self.starts.get(group, ()))

    def how(self, group, name):
        return self.groups.get(group, {}).get(name)


class Space:
    """A scope, and what its names may be bound to: (kind, node, space, line, sure)."""

    def __init__(self, kind, parent, node=None):
        self.kind = kind
        self.parent = parent
        self.node = node
        self.names = {}
        self.outer = {}

    def home(self, name):
        if name in self.outer and self.parent:
            at = self.parent
            while at.parent and (self.outer[name] or at.kind == "class" or name not in at.names):
                at = at.parent
            return at
        return self

    def bind(self, name, kind, node, space, line=0, sure=False):
        held = self.home(name).names.setdefault(name, [])
        held.append((kind, node, space, line, sure and self.home(name) is self))


FILLS = {"append", "appendleft", "add", "extend", "insert", "put", "update", "setdefault"}
DEFS = (_ast.FunctionDef, _ast.AsyncFunctionDef)


class Layout:
    """First pass: which scope each expression belongs to, exactly as the
    language has it, and what is bound where."""

    def __init__(self, tree):
        self.top = Space("module", None)
        self.spaces = {}
        self.parents = {}
        self.notes = set()  # nodes of annotations
        self.functions = {}  # name -> definitions, of any scope
        self.classes = {}  # node -> its space
        self.own = {}  # attribute -> what is stored there: (node or None, space)
        self.fills = {}  # name -> what lists of that name are given later
        self.calls = []
        self.returns = {}  # function -> returned expressions
        self.picks = {}  # (name, what is looped over) -> its place in each item
        self.loose = False  # objects whose attributes are made at run time
        self.work = [(tree, self.top, None, True)]
        while self.work:
            self.place(*self.work.pop())

    def later(self, nodes, space, parent, sure=False):
        for n in reversed([n for n in nodes if isinstance(n, _ast.AST)]):
            self.work.append((n, space, parent, sure))

    def annotation(self, node, space, parent):
        if node is not None:
            self.notes.update(below(node))
            self.later([node], space, parent)

    def place(self, node, space, parent, sure):
        self.spaces[node] = space
        self.parents[node] = parent
        handler = getattr(self, "place_" + type(node).__name__, None)
        if handler:
            handler(node, space, sure)
        else:
            straight = isinstance(node, _ast.Module)
            self.later(children(node), space, node, straight)

    def arguments(self, args, space, inner, node):
        every = args.posonlyargs + args.args + args.kwonlyargs
        for a in every + [a for a in (args.vararg, args.kwarg) if a]:
            self.parents[a] = node
            self.spaces[a] = space
            self.annotation(a.annotation, space, a)
            inner.bind(a.arg, "param", (node, a), inner)
        self.later(args.defaults + args.kw_defaults, space, node)

    def place_FunctionDef(self, node, space, sure):
        inner = Space("function", space, node)
        space.bind(node.name, "function", node, space, node.end_lineno, sure)
        self.functions.setdefault(node.name, []).append(node)
        if space.kind == "class":
            self.own.setdefault(node.name, []).append((None, space))
        self.later(node.decorator_list, space, node)
        self.annotation(node.returns, space, node)
        self.arguments(node.args, space, inner, node)
        self.later(node.body, inner, node, True)

    place_AsyncFunctionDef = place_FunctionDef

    def place_Lambda(self, node, space, sure):
        inner = Space("function", space, node)
        self.arguments(node.args, space, inner, node)
        self.returns.setdefault(node, []).append((node.body, inner))
        self.later([node.body], inner, node)

    def place_ClassDef(self, node, space, sure):
        inner = Space("class", space, node)
        self.classes[node] = inner
        space.bind(node.name, "class", node, space, node.end_lineno, sure)
        if space.kind == "class":
            self.own.setdefault(node.name, []).append((None, space))
        self.later(node.decorator_list + node.bases + node.keywords, space, node)
        self.later(node.body, inner, node, True)

    def comprehension(self, node, space, sure):
        inner = Space("comprehension", space, node)
        for i, g in enumerate(node.generators):
            self.spaces[g] = inner
            self.parents[g] = node
            outer = inner if i else space
            self.target(g.target, inner, "item", g.iter, outer, 0, False)
            self.later([g.iter], outer, g)
            self.later([g.target] + g.ifs, inner, g)
        parts = [node.key, node.value] if isinstance(node, _ast.DictComp) else [node.elt]
        self.later(parts, inner, node)

    place_ListComp = place_SetComp = place_DictComp = place_GeneratorExp = comprehension

    def target(self, target, space, kind, value, where, line, sure):
        if isinstance(target, _ast.Name):
            space.bind(target.id, kind, value, where, line, sure)
            if space.kind == "class":
                self.own.setdefault(target.id, []).append((value, where))
        elif isinstance(target, (_ast.Tuple, _ast.List)):
            values = getattr(value, "elts", ()) if kind == "value" else ()
            for i, t in enumerate(target.elts):
                if len(values) == len(target.elts):
                    self.target(t, space, kind, values[i], where, line, sure)
                else:
                    self.pick(t, kind, value, i)
                    self.target(t, space, "item", value, where, line, sure)
        elif isinstance(target, _ast.Starred):
            self.target(target.value, space, "item", value, where, line, sure)
        elif isinstance(target, _ast.Attribute):
            self.own.setdefault(target.attr, []).append((value, where))
        elif isinstance(target, _ast.Subscript):
            self.fill(target.value, value)

    def pick(self, target, kind, value, i):
        """Unknown where the name is given two places of one thing, or of what is no loop's."""
        if isinstance(target, _ast.Name):
            key = (target.id, value)
            known = kind == "item" and self.picks.get(key, i) == i
            self.picks[key] = i if known else None

    def fill(self, node, value):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name and value is not None:
            self.fills.setdefault(name, []).append(value)

    def place_Assign(self, node, space, sure):
        for t in node.targets:
            self.target(t, space, "value", node.value, space, node.end_lineno, sure)
        self.later([node.value] + node.targets, space, node)

    def place_AnnAssign(self, node, space, sure):
        if node.value is not None:
            self.target(node.target, space, "value", node.value, space, node.end_lineno, sure)
        elif space.kind == "class" and isinstance(node.target, _ast.Name):
            self.own.setdefault(node.target.id, [])
        elif isinstance(node.target, _ast.Attribute):
            self.own.setdefault(node.target.attr, [])
        elif space.kind == "function" and isinstance(node.target, _ast.Name):
            space.bind(node.target.id, "value", None, space)
        self.annotation(node.annotation, space, node)
        self.later([node.value, node.target], space, node)

    def place_AugAssign(self, node, space, sure):
        whole = _ast.BinOp(left=node.target, op=node.op, right=node.value)
        self.spaces[whole] = space
        self.target(node.target, space, "value", whole, space, node.lineno, False)
        self.later([node.target, node.value], space, node)

    def place_NamedExpr(self, node, space, sure):
        at = space
        while at.kind == "comprehension":
            at = at.parent
        self.target(node.target, at, "value", node.value, space, node.lineno, False)
        self.later([node.value, node.target], space, node)

    def place_For(self, node, space, sure):
        self.target(node.target, space, "item", node.iter, space, node.lineno, False)
        self.later([node.iter, node.target] + node.body + node.orelse, space, node)

    place_AsyncFor = place_For

    def place_withitem(self, node, space, sure):
        if node.optional_vars is not None:
            line = node.optional_vars.lineno
            self.target(node.optional_vars, space, "with", node.context_expr, space, line, False)
        self.later(children(node), space, node)

    def place_ExceptHandler(self, node, space, sure):
        if node.name:
            space.bind(node.name, "other", None, space)
        self.later(children(node), space, node)

    def place_MatchAs(self, node, space, sure):
        if node.name:
            space.bind(node.name, "other", None, space)
        self.later(children(node), space, node)

    place_MatchStar = place_MatchAs

    def place_MatchMapping(self, node, space, sure):
        if node.rest:
            space.bind(node.rest, "other", None, space)
        self.later(children(node), space, node)

    def place_Global(self, node, space, sure):
        for name in node.names:
            space.outer[name] = isinstance(node, _ast.Global)

    place_Nonlocal = place_Global

    def place_Return(self, node, space, sure):
        at = space
        while at.kind not in ("function", "module"):
            at = at.parent
        if node.value is not None and at.node is not None:
            self.returns.setdefault(at.node, []).append((node.value, space))
        self.later(children(node), space, node)

    place_Yield = place_YieldFrom = place_Return

    def place_Call(self, node, space, sure):
        self.calls.append(node)
        if getattr(node.func, "attr", "") in FILLS:
            for value in node.args:
                self.fill(node.func.value, value)
        self.later(children(node), space, node)

    def place_Import(self, node, space, sure):
        for a in node.names:
            name = a.asname or a.name.split(".")[0]
            space.bind(name, "import", a.name if a.asname else name, space, node.end_lineno, sure)

    def place_ImportFrom(self, node, space, sure):
        for a in node.names:
            whole = "%s.%s" % (node.module, a.name)
            space.bind(a.asname or a.name, "import", whole, space, node.end_lineno, sure)
