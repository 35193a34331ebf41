# How a program's answers are taken from it, so that the tests can judge them
# where the program is not (verifier/tests.h). Part of python.py.
#
# Values cross as text that has one form for one value: a tag, a length where
# there is one, the content. Exact types of the language and a few of its
# library cross by value. An object of a class of the program is a number: what
# is known of it are its plain attributes, and its methods are asked like
# functions. What cannot cross makes the whole run one that proves nothing.
import sys

_SIZE_MAX = 3 << 20  # of all calls or answers: they are kept in the log
_ITEMS_MAX = 10000  # taken from an iterator


class _Opaque(Exception):
    pass


class _Unlike(BaseException):
    """The tests asked what was not asked before; no test may catch it."""


def _args_of_datetime(v):
    if v.tzinfo is not None:
        raise _Opaque("a time with a zone")
    return (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond)


# What makes an equal value again: type(*args).
_REDUCED = {
    "builtins.complex": lambda v: (v.real, v.imag),
    "builtins.bytearray": lambda v: (bytes(v),),
    "builtins.range": lambda v: (v.start, v.stop, v.step),
    "decimal.Decimal": lambda v: (str(v),),
    "fractions.Fraction": lambda v: (v.numerator, v.denominator),
    "datetime.date": lambda v: (v.year, v.month, v.day),
    "datetime.datetime": _args_of_datetime,
    "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
    "collections.deque": lambda v: (list(v), v.maxlen),
    "collections.Counter": lambda v: (dict(v),),
    "collections.OrderedDict": lambda v: (list(v.items()),),
    "collections.defaultdict": lambda v: (None, dict(v)),
}


def _is_library(module):
    """Not unittest: its objects are made to be equal to others and to pass."""
    root = module.partition(".")[0]
    return root != "unittest" and (
        root in sys.stdlib_module_names or root in ("numpy", "pandas"))


def _is_plain(v):
    """A function, or a class that is equal to itself alone."""
    kind = type(v)
    return kind in (type(_is_library), type(len)) or (
        issubclass(kind, type) and kind.__eq__ is type.__eq__)


def _place(v):
    """Where the library holds this very function or class; None for others."""
    if not _is_plain(v):
        return None
    module, word = getattr(v, "__module__", None), getattr(v, "__qualname__", None)
    if type(module) is not str or type(word) is not str or not _is_library(module):
        return None
    at = sys.modules.get(module)
    for step in word.split("."):
        at = getattr(at, step, None)
    return (module, word) if at is v else None


def _at_place(module, word):
    if not _is_library(module):
        raise _Opaque("a module of its own")
    at = __import__(module, fromlist=["_"])
    for step in word.split(".") if word else ():
        at = getattr(at, step)
    return at


