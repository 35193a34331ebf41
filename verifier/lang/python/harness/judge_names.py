# Whose a name is that the tests use and do not bind: the language's or the
# library's, which are the judge's own, or the program's. Part of a run of the
# judge, after judge_objects.py.

_BUILTINS = set(dir(_builtins))
_ALIASES = {"np": "numpy", "pd": "pandas"}
_NO_MODULES = {"this", "antigravity", "main", "solution"}
# Functions of libraries that decide about others' results: what a program of that
# name says about another answer of its own is its own word.
_HELPERS = set("isclose allclose approx array_equal array_equiv fabs hypot dist eq ne lt le gt ge "
               "is_ is_not contains truth not_ countOf assert_equal assert_allclose "
               "cmp_to_key compare_digest almost_equal approx_equal approximately is_equal "
               "equal equals "
             "are_equal nearly_equal is_near close is_close same array_almost_equal "
             "assert_array_equal assert_almost_equal assert_array_almost_equal".split())
# And that make something else of it, on both sides of a comparison.
_HELPERS |= set("Counter OrderedDict defaultdict deque Decimal Fraction deepcopy floor ceil trunc "
                "fsum sqrt isnan isinf isfinite copysign dumps loads literal_eval asdict astuple "
                "reduce prod itemgetter chain".split())

# In any name of one that is asked about another answer.
_COMPARES = ("equal close near approx almost same similar match compare cmp diff distance within "
             "toler verify check assert expect should must valid").split()
_ITEMS_MAX, _KEPT_MAX = 1000, 100000


def _is_compare(word):
    return any(part in word.lower() for part in _COMPARES)


def _is_word(v):
    return type(v) in (str, int, float, bytes)


def _is_telling(v):
    """Not one that stands in the tests by chance."""
    return len(v) > 1 if type(v) in (str, bytes) else v % 1 != 0 or abs(v) > 9


class _Call:
    """One of a function of the program, up to the assertion it is for."""

    def __init__(self, memory, n, word, given):
        self.n, self.word, self.line = n, word, memory.tests.line()
        self.held = [v for item in given for v in memory.within(item)]
        self.is_old = len(given) > 1 and any(map(memory.is_old, given))
        self.derived = memory.derived(word, self.line, given)
        self.of_other = any(memory.by(v) != n for v in self.held)
        self.of_tests = bool(given) and not memory.is_answer(given[0])
        self.is_fed, self.value = False, _NO


