# What the words of a bash program become: quotes, braces, parameters, and the
# arithmetic in them.
import fnmatch
import re

KEY_SIGNS = "-+*/%&|^<>=!?:,~() "
DOTS = re.compile(r"(?:^|/)\.[*?\[.]")  # may be the folder above
GLOB = re.compile(r"[*?]|\[.*\]")


class Words(State):
    # --- words ---

    def parts(self, nodes, ctx, quoted=False):
        """Pieces of a word: (kind, value, many); kind is lit, quoted or value."""
        out = []
        for p in nodes or ():
            kind = p.get("Type")
            if kind == "Lit":
                if quoted:
                    out.append(("quoted", text(plain_quotes(p["Value"])), False))
                else:
                    out.extend(self.literal(p["Value"], not out))
            elif kind == "SglQuoted":
                t = p.get("Value", "")
                out.append(("quoted", text(unescape(t, True).split("\0")[0] if p.get("Dollar")
                                           else t), False))
            elif kind == "DblQuoted":
                inner = self.parts(p.get("Parts"), ctx, True)
                out.extend(inner or [("quoted", BLANK, False)])
            elif kind == "ExtGlob":
                if re.search(r"[`]|\$\(", p["Pattern"]["Value"]):
                    self.tell("code pattern", p, ctx)
                out.append(("value", unknown(EVERY - {"/", ".."}), True))
            else:
                v, many = self.expansion(p, ctx)
                whole = quoted or self.is_number(p)
                out.append(("quoted" if quoted else "value", v, many or not whole))
        return out

    def is_number(self, p):
        """What stays one word without quotes, as long as words are split at no digit."""
        return (p.get("Type") == "ArithmExp" or p.get("Type") == "ParamExp" and p.get("Length")) \
            and not self.value_of("IFS").all_chars() & set("0123456789-")

    def literal(self, raw, first):
        """Unquoted text: what a backslash protects is quoted."""
        out, plain, at = [], "", 0
        while at < len(raw):
            c = raw[at]
            at += 1
            if c == "\\" and at < len(raw):
                if raw[at] != "\n":
                    out += [("lit", plain), ("quoted", raw[at])]
                    plain = ""
                at += 1
            else:
                plain += c
        out.append(("lit", plain))
        pieces = [(k, text(t), False) for k, t in out if t]
        if first and raw.startswith("~"):
            user = raw[1:].split("/")[0]
            self.homes = True
            homes = [HOME, "/work"] if not user or user in "+-" else ["/home/" + user]
            rest = pieces[0][1].only()[1 + len(user):]
            pieces[0] = ("quoted", join(*(text(home + rest) for home in homes)), False)
        return pieces

    def expansion(self, p, ctx):
        """The value of $x, $(...), $((...)) and <(...); whether it is several words."""
        kind = p.get("Type")
        if kind == "ParamExp":
            return self.parameter(p, ctx)
        if kind == "CmdSubst":
            out = self.perhaps(self.statements, p.get("Stmts"), ctx.but())
            stripped = Value(frozenset(t.replace("\0", "").rstrip("\n") for t in out.texts),
                             frozenset(s.replace("\0", "") for s in out.starts), out.chars)
            return BLANK if out.empty() else stripped, False
        if kind == "ArithmExp":
            self.arithmetic(p.get("X"), ctx)
            return NUMBER, False
        if kind == "ProcSubst":
            reads = ctx.source[p["OpPos"]["Offset"]:p["OpPos"]["Offset"] + 1] == b"<"
            end = "/dev/fd/%d" % (63 + p["OpPos"]["Offset"])  # one each
            given = DATA if reads else self.file_value(text(end))
            out = self.perhaps(self.statements, p.get("Stmts"), ctx.but(stdin=given))
            if reads:
                self.put("file:" + end, BLANK if out.empty() else out)
            return text(end), False
        self.tell("code unknown", p, ctx)
        return unknown(EVERY), True

    def word(self, w, ctx):
        """The words that one word of the program becomes."""
        pieces = self.parts((w or {}).get("Parts"), ctx)
        if any(k == "lit" and "{" in v.only() for k, v, _ in pieces):
            masked = "".join(v.only() if k == "lit" else chr(0xE000 + i)
                             for i, (k, v, _) in enumerate(pieces))
            chosen = braces(masked)
            if len(chosen) > 1 or chosen[0] != masked:
                return [self.made_of([("lit", text(c), False) if not HOLE.match(c)
                                      else pieces[ord(c) - 0xE000] for c in word], w)
                        for word in chosen]
        found = [self.made_of(pieces, w)]
        return self.split(found[0]) if found[0].many else found

    def made_of(self, pieces, node):
        v, shape, holes, many = BLANK, "", [], False
        for _, part, several in pieces:
            v = concat(v, part)
            many |= several
            if part.only() is not None:
                shape += part.only()
            elif len(holes) < 100:
                shape += chr(0xE000 + len(holes))
                holes.append(part)
        if any(k == "lit" and GLOB.search(p.only()) for k, p, _ in pieces):
            v = self.matching(v)
            many = True
        return Arg(v, node, many, (shape, holes))

    def matching(self, pattern):
        """The names a pattern stands for, and itself where there is none. A name has no
        slash but those of the pattern."""
        chars = self.env.get("names", NONE).all_chars() - {"/", ".."} | pattern.all_chars()
        if any(DOTS.search(t) for t in pattern.texts | pattern.starts):
            chars |= {".."}
        begins = {GLOB.split(t)[0] for t in pattern.texts | pattern.starts}
        return Value(frozenset(t for t in {OWN, OWN_NAME, "./" + OWN_NAME} for p in pattern.texts
                               if fnmatch.fnmatchcase(t, p) and t.count("/") == p.count("/")),
                     frozenset(b if b or chars else USERS for b in begins), chars)

    def split(self, arg):
        only = arg.value.only()
        own = self.value_of("IFS").all_chars() - set(" \t\n..")
        if only is not None and not own & set(only):
            return [Arg(text(t), arg.node, False) for t in only.split()]
        if only is not None:
            return [Arg(join(text(t), unknown(own)), arg.node, True)
                    for t in re.split("[%s\\s]+" % re.escape("".join(own)), only)]
        return [Arg(words(arg.value), arg.node, True, arg.holes)]

    def one(self, w, ctx):
        """A word that is not split: of an assignment, a redirection, a here-string."""
        return self.made_of(self.parts((w or {}).get("Parts"), ctx), w)

    def one_value(self, w, ctx):
        return self.one(w, ctx).value if w else BLANK

    # --- parameters ---

    def parameter(self, p, ctx):
        name = p["Param"]["Value"]
        index = p.get("Index")
        star = name in "@*" or index is not None and index_text(index) in ("@", "*")
        joined = name == "*" or index is not None and index_text(index) == "*"
        if p.get("Names"):
            return unknown(frozenset("".join(self.variables()))), True
        v = ctx.known.get(name) or self.lookup(name, ctx)
        if joined and not self.single(name, ctx):
            v = remade(concat(v, text(" ")))
        if index is not None and not star:
            self.index(name, index, p, ctx)
        if p.get("Excl"):
            if star:
                return (unknown(self.env.get("keys:" + name, NONE).all_chars())
                        if name in self.assoc else NUMBER), True
            self.check_name(v, p, ctx) if v.known() else self.check_arithmetic(v, p, ctx, "name")
            v = join(DATA, *(self.lookup(n, ctx) for n in self.variables()))
        if p.get("Length") or p.get("Width"):
            return NUMBER, False
        if p.get("Slice"):
            for part in ("Offset", "Length"):
                self.arithmetic(p["Slice"].get(part), ctx)
            return remade(v), star and not joined
        if p.get("Repl"):
            new = self.one_value(p["Repl"].get("With"), ctx)
            self.one_value(p["Repl"].get("Orig"), ctx)
            return unknown(v.all_chars() | new.all_chars()), star and not joined
        if p.get("Exp"):
            return self.operator(p, name, v, ctx), star and not joined
        return v, star and not joined

    def single(self, name, ctx):
        """$* of a function that is always called with one word."""
        calls = self.calls.get(ctx.function, [])
        return name == "*" and ctx.function and ctx.function not in self.shifts and all(
            len(c) < 2 and not any(a.many for a in c) for c in calls) and len(calls) < CALLS_MAX

    def operator(self, p, name, v, ctx):
        source = ctx.source
        end = (p.get("Index") or p["Param"])["End"]["Offset"] + (1 if p.get("Index") else 0)
        op = source[end:end + 2].decode("ascii", "replace")
        arg = self.one(p["Exp"].get("Word"), ctx) if p["Exp"].get("Word") else None
        given = arg.value if arg else BLANK
        if op[:1] == "@":
            letter = given.only()
            if letter == "P":
                self.tell("code prompt", p, ctx)
            return v if letter in ("U", "u", "L", "a") and not v.known() else \
                mapped(v, str.upper) if letter == "U" else \
                mapped(v, str.lower) if letter == "L" else unknown(EVERY)
        if op[:1] == "^" or op[:1] == ",":
            change = str.upper if op[0] == "^" else str.lower
            return join(v, unknown(change("".join(sorted(v.all_chars())))))
        if op[:1] in "#%":
            if op == "##" and given.only() == "*/":
                short = Value(frozenset(t.split("/")[-1] for t in v.texts))
                return join(short, unknown(v.all_chars() - {"/"})) if v.starts else short
            if op[:1] == "%":
                kept = Value(NOTHING, frozenset(self.cut_end(s, given) for s in v.starts),
                             v.chars)
                return join(kept, *(shortened(t, op, given) for t in v.texts))
            return join(unknown(v.all_chars()) if v.starts else None,
                        *(shortened(t, op, given) for t in v.texts))
        if op in (":-", ":=", ":?", ":+") or op[:1] in "-=?+":
            if op[-1:] == "=" or op[:1] == "=":
                self.assign(name, given, p, ctx)
            if "+" in op[:2]:
                return join(BLANK, given)
            empty = v.texts - {""}
            return join(Value(empty, v.starts, v.chars), given)
        self.tell("code unknown", p, ctx)
        return unknown(EVERY)

    @staticmethod
    def cut_end(start, pattern):
        """A beginning of which an end may be cut: what is surely left of it."""
        at = start.rfind("/")
        return start[:at + 1] if pattern.only() != "/*" else start[:max(at, 0)]

    def index(self, name, index, node, ctx):
        if name in self.assoc:
            self.put("keys:" + name, vague(self.key(index, ctx)))
        else:
            self.arithmetic(index, ctx)

    def key(self, x, ctx):
        """Of an associative array: what shfmt takes for arithmetic is a text there."""
        if x.get("Type", "Word") == "Word":
            return self.one_value(x, ctx)
        parts = [self.key(x[side], ctx) for side in ("X", "Y") if x.get(side)]
        return unknown(frozenset(KEY_SIGNS).union(*(v.all_chars() for v in parts)))

    # --- arithmetic ---

    def arithmetic(self, x, ctx):
        """What (( )), $(( )) and subscripts evaluate."""
        if not x:
            return
        kind = x.get("Type", "Word")
        if kind == "Word":
            self.arithmetic_word(x, ctx)
        elif kind in ("BinaryArithm", "UnaryArithm", "ParenArithm"):
            op = self.operator_text(x, ctx)
            if kind == "UnaryArithm" or re.match(r"[-+*/%&|^]?=(?!=)|(<<|>>)=", op):
                self.set_by_arithmetic(x["X"], ctx)
            self.arithmetic(x.get("X"), ctx)
            self.arithmetic(x.get("Y"), ctx)
        else:
            self.tell("code arithmetic", x, ctx)

    @staticmethod
    def operator_text(x, ctx):
        at = x.get("OpPos", {}).get("Offset", 0)
        return ctx.source[at:at + 4].decode("ascii", "replace")

    def set_by_arithmetic(self, x, ctx):
        m = re.match(r"[A-Za-z_]\w*", index_text(x) or "")
        for p in x.get("Parts") or ():
            name = p["Param"]["Value"] if p.get("Type") == "ParamExp" else m and m.group()
            if name and NAME.match(name):
                self.assign(name, NUMBER, x, ctx)

    def arithmetic_word(self, w, ctx):
        for p in w.get("Parts") or ():
            # a[i] without a dollar is an expansion, too, in this parser's eyes
            if p.get("Type") == "ParamExp" and p.get("Index") is not None:
                name = p["Param"]["Value"]
                if name in self.assoc and index_text(p["Index"]) not in ("@", "*"):
                    key = self.one_value(p["Index"], ctx)
                    self.put("keys:" + name, vague(key))
                    if key.all_chars() & RUNS_LATER:
                        self.tell("code subscript", p, ctx)
        self.check_arithmetic(self.one_value(w, ctx), w, ctx)


def shortened(t, op, pattern):
    """${x#...} and ${x%...} of a known text, where the pattern is simple."""
    p = pattern.only()
    if p is None or set(p) & set("?[\\") or p.strip("*") == "" or "*" in p.strip("*"):
        return unknown(frozenset(t), t[:t.rfind("/") + 1] if op[0] == "%" and "/" not in (p or "/")
                       else "")
    core = p.strip("*")
    if op[0] == "#":
        if not p.startswith("*"):
            cut = t[len(core):] if t.startswith(core) and not p.endswith("*") else t
        else:
            at = t.rfind(core) if op == "##" else t.find(core)
            cut = t[at + len(core):] if at >= 0 else t
    elif not p.endswith("*"):
        cut = t[:-len(core)] if t.endswith(core) and not p.startswith("*") else t
    else:
        at = t.find(core) if op == "%%" else t.rfind(core)
        cut = t[:at] if at >= 0 else t
    return text(cut)
