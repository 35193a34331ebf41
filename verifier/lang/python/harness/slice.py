# Which cells of a context the last one needs, by the names that they read and set, and those as
# one program. Nothing of them is run. What cannot be told by names makes all of them needed; who
# asked to save them runs the program and sees whether it gives the same.
import ast
import builtins
import json
import symtable
import sys

OPAQUE = {"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__"}
# Called so, it changes files, or asks what files there are.
WRITES = {"write", "writelines", "write_text", "write_bytes", "dump", "savefig", "save", "savez", "mkdir",
          "makedirs", "copy", "copyfile", "move", "rename", "replace", "remove", "unlink", "rmtree",
          "system", "run", "call", "check_call", "check_output", "Popen", "connect", "chdir", "extractall"}
READS = {"open", "load", "glob", "iglob", "rglob", "listdir", "scandir", "walk", "exists", "is_file",
         "is_dir", "read_text", "read_bytes", "iterdir", "connect", "stat", "run", "call",
         "check_output", "Popen", "system", "getcwd"}
FILES = "/"  # stands for all of them: no name is called so; "/a.csv" for those of that name
GIVEN = "/in/"  # what nothing can write
# Of which the name alone does not tell: of files where they are os's, shutil's, or have one argument.
UNSURE = {"copy", "rename", "replace", "remove", "save", "move", "dump", "connect", "call", "run"}
TO_FILES = {"to_" + kind for kind in ("csv", "json", "excel", "parquet", "html", "pickle", "feather", "hdf", "sql",
                                      "markdown", "latex", "stata", "xml", "file", "orc")}
CHANGES = {"pop", "append", "next", "update", "setdefault", "shuffle", "add"}
# Drawing: what is drawn on is changed, and not what is drawn; figures are closed with their cell.
DRAWS = {"bar", "barh", "plot", "hist", "scatter", "pie", "imshow", "boxplot", "fill_between", "axhline", "axvline",
         "annotate", "text", "set_title", "set_xlabel", "set_ylabel", "legend", "title", "xlabel", "ylabel"}
PLOTS = {"matplotlib", "seaborn"}
STYLES = {"rc", "use", "set_theme", "set_style", "switch_backend", "rcdefaults", "update"}
# Called for their value: what they are called on, and given, stays as it was.
QUIET = {"print", "display", "len", "repr", "str", "type", "sorted", "sum", "min", "max", "head", "tail",
         "describe", "groupby", "agg", "mean", "median", "std", "var", "count", "nunique", "unique",
         "value_counts", "sort_values", "sort_index", "nlargest", "nsmallest", "to_string", "round",
         "join", "format", "items", "keys", "values", "most_common", "corr", "pivot_table", "isna",
         "notna", "any", "all", "shape", "info", "iterrows", "itertuples", "reset_index", "rename",
         "set_index", "merge", "loc", "iloc", "cumsum", "first", "last", "size", "idxmax", "idxmin"}