class _Codec:
    """Objects are numbered in the order in which they are first seen."""

    def __init__(self):
        self.ids = {}  # id() -> number
        self.objects = {}  # number -> object, which keeps its id() in use
        self.size = 0

    def classes(self, v):
        """The name of the program's class that v is one of; None for others."""
        kind = type(v)
        return kind.__name__ if getattr(kind, "__module__", None) == "__main__" else None

    def number(self, v):
        n = self.ids.get(id(v))
        if n is None:
            n = self.ids[id(v)] = len(self.objects)
            self.objects[n] = v
        return n

    def enc(self, v):
        parts = []
        self.add(v, parts, 0)
        text = "".join(parts)
        self.size += len(text)
        if self.size > _SIZE_MAX:
            raise _Opaque("more than can be kept")
        return text

    def many(self, tag, items, parts, depth):
        parts.append("%s%d:" % (tag, len(items)))
        for item in items:
            self.add(item, parts, depth + 1)

    def add(self, v, parts, depth):
        kind = type(v)
        if depth > 100:
            raise _Opaque("a value nested too deeply")
        if v is None or v is True or v is False:
            parts.append(str(v)[0])
        elif kind is int:
            parts.append("i%x;" % v)
        elif kind is float:
            parts.append("d%s;" % v.hex())
        elif kind is str:
            parts.append("s%d:%s" % (len(v), v))
        elif kind is bytes:
            parts.append("b%d:%s" % (len(v), v.decode("latin-1")))
        elif kind is list:
            self.many("l", v, parts, depth)
        elif kind is tuple:
            self.many("t", v, parts, depth)
        elif kind is dict:
            self.many("m", [x for item in v.items() for x in item], parts, depth)
        elif kind is set or kind is frozenset:
            parts.append("%s%d:" % ("e" if kind is set else "z", len(v)))
            parts.extend(sorted(self.part(item, depth) for item in v))
        else:
            self.add_other(v, kind, parts, depth)

    def part(self, v, depth):
        parts = []
        self.add(v, parts, depth + 1)
        return "".join(parts)

    def add_other(self, v, kind, parts, depth):
        where = "%s.%s" % (getattr(kind, "__module__", ""), getattr(kind, "__qualname__", ""))
        if where in _REDUCED and _place(kind):
            parts.append("o")
            self.add((where, list(_REDUCED[where](v))), parts, depth + 1)
        elif where.startswith("numpy") and hasattr(v, "dtype") and hasattr(v, "tobytes"):
            if v.dtype.hasobject or type(v.shape) is not tuple:
                raise _Opaque("an array of objects")
            parts.append("y")
            one = where != "numpy.ndarray"
            self.add((v.dtype.str, None if one else list(v.shape), v.tobytes()), parts, depth + 1)
        elif isinstance(v, tuple) and hasattr(kind, "_fields") and self.classes(v):
            parts.append("n")
            self.add((kind.__name__, list(kind._fields), list(v)), parts, depth + 1)
        elif self.classes(v) and not isinstance(v, type):
            parts.append("h")
            self.add((self.number(v), kind.__name__), parts, depth + 1)
        elif isinstance(v, type) and v.__module__ == "__main__":
            parts.append("c")
            self.add(v.__name__, parts, depth + 1)
        elif _place(v):
            parts.append("p")
            self.add(list(_place(v)), parts, depth + 1)
        else:
            raise _Opaque("%s %s" % ("an" if kind.__name__[:1] in "aeiou" else "a", kind.__name__))

    # --- and back ---

    def dec(self, text):
        try:
            value, end = self.take(text, 0)
        except _Opaque:
            raise
        except Exception:
            raise _Opaque("an answer that cannot be read") from None
        if end != len(text):
            raise _Opaque("an answer that cannot be read")
        return value

    def take(self, text, at):
        tag, at = text[at], at + 1
        if tag in "NTF":
            return {"N": None, "T": True, "F": False}[tag], at
        if tag in "id":
            end = text.index(";", at)
            word = text[at:end]
            return (int(word, 16) if tag == "i" else float.fromhex(word)), end + 1
        if tag in "onyhcp":
            inner, at = self.take(text, at)
            return self.remake(tag, inner), at
        end = text.index(":", at)
        count, at = int(text[at:end]), end + 1
        if tag in "sb":
            part = text[at:at + count]
            return (part if tag == "s" else part.encode("latin-1")), at + count
        items = []
        for _ in range(count):
            item, at = self.take(text, at)
            items.append(item)
        if tag == "m":
            return dict(zip(items[::2], items[1::2])), at
        return {"l": list, "t": tuple, "e": set, "z": frozenset}[tag](items), at

    def remake(self, tag, inner):
        if tag == "o":
            # A default that is made later could be anything.
            if inner[0] not in _REDUCED or (
                    inner[0] == "collections.defaultdict" and inner[1][0] is not None):
                raise _Opaque("an answer that cannot be read")
            return _at_place(*inner[0].split("."))(*inner[1])
        if tag == "p":
            v = _at_place(*inner)
            if _place(v) != tuple(inner):
                raise _Opaque("an answer that cannot be read")
            return v
        if tag == "y":
            import numpy
            flat = numpy.frombuffer(inner[2], dtype=numpy.dtype(inner[0]))
            return flat[0] if inner[1] is None else flat.reshape(inner[1]).copy()
        if tag == "n":
            import collections
            kind = collections.namedtuple(inner[0], inner[1], module="__main__")
            return kind(*inner[2])
        return self.remade_object(inner) if tag == "h" else self.remade_class(inner)

    def remade_object(self, inner):
        return self.objects[inner[0]]

    def remade_class(self, word):
        return self.space[word]


