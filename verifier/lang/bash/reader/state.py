# What is known about a bash program while it is read: its variables and
# functions, the files it writes, the facts to tell, and what of its text
# becomes code.
import json
import os
import re
import time

SHFMT = ("/usr/bin/shfmt", "/usr/local/bin/shfmt", "/bin/shfmt")
BASH = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
FACTS_MAX = 20000
PER_FACT = 5
ROUNDS_MAX = 12
PARSES_MAX = 60
DEPTH_MAX = 120
CALLS_MAX = 40
SECONDS_MAX = 3
TREE_BYTES_MAX = 48 << 20  # of JSON
TOKENS_MAX = 30000  # shfmt writes some 800 bytes about each, and takes its time
PLACE = re.compile(r"(?:^|:)(\d+):(\d+): (.*)")  # of what shfmt says
SUBSTITUTED = re.compile(r"/dev/fd/(?:6[3-9]|[7-9]\d|\d{3,})\Z")  # what <(...) is here
REDIRECTS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", ">&", ">>", ">|", "&>", "<", ">")
OPERATOR = "not a valid arithmetic operator: $"
MIDDLE = re.compile(rb"(\$\w+|\$\{\w+\}) (?=[\w$])")
KEYS_MAX = 60  # it stumbles over one at a time
# A key of plain characters and values of variables: in quotes it is the same.
KEY = re.compile(rb"\[(?:[^\][\"'\\`$\n(){}]|\$\w+|\$\{\w+\})+\]")
RUNS_LATER = frozenset("$`")  # what makes arithmetic and subscripts run commands
OWN_NAME = "main.sh"
OWN = "/work/" + OWN_NAME  # which bash reads while it runs
NAME = re.compile(r"[A-Za-z_]\w*\Z")
ELEMENT = re.compile(r"([A-Za-z_]\w*)(?:\[(.*)\])?\Z", re.S)
NUMBER = unknown()
# What a path that is put together at run time must not be.
FOLDERS = ("/etc", "/proc", "/sys", "/usr", "/dev", "/root", "/home", "/var", "/bin", "/lib",
           "/run", "/opt", "/srv", "/boot", "/mnt", "/sbin")


BUILTINS = set("alias bg bind builtin caller cd command compgen complete compopt declare dirs "
               "disown enable eval exec exit export fc fg getopts hash help history jobs kill "
               "let local logout mapfile popd pushd read readarray readonly return set shift "
               "shopt source suspend test times trap type typeset ulimit umask unalias unset "
               "wait".split())


# What tells the same of every machine, and the characters that may be in it: none of them
# makes arithmetic run anything.
_LINES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:()= \t\n")
SYSTEM_FILES = {"/etc/os-release": _LINES | set("/\"'~#@"), "/etc/timezone": _LINES | {"/"},
                "/proc/cpuinfo": _LINES | set("/@[]"), "/proc/meminfo": _LINES,
                "/proc/uptime": frozenset("0123456789. \n"),
                "/proc/loadavg": frozenset("0123456789./ \n")}
OS_RELEASE = ("NAME", "PRETTY_NAME", "VERSION", "VERSION_ID", "VERSION_CODENAME", "ID", "ID_LIKE",
              "CODENAME", "UBUNTU_CODENAME", "BUILD_ID", "VARIANT", "VARIANT_ID", "CPE_NAME",
              "ANSI_COLOR", "LOGO", "HOME_URL", "SUPPORT_URL", "BUG_REPORT_URL",
              "DEBIAN_VERSION_FULL", "PRIVACY_POLICY_URL", "DOCUMENTATION_URL")


class TooMuch(Exception):
    pass


class Arg:
    """One word after expansion; many: perhaps several or none."""
    __slots__ = ("value", "node", "many", "holes")

    def __init__(self, value, node, many=False, holes=None):
        self.value = value
        self.node = node
        self.many = many
        self.holes = holes  # of its text with holes: (text, values)


class Context:
    """Where a command stands: in which function, reading what, and whose place it tells."""
    __slots__ = ("function", "stdin", "place", "source", "depth", "known")

    def __init__(self, function="", stdin=DATA, place=None, source=b"", depth=0):
        self.function = function
        self.stdin = stdin
        self.place = place
        self.source = source
        self.depth = depth
        self.known = {}  # variables whose value was just compared

    def but(self, **changes):
        new = Context(self.function, self.stdin, self.place, self.source, self.depth + 1)
        for name, value in changes.items():
            setattr(new, name, value)
        if new.depth > DEPTH_MAX:
            raise TooMuch("commands nested too deeply")
        return new


