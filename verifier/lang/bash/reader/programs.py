# The small languages inside a bash program: awk and sed. Only as much of them
# is read as it takes to tell what they run, read and write. A part that is put
# in at run time is one character from \ue000 on, a hole: its place among the
# values that are given with the program.
import re

HOLE = re.compile("[\ue000-\uf8ff]")
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:%+-= \t")


class Unclear(Exception):
    """The program cannot be looked into, or runs what is not known."""


def hole_of(holes, c):
    return holes[ord(c) - 0xE000]


def filled(s, holes):
    """The value of a text with holes."""
    v, at = None, 0
    for m in HOLE.finditer(s):
        for part in (text(s[at:m.start()]), hole_of(holes, m.group())):
            v = part if v is None else concat(v, part)
        at = m.end()
    last = text(s[at:])
    return last if v is None else concat(v, last)


# --- awk ---

AWK_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\\\n)|(?P<comment>#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\\n])*\")"
    r"|(?P<number>[0-9][\w.]*|\.[0-9][\w.]*)|(?P<name>[A-Za-z_]\w*)"
    "|(?P<hole>[\ue000-\uf8ff])"
    r"|(?P<op>\|&|\|\||&&|>>|\*\*=?|[-+*/%^=!<>]=|\+\+|--|.|\n)", re.S)
AWK_REGEX = re.compile(r"/((?:\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\\n])*\]|[^/\\\n\[])*)/", re.S)
OPERAND = ("number", "string", "hole", "regex")
KEYWORDS = {"print", "printf", "return", "in", "else", "do", "case", "exit", "delete", "getline"}
CLOSES = ("if", "while", "for", "switch")


def check_hole(c, holes, forbidden):
    if hole_of(holes, c).all_chars() & forbidden:
        raise Unclear("awk")


def awk_tokens(program, holes):
    out, heads, at, after_head = [], [], 0, False
    while at < len(program):
        kind, word = out[-1] if out else ("op", ";")
        operand = (kind in OPERAND or word in ("]", "++", "--", "$")
                   or kind == "name" and word not in KEYWORDS or word == ")" and not after_head)
        if program[at] == "/" and not operand:
            m = AWK_REGEX.match(program, at)
            if not m:
                raise Unclear("awk")
            kind, word, at = "regex", m.group(1), m.end()
        else:
            m = AWK_TOKEN.match(program, at)
            kind, word, at = m.lastgroup, m.group(), m.end()
        if kind in ("space", "comment"):
            continue
        for c in HOLE.findall(word):
            check_hole(c, holes, {"string": set('"\\\n'), "regex": set("/\\\n[")}.get(
                kind, EVERY - PLAIN))
        if kind == "op" and word == "(":
            heads.append(bool(out) and out[-1][1] in CLOSES)
        elif kind == "op" and word == ")":
            after_head = bool(heads) and heads.pop()
        elif kind == "op" and word == '"':
            raise Unclear("awk")
        out.append((kind, word))
    # Some end a pattern at a slash in brackets: then what follows reads differently.
    if any(k == "regex" and "/" in re.sub(r"\\.", "", w) for k, w in out):
        if re.search(r"system|getline|\|\s*\"", program):
            raise Unclear("awk")
    return out


