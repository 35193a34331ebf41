# Runs tests and counts their assertions: which held, which failed, and which
# were left open, since the program's own word decided them. Part of a run with
# together.py, beside the program, or with judge.py, apart from it.
import _ast
import posix
import sys

_FUNCTION = (_ast.FunctionDef, _ast.AsyncFunctionDef)


def _words(text):
    """Text as JSON has it."""
    parts = ['"']
    for c in text[:500]:
        n = ord(c)
        if n > 0xFFFF:
            n -= 0x10000
            parts.append("\\u%04x\\u%04x" % (0xD800 + (n >> 10), 0xDC00 + (n & 0x3FF)))
        elif n < 32 or n > 126 or c in '"\\':
            parts.append("\\u%04x" % (0xFFFD if 0xD800 <= n < 0xE000 else n))
        else:
            parts.append(c)
    parts.append('"')
    return "".join(parts)


# What holds no part of a tree: of each kind of node only the others are looked at.
_LEAVES = set("ctx op ops id attr arg conversion level module asname type_comment kind".split())
_PARTS = {k: () if k is _ast.Constant else tuple(f for f in k._fields if f not in _LEAVES)
          for k in vars(_ast).values() if hasattr(k, "_fields")}
_WORDS = (_ast.Name, _ast.Attribute)
_BLOCKS = ("body", "orelse", "finalbody")
_HOLD_STATEMENTS = (*_BLOCKS, "handlers", "cases")
# The kinds of node that have one of these, or cases; that bind a name to a value.
_HAVE_BLOCKS = {k for k, parts in _PARTS.items() if not {*_BLOCKS, "cases"}.isdisjoint(parts)}
_FLOW = {_ast.Assign, _ast.AugAssign, _ast.AnnAssign, _ast.NamedExpr, _ast.For, _ast.comprehension,
         *_FUNCTION}


def _nodes(tree):
    found, todo = [], [tree]
    while todo:
        node = todo.pop()
        found.append(node)
        for field in _PARTS[type(node)]:
            value = getattr(node, field, None)
            if type(value) is list:
                todo += [v for v in value if isinstance(v, _ast.AST)]
            elif isinstance(value, _ast.AST):
                todo.append(value)
    return found


def _at(node, place):
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.lineno, place.col_offset
    return node


def _name(place, word, store=False):
    return _at(_ast.Name(id=word, ctx=_ast.Store() if store else _ast.Load()), place)


def _constant(place, value):
    return _at(_ast.Constant(value=value), place)


def _call(place, word, args):
    return _at(_ast.Call(func=_name(place, word), args=args, keywords=[]), place)


def _do(place, word, args):
    return _at(_ast.Expr(value=_call(place, word, args)), place)


def _assign(place, word, value):
    return _at(_ast.Assign(targets=[_name(place, word, True)], value=value), place)


def _not(place, value):
    return _at(_ast.UnaryOp(op=_ast.Not(), operand=value), place)


def _is_constant(nodes):
    return bool(nodes) and isinstance(nodes[0], _ast.Constant)


def _truths(node):
    """The calls that a truth consists of."""
    if isinstance(node, _ast.BoolOp):
        return [n for v in node.values for n in _truths(v)]
    if isinstance(node, _ast.UnaryOp):
        return _truths(node.operand)
    if isinstance(node, _ast.Await):
        return _truths(node.value)
    if isinstance(node, _ast.Call) and getattr(node.func, "attr", "")[:6] == "assert":
        return [n for v in node.args[:1] for n in _truths(v)]
    return [node] if isinstance(node, _ast.Call) else []


class _Pending:
    """An assertRaises for a with: it is decided at its end."""

    def __init__(self, tests, entry, inner):
        self.tests, self.entry, self.inner = tests, entry, inner

    def __enter__(self):
        return self.inner.__enter__()

    def __exit__(self, *error):
        with_end = self.tests.decided(self.entry, self.inner.__exit__)
        value = with_end(*error)
        if error[0] is not None and not value:
            self.tests.raised(self.entry)
        else:
            self.tests.held(self.entry)
        return value


