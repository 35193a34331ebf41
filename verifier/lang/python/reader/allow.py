# What of a program is not on the list of what the profile `strict` allows,
# verifier/lang/python/python.allow. Follows calls.py in the same run. The idea:
# a module is no value. It is only a step to one of its names, and those are
# listed; so what else a program holds are plain objects, and of these the
# attributes are listed. Facts:
#
#	refused import a.b	a module that is not on the list
#	refused name os.fork	a name of a module that is not on the list
#	refused builtin exec	a function that needs no import and is not on the list
#	refused value os.path	a module, or a function that may only be called, as a value
#	refused attribute x	an attribute that is not on the list and not the program's own
#	refused argument f	a listed function with an argument that may not be given
#	refused path open	a file that is not known to be below the list's roots
#	refused text eval	a text that is code, or names attributes, and cannot be followed
#	refused text program: x	all of it: it cannot be followed
#	beyond os.remove	a file of unknown place: os and shutil only
#	proven			nothing is refused, and every file is one of constant names

REFUSED_MAX = 400


class Judge(Calls):
    """Second pass: what each expression is, and what of it is not on the list."""

    def __init__(self, tell, allowed, tree):
        self.tell_fact = tell
        self.allowed = allowed
        self.layout = Layout(tree)
        self.tree = tree
        self.stars = []
        self.known = {}
        self.quiet = {}  # call -> True when all its files are known to be below the roots
        self.imports = set()
        self.importers = {}
        self.dels = None  # names that a statement deletes
        self.count = 0
        self.files = False  # some call has a path
        self.places = []  # the expressions that name files
        self.own = Own(tree)
        self.at = None  # the text that holds the code that is looked at
        self.paths = Paths(self)
        self.closed = Closed(self)
        self.places_named = PlaceNames(self)
        self.probes = Probes(self)

    def refuse(self, kind, what, node):
        self.count += 1
        if self.count < REFUSED_MAX:
            self.tell_fact("refused %s %s" % (kind, what), self.at or node)

    # --- names ---

    def bindings(self, name, space):
        """What a name may be bound to; None when nothing of the program's binds it."""
        at, first = space.home(name), True
        while at:
            if (first or at.kind != "class") and name in at.names:
                return at
            first, at = False, at.parent
        return None

    def surely(self, node, home):
        """A name of the module or of a class hides a builtin only from where it is bound."""
        if home.kind in ("function", "comprehension"):
            return True
        if self.deleted(node.id):
            return False
        if any(b[4] and b[3] < node.lineno for b in home.names[node.id]):
            return True
        at = node
        while at is not None:
            child, at = at, self.layout.parents.get(at)
            bound = [getattr(at, "target", None)] if isinstance(at, _ast.For) else []
            bound += [i.optional_vars for i in at.items] if isinstance(at, _ast.With) else []
            if isinstance(at, DEFS + (_ast.ClassDef,)) and at.name == node.id:
                bound = [_ast.Name(id=at.name)]
            if bound and child in at.body and any(
                    getattr(n, "id", "") == node.id for t in bound if t for n in below(t)):
                return True
        return False

    def deleted(self, name):
        if self.dels is None:
            self.dels = {n.id for n in self.layout.spaces
                         if isinstance(n, _ast.Name) and isinstance(n.ctx, _ast.Del)}
        return name in self.dels

    def what(self, node):
        """("module", "os.path"), ("name", "os.path.join"), ("builtin", "open") or None."""
        if node not in self.known:
            self.known[node] = None
            self.known[node] = self.find(node)
        return self.known[node]

    def find(self, node):
        if isinstance(node, _ast.Name):
            return self.find_name(node)
        if isinstance(node, _ast.Attribute):
            base = self.what(node.value)
            if base and base[0] == "module":
                return self.reach(base[1], node.attr)
            if base and base[0] == "name":
                return ("name", base[1] + "." + node.attr)
        return None

    def find_name(self, node):
        home = self.bindings(node.id, self.layout.spaces[node])
        if home is not None:
            imported = self.imported(home, node.id)
            if len(imported) > 1:
                self.refuse("value", node.id, node)
            if imported:
                return self.dotted(min(imported))
            if self.surely(node, home) or node.id not in BUILTINS:
                return None
            if self.allowed.has("builtins", node.id) and not self.allowed.how("builtins", node.id):
                return None
            return ("builtin", node.id)
        for m in self.stars:
            if self.allowed.has("module " + m, node.id):
                return ("name", m + "." + node.id)
        return ("builtin", node.id) if node.id in BUILTINS or node.id[:2] == "__" else None

    def imported(self, home, name):
        held = home.names[name]
        if (home, name) not in self.importers:
            self.importers[home, name] = {b[1] for b in held if b[0] == "import"}
        return self.importers[home, name]

    def dotted(self, whole):
        """What an import binds."""
        if whole in self.allowed.prefixes:
            return ("module", whole)
        module, _, name = whole.rpartition(".")
        return ("name", whole) if module else ("module", whole)

    def reach(self, module, attr):
        whole = module + "." + attr
        if whole in self.allowed.prefixes and not self.allowed.has("module " + module, attr):
            return ("module", whole)
        return ("name", whole)

    def how(self, found):
        """What the list says of a call; None when it is free."""
        if found is None:
            return None
        if found[0] == "builtin":
            return self.allowed.how("builtins", found[1])
        if found[0] == "name":
            module, _, name = found[1].rpartition(".")
            return self.allowed.how("module " + module, name)
        return None

    # --- the walk ---

    def run(self):
        # Depth first in the order of the text, so that a star is known before its names.
        for node in self.layout.spaces:
            self.note(node)
        for node in list(self.layout.spaces):
            self.see(node)
        self.see_system()
        self.probes.refuse()

    def see(self, node):
        handler = getattr(self, "see_" + type(node).__name__, None)
        if handler and hasattr(node, "lineno"):
            handler(node, self.layout.parents.get(node))

    def note(self, node):
        """What makes attributes of the program's own."""
        own = self.layout.own
        if isinstance(node, _ast.ImportFrom) and node.names[0].name == "*":
            self.stars.append(node.module)
        if isinstance(node, (_ast.Import, _ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, _ast.Import) else []
            self.imports.update(n.split(".")[0] for n in names or [node.module or ""])
            if "pandas" in self.imports:
                self.layout.loose = True
        if isinstance(node, DEFS) and node.name in ("__getattr__", "__setattr__"):
            self.layout.loose = True
        if not isinstance(node, _ast.Call):
            return
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name in ("namedtuple", "Enum", "IntEnum", "Flag", "IntFlag", "StrEnum",
                    "make_dataclass", "NamedTuple") and len(node.args) > 1:
            texts = self.paths.words(node.args[1])
            for text in texts or []:
                for word in text.replace(",", " ").split():
                    own.setdefault(word, [])
            self.layout.loose |= texts is None
        elif name == "SimpleNamespace":
            for k in node.keywords:
                own.setdefault(k.arg or "", []).append((k.value, self.layout.spaces[node]))
            self.layout.loose |= any(k.arg is None for k in node.keywords)
        elif name == "setattr" or name == "update" and getattr(
                getattr(node.func, "value", None), "attr", "") == "__dict__":
            self.layout.loose = True
        elif name == "Struct" or name == "object_hook":
            self.layout.loose = True
        elif name in ("add_argument", "add_subparsers"):
            self.note_argument(node)
        elif name == "set_defaults":
            for k in node.keywords:
                own.setdefault(k.arg or "", []).append((k.value, self.layout.spaces[node]))

    def note_argument(self, node):
        texts = [a.value for a in node.args if isinstance(getattr(a, "value", None), str)]
        default = [k.value for k in node.keywords if k.arg == "default"]
        for k in node.keywords:
            if k.arg == "dest" and isinstance(getattr(k.value, "value", None), str):
                texts.append(k.value.value)
        for text in texts:
            held = self.layout.own.setdefault(text.lstrip("-").replace("-", "_"), [])
            held += [(d, self.layout.spaces[node]) for d in default]

    # --- imports ---

    def see_Import(self, node, parent):
        if self.layout.spaces[node].kind == "class":
            self.refuse("value", node.names[0].name, node)
        for a in node.names:
            if a.name not in self.allowed.prefixes:
                self.refuse("import", a.name, node)

    def see_ImportFrom(self, node, parent):
        module = "." * node.level + (node.module or "")
        if self.layout.spaces[node].kind == "class":
            self.refuse("value", module, node)
        if module not in self.allowed.prefixes:
            self.refuse("import", module, node)
            return
        for a in node.names:
            whole = "%s.%s" % (module, a.name)
            if a.name == "*":
                if module not in self.allowed.groups["star"]:
                    self.refuse("name", whole, node)
            elif not self.allowed.has("module " + module, a.name) and (
                    whole not in self.allowed.prefixes):
                self.refuse("name", whole, node)

    # --- names and attributes ---

    def see_Name(self, node, parent):
        if not isinstance(node.ctx, _ast.Load):
            return self.see_binding(node)
        found = self.what(node)
        if found is None:
            return
        if found[0] == "builtin" and not self.allowed.has("builtins", found[1]):
            if not self.is_given_to_timeit(node, parent):
                self.refuse("builtin", found[1], node)
        else:
            self.see_value(node, found, parent)

    def is_given_to_timeit(self, node, parent):
        """timeit(..., globals=globals()), where the text is looked at with them."""
        up = self.layout.parents.get
        return node.id == "globals" and isinstance(parent, _ast.Call) and not parent.args and (
            getattr(up(parent), "arg", "") == "globals" and
            (self.what(getattr(up(up(parent)), "func", None)) or ("", ""))[1][:7] == "timeit.")

    def see_binding(self, node):
        space = self.layout.spaces[node]
        if node.id[:2] != "__" or not node.id.endswith("__"):
            return
        if not self.allowed.has("settable", node.id) and (
                space.kind != "class" or not self.allowed.has("special", node.id)):
            self.refuse("attribute", node.id, node)
        elif node.id == "__doc__" and "doctest" in self.imports:
            self.refuse("text", "doctest", node)

    def see_value(self, node, found, parent):
        """A module is a step to its names; what may only be called is called."""
        called = isinstance(parent, _ast.Call) and parent.func is node
        step = isinstance(parent, _ast.Attribute)
        if found[0] == "module":
            asked = isinstance(parent, _ast.Call) and parent.args[:1] == [node] and (
                self.what(parent.func) == ("builtin", "hasattr"))
            if not step and not asked and not isinstance(parent, (_ast.Compare, _ast.If)):
                self.refuse("value", found[1], node)
        elif found[1] == "os.environ":
            self.see_environ(node, parent)
        elif self.how(found) and not called and not self.is_type(node, parent):
            if not step or found[0] == "builtin" or parent.attr[:2] == "__":
                self.refuse("value", found[1], node)

    def is_type(self, node, parent):
        """A class that is named as a type, not used: a note, isinstance, except."""
        if node in self.layout.notes:
            return True
        while isinstance(parent, (_ast.Tuple, _ast.BinOp)):
            node, parent = parent, self.layout.parents.get(parent)
        if isinstance(parent, _ast.Call) and node in parent.args[1:]:
            return getattr(parent.func, "id", "") in ("isinstance", "issubclass")
        if isinstance(parent, _ast.keyword) and parent.arg == "type":
            return self.what(node)[1].startswith("pathlib.")  # of an argument a person gives
        if isinstance(parent, _ast.ClassDef):  # what it refuses is never a path
            return all(h[0] in "-!" for h in self.how(self.what(node)))
        return self.what(node) == ("builtin", "type") and not isinstance(parent, _ast.Assign)

    def see_environ(self, node, parent):
        """What a library reads may be set; a variable that is named may be read."""
        up = self.layout.parents.get
        asked = self.environ_key(node, parent)
        if asked is not None and self.closed.texts(asked) or self.is_for_a_process(node, parent):
            self.quiet[(node.lineno, node.col_offset)] = True
            return
        key = None
        if isinstance(parent, _ast.Subscript) and isinstance(parent.ctx, _ast.Store):
            key = parent.slice
        elif isinstance(parent, _ast.Attribute) and parent.attr == "setdefault":
            call = up(parent)
            if isinstance(up(call), _ast.Expr) and getattr(call, "args", ()):
                key = call.args[0]
        if getattr(key, "value", None) in self.allowed.groups["environment"]:
            self.quiet[(node.lineno, node.col_offset)] = True
        else:
            self.refuse("name", "os.environ", node)

    def environ_key(self, node, parent):
        """Of environ[KEY], environ.get(KEY) and KEY in environ."""
        if isinstance(parent, _ast.Subscript) and isinstance(parent.ctx, _ast.Load):
            return parent.slice
        if isinstance(parent, _ast.Compare) and isinstance(parent.ops[0], (_ast.In, _ast.NotIn)):
            return parent.left if parent.comparators == [node] else None
        call = self.layout.parents.get(parent)
        if getattr(parent, "attr", "") == "get" and isinstance(call, _ast.Call) and (
                call.func is parent and call.args):
            return call.args[0]
        return None

    def is_for_a_process(self, node, parent):
        """{**os.environ, ...} and the like, as what a process is given."""
        at = node
        while at is not None and not isinstance(at, (_ast.keyword, _ast.stmt)):
            at = self.layout.parents.get(at)
        return getattr(at, "arg", "") == "env" and isinstance(parent, (
            _ast.Dict, _ast.Call, _ast.keyword, _ast.Attribute)) and getattr(
                parent, "attr", "copy") == "copy"

    def call_getenv(self, node, name):
        if not node.args or not self.closed.texts(node.args[0]):
            self.refuse("name", name, node)

    def call_import_module(self, node, name):
        self.probes.calls.append((node, name))

    call_import = call_import_module

    def call_find_spec(self, node, name):
        """Whether a module is there: what tells it is not looked into."""
        if not node.args or not self.closed.texts(node.args[0]) or not self.is_tested(node):
            self.refuse("name", name, node)

    def call_which(self, node, name):
        """Whether a tool is there: where it is names a file of the system."""
        if len(node.args) != 1 or node.keywords or not self.is_tested(node):
            self.refuse("name", name, node)

    def is_tested(self, node):
        """Of a value only that it is there or not is asked."""
        up = self.layout.parents.get
        parent = up(node)
        if isinstance(parent, (_ast.If, _ast.While, _ast.Assert, _ast.IfExp)):
            return parent.test is node
        if isinstance(parent, _ast.UnaryOp):
            return isinstance(parent.op, _ast.Not)
        if isinstance(parent, _ast.Compare):
            return all(isinstance(o, (_ast.Is, _ast.IsNot)) for o in parent.ops)
        if isinstance(parent, _ast.comprehension):
            return node in parent.ifs
        if isinstance(parent, _ast.Call):
            return getattr(parent.func, "id", "") == "bool"
        if isinstance(parent, _ast.BoolOp):
            return self.is_tested(parent)
        if not isinstance(parent, _ast.Assign) or not isinstance(parent.targets[0], _ast.Name):
            return False
        name = parent.targets[0].id
        return len(parent.targets) == 1 and all(
            self.is_tested(n) for n in self.layout.spaces
            if getattr(n, "id", None) == name and isinstance(n.ctx, _ast.Load))

    def see_Attribute(self, node, parent):
        base = self.what(node.value)
        if base and base[0] == "module":
            self.see_module_name(node, base[1], parent)
        elif isinstance(node.ctx, _ast.Load):
            self.see_attribute(node.attr, node, parent, base is not None)
            if base and base[0] == "name" and self.how(self.what(node)):
                self.see_value(node, self.what(node), parent)
        elif node.attr[:2] == "__" == node.attr[-2:] or node.attr in self.allowed.groups["never"]:
            if not self.allowed.has("settable", node.attr):
                self.refuse("attribute", node.attr, node)
            elif node.attr == "__doc__" and "doctest" in self.imports:
                self.refuse("text", "doctest", node)
        elif base and base[0] == "name" and not self.stores(base[1] + "." + node.attr):
            self.refuse("name", base[1] + "." + node.attr, node)

    def stores(self, name):
        return any(name == s or s.endswith("*") and name.startswith(s[:-1])
                   for s in self.allowed.groups["store"]) or self.allowed.has("store", name)

    def see_module_name(self, node, module, parent):
        whole = module + "." + node.attr
        if whole in self.allowed.prefixes and not self.allowed.has("module " + module, node.attr):
            self.see_value(node, ("module", whole), parent)
        elif not isinstance(node.ctx, _ast.Load):
            if not self.stores(whole):
                self.refuse("name", whole, node)
        elif whole == "os.environ" or self.allowed.has("module " + module, node.attr):
            self.see_value(node, ("name", whole), parent)
        elif node.attr != "__version__":
            self.refuse("name", whole, node)

    def see_attribute(self, attr, node, parent, known=False):
        """known: of what a module holds, which has no columns."""
        groups = self.allowed
        if node in self.own.quiet:
            return
        if attr in groups.groups["never"]:
            self.refuse("attribute", attr, node)
        elif attr[:2] == "__" and attr.endswith("__"):
            how = groups.how("special", attr)
            if not groups.has("special", attr) and not groups.has("dunder", attr):
                self.refuse("attribute", attr, node)
            elif how and not (isinstance(parent, _ast.Call) and parent.func is node):
                self.refuse("value", attr, node)
        elif attr in self.layout.own or groups.has("attributes", attr):
            self.see_method(attr, node, parent)
        elif attr[:1] == "_" or known or not self.layout.loose:
            self.refuse("attribute", attr, node)

    def see_method(self, attr, node, parent):
        """format and the like, where they are not called at once."""
        called = isinstance(parent, _ast.Call) and parent.func is node
        if attr in ("format", "format_map"):
            own = attr in self.layout.functions and self.paths.kind(node.value)[0] == "file"
            if not own:
                self.see_format(node)
        elif not called and self.allowed.how("attributes", attr) not in (None, ["!"]) and (
                attr not in self.layout.own) and isinstance(parent, (_ast.Assign, _ast.Call)):
            self.refuse("value", attr, node)

    def see_MatchClass(self, node, parent):
        for attr in node.kwd_attrs:
            self.see_attribute(attr, node, parent)

    # --- definitions ---

    def see_FunctionDef(self, node, parent):
        name = node.name
        if self.layout.spaces[node].kind == "class" and name[:2] == "__" and name.endswith("__"):
            if not self.allowed.has("special", name):
                self.refuse("attribute", name, node)
        elif name[:2] == "__" and name.endswith("__"):
            self.refuse("attribute", name, node)

    see_AsyncFunctionDef = see_FunctionDef

    def see_Assign(self, node, parent):
        for t in node.targets:
            if getattr(t, "id", "") == "__match_args__":
                words = self.paths.words(node.value)
                for w in words if words is not None else ["?"]:
                    self.see_attribute(w, node, None)

    def see_Constant(self, node, parent):
        """A text in a note is code to some readers of notes."""
        if node in self.layout.notes and isinstance(node.value, str):
            try:
                tree = compile(node.value.strip(), "note", "eval", 0x400)
            except (SyntaxError, ValueError):
                return
            self.see_inner(tree, node)

    def see_inner(self, tree, node):
        """Code in a text, as if it stood in a function of the program."""
        layout = self.layout
        layout.work = [(tree, Space("function", layout.top), None, True)]
        while layout.work:
            layout.place(*layout.work.pop())
        nodes = list(below(tree))
        held, self.at = self.at, self.at or node
        for n in nodes:
            self.note(n)
        for n in nodes:
            self.see(n)
        self.at = held
