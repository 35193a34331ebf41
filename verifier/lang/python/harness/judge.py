# The judge: runs the tests where the program is not, and asks it, in other walls,
# whenever the tests ask something of it. What it reads is data: values it makes
# anew, and numbers of objects that stay there (judge_objects.py). It never
# holds a name, class, function or file of the program; its built-ins and its
# library are its own. An assertion that is true because an object of the program
# says so itself, by an __eq__ for one, is not counted as held but left open.
#
# Which of the program's classes an object is of, and whether two objects are the
# same one, are data, too: the judge compares numbers, and lets no object of the
# program be of a class of the language or the library.
#
# What is left: a program is asked live, one call after the other, so it may know
# how many calls there were, when they came and what they were given; and tests
# that are true of a wrong answer are true of it here as well. What the tests hand
# over of their own - functions, objects with attributes - it may ask as they allow.
import _thread

_ENDS = ("next", "anext", "await")  # asked of what may have an end
_RUN_MAX = 64 << 20
_DECIDES = {"__%s__" % w for w in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "contains")}
_DECIDES_TOO = set(_RECKONS)  # when they come to plain data
_METHODS = {w for t in _PLAIN for w in dir(t) if w[:1] != "_"} | set(
    "all any equals compare compare_total same_quantum is_zero is_nan is_infinite is_finite "
    "is_signed match full_match exists is_file is_dir is_absolute is_relative_to".split())
_OWN = "the program's own objects decided it (%s)"
# Of the library, by the names that tests commonly use without an import.
_KNOWN = set("math cmath statistics collections itertools functools operator decimal fractions "
             "datetime string re copy heapq bisect random json textwrap typing time calendar "
             "numbers enum dataclasses abc array pathlib uuid".split())


