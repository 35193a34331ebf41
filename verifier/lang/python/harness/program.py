# The program, alone: it is run as it would be, and then asked, one thing at a
# time, by a judge in other walls. Part of a run with codec.py before it.
# The program can reach all that is here; the judge believes nothing of it.
import _io

_TEXT_MAX = 1 << 20  # of what is printed in one call
_FUNCTIONS = (type(lambda: 0), type(len), type([].append), type(str.upper), type(_io.BytesIO.read))


def _place(v):
    """Where the library holds this very function or class; None for others."""
    module, word = getattr(v, "__module__", None), getattr(v, "__qualname__", None)
    if type(module) is not str or type(word) is not str or module == "__main__":
        return None
    return (module, word) if getattr(sys.modules.get(module), word, None) is v else None


class _Foreign:
    """An object of the tests, where it is not: whatever is asked of it is asked there."""

    __slots__ = ("_assay_k", "_assay_ask", "__weakref__")

    def __getattr__(self, word):
        if word[:2] == "__":
            raise AttributeError(word)
        return self._assay_ask("get", self._assay_k, word)

    def __setattr__(self, word, v):
        self._assay_ask("set", self._assay_k, word, (v,))


def _foreign_special(word):
    def special(self, *args):
        return self._assay_ask("special", self._assay_k, word, args)
    return special