# --- where the program is: what it is asked, and what it says ---


class _Program:
    """Calls from the tests into the program's namespace, one at a time."""

    def __init__(self, space):
        self.space = space
        self.codec = _Codec()
        self.codec.space = space
        self.busy = False

    def is_function(self, v):
        return type(v).__name__ in ("function", "_lru_cache_wrapper") and _place(v) is None

    def is_class(self, v):
        return isinstance(v, type) and v.__module__ == "__main__"

    def names(self):
        """What the tests may use: (name, what it is, its content)."""
        out = []
        for word, v in list(self.space.items()):
            if word.startswith("__"):
                continue
            try:
                out.append((word, *self.kind_of(v)))
            except _Opaque as e:
                out.append((word, "opaque", str(e)))
        return self.codec.enc(out)

    def kind_of(self, v):
        if type(v) is type(sys):
            return "module", v.__name__
        if self.is_class(v):
            if issubclass(v, BaseException):
                bases = [b.__name__ for b in v.__mro__ if b.__module__ == "builtins"]
                return "error", bases[0]
            if issubclass(v, tuple) and hasattr(v, "_fields"):
                return "tuple", list(v._fields)
            methods = {}
            for b in reversed(v.__mro__):
                if b.__module__ == "__main__":
                    methods.update((m, self.kind_of_method(f)) for m, f in vars(b).items())
            return "class", {m: k for m, k in methods.items() if k}
        if self.is_function(v):
            return "async" if v.__code__.co_flags & 0x80 else "function", None
        return "value", self.codec.enc(v)

    def kind_of_method(self, f):
        if isinstance(f, property):
            return "property"
        if isinstance(f, (classmethod, staticmethod)):
            return "static"  # either is called without what it is called on
        return "method" if callable(f) and not isinstance(f, type) else None

    def find(self, word):
        """A function of the program, or a method of one of its classes."""
        owner, _, method = word.partition(".")
        f = self.space[owner]
        f = getattr(f, method) if method else f
        return f.fget if isinstance(f, property) else f

    def say(self, outcome, payload, before, args, text):
        """One answer. Arguments that were changed, and what is known of objects."""
        codec = self.codec
        try:
            payload = codec.enc(payload)
        except _Opaque as e:
            outcome, payload = "opaque", codec.enc("it returns %s" % e)
        try:
            after = codec.enc(args)
        except _Opaque:
            after = before
        answer = [outcome, payload, None if after == before else after, text[:1 << 20]]
        answer.append([(n, self.attributes(v)) for n, v in list(codec.objects.items())])
        return codec.enc(answer)

    def attributes(self, v):
        out = {}
        for word, value in list(getattr(v, "__dict__", {}).items())[:100]:
            try:
                out[word] = self.codec.enc(value)
            except _Opaque:
                pass
        return out

    def outcome(self, f, args, kwargs):
        try:
            value = f(*args, **kwargs)
            if type(value).__name__ == "coroutine":
                import asyncio
                value = asyncio.run(value)
        except BaseException as e:
            where = "main" if type(e).__module__ == "__main__" else type(e).__module__
            plain = []
            for a in e.args:
                try:
                    self.codec.enc(a)
                    plain.append(a)
                except _Opaque:
                    plain.append(str(a))
            return "raise", (where, type(e).__qualname__, plain)
        if hasattr(value, "__next__") and not self.codec.classes(value):
            import itertools
            items = list(itertools.islice(value, _ITEMS_MAX + 1))
            return ("opaque", "it returns an endless iterator") if len(items) > _ITEMS_MAX else \
                ("iterate", items)
        return "return", value

    def answer(self, key):
        """What the program says to one call, as text."""
        import io
        word, args, kwargs = self.codec.dec(key)
        before = self.codec.enc(args)
        said, sys.stdout = sys.stdout, io.StringIO()
        try:
            outcome, payload = self.outcome(self.find(word), args, kwargs)
            text = getattr(sys.stdout, "getvalue", str)()
        finally:
            sys.stdout = said
        return self.say(outcome, payload, before, args, text)


