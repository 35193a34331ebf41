# The calls of a program, against what verifier/lang/python/python.allow says of each: its
# arguments, and those calls that are looked at one by one. Stands before allow.py in the same
# run, whose Judge it is a part of.


class Calls:
    """The calls that a Judge sees."""

    def see_Call(self, node, parent):
        found = self.what(node.func)
        how = self.how(found)
        name = found[1] if found else getattr(node.func, "attr", "")
        if not found and isinstance(node.func, _ast.Attribute) and (
                name not in self.layout.functions or name in ("query", "eval")):
            how = self.allowed.how("special" if name[:2] == "__" else "attributes", name)
        if not how:
            return self.see_made(node)
        if how == ["!"]:
            handler = getattr(self, "call_" + name.rpartition(".")[2].strip("_"), None)
            if handler:
                handler(node, name)
            return
        self.see_arguments(node, name, how, isinstance(node.func, _ast.Attribute) and not found)

    def see_made(self, node):
        """type(x)(...) may make whatever x is: a path as well."""
        made = isinstance(node.func, _ast.Call) and getattr(node.func.func, "id", "") == "type"
        made |= getattr(node.func, "attr", "") == "__class__"
        self.places += node.args if made else []
        for a in node.args if made else ():
            if self.paths.kind(a)[0] == "bad":
                self.refuse("path", "type", a)

    def see_system(self):
        """The name of a place of the system, put together or not, where files are used."""
        if not self.files:
            return
        idle = Idle(self, self.tree).constants()
        for node in list(self.layout.spaces):
            if node in idle or not isinstance(node, _ast.Constant) and all(
                    n in idle for n in below(node) if isinstance(n, _ast.Constant)):
                continue
            if not isinstance(node, (_ast.Constant, _ast.BinOp, _ast.JoinedStr, _ast.Call)):
                continue
            if isinstance(self.layout.parents.get(node), _ast.Expr):
                continue
            kind = self.paths.kind(node)
            if kind[0] == "bad" and any(is_system(t) for t in kind[1] or ()):
                self.refuse("path", "text", node)

    def call_execute(self, node, name):
        """Statements of SQL that open other files."""
        if "sqlite3" not in self.imports or name in self.layout.functions or not node.args:
            return
        parts = [n.value for n in below(node.args[0]) if isinstance(n, _ast.Constant)]
        texts = (self.paths.words(node.args[0]) or []) + [
            "".join(p for p in reversed(parts) if isinstance(p, str))]
        for text in texts:
            lines = [line for line in text.lower().split("\n") if line.lstrip()[:2] != "--"]
            words = "\n".join(lines).replace(";", " ").split()
            if opens_database(text) or "attach" in words or "vacuum" in words and "into" in words:
                self.refuse("text", name, node)

    call_executescript = call_executemany = call_execute

    def see_arguments(self, node, name, how, method):
        good = True
        self.files = True
        for k in node.keywords:
            if k.arg is None or "-" + k.arg in how:
                good = False
                self.refuse("argument", name, node)
            elif k.arg in how:
                good &= self.see_path(k.value, name, node, method)
        every = "*" in how
        for i, a in enumerate(node.args):
            if isinstance(a, _ast.Starred) and not every:
                good = False
                self.refuse("argument", name, node)
                break
            if "-%d" % i in how:
                good = False
                self.refuse("argument", name, node)
            if str(i) in how:
                good &= self.see_path(a, name, node, method)
        self.places += node.args if every else []
        if every and node.args and not self.paths.is_good(self.paths.joined(node.args)):
            good = False
            self.refuse("path", name, node)
        self.quiet[(node.lineno, node.col_offset)] = good

    def see_path(self, value, name, node, method):
        kind = self.paths.kind(value)
        self.places.append(value)
        # "read" and "load" of what is no file name have other arguments there.
        if self.paths.is_good(kind):
            return True
        if method and kind[0] == "data":
            self.paths.guessed = True
            return True
        self.refuse("path", name, node)
        return False

    def see_BinOp(self, node, parent):
        """A path put together with a slash."""
        if isinstance(node.op, _ast.Div):
            left, right = self.paths.kind(node.left), self.paths.kind(node.right)
            self.places += [node.left, node.right]
            if right[1] is not None and any(isinstance(t, str) for t in right[1]) or left[2]:
                if not self.paths.is_good(self.paths.kind(node), True):
                    self.refuse("path", "/", node)

    # --- calls that are looked at one by one ---

    def see_words(self, node, name, arg, dotted=False):
        """Names of attributes in texts that are known here; dotted: one may follow another."""
        if not dotted and self.is_prefixed(arg):
            return
        words = self.paths.words(arg)
        if words is None:
            words = self.closed.texts(arg)
        if words is None:
            words = self.places_named.texts(arg)
        if words is None:
            self.refuse("text", name, node)
        for word in words or []:
            for attr in word.split("."):
                self.see_attribute(attr, node, None)

    def is_prefixed(self, arg):
        """f"visit_{x}": no name of the interpreter's begins like one of the program's own."""
        first = arg
        if isinstance(arg, _ast.JoinedStr) and arg.values:
            first = arg.values[0]
        elif isinstance(arg, _ast.BinOp):
            first = arg.left
        elif isinstance(arg, _ast.Attribute) and arg.attr == "name":
            return "dataclasses" in self.imports and "fields" in {
                getattr(c.func, "id", getattr(c.func, "attr", "")) for c in self.layout.calls}
        elif isinstance(arg, _ast.Name):
            home = self.bindings(arg.id, self.layout.spaces[arg])
            values = home.names[arg.id] if home else []
            return bool(values) and all(b[0] == "value" and isinstance(b[1], (
                _ast.JoinedStr, _ast.BinOp)) and self.is_prefixed(b[1]) for b in values)
        text = getattr(first, "value", None)
        return isinstance(text, str) and len(text) > 2 and text[0] != "_" and any(
            name.startswith(text) for name in self.layout.own) and not any(
                name.startswith(text.split(".")[-1]) for name in self.allowed.groups["never"])

    def call_getattr(self, node, name):
        if len(node.args) < 2 or any(isinstance(a, _ast.Starred) for a in node.args):
            self.refuse("text", name, node)
        else:
            self.see_words(node, name, node.args[1])

    def call_setattr(self, node, name):
        """What an object of the program's is given at run time are columns of its own."""
        at = 1 if len(node.args) > 2 else 0
        words = self.paths.words(node.args[at]) if len(node.args) > at else None
        for word in words or []:
            if word[:2] == "__" and not self.allowed.has("settable", word):
                self.refuse("attribute", word, node)
            self.layout.own.setdefault(word, [])
        found = self.what(node.args[0]) if node.args else None
        if not node.args or isinstance(node.args[0], _ast.Starred) or found:
            self.refuse("text", name, node)

    call_delattr = call_setattr

    def call_attrgetter(self, node, name):
        for arg in node.args[:1] if name.endswith("methodcaller") else node.args:
            self.see_words(node, name, arg, not name.endswith("methodcaller"))

    call_methodcaller = call_attrgetter

    def call_add(self, node, name):
        """A set's, or an archive's, which reads a file."""
        if "tarfile" in self.imports and name not in self.layout.functions:
            for a in node.args[:1]:
                self.see_path(a, name, node, True)

    def call_type(self, node, name):
        if len(node.args) != 1 or isinstance(node.args[0], _ast.Starred) or node.keywords:
            self.refuse("argument", name, node)

    def call_vars(self, node, name):
        if len(node.args) != 1:
            self.refuse("argument", name, node)

    call_dir = call_vars

    def call_use(self, node, name):
        words = self.paths.words(node.args[0]) if node.args else None
        for word in words if words is not None else ["module:"]:
            if ":" in word:
                self.refuse("text", name, node)

    call_switch_backend = call_use

    def call_make_dataclass(self, node, name):
        self.refuse("text", name, node)

    def call_FunctionType(self, node, name):
        self.refuse("argument", name, node)

    call_LambdaType = call_MethodType = call_BuiltinFunctionType = call_FunctionType
    call_GeneratorType = call_ModuleType = call_FunctionType

    def call_StrMethodFormatter(self, node, name):
        self.see_fields(node, name, self.paths.words(node.args[0]) if node.args else None)

    def call_timeit(self, node, name):
        """A function, or a text that is read as if it stood here."""
        values = node.args[:2] + [k.value for k in node.keywords if k.arg in ("stmt", "setup")]
        for v in values:
            if self.is_function(v):
                continue
            for text in self.paths.words(v) or ["?"]:
                self.see_code(text, node, name)
        if not values or any(k.arg not in ("stmt", "setup", "number", "repeat", "globals")
                             for k in node.keywords) or len(node.args) > 2 + ("repeat" in name):
            self.refuse("argument", name, node)

    call_repeat = call_timeit

    def is_function(self, node):
        """Surely one of the program's own; a loop's variable, too, over some of them."""
        if isinstance(node, _ast.Lambda) or getattr(node, "id", "") in self.layout.functions:
            return True
        home = isinstance(node, _ast.Name) and self.bindings(node.id, self.layout.spaces[node])
        return bool(home) and all(
            kind == "item" and self.are_functions(value, self.layout.picks.get((node.id, value)))
            for kind, value, _, _, _ in home.names[node.id])

    def are_functions(self, items, pick):
        """What a loop over it finds: a list of them, or d.items() of a name's only dict."""
        if isinstance(items, (_ast.Tuple, _ast.List)):
            return all(self.is_function(e) for e in self.closed.picked(items.elts, pick))
        name = getattr(getattr(items, "func", None), "value", None)
        if pick != 1 or not isinstance(name, _ast.Name) or items.func.attr != "items":
            return False
        home = self.bindings(name.id, self.layout.spaces[name])
        held = home.names[name.id] if home and name.id not in self.layout.fills else []
        return len(held) == 1 and isinstance(held[0][1], _ast.Dict) and all(
            self.is_function(v) for v in held[0][1].values)

    def see_code(self, text, node, name):
        try:
            tree = compile(text.strip(), "text", "exec", 0x400)
        except (SyntaxError, ValueError):
            return self.refuse("text", name, node)
        tree.body = [n for n in tree.body if getattr(n, "module", "") != "__main__"]
        self.see_inner(tree, node)

    def call_main(self, node, name):
        """unittest.main runs what its arguments name."""
        for k in node.keywords:
            few = k.arg == "argv" and len(getattr(k.value, "elts", "..")) < 2
            if k.arg not in ("verbosity", "exit", "failfast", "buffer") and not few:
                self.refuse("argument", name, node)
        if node.args:
            self.refuse("argument", name, node)

    def call_testmod(self, node, name):
        """The examples of every text of the program are part of it."""
        if node.args or any(k.arg not in ("verbose", "optionflags", "report", "name")
                            for k in node.keywords):
            self.refuse("argument", name, node)
        if "__test__" in self.layout.top.names:
            self.refuse("text", name, node)
        for text in list(self.layout.spaces):
            value = getattr(text, "value", None)
            if isinstance(text, _ast.Constant) and isinstance(value, str) and ">>>" in value:
                self.see_examples(value, text, name)

    def see_examples(self, text, node, name):
        lines = [line.strip() for line in text.split("\n")]
        code, block = [], []
        for line in lines + [""]:
            if line[:3] == ">>>" or line[:3] == "..." and block:
                if line[:3] == ">>>" and block:
                    code.append("\n".join(block))
                    block = []
                block.append(line[4:])
            elif block:
                code.append("\n".join(block))
                block = []
        trees = []
        for part in code:
            try:
                trees.append(compile(part + "\n", "example", "exec", 0x400))
            except (SyntaxError, ValueError):
                continue  # fails as an example, too
        whole = _ast.Module(body=[s for t in trees for s in t.body], type_ignores=[])
        if whole.body:
            self.see_inner(whole, node)

    # --- texts with fields ---

    def see_format(self, node):
        base = self.what(node.value)
        if base and base[0] == "name":
            return
        if isinstance(node.value, _ast.Attribute) and node.value.attr == "style":
            return
        self.see_fields(node, node.attr, self.paths.words(node.value, True))

    def see_fields(self, node, name, texts):
        if texts is None:
            self.refuse("text", name, node)
        for text in texts or []:
            for attr in attributes_of(text):
                self.see_attribute(attr, node, None)

    # --- expressions of pandas ---

    def call_query(self, node, name):
        own = name in self.layout.functions
        if "pandas" not in self.imports or own and node.args and (
                self.paths.kind(node.args[0])[0] == "file"):
            return
        texts = self.paths.words(node.args[0]) if node.args else None
        for text in texts if texts is not None else ["@"]:
            if not is_plain_expression(text):
                self.refuse("text", name, node)

    call_eval = call_query


