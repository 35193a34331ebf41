# Reads a bash program from standard input, has shfmt parse it and bash check
# its syntax, and prints what is in it as one line of JSON. It runs inside the
# sandbox and nothing of the program runs with it. What is allowed is not
# decided here: verifier/lang/bash/bash.rules has patterns for these facts.
#
#	run grep		a command is run, under the name it really has; also
#				inside trap, eval, find -exec, awk's system ...
#	ask uname		the same of one that only tells where it runs, written out plainly;
#				ask id -u when it has options only
#	run ?			a command whose name is not known here
#	run ./file		a file of the program's own is run
#	option tar --to-command	an option of a command that could do more than compute
#	code eval		text that is not known here becomes code: of eval, trap, sh,
#				awk, sed, of arithmetic or a subscript (`a[$(id)]`), of a
#				variable's name (name), of ${x@P} (prompt)
#	read /etc/passwd	a path a command is given; read ? when it is not known
#	write /tmp/x		a path whose content is written
#	change /tmp/x		a path that is made, moved, removed or given other rights
#	sets PS4		a variable in capitals gets a value
#	shopt expand_aliases	an option of the shell is set
#	proven			what all of its commands read and write is followed, and is the
#				program's own: what else looks like a path is no more than text
#	lists md5sum		a file says which files it reads
#	coproc			of something else than a function of the program
#	no tree: ...		alone: shfmt is not there, or does not read this, which bash does
import functools
import json
import os
import re
import sys
import time

FOLDERS_OF_COMMANDS = ("/usr/local/bin", "/usr/bin", "/bin")
# What only asks where it runs, and the operands it may have with that.
QUESTIONS = dict.fromkeys("uname nproc arch id whoami groups hostname free uptime lscpu tty"
                          .split(), "")
QUESTION_OPTION = r"--?[A-Za-z]\w*(?:=[a-z,]+)?"
QUESTIONS.update(locale="[a-z]+", df=r"/(?:in|out|work|tmp)|\.")