def _with_site():
    """Makes good that the judge is started without it, which costs as much as it: the
    folders of packages, and exit() and its like."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site
        site.main()


class _Judge(_Codec):
    def __init__(self, tests, wire):
        super().__init__()
        self.tests, self.wire = tests, wire
        self.lock = _thread.RLock()
        self.objects, self.ids, self.hashes = {}, {}, {}
        self.makers = set()  # numbers of what the tests call a Name
        self.made = set()  # numbers of what they made with it
        self.waiting = False  # between a question and its answer
        self.asked = False  # whether the tests had to do with the program at all
        self.helpers = {}  # number -> name of the program's own isclose() and the like
        self.lent, self.lent_ids = [], {}  # what the tests gave the program
        self.raised = []
        self.memory = _Memory(self)
        tests.settle, tests.look_back = self.memory.settle, self.memory.look_back
        self.takes.update({
            "h": lambda n: self.objects[_checked(n, int)], "k": self.take_lent,
            "F": self.take_function, "C": self.take_class, "D": self.take_error_class,
            "H": self.take_object, "X": self.take_error, "G": lambda n: self.keep(n, _items(n)),
            "A": lambda n: self.keep(n, _later_items(n)), "W": lambda n: self.keep(n, _later(n)),
        })

    # --- asking ---

    def die(self, why):
        """There is nothing to go on with: what is being decided has failed."""
        for entry in self.tests.open:
            self.tests.results[entry[0]] = False
        self.tests.open = []
        self.tests.fail(self.tests.line(), why)
        self.tests.finish()

    def unlike(self, why):
        """The tests do what cannot be done apart from the program."""
        self.tests.unlike = self.tests.unlike or why
        self.tests.finish()

    def read(self):
        self.waiting = True
        try:
            line = self.wire.line()
            self.waiting = False
            if line is None:
                self.die("the program ended before it answered")
            answer = self.dec(line)
        except _Unreadable:
            answer = None
        if type(answer) is not list or len(answer) != 4 or type(answer[0]) is not str or \
                answer[0] not in tuple("reanko") or type(answer[3]) not in (str, type(None)):
            self.die("the program's answer cannot be read")
        letter, value, after, text = answer
        if text:
            sys.stdout.write(text)
        return letter, value, after

    def ask(self, op, n, word=None, args=(), kwargs=None):
        """What the program says; "n" for the end of an iterator is its own outcome."""
        args, kwargs = list(args), kwargs or {}
        try:
            given = self.plainly([args, kwargs])
        except _Opaque as e:
            self.unlike("%s is given %s" % (self.called(n, word), e))
        with self.lock:
            if self.waiting:  # as by a signal; what comes next answers another question
                self.unlike("a call of the program was interrupted")
            raised, found, outer = len(self.raised), _changeable_in(args, kwargs), self.known
            try:
                head = "null" if n is None else n, "null" if word is None else _quote(word)
                self.wire.send('["%s",%s,%s]\t%s' % (op, *head, given))
            except OSError:
                pass  # it ended; reading says so
            if n in self.helpers:
                self.mark("the program's own %s decided it" % self.helpers[n])
            self.asked = self.asked or op != "names"
            call = self.memory.begin(op, n, word, args + list(kwargs.values()))
            self.know(found)
            letter, value, after = self.read()
            while letter == "k":
                self.serve(value, after)
                self.know(found)
                letter, value, after = self.read()
            letter, value = self.taken(letter, value, after, raised)
            if letter == "n" and op not in _ENDS and word not in ("__next__", "__anext__"):
                self.die("the program's answer cannot be read")
            self.know(outer)
        if letter == "o":
            self.unlike("%s: the answer is %s" % (self.called(n, word), str(value)[:200]))
        if letter == "e":
            self.memory.given(list(value.args), call is not None)
            raise value
        if letter == "r":
            self.memory.end(call, op, n, value, word)
        return value if letter == "r" else _End(value)

    def plainly(self, v):
        """As text, with nothing in it that only the one who waits knows."""
        known = self.known
        self.know([])
        try:
            return self.enc(v)
        finally:
            self.know(known)

    def taken(self, letter, value, after, raised):
        try:
            if after is not None:
                self.fill_all(after)
            if letter == "a":
                if not raised <= _checked(value, int) < len(self.raised):
                    raise _Unreadable()
                letter, value = "e", self.raised[value]
            if letter == "e" and not isinstance(value, BaseException):
                raise _Unreadable()
        except Exception:
            self.die("the program's answer cannot be read")
        return letter, value

    def called(self, n, word):
        return word or getattr(self.objects.get(n), "__name__", None) or "the program"

    def mark(self, why):
        """What is being decided rests on the program's own word."""
        if self.tests.open:
            entry = self.tests.open[-1]
            entry[1] = entry[1] or why
        else:
            self.tests.leave_open(self.tests.line(), why)

    def take_numpy(self, v):
        """An empty array is broadcast against any other to nothing, of which all is true."""
        _with_site()
        value = super().take_numpy(v)
        if value.size == 0:
            self.mark("an empty array equals whatever it is compared with")
        return value

    # --- what the tests gave, asked by the program ---

    def take_lent(self, k):
        return self.lent[_checked(k[0] if type(k) is list else k, int)][1]

    def lend(self, v, way):
        if id(v) not in self.lent_ids:
            self.lent_ids[id(v)] = len(self.lent)
            self.lent.append((way, v))
        return self.lent_ids[id(v)]

    def serve(self, head, given):
        """One call of a function of the tests, on plain data."""
        try:
            op, k, word = _checked(head, list)
            args, kwargs = _checked(given, list)
            way, v = self.lent[_checked(k, int)]
            if op not in _WAYS[way] or type(args) is not list or type(kwargs) is not dict or \
                    {type(w) for w in kwargs} - {str}:
                raise _Unreadable()
        except Exception:
            self.die("the program's answer cannot be read")
        before = self.encoded([args, kwargs])
        found = _changeable_in(args, kwargs)
        try:
            self.memory.given([args, kwargs])
            value = _WAYS[way][op](v, word, args, kwargs)
            letter = "r"
        except BaseException as e:
            value, letter = [len(self.raised), e], "e"
            self.raised.append(e)
        after = "null"
        if found and self.encoded([args, kwargs]) != before:
            self.know(found)
            after = self.encoded(self.contents(), True)
        self.know(found)
        try:
            self.wire.send('=["%s",%s,%s]' % (letter, self.encoded(value, True), after))
        except OSError:
            pass

    def encoded(self, v, with_known=False):
        try:
            return self.enc(v) if with_known else self.plainly(v)
        except _Opaque as e:
            self.unlike("a function of the tests deals with %s" % e)

    def other(self, v, kind, parts, depth):
        """A number for what does not cross by value."""
        if kind is _Method or kind is _Borrowed:
            v = v.itself()
            kind = type(v)
        if kind.__name__ == "traceback":
            parts.append("null")  # a with statement hands it over
        elif id(v) in self.ids:
            parts.append('{"h":%d}' % self.ids[id(v)])
        elif isinstance(v, BaseException):
            base = next(b.__name__ for b in kind.__mro__ if b.__module__ == "builtins")
            name = kind if id(kind) in self.ids else kind.__name__
            self.tag("x", (name, base, list(v.args)), parts, depth)
        elif (isinstance(v, type) or kind in (type(len), type(_later))) and _library_place(v):
            self.tag("p", (self.lend(v, "function"), *_library_place(v)), parts, depth)
        elif kind is object or kind.__module__ in ("__main__", "_io", "unittest.mock"):
            special = [w for w in (*_SPECIAL, "__hash__")
                       if getattr(kind, w, None) is not getattr(object, w, None)]
            if isinstance(v, type):
                self.tag("k", (self.lend(v, "function"), v.__name__, None), parts, depth)
            else:
                self.tag("j", (self.lend(v, "object"), kind.__name__, special), parts, depth)
        elif callable(v):
            name = str(getattr(v, "__name__", "function"))
            self.tag("k", (self.lend(v, "function"), name, _params(v)), parts, depth)
        elif hasattr(kind, "__next__"):
            parts.append('{"g":%d}' % self.lend(v, "items"))
        else:
            super().other(v, kind, parts, depth)


