# Reads a Python program from standard input, parses it with this interpreter's
# own parser, and prints what is in it as one line of JSON. It runs inside the
# sandbox and nothing of the program runs with it. What is allowed is not
# decided here: verifier/lang/python/python.rules has patterns for these facts.
# own.py and main.py follow it in the same run, and between them, where the whole
# of a program is judged, layout.py and what stands on it.
#
#	import a.b		a module is imported, however it is written
#	name os.system		a name of a module or a builtin is used, under any alias
#	call os.system		the same, called
#	attr __subclasses__	an attribute, or a constant key that looks like one
#	through random._os	one module reached through another
#	text __globals__	a dunder name inside a text, put together or not
#	code decoded exec	exec, eval or compile of decoded data (exec, eval, compile)
#	code dynamic exec	... of something that is not known here
#	dynamic getattr os	an attribute whose name is not known here, of os or of ?
#	dynamic import		a module that is loaded by a call, not only to see which there is
#	loop endless		a loop that nothing ends
#	loop open		a loop whose own condition does not end it
import _ast
import sys

# The last six are there when a program runs; the reader is started without them.
BUILTINS = set(dir(__builtins__)) | {"__builtins__", "__loader__", "__spec__", "copyright",
                                     "credits", "exit", "help", "license", "quit"}
# Modules that others hold as an attribute.
HELD = {"os", "sys", "subprocess", "builtins", "socket", "posix", "importlib", "shutil", "ctypes"}
FRAMEWORKS = {"numpy", "scipy", "pandas", "asyncio"}  # have submodules of such names
ENDLESS = {"itertools.count", "itertools.cycle", "itertools.repeat"}
RUNS_CODE = {"builtins.exec": "exec", "builtins.eval": "eval", "builtins.compile": "compile"}
IMPORTS = {"builtins.__import__", "importlib.import_module", "importlib.__import__"}
# What may be loaded in the middle of an expression.
PLAIN_IMPORTS = {"doctest", "math", "cmath", "random", "re", "itertools", "functools", "collections",
                 "string", "time", "datetime", "json", "heapq", "bisect", "decimal", "fractions",
                 "statistics", "typing"}
SPACES = {"builtins.globals", "builtins.locals", "builtins.vars"}
DECODES = {"b16decode", "b32decode", "b64decode", "b85decode", "a85decode", "decodebytes",
           "standard_b64decode", "urlsafe_b64decode", "fromhex", "unhexlify", "a2b_base64",
           "a2b_hex", "decompress", "decode", "loads", "load", "chr", "unquote", "translate",
           "read", "read_text", "read_bytes", "readline", "readlines", "input", "bytes", "bytearray",
           "urlopen", "open", "swapcase", "to_bytes", "unpack"}
FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda)
COMPREHENSIONS = (_ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
LEAVES = (_ast.Break, _ast.Return, _ast.Raise, _ast.Yield, _ast.YieldFrom, _ast.Await,
          _ast.Call, _ast.Assert)
# Calls that end no loop, whatever they are given.
STAYS = {"append", "extend", "add", "update", "insert", "write", "writelines", "print", "flush",
         "setdefault", "sleep", "start", "len", "str", "bytes", "range", "bytearray"}
FACTS_MAX = 20000
TEXT_MAX = 4096
PER_FACT = 5


class TooMuch(Exception):
    pass


class Scope:
    def __init__(self, parent, is_class=False):
        self.parent = parent
        self.is_class = is_class
        self.values = {}  # name -> nodes or module names it may hold
        self.bound = set()  # names that are surely something of the program's own
        self.outer = set()  # global and nonlocal


# What holds no node that says anything by itself: of each kind only the others are looked at.
BARE = set("ctx op ops id attr arg conversion level module asname type_comment kind".split())
PARTS = {k: () if k is _ast.Constant else tuple(f for f in k._fields if f not in BARE)
         for k in vars(_ast).values() if hasattr(k, "_fields")}


def children(node):
    found = []
    for field in PARTS[type(node)]:
        value = getattr(node, field, None)
        if type(value) is list:
            found += [v for v in value if isinstance(v, _ast.AST)]
        elif isinstance(value, _ast.AST):
            found.append(value)
    return found


def walk(node, skip):
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        if skip:
            stack.extend(c for c in children(at) if not isinstance(c, skip))
        else:
            stack += children(at)


trees = {}  # of a whole program: all its nodes


def below(node, skip=()):
    """node and all nodes in it, without what is inside the given kinds."""
    if skip or type(node) is not _ast.Module:
        return walk(node, skip)
    if node not in trees:
        trees[node] = list(walk(node, skip))
    return trees[node]


class Reader:
    def __init__(self):
        self.facts = []
        self.seen = {}
        self.uses = []
        self.runs = []  # calls that start a process
        self.imports = []  # calls that load a module by its name
        self.star = []  # modules imported with *
        self.tainted = set()
        self.scopes = {}
        self.known_names = {}  # what was found out about a node, and [] while it is
        self.known_texts = {}
        self.depth = 0
        self.place = None  # of the code a constant text holds

    def tell(self, text, node):
        text = text[:200]
        if self.place:
            node = self.place
        fact = (text, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        places = self.seen.setdefault(text, set())
        if len(places) >= PER_FACT or fact in places:
            return
        if len(self.facts) >= FACTS_MAX:
            raise TooMuch("more names than screening looks at")
        places.add(fact)
        self.facts.append(fact)

    # --- who binds what ---

    def bind(self, scope, name, value, sure):
        while name in scope.outer and scope.parent:
            scope = scope.parent
        if value is None:
            if sure:
                scope.bound.add(name)
            else:
                scope.values.setdefault(name, [])
        else:
            held = scope.values.setdefault(name, [])
            if len(held) < 8:
                held.append((value, scope))

    def bind_target(self, scope, target, value, sure):
        if isinstance(target, _ast.Name):
            self.bind(scope, target.id, value, sure and value is None)
        elif isinstance(target, (_ast.Tuple, _ast.List)):
            values = value.elts if isinstance(value, (_ast.Tuple, _ast.List)) else []
            same = len(values) == len(target.elts)
            for i, item in enumerate(target.elts):
                self.bind_target(scope, item, values[i] if same else None, sure)
        elif isinstance(target, _ast.Starred):
            self.bind_target(scope, target.value, None, sure)

    def bind_import(self, scope, node):
        if isinstance(node, _ast.Import):
            for a in node.names:
                name = a.asname or a.name.split(".")[0]
                self.bind(scope, name, "=" + (a.name if a.asname else name), False)
                self.tell("import " + a.name, node)
            return
        module = "." * node.level + (node.module or "")
        self.tell("import " + module, node)
        for a in node.names:
            if a.name == "*":
                self.star.append(module)
                self.tell("name %s.*" % module, node)
                continue
            self.bind(scope, a.asname or a.name, "=%s.%s" % (module, a.name), False)
            self.tell("import %s.%s" % (module, a.name), node)
            whole = self.reach(module, a.name, node)
            if whole not in RUNNERS and whole not in IMPORTS:  # its calls tell
                self.use(whole, node, "name")

    def bind_arguments(self, scope, args):
        every = args.posonlyargs + args.args + args.kwonlyargs
        every += [a for a in (args.vararg, args.kwarg) if a]
        for a in every:
            scope.bound.add(a.arg)
        for a, default in zip(reversed(args.posonlyargs + args.args), reversed(args.defaults)):
            scope.values.setdefault(a.arg, []).append((default, scope.parent))

    def collect(self, tree):
        """First pass: scopes, and what each name may hold."""
        module = Scope(None)
        stack = [(tree, module, True)]
        while stack:
            node, scope, sure = stack.pop()
            self.scopes[node] = scope
            inner = scope
            if isinstance(node, FUNCTIONS):
                if not isinstance(node, _ast.Lambda):
                    self.bind(scope, node.name, None, sure)
                inner = Scope(scope)
                self.bind_arguments(inner, node.args)
            elif isinstance(node, _ast.ClassDef):
                self.bind(scope, node.name, None, sure)
                inner = Scope(scope, True)
            elif isinstance(node, COMPREHENSIONS):
                inner = Scope(scope)
            elif isinstance(node, (_ast.Global, _ast.Nonlocal)):
                scope.outer.update(node.names)
            elif isinstance(node, (_ast.Import, _ast.ImportFrom)):
                self.bind_import(scope, node)
            elif isinstance(node, _ast.Assign):
                for target in node.targets:
                    self.bind_target(scope, target, node.value, sure)
            elif isinstance(node, (_ast.AnnAssign, _ast.AugAssign, _ast.NamedExpr)):
                value = None if isinstance(node, _ast.AugAssign) else node.value
                self.bind_target(scope, node.target, value, False)
            elif isinstance(node, (_ast.For, _ast.AsyncFor, _ast.comprehension)):
                items = node.iter.elts if isinstance(node.iter, (_ast.Tuple, _ast.List)) else []
                for item in items[:8] or [None]:
                    self.bind_target(scope, node.target, item, False)
            elif isinstance(node, _ast.withitem) and node.optional_vars:
                self.bind_target(scope, node.optional_vars, None, False)
            elif isinstance(node, _ast.ExceptHandler) and node.name:
                self.bind(scope, node.name, None, False)
            top = isinstance(node, (_ast.Module, _ast.ClassDef) + FUNCTIONS)
            # Annotations, decorators and defaults belong outside; to look them
            # up from inside finds the same or less certain answers.
            stack.extend((c, inner, top) for c in reversed(children(node)))
        return module

    # --- what an expression is ---

    def constant(self, node, scope):
        """The text an expression makes, when that can be told; else None."""
        if node not in self.known_texts:
            self.known_texts[node] = None
            self.known_texts[node] = self.find_constant(node, scope)
        return self.known_texts[node]

    def find_constant(self, node, scope):
        if isinstance(node, _ast.Constant):
            value = node.value
            if isinstance(value, bytes):
                return value.decode("latin-1")
            return value if isinstance(value, str) else None
        part = lambda n: self.constant(n, scope)
        if isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Add):
            left, right = part(node.left), part(node.right)
            if left is not None and right is not None and len(left) + len(right) <= TEXT_MAX:
                return left + right
        elif isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Mult):
            text, n = part(node.left), getattr(node.right, "value", None)
            if text is None:
                text, n = part(node.right), getattr(node.left, "value", None)
            if text is not None and type(n) is int and 0 <= n <= 16:
                return (text * n)[:TEXT_MAX]
        elif isinstance(node, _ast.JoinedStr):
            parts = [part(v.value if isinstance(v, _ast.FormattedValue) else v)
                     for v in node.values]
            if all(p is not None for p in parts):
                return "".join(parts)[:TEXT_MAX]
        elif isinstance(node, _ast.Subscript) and isinstance(node.slice, _ast.Slice):
            return self.sliced(node, part)
        elif isinstance(node, _ast.Name):
            held = self.lookup(node.id, scope)
            if len(held) == 1 and isinstance(held[0][0], _ast.AST):
                return self.constant(*held[0])
        elif isinstance(node, _ast.Call):
            return self.constant_call(node, part)
        return None

    def sliced(self, node, part):
        bounds = []
        text = part(node.value)
        for b in (node.slice.lower, node.slice.upper, node.slice.step):
            sign = 1
            if isinstance(b, _ast.UnaryOp) and isinstance(b.op, _ast.USub):
                sign, b = -1, b.operand
            if b is None:
                bounds.append(None)
            elif isinstance(b, _ast.Constant) and type(b.value) is int and b.value:
                bounds.append(sign * b.value)
            else:
                return None
        return None if text is None else text[slice(*bounds)]

    def constant_call(self, node, part):
        f = node.func
        if isinstance(f, _ast.Name) and f.id == "chr" and len(node.args) == 1:
            n = getattr(node.args[0], "value", None)
            return chr(n) if type(n) is int and 0 <= n < 0xD800 else None
        if not isinstance(f, _ast.Attribute):
            return None
        text = part(f.value)
        args = [part(a) for a in node.args]
        if text is None:
            return None
        if f.attr == "join" and len(node.args) == 1:
            items = getattr(node.args[0], "elts", None)
            if items is None:
                if args[0] is None or len(args[0]) > 500:
                    return None
                return text.join(args[0])[:TEXT_MAX]
            parts = [part(i) for i in items]
            return None if None in parts else text.join(parts)[:TEXT_MAX]
        if f.attr == "replace" and len(args) == 2 and None not in args:
            return text.replace(*args)[:TEXT_MAX] if len(args[1]) < 64 else None
        if f.attr in ("lower", "upper", "strip", "swapcase") and not args:
            return getattr(text, f.attr)()
        if f.attr == "format" and args and None not in args and not node.keywords:
            return text.replace("{}", "%s") % tuple(args) if text.count("{}") == len(args) else None
        return None

    def lookup(self, name, scope):
        """What a name may hold; [] when it is surely the program's own or unknown."""
        first = True
        while scope:
            if first or not scope.is_class:
                if name in scope.values:
                    return scope.values[name]
                if name in scope.bound:
                    return []
            first, scope = False, scope.parent
        if name in BUILTINS:
            return [("=builtins." + name, None)]
        return [("=%s.%s" % (m, name), None) for m in self.star]

    def reach(self, base, attr, node):
        """base.attr; a module held by another is that module."""
        plain = attr.lstrip("_")
        if base in ("builtins.__builtins__", "builtins"):
            return "builtins." + attr
        if plain in HELD and base.split(".")[0] not in FRAMEWORKS:
            self.tell("through %s.%s" % (base, attr), node)
            return plain
        return (base + "." + attr)[:200]

    def names(self, node, scope):
        """The dotted names an expression may be."""
        if node not in self.known_names:
            self.known_names[node] = []
            self.known_names[node] = list(dict.fromkeys(self.find_names(node, scope)))[:8]
        return self.known_names[node]

    def find_names(self, node, scope):
        down = lambda n: self.names(n, scope)
        if isinstance(node, _ast.Name):
            found = []
            for value, where in self.lookup(node.id, scope):
                found += [value[1:]] if isinstance(value, str) else self.names(value, where)
            return ["builtins" if n == "builtins.__builtins__" else n for n in found]
        if isinstance(node, _ast.Attribute):
            if node.attr == "__dict__":
                return down(node.value)
            return [self.reach(b, node.attr, node) for b in down(node.value)]
        if isinstance(node, _ast.Subscript):
            return self.names_of_item(node, scope, down)
        if isinstance(node, _ast.Call):
            return self.names_of_call(node, scope, down)
        if isinstance(node, _ast.NamedExpr):
            return down(node.value)
        if isinstance(node, _ast.IfExp):
            return down(node.body) + down(node.orelse)
        if isinstance(node, _ast.BoolOp):
            return [n for v in node.values[:8] for n in down(v)]
        return []

    def names_of_item(self, node, scope, down):
        key = self.constant(node.slice, scope)
        if isinstance(node.value, (_ast.List, _ast.Tuple)):
            return [n for v in node.value.elts[:8] for n in down(v)]
        if isinstance(node.value, _ast.Dict):
            return [n for v in node.value.values[:8] for n in down(v)]
        if key is None:
            return []
        found = []
        for base in down(node.value):
            if base == "sys.modules":
                found.append(key)
            elif base in SPACES:
                found.extend(self.names(_ast.Name(id=key), scope))
            else:
                found.append(self.reach(base, key, node))
        return found

    def names_of_call(self, node, scope, down):
        found = []
        for f in down(node.func):
            first = self.constant(node.args[0], scope) if node.args else None
            if f in IMPORTS and first is not None:
                found.append(first.split(".")[0] if f.endswith("__import__") else first)
            elif f in ("builtins.getattr", "inspect.getattr_static") and len(node.args) > 1:
                attr = self.constant(node.args[1], scope)
                if attr is not None:
                    found += [self.reach(b, attr, node) for b in down(node.args[0])]
            elif f == "builtins.vars" and node.args:
                found += down(node.args[0])
            elif f in SPACES:
                found.append(f)
            elif f.startswith("sys.modules.") and first is not None:
                found.append(first)
            elif f in ("importlib.reload", "copy.copy", "functools.partial") and node.args:
                found += down(node.args[0])
        if isinstance(node.func, _ast.Attribute) and node.func.attr in ("get", "__getitem__",
                                                                         "__getattribute__"):
            if node.args:
                item = _ast.Subscript(value=node.func.value, slice=node.args[0])
                found += self.names_of_item(item, scope, down)
        return found

    # --- second pass ---

    def use(self, name, node, how):
        self.tell("%s %s" % (how, name), node)
        if name.startswith(("os.", "shutil.")) and not isinstance(node, _ast.ImportFrom):
            self.uses.append((name, node))

    def tell_beyond(self, quiet):
        """quiet: where calls begin that stay below the roots, from allow.py."""
        for name, node in self.uses:
            if not quiet.get((node.lineno, node.col_offset)):
                self.tell("beyond " + name, node)

    def is_decoded(self, node):
        for n in below(node):
            if isinstance(n, _ast.Call):
                f = n.func
                if (getattr(f, "attr", None) or getattr(f, "id", None)) in DECODES:
                    return True
            elif isinstance(n, _ast.Name) and n.id in self.tainted:
                return True
            elif isinstance(n, _ast.Slice) and isinstance(n.step, _ast.UnaryOp):
                return True
        return False

    def find_decoded(self, tree):
        pairs = [(t.id, n.value) for n in below(tree) if isinstance(n, _ast.Assign)
                 for t in n.targets if isinstance(t, _ast.Name)]
        pairs += [(n.target.id, n.value) for n in below(tree)
                  if isinstance(n, (_ast.AugAssign, _ast.NamedExpr))
                  and isinstance(n.target, _ast.Name)]
        for _ in range(3):
            before = len(self.tainted)
            for name, value in pairs:
                if name not in self.tainted and self.is_decoded(value):
                    self.tainted.add(name)
            if len(self.tainted) == before:
                break

    def see_code(self, word, node, scope):
        """exec, eval or compile of the call's first argument."""
        arg = node.args[0] if isinstance(node, _ast.Call) and node.args else None
        text = self.constant(arg, scope) if arg is not None else None
        if text is not None and self.depth < 3:
            try:
                tree = compile(text.strip(), "text", "exec", 0x400)
            except (SyntaxError, ValueError):
                self.tell("code dynamic " + word, node)
                return
            self.tell("code constant " + word, node)
            inner = Reader.nested(self, node)
            inner.read(tree)
        elif isinstance(arg, _ast.Call) and "builtins.compile" in self.names(arg.func, scope):
            pass  # said of the compile
        elif arg is not None and self.is_decoded(arg):
            self.tell("code decoded " + word, node)
        else:
            self.tell("code dynamic " + word, node)

    def nested(self, node):
        inner = Reader()
        inner.facts, inner.seen, inner.depth = self.facts, self.seen, self.depth + 1
        inner.uses, inner.runs, inner.imports = self.uses, self.runs, self.imports
        inner.place = self.place or node
        return inner

    def see_call(self, node, scope):
        for f in self.names(node.func, scope):
            if f in RUNNERS:
                self.runs.append(node)
                continue
            if f in IMPORTS:
                self.see_import(node, f, scope)
                continue
            self.use(f, node, "call")
            if f in RUNS_CODE:
                self.see_code(RUNS_CODE[f], node, scope)
            elif f in ("builtins.getattr", "builtins.setattr", "builtins.delattr"):
                if len(node.args) > 1:
                    self.see_getattr(node, scope)
            elif f in ("operator.attrgetter", "operator.methodcaller"):
                text = self.constant(node.args[0], scope) if node.args else None
                for word in (text or "").split("."):
                    self.tell("attr " + word if text else "dynamic getattr ?", node)

    def see_import(self, node, f, scope):
        module = self.constant(node.args[0], scope) if node.args else None
        if module is not None:
            self.tell("import " + module, node)
        if f != "builtins.__import__" or module not in PLAIN_IMPORTS:
            self.imports.append(node)

    def see_getattr(self, node, scope):
        attr = self.constant(node.args[1], scope)
        if attr is not None:
            self.tell("attr " + attr, node)
            return
        bases = [b for b in self.names(node.args[0], scope) if b.split(".")[0] in HELD]
        for base in bases or ["?"]:
            self.tell("dynamic getattr " + base, node)

    def see_space(self, node, key, scope):
        """x.__dict__[key]: of the program's objects it is theirs, of a module it is all."""
        space = node.value
        if isinstance(space, _ast.Attribute) and space.attr == "__dict__":
            for base in self.names(space.value, scope) if key is None else ():
                self.tell("dynamic getattr " + base, node)
            if key is not None and key.lstrip("_") in HELD and key[:1] == "_":
                self.tell("through ?." + key, node)

    def see_text(self, text, node):
        at = text.find("__")
        while at >= 0:
            end = at + 2
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            word = text[at:end]
            if len(word) > 4 and word.endswith("__"):
                self.tell("text " + word, node)
            at = text.find("__", end)

    def see_loop(self, node):
        test = node.test
        true = isinstance(test, _ast.Constant) and test.value
        if isinstance(test, _ast.UnaryOp) and isinstance(test.op, _ast.Not):
            true = isinstance(test.operand, _ast.Constant) and not test.operand.value
        if not true:
            return
        own = (n for s in node.body for n in below(s, FUNCTIONS + (_ast.ClassDef,)))
        self.tell("loop open" if any(self.leaves(n) for n in own) else "loop endless", node)

    def leaves(self, node):
        if isinstance(node, _ast.Call):
            word = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            return word not in STAYS
        return isinstance(node, LEAVES)

    def see(self, node, scope, parent):
        called = isinstance(parent, _ast.Call) and parent.func is node
        chained = isinstance(parent, _ast.Attribute)
        if isinstance(node, _ast.Call):
            self.see_call(node, scope)
            for name in [] if called or chained else self.names(node, scope):
                self.use(name, node, "name")
        elif isinstance(node, _ast.Attribute):
            found = self.names(node, scope)
            for name in [] if called or chained else found:
                self.use(name, node, "name")
            if not isinstance(node.ctx, _ast.Store) and node not in self.own.quiet:
                self.tell("attr " + node.attr, node)
            tell_environ(self, node, scope)
        elif isinstance(node, _ast.Subscript):
            key = self.constant(node.slice, scope)
            if key and key.startswith("__"):
                self.tell("attr " + key, node)
            self.see_space(node, key, scope)
            tell_environ(self, node, scope)
            for name in [] if called or chained else self.names(node, scope):
                self.use(name, node, "name")
        elif isinstance(node, _ast.Name) and isinstance(node.ctx, _ast.Load):
            for name in [] if called or chained else self.names(node, scope):
                self.use(name, node, "name")
        elif isinstance(node, _ast.While):
            self.see_loop(node)
        elif isinstance(node, _ast.For) and isinstance(node.iter, _ast.Call):
            count = len(node.iter.args)
            for f in self.names(node.iter.func, scope):
                if (f in ENDLESS and count < 2 or f == "itertools.count"
                        or f == "builtins.iter" and count == 2):
                    self.tell("loop open", node)
        elif isinstance(node, getattr(_ast, "MatchClass", ())):
            for attr in node.kwd_attrs:
                self.tell("attr " + attr, node)
        for decorator in getattr(node, "decorator_list", ()):
            for f in self.names(decorator, scope):
                if f in RUNS_CODE:
                    self.tell("code dynamic " + RUNS_CODE[f], decorator)
        if isinstance(node, (_ast.Constant, _ast.BinOp, _ast.Call, _ast.JoinedStr, _ast.Subscript)):
            documentation = isinstance(parent, _ast.Expr)
            text = None if documentation else self.constant(node, scope)
            if text and "__" in text:
                self.see_text(text, node)

    def read(self, tree):
        self.own = Own(tree)
        self.collect(tree)
        self.find_decoded(tree)
        stack = [(tree, None)]
        while stack:
            node, parent = stack.pop()
            self.see(node, self.scopes[node], parent)
            stack.extend((c, node) for c in reversed(children(node)))


def quote(text):
    parts = ['"']
    for c in text:
        n = ord(c)
        if 32 <= n < 127 and c not in '"\\':
            parts.append(c)
        elif n > 0xFFFF:
            n -= 0x10000
            parts.append("\\u%04x\\u%04x" % (0xD800 + (n >> 10), 0xDC00 + (n & 0x3FF)))
        else:
            parts.append("\\u%04x" % (0xFFFD if 0xD800 <= n < 0xE000 or n == 0 else n))
    return "".join(parts) + '"'


def answer(facts, syntax, failed):
    return '{"syntax_error":%s,"failed":%s,"facts":[%s]}' % (
        syntax, failed, ",".join("[%s,%d,%d]" % (quote(t), n, c) for t, n, c in facts))
