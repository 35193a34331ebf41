# What the text of the tests tells without being run: where it holds assertions, which of
# them were never made, and which calls are about what the tests made of an answer of the
# program. Part of a run with tests.py.
#
# A function that asserts and is only named, as in map(self.assertTrue, items), is an
# assertion, too: what runs has it in a call of _assay_ref, which says whether it was ever
# called. What is not seen here is not counted as unmade, and nothing here decides that an
# assertion held.

# Who is given a function to find it again, not to call it.
_FINDS = set("assertIs assertIsNot assertEqual assertNotEqual assertIn assertNotIn remove index "
             "count discard unregister isinstance id print repr callable hasattr".split())


class _Sites:
    """Where the text holds assertions, and calls of its functions that hold some."""

    def __init__(self, nodes):
        self.nodes, self.above = nodes, None
        self.named, self.pending, self.stands_for, self.made = [], {}, {}, set()
        self.calls = [n for n in nodes if type(n) is _ast.Call]
        self.words = [n for n in nodes if type(n) in _WORDS]
        self.sites = [n for n in nodes if type(n) in (_ast.Assert, _ast.Call) and self.asserts(n)]
        self.names = [n for n in self.words if type(n) is _ast.Attribute and
                      n.attr[:6] == "assert" and n.attr[6:7].isupper() and self.is_named(n)]
        for n in self.names:
            self.name(n)
        functions = [n for n in nodes if type(n) in (*_FUNCTION, _ast.Assign)]
        known = {n.name for n in functions if type(n) in _FUNCTION and n.name[:4] == "test"}
        for site in self.sites + self.names:
            self.spread(site, functions, known)
        self.branches = list(self.branches_of())  # before the tree is rewritten

    def spread(self, site, functions, known):
        """Who holds an assertion asserts, and so whoever names or calls that."""
        todo = [site]
        while todo:
            site = todo.pop()
            for f in functions:
                word = self.alias(f, site) if isinstance(f, _ast.Assign) else \
                    f.name if self.is_in(site, [f]) else None
                if word is None or word in known:
                    continue
                known.add(word)
                calls = [n for n in self.calls if self.word_of(n.func) == word and
                         n not in self.sites and not self.is_in(n, [f])]
                names = [n for n in self.words if self.word_of(n) == word and
                         self.is_named(n) and not self.is_in(n, [f])]
                self.sites += calls
                for n in names:
                    self.name(n)
                todo += calls + names

    def alias(self, node, site):
        """The variable that is another name for what is only named."""
        value, target = node.value, node.targets[0]
        if isinstance(value, _ast.Call) and self.word(value) == "partial":
            value = value.args[0] if value.args else value
        is_one = len(node.targets) == 1 and isinstance(target, _ast.Name)
        return target.id if is_one and value is site else None

    # --- what is only named ---

    def parent(self, node):
        if self.above is None:
            self.above = {}
            for n in self.nodes:
                for field in _PARTS[type(n)]:
                    v = getattr(n, field, None)
                    for child in v if type(v) is list else (v,):
                        self.above[id(child)] = n
        return self.above.get(id(node))

    def is_named(self, node):
        """Neither called here, nor bound to another name, which is looked at by itself."""
        parent = self.parent(node)
        return isinstance(node.ctx, _ast.Load) and not isinstance(parent, _ast.Attribute) and \
            not (isinstance(parent, _ast.Call) and parent.func is node)

    def word_of(self, node):
        if isinstance(node, _ast.Attribute) and isinstance(node.value, _ast.Name) and \
                node.value.id in ("self", "cls"):
            return node.attr
        return node.id if isinstance(node, _ast.Name) else None

    def name(self, node):
        parent, above = self.parent(node), node
        if isinstance(parent, _ast.Call) and self.word(parent) == "partial" and \
                parent.args[:1] == [node]:
            above, parent = parent, self.parent(parent)
        if isinstance(parent, _ast.Assign) and self.alias(parent, node):
            return
        while isinstance(parent, (_ast.List, _ast.Tuple)):
            parent = self.parent(parent)
        is_found = isinstance(parent, _ast.Compare) or \
            isinstance(parent, _ast.Call) and str(self.word(parent)) in _FINDS
        self.named.append((above, is_found))

    def name_all(self, tree):
        """Puts _assay_ref around what is only named; what it is given is the same to all
        who ask for it."""
        named = {id(node): (n, node, is_found)
                 for n, (node, is_found) in enumerate(self.named)}
        for node in _nodes(tree) if named else ():
            for field in node._fields:
                v = getattr(node, field, None)
                for i, one in enumerate(v if isinstance(v, list) else [v]):
                    n, _, is_found = named.get(id(one), (-1, None, True))
                    if id(one) not in named or node.__class__ is _ast.Call and \
                            getattr(node.func, "id", "") == "_assay_ref":
                        continue
                    one = _call(one, "_assay_ref", [_constant(one, -1 if is_found else n), one])
                    if isinstance(v, list):
                        v[i] = one
                    else:
                        setattr(node, field, one)

    def ref(self, n, f):
        kind = type(f)
        if kind not in (type(_nodes), type(self.ref)) and \
                (kind.__module__, kind.__name__) != ("functools", "partial"):
            self.made.add(n)  # it is none of the tests' functions
            return f
        if n < 0:
            return self.stands_for.get(f, f)
        if f not in self.stands_for:
            self.pending[f] = []
            self.stands_for[f] = self.stand_in(f)
        self.pending[f].append(n)
        return self.stands_for[f]

    def stand_in(self, f):
        def stand_in(*args, **kwargs):
            if self.pending[f]:
                self.made.add(self.pending[f].pop(0))
            return f(*args, **kwargs)
        stand_in.__wrapped__ = f
        stand_in.__name__ = getattr(f, "__name__", "function")
        return stand_in

    # --- those in the text ---

    def called(self, node):
        return self.word_of(node.func) if isinstance(node, _ast.Call) else None

    def word(self, node):
        return getattr(node.func, "attr", None) or getattr(node.func, "id", None)

    def asserts(self, node):
        if isinstance(node, _ast.Assert):
            return not isinstance(node.test, _ast.Constant)
        word = self.called(node)
        return word is not None and isinstance(node.func, _ast.Attribute) and \
            word[:6] == "assert" and not _is_constant(node.args[:1] if len(node.args) < 2 else ())

    def is_in(self, site, nodes):
        return any((n.lineno, n.col_offset) <= (site.lineno, site.col_offset) and
                   (site.end_lineno, site.end_col_offset) <= (n.end_lineno, n.end_col_offset)
                   for n in nodes)

    def branches_of(self):
        """Both sides of every if with an else, or that leaves what comes after it."""
        for node in self.nodes:
            if type(node) not in _HAVE_BLOCKS:
                continue
            for field in _BLOCKS:
                body = getattr(node, field, None)
                for i, one in enumerate(body if isinstance(body, list) else ()):
                    if isinstance(one, _ast.If):
                        leaves = isinstance(one.body[-1], (_ast.Return, _ast.Continue))
                        yield one.body, one.orelse or (body[i + 1:] if leaves else [])
            cases = getattr(node, "cases", ())
            for case in cases:
                yield case.body, [n for other in cases if other is not case for n in other.body]

    def unmade(self, places):
        """Lines of those that none of the frames of an assertion, (line, column or None),
        was at."""
        made, left = [], []
        for site in self.sites:
            is_made = (site.lineno, site.col_offset) in places \
                if isinstance(site, _ast.Assert) else \
                any((n, None) in places for n in range(site.lineno, site.end_lineno + 1))
            (made if is_made else left).append(site)
        for n, (node, is_found) in enumerate(self.named):
            (made if n in self.made or is_found else left).append(node)
        for one, other in self.branches:
            for here, there in ((one, other), (other, one)):
                if any(self.is_in(m, there) for m in made) and \
                        not any(self.is_in(m, here) for m in made):
                    left = [n for n in left if not self.is_in(n, here)]
        return [n.lineno for n in left]