class Shell(Words):
    # --- statements ---

    def statements(self, stmts, ctx):
        return series([self.statement(s, ctx) for s in stmts or ()])

    def branch(self, stmts, ctx):
        out = self.statements(stmts, ctx)
        return out if not out.empty() else BLANK

    def statement(self, s, ctx):
        if time.process_time() - self.began > SECONDS_MAX:
            raise TooMuch("more than can be followed in %d seconds" % SECONDS_MAX)
        inner, target, hidden, adds = ctx, None, False, False
        for r in s.get("Redirs") or ():
            inner, to, quiet = self.redirect(r, inner)
            target = to or target
            adds |= bool(to) and self.operator_text(r, ctx).startswith((">>", "&>>"))
            hidden |= quiet
        cmd = s.get("Cmd")
        out = self.command(cmd, inner) if cmd else NONE
        out = self.diverted(s.get("Redirs") or (), (cmd or {}).get("Args"), out, inner)
        if target:
            self.write_file(target, remade(out) if adds else out)
            return out if any(t.startswith("/dev/std") or t == "/dev/fd/1"
                              for t in target.texts) else NONE
        return NONE if hidden else out

    def diverted(self, redirects, args, out, ctx):
        """What goes elsewhere than to the standard output, and what comes from there."""
        bare_exec = index_text((args or [{}])[0]) == "exec"
        for r in redirects:
            op, number = operator_of(r, ctx), (r.get("N") or {}).get("Value", "")
            to = index_text(r["Word"]) if r.get("Word") else None
            if op == ">&" and to == "1" and number == "2" or op in ("&>", "&>>"):
                out = join(out, self.env.get("errors"))
            elif op == ">&" and to == "2" and number in ("", "1"):
                self.put("errors", remade(out))
            elif op == ">&" and to not in ("1", "-") and not out.empty():
                self.put("descriptors", remade(out))
                self.put("files", remade(out))
            elif number == "2" and op in (">", ">>", ">|") and "errors" in self.env:
                self.write_file(self.one_value(r["Word"], ctx), self.env["errors"])
            elif op in ("<", "<<<", "<<", "<<-", "<>", "<&") and (
                    number not in ("", "0") or bare_exec):
                self.put("descriptors", remade(ctx.stdin))
        return out

    def redirect(self, r, ctx):
        """(the context inside, the file its output goes to, whether it goes elsewhere)"""
        op = operator_of(r, ctx)
        number = (r.get("N") or {}).get("Value", "")
        if number.startswith("{"):
            self.check_name(text(number.strip("{}")), r, ctx)
            self.assign(number.strip("{}").split("[")[0], NUMBER, r, ctx)
        if op is None:
            self.tell("code unknown", r, ctx)
            return ctx, None, False
        if op in ("<<", "<<-"):
            pieces = self.parts((r.get("Hdoc") or {}).get("Parts"), ctx,
                                quoted=not quoted_word(r["Word"]))
            if quoted_word(r["Word"]):
                pieces = [("quoted", text(hdoc_text(r)), False)]
            return ctx.but(stdin=self.made_of(pieces, r).value), None, False
        arg = self.one(r.get("Word"), ctx)
        if op == "<<<":
            return ctx.but(stdin=arg.value), None, False
        if op == "<&":
            ctx = ctx.but(stdin=join(DATA, ctx.stdin, self.env.get("descriptors")))
        if op in (">&", "<&") and arg.value.known() and all(
                re.fullmatch(r"\d*-?", t) for t in arg.value.texts):
            return ctx, None, op == ">&" and number in ("", "1") and arg.value.only() != "1"
        if op in (">&", "<&") and not arg.value.texts and not (
                arg.value.all_chars() - set("0123456789-")):
            return ctx, None, False  # the number of a descriptor in a variable
        if op == "<":
            self.path("read", arg, ctx)
            return ctx.but(stdin=self.file_value(arg.value)), None, False
        self.path("write", arg, ctx)
        if op == "<>":
            return ctx.but(stdin=self.file_value(arg.value)), arg.value, False
        return ctx, arg.value if number in ("", "1") or op.startswith("&") else None, False

    def command(self, c, ctx):
        kind = c.get("Type")
        method = getattr(self, "on_" + kind, None) if kind else None
        if method is None:
            self.tell("code unknown", c, ctx)
            return unknown(EVERY)
        return method(c, ctx)

    def perhaps(self, walk, *args):
        """What may happen, or not, or again."""
        self.maybe += 1
        before = self.moved(args[-1])
        out = walk(*args)
        if self.moved(args[-1]) != before:
            out = join(out, walk(*args))
        self.maybe -= 1
        return out

    def on_Block(self, c, ctx):
        return self.statements(c.get("Stmts"), ctx)

    def on_Subshell(self, c, ctx):
        return self.perhaps(self.statements, c.get("Stmts"), ctx)

    def on_FuncDecl(self, c, ctx):
        """All of them are walked by themselves; here it counts when they are there."""
        if not self.maybe and not self.called and not ctx.function and ctx.place is None:
            self.defined.add(c["Name"]["Value"])
        return NONE

    def on_TimeClause(self, c, ctx):
        return self.statement(c["Stmt"], ctx) if c.get("Stmt") else NONE

    def on_CoprocClause(self, c, ctx):
        given = join(DATA, self.env.get("descriptors"))
        out = self.perhaps(self.statement, c["Stmt"], ctx.but(stdin=given))
        self.put("descriptors", remade(out))
        if not self.is_own(c["Stmt"].get("Cmd") or {}):
            self.tell("coproc", c, ctx)
        return NONE

    def is_own(self, cmd):
        """A call of a function of the program, or a block of such."""
        if cmd.get("Type") == "Block":
            return all(self.is_own(s.get("Cmd") or {}) for s in cmd["Stmts"])
        return cmd.get("Type") == "CallExpr" and bool(cmd.get("Args")) and \
            index_text(cmd["Args"][0]) in self.defined - self.removed

    def on_BinaryCmd(self, c, ctx):
        at = c["OpPos"]["Offset"]
        op = ctx.source[at:at + 2]
        if op in (b"&&", b"||"):
            return series([self.statement(c["X"], ctx),
                           self.perhaps(self.statement, c["Y"], ctx)])
        left = self.perhaps(self.statement, c["X"], ctx.but())
        if op == b"|&":
            left = join(left, self.env.get("errors"))
        return self.perhaps(self.statement, c["Y"], ctx.but(stdin=left))

    def on_IfClause(self, c, ctx):
        condition = self.statements(c.get("Cond"), ctx)
        ways = [self.perhaps(self.branch, c.get("Then"), ctx)]
        if c.get("Else"):
            ways.append(self.perhaps(self.on_IfClause, c["Else"], ctx))
        return series([condition, join(*ways)])

    def on_CaseClause(self, c, ctx):
        self.one_value(c.get("Word"), ctx)
        subject = variable_of(c.get("Word"))
        if any(re.match(rb";;?&", ctx.source[i["OpPos"]["Offset"]:][:3])
               for i in c.get("Items") or ()):
            subject = None  # an arm goes on in the next
        ways = []
        for item in c.get("Items") or ():
            patterns = [self.one_value(p, ctx) for p in item.get("Patterns") or ()]
            plain = all(v.known() for v in patterns) and not any(
                GLOB.search(t) or "(" in t for v in patterns for t in v.texts)
            known = {subject: join(*patterns)} if subject and plain else {}
            ways.append(self.perhaps(self.arm, item.get("Stmts"), known, ctx))
        return join(*ways)

    def arm(self, stmts, known, ctx):
        """Of a case: its first command, but for shift, still sees the word that was matched."""
        outs = []
        for s in stmts or ():
            simple = (s.get("Cmd") or {}).get("Type") == "CallExpr"
            outs.append(self.statement(s, ctx.but(known=known if simple else {})))
            args = (s.get("Cmd") or {}).get("Args") or [{}]
            if index_text(args[0]) != "shift" or "shift" in self.functions:
                known = {}
        return series(outs) if any(not o.empty() for o in outs) else BLANK

    def on_WhileClause(self, c, ctx):
        out = self.perhaps(self.statements, (c.get("Cond") or []) + (c.get("Do") or []), ctx)
        return series([out, out])

    def on_ForClause(self, c, ctx):
        loop = c["Loop"]
        if loop.get("Type") == "CStyleLoop":
            for part in ("Init", "Cond", "Post"):
                self.arithmetic(loop.get(part), ctx)
        else:
            items = [a.value for w in loop.get("Items") or () for a in self.word(w, ctx)]
            if not items:
                items = [self.lookup("@", ctx)]
            self.assign(loop["Name"]["Value"], join(*items), c, ctx)
        out = self.perhaps(self.statements, c.get("Do"), ctx)
        return series([out, out])

    def on_ArithmCmd(self, c, ctx):
        self.arithmetic(c.get("X"), ctx)
        return NONE

    def on_LetClause(self, c, ctx):
        for x in c.get("Exprs") or ():
            self.arithmetic(x, ctx)
        return NONE

    # --- tests ---

    def on_TestClause(self, c, ctx):
        self.test(c.get("X"), ctx)
        return NONE

    def test(self, x, ctx):
        kind = x.get("Type", "Word")
        op = self.operator_text(x, ctx) if kind != "Word" else ""
        if kind == "UnaryTest" and re.match(r"-[vR]\b", op):
            self.check_name(self.one_value(x["X"], ctx), x, ctx)
        elif kind == "UnaryTest" and re.match(r"-[a-zA-Z]", op) and op[1] not in "nzot":
            self.path("read", self.one(x["X"], ctx), ctx)
        elif kind == "BinaryTest" and re.match(r"-(eq|ne|lt|le|gt|ge)", op):
            for side in ("X", "Y"):
                self.arithmetic_word(x[side], ctx)
        elif kind == "BinaryTest" and re.match(r"-(?:nt|ot|ef)", op):
            for side in ("X", "Y"):
                self.path("read", self.one(x[side], ctx), ctx)
        elif kind == "Word":
            self.one_value(x, ctx)
        else:
            if op.startswith("=~"):
                self.put("$BASH_REMATCH", remade(self.one_value(x["X"], ctx)))
            for side in ("X", "Y"):
                if x.get(side):
                    self.test(x[side], ctx)

    # --- declarations ---

    def on_DeclClause(self, c, ctx):
        return self.declare(c["Variant"]["Value"], c.get("Args") or (), ctx)

    def declare(self, variant, items, ctx):
        flags = ""
        for a in items:
            if not a.get("Name"):
                for arg in self.word(a.get("Value"), ctx):
                    v = arg.value
                    if v.known() and all(re.match(r"[-+]", t) for t in v.texts):
                        flags += "".join(sorted(v.texts))
                    else:
                        self.declare_text(flags, arg, ctx)
                continue
            self.kind_of(a["Name"]["Value"], flags, variant)
            if "n" in flags or variant == "nameref":
                self.refer(a["Name"]["Value"], self.one(a.get("Value"), ctx), ctx)
            else:
                self.check_compound(self.set_one(a, ctx), a, ctx)
        return NONE

    def check_compound(self, v, node, ctx):
        """declare -a "x=($y)": the text in brackets is expanded as words are."""
        if v.all_chars() & RUNS_LATER and any(t.startswith("(") for t in v.texts | v.starts):
            self.tell("code name", node, ctx)

    def kind_of(self, name, flags, variant=""):
        kinds = self.assoc if "A" in flags else self.integers if "i" in flags else None
        if kinds is not None and name not in kinds and variant not in ("export", "readonly"):
            kinds.add(name)
            self.changed = True

    def declare_text(self, flags, arg, ctx):
        """declare "$x", export x=$y by another way: a text of NAME=VALUE."""
        v = arg.value
        if v.starts and not all(re.match(r"[A-Za-z_]\w*=", s) for s in v.starts):
            self.tell("code name", arg.node, ctx)
        for t in v.texts | v.starts:
            name, _, held = t.partition("=")
            name = name[:-1] if name.endswith("+") else name
            if not NAME.match(name):
                self.tell("code name", arg.node, ctx)
                continue
            self.kind_of(name, flags)
            held = text(held) if t in v.texts else unknown(v.chars, held)
            self.check_compound(held, arg.node, ctx)
            if "n" in flags:
                self.refer(name, Arg(held, arg.node), ctx)
            elif "=" in t:
                self.assign(name, held, arg.node, ctx)
            else:
                self.tell("sets " + name, arg.node, ctx)

    def refer(self, name, arg, ctx):
        if arg.value.empty() or arg.value.only() == "":
            return
        if not arg.value.known() or not all(NAME.match(t) for t in arg.value.texts - {""}):
            self.tell("code name", arg.node, ctx)
        new = set(t for t in arg.value.texts if NAME.match(t)) - self.references.get(name, set())
        if new:
            self.references.setdefault(name, set()).update(new)
            self.changed = True
        for t in arg.value.texts:
            if t in self.assoc and name not in self.assoc:
                self.assoc.add(name)
                self.changed = True

    def set_one(self, a, ctx):
        """NAME=VALUE, NAME[I]=VALUE, NAME=(...), and += of them."""
        name = a["Name"]["Value"]
        if a.get("Index") is not None:
            self.index(name, a["Index"], a, ctx)
        if a.get("Array"):
            elements = []
            for e in a["Array"].get("Elems") or ():
                if e.get("Index") is not None:
                    self.index(name, e["Index"], e, ctx)
                elements += self.word(e["Value"], ctx) if e.get("Value") else []
            self.set_array(name, elements, a, ctx)
            return NONE
        if a.get("Naked"):
            self.tell("sets " + name, a, ctx)
            return NONE
        v = self.one_value(a.get("Value"), ctx) if a.get("Value") else BLANK
        if a.get("Append"):
            v = concat(self.lookup(name, ctx), v)
        self.assign(name, v, a, ctx)
        return v

    def set_array(self, name, elements, a, ctx):
        """Its elements in order count only as long as nothing else sets it."""
        key = id(a)
        held = self.arrays.get(name, (key, None))
        loose = a.get("Append") or any(e.many for e in elements) or any(
            e.get("Index") is not None for e in a["Array"].get("Elems") or ())
        one = (key, elements) if held and held[0] == key and not loose else None
        self.assign(name, join(BLANK, *(e.value for e in elements)), a, ctx, one)

    # --- commands ---

    def on_CallExpr(self, c, ctx):
        args = c.get("Args")
        for a in c.get("Assigns") or ():
            self.set_one(a, ctx)
            ctx = ctx.but()
        if not args:
            return NONE
        whole = self.whole_arguments(args[0], ctx)
        if whole is not None:
            rest = [x for w in args[1:] for x in self.word(w, ctx)]
            return join(*(self.run(call + rest, c, ctx.but()) for call in whole))
        words = [x for w in args for x in self.word(w, ctx)]
        if self.is_question(args[0], words, ctx):
            self.tell("ask " + " ".join(a.value.only() for a in words[:2]), c, ctx)
            return DATA
        return self.run(words, c, ctx)

    def is_question(self, head, words, ctx):
        """Whether it only asks where it runs, and is written out: no name made at run time,
        no text that became code, no function under that name."""
        name = index_text(head)
        return (name in QUESTIONS and name not in self.functions and ctx.place is None
                and all(re.fullmatch(QUESTION_OPTION + "|" + QUESTIONS[name],
                                     a.value.only() or "?") for a in words[1:]))

    def whole_arguments(self, w, ctx):
        """Of "$@" as a command: the argument lists it may be; of an array: its elements."""
        parts = w.get("Parts") or []
        if len(parts) == 1 and parts[0].get("Type") == "DblQuoted":
            parts = parts[0].get("Parts") or []
        if len(parts) != 1 or parts[0].get("Type") != "ParamExp":
            return None
        p = parts[0]
        if any(p.get(k) for k in ("Excl", "Length", "Width", "Slice", "Repl", "Exp")):
            return None
        name = p["Param"]["Value"]
        if name == "@" and ctx.function and len(self.calls.get(ctx.function, [])) < CALLS_MAX:
            low, exact = self.moved(ctx)
            calls = [c[n:] for c in self.calls.get(ctx.function, [])
                     for n in range(low, low + 1 if exact else len(c))]
            return [c for c in calls if c]
        held = self.arrays.get(name)
        if p.get("Index") and index_text(p["Index"]) in ("@", "*") and held and held[1]:
            return [held[1]]
        return None

    def run(self, args, node, ctx):
        """A command with its arguments; what it prints."""
        if not args:
            return NONE
        head, rest = args[0], args[1:]
        outs = []
        own = [self.functions_of(s.rstrip(USERS), head.value) for s in sorted(head.value.starts)]
        if head.value.empty() or not all(own):
            self.tell("run ?", node, ctx)
            outs.append(unknown(EVERY))
        outs += [self.call(f, rest, node, ctx) for found in own for f in found]
        for name in sorted(head.value.texts):
            if own and name and name not in self.functions and "/" not in name \
                    and not self.is_command(name):
                continue  # "cmd_" alone: there is no such thing
            if name:
                outs.append(self.run_named(name, rest, node, ctx))
            elif head.many:
                outs.append(self.run(rest, node, ctx.but()))
        return join(*outs)

    def functions_of(self, start, v):
        """Those that "cmd_$1" may call: nothing else begins so, and there is no way on
        to a file. None of them when that is not sure."""
        own = [f for f in sorted(self.functions) if f.startswith(start)]
        sure = len(start) > 2 and "/" not in start and "/" not in v.chars and all(
            f in self.defined and f not in self.removed for f in own)
        return own if sure and not any(c.startswith(start) for c in commands_there()) else []

    def run_named(self, name, args, node, ctx):
        if name in self.functions:
            there = name in self.defined and name not in self.removed
            self.called = True
            out = self.call(name, args, node, ctx)
            if there or not self.is_command(name):
                return out
            # Before it is defined, or after unset -f, the real one runs.
            return join(out, self.run_command(name, args, node, ctx))
        folder, slash, base = name.rpartition("/")
        if slash and folder not in FOLDERS_OF_COMMANDS:
            self.tell("run ./file", node, ctx)
            return unknown(EVERY)
        return self.run_command(base, args, node, ctx)

    @staticmethod
    def is_command(name):
        return name in commands_there()

    def run_command(self, base, args, node, ctx):
        if base not in CONDITIONAL:
            self.tell("run " + base, node, ctx)
        if names_files(base, args):
            self.tell("lists " + base, node, ctx)
        handler = COMMANDS.get(base)
        if handler:
            return handler(self, base, args, node, ctx)
        return self.ordinary(base, args, node, ctx)

    def ordinary(self, name, args, node, ctx):
        if name not in TAKEN_AS_TEXT:
            for arg in operands(name, args):
                self.path("read", arg, ctx)
        return unknown(frozenset().union(ctx.stdin.all_chars(),
                                         *(a.value.all_chars() for a in args)))

    def call(self, name, args, node, ctx):
        for i, arg in enumerate(args):
            if not any(a.many for a in args[:i + 1]):
                self.put("%s:%d" % (name, i + 1), arg.value)
            else:
                for k in range(i, i + 9):
                    self.put("%s:%d" % (name, k + 1), arg.value)
            self.put(name + ":@", arg.value)
        calls = self.calls.setdefault(name, [])
        if len(calls) < CALLS_MAX and not any(same_args(args, c) for c in calls):
            calls.append(args)
            self.changed = True
        self.put(name + ":in", ctx.stdin)
        return self.env.get(name + ":out", NONE)

    def walk_functions(self):
        for name in list(self.functions):
            for body, source in list(self.functions[name]):
                # One that nobody calls by name is told of all the same.
                ctx = Context(name, self.env.get(name + ":in", DATA), None, source)
                self.shifted.pop(name, None)
                out = self.statement(body, ctx)
                if not out.empty():
                    self.put(name + ":out", out)

    def read(self, tree, source):
        self.collect(tree, source)
        for self.widen in range(ROUNDS_MAX):
            self.changed = False
            self.walk(tree, source)
            if not self.changed:
                break
        else:
            raise TooMuch("a program whose values do not settle")
        self.telling = True
        self.walk(tree, source)

    def walk(self, tree, source):
        self.shifted.pop("", None)
        self.defined = set()
        self.called = False
        stdin = join(DATA, self.env.get("descriptors"))
        self.statements(tree.get("Stmts"), Context(source=source, stdin=stdin))
        self.walk_functions()