def base(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def called(node):
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def is_quiet(node):
    """Each call of a chain is one for its value: df.groupby("a").sum()."""
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        quiet = isinstance(node, ast.Call) and (called(node) in QUIET or called(node).startswith("to_"))
        if isinstance(node, ast.Call) and (not quiet or
                                           any(k.arg == "inplace" for k in node.keywords)):
            return False
        node = node.func if isinstance(node, ast.Call) else node.value
    return True


def file_of(node):
    """What stands for the file that a call names."""
    given = [*node.args, *(k.value for k in node.keywords)]
    if called(node) in ("open", "Path", "savefig") or called(node).startswith(("read_", "to_", "load", "imread")):
        for part in given[:1]:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                return None if part.value.startswith(GIVEN) else FILES + part.value.rpartition("/")[2]
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        if called(node.func.value) in ("open", "Path"):
            return file_of(node.func.value)
    return FILES


def names_in(*nodes):
    return {n.id for part in nodes for n in ast.walk(part) if isinstance(n, ast.Name)}


def imported(tree, among=None):
    """Names of modules; of some, or of all."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {n.asname or n.name for n in node.names if not among or node.module.partition(".")[0] in among}
        elif isinstance(node, ast.Import):
            found |= {(n.asname or n.name).partition(".")[0] for n in node.names
                      if not among or n.name.partition(".")[0] in among}
    return found


def is_writer(node):
    name, given = called(node), len(node.args) + len(node.keywords)
    if name == "open":
        return given > 1
    if name in UNSURE and isinstance(node.func, ast.Attribute) and base(node.func) not in ("os", "shutil", "subprocess"):
        return name not in ("copy", "remove") and (name not in ("rename", "replace") or
                                                   (len(node.args) == 1 and not node.keywords))
    return name in WRITES or (name in TO_FILES and given > 0)


class Cell(ast.NodeVisitor):
    def __init__(self, text, plots):
        self.plots, self.aliases, self.calls, self.methods = plots, [], [], set()
        self.reads, self.sets, self.changes, self.opaque = set(), set(), set(), None
        self.inside = {}  # of a function or class: what its body reads, changes, and whether of its own
        self.certain = set()  # set whatever happens, and not read before
        self.tree = ast.parse(text)
        self.hidden = locals_of(symtable.symtable(text, "cell", "exec"))
        for statement in self.tree.body:
            self.step(statement)

    def step(self, statement):
        """In order: what is read of a name that this cell has set before is its own."""
        before = self.reads
        self.reads = set()
        self.visit(statement)
        inside = set() if not isinstance(statement, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)) else \
            {n.id for t in ([statement.target] if hasattr(statement, "target") else
                            [i.optional_vars for i in statement.items if i.optional_vars])
             for n in ast.walk(t) if isinstance(n, ast.Name)}
        self.reads = before | (self.reads - self.certain - inside)
        self.certain |= surely_set(statement) - self.reads

    def visit_Name(self, node):
        (self.reads if isinstance(node.ctx, ast.Load) else self.sets).add(node.id)
        if node.id in OPAQUE:
            self.opaque = f"it uses {node.id}"

    def visit_Global(self, node):
        self.opaque = "a function sets names of all"

    def visit_Import(self, node):
        for name in node.names:
            if name.name == "*":
                self.opaque = "it imports all names of a module"
            self.sets.add((name.asname or name.name).partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node):
        if node.name:
            self.sets.add(node.name)
        self.generic_visit(node)

    def visit_comprehension_of(self, node):
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        outer = self.reads, self.sets
        self.reads, self.sets = set(), set()
        self.generic_visit(node)
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        self.reads, self.sets = outer[0] | (self.reads - own), outer[1] | walrus

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_definition(self, node):
        self.sets.add(node.name)
        outer = self.reads, self.sets, self.changes
        self.reads, self.sets, self.changes = set(), set(), set()
        self.generic_visit(node)
        own = self.hidden.get(node.lineno, set())
        inner, self_changes = (self.reads - own, self.changes - own), self.changes
        self.reads, self.sets, self.changes = outer
        self.reads |= inner[0] | inner[1]
        self.inside[node.name] = inner[0], inner[1], bool(self_changes & own) or isinstance(node, ast.ClassDef)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_definition

    def visit_Assign(self, node):
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                self.changes.add(base(target))
            self.alias(target, node.value)
        if isinstance(node, ast.AugAssign):
            self.reads.add(base(node.target))
        self.generic_visit(node)

    def alias(self, target, value):
        """What is changed by one name is changed by the other."""
        for part in value.elts if isinstance(value, (ast.Tuple, ast.List)) else (value,):
            if not isinstance(part, ast.Call) and base(part):
                self.aliases += [(name, base(part)) for name in names_in(target)]

    def visit_For(self, node):
        self.alias(node.target, node.iter)
        if isinstance(node.iter, ast.Call):
            self.aliases += [(t, name) for t in names_in(node.target) for name in names_in(*node.iter.args)]
            if isinstance(node.iter.func, ast.Attribute):
                self.aliases += [(t, base(node.iter.func)) for t in names_in(node.target) if base(node.iter.func)]
        self.generic_visit(node)

    visit_AsyncFor = visit_For

    visit_AugAssign = visit_AnnAssign = visit_Assign

    def visit_Delete(self, node):
        self.changes |= {base(t) for t in node.targets}
        self.generic_visit(node)

    def visit_Expr(self, node):
        """A call for what it does: to its object, to what it is given."""
        call = node.value
        if isinstance(call, ast.Call) and not is_quiet(call):
            drawn = called(call) in DRAWS or base(call.func) in self.plots
            if not (base(call.func) in self.plots and called(call) not in STYLES):
                self.changes |= names_in(call.func)
            if not drawn:
                self.changes |= names_in(*call.args, *(k.value for k in call.keywords))
        self.generic_visit(node)

    def visit_Call(self, node):
        name = called(node)
        if isinstance(node.func, ast.Name):
            self.calls.append((name, names_in(*node.args, *(k.value for k in node.keywords))))
        elif name not in QUIET and base(node.func):
            self.methods.add(base(node.func))
        if is_writer(node):
            self.changes.add(file_of(node))
        if name in READS or name.startswith(("read_", "scan_", "load", "imread")):
            self.reads.add(file_of(node))
        if any(k.arg == "inplace" for k in node.keywords) or name in CHANGES:
            self.changes.add(base(node.func))
            self.changes |= {base(a) for a in node.args}
        self.generic_visit(node)


def locals_of(table):
    """The names that are a function's own, by the line it begins in."""
    found = {}
    for child in table.get_children():
        if child.get_type() == "function":
            found.setdefault(child.get_lineno(), set()).update(child.get_locals())
            for name in child.get_frees():
                found[child.get_lineno()].discard(name)
        for line, names in locals_of(child).items():
            found.setdefault(line, set()).update(names)
    return found


def surely_set(statement):
    """What a statement sets as a whole, whichever way it goes."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value:
        targets = [statement.target]
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(n.asname or n.name).partition(".")[0] for n in statement.names}
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        return set().union(*map(surely_set, statement.body))
    else:
        return set()
    return {n.id for t in targets for n in ast.walk(t)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def touches(changed, wanted):
    """Whether what is changed is wanted: all files stand for each, and each for all."""
    if changed & wanted:
        return True
    files = {n for n in changed if n and n.startswith(FILES)}, {n for n in wanted if n and n.startswith(FILES)}
    return bool(files[0] and files[1] and FILES in files[0] | files[1])


def groups(pairs):
    """Names that may stand for the same, by each of them."""
    found = {}
    for one, other in pairs:
        both = found.get(one, {one}) | found.get(other, {other})
        for name in both:
            found[name] = both
    return found


def spread(cells):
    """What follows of functions, and of two names for one thing; whoever reads one, reads what it reads."""
    inside, modules = {}, set().union(*(imported(c.tree) for c in cells))
    for cell in cells:
        for name, (reads, changes, own) in cell.inside.items():
            old = inside.get(name, (set(), set(), False))
            inside[name] = old[0] | reads, old[1] | changes, old[2] or own
    for _ in inside:
        for reads, changes, _ in inside.values():
            for name in (reads | changes) & inside.keys():
                reads |= inside[name][0]
                changes |= inside[name][1]
    given = set(dir(builtins)) - set().union(*(c.sets for c in cells))
    same = groups(pair for cell in cells for pair in cell.aliases if pair[1] not in modules)
    classes = any(isinstance(n, ast.ClassDef) for cell in cells for n in ast.walk(cell.tree))
    for cell in cells:
        for name in cell.reads & inside.keys():
            cell.reads |= inside[name][0] - cell.certain
            cell.changes |= inside[name][1]
        for name, among in cell.calls:
            if name in inside and inside[name][2]:
                cell.changes |= among
        if classes:
            cell.changes |= cell.methods - modules
        for name in list(cell.changes):
            cell.changes |= same.get(name, set())
        cell.changes -= given | {None}
        cell.reads.discard(None)


def need(cells):
    """The numbers of those that the last one needs, or why all are needed."""
    for number, cell in enumerate(cells, 1):
        if cell.opaque:
            return None, f"cell {number}: {cell.opaque}"
    spread(cells)
    used, wanted = {len(cells) - 1}, set(cells[-1].reads)
    for n in range(len(cells) - 2, -1, -1):
        cell = cells[n]
        if cell.sets & wanted or touches(cell.changes, wanted):
            used.add(n)
            wanted = (wanted - (cell.certain - cell.changes)) | cell.reads
    return used, None


def shown(text, tree):
    """The last one with its last value printed, as it is in a context."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or text.rstrip().endswith(";"):
        return text
    call = last.value
    if isinstance(call, ast.Call) and called(call) in ("print", "display", "write", "writelines", "show"):
        return text
    lines = text.encode().splitlines(True)
    before = b"".join(lines[:last.lineno - 1]) + lines[last.lineno - 1][:last.col_offset]
    value = ast.get_source_segment(text, last)
    return (before.decode() + f"_value = ({value})\n"
            "if _value is not None:\n"
            "    print(_value if isinstance(_value, str) else repr(_value))\n")


def main():
    given = json.load(sys.stdin)
    texts = given["cells"]
    plots = set().union(*(imported(ast.parse(text), PLOTS) for text in texts))
    cells = [Cell(text, plots) for text in texts]
    used, why = (None, "all were asked for") if given["all"] else need(cells)
    used = sorted(used) if used is not None else list(range(len(cells)))
    parts = [texts[n].rstrip("\n") + "\n" + given["after"][n] for n in used[:-1]]
    parts.append(shown(texts[-1].rstrip("\n") + "\n", cells[-1].tree))
    if any("display" in c.reads and "display" not in c.sets for c in (cells[n] for n in used)):
        parts.insert(0, "def display(*values):\n"
                        "    for value in values:\n"
                        "        if value is not None:\n"
                        "            print(value if isinstance(value, str) else repr(value))\n")
    future = [n for n, part in enumerate(parts) if "from __future__" in part]
    if future and future != [0]:
        lines = [line for part in parts for line in part.splitlines(True)
                 if line.startswith("from __future__")]
        parts = ["".join(line for line in part.splitlines(True)
                         if not line.startswith("from __future__")) for part in parts]
        parts.insert(0, "".join(dict.fromkeys(lines)))
    program = "\n# %%\n".join(parts) if len(parts) > 1 else parts[0]
    json.dump({"used": used, "program": program, "why": why}, sys.stdout)


main()
