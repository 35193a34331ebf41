# What a word of a bash program may be when it runs, as far as its text tells:
# whole texts that are known, known beginnings of others, and the characters
# that the program itself may have put into the rest. What the data under /in
# and the program's arguments bring along counts for nothing: they are the
# user's. Everything is an upper bound over all ways through the program.
import re

TEXTS_MAX = 12
TEXT_MAX = 2000
HOME = "/work/~"  # the home, which is /work: told apart, since who names it means another
EVERY = frozenset(map(chr, range(1, 127))) | {".."}
NOTHING = frozenset()
USERS = "\ufffe"  # the start of what begins with data of the user's


class Value:
    __slots__ = ("texts", "starts", "chars")

    def __init__(self, texts=NOTHING, starts=NOTHING, chars=NOTHING):
        if len(texts) > TEXTS_MAX or any(len(t) > TEXT_MAX for t in texts):
            starts = starts | {common_start(texts)}
            chars = chars.union(*map(chars_of, texts))
            texts = NOTHING
        if len(starts) > TEXTS_MAX:
            chars = chars.union(*map(chars_of, starts))
            starts = frozenset({common_start(starts)})
        self.texts = texts
        self.starts = starts
        self.chars = chars

    def __eq__(self, other):
        return (self.texts, self.starts, self.chars) == (other.texts, other.starts, other.chars)

    def all_chars(self):
        return self.chars.union(*map(chars_of, self.texts | self.starts)) - {USERS}

    def only(self):
        """The one text it is, or None."""
        return next(iter(self.texts)) if len(self.texts) == 1 and not self.starts else None

    def known(self):
        return bool(self.texts) and not self.starts

    def empty(self):
        return not self.texts and not self.starts


def chars_of(t):
    """What it is made of: its characters, and the folder above."""
    return set(t) | {".."} if ".." in t else set(t)


def common_start(texts):
    low, high = min(texts), max(texts)
    n = 0
    while n < min(len(low), len(high), TEXT_MAX) and low[n] == high[n]:
        n += 1
    return low[:n]


def text(t):
    return Value(frozenset({t}))


def unknown(chars=NOTHING, start=""):
    return Value(NOTHING, frozenset({start if start or chars else USERS}), frozenset(chars))


NONE = Value()  # nothing at all: no output
DATA = unknown()
BLANK = text("")


def join(*values):
    values = [v for v in values if v is not None]
    if not values:
        return NONE
    return Value(frozenset().union(*(v.texts for v in values)),
                 frozenset().union(*(v.starts for v in values)),
                 frozenset().union(*(v.chars for v in values)))


def concat(a, b):
    a = BLANK if a.empty() else a
    b = BLANK if b.empty() else b
    if len(a.texts) * len(b.texts) > TEXTS_MAX:
        a = vague(a)
    texts = {x + y for x in a.texts for y in b.texts}
    starts = set(a.starts) | {x + y for x in a.texts for y in b.starts}
    chars = a.chars | b.chars
    if a.starts:
        chars |= b.all_chars()
    return Value(frozenset(texts), frozenset(starts), chars)


def vague(v):
    """The same without whole texts but the empty one."""
    whole = v.texts - {""}
    return Value(v.texts - whole, v.starts | whole, v.chars.union(*map(chars_of, whole)))


def remade(v):
    """Something made of it: none of the beginnings stands."""
    return NONE if v.empty() else unknown(v.all_chars())


def mapped(v, f):
    """f of each text; of the rest only the characters are known."""
    rest = unknown(v.all_chars()) if v.starts else NONE
    return join(Value(frozenset(f(t) for t in v.texts)), rest)


def series(values):
    """One after the other, each perhaps not at all: an output of several."""
    values = [v for v in values if not v.empty()]
    if len(values) < 2:
        return values[0] if values else NONE
    starts = frozenset().union(*(v.texts | v.starts for v in values))
    return Value(NOTHING, starts, frozenset().union(*(v.all_chars() for v in values)))


def lines(v, ends="\n\0"):
    """A line of it."""
    end = re.compile("[%s]" % ends)
    pieces = {p for t in v.texts for p in end.split(t)}
    starts = {p for s in v.starts for p in end.split(s)}
    if v.starts and any(c in v.chars for c in ends):
        starts.add("")
    return Value(frozenset(pieces), frozenset(starts), v.chars)