def is_plain(value):
    """Nothing in it is ever expanded."""
    return value.known() and not any(c in t for t in value.texts for c in "$`\\\\")


def run_program(path, argv, data):
    """(exit code, output, errors) of a program that is given data. Files, not pipes:
    neither side ever waits for the other. They have no name, so that nobody else has them; where
    nothing else limits memory a guest may have none that are no file's."""
    files = [os.fdopen(os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600), "w+b") for _ in range(3)]
    try:
        files[0].write(data)
        files[0].seek(0)
        pid = os.posix_spawn(path, argv, {"LC_ALL": "C", "GOMAXPROCS": "1"}, file_actions=[
            (os.POSIX_SPAWN_DUP2, f.fileno(), i) for i, f in enumerate(files)])
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if os.fstat(files[1].fileno()).st_size > TREE_BYTES_MAX:
            raise TooMuch("a larger program than screening looks at")
        out, said = (os.pread(f.fileno(), n, 0) for f, n in zip(files[1:], (TREE_BYTES_MAX, 4096)))
        return status, out, said.decode("utf-8", "replace")
    finally:
        for f in files:
            f.close()


def find_program(candidates):
    return next((p for p in candidates if os.access(p, os.X_OK)), None)


class State:
    def __init__(self):
        self.facts = []
        self.seen = {}
        self.env = {}
        self.functions = {}  # name -> statements, with the source they are in
        self.calls = {}  # function -> lists of arguments
        self.arrays = {}  # name -> elements in order, of one that is set once
        self.assoc = set()
        self.integers = {"RANDOM", "SRANDOM", "SECONDS", "LINENO", "OPTIND", "HISTCMD", "BASHPID",
                         "EPOCHSECONDS", "EPOCHREALTIME", "BASH_SUBSHELL"}
        self.references = {}
        self.shifts = set()  # functions that shift their arguments, or set others
        self.shifted = {}  # function -> how often so far at least, and whether no more than that
        self.defined = set()  # functions that are there whenever they are called
        self.removed = set()
        self.called = False  # one was called already
        self.maybe = 0  # inside how many conditions and loops
        self.telling = False
        self.changed = False
        self.widen = 0
        self.homes = False  # a word begins with ~
        self.parses = {}
        self.tokens = 0  # in all of them
        self.began = time.process_time()

    # --- facts ---

    def tell(self, fact, node, ctx):
        if not self.telling:
            return
        node = ctx.place or node
        at = (node or {}).get("Pos", {})
        fact = "".join(c if c.isprintable() else "?" for c in fact[:200])
        where = (fact, max(at.get("Line", 1), 1), max(at.get("Col", 1), 1))
        places = self.seen.setdefault(fact, set())
        if len(places) >= PER_FACT or where in places:
            return
        if len(self.facts) >= FACTS_MAX:
            raise TooMuch("more commands than screening looks at")
        places.add(where)
        self.facts.append(where)

    # --- variables ---

    def names_of(self, name):
        todo, found = [name], set()
        while todo:
            n = todo.pop()
            if n not in found:
                found.add(n)
                todo.extend(self.references.get(n, ()))
        return found

    def put(self, key, value):
        old = self.env.get(key)
        new = value if old is None else join(old, value)
        if old is not None and new == old:
            return
        if self.widen > 3 and old is not None and grows(old, new):
            new = vague(new)
        if self.widen > 6 and old is not None:
            new = unknown(new.all_chars())
        if old is None or new != old:
            self.env[key] = new
            self.changed = True

    def assign(self, name, value, node, ctx, exact=None):
        for n in self.names_of(name):
            self.arrays[n] = exact
            if (n.isupper() or "_" in n) and not (n == "PS3" and is_plain(value)):
                self.tell("sets " + n, node, ctx)
            if n in self.integers:
                self.check_arithmetic(value, node, ctx)
                value = NUMBER
            self.put("$" + n, value)

    def value_of(self, name):
        return join(*(self.env.get("$" + n) for n in sorted(self.names_of(name))))

    def lookup(self, name, ctx):
        if name.isdigit() and name != "0" or name in "@*":
            return self.positional(name, ctx)
        if name in ("#", "?", "$", "!", "SECONDS", "RANDOM", "LINENO", "EPOCHSECONDS", "PPID",
                    "BASHPID", "EUID", "UID", "OPTIND", "SRANDOM", "COLUMNS", "PIPESTATUS"):
            return NUMBER
        if name == "0" or name == "BASH_SOURCE":
            return text(OWN)
        if name in ("-", "_", "BASH_COMMAND", "BASH_ALIASES", "BASH_CMDS", "BASH_ARGV", "FUNCNAME"):
            return unknown(EVERY)
        v = self.value_of(name)
        if name == "HOME":
            return join(v, text("/work"), text(HOME))
        if name in ("PWD", "OLDPWD"):
            return join(v, text("/work"))
        if name == "TMPDIR":
            return join(v, text("/tmp"))
        if v.empty():
            return join(BLANK, DATA)  # unset, or of the environment
        return v

    def moved(self, ctx):
        """How far the arguments were shifted: at least, and whether just that."""
        if ctx.place is not None and ctx.function in self.shifts:
            return 0, False  # in a trap, which runs whenever it runs
        return self.shifted.get(ctx.function, (0, True))

    def positional(self, name, ctx):
        low, exact = self.moved(ctx)
        shifted = name in "@*" or not exact
        if not shifted:
            name = str(int(name) + low)
        own = join(BLANK, DATA) if not ctx.function else None
        v = join(self.env.get("%s:%s" % (ctx.function, "@" if shifted else name)),
                 self.env.get(ctx.function + ":@") if not ctx.function else None, own)
        return BLANK if v.empty() else v

    # --- text that becomes code ---

    def check_arithmetic(self, value, node, ctx, what="arithmetic"):
        """A text that arithmetic evaluates: names in it are evaluated in turn."""
        if value.all_chars() & RUNS_LATER:
            self.tell("code " + what, node, ctx)
            return
        todo, seen = [value], set()
        while todo:
            v = todo.pop()
            names = {n for t in v.texts for n in re.findall(r"[A-Za-z_]\w*", t)}
            if v.starts:  # any name that its characters can make
                made = v.all_chars()
                names |= {n for n in self.variables() if made.issuperset(n)}
            for name in names:
                if name not in seen:
                    seen.add(name)
                    held = self.value_of(name)
                    if held.all_chars() & RUNS_LATER:
                        self.tell("code " + what, node, ctx)
                        return
                    todo.append(held)

    def variables(self):
        return {k[1:] for k in self.env if k.startswith("$")}

    def check_name(self, value, node, ctx, plain=False):
        """A text that is taken as a variable's name, perhaps with a subscript."""
        names = set()
        if value.starts:
            known = all(re.match(r"[A-Za-z_]\w*\[", s) for s in value.starts)
            if not known or plain or value.all_chars() & RUNS_LATER:
                self.tell("code name", node, ctx)
            names = {s.split("[")[0] for s in value.starts if "[" in s}
        for t in value.texts:
            m = ELEMENT.match(t)
            if not m:
                if t:
                    self.tell("code name", node, ctx)
                continue
            names.add(m.group(1))
            if m.group(2) is not None:
                self.check_subscript(m.group(2), node, ctx)
        return names

    def check_subscript(self, t, node, ctx):
        """Of a name in quotes: it is expanded when it is used."""
        inner = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}|[^$`]*", t)
        if not inner:
            self.tell("code subscript", node, ctx)
        elif inner.group(1) or inner.group(2):
            self.check_arithmetic(self.lookup(inner.group(1) or inner.group(2), ctx), node, ctx,
                                  "subscript")
        else:
            self.check_arithmetic(text(t), node, ctx, "subscript")

    def code_texts(self, arg, what, ctx):
        """The texts a word may be as code; parts that are not known must be plain words."""
        v = arg.value
        if v.known():
            return v.texts
        shape, holes = arg.holes or (None, None)
        if shape is None:
            self.tell("code " + what, arg.node, ctx)
            return ()
        out = {shape}
        for i, part in enumerate(holes):
            if part.all_chars() - PLAIN - {"/"}:
                self.tell("code " + what, arg.node, ctx)
                return ()
            choices = part.texts | {s.replace(USERS, "") + "x" for s in part.starts}
            out = {t.replace(chr(0xE000 + i), c) for t in out for c in sorted(choices)[:4]}
        return out

    def run_text(self, t, node, ctx):
        """A text that a shell runs."""
        tree = self.parse(t.encode("utf-8", "surrogateescape"))
        if tree is None:
            self.tell("code text", node, ctx)
            return unknown(EVERY)
        inner = ctx.but(place=ctx.place or node, source=tree["source"])
        self.collect(tree, tree["source"])
        return self.statements(tree.get("Stmts"), inner)

    def parse(self, source):
        if source not in self.parses:
            self.tokens += len(re.findall(rb"\w+|[^\w\s]", source))
            if len(self.parses) >= PARSES_MAX or self.tokens > TOKENS_MAX:
                raise TooMuch("a larger program than screening looks at")
            self.parses[source] = self.parse_once(source)
        return self.parses[source]

    def parse_once(self, source):
        """The tree; of a text with keys of associative arrays that shfmt takes for
        arithmetic, as in m[$x:$y], the tree of the same with the key in quotes."""
        for _ in range(KEYS_MAX):
            status, out, error = run_program(self.shfmt, ["shfmt", "-ln=bash", "-tojson"], source)
            if status == 0:
                tree = json.loads(out)
                tree["source"] = source
                return tree
            self.parse_error = error
            quoted = plain_operator(source, error) if OPERATOR in error else \
                quote_keys(source, error)
            if quoted is None:
                return None
            source = quoted
        return None

    # --- functions and kinds of variables, before anything else ---

    def collect(self, node, source):
        stack = [node]
        while stack:
            at = stack.pop()
            if isinstance(at, list):
                stack.extend(at)
                continue
            if not isinstance(at, dict):
                continue
            if at.get("Type") == "FuncDecl":
                name, body = at["Name"]["Value"], (at["Body"], source)
                held = self.functions.setdefault(name, [])
                if body[0] not in (b for b, _ in held):
                    held.append(body)
                    self.changed = True
            stack.extend(v for v in at.values() if isinstance(v, (dict, list)))

    # --- files ---

    def path(self, use, arg, ctx):
        """A path that is read or written: told of when it is known to be one, or not known."""
        paths = paths_of(arg.value)
        for path in paths:
            # Of several places the input is the one that the walls keep as it is.
            if use == "read" or not path.startswith("/in/") or len(paths) == 1:
                self.tell("%s %s" % (use, path), arg.node, ctx)
        if use != "read":
            self.put("names", unknown(arg.value.all_chars()))
            if settings_of_sqlite(arg.value):
                self.put("settings", BLANK)
        if use == "write" and may_be_own(arg):
            self.tell("write " + OWN, arg.node, ctx)

    def given(self, ctx, options):
        """What read and mapfile read: -u takes another descriptor."""
        other = any(o in ("u", "?") for o, _ in options)
        return join(ctx.stdin, self.env.get("descriptors"), DATA) if other else ctx.stdin

    def write_file(self, value, out):
        """What is in a file from now on, or may be; of one whose name is not known, in any."""
        for t in value.texts:
            self.put("file:" + normal(t, True), out if not out.empty() else BLANK)
        if value.starts or any(t.startswith("/dev/") for t in value.texts):
            self.put("files", unknown(out.all_chars()))
        if any(t.startswith("/dev/") for t in value.texts):
            self.put("descriptors", remade(out))

    def file_value(self, value):
        """What reading it gives: of the input it is data."""
        held = [DATA] if value.starts or not value.texts else []
        for t in value.texts:
            own = self.env.get("file:" + normal(t, True))
            if normal(t, True) in SYSTEM_FILES:
                held.append(unknown(SYSTEM_FILES[normal(t, True)]))
                continue
            if own is not None and SUBSTITUTED.match(t):
                held.append(own)
                continue
            if t.startswith("/dev/"):
                held.append(self.env.get("descriptors"))
            held += [own if own is not None else DATA]
            held += [self.env.get("files")] if not normal(t, True).startswith("/in/") else []
        if any(not s.startswith("/in/") for s in value.starts):
            held += [v for k, v in sorted(self.env.items()) if k.startswith("file")]
        return join(*held)


def quote_keys(source, error):
    """With the subscripts of the line that shfmt stumbled over in quotes, or None."""
    m = PLACE.search(error)
    lines = source.split(b"\n")
    if not m or int(m.group(1)) > len(lines):
        return None
    at, column = int(m.group(1)) - 1, int(m.group(2))
    for key in KEY.finditer(lines[at]):
        if key.start() < column <= key.end() + 1:
            lines[at] = lines[at][:key.start() + 1] + b'"' + key.group()[1:-1] + b'"' \
                + lines[at][key.end() - 1:]
            return b"\n".join(lines)
    return None


def plain_operator(source, error):
    """$((a $op b)) as $((a + $op + b)): of what all three hold the same is evaluated."""
    m = PLACE.search(error)
    at, column = int(m.group(1)) - 1, int(m.group(2)) - 1
    lines = source.split(b"\n")
    found = MIDDLE.match(lines[at], column)
    if not found or b"((" not in lines[at][:column]:
        return None
    lines[at] = lines[at][:column] + b"+ " + found.group(1) + b" +" + lines[at][found.end(1):]
    return b"\n".join(lines)


def grows(old, new):
    """Whether texts get longer from round to round, not just more."""
    return max(map(len, new.texts), default=0) > max(map(len, old.texts | old.starts), default=0)


def variable_of(w):
    """The name of the variable that a word is the value of, or None."""
    parts = (w or {}).get("Parts") or []
    if len(parts) == 1 and parts[0].get("Type") == "DblQuoted":
        parts = parts[0].get("Parts") or []
    simple = len(parts) == 1 and parts[0].get("Type") == "ParamExp" and not any(
        parts[0].get(k) for k in ("Index", "Excl", "Length", "Width", "Slice", "Repl", "Exp"))
    name = parts[0]["Param"]["Value"] if simple else ""
    return name if NAME.match(name) else None


def same_args(a, b):
    return len(a) == len(b) and all(x.value == y.value and x.many == y.many for x, y in zip(a, b))


def quoted_word(w):
    return any(p.get("Type") != "Lit" or "\\" in p["Value"] for p in w.get("Parts") or ())


def hdoc_text(r):
    return "".join(p.get("Value", "") for p in (r.get("Hdoc") or {}).get("Parts") or ())


def operator_of(r, ctx):
    at = r["OpPos"]["Offset"]
    near = ctx.source[at:at + 3].decode("ascii", "replace")
    return next((o for o in REDIRECTS if near.startswith(o)), None)


def index_text(x):
    """The literal text of a word, or None."""
    out = ""
    for p in x.get("Parts") or ():
        if p.get("Type") != "Lit":
            return None
        out += p["Value"]
    return out


def may_be_own(arg):
    """Whether a path can be the program's own file, as far as the program itself makes it up."""
    shape, holes = arg.holes or ("\ue000", [arg.value])
    if arg.value.known():
        return any(normal(t, True) == OWN for t in arg.value.texts)
    pattern = "".join(part_pattern(holes[ord(c) - 0xE000]) if "\ue000" <= c <= "\uf8ff"
                      else literal_pattern(c) for c in shape)
    return any(re.fullmatch(pattern, own) for own in (OWN, OWN_NAME))


def settings_of_sqlite(v):
    """Whether a path may be the file from which sqlite3 takes commands."""
    return any("sqliterc" in t for t in v.texts | v.starts) or bool(
        v.starts and v.chars.issuperset("sqliterc"))


def literal_pattern(t):
    """Slashes may be doubled, and ./ means nothing."""
    return "".join(c if c.isalnum() else "/?" if c == "/" else
                   "\\.?" if c == "." else re.escape(c) for c in t.replace(USERS, ""))


def part_pattern(v):
    made = "".join(sorted(v.chars - {"..", USERS}))
    more = "[%s]*" % re.escape(made) if made else ""
    return "(?:%s)" % "|".join([literal_pattern(t) for t in sorted(v.texts)]
                               + [literal_pattern(s) + more for s in sorted(v.starts)])


def paths_of(v):
    """What a path leads to, from the root; ? when the program makes it up at run time."""
    out = set()
    for t in v.texts:
        if t and t != "-":
            out.add(normal(t, True))
    for s in v.starts:
        if s and not s.startswith(USERS):
            out.add(normal(s, False))
        if ".." in v.chars or not s and any(v.chars.issuperset(f) for f in FOLDERS):
            out.add("?")
    return sorted(out)


def normal(path, whole):
    """Below /work when it is relative; a beginning that could go on ends in ..."""
    if not path.startswith("/"):
        path = "/work/" + path
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if whole or path.endswith("/") and parts:
        return "/" + "/".join(parts) + ("" if whole else "/")
    return "/" + "/".join(parts) + "..."