class Awk:
    """What an awk program does; given: the variables it is called with."""

    def __init__(self, program, holes, given):
        self.tokens = awk_tokens(program, holes)
        self.holes = holes
        self.runs = []  # texts for the shell
        self.asks = False  # for what one prints, or whether it went well
        self.reads = []
        self.writes = []
        self.chars = set()  # it may print of its own
        self.names = {n: [v] for n, v in given.items()}  # values, or where one begins
        self.find_names()
        self.scan()

    def kind(self, i):
        return self.tokens[i][0] if 0 <= i < len(self.tokens) else "end"

    def at(self, i):
        return self.tokens[i][1] if 0 <= i < len(self.tokens) else ""

    def ends(self, i):
        return self.kind(i) == "end" or (self.kind(i) == "op"
                                         and self.at(i) in (";", "\n", "}", ")", "|", ">", ">>",
                                                            ",", "|&"))

    def string(self, i):
        return filled(unescape(self.at(i)[1:-1]), self.holes)

    def find_names(self):
        for i, (kind, word) in enumerate(self.tokens):
            if kind != "name":
                continue
            before, after = self.at(i - 1), self.at(i + 1)
            held = self.names.setdefault(word, [])
            if after == "=":
                held.append(i + 2)
            elif (after in ("++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "[")
                  or before in ("++", "--", "getline", "in", ",")
                  or before == "(" and self.at(i - 2) not in ("close", "fflush", *CLOSES)):
                held.append(DATA)  # set by getline, split, as a parameter: not by name =

    def held(self, name, depth):
        if depth > 4:
            return unknown(EVERY)
        values = [self.value(v, depth + 1)[0] if isinstance(v, int) else v
                  for v in self.names.get(name, [])]
        own = any(isinstance(v, int) for v in self.names.get(name, []))
        if own and any(v is DATA for v in values):
            # What is passed about may come back as anything that is in here.
            values.append(unknown(self.own_chars()))
        return join(*values) if values else DATA

    def own_chars(self):
        return frozenset().union(*(self.string(i).all_chars()
                                   for i in range(len(self.tokens)) if self.kind(i) == "string"))

    def value(self, i, depth=0):
        """Of the concatenation that begins there, and where it ends."""
        v = None
        while not self.ends(i):
            kind, word = self.tokens[i]
            if kind == "string":
                part, i = self.string(i), i + 1
            elif kind == "hole":
                part, i = hole_of(self.holes, word), i + 1
            elif kind == "number":
                part, i = text(word), i + 1
            elif word == "(" and depth < 20:
                part, i = self.value(i + 1, depth + 1)
                if self.at(i) != ")":
                    return unknown(EVERY), self.end_of(i)
                i += 1
            elif word == "$" and self.kind(i + 1) in ("name", "number"):
                part, i = DATA, i + 2
            elif word == "sprintf" and self.kind(i + 2) == "string":
                start = min(self.string(i + 2).texts | self.string(i + 2).starts)
                part = unknown(self.own_chars(), start.split("%")[0])
                i = self.end_of(i + 1)
            elif kind == "name" and self.at(i + 1) not in ("(", "[", "?"):
                part, i = self.held(word, depth), i + 1
            else:
                rest = unknown(self.own_chars())
                return (rest if v is None else concat(v, rest)), self.end_of(i)
            v = part if v is None else concat(v, part)
        return (NONE if v is None else v), i

    def end_of(self, i):
        depth = 0
        while i < len(self.tokens):
            word = self.at(i) if self.kind(i) == "op" else ""
            depth += (word in ("(", "[")) - (word in (")", "]"))
            if depth < 0 or not depth and word in (";", "\n", "}", "|", ">", ">>", ")"):
                return i + (word == ")" and depth == 0)
            i += 1
        return i

    def run(self, i):
        v, end = self.value(i)
        if not v.known() or not self.ends(end):
            raise Unclear("awk")
        self.runs.extend(sorted(v.texts))

    def run_before(self, i):
        """The command of CMD | getline: what stands alone before the bar."""
        if self.at(i) == ")":
            depth = 0
            while i >= 0:
                depth += (self.at(i) == ")") - (self.at(i) == "(")
                if not depth:
                    break
                i -= 1
            first = i + 1
        else:
            first = i
        before = self.at(i - 1)
        alone = self.kind(i - 1) in ("op", "end") and before not in ("$", "]", ")")
        if not (alone or before in CLOSES) or self.kind(first) not in ("string", "name"):
            raise Unclear("awk")
        self.run(first)

    def scan(self):
        printing, depth = None, 0  # the depth of brackets a print began at
        for i, (kind, word) in enumerate(self.tokens):
            if kind == "string":
                self.chars |= self.string(i).all_chars()
                if "%c" in word:
                    self.chars |= EVERY
            elif kind == "hole":
                self.chars |= hole_of(self.holes, word).all_chars()
            elif kind == "name":
                if word in ("print", "printf"):
                    printing = depth
                elif word == "system":
                    self.asks = True
                    self.run(i + 2)
                elif word == "getline" and self.at(i - 1) != "|":
                    self.read(i + 1)
                elif word in ("ARGV", "PROCINFO", "BINMODE", "include", "load"):
                    self.special(i)
            elif kind == "op":
                depth += (word in ("(", "[")) - (word in (")", "]"))
                if word in (";", "\n", "}") and (printing is None or depth <= printing):
                    printing = None
                elif word in ("|&", "@"):
                    raise Unclear("awk")
                elif word == "|" and self.at(i + 1) == "getline":
                    self.asks = True
                    self.run_before(i - 1)
                elif word == "|":
                    self.run(i + 1)
                elif word in (">", ">>") and printing == depth:
                    self.writes.append(self.value(i + 1)[0])

    def special(self, i):
        """Arguments that become file names, and switches of one awk."""
        given = self.at(i - 1) == "," and any(w in ("sub", "gsub") for _, w in self.tokens)
        if self.at(i) == "ARGV" and (self.at(i + 1) != "[" or given or self.at(i - 1) == "getline"):
            raise Unclear("awk")  # a function may set it
        while self.at(i) and self.at(i) not in (";", "\n", "}", ")"):
            if self.at(i) == "=":
                raise Unclear("awk")
            i += 1

    def read(self, i):
        while self.kind(i) in ("name", "number") or self.at(i) in ("$", "[", "]"):
            i += 1
        if self.at(i) == "<":
            self.reads.append(self.value(i + 1)[0])


# --- sed ---

SED_BRACKETS = re.compile(r"\[\^?\]?(?:\[[:.=]\w+[:.=]\]|[^\]\n])*\]")


class Sed:
    def __init__(self, script, holes):
        self.s = script
        self.holes = holes
        self.reads = []
        self.writes = []
        self.chars = set()  # it may print of its own
        self.at = 0
        while self.at < len(self.s):
            self.command()

    def peek(self):
        return self.s[self.at:self.at + 1] or "\0"

    def next(self):
        self.at += 1
        return self.s[self.at - 1:self.at] or "\0"

    def skip(self, what):
        while self.peek() in what:
            self.at += 1

    def until(self, end, pattern=False):
        """A pattern or a replacement, up to its delimiter, which counts for nothing in brackets."""
        start = self.at
        while self.at < len(self.s):
            c = self.next()
            if c == end:
                return self.s[start:self.at - 1]
            if c == "\\":
                self.at += 1
            elif c == "[" and pattern:
                m = SED_BRACKETS.match(self.s, self.at - 1)
                if not m or any(hole_of(self.holes, h).all_chars() & {"]", end, "\\", "\n"}
                                for h in HOLE.findall(m.group())):
                    raise Unclear("sed")
                self.at = m.end()
            elif HOLE.match(c) and hole_of(self.holes, c).all_chars() & {end, "\\", "\n"}:
                break
        raise Unclear("sed")

    def address(self):
        self.skip(" \t")
        if self.peek() in "/\\":
            end = self.next()
            end = self.next() if end == "\\" else end
            self.until(end, True)
            self.skip("IM")
            return
        while self.peek() in "0123456789$~+" or HOLE.match(self.peek()):
            c = self.next()
            if HOLE.match(c) and hole_of(self.holes, c).all_chars() - set("0123456789$,~+ "):
                raise Unclear("sed")

    def line(self):
        end = self.s.find("\n", self.at)
        start, self.at = self.at, len(self.s) if end < 0 else end
        return self.s[start:self.at]

    def insert(self):
        """What a, i and c put in: to the end of the line, and on after a backslash."""
        while True:
            line = self.line()
            self.chars |= filled(line, self.holes).all_chars()
            if (len(line) - len(line.rstrip("\\"))) % 2 == 0 or self.at >= len(self.s):
                return
            self.at += 1

    def file(self):
        return filled(self.line().strip(), self.holes)

    def substitute(self, kind):
        end = self.next()
        if end in "\\\n\0" or HOLE.match(end):
            raise Unclear("sed")
        self.until(end, kind == "s")
        self.chars |= filled(unescape(self.until(end)), self.holes).all_chars()
        if kind == "y":
            return
        self.skip("gpiImM0123456789")
        if self.peek() == "w":
            self.at += 1
            self.writes.append(self.file())

    def command(self):
        self.skip(" \t\n;")
        if self.at >= len(self.s):
            return
        self.address()
        self.skip(" \t")
        if self.peek() == ",":
            self.at += 1
            self.address()
        self.skip(" \t!")
        c = self.next()
        if c in "sy":
            self.substitute(c)
        elif c in "aic":
            self.insert()
        elif c in "rR":
            self.reads.append(self.file())
        elif c in "wW":
            self.writes.append(self.file())
        elif c == "#":
            self.line()
        elif c in ":btT":
            self.skip(" \t")
            self.at += len(re.match(r"[^;}\s]*", self.s[self.at:]).group())
        elif c in "lLqQ":
            self.skip(" \t0123456789")
        elif c not in "{}=dDgGhHnNpPxzF":
            raise Unclear("sed")
        self.skip(" \t")
        if c not in "{}" and self.at < len(self.s) and self.peek() not in ";\n}#":
            raise Unclear("sed")
