# What stands in the judge for an object of the program: its number. Whatever the
# tests do with it is asked of the program, and never decided by its word alone.
# Part of a run of the judge, after judge.py.

_judge = None  # the one of this run
_NO = object()
# Attributes with such names are asked for; no other of their kind, since libraries
# look for those to find memory, frames and the like behind an object.
_SHOWN = {"__%s__" % w for w in ("name", "qualname", "doc", "dict", "wrapped", "annotations",
                                 "defaults", "members", "version")}
_PLAIN_NAMES = {t.__name__: t for t in _PLAIN}
_NO_ERRORS = ("StopIteration", "StopAsyncIteration")


class _End:
    """An iterator of the program came to its end."""

    def __init__(self, value):
        self.value = value


def _ended(v):
    if type(v) is _End:
        raise StopIteration(v.value)
    return v


def _get(v, word):
    n = _judge.ids[id(v)]
    if word[:2] == "__" and word not in _SHOWN:
        raise AttributeError(word)
    if word in getattr(type(v), "_assay_methods", ()):
        return _Method(v, word)
    value = _judge.ask("get", n, word)
    return _Method(v, word) if type(value) is _Function else value


def _is_plain(v):
    return id(v) not in _judge.ids


class _Method:
    """A method of an object, or of a class, of the program."""

    def __init__(self, owner, word):
        self.owner, self.__name__ = owner, word

    def __call__(self, *args, **kwargs):
        n = _judge.ids[id(self.owner)]
        v = _judge.ask("method", n, self.__name__, args, kwargs)
        if isinstance(self.owner, type):
            _judge.made_by(n, v)
        elif _is_plain(v) and self.__name__ in _METHODS and n not in _judge.made:
            _judge.mark(_OWN % ("%s of an answer" % self.__name__))
        return v

    def itself(self):
        return _judge.ask("get", _judge.ids[id(self.owner)], self.__name__)

    def __getattr__(self, word):
        return getattr(self.itself(), word)

    def __eq__(self, other):
        return type(other) is _Method and self.owner is other.owner and \
            self.__name__ == other.__name__

    def __hash__(self):
        return hash(self.__name__)


class _Function:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        n = _judge.ids[id(self)]
        v = _judge.ask("call", n, None, args, kwargs)
        _judge.made_by(n, v)
        return v

    def __getattr__(self, word):
        return _get(self, word)

    def __setattr__(self, word, v):
        if word[:2] == "__":
            object.__setattr__(self, word, v)
        else:
            _judge.ask("set", _judge.ids[id(self)], word, (v,))


class _Borrowed:
    """A function that the program says is the library's. The judge uses its own,
    and the program's has to come to the same."""

    def __init__(self, own, v):
        self.own, self.program = own, v
        self.__name__ = self.__qualname__ = own.__name__

    def __call__(self, *args, **kwargs):
        return _judge.borrow(self.own, self.program, args, kwargs)

    def itself(self):
        return self.program


def _coroutine_function(name):
    async def call(*args, **kwargs):
        v = _judge.ask("call", _judge.ids[id(call)], None, args, kwargs)
        return await v
    call.__name__ = call.__qualname__ = name
    return call


async def _later(n, has_end=False):
    v = _judge.ask("await", n)
    if type(v) is not _End:
        return v
    if has_end:
        raise StopAsyncIteration
    raise RuntimeError("a coroutine raised StopAsyncIteration")


def _items(n):
    sent = None
    while True:
        v = _judge.ask("next", n, None, (sent,))
        if type(v) is _End:
            return v.value
        try:
            sent = yield v
        except GeneratorExit:
            if not _judge.waiting:  # else it is the collector's doing
                _judge.ask("method", n, "close")
            raise
        except Exception as e:
            sent = None
            v = _judge.ask("method", n, "throw", (e,))


async def _later_items(n):
    while True:
        v = _judge.ask("anext", n)
        if type(v) is _End:
            return
        yield v


