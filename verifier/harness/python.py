# Runs a solution, then its tests in the same namespace, and reports how many
# assertions were executed and which failed. What it reports from there is what
# the program may have forged: both share one interpreter. So the calls that the
# tests make are noted, too; "answer" makes the same calls where the tests are
# not, and "confirm" runs the tests where the program is not, on its answers.
# verifier/tests.h says which of them is believed.
import posix
import sys


def _assay_main(mode, report_path, data_path, solution_name, tests_name):
    work = sys.path[0]
    solution_path = work + "/" + solution_name
    tests_path = work + "/" + tests_name
    state = {"assertions": 0, "failed": 0, "own": False, "asked": False, "unlike": None}
    by_own = []  # lines of assertions that the program's own word decided
    failures = []
    results = {}  # line of an assertion -> whether it held, every time
    called = set()
    write, close, leave = posix.write, posix.close, posix._exit
    open_file = posix.open
    creat = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
    hook = sys.__excepthook__

    def read(path):
        with open(path, "rb") as f:
            return f.read()

    def quote(text):
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

    def show(value):
        try:
            text = repr(value)
        except BaseException as e:
            text = "<%s in repr>" % type(e).__name__
        return text if len(text) <= 200 else text[:200] + "..."

    def fail(line, message):
        state["failed"] += 1
        if len(failures) < 20:
            failures.append('{"line":%d,"message":%s}' % (line, quote(message)))

    def leave_file(path, text):
        fd = open_file(path, creat, 0o600)
        data = text.encode("utf-8", "surrogatepass")
        while data:
            data = data[write(fd, data):]
        close(fd)

    def finish(code):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        lines = ",".join("[%d,%s]" % (n, "true" if results[n] else "false")
                         for n in sorted(results)[:200])
        text = '{"assertions":%d,"failed":%d,"failures":[%s],"lines":[%s],"own":%d,"unlike":%s}\n' % (
            state["assertions"], state["failed"], ",".join(failures), lines, len(by_own),
            quote(state["unlike"]) if state["unlike"] else "null")
        leave_file(report_path, text)
        leave(code)

    # --- what the rewritten assert statements call ---

    def hit(line=0):
        state["assertions"] += 1
        results.setdefault(line, True)

    # It held. An assertion that the program's own objects decided is not one.
    def held(line=0):
        if state["own"]:
            state["assertions"] -= 1
            by_own.append(line)
            results.pop(line, None)
        state["own"] = state["asked"] = False

    # One that is not in a function does not keep those after it from running.
    def broken(line, source, is_top, message):
        text = source if message is None else "%s (%s)" % (source, show(message))
        fail(line, "assert " + text)
        results[line] = False
        if not is_top:
            raise AssertionError(text)

    def differ(line, source, is_top, left, right, message):
        source = "%s: left is %s, right is %s" % (source, show(left), show(right))
        broken(line, source, is_top, message)

    # --- rewriting, on the interpreter's own tree; the ast module is not loaded ---

    import _ast

    # The tests run in the solution's namespace: names that it cannot have guessed.
    tag = "_%s_" % posix.urandom(8).hex()

    def at(node, place):
        node.lineno, node.col_offset = place.lineno, place.col_offset
        node.end_lineno, node.end_col_offset = place.lineno, place.col_offset
        return node

    def name(place, word, store=False):
        return at(_ast.Name(id=word, ctx=_ast.Store() if store else _ast.Load()), place)

    def call(place, word, args):
        return at(_ast.Call(func=name(place, word), args=args, keywords=[]), place)

    def assign(place, word, value):
        return at(_ast.Assign(targets=[name(place, word, True)], value=value), place)

    def constant(place, value):
        return at(_ast.Constant(value=value), place)

    def source_of(node, lines):
        if node.lineno != node.end_lineno:
            return lines[node.lineno - 1].strip()[:200]
        part = lines[node.lineno - 1].encode()[node.col_offset:node.end_col_offset]
        return part.decode("utf-8", "replace")[:200]

    def rewrite_assert(node, lines, is_top):
        test = node.test
        if isinstance(test, _ast.Constant) and test.value:
            return [node]  # cannot fail, so it counts for nothing
        args = [constant(node, node.lineno), constant(node, source_of(test, lines)),
                constant(node, is_top)]
        body = []
        handler = tag + "broken"
        if isinstance(test, _ast.Compare) and len(test.ops) == 1:
            body.append(assign(node, tag + "l", test.left))
            body.append(assign(node, tag + "r", test.comparators[0]))
            test = at(_ast.Compare(left=name(node, tag + "l"), ops=test.ops,
                                   comparators=[name(node, tag + "r")]), node)
            args += [name(node, tag + "l"), name(node, tag + "r")]
            handler = tag + "differ"
        args.append(node.msg or constant(node, None))
        raising = at(_ast.Expr(value=call(node, handler, args)), node)
        hits = call(node, tag + "hit", [constant(node, node.lineno)])
        body.append(at(_ast.Expr(value=hits), node))
        negated = at(_ast.UnaryOp(op=_ast.Not(), operand=test), node)
        holding = at(_ast.Expr(value=call(node, tag + "held", [constant(node, node.lineno)])), node)
        body.append(at(_ast.If(test=negated, body=[raising], orelse=[holding]), node))
        return body

    def rewrite(node, lines, is_top=True):
        is_top = is_top and not isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef,
                                                  _ast.Try, _ast.With))
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list) and value and isinstance(value[0], _ast.AST):
                out = []
                for item in value:
                    if isinstance(item, _ast.Assert):
                        out.extend(rewrite_assert(item, lines, is_top))
                    else:
                        rewrite(item, lines, is_top)
                        out.append(item)
                setattr(node, field, out)
        if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef)) and node.name[:4] == "test":
            mark = call(node, tag + "called", [constant(node, node.name)])
            node.body.insert(0, at(_ast.Expr(value=mark), node))

    # --- calls of the program, noted: its names in the tests become those of wrappers ---

    def nodes(tree):
        todo = [tree]
        while todo:
            node = todo.pop()
            yield node
            for field in node._fields:
                value = getattr(node, field, None)
                todo.extend(v for v in (value if isinstance(value, list) else [value])
                            if isinstance(v, _ast.AST))

    def note_calls(tree, recorder):
        bound, called_names = set(), set()
        for node in nodes(tree):
            if isinstance(node, _ast.Name) and not isinstance(node.ctx, _ast.Load):
                bound.add(node.id)
            elif isinstance(node, _ast.arg):
                bound.add(node.arg)
            elif isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name):
                called_names.add(id(node.func))
        for word, v in list(space.items()):
            if recorder.is_class(v) and not issubclass(v, (BaseException, tuple)):
                recorder.watch(v)
        for node in nodes(tree):
            if not isinstance(node, _ast.Name) or node.id in bound:
                continue
            v = space.get(node.id)
            if recorder.is_function(v) or (id(node) in called_names and recorder.is_class(v) and
                                           not issubclass(v, (BaseException, tuple))):
                if tag + node.id not in space:
                    space[tag + node.id] = recorder.wrap(node.id, v)
                node.id = tag + node.id

    # --- the solution without what it does: tests that pass on it prove nothing ---

    def stub(node):
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list) and field == "body":
                keep = (_ast.Import, _ast.ImportFrom, _ast.FunctionDef, _ast.AsyncFunctionDef,
                        _ast.ClassDef, _ast.Assign, _ast.AnnAssign)
                value[:] = [v for v in value if isinstance(v, keep)]
                for item in value:
                    stub(item)
                    if isinstance(item, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
                        item.body[:] = [at(_ast.Pass(), item)]
                if isinstance(node, _ast.ClassDef) and not value:
                    value.append(at(_ast.Pass(), node))
            elif isinstance(value, _ast.Lambda):
                value.body = constant(value, None)
            elif isinstance(value, _ast.Call):
                setattr(node, field, constant(value, None))
        return node

    # --- unittest and test functions ---

    def count_unittest():
        import unittest

        def counted(method):
            def wrapper(*args, **kwargs):
                hit()
                value = method(*args, **kwargs)
                held()
                return value
            return wrapper

        for word in dir(unittest.TestCase):
            if word.startswith("assert"):
                setattr(unittest.TestCase, word, counted(getattr(unittest.TestCase, word)))
        unittest.main = lambda *args, **kwargs: None

    def run_unittest(space):
        import unittest

        cases = [v for v in list(space.values())
                 if isinstance(v, type) and issubclass(v, unittest.TestCase)
                 and v is not unittest.TestCase]
        loader = unittest.TestLoader()
        suite = unittest.TestSuite(loader.loadTestsFromTestCase(c) for c in cases)
        result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
        for case, text in result.failures + result.errors:
            fail(0, "%s: %s" % (case, text.strip().splitlines()[-1]))

    def run_functions(space):
        for word, f in list(space.items()):
            code = getattr(f, "__code__", None)
            if not word.startswith("test") or code is None or word in called:
                continue
            required = code.co_argcount - len(getattr(f, "__defaults__", None) or ())
            if code.co_filename != tests_path or required:
                continue
            result = f()
            if code.co_flags & 0x80:  # a coroutine
                import asyncio
                asyncio.run(result)

    # --- the run ---

    def take(path):
        if not path:
            return b""
        data = read(path)
        try:
            posix.unlink(path)
        except OSError:
            pass
        return data

    code = read(solution_path)
    tests = take(tests_path) if mode != "answer" else b""
    given = [take(work + "/" + f).decode("utf-8", "surrogatepass")
             for f in {"answer": ["assay_calls"],
                       "confirm": ["assay_calls", "assay_answers"]}.get(mode, [])]
    try:
        posix.unlink(__file__)
    except OSError:
        pass
    module = type(sys)("__main__")
    space = module.__dict__
    space["__file__"] = solution_path
    space["__builtins__"] = __builtins__
    for word in ("__main__", "main", "solution"):
        sys.modules[word] = module
    sys.argv[0] = solution_path

    def end_of(error):
        """What is to be said of an exception that ended a stage; skips our frames."""
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        hook(type(error), error.with_traceback(trace), trace)
        if not (state["failed"] and isinstance(error, AssertionError)):
            line = 0
            while trace:
                if trace.tb_frame.f_code.co_filename == tests_path:
                    line = trace.tb_lineno
                trace = trace.tb_next
            fail(line, "%s: %s" % (type(error).__name__, error))

    def run_solution():
        text = code
        try:
            if mode == "stub":
                text = stub(compile(code, solution_path, "exec", 0x400, dont_inherit=True))
            exec(compile(text, solution_path, "exec", dont_inherit=True), space)
        except SystemExit:
            pass
        except BaseException as e:
            end_of(e)

    def run_tests(recorder):
        tree = compile(tests, tests_path, "exec", 0x400)  # the syntax tree only
        rewrite(tree, tests.decode("utf-8", "replace").splitlines() or [""])
        if recorder:
            note_calls(tree, recorder)
        if b"unittest" in tests:
            count_unittest()
        if b"random" in tests:
            __import__("random").seed(0)
        space[tag + "hit"], space[tag + "broken"], space[tag + "held"] = hit, broken, held
        space[tag + "differ"], space[tag + "called"] = differ, called.add
        exec(compile(tree, tests_path, "exec"), space)
        if b"unittest" in tests:
            run_unittest(space)
        run_functions(space)

    def try_tests(recorder):
        try:
            run_tests(recorder)
        except SystemExit:
            fail(0, "the tests were left by sys.exit before their end")
        except BaseException as e:
            end_of(e)

    def together():
        recorder = None
        run_solution()
        if mode == "together" and not state["failed"]:
            recorder = _Recorder(space)
            try:
                recorder.names()
            except BaseException:
                recorder.shared("the names of the program cannot be listed")
        if not state["failed"]:
            try_tests(recorder)
        if recorder and not state["failed"]:
            state["unlike"] = recorder.why
            leave_file(data_path, recorder.codec.enc(recorder.calls))

    def answer():
        run_solution()
        program = _Program(space)
        said = [program.names()]
        for key in program.codec.dec(given[0]):
            said.append(program.answer(key))
        leave_file(data_path, program.codec.enc(said))

    def confirm():
        codec = _Codec()
        calls, answers = codec.dec(given[0]), codec.dec(given[1])
        if type(calls) is not list or {type(c) for c in calls} - {str} or \
                codec.enc(calls) != given[0]:
            raise _Opaque("calls that hold more than calls")
        stubs = _Stubs(calls, answers[1:], state)
        stubs.fill(space, answers[0])
        try_tests(None)
        if stubs.at != len(calls) and not state["failed"]:
            state["unlike"] = state["unlike"] or "without the program, the tests make fewer calls"

    try:
        {"answer": answer, "confirm": confirm}.get(mode, together)()
        import atexit
        atexit._run_exitfuncs()
        space.clear()  # closes the solution's files
    except BaseException as e:
        if mode in ("answer", "confirm"):
            state["unlike"] = state["unlike"] or str(e) or type(e).__name__
    finish(1 if state["failed"] else 0)


_assay_main("@MODE@", "@REPORT@", "@DATA@", "@SOLUTION@", "@TESTS@")
