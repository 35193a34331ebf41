# Which cells of a context the last one needs, by the names that they read and set, and those as
# one program. Nothing of them is run. What cannot be told by names makes all of them needed; who
# asked runs the program and sees whether it gives the same.
import ast
import json
import sys

OPAQUE = {"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__"}
# Called so, it changes files, or asks what files there are.
WRITES = {"write", "writelines", "write_text", "write_bytes", "dump", "savefig", "save", "savez", "mkdir",
          "makedirs", "copy", "copyfile", "move", "rename", "replace", "remove", "unlink", "rmtree",
          "system", "run", "call", "check_call", "check_output", "Popen", "connect", "chdir", "extractall"}
READS = {"open", "load", "glob", "iglob", "rglob", "listdir", "scandir", "walk", "exists", "is_file",
         "is_dir", "read_text", "read_bytes", "iterdir", "connect", "stat", "run", "call",
         "check_output", "Popen", "system", "getcwd"}
FILES = "/"  # stands for all of them: no name is called so
QUIET = {"print", "display", "len", "repr", "str", "type", "sorted", "sum", "min", "max"}


def base(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def called(node):
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


class Cell(ast.NodeVisitor):
    def __init__(self, text):
        self.reads, self.sets, self.changes, self.opaque = set(), set(), set(), None
        self.inside = {}  # of a function or class: what its body reads and changes
        self.tree = ast.parse(text)
        self.visit(self.tree)

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

    def visit_definition(self, node):
        self.sets.add(node.name)
        outer = self.reads, self.sets, self.changes
        self.reads, self.sets, self.changes = set(), set(), set()
        self.generic_visit(node)
        inner = self.reads, self.changes
        self.reads, self.sets, self.changes = outer
        self.reads |= inner[0] | inner[1]
        self.inside[node.name] = inner[1]

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_definition

    def visit_Assign(self, node):
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                self.changes.add(base(target))
        if isinstance(node, ast.AugAssign):
            self.reads.add(base(node.target))
        self.generic_visit(node)

    visit_AugAssign = visit_AnnAssign = visit_Assign

    def visit_Delete(self, node):
        self.changes |= {base(t) for t in node.targets}
        self.generic_visit(node)

    def visit_Expr(self, node):
        """A call for what it does: to its object, to what it is given."""
        if isinstance(node.value, ast.Call) and called(node.value) not in QUIET:
            call = node.value
            for part in (call.func, *call.args, *(k.value for k in call.keywords)):
                for name in ast.walk(part):
                    if isinstance(name, ast.Name):
                        self.changes.add(name.id)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = called(node)
        if name in WRITES or name.startswith("to_") or (name == "open" and len(node.args) +
                                                       len(node.keywords) > 1):
            self.changes.add(FILES)
        if name in READS or name.startswith(("read_", "scan_", "load", "imread")):
            self.reads.add(FILES)
        if any(k.arg == "inplace" for k in node.keywords) or name in ("pop", "append", "next", "update",
                                                                      "setdefault", "shuffle", "add"):
            self.changes.add(base(node.func))
            self.changes |= {base(a) for a in node.args}
        self.generic_visit(node)


def need(cells):
    """The numbers of those that the last one needs, or why all are needed."""
    inside = {}
    for number, cell in enumerate(cells, 1):
        if cell.opaque:
            return None, f"cell {number}: {cell.opaque}"
        inside.update(cell.inside)
    for _ in inside:
        for changed in inside.values():
            changed |= set().union(*(inside[n] for n in changed & inside.keys()))
    for cell in cells:
        for name in cell.reads & inside.keys():
            cell.changes |= inside[name]
    used, wanted = {len(cells) - 1}, set(cells[-1].reads)
    for n in range(len(cells) - 2, -1, -1):
        if (cells[n].sets | cells[n].changes) & wanted:
            used.add(n)
            wanted |= cells[n].reads
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
    cells = [Cell(text) for text in texts]
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
