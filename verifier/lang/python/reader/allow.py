# What of a program is not on the list of what the profile `strict` allows,
# verifier/lang/python/python.allow. Follows layout.py in the same run. The idea:
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


class Judge:
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

    # --- calls ---

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
