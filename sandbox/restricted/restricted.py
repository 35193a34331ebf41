# Runs a program that RestrictedPython compiles: no name or attribute that begins with "_", no exec and eval, no
# open, and of modules those of a list. Started by assay in its sandbox, whose walls are what holds.
# With --screen it only says what of the program is not allowed, as far as that can be seen before it runs.
import ast
import os
import sys
import traceback

try:
    from RestrictedPython import RestrictingNodeTransformer, limited_builtins, safe_builtins, utility_builtins
    from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
    from RestrictedPython.Guards import full_write_guard, guarded_iter_unpack_sequence, \
        guarded_unpack_sequence, safer_getattr
except ImportError as e:
    sys.stderr.write("RestrictedPython is not installed: %s\n" % e)
    os._exit(70)

# What computes, and leads nowhere by a name that does not begin with "_".
MODULES = ("array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum",
           "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers", "operator", "random",
           "re", "statistics", "string", "textwrap", "time", "typing", "unicodedata", "zlib")
MORE = ("all", "any", "ascii", "bin", "bytearray", "classmethod", "dict", "enumerate", "filter", "format", "frozenset", "input",
        "iter", "list", "map", "max", "memoryview", "min", "next", "NotImplemented", "object", "property", "reversed",
        "set", "sorted", "staticmethod", "sum", "super", "type")
OPERATIONS = {"+=": "iadd", "-=": "isub", "*=": "imul", "/=": "itruediv", "//=": "ifloordiv", "%=": "imod",
              "**=": "ipow", "<<=": "ilshift", ">>=": "irshift", "&=": "iand", "|=": "ior", "^=": "ixor", "@=": "imatmul"}


# Of frames, code and generators: they lead to what was never handed out.
FRAMES = {"ag_await", "ag_code", "ag_frame", "co_code", "cr_await", "cr_code", "cr_frame", "cr_origin", "f_back",
          "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "format_map", "gi_code", "gi_frame", "gi_yieldfrom",
          "mro", "tb_frame", "tb_next"}


class Policy(RestrictingNodeTransformer):
    """Debian's RestrictedPython (4.0) does not know what a subscript is since Python 3.9, nor where nodes end."""

    def transform_slice(self, node):
        if isinstance(node, ast.Slice):
            none = ast.copy_location(ast.Constant(None), node)
            parts = [none if p is None else p for p in (node.lower, node.upper, node.step)]
            return ast.copy_location(ast.Call(ast.copy_location(ast.Name("slice", ast.Load()), node), parts, []), node)
        if isinstance(node, ast.Tuple):
            return ast.copy_location(ast.Tuple([self.transform_slice(e) for e in node.elts], ast.Load()), node)
        return node

    def contents(self, node):
        return self.node_contents_visit(node)

    # harmless, and later versions have them
    visit_AnnAssign = visit_JoinedStr = visit_FormattedValue = contents


def compile_restricted(text, name):
    tree, errors = ast.parse(text, name), []
    Policy(errors, [], {}).visit(tree)
    if errors:
        raise SyntaxError(errors)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            start, end = (node.lineno, node.col_offset), (getattr(node, "end_lineno", None) or 0,
                                                          getattr(node, "end_col_offset", None) or 0)
            if end < start:
                node.end_lineno, node.end_col_offset = start
    return compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)


def import_(name, globals=None, locals=None, fromlist=(), level=0):
    if level or name.split(".")[0] not in MODULES:
        raise ImportError("%s is not allowed in the restricted mode" % name)
    for one in fromlist or ():
        if one.startswith("_"):
            raise ImportError("%s.%s is not allowed in the restricted mode" % (name, one))
    return __import__(name, None, None, fromlist, 0)


