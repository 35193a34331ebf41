# What of a program's own leads nowhere, in both readers: follows ast.py. The
# insides of the program's own classes and functions are the program's own; the
# same names on anything else lead to the interpreter.
#
#	string /home/x		a text written in the program that may be a place, and is not
#				known to be no file's name
#	run sort -k1,1 @	a process: its arguments, as processes.py writes them
#	line sort a.csv		the same, of a line for a shell
#	sql			a statement that opens another database, where there is one
#	environ LD_PRELOAD	a variable of the environment that is set (? : not known)

LINEAGE = {"__subclasses__", "__mro__", "__bases__", "__base__", "mro"}
# What the code of a function tells of it, without being code.
CODE_FACTS = {"co_argcount", "co_varnames", "co_name", "co_nlocals", "co_flags", "co_firstlineno",
              "co_posonlyargcount", "co_kwonlyargcount", "co_qualname"}
RUNNERS = {"subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call",
           "subprocess.check_output"}
PLACE_MARKS = ("/", "\\", "~", ".")


def only_classes(tree):
    """Names that nothing but class statements binds."""
    classes, other = set(), set()
    for node in below(tree):
        if isinstance(node, _ast.ClassDef):
            classes.add(node.name)
        elif isinstance(node, (_ast.Import, _ast.ImportFrom)):
            other.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, _ast.Name) and not isinstance(node.ctx, _ast.Load):
            other.add(node.id)
        elif isinstance(node, _ast.arg):
            other.add(node.arg)
        elif hasattr(node, "name") and isinstance(node.name, str):
            other.add(node.name)
        elif getattr(node, "rest", None):
            other.add(node.rest)
    return classes - other


def class_parameters(tree):
    """Uses of the class that a class method is called on."""
    found = set()
    if any(isinstance(n, _ast.Attribute) and n.attr == "__get__" for n in below(tree)):
        return found  # binds a class method to any class
    for owner in below(tree):
        for f in owner.body if isinstance(owner, _ast.ClassDef) else ():
            if not isinstance(f, _ast.FunctionDef) or not f.args.args:
                continue
            kinds = {getattr(d, "id", "") for d in f.decorator_list}
            name = f.args.args[0].arg
            uses = [n for n in below(f) if isinstance(n, _ast.Name) and n.id == name]
            if ("classmethod" in kinds or f.name == "__init_subclass__") and all(
                    isinstance(n.ctx, _ast.Load) for n in uses):
                found.update(uses)
    return found


class Own:
    """Which attributes of the interpreter's insides are read of the program's own."""

    def __init__(self, tree):
        self.classes = only_classes(tree)
        self.parameters = class_parameters(tree)
        self.quiet = set()
        for node in below(tree):
            if not isinstance(node, _ast.Attribute) or not isinstance(node.ctx, _ast.Load):
                continue
            if node.attr in LINEAGE and self.is_class(node.value):
                self.quiet.add(node)
            inner = node.value
            if node.attr in CODE_FACTS and isinstance(inner, _ast.Attribute) and (
                    inner.attr == "__code__"):
                self.quiet.add(inner)

    def is_class(self, node):
        return isinstance(node, _ast.Name) and (node.id in self.classes
                                                or node in self.parameters)


def tell_strings(reader, tree, idle):
    """idle: the constants that no file's name is made of."""
    said = {s.value for s in below(tree) if isinstance(s, _ast.Expr)}
    for node in below(tree):
        if not isinstance(node, _ast.Constant) or node in idle or node in said:
            continue
        text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        if isinstance(text, str) and any(m in text for m in PLACE_MARKS):
            for line in text.split("\n"):
                if any(m in line for m in PLACE_MARKS):
                    reader.tell("string " + line, node)


def opens_database(text):
    """Whether one of the statements in a text does: its first word says what it is."""
    low = text.lower().replace("\ufeff", " ")
    if any(m in low for m in ("load_extension", "temp_store_directory", "data_store_directory")):
        return True
    for part in low.replace("*/", ";").replace("\n", ";").split(";"):
        part = part.strip()
        if part[:6] == "attach" and part[6:7] and not (part[6].isalnum() or part[6] == "_"):
            return True
        if part[:6] == "vacuum" and "into" in part:
            return True
    return False


def tell_sql(reader, tree):
    if not any(fact.startswith(("import sqlite3", "import pandas")) for fact in reader.seen):
        return
    for node in below(tree):
        if isinstance(node, (_ast.Constant, _ast.BinOp, _ast.Call, _ast.JoinedStr, _ast.Subscript)):
            text = reader.constant(node, reader.scopes[node]) if node in reader.scopes else None
            if text and opens_database(text):
                reader.tell("sql", node)


def tell_imports(reader, probes):
    """probes: the calls that only see whether a module is there, and which."""
    for node in reader.imports:
        if node not in probes:
            reader.tell("dynamic import", node)


def tell_runs(reader, commands):
    """commands: of a call, what it may run, where that is known."""
    for node in reader.runs:
        for text in commands.get(node, ["run ?"]):
            reader.tell(text if len(text) < 190 else "run ?", node)


def tell_environ(reader, node, scope):
    """A variable that is given another value."""
    if isinstance(node, _ast.Subscript) and not isinstance(node.ctx, _ast.Load):
        if "os.environ" in reader.names(node.value, scope):
            reader.tell("environ " + (reader.constant(node.slice, scope) or "?"), node)
    elif isinstance(node, _ast.Attribute) and node.attr in (
            "update", "setdefault", "pop", "popitem", "clear", "__setitem__"):
        if "os.environ" in reader.names(node.value, scope):
            reader.tell("environ " + ("?" if node.attr != "setdefault" else "="), node)