class _Class(type):
    """A class of the program, where it is not."""

    def __call__(cls, *args, **kwargs):
        n = _judge.ids[id(cls)]
        v = _judge.ask("call", n, None, args, kwargs)
        _judge.made_by(n, v)
        return v

    def __getattr__(cls, word):
        if word == "_assay_methods" or id(cls) not in _judge.ids:
            raise AttributeError(word)
        if word in cls.__dict__.get("_assay_methods", ()):
            return _Method(cls, word)
        return _get(cls, word)

    def __setattr__(cls, word, v):
        _judge.ask("set", _judge.ids[id(cls)], word, (v,))

    def __getitem__(cls, key):
        return _judge.ask("special", _judge.ids[id(cls)], "__getitem__", (key,))

    def __iter__(cls):
        return _judge.ask("special", _judge.ids[id(cls)], "__iter__")

    def __len__(cls):
        return _judge.ask("special", _judge.ids[id(cls)], "__len__")

    def __contains__(cls, item):
        _judge.mark(_OWN % "__contains__ of a class")
        return _judge.ask("special", _judge.ids[id(cls)], "__contains__", (item,))

    def __bool__(cls):
        return True

    def __prepare__(name, bases, **more):
        _judge.unlike("the tests derive from %s of the program" % bases[0].__name__)


class _Object:
    __slots__ = ("__weakref__",)

    def __getattr__(self, word):
        return _get(self, word)

    def __setattr__(self, word, v):
        _judge.ask("set", _judge.ids[id(self)], word, (v,))

    def __delattr__(self, word):
        _judge.ask("delete", _judge.ids[id(self)], word)

    def __hash__(self):
        known = _judge.hashes.get(id(self))
        if known is False:
            raise TypeError("unhashable type: '%s'" % type(self).__name__)
        return hash(_judge.base(self)) if known is True else \
            object.__hash__(self) if known is None else known

    def __copy__(self):
        return _judge.ask("copy", _judge.ids[id(self)])

    def __deepcopy__(self, memo):
        return _judge.ask("copy", _judge.ids[id(self)], None, (True,))

    def __reduce_ex__(self, version):
        raise TypeError("an object of the program cannot be pickled")


def _special(word):
    def special(self, *args, **kwargs):
        v = _judge.ask("special", _judge.ids[id(self)], word, args, kwargs)
        if word in _DECIDES or (word in _DECIDES_TOO and _is_plain(v) and v is not NotImplemented):
            _judge.mark(_OWN % ("%s.%s" % (type(self).__name__, word)))
        if word == "__exit__" and v and args and "_assay_text" in vars(args[1] or self.__class__):
            _judge.mark("the program's own %s passed over its own error" % type(self).__name__)
        if word == "__anext__" and id(v) in _judge.ids:
            return _later(_judge.ids[id(v)], True)
        return _ended(v)
    return special


def _of_plain(word):
    """What an object has from a class of the language, asked of its plain value."""
    def special(self, *args):
        return getattr(_judge.base(self), word)(*map(_judge.base, args))
    return special


def _shape(v):
    """Equal for equal values of the same type, a nan among them."""
    return type(v), repr(v) if v != v else v


def _is_true(self):
    """By its length, as the language has it; that length is its own word."""
    _judge.mark(_OWN % ("%s.__len__" % type(self).__name__))
    return len(self) > 0


def _await(self):
    return _later(_judge.ids[id(self)]).__await__()


