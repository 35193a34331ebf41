# How values cross between a program and its judge (verifier/tests.h): as lines
# of JSON, with a tag where JSON has no form for a type. Both sides have this file;
# what is read is trusted by neither. Only exact types of the language and of the
# library's table below cross by value, and are made anew by the reader's own
# interpreter. All else crosses as a number, which program.py and
# judge_objects.py know how to give and to read.
#
# The sources of a run, one after the other:
#   program:         codec.py module.py program.py
#   judge:           codec.py sites.py tests.py judge.py
#                    judge_objects.py judge_names.py judge_main.py
#   together, stub:  sites.py tests.py module.py together.py
import builtins as _builtins
import _json
import posix
import sys

_LINE_MAX = 4 << 20  # bytes of one line
_DEPTH_MAX = 100
_INT_MAX = 1 << 53  # beyond it in hexadecimal, which is read in linear time
_quote = _json.encode_basestring_ascii


class _Opaque(Exception):
    """What cannot cross."""


class _Unreadable(Exception):
    """What the other side wrote is none of ours."""


def _of_datetime(v):
    if v.tzinfo is not None and type(v.tzinfo) is not sys.modules["datetime"].timezone:
        raise _Opaque("a time of a zone with rules")
    return (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.tzinfo)


def _of_time(v):
    if v.tzinfo is not None:
        raise _Opaque("a time with a zone")
    return (v.hour, v.minute, v.second, v.microsecond)


_FACTORIES = {t.__name__: t for t in (int, float, str, list, dict, set, tuple, bool)}


def _of_defaultdict(v):
    f = v.default_factory
    plain = type(f) is type and _FACTORIES.get(f.__name__) is f
    return (f.__name__ if plain else None, dict(v))


# What makes an equal value again: type(*args).
_LIBRARY = {
    "decimal.Decimal": lambda v: (str(v),),
    "fractions.Fraction": lambda v: (v.numerator, v.denominator),
    "datetime.date": lambda v: (v.year, v.month, v.day),
    "datetime.time": _of_time,
    "datetime.datetime": _of_datetime,
    "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
    "datetime.timezone": lambda v: (v.utcoffset(None),),
    "collections.deque": lambda v: (list(v), v.maxlen),
    "collections.Counter": lambda v: (dict(v),),
    "collections.OrderedDict": lambda v: ([(k, v[k]) for k in v],),
    "collections.defaultdict": _of_defaultdict,
    "pathlib.PosixPath": lambda v: (str(v),),
    "pathlib.PurePosixPath": lambda v: (str(v),),
    "uuid.UUID": lambda v: (v.hex,),
    "array.array": lambda v: (v.typecode, v.tolist()),
}
_VIEWS = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_CONSTANTS = {"Ellipsis": ..., "NotImplemented": NotImplemented}
_TYPES = {t.__name__: t for t in (
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range,
    slice, object, type(None))}
_ERRORS = {w: v for w, v in vars(_builtins).items()
           if isinstance(v, type) and issubclass(v, BaseException)}
_TYPES.update(_ERRORS)
# What is asked of an object by an operator or a statement, where its class has it.
_RECKONS = ["__%s__" % w for w in (
    "abs", "neg", "pos", "invert", "round", "float", "int", "index", "complex", "trunc", "floor",
    "ceil", *(r + w for r in ("", "r", "i") for w in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or",
        "xor", "lshift", "rshift")))]
_SPECIAL = _RECKONS + ["__%s__" % w for w in (
    "eq", "ne", "lt", "le", "gt", "ge", "bool", "contains", "len", "getitem", "setitem", "delitem",
    "iter", "next", "reversed", "call", "enter", "exit", "str", "repr", "format", "await", "aiter",
    "anext", "aenter", "aexit")]
_CHANGES = {"__setitem__", "__delitem__"} | {w for w in _RECKONS if w[:3] == "__i"}
_PLAIN = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_NUMPY_KINDS = "?biufcSUmM"
_NAMEDTUPLE_HAS = {"__doc__", "__slots__", "_fields", "_field_defaults", "__new__", "_make",
                   "__replace__", "_replace", "__repr__", "_asdict", "__getnewargs__",
                   "__match_args__", "__module__", "__orig_bases__", "__annotations__"}


