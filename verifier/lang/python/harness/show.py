# Runs a program that printed nothing once more, and prints the value of its last
# expression, as a notebook would.
import _ast
import sys


def _assay_show(path):
    with open(path, "rb") as f:
        tree = compile(f.read(), path, "exec", 0x400, dont_inherit=True)  # the syntax tree only
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    space = sys.modules["__main__"].__dict__
    space["__file__"] = sys.argv[0] = path
    exec(compile(tree, path, "exec", dont_inherit=True), space)
    value = eval(compile(_ast.Expression(last.value), path, "eval"), space) if last else None
    if value is not None:
        print(value if type(value) is str else repr(value))


_assay_show(sys.path[0] + "/@SOLUTION@")