class _Answers:
    """Which arguments of a call are made of what other functions of the program said."""

    def __init__(self, nodes):
        self.nodes, self.has = nodes, {}
        self.calls = [n for n in nodes if type(n) is _ast.Call]
        self.flows = [flow for n in nodes if type(n) in _FLOW for flow in self.flows_of(n)]
        self.known, self.held, self.found = None, set(), {}

    def word(self, call):
        return getattr(call.func, "attr", None) or getattr(call.func, "id", None)

    def flows_of(self, node):
        """(names, of what they are made)"""
        if isinstance(node, _ast.Assign):
            yield [w for t in node.targets for w in self.words(t)], [node.value]
        elif isinstance(node, (_ast.AugAssign, _ast.AnnAssign, _ast.NamedExpr)):
            yield self.words(node.target), [node.value] if node.value else []
        elif isinstance(node, (_ast.For, _ast.comprehension)):
            yield self.words(node.target), [node.iter]
        elif isinstance(node, _FUNCTION):
            yield [node.name], node.body
            yield [a.arg for a in node.args.args], [
                a for c in self.calls if self.word(c) == node.name
                for a in (*c.args, *(k.value for k in c.keywords))]

    def words(self, target):
        return [n.id for n in _nodes(target) if isinstance(n, _ast.Name)]

    def words_in(self, part):
        """What it calls or asks of an object, and what it names. Rewriting adds words of
        ours alone, so that it is the same at any time."""
        if id(part) not in self.has:
            nodes = _nodes(part)
            asked = {self.word(n) for n in nodes if isinstance(n, _ast.Call)}
            asked |= {n.attr for n in nodes if isinstance(n, _ast.Attribute)}
            self.has[id(part)] = asked, {n.id for n in nodes if isinstance(n, _ast.Name)}
        return self.has[id(part)]

    def is_made(self, part):
        asked, named = self.words_in(part)
        return not self.known.isdisjoint(asked) or not self.held.isdisjoint(named)

    def know(self, others):
        self.known, self.held, before = others, set(), -1
        while before < len(self.held):
            before = len(self.held)
            for names, parts in self.flows:
                if not self.held.issuperset(names) and any(map(self.is_made, parts)):
                    self.held.update(names)

    def made(self, word, line, others):
        """Numbers of its arguments, by their place."""
        if others != self.known:
            self.know(others)
            self.found = {}
        if (word, line) not in self.found:
            self.found[word, line] = [
                i for c in self.calls
                if self.word(c) == word and c.lineno <= line <= c.end_lineno
                for i, a in enumerate(c.args) if self.is_made(a)]
        return self.found[word, line]