def _is_namedtuple(kind):
    """One that is nothing but its fields, so that anybody can make it."""
    if kind.__bases__ != (tuple,) or type(getattr(kind, "_fields", None)) is not tuple:
        return False
    return set(vars(kind)) <= _NAMEDTUPLE_HAS | set(kind._fields)


def _checked(v, kind):
    if type(v) is not kind:
        raise _Unreadable()
    return v


class _Codec:
    """Text from values and values from text; numbers are for who extends it."""

    def __init__(self):
        self.strict, self.object_hook, self.memo = True, None, {}
        self.kinds = {}  # (name, fields) -> namedtuple
        self.know([])
        self.object_pairs_hook = self.tagged
        self.parse_int, self.parse_float = int, self.take_float  # int refuses 4301 digits
        self.parse_constant = self.take_constant
        self.scan = _json.make_scanner(self)
        self.takes = {
            "t": lambda v: tuple(_checked(v, list)), "d": self.take_dict,
            "s": lambda v: set(_checked(v, list)), "f": lambda v: frozenset(_checked(v, list)),
            "b": lambda v: _checked(v, str).encode("latin-1"),
            "B": lambda v: bytearray(_checked(v, str).encode("latin-1")),
            "i": lambda v: int(_checked(v, str), 16), "n": self.take_odd_float,
            "c": lambda v: complex(*map(float, _checked(v, list))),
            "r": lambda v: range(*_checked(v, list)), "l": lambda v: slice(*_checked(v, list)),
            "e": lambda v: _CONSTANTS[v], "T": lambda v: _TYPES[v], "L": self.take_library,
            "m": lambda i: self.known[_checked(i, int)], "N": self.take_namedtuple,
            "v": self.take_view, "y": self.take_numpy,
        }

    def know(self, found):
        """These cross as who they are, not by value: both sides have them."""
        self.known, self.known_ids = found, {id(v): i for i, v in enumerate(found)}

    def contents(self):
        """What became of them."""
        return [[i, _content(v)] for i, v in enumerate(self.known)]

    def fill_all(self, after):
        for i, items in _checked(after, list):
            _fill(self.known[_checked(i, int)], items)

    # --- to text ---

    def enc(self, v):
        parts = []
        self.add(v, parts, 0)
        text = "".join(parts)
        if len(text) > _LINE_MAX:
            raise _Opaque("more than can cross")
        return text

    def add(self, v, parts, depth):
        kind = type(v)
        if self.known_ids and id(v) in self.known_ids:
            parts.append('{"m":%d}' % self.known_ids[id(v)])
        elif kind is str:
            parts.append(_quote(v))
        elif kind is int:
            parts.append("%d" % v if -_INT_MAX < v < _INT_MAX else '{"i":"%x"}' % v)
        elif v is None:
            parts.append("null")
        elif kind is bool:
            parts.append("true" if v else "false")
        elif kind is float:
            parts.append(repr(v) if v - v == 0 else '{"n":"%s"}' % v)
        elif kind is list:
            self.many(v, parts, depth)
        elif kind is tuple:
            self.tag("t", v, parts, depth)
        elif kind is dict:
            self.tag("d", [x for item in v.items() for x in item], parts, depth)
        else:
            self.add_rare(v, kind, parts, depth)

    def many(self, items, parts, depth):
        if depth > _DEPTH_MAX:
            raise _Opaque("a value nested too deeply")
        if len(parts) > 1 << 20:
            raise _Opaque("more than can cross")
        kinds = set(map(type, items)) if len(items) > 4 else None
        if kinds == {int} and -_INT_MAX < min(items) and max(items) < _INT_MAX:
            parts.append(repr(list(items)))
            return
        if kinds == {str}:
            parts.append("[%s]" % ",".join(map(_quote, items)))
            return
        mark = "["
        for item in items:
            parts.append(mark)
            mark = ","
            self.add(item, parts, depth + 1)
        parts.append("]" if mark == "," else "[]")

    def tag(self, tag, items, parts, depth):
        parts.append('{"%s":' % tag)
        self.many(items, parts, depth)
        parts.append("}")

    def add_rare(self, v, kind, parts, depth):
        if depth > _DEPTH_MAX:
            raise _Opaque("a value nested too deeply")
        if kind is set or kind is frozenset:
            one = []
            for item in v:
                inner = []
                self.add(item, inner, depth + 1)
                one.append("".join(inner))
            parts.append('{"%s":[%s]}' % ("s" if kind is set else "f", ",".join(sorted(one))))
        elif kind is bytes or kind is bytearray:
            tag = "b" if kind is bytes else "B"
            parts.append('{"%s":%s}' % (tag, _quote(v.decode("latin-1"))))
        elif kind is complex:
            self.tag("c", (v.real, v.imag), parts, depth)
        elif kind is range or kind is slice:
            tag = "r" if kind is range else "l"
            self.tag(tag, (v.start, v.stop, v.step), parts, depth)
        elif v is ... or v is NotImplemented:
            parts.append('{"e":"%r"}' % v)
        elif kind is type and _TYPES.get(v.__name__) is v:
            parts.append('{"T":"%s"}' % v.__name__)
        elif kind in _VIEWS:
            self.tag("v", (_VIEWS[kind], list(v)), parts, depth)
        else:
            self.add_library(v, kind, parts, depth)

    def add_library(self, v, kind, parts, depth):
        module = getattr(kind, "__module__", None)
        name = getattr(kind, "__name__", None)
        where = "%s.%s" % (module, name)
        if where in _LIBRARY and getattr(sys.modules.get(module), name, None) is kind:
            try:
                args = _LIBRARY[where](v)
            except _Opaque:
                self.other(v, kind, parts, depth)
            else:
                self.tag("L", (where, *args), parts, depth)
        elif module == "numpy" and hasattr(v, "dtype") and v.dtype.kind in _NUMPY_KINDS and \
                isinstance(v, (sys.modules["numpy"].generic, sys.modules["numpy"].ndarray)):
            shape = None if name != "ndarray" else list(v.shape)
            self.tag("y", (v.dtype.str, shape, v.tobytes().decode("latin-1")), parts, depth)
        elif issubclass(kind, tuple) and _is_namedtuple(kind):
            self.tag("N", (name, list(kind._fields), list(v)), parts, depth)
        else:
            self.other(v, kind, parts, depth)

    def other(self, v, kind, parts, depth):
        raise _Opaque("%s %s" % ("an" if kind.__name__[:1] in "aeiou" else "a", kind.__name__))

    # --- and back ---

    def dec(self, text):
        """The value; anything that goes wrong is the writer's doing."""
        try:
            v, end = self.scan(text, 0)
        except Exception as e:
            raise _Unreadable(str(e)) from None
        if end != len(text):
            raise _Unreadable()
        return v

    def tagged(self, pairs):
        (tag, v), = pairs
        return self.takes[tag](v)

    def take_float(self, word):
        v = float(word)
        if len(word) > 32 or v - v != 0:
            raise _Unreadable()
        return v

    def take_constant(self, word):
        raise _Unreadable()

    def take_odd_float(self, word):
        if word not in ("nan", "inf", "-inf"):
            raise _Unreadable()
        return float(word)

    def take_dict(self, v):
        items = iter(_checked(v, list))
        if len(v) % 2:
            raise _Unreadable()
        return dict(zip(items, items))

    def take_library(self, v):
        where, *args = _checked(v, list)
        if where not in _LIBRARY:
            raise _Unreadable()
        module, name = where.split(".")
        if name == "defaultdict" and args[0] is not None:
            args[0] = _FACTORIES[args[0]]
        if name == "deque" and type(args[0]) is not list:
            raise _Unreadable()
        return getattr(__import__(module), name)(*args)

    def take_namedtuple(self, v):
        name, fields, values = _checked(v, list)
        return self.namedtuple(name, fields)(*_checked(values, list))

    def namedtuple(self, name, fields):
        key = _checked(name, str), tuple(_checked(fields, list))
        if key not in self.kinds:
            import collections
            if len(fields) > 200 or {type(f) for f in fields} - {str}:
                raise _Unreadable()
            self.kinds[key] = collections.namedtuple(name, fields, module="__main__")
        return self.kinds[key]

    def take_view(self, v):
        word, items = _checked(v, list)
        if word == "keys":
            return dict.fromkeys(items).keys()
        return dict(items).items() if word == "items" else dict(enumerate(items)).values()

    def take_numpy(self, v):
        import numpy
        word, shape, data = _checked(v, list)
        kind = numpy.dtype(_checked(word, str))
        if len(word) > 16 or kind.kind not in _NUMPY_KINDS or kind.hasobject or kind.names:
            raise _Unreadable()
        flat = numpy.frombuffer(_checked(data, str).encode("latin-1"), dtype=kind)
        return flat[0] if shape is None else flat.reshape(shape).copy()