class _Tests:
    def __init__(self, report_path, tests_path):
        self.report_path, self.tests_path = report_path, tests_path
        self.pid = posix.getpid()
        self.assertions = self.failed = 0
        self.apart = True  # from the program
        self.unlike = None  # why the tests cannot be judged apart from the program
        self.failures, self.undecided = [], []
        self.results = {}  # line of an assertion -> whether it held, every time
        self.open = []  # [line, why its truth is the program's own word]
        self.called, self.told = set(), []
        self.sites, self.places = None, set()  # those in the text; where some were made
        self.settle = lambda entry: None  # told of each that is decided
        self.before_run = lambda: None  # told when all is read and rewritten
        self.look_back = lambda: None  # told of the end
        self.truths = set()  # line and name of calls that are the truth of an assertion
        self.lines, self.looked = [""], {}  # line -> whether all() had anything to decide
        self.inside = False

    # --- what becomes of an assertion ---

    def begin(self, line, column=None):
        self.assertions += 1
        entry = [line, None]
        self.places.add((line, column))
        frame = sys._getframe()
        while frame:
            if frame.f_code.co_filename == self.tests_path:
                self.places.add((frame.f_lineno, None))
            frame = frame.f_back
        self.open.append(entry)
        return entry

    def end(self, entry):
        self.settle(entry)
        self.open = [e for e in self.open if e is not entry]

    def held(self, entry):
        self.end(entry)
        if entry[1]:
            self.leave_open(*entry)
        else:
            self.results.setdefault(entry[0], True)

    def raised(self, entry):
        self.end(entry)
        if not self.apart:
            self.assertions -= 1
            return
        self.leave_open(entry[0], "it ended before it was decided")

    def leave_open(self, line, why):
        self.undecided.append((line, why))

    # One that is not in a function does not keep those after it from running.
    def broken(self, entry, source, is_top, message):
        self.end(entry)
        text = source if message is None else "%s (%s)" % (source, self.show(message))
        self.fail(entry[0], "assert " + text)
        self.results[entry[0]] = False
        if not is_top:
            raise AssertionError(text)

    def differ(self, entry, source, is_top, left, right, message):
        source = "%s: left is %s, right is %s" % (source, self.show(left), self.show(right))
        self.broken(entry, source, is_top, message)

    def show(self, value):
        try:
            text = repr(value)
        except BaseException as e:
            text = "<%s in repr>" % type(e).__name__
        return text if len(text) <= 200 else text[:200] + "..."

    def fail(self, line, message):
        self.failed += 1
        if len(self.failures) < 20:
            self.failures.append('{"line":%d,"message":%s}' % (line, _words(message)))

    def line(self):
        """The line of the tests that is being run."""
        frame = sys._getframe()
        while frame and frame.f_code.co_filename != self.tests_path:
            frame = frame.f_back
        return frame.f_lineno if frame else 0

    # --- the report ---

    def finish(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        if posix.getpid() != self.pid:
            posix._exit(1)  # a child of the tests is not who reports
        for entry in self.open:
            self.raised(entry)
        for line in self.sites.unmade(self.places) if self.apart and self.sites else ():
            self.leave_open(line, "it was never made")
        for line, had in self.looked.items():
            if not had:
                self.leave_open(line, "nothing was there for all() or any() to decide")
        self.look_back()
        self.write(self.report())
        posix._exit(1 if self.failed else 0)

    def report(self):
        left_open = dict(reversed(self.undecided))
        lines = ",".join("[%d,%s]" % (n, "true" if v else "false") for n, v in
                         sorted(self.results.items())[:200] if not v or n not in left_open)
        undecided = ",".join('{"line":%d,"why":%s}' % (n, _words(why))
                             for n, why in sorted(left_open.items())[:50])
        return '{"assertions":%d,"failed":%d,"failures":[%s],"lines":[%s],' \
            '"undecided":[%s],"unlike":%s}\n' % (
                self.assertions, self.failed, ",".join(self.failures), lines, undecided,
                _words(self.unlike) if self.unlike else "null")

    def write(self, text):
        fd = posix.open(self.report_path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL |
                        posix.O_CLOEXEC, 0o600)
        data = text.encode()
        while data:
            data = data[posix.write(fd, data):]
        posix.close(fd)

    # --- rewriting, on the interpreter's own tree; the ast module is not loaded ---

    def source_of(self, node):
        if node.lineno != node.end_lineno:
            return self.lines[node.lineno - 1].strip()[:200]
        part = self.lines[node.lineno - 1].encode()[node.col_offset:node.end_col_offset]
        return part.decode("utf-8", "replace")[:200]

    def rewrite_assert(self, node, is_top):
        test = node.test
        if isinstance(test, _ast.Constant) and test.value:
            return [node]  # cannot fail, so it counts for nothing
        entry = _name(node, "_assay_entry")
        args = [entry, _constant(node, self.source_of(test)), _constant(node, is_top)]
        deciding, handler = [], "_assay_broken"
        if isinstance(test, _ast.Compare) and len(test.ops) == 1:
            deciding = [_assign(node, "_assay_left", test.left),
                        _assign(node, "_assay_right", test.comparators[0])]
            left, right = _name(node, "_assay_left"), _name(node, "_assay_right")
            test = _at(_ast.Compare(left=left, ops=test.ops, comparators=[right]), node)
            args += [left, right]
            handler = "_assay_differ"
        args.append(node.msg or _constant(node, None))
        deciding.append(_assign(node, "_assay_ok", _not(node, _not(node, test))))
        again = _at(_ast.Raise(exc=None, cause=None), node)
        leaving = _at(_ast.ExceptHandler(type=None, name=None, body=[
            _do(node, "_assay_raised", [entry]), again]), node)
        return [
            _assign(node, "_assay_entry", _call(node, "_assay_begin",
                                                [_constant(node, node.lineno),
                                                 _constant(node, node.col_offset)])),
            _at(_ast.Try(body=deciding, handlers=[leaving], orelse=[], finalbody=[]), node),
            _at(_ast.If(test=_name(node, "_assay_ok"), body=[_do(node, "_assay_held", [entry])],
                        orelse=[_do(node, handler, args)]), node)]

    def rewrite(self, node, is_top=True):
        is_top = is_top and not isinstance(node, (*_FUNCTION, _ast.Try, _ast.With))
        for field in _HOLD_STATEMENTS:
            value = getattr(node, field, None)
            if isinstance(value, list) and value:
                out = []
                for item in value:
                    if isinstance(item, _ast.Assert):
                        out.extend(self.rewrite_assert(item, is_top))
                    else:
                        self.rewrite(item, is_top)
                        out.append(item)
                setattr(node, field, out)
        if isinstance(node, _FUNCTION) and node.name[:4] == "test":
            node.body.insert(0, _do(node, "_assay_called", [_constant(node, node.name)]))

    # --- unittest and test functions ---

    def decided(self, entry, method):
        """method, whose AssertionError is the end of the assertion."""
        def call(*args, **kwargs):
            was, self.inside = self.inside, True
            try:
                return method(*args, **kwargs)
            except AssertionError as e:
                self.end(entry)
                self.results[entry[0]] = False
                self.fail(entry[0], str(e).strip().partition("\n")[0])
                self.told.append(e)
                raise
            except BaseException:
                self.raised(entry)
                raise
            finally:
                self.inside = was
        return call

    def counted(self, method):
        def wrapper(*args, **kwargs):
            if self.inside:
                return method(*args, **kwargs)
            entry = self.begin(self.line())
            value = self.decided(entry, method)(*args, **kwargs)
            if hasattr(value, "__exit__"):
                return _Pending(self, entry, value)
            self.held(entry)
            return value
        return wrapper

    def count_unittest(self):
        import unittest
        for word in dir(unittest.TestCase):
            if word.startswith("assert"):
                setattr(unittest.TestCase, word, self.counted(getattr(unittest.TestCase, word)))
        unittest.main = lambda *args, **kwargs: None

    def run_unittest(self, space):
        import unittest
        tests = self

        class Result(unittest.TextTestResult):
            def _exc_info_to_string(self, error, test):
                text = super()._exc_info_to_string(error, test)
                if not any(error[1] is e for e in tests.told):
                    tests.fail(0, "%s: %s" % (test, text.strip().splitlines()[-1]))
                return text

        cases = [v for v in list(space.values())
                 if isinstance(v, type) and issubclass(v, unittest.TestCase)
                 and v is not unittest.TestCase]
        loader = unittest.TestLoader()
        suite = unittest.TestSuite(loader.loadTestsFromTestCase(c) for c in cases)
        result = unittest.TextTestRunner(stream=sys.stderr, resultclass=Result).run(suite)
        if not result.wasSuccessful() and not self.failed:
            self.fail(0, "a test that should have failed did not")

    def run_functions(self, space):
        for word, f in list(space.items()):
            code = getattr(f, "__code__", None)
            if not word.startswith("test") or code is None or word in self.called:
                continue
            required = code.co_argcount - len(getattr(f, "__defaults__", None) or ())
            if code.co_filename != self.tests_path or required:
                continue
            result = f()
            if code.co_flags & 0x80:  # a coroutine
                import asyncio
                asyncio.run(result)

    # --- the run ---

    def end_of(self, error):
        """What is to be said of an exception that ended a stage; skips our frames."""
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.__excepthook__(type(error), BaseException.with_traceback(error, trace), trace)
        if self.failed and isinstance(error, AssertionError):
            return
        line = 0
        while trace:
            if trace.tb_frame.f_code.co_filename == self.tests_path:
                line = trace.tb_lineno
            trace = trace.tb_next
        try:
            words = str(error)
        except BaseException:
            words = ""
        self.fail(line, "%s: %s" % (type(error).__name__, words))

    def tree(self, tests):
        self.lines = tests.decode("utf-8", "replace").splitlines() or [""]
        return compile(tests, self.tests_path, "exec", 0x400)  # the syntax tree only

    def run(self, tree, tests, space):
        nodes = _nodes(tree)
        self.sites, self.answers = _Sites(nodes), _Answers(nodes)
        self.truths = {(n.lineno, self.sites.word(n)) for s in self.sites.sites
                       for n in _truths(s.test if isinstance(s, _ast.Assert) else s)}
        self.rewrite(tree)
        if self.apart:
            self.sites.name_all(tree)
            space["_assay_ref"] = self.sites.ref
        if b"unittest" in tests:
            self.count_unittest()
        if b"random" in tests:
            __import__("random").seed(0)
        for word in ("begin", "held", "raised", "broken", "differ"):
            space["_assay_" + word] = getattr(self, word)
        space["_assay_called"] = self.called.add
        code = compile(tree, self.tests_path, "exec")
        self.before_run()
        exec(code, space)
        if b"unittest" in tests:
            self.run_unittest(space)
        self.run_functions(space)

    def try_run(self, prepare):
        try:
            self.run(*prepare())
        except SystemExit:
            self.fail(0, "the tests were left by sys.exit before their end")
        except BaseException as e:
            self.end_of(e)
