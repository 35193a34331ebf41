# What stands for a program where it is not, in the tests' process: its answers.
# Part of python.py, after python_calls.py.


class _Stubs(_Codec):
    """Stands for the program: answers as it did, when asked the same."""

    def __init__(self, calls, answers, state):
        super().__init__()
        self.calls, self.answers = calls, answers
        self.at = 0
        self.state = state  # "own": the program's own word decides what is compared
        self.kinds = {}  # name -> stub class

    def classes(self, v):
        kind = type(v)
        return kind.__name__ if self.kinds.get(kind.__name__) is kind else None

    def unlike(self, why):
        self.state["unlike"] = self.state["unlike"] or why
        raise _Unlike(why)

    def ask(self, word, args, kwargs):
        try:
            key = self.enc((word, list(args), kwargs))
        except _Opaque as e:
            self.unlike("%s is given %s" % (word, e))
        if self.at >= len(self.calls) or self.calls[self.at] != key:
            self.unlike("without the program, the tests make other calls (%s)" % word)
        self.at += 1
        try:
            return self.given(word, args)
        except _Opaque as e:
            self.unlike("%s: %s" % (word, e))

    def given(self, word, args):
        outcome, payload, after, text, known = self.dec(self.answers[self.at - 1])
        value = self.dec(payload)
        for number, attributes in known:
            if number in self.objects:
                for name, content in attributes.items():
                    self.attribute(self.objects[number], name, content)
        if after is not None:
            for old, new in zip(args, self.dec(after)):
                self.change(old, new)
        if text:
            sys.stdout.write(text)
        if outcome == "opaque":
            raise _Opaque(value)
        if outcome == "raise":
            raise self.error(*value)
        return iter(value) if outcome == "iterate" else value

    def attribute(self, v, name, content):
        try:
            object.__setattr__(v, name, self.dec(content))
        except AttributeError:
            pass  # what is asked for instead

    def change(self, old, new):
        if type(old) is not type(new):
            return
        if type(old) in (list, bytearray):
            old[:] = new
        elif type(old) in (dict, set):
            old.clear()
            old.update(new)
        elif type(old).__name__ == "deque":
            old.clear()
            old.extend(new)

    def error(self, module, word, args):
        if module == "main":
            kind = self.kinds.get(word)
        else:
            kind = _at_place(module, word)
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise _Opaque("it raises an error of its own")
        try:
            return kind(*args)
        except TypeError:
            raise _Opaque("it raises an error that cannot be made again") from None

    def remade_object(self, inner):
        number, word = inner
        if number not in self.objects:
            kind = self.kinds.get(word)
            if kind is None:
                raise _Opaque("an object of a class that the tests cannot name")
            self.bind(number, object.__new__(kind))
        return self.objects[number]

    def bind(self, number, v):
        self.objects[number] = v
        self.ids[id(v)] = number

    def remade_class(self, word):
        if word not in self.kinds:
            raise _Opaque("a class of its own")
        return self.kinds[word]

    # --- the names ---

    def function(self, word):
        is_builtin = word in _BUILTINS

        def stub(*args, **kwargs):
            # A program's own abs() or all() must not decide about its other answers.
            if is_builtin and self.state["asked"]:
                self.state["own"] = True
            self.state["asked"] = True
            return self.ask(word, args, kwargs)
        stub.__name__ = stub.__qualname__ = word
        return stub

    def coroutine(self, word):
        async def stub(*args, **kwargs):
            return self.ask(word, args, kwargs)
        return stub

    def method(self, owner, word):
        def stub(*args, **kwargs):
            value = self.ask("%s.%s" % (owner, word), args, kwargs)
            if word in _DECIDES or (word in _RECKONS and not self.classes(value)):
                self.state["own"] = True
            return value
        stub.__name__ = word
        return stub

    def stub_class(self, word, methods):
        stubs = self

        def new(kind, *args, **kwargs):
            return stubs.ask(word, args, kwargs)
        space = {"__module__": "__main__", "__new__": new, "__init__": lambda *a, **k: None,
                 "__eq__": lambda a, b: stubs.same(a, b), "__hash__": object.__hash__}
        for m, kind in [*methods.items(), ("__setattr__", "method")]:
            if m not in ("__new__", "__init__", "__init_subclass__", "__class__", "__del__",
                         "__getattribute__", "__getattr__", "__hash__"):
                wrap = {"property": property, "static": staticmethod}.get(kind, lambda f: f)
                space[m] = wrap(self.method(word, m))
        return type(word, (), space)

    def same(self, a, b):
        """Without an __eq__ of the program's: only identity, as the language has it."""
        return True if a is b else NotImplemented

    def name(self, space, word, what, content):
        real = word in sys.stdlib_module_names
        is_place = what == "value" and content[:1] == "p"
        if what == "module" or (real and (what != "value" or is_place)):
            space[word] = __import__(word) if real else _at_place(content, "")
        elif is_place and word in _BUILTINS:
            pass
        elif what == "value":
            space[word] = self.dec(content)
        elif what == "function":
            space[word] = self.function(word)
        elif what == "async":
            space[word] = self.coroutine(word)
        elif what == "tuple":
            import collections
            space[word] = collections.namedtuple(word, content, module="__main__")
        elif what == "error":
            base = getattr(_builtins, content)
            space[word] = self.kinds[word] = type(word, (base,), {"__module__": "__main__"})
        elif what == "class":
            space[word] = self.kinds[word] = self.stub_class(word, content)

    def fill(self, space, names):
        for word, what, content in sorted(self.dec(names), key=lambda n: n[1] == "value"):
            if type(word) is not str or word.startswith("__"):
                continue
            try:
                self.name(space, word, what, content)
            except (_Opaque, ImportError, AttributeError, TypeError, ValueError):
                pass  # the tests will miss it, if they use it


import builtins as _builtins
_BUILTINS = set(dir(_builtins))
# Methods whose plain word decides a comparison.
_DECIDES = {"__%s__" % w for w in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "contains")}
_RECKONS = {"__%s__" % w for w in (
    "abs", "neg", "pos", "invert", "round", "float", "int", "index", "complex", "trunc", "floor",
    "ceil", "instancecheck", "subclasscheck", *(r + w for r in ("", "r", "i") for w in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or",
        "xor", "lshift", "rshift")))}