# --- what may be changed in place: an argument's lists, dictionaries and the like ---


_ATOMS = {int, str, float, bool, type(None)}


def _changeable(v, found, depth=1):
    """They, in an order that both sides find them in."""
    kind = type(v)
    if kind in _ATOMS or depth > _DEPTH_MAX:
        return
    if kind is list or kind is tuple:
        if kind is list:
            found.append(v)
        if not set(map(type, v)) <= _ATOMS:
            for item in v:
                _changeable(item, found, depth + 1)
    elif kind is dict or (kind.__module__ == "collections" and isinstance(v, dict)):
        found.append(v)
        for item in dict.values(v):
            _changeable(item, found, depth + 1)
    elif kind is set or kind is bytearray:
        found.append(v)
    elif kind.__module__ == "collections" and kind.__name__ == "deque":
        found.append(v)
        for item in v:
            _changeable(item, found, depth + 1)


def _changeable_in(args, kwargs):
    found = []
    for v in (*args, *kwargs.values()):
        _changeable(v, found)
    return found


def _content(v):
    if isinstance(v, dict):
        return [x for k in dict.__iter__(v) for x in (k, dict.__getitem__(v, k))]
    return bytes(v) if type(v) is bytearray else list(v)


def _fill(v, items):
    if type(v) is list or type(v) is bytearray:
        v[:] = items
    elif isinstance(v, dict):
        dict.clear(v)
        items = iter(items)
        for k in items:
            dict.__setitem__(v, k, next(items))
    else:
        v.clear()
        v.update(items) if type(v) is set else v.extend(items)