def _params(v):
    """How a function of the tests may be called, for who looks at that."""
    if type(v) is type(_params):
        v = v.__dict__.get("__wrapped__", v)  # what stands in for it
    skip = 1 if hasattr(v, "__self__") else 0
    code = getattr(v, "__code__", None)
    if code is None or not hasattr(v, "__defaults__"):
        return None
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames[:count])
    for i in range(count - len(v.__defaults__ or ()), count):
        names[i] += "=None"
    names = names[skip:]
    at = count + more
    if code.co_flags & 4:
        names.append("*" + code.co_varnames[at])
        at += 1
    elif more:
        names.append("*")
    names += [w + "=None" for w in code.co_varnames[count:count + more]]
    if code.co_flags & 8:
        names.append("**" + code.co_varnames[at])
    return ", ".join(names)


def _library_place(v):
    module, word = getattr(v, "__module__", None), getattr(v, "__qualname__", None)
    if type(module) is not str or module == "__main__" or type(word) is not str:
        return None
    return (module, word) if getattr(sys.modules.get(module), word, None) is v else None


def _public(v, word):
    """An attribute that the tests' own objects show."""
    if type(word) is not str or word[:1] == "_" or type(v) is object:
        raise AttributeError(word)
    # What a mock is told to be and was seen to be is for the tests.
    if type(v).__module__ == "unittest.mock" and hasattr(type(v), word):
        raise AttributeError(word)
    return word


def _set_of(v, word, args, kwargs):
    if hasattr(type(v), _public(v, word)) or word[:6] == "assert":
        _judge.mark("the program gave an object of the tests a %s of its own" % word)
    setattr(v, word, args[0])


def _special_of(v, word, args, kwargs):
    if word not in _SPECIAL and word != "__hash__":
        raise AttributeError(word)
    return getattr(type(v), word)(v, *args, **kwargs)


def _next_of(v, word, args, kwargs):
    for item in v:
        return [item]
    return None


_WAYS = {
    "function": {"call": lambda v, word, args, kwargs: v(*args, **kwargs)},
    "items": {"next": _next_of},
    "object": {"get": lambda v, word, args, kwargs: getattr(v, _public(v, word)),
               "set": _set_of,
               "special": _special_of},
}