class _Memory:
    """What came from the program, and what it says about that: by a function that is
    named like a comparison, or whose word is the truth of the assertion, or that makes
    both what is compared. An object may be spoken of by a function of another name that
    said yes as well as no."""

    def __init__(self, judge):
        self.judge, self.tests = judge, judge.tests
        self.things, self.ever = {}, set()  # id -> (thing, by whom)
        self.direct = set()  # of these, those that are no part of another answer
        self.words = {}  # since the last assertion: any constant may be the same
        self.calls, self.doubts, self.pledged = [], [], {}
        self.spoken = set()  # names of functions and attributes that answered
        self.said, self.free, self.kept = {}, set(), set()  # by number of the function
        self.paused, self.active = 0, []

    def __enter__(self):
        self.paused += 1

    def __exit__(self, *error):
        self.paused -= 1

    # --- what came from it ---

    def items(self, v):
        kind = type(v)
        if kind is dict or isinstance(v, dict):
            v = [x for item in dict.items(v) for x in item]
        elif not isinstance(v, (list, tuple, set, frozenset)):
            return []
        return list(v)[:_ITEMS_MAX]

    def hear(self, v, by, depth=0):
        if _is_word(v):
            self.words[v] = by
            self.ever.add(v)
            if not depth:
                self.direct.add(v)
        elif v is None or type(v) is bool or callable(v) or depth > 5 or id(v) in self.things:
            return
        elif len(self.things) < _KEPT_MAX:
            self.things[id(v)] = v, by
            for item in self.items(v) if _is_plain(v) else ():
                self.hear(item, by, depth + 1)

    def within(self, v, depth=0):
        """The answers in what the tests give."""
        if _is_word(v):
            if v in self.words:
                yield v
        elif v is None or type(v) is bool or self.judge.ids.get(id(v)) in self.judge.made:
            return
        elif id(v) in self.things:
            yield v
        elif depth < 6 and _is_plain(v):
            for item in self.items(v):
                yield from self.within(item, depth + 1)

    def is_answer(self, v):
        return v in self.direct if _is_word(v) else id(v) in self.things

    def by(self, v):
        return self.words.get(v) if _is_word(v) else self.things[id(v)][1]

    def is_old(self, v):
        return _is_word(v) and _is_telling(v) and v in self.ever

    def derived(self, word, line, given):
        """What it is given that the tests made of answers of others."""
        others = frozenset(self.spoken - {word})
        found = self.tests.answers.made(word, line, others) if others else ()
        return [given[i] for i in found if i < len(given) and not callable(given[i]) and
                id(given[i]) not in self.judge.ids and not list(self.within(given[i]))]

    # --- what it says ---

    def begin(self, op, n, word, given):
        if op not in ("call", "method") or self.paused:
            return None
        word = word or getattr(self.judge.objects.get(n), "__name__", "function")
        call = _Call(self, (n, op == "method" and word), word, given)
        for one in self.calls:
            one.is_fed = one.is_fed or any(v is one.value for v in given)
        if not call.held and not call.is_old:
            self.free.add(call.n)
        if (call.held or call.derived) and _is_compare(word):
            self.judge.mark("the program's %s is asked about its own answer" % word)
        self.active.append(call)
        return call

    def given(self, v, is_error=False):
        """By the call that is being answered."""
        self.hear(v, self.active[-1].n if self.active else None)
        if is_error and self.active:
            self.active.pop()

    def end(self, call, op, n, value, word):
        if op == "await" and n in self.pledged:
            self.says(self.pledged[n], value)
            n = self.pledged[n].n
        if call is None:
            if op not in ("names", "base"):
                self.hear(value, n)
            if op == "get" and not callable(value):
                self.spoken.add(word)
            return
        self.active.remove(call)
        self.hear(value, call.n)
        call.value = value
        self.spoken.add(call.word)
        self.calls.append(call)
        self.says(call, value)
        if id(value) in self.judge.ids:
            self.pledged[self.judge.ids[id(value)]] = call

    def is_ignored(self, call):
        text = self.tests.lines[call.line - 1] if call.line else ""
        head = text.strip().partition("(")[0].removeprefix("await ")
        return head.rpartition(".")[2] == call.word

    def says(self, call, value):
        held = call.held + call.derived
        direct = held and (call.line, call.word) in self.tests.truths
        if type(value) is not bool and not direct:
            return
        why = "the program's %s is asked about its own answer" % call.word
        if held:
            self.said.setdefault(call.n, set()).add(bool(value))
        if direct and type(value) is not bool or \
                any(_is_word(v) or v is None or type(v) is bool for v in held):
            self.judge.mark(why)
        elif held and not self.is_ignored(call):
            self.doubts.append((call.line, why, lambda: len(self.said[call.n]) > 1))
        elif call.is_old:
            self.doubts.append((call.line, why, lambda: call.n in self.free))

    def settle(self, entry):
        """This assertion is decided."""
        made = [c for c in self.calls if c.of_tests and not c.is_fed]
        self.kept |= {c.n for c in made if c.line < entry[0] and not self.is_ignored(c) and
                      "assert" not in self.tests.lines[c.line - 1]}
        for call in self.calls:
            is_made = any(c.n == call.n and c is not call for c in made)
            if call.of_other and call.n in self.kept or \
                    (call.of_other or call.derived) and is_made:
                entry[1] = entry[1] or "the program's %s makes both what is compared" % call.word
        self.calls, self.words, self.direct = [], {}, set()

    def look_back(self):
        for line, why, stands in self.doubts:
            if not stands():
                self.tests.leave_open(line, why)


class _Uses:
    """The names in the tests."""

    def __init__(self, tree):
        self.lines = {}  # name that is read -> its first line
        self.bound, self.owners, self.asked = set(), set(), set()
        for node in _nodes(tree):
            kind = type(node)
            if kind is _ast.Name:
                if type(node.ctx) is _ast.Load:
                    self.lines[node.id] = min(node.lineno, self.lines.get(node.id, node.lineno))
                else:
                    self.bound.add(node.id)
            elif kind is _ast.Attribute:
                if type(node.value) is _ast.Name:
                    self.owners.add(node.value.id)
            elif kind is _ast.arg:
                self.bound.add(node.arg)
            elif kind in _FUNCTION or kind is _ast.ClassDef:
                self.bound.add(node.name)
            elif kind is _ast.ExceptHandler:
                if node.name:
                    self.bound.add(node.name)
            elif kind is _ast.Import or kind is _ast.ImportFrom:
                self.imported(node)
        self.free = {w for w in self.lines if w not in self.bound and w[:2] != "__"}

    def imported(self, node):
        of_program = isinstance(node, _ast.ImportFrom) and node.module in ("main", "solution")
        if isinstance(node, _ast.Import):
            self.asked |= {w.name for w in node.names if w.name in ("main", "solution")}
        for one in node.names:
            self.bound.add((one.asname or one.name).partition(".")[0])
            if of_program:
                self.asked.add(one.name)