# --- lines, on two descriptors that no child inherits ---


class _Wire:
    """Descriptor 3 reads what the other side writes to its 4."""

    def __init__(self, total_max):
        self.read_fd, self.write_fd = self.aside(3), self.aside(4)
        self.rest, self.left = b"", total_max
        self.read_some, self.write_some = posix.read, posix.write
        if hasattr(posix, "register_at_fork"):  # WebAssembly has no processes
            posix.register_at_fork(after_in_child=self.close)

    def aside(self, fd):
        for to in (251, 61, 29):
            to += fd
            try:
                posix.dup2(fd, to, False)
            except OSError:
                continue
            posix.close(fd)
            return to
        posix.set_inheritable(fd, False)
        return fd

    def close(self):
        for fd in (self.read_fd, self.write_fd):
            posix.close(fd)
        self.read_fd = self.write_fd = -1

    def send(self, text):
        data = text.encode("ascii") + b"\n"
        while data:
            data = data[self.write_some(self.write_fd, data):]

    def line(self):
        """The next line; None at the end."""
        parts, size = [self.rest], len(self.rest)
        while b"\n" not in parts[-1]:
            part = self.read_some(self.read_fd, 1 << 16)
            size += len(part)
            self.left -= len(part)
            if not part:
                return None
            if size > _LINE_MAX + (1 << 16) or self.left < 0:
                raise _Unreadable("more than can be read")
            parts.append(part)
        line, _, self.rest = b"".join(parts).partition(b"\n")
        if not line.isascii():
            raise _Unreadable()
        return line.decode()
