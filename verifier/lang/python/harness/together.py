# Runs a solution, then its tests in the same namespace ("together"), or both with
# the solution emptied of what it does ("stub"). What is reported from there is what
# the program may have forged: both share one interpreter. So only its failures
# are believed (verifier/tests.h). After tests.py.


def _stub(node):
    """The solution without what it does: tests that pass on it prove nothing."""
    keep = (_ast.Import, _ast.ImportFrom, _ast.ClassDef, _ast.Assign, _ast.AnnAssign, *_FUNCTION)
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list) and field == "body":
            value[:] = [v for v in value if isinstance(v, keep)]
            for item in value:
                _stub(item)
                if isinstance(item, _FUNCTION):
                    item.body[:] = [_at(_ast.Pass(), item)]
            if isinstance(node, _ast.ClassDef) and not value:
                value.append(_at(_ast.Pass(), node))
        elif isinstance(value, _ast.Lambda):
            value.body = _constant(value, None)
        elif isinstance(value, _ast.Call):
            setattr(node, field, _constant(value, None))
    return node


def _take(path):
    with open(path, "rb") as f:
        data = f.read()
    try:
        posix.unlink(path)
    except OSError:
        pass
    return data


def _assay_together(mode, report_path, solution_name, tests_name):
    work = sys.path[0]
    solution_path, tests_path = work + "/" + solution_name, work + "/" + tests_name
    tests = _Tests(report_path, tests_path)
    tests.apart, text = False, _take(tests_path)
    with open(solution_path, "rb") as f:
        code = f.read()
    space = _main_module(solution_path)
    try:
        if mode == "stub":
            code = _stub(compile(code, solution_path, "exec", 0x400, dont_inherit=True))
        exec(compile(code, solution_path, "exec", dont_inherit=True), space)
    except SystemExit:
        pass
    except BaseException as e:
        tests.end_of(e)
    if not tests.failed:
        tests.try_run(lambda: (tests.tree(text), text, space))
    try:
        import atexit
        atexit._run_exitfuncs()
        space.clear()  # closes the solution's files
    except BaseException:
        pass
    tests.finish()


_assay_together("@MODE@", "@REPORT@", "@SOLUTION@", "@TESTS@")