class _Names(_Objects):
    def over(self, decide):
        """all() and any(), which prove nothing of an answer without items."""
        def counted(items):
            line, items = self.tests.line(), iter(items)
            first = next(items, _NO)
            self.tests.looked[line] = self.tests.looked.get(line) or first is not _NO
            if first is not _NO and bool(first) is (decide is any):
                return decide is any
            return decide(items)
        return counted

    def fill(self, tree, space):
        """Puts what the tests name into their namespace."""
        uses = _Uses(tree)
        words = sorted(w for w in uses.lines if w[:2] != "__")
        told = self.ask("names", None, None, (words,))
        if type(told) is not list or len(told) != len(words) or \
                {type(t) for t in told} - {list, type(None)}:
            self.die("the program's answer cannot be read")
        told = {w: t for w, t in zip(words, told) if t}
        # Whatever the program says: what they name beside the language and the library.
        self.others = {w for w in uses.free if w not in _BUILTINS and
                       w not in sys.stdlib_module_names and w not in _ALIASES} | uses.asked
        self.live, self.classes = set(), {}
        for word in words:
            if word in uses.bound:
                # It may be a parameter elsewhere.
                if word not in _BUILTINS and told.get(word, ("",))[0] == "own":
                    space[word] = self.helper(word, self.named(word, told[word][1]))
            elif word not in _BUILTINS:
                v = self.whose(word, told.get(word), word in uses.owners)
                if v is not _NO:
                    space[word] = v
        self.redefined(uses, {w: told[w] for w in told if w in _BUILTINS & uses.free}, space)
        for word in ("all", "any"):
            if word in uses.free and word not in space:
                space[word] = self.over(getattr(_builtins, word))
        space["_assay_value"], space["_assay_class"] = self.value, self.class_call
        for node in _nodes(tree) if self.live or self.classes else ():
            self.rename(node)

    def rename(self, node):
        """A variable of the program is looked at whenever the tests name it, and a
        class that it borrows from the library is made by both."""
        for field in node._fields:
            v = getattr(node, field, None)
            for i, one in enumerate(v if isinstance(v, list) else [v]):
                if not isinstance(one, _ast.Name):
                    continue
                if one.id in self.live:
                    one = _call(one, "_assay_value", [_constant(one, one.id)])
                elif one.id in self.classes and isinstance(node, _ast.Call) and field == "func":
                    one = _call(one, "_assay_class", [_constant(one, one.id)])
                else:
                    continue
                if isinstance(v, list):
                    v[i] = one
                else:
                    setattr(node, field, one)

    def value(self, word):
        v = self.ask("name", None, word)
        return self.helper(word, self.named(word, v))

    def class_call(self, word):
        own, program = self.classes[word]
        return lambda *args, **kwargs: self.borrow(own, program, args, kwargs)

    def helper(self, word, v):
        """Of the program, but meant to decide about another of its answers."""
        if word not in _HELPERS or not self.others - {word}:
            return v
        if id(v) in self.ids:
            self.helpers[self.ids[id(v)]] = word
        else:  # a class of the language, or a tuple's, that is true of anything
            self.mark("the program's own %s decided it" % word)
        return v

    def redefined(self, uses, told, space):
        """Built-ins stay the judge's, but for one that the tests can only mean otherwise."""
        told = {w: t for w, t in told.items() if not (t[0] == "library" and t[2] == w)}
        if not self.others and len(told) == 1:
            (word, what), = told.items()
            if what[0] == "own":
                space[word] = what[1]
                return
        for word in told:
            self.tests.leave_open(uses.lines[word],
                                  "the tests use %s, and the program has one of its own" % word)

    def whose(self, word, what, has_attributes):
        """The object for a name; _NO where there is none, or the program's variable."""
        kind = what[0] if what else None
        if kind == "library" and what[2] == word and type(what[1]) is str:
            module = what[1].lstrip("_")
            known = module in _KNOWN or module.partition(".")[0] == "numpy"
            _with_site()
            own = getattr(__import__(module, fromlist=["_"]), word, _NO) if known else _NO
            if own is not _NO and self.others - {word} and id(what[3]) in self.ids:
                if not isinstance(own, type):
                    return _Borrowed(own, what[3])
                self.classes[word] = own, what[3]
                return own
        is_module = word in sys.stdlib_module_names and word not in _NO_MODULES
        if is_module and (kind in (None, "module") or has_attributes):
            return __import__(word)
        if kind == "module":
            if what[1] == word or _ALIASES.get(word) == what[1] in ("numpy", "pandas"):
                _with_site()
                return __import__(what[1])
            self.tests.unlike = "the tests use %s, which the program says is a module" % word
            return _NO
        return self.of_program(word, kind, what)

    def of_program(self, word, kind, what):
        if kind == "tuple":
            self.asked = True
            return self.helper(word, self.tuple_class(what))
        if kind == "library" or kind == "own":
            return self.helper(word, self.named(word, what[3 if kind == "library" else 1]))
        if kind == "value":
            self.live.add(word)
        if kind == "opaque":
            self.tests.unlike = "%s is %s" % (word, str(what[1])[:200])
        return _NO

    def tuple_class(self, what):
        name, fields, defaults = what[1:]
        kind = self.namedtuple(name, fields)
        kind.__new__.__defaults__ = tuple(defaults)
        kind._field_defaults = dict(zip(fields[len(fields) - len(defaults):], defaults))
        return kind


class _ProgramModule(type(sys)):
    """What an import of the program gives the tests: its names, when asked for."""

    __all__ = ()

    def __getattr__(self, word):
        if word[:2] == "__":
            raise AttributeError(word)
        what, = _judge.ask("names", None, None, ([word],))
        if not what:
            raise AttributeError("the program has no %s" % word)
        _judge.others |= {word, "solution"}
        v = _judge.of_program(word, what[0], what)
        return _judge.value(word) if v is _NO else v
