# The module that a solution runs as, with the tests beside it or apart: stands before program.py and
# together.py in their runs.
import posix
import sys


def _main_module(path):
    """The name space of the file at path, which is what it may import as itself."""
    try:
        posix.unlink(__file__)
    except OSError:
        pass
    module = type(sys)("__main__")
    space = module.__dict__
    space["__file__"], space["__builtins__"] = path, __builtins__
    for word in ("__main__", "main", "solution"):
        sys.modules[word] = module
    sys.argv[0] = path
    return space