class _Program(_Codec):
    """Objects of the program are numbered as they are first told of."""

    def __init__(self):
        super().__init__()
        self.ids, self.objects = {}, []
        self.foreign, self.foreign_ids, self.foreign_kinds = {}, {}, {}
        self.raised = {}  # id() of what a function of the tests raised -> (its number, it)
        self.loop = None
        self.fresh()
        self.takes.update({"h": lambda n: self.objects[n], "k": self.take_function,
                           "j": self.take_foreign, "g": self.take_items,
                           "x": self.take_error, "p": self.take_place})
        self.ops = {
            "names": lambda v, word, args, kw: [self.name(w) for w in args[0]],
            "name": lambda v, word, args, kw: self.space[word],
            "call": lambda v, word, args, kw: v(*args, **kw),
            "method": lambda v, word, args, kw: getattr(v, word)(*args, **kw),
            "get": lambda v, word, args, kw: getattr(v, word),
            "set": lambda v, word, args, kw: setattr(v, word, args[0]),
            "delete": lambda v, word, args, kw: delattr(v, word),
            "special": self.special, "await": lambda v, word, args, kw: self.wait(v),
            "next": lambda v, word, args, kw: next(v) if args[0] is None else v.send(args[0]),
            "anext": lambda v, word, args, kw: self.wait(v.__anext__()),
            "base": self.base, "copy": self.copy,
        }

    def fresh(self):
        self.said = _io.TextIOWrapper(_io.BytesIO(), "utf-8", "replace", "", write_through=True)

    # --- what is told of objects ---

    def number(self, v):
        self.ids[id(v)] = len(self.objects)
        self.objects.append(v)
        return len(self.objects) - 1

    def forget(self, mark):
        for v in self.objects[mark:]:
            self.ids.pop(id(v), None)
        del self.objects[mark:]

    def other(self, v, kind, parts, depth):
        if id(v) in self.ids:
            parts.append('{"h":%d}' % self.ids[id(v)])
        elif id(v) in self.foreign_ids:
            parts.append('{"k":%d}' % self.foreign_ids[id(v)])
        elif isinstance(v, type):
            self.add_class(v, parts, depth)
        elif isinstance(v, BaseException):
            self.tag("X", self.error(v), parts, depth)
        elif kind in _FUNCTIONS or kind.__name__ == "_lru_cache_wrapper":
            flags = getattr(getattr(v, "__code__", None), "co_flags", 0)
            name = str(getattr(v, "__name__", ""))
            self.tag("F", (self.number(v), name, flags & 0x80 != 0), parts, depth)
        elif kind.__module__ != "__main__" and hasattr(kind, "__next__"):
            parts.append('{"G":%d}' % self.number(v))
        elif kind.__module__ != "__main__" and hasattr(kind, "__anext__"):
            parts.append('{"A":%d}' % self.number(v))
        elif kind.__name__ == "coroutine":
            parts.append('{"W":%d}' % self.number(v))
        else:
            n = self.number(v)
            self.tag("H", (n, kind, self.hash(v, kind)), parts, depth)

    def hash(self, v, kind):
        """None is that of any object, True that of its plain value, False none at all."""
        if kind.__hash__ is object.__hash__:
            return None
        if any(kind.__hash__ is b.__hash__ for b in _PLAIN):
            return True
        try:
            return hash(v)
        except BaseException:
            return False

    def add_class(self, v, parts, depth):
        n, name = self.number(v), v.__name__
        bases = [b for b in v.__bases__ if b.__module__ == "__main__"]
        if issubclass(v, BaseException):
            self.tag("D", (n, name, self.error_base(v), bases), parts, depth)
            return
        base = next((b for b in v.__mro__ if b in _PLAIN), None)
        if base is not None and v.__eq__ is not base.__eq__:
            base = None  # what it is equal to is its own word
        special = [w for w in _SPECIAL if getattr(v, w, None) is not getattr(object, w, None) and (
            w in _CHANGES or getattr(v, w) is not getattr(base, w, None))]
        methods = [w for b in v.__mro__ if b.__module__ == "__main__" for w, f in vars(b).items()
                   if type(f) in (type(_place), classmethod, staticmethod) and w[:2] != "__"]
        self.tag("C", (n, name, bases, special, methods, base and base.__name__), parts, depth)

    def error_base(self, kind):
        return next(b.__name__ for b in kind.__mro__ if b.__module__ == "builtins")

    def error(self, e):
        kind = type(e)
        own = kind if kind.__module__ == "__main__" else None
        words = {w: self.plain(v) for w, v in list(vars(e).items())[:50] if type(w) is str}
        try:
            text = str(e)
        except BaseException:
            text = ""
        return (str(kind.__module__), kind.__qualname__, self.error_base(kind),
                [self.plain(a) for a in e.args], words, text[:10000], own)

    def plain(self, v):
        """It, or the words for it where it cannot cross."""
        mark = len(self.objects)
        try:
            self.enc(v)
        except BaseException:
            return str(v)
        finally:
            self.forget(mark)
        return v

    def name(self, word):
        """What the program has by this name: what it is, and more."""
        if word not in self.space:
            return None
        v = self.space[word]
        if type(v) is type(sys):
            return ["module", v.__name__]
        if isinstance(v, type) and issubclass(v, tuple) and _is_namedtuple(v):
            return ["tuple", v.__name__, list(v._fields), list(v._field_defaults.values())]
        mark = len(self.objects)
        try:
            self.enc(v)
        except _Opaque as e:
            return ["opaque", str(e)]
        finally:
            self.forget(mark)
        own = isinstance(v, type) or type(v) in _FUNCTIONS or \
            type(v).__name__ == "_lru_cache_wrapper"
        if own and _place(v):
            return ["library", *_place(v), v]
        return ["own" if own else "value", v if own else None]

    # --- what comes from the tests ---

    def take_function(self, v):
        k, name, params = v
        if k not in self.foreign:
            def call(*args, **kwargs):
                return self.back("call", k, None, args, kwargs)
            call.__name__ = call.__qualname__ = name
            if params is not None:
                call.__wrapped__ = eval("lambda %s: 0" % params)
            self.keep_foreign(k, call)
        return self.foreign[k]

    def keep_foreign(self, k, v):
        self.foreign[k], self.foreign_ids[id(v)] = v, k

    def take_foreign(self, v):
        k, name, special = v
        if k not in self.foreign:
            kind = self.foreign_kinds.get((name, tuple(special)))
            if kind is None:
                space = {w: _foreign_special(w) for w in special}
                space["__slots__"] = ()
                space.setdefault("__hash__", object.__hash__)
                kind = self.foreign_kinds[name, tuple(special)] = type(name, (_Foreign,), space)
            made = object.__new__(kind)
            _Foreign._assay_k.__set__(made, k)
            _Foreign._assay_ask.__set__(made, self.back)
            self.keep_foreign(k, made)
        return self.foreign[k]

    def take_items(self, k):
        if k not in self.foreign:
            def items():
                while True:
                    v = self.back("next", k)
                    if v is None:
                        return
                    yield v[0]
            self.keep_foreign(k, items())
        return self.foreign[k]

    def take_error(self, v):
        kind, base, args = v
        if type(kind) is str:
            plain = getattr(_builtins, base)
            kind = plain if kind == base else type(kind, (plain,), {})
        return kind(*args)

    def take_place(self, v):
        """A function or class of the library that the tests gave: here it is this one."""
        k, module, word = v
        if k not in self.foreign:
            self.keep_foreign(k, getattr(__import__(module, fromlist=["_"]), word))
        return self.foreign[k]

    # --- what is asked ---

    def special(self, v, word, args, kwargs):
        if isinstance(v, type):
            return {"__getitem__": lambda k: v[k], "__iter__": lambda: iter(v),
                    "__len__": lambda: len(v), "__contains__": lambda k: k in v}[word](*args)
        return getattr(type(v), word)(v, *args, **kwargs)

    def base(self, v, word, args, kwargs):
        """A copy of the plain value that an object is besides."""
        kind = next(b for b in type(v).__mro__ if b in _PLAIN)
        if issubclass(kind, dict):
            return {k: dict.__getitem__(v, k) for k in dict.__iter__(v)}
        if kind in (int, float, str, complex):
            return {int: int.__int__, float: float.__float__, str: str.__str__,
                    complex: complex.__pos__}[kind](v)
        return kind(kind.__iter__(v))

    def copy(self, v, word, args, kwargs):
        import copy
        return (copy.deepcopy if args else copy.copy)(v)

    def wait(self, v):
        import asyncio

        async def wait():
            return await v
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(wait())

    def printed(self):
        raw = self.said.buffer
        if not raw.tell():
            return "null"
        text = raw.getvalue()[:_TEXT_MAX].decode("utf-8", "replace")
        raw.seek(0)
        raw.truncate()
        return _quote(text)

    def outcome(self, op, v, word, args, kwargs):
        """What it comes to: a letter and a value."""
        was = sys.stdout
        if op != "names":
            sys.stdout = self.said
        try:
            return "r", self.ops[op](v, word, args, kwargs)
        except BaseException as e:
            known = self.raised.get(id(e))
            if known:
                return "a", known[0]
            ends = op in ("next", "anext", "await") or word in ("__next__", "__anext__")
            if ends and type(e) in (StopIteration, StopAsyncIteration):
                return "n", getattr(e, "value", None)
            return "e", e
        finally:
            if op != "names":
                sys.stdout = was

    def turn(self, line):
        """Answers one question."""
        head, _, given = line.partition("\t")
        op, n, word = self.dec(head)
        args, kwargs = self.dec(given)
        found = _changeable_in(args, kwargs)
        self.know(found)
        v = self.objects[n] if n is not None else None
        letter, value = self.outcome(op, v, word, args, kwargs)
        mark = len(self.objects)
        try:
            after = self.changed(args, kwargs, given, found)
            text = '["%s",%s,%s,%s]' % (letter, self.enc(value), after, self.printed())
            if len(text) > _LINE_MAX:
                raise _Opaque("more than can cross")
        except BaseException as e:
            self.forget(mark)
            text = '["o",%s,null,null]' % _quote(str(e)[:200])
        self.know([])
        self.tell(text)

    def changed(self, args, kwargs, given, found):
        """What is in the arguments, if it is not what was; as text."""
        if not found:
            return "null"
        self.know([])
        mark = len(self.objects)
        same = self.enc([args, kwargs]) == given
        self.forget(mark)
        self.know(found)
        return "null" if same else self.enc(self.contents())

    def back(self, op, k, word=None, args=(), kwargs=None):
        """Asks the tests, while they wait for an answer."""
        args, kwargs, known = list(args), kwargs or {}, self.known
        self.tell('["k",%s,%s,%s]' % (self.enc([op, k, word]), self.enc([args, kwargs]),
                                      self.printed()))
        was, sys.stdout = sys.stdout, self.stdout
        try:
            line = self.read()
            while line[0] != "=":
                self.turn(line)
                line = self.read()
        finally:
            sys.stdout = was
        self.know(_changeable_in(args, kwargs))
        letter, value, after = self.dec(line[1:])
        if after is not None:
            self.fill_all(after)
        self.know(known)
        if letter == "e":
            number, error = value
            self.raised[id(error)] = number, error
            raise error
        return value

    def tell(self, text):
        try:
            self.wire.send(text)
        except OSError:
            self.leave(0)  # nobody waits for it any more

    def read(self):
        line = self.wire.line()
        if line is None:
            self.leave(0)
        return line

    def leave(self, code):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        posix._exit(code)

    def serve(self):
        self.stdout = sys.stdout
        try:
            self.stdout.flush()
        except BaseException:
            pass
        while True:
            self.turn(self.read())


_program = _Program()  # there before the program is, for a template to have it


def _assay_program(solution_name):
    wire, hook = _Wire(1 << 40), sys.__excepthook__
    path = sys.path[0] + "/" + solution_name
    with open(path, "rb") as f:
        code = f.read()
    space = _main_module(path)
    _program.space, _program.wire = space, wire
    try:
        exec(compile(code, path, "exec", dont_inherit=True), space)
    except SystemExit:
        pass
    except BaseException as e:
        trace = e.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        hook(type(e), e.with_traceback(trace), trace)
        _program.leave(1)
    _program.serve()


_assay_program("@SOLUTION@")