class _Objects(_Judge):
    """Makes them of what the program tells."""

    def keep(self, n, v):
        if type(n) is not int or n in self.objects:
            raise _Unreadable()
        self.objects[n], self.ids[id(v)] = v, n
        return v

    def made_by(self, n, v):
        """Name(...), by the word that the tests use, is no answer but a beginning."""
        if n in self.makers and id(v) in self.ids:
            self.made.add(self.ids[id(v)])

    def named(self, word, v):
        """The tests call it that."""
        if word.lstrip("_")[:1].isupper() and id(v) in self.ids:
            self.makers.add(self.ids[id(v)])
        return v

    def base(self, v):
        plain = type(v).__dict__.get("_assay_plain") if isinstance(v, _Object) else None
        if plain is None:
            return v
        return _checked(self.ask("base", self.ids[id(v)]), _PLAIN_NAMES[plain])

    def take_function(self, v):
        n, name, later = _checked(v, list)
        name = _checked(name, str)
        return self.keep(n, _coroutine_function(name) if later is True else _Function(name))

    def take_class(self, v):
        n, name, bases, special, methods, plain = _checked(v, list)
        space = {w: _special(w) for w in special if w in _SPECIAL}
        space["__slots__"], space["__module__"] = (), "__main__"
        space["__hash__"] = _Object.__hash__
        space["_assay_methods"] = set(methods) - set(space)
        space["_assay_plain"] = plain
        if plain is not None:
            kind = _PLAIN_NAMES[plain]
            space.update((w, _of_plain(w)) for w in _SPECIAL
                         if w not in special and w not in _CHANGES and
                         getattr(kind, w, None) is not getattr(object, w, None))
            space.setdefault("__bool__", lambda self: bool(_judge.base(self)))
        elif "__len__" in space:
            space.setdefault("__bool__", _is_true)
        if "__await__" in space:
            space["__await__"] = _await
        bases = [b for b in bases if type(b) is _Class] or [_Object]
        return self.keep(n, type.__new__(_Class, _checked(name, str), tuple(bases), space))

    def take_object(self, v):
        n, kind, known = _checked(v, list)
        if type(kind) is not _Class or not (known is None or type(known) in (bool, int)):
            raise _Unreadable()
        made = self.keep(n, object.__new__(kind))
        self.hashes[id(made)] = known
        return made

    def borrow(self, own, program, args, kwargs):
        args = [list(a) if hasattr(type(a), "__next__") else a for a in args]
        try:
            copies, named = self.dec(self.plainly([args, kwargs]))
            with self.memory:  # what it says decides nothing
                said = self.ask("call", self.ids[id(program)], None, copies, named)
        except (_Opaque, _Unreadable):
            said = copies = _NO
        except Exception as e:
            said, copies = type(e), args
        try:
            v = own(*args, **kwargs)
        except Exception as e:
            if type(e) is not said:
                self.mark("the program's own %s is not the library's" % own.__name__)
            raise
        if _shape(v) != _shape(said) or args != copies:
            self.mark("the program's own %s is not the library's" % own.__name__)
        return v

    # --- errors ---

    def error_base(self, word):
        """A class of the language that stands for nothing but an error."""
        kind = _ERRORS.get(word)
        if kind is None or not issubclass(kind, Exception) or word in _NO_ERRORS:
            return Exception
        return kind

    def take_error_class(self, v):
        n, name, base, bases = _checked(v, list)
        bases = [b for b in bases if isinstance(b, type) and issubclass(b, Exception)]
        base = self.error_base(base)
        if not any(issubclass(b, base) for b in bases):
            bases.append(base)
        space = {"__module__": "__main__", "__str__": _error_text}
        return self.keep(n, type(_checked(name, str), tuple(bases), space))

    def library_error(self, module, word):
        """An error of the library that the tests know, too; None for any other."""
        if module.partition(".")[0] not in sys.stdlib_module_names or \
                module.startswith(("unittest", "doctest", "builtins")):
            return None
        kind = vars(sys.modules[module]).get(word) if module in sys.modules else None
        if type(kind) is type and issubclass(kind, Exception) and \
                not issubclass(kind, (StopIteration, StopAsyncIteration)) and \
                not kind.__module__.startswith(("unittest", "doctest")):
            return kind
        return None

    def take_error(self, v):
        module, word, base, args, words, text, own = _checked(v, list)
        kind = self.error_base(base)
        args = _checked(args, list)
        error = None
        if own is None and module == "builtins" and word == base == kind.__name__:
            try:
                error = kind(*args)
            except TypeError:
                pass
        elif own is None:
            known = self.library_error(_checked(module, str), _checked(word, str))
            error = known and known.__new__(known, *args)
        elif not (type(own) is type and issubclass(own, Exception) and id(own) in self.ids):
            raise _Unreadable()
        if error is None:
            space = {"__module__": "__main__", "__str__": _error_text}
            kind = own or type(word.rpartition(".")[2], (kind,), space)
            error = kind.__new__(kind, *args)
        error.__dict__["_assay_text"] = _checked(text, str)
        for w, value in _checked(words, dict).items():
            if type(w) is str and w[:1] != "_" and not hasattr(type(error), w):
                error.__dict__[w] = value
        return error


def _error_text(self):
    text = self.__dict__.get("_assay_text", _NO)
    return BaseException.__str__(self) if text is _NO else text