def getattr_(of, name, default=None, *rest):
    if not isinstance(name, str) or name.startswith("_") or name in FRAMES or \
            (name == "format" and (of is str or isinstance(of, str))):
        raise AttributeError('"%s" is not allowed in the restricted mode' % (name,))
    # a module that a module imported for itself is no way out of the list
    found = safer_getattr(of, name, default) if rest or default is not None else safer_getattr(of, name)
    if type(found) is type(sys) and found.__name__.split(".")[0] not in MODULES:
        raise AttributeError("%s is not allowed in the restricted mode" % found.__name__)
    return found


def inplace(operation, target, value):
    import operator
    return getattr(operator, OPERATIONS[operation])(target, value)


def apply(f, *args, **kwargs):
    return f(*args, **kwargs)


class Print:
    """print, as it is; RestrictedPython wants an object that is made for each scope."""

    def __init__(self, getattr_=None):
        pass

    def _call_print(self, *objects, **how):
        if how.get("file") is None:
            how["file"] = sys.stdout
        if how["file"] not in (sys.stdout, sys.stderr):
            raise TypeError("print: only standard output and error in the restricted mode")
        print(*objects, **how)


def names():
    import builtins
    allowed = {**safe_builtins, **limited_builtins, **utility_builtins}
    allowed.update({n: getattr(builtins, n) for n in MORE})
    allowed.update({n: v for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)})
    allowed.update(range=range, slice=slice, __import__=import_, getattr=getattr_, type=lambda of: type(of))
    allowed["__build_class__"] = builtins.__build_class__
    return {"__builtins__": allowed, "__name__": "__main__", "__metaclass__": type, "_print_": Print, "_apply_": apply,
            "_getattr_": getattr_, "_getitem_": default_guarded_getitem, "_getiter_": default_guarded_getiter,
            "_iter_unpack_sequence_": guarded_iter_unpack_sequence, "_unpack_sequence_": guarded_unpack_sequence,
            "_write_": full_write_guard, "_inplacevar_": inplace}


def main():
    path = sys.argv[1]
    sys.argv = sys.argv[1:]
    with open(path, "rb") as f:
        text = f.read()
    name = os.path.join(os.getcwd(), "main.py")
    import warnings
    warnings.simplefilter("ignore")
    try:
        program = compile_restricted(text.decode(), name)
    except SyntaxError as e:
        words = e.msg if isinstance(e.msg, (tuple, list)) else [str(e)]
        sys.stderr.write("SyntaxError: not allowed in the restricted mode: %s\n" % "; ".join(map(str, words)))
        return 1
    try:
        exec(program, names())
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else e.code is not None
    except BaseException as e:
        traceback.print_exception(type(e), e, e.__traceback__.tb_next)
        return 1
    return 0


def probe():
    """The first program of all is assay's own question what there is."""
    import importlib.metadata
    import json
    import platform
    print(json.dumps({"version": platform.python_version(), "packages": [
        ["RestrictedPython", importlib.metadata.version("RestrictedPython")]]}))
    return 0


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, "." * node.level + (node.module or "")


def refused(text):
    """(line, column, why) of all that is refused before it runs."""
    try:
        tree = ast.parse(text, "main.py")
    except (SyntaxError, ValueError, RecursionError):
        return []  # not for this to say: it does not run at all
    found = [(node.lineno, node.col_offset + 1, "the module %s is not allowed" % name)
             for node, name in imports(tree) if name.split(".")[0] not in MODULES]
    try:
        compile_restricted(text, "main.py")
    except SyntaxError as e:
        for word in e.msg if isinstance(e.msg, (tuple, list)) else [str(e)]:
            line, _, why = str(word).partition(": ")
            number = line.partition(" ")[2]
            found.append((int(number), 1, why) if line.startswith("Line ") and number.isdigit() else (1, 1, str(word)))
    return sorted(set(found))[:100]


def screen():
    import json
    import warnings
    warnings.simplefilter("ignore")
    with open(sys.argv[2], "rb") as f:
        print(json.dumps(refused(f.read().decode())))
    return 0


def start():
    if len(sys.argv) == 2 and sys.argv[1] == "--describe":
        return probe()
    return screen() if len(sys.argv) == 3 and sys.argv[1] == "--screen" else main()


sys.exit(start())