def attributes_of(text):
    """The attributes that a format's fields name: "{0.a[b].c:>{w.d}}" has a, c and d."""
    found, depth, word = [], 0, None
    for c in text + "\n":
        if word is not None and (c.isalnum() or c == "_"):
            word += c
            continue
        if word:
            found.append(word)
        word = None
        if c == "{":
            depth += 1
        elif c == "}":
            depth = max(depth - 1, 0)
        elif c == "." and depth:
            word = ""
    return [w for w in found if not w[0].isdigit() and w not in ("f", "e", "g", "d")]


def is_plain_expression(text):
    """Comparisons and sums of columns: no calls, attributes or variables of the program."""
    if "@" in text or "__" in text:
        return False
    parts = text.split("`")
    text = "x".join(parts[::2]) if len(parts) % 2 else text
    try:
        tree = compile(text.strip().replace("\n", " "), "text", "exec", 0x400)
    except (SyntaxError, ValueError):
        return False
    return not any(isinstance(n, (_ast.Call, _ast.Attribute, _ast.Lambda) + COMPREHENSIONS)
                   for n in below(tree))


SYSTEM = {"etc", "proc", "sys", "root", "home", "boot", "opt", "mnt", "media", "srv", "run", "sbin",
          "bin", "lib", "lib64", "usr", "var", "dev", "app"}


def is_system(text):
    """/etc/x, ../etc: as a whole, not as a word in a sentence."""
    if not isinstance(text, str) or " " in text.strip() or "\n" in text or len(text) > 200:
        return False
    parts = text.split("/")
    if "://" in text or len(parts) < 2:
        return False
    whole = text if parts[0] == "" else "/work/" + text if ".." in parts else "/work"
    return normal(whole).split("/")[1] in SYSTEM