@functools.cache
def commands_there():
    """Every name that runs something of the system."""
    names = set(BUILTINS)
    for folder in FOLDERS_OF_COMMANDS:
        names.update(os.listdir(folder) if os.path.isdir(folder) else ())
    return names


# --- the answer ---

def answer(facts, syntax=None, failed=None):
    return json.dumps({"syntax_error": syntax, "failed": failed, "facts": [list(f) for f in facts]})


def syntax_error(source):
    """As bash says; None when it finds none. What shopt will switch on is not on for it."""
    bash = find_program(BASH)
    for options in ([], ["-O", "extglob"]):
        status, _, said = run_program(
            bash, ["bash", "--norc", *options, "-n", "/dev/stdin"], source)
        if status == 0:
            return None
    first = re.match(r"[^\n]*?: line (\d+): (.*)", said)
    return {"type": "SyntaxError",
            "message": (first.group(2) if first else said)[:300] or "unknown",
            "line": max(int(first.group(1)), 1) if first else 1, "column": 1}


def facts_of(source):
    shell = Shell()
    shell.shfmt = find_program(SHFMT)
    try:
        error = syntax_error(source)
        if error:
            return answer([], error)
        if not shell.shfmt:
            return answer([("no tree: shfmt is missing", 1, 1)])
        tree = shell.parse(source)
        if tree is None:
            m = PLACE.search(shell.parse_error)
            line, column = (int(m.group(1)), int(m.group(2))) if m else (1, 1)
            said = "no tree: " + (m.group(3)[:100] if m else "shfmt")
            return answer([(said, max(line, 1), max(column, 1))])
        shell.read(tree, tree["source"])
    except Exception as e:  # of a text that shfmt reads: what nobody has seen may be behind it
        return answer(shell.facts, failed="%s: %s" % (type(e).__name__, str(e)[:100]))
    if is_proven(shell.facts) and not shell.homes:
        shell.facts.insert(0, ("proven", 1, 1))
    return answer(shell.facts)