def words(v):
    """A word of it, after it was split at blanks (or at what IFS says)."""
    pieces = {p for t in v.texts for p in t.split()}
    starts = {p for s in v.starts for p in (s.split() or [""])}
    if any(c in v.chars for c in " \t\n"):
        starts.add("")
    return Value(frozenset(pieces), frozenset(starts), v.chars)


# --- escapes ---

SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
          "e": "\x1b", "E": "\x1b", "\\": "\\", "'": "'", '"': '"', "?": "?", "/": "/"}


def digits(s, at, most, allowed):
    end = at
    while end < len(s) and end - at < most and s[end] in allowed:
        end += 1
    return s[at:end], end


def unescape(s, quote=False):
    """Of $'...' (quote), printf, echo -e and awk: what its backslashes stand for."""
    out = []
    at = 0
    while at < len(s):
        c = s[at]
        at += 1
        if c != "\\" or at >= len(s):
            out.append(c)
            continue
        c = s[at]
        at += 1
        if c in "xuU":
            word, end = digits(s, at, {"x": 2, "u": 4, "U": 8}[c], "0123456789abcdefABCDEF")
            if c == "x" and s[at:at + 1] == "{":
                word, end = digits(s, at + 1, 8, "0123456789abcdefABCDEF")
                end += 1
            out.append(chr(min(int(word, 16), 0x10FFFF)) if word else "\\" + c)
            at = end
        elif c in "01234567":
            most = 4 if c == "0" and not quote else 3
            word, at = digits(s, at - 1, most, "01234567")
            out.append(chr(int(word, 8) & 0xFF))
        elif c == "c" and quote and at < len(s):
            out.append(chr(ord(s[at]) & 0x1F))
            at += 1
        elif c in SIMPLE:
            out.append(SIMPLE[c])
        else:
            out.append("\\" + c)
    return "".join(out)


def plain_quotes(s):
    """The inside of double quotes: only some characters can be escaped there."""
    out = []
    at = 0
    while at < len(s):
        if s[at] == "\\" and at + 1 < len(s) and s[at + 1] in '$`"\\\n':
            at += 1
            if s[at] == "\n":
                at += 1
                continue
        out.append(s[at])
        at += 1
    return "".join(out)


# --- braces ---

BRACES_MAX = 300


def split_braces(s):
    """The first pair that expands: before, choices, after; None when there is none."""
    at = s.find("{")
    while at >= 0:
        depth, start, parts = 0, at + 1, []
        for i in range(at, len(s)):
            if s[i] == "{":
                depth += 1
            elif s[i] == "}":
                depth -= 1
                if not depth:
                    parts.append(s[start:i])
                    choices = parts if len(parts) > 1 else steps(parts[0])
                    if choices is not None:
                        return s[:at], choices, s[i + 1:]
                    break
            elif s[i] == "," and depth == 1:
                parts.append(s[start:i])
                start = i + 1
        at = s.find("{", at + 1)
    return None


def steps(body):
    """1..5, a..e and 1..9..2; None when it is no such thing."""
    ends = body.split("..")
    if len(ends) not in (2, 3):
        return None
    try:
        step = abs(int(ends[2])) if len(ends) == 3 else 1
        if all(len(e) == 1 and e.isalpha() for e in ends[:2]):
            a, b = map(ord, ends[:2])
            make = chr
        else:
            a, b = int(ends[0]), int(ends[1])
            make = str
    except ValueError:
        # Something is put in there at run time: a word of unknown text.
        return [body] if all(ends) and any("\ue000" <= c <= "\uf8ff" for c in body) else None
    count = min(abs(b - a) // max(step, 1) + 1, BRACES_MAX)
    return [make(a + (i if a <= b else -i) * max(step, 1)) for i in range(count)]


def braces(s):
    done, todo = [], [s]
    while todo:
        s = todo.pop()
        found = split_braces(s) if len(done) + len(todo) < BRACES_MAX else None
        if found is None:
            done.append(s)
        else:
            before, choices, after = found
            todo.extend(before + c + after for c in reversed(choices))
    return done
