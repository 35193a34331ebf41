# Runs the tests and reports. The last part of a run of the judge.

# Tests with one of these may see that the interpreter was started without its site.
_SITE_WORDS = (b"import", b"sys", b"builtins", b"quit", b"exit", b"help", b"copyright",
               b"credits", b"license")


def _assay_judge(report_path, solution_name, tests_name):
    global _judge
    import gc
    gc.disable()  # trees are no garbage; it is as ever before the tests run
    wire = _Wire(_RUN_MAX)
    work = sys.path[0]
    tests_path = work + "/" + tests_name
    with open(tests_path, "rb") as f:
        text = f.read()
    try:
        posix.unlink(__file__)
    except OSError:
        pass
    if any(word in text for word in _SITE_WORDS):
        _with_site()
    tests = _Tests(report_path, tests_path)
    tests.before_run = gc.enable
    _judge = _Names(tests, wire)
    module = type(sys)("__main__")
    space = module.__dict__
    space["__file__"], space["__builtins__"] = work + "/" + solution_name, __builtins__
    sys.modules["__main__"] = module
    for word in ("main", "solution"):
        sys.modules[word] = _ProgramModule(word)
    sys.argv[0] = work + "/" + solution_name

    def prepare():
        tree = tests.tree(text)
        _judge.fill(tree, space)
        return tree, text, space

    tests.try_run(prepare)
    if tests.assertions and not _judge.asked:
        tests.unlike = tests.unlike or "they ask nothing of the program"
    tests.finish()


_assay_judge("@REPORT@", "@SOLUTION@", "@TESTS@")