class _Recorder(_Program):
    """Beside the tests: notes each call and lets it through."""

    def __init__(self, space):
        super().__init__(space)
        self.calls = []
        self.why = None  # the reason why the calls cannot be made elsewhere

    def shared(self, why):
        self.why = self.why or why

    def wrap(self, word, f):
        def call(*args, **kwargs):
            if self.busy:
                return f(*args, **kwargs)
            try:
                self.calls.append(self.codec.enc((word, list(args), kwargs)))
            except _Opaque as e:
                self.shared("%s is given %s" % (word, e))
            return self.through(word, f, args, kwargs)

        call.__name__, call.__doc__ = getattr(f, "__name__", word), getattr(f, "__doc__", None)
        call.__wrapped__ = f
        call.__dict__.update(getattr(f, "__dict__", {}))
        for extra in ("cache_clear", "cache_info"):
            if hasattr(f, extra):
                setattr(call, extra, getattr(f, extra))
        return call

    def aside(self, f, *args, **kwargs):
        """The tests draw the same random numbers as where the program is not."""
        random = sys.modules.get("random")
        state = random.getstate() if random else None
        was, self.busy = self.busy, True
        try:
            return f(*args, **kwargs)
        finally:
            self.busy = was
            if random:
                random.setstate(state)

    def items(self, lazy):
        """Its items, none before it is asked for: there may be no end to them."""
        sent = None
        while True:
            try:
                item = self.aside(next, lazy) if sent is None else self.aside(lazy.send, sent)
            except StopIteration as e:
                self.number()
                return e.value
            self.number_those_in(item)
            sent = yield item

    def number_those_in(self, *values):
        try:
            for v in values:
                self.codec.enc(v)
        except _Opaque:
            pass

    def number(self, *values):
        """Numbers the program's objects as the answering program will."""
        self.number_those_in(*values)
        for v in list(self.codec.objects.values()):
            self.attributes(v)

    def through(self, word, f, args, kwargs):
        value = self.aside(f, *args, **kwargs)
        if not hasattr(value, "__next__"):
            self.number(value, list(args))
            return value
        self.number(list(args))
        return self.items(value) if type(value).__module__ in ("builtins", "itertools") else value

    def watch(self, v):
        """The methods of a class, as the tests call them."""
        for word, f in list(vars(v).items()):
            name = "%s.%s" % (v.__name__, word)
            try:
                if word in ("__init__", "__new__", "__class_getitem__", "__getattribute__",
                            "__getattr__", "__init_subclass__", "__del__"):
                    continue
                if type(f) is type(_place):
                    setattr(v, word, self.wrap(name, f))
                elif isinstance(f, property):
                    setattr(v, word, property(self.wrap(name, f.fget), f.fset, f.fdel))
                elif isinstance(f, staticmethod) or not v.__subclasses__():
                    if isinstance(f, (staticmethod, classmethod)):
                        setattr(v, word, staticmethod(self.wrap(name, getattr(v, word))))
            except (AttributeError, TypeError):
                pass
        if "__setattr__" not in vars(v):
            v.__setattr__ = self.wrap(v.__name__ + ".__setattr__", v.__setattr__)
