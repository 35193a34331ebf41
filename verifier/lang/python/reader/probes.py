# Modules that a program loads by a name in a text, only to see whether they are
# there and which version: follows closed.py.

READ = {"__version__", "__name__", "VERSION", "version"}


class Probes:
    def __init__(self, judge):
        self.judge = judge
        self.calls = []  # (call, its name)

    def known(self):
        return {call for call, _ in self.calls if self.is_probe(call)}

    def refuse(self):
        """What may write files may put a module of its own where the name is looked for."""
        known = set() if self.judge.files else self.known()
        for call, name in self.calls:
            if call not in known:
                self.judge.refuse("name", name, call)

    def is_probe(self, call):
        if len(call.args) != 1 or call.keywords:
            return False
        texts = self.judge.closed.texts(call.args[0])
        modules = self.judge.allowed.groups["probed"]
        return bool(texts) and all(t in modules for t in texts) and self.is_read(call)

    def is_read(self, call):
        """Of the module no more is used than what it says of itself."""
        layout = self.judge.layout
        parent = layout.parents.get(call)
        if isinstance(parent, _ast.Assign) and len(parent.targets) == 1 and isinstance(
                parent.targets[0], _ast.Name) and layout.spaces[parent].kind != "class":
            name = parent.targets[0].id
            return all(self.is_looked_at(n) for n in layout.spaces
                       if getattr(n, "id", None) == name and isinstance(n.ctx, _ast.Load))
        return isinstance(parent, _ast.Expr) or self.is_looked_at(call)

    def is_looked_at(self, node):
        parent = self.judge.layout.parents.get(node)
        if isinstance(parent, _ast.Attribute):
            return parent.attr in READ and isinstance(parent.ctx, _ast.Load)
        if isinstance(parent, _ast.Call) and len(parent.args) > 1 and parent.args[0] is node:
            return self.judge.what(parent.func) in (("builtin", "getattr"), ("builtin", "hasattr")) and (
                getattr(parent.args[1], "value", None) in READ)
        return self.judge.is_tested(node)
