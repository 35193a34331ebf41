# What the commands of a bash program print, as far as it is made of what they
# are given; and how their options and operands are told apart.
import re

COUNT = unknown()

# Options that take a value: of no interest, a path; and how many operands are no paths.
SPECS = {
    "grep": ("emABCdD", "f", 1), "cut": ("dfbc", "", 0), "head": ("nc", "", 0),
    "tail": ("ncs", "", 0), "uniq": ("fsw", "", 0), "paste": ("d", "", 0),
    "join": ("t12javeo", "", 0), "column": ("tscoNRHTEWlpi", "", 0), "fold": ("w", "", 0),
    "fmt": ("wpg", "", 0), "nl": ("bdfhilnsvw", "", 0), "od": ("AjNtSw", "", 0),
    "xxd": ("lcsgo", "", 0), "hexdump": ("efns", "", 0), "cmp": ("in", "", 0),
    "diff": ("UCIxLWF", "", 0), "tac": ("s", "", 0), "shuf": ("nie", "o", 0),
    "stat": ("c", "", 0), "du": ("dt", "", 0), "ls": ("IwT", "", 0), "numfmt": ("d", "", 9),
    "base64": ("w", "", 0), "base32": ("w", "", 0), "iconv": ("ft", "o", 0),
    "expand": ("t", "", 0), "unexpand": ("t", "", 0), "strings": ("nt", "", 0),
    "file": ("Fm", "", 0), "pr": ("DhlowNS", "", 0),
    "comm": ("", "", 0), "tsort": ("", "", 0), "csvtool": ("tu", "", 2),
}
for _same in ("egrep", "fgrep", "zgrep"):
    SPECS[_same] = SPECS["grep"]

TAKEN_AS_TEXT = {"echo", "printf", "expr", "seq", "factor", "sleep", "true", "false", ":",
                 "basename", "dirname", "numfmt", "cal", "ncal", "yes", "return", "exit", "break",
                 "continue", "type", "which", "umask", "times", "jobs", "wait", "tr", "dirs",
                 "caller", "popd", "tput", "clear", "uuidgen", "getopt", "tty", "locale",
                 "getconf"}


def first_text(arg):
    """What it begins with, for telling options."""
    only = arg.value.only()
    if only is not None:
        return only
    return min(arg.value.texts | arg.value.starts, default="")


def parse(args, valued="", long_valued=()):
    """(options, operands): options are (name, value or None), short ones one letter."""
    options, rest, at = [], [], 0
    while at < len(args):
        arg = args[at]
        t = first_text(arg)
        at += 1
        if t == "--":
            rest += args[at:]
            break
        if not t.startswith("-") or t == "-":
            rest.append(arg)
            if any(x.startswith("-") for x in arg.value.texts) or (
                    arg.many and "" in arg.value.starts and "-" in arg.value.chars):
                options.append(("?", arg))
            continue
        if t.startswith("--"):
            name, eq, _ = t.partition("=")
            given = None
            if eq:
                given = cut_start(arg, len(name) + 1)
            elif name[2:] in long_valued and at < len(args):
                given, at = args[at], at + 1
            options.append((name, given))
            continue
        for i, letter in enumerate(t[1:], 2):
            if letter not in valued:
                options.append((letter, None))
                continue
            if i < len(t) or arg.value.starts:
                options.append((letter, cut_start(arg, i)))
            elif at < len(args):
                options.append((letter, args[at]))
                at += 1
            break
    return options, rest


def cut_start(arg, n):
    v = arg.value
    shape, holes = arg.holes or (None, None)
    return type(arg)(Value(frozenset(t[n:] for t in v.texts), frozenset(s[n:] for s in v.starts),
                           v.chars), arg.node, arg.many, (shape[n:], holes) if shape else None)


def names_files(name, args):
    """Whether what is in a file says which files are read: of a sum's -c, of --files0-from."""
    sums = name.endswith("sum") and name != "sum"
    return any(re.match(r"--files|--check|-\w*c" if sums else "--files", t)
               for a in args for t in a.value.texts | a.value.starts)


def operands(name, args):
    """The arguments of a command that may be files."""
    texts, paths, skip = SPECS.get(name, ("", "", 0))
    options, rest = parse(args, texts + paths)
    if name.endswith("grep") and any(o in ("e", "f", "--regexp", "--file") for o, _ in options):
        skip = 0
    found = [v for o, v in options if v and (o in paths or o.startswith("--"))
             and o not in LONG_TEXTS]
    return found + rest[skip:]


LONG_TEXTS = {"--regexp", "--delimiter", "--output-delimiter", "--field-separator", "--separator",
              "--include", "--exclude", "--exclude-dir", "--format", "--printf", "--suffix",
              "--color", "--label", "--table-columns", "--date", "--expression", "--label"}


def tell_options(sh, name, options, node, ctx):
    for option, _ in options:
        sh.tell("option %s %s" % (name, option), node, ctx)


def all_chars(args):
    return frozenset().union(*(a.value.all_chars() for a in args)) if args else frozenset()


# --- what prints text ---

def do_echo(sh, name, args, node, ctx):
    decode = False
    while args and re.fullmatch(r"-[neE]+", args[0].value.only() or ""):
        decode = "e" in args[0].value.only() or decode
        args = args[1:]
    v = BLANK
    for i, arg in enumerate(args):
        v = concat(concat(v, text(" ")) if i else v, arg.value)
    if decode and "\\" in v.all_chars():
        v = mapped(v, unescape) if v.known() else unknown(EVERY)
    return unknown(v.all_chars()) if any(a.many for a in args) else v


def do_printf(sh, name, args, node, ctx):
    target = None
    if args and (first_text(args[0]).startswith("-v")):
        target, args = (args[1], args[2:]) if args[0].value.only() == "-v" and len(args) > 1 \
            else (cut_start(args[0], 2), args[1:])
    if args and args[0].value.only() == "--":
        args = args[1:]
    v = printed(args)
    if target:
        for n in sh.check_name(target.value, node, ctx) or ():
            sh.assign(n, v, node, ctx)
        return NONE
    return v


def printed(args):
    if not args:
        return NONE
    shape, rest = args[0].value.only(), args[1:]
    if shape is None or re.search(r"%[^%sd]|\\[^n]", re.sub(r"%%|%-?\d*\.?\d*[dsif]", "", shape)):
        chars = all_chars(args)
        made = unescape(shape) if shape is not None else ""
        if shape is None and "\\" in chars or "%b" in made and "\\" in chars or "%q" in made:
            return unknown(EVERY)
        start = re.split(r"%", made)[0] if shape is not None else ""
        return unknown(chars | set(made), start)
    pieces = re.split(r"(%%|%-?\d*\.?\d*[dsif])", unescape(shape))
    v, used, many = BLANK, 0, any(a.many for a in rest)
    while True:
        for p in pieces:
            if p == "%%" or not p.startswith("%") or len(p) < 2:
                v = concat(v, text(p.replace("%%", "%")))
            elif many or p != "%s":
                v = concat(v, unknown(all_chars(rest) if p.endswith("s") else ()))
            else:
                v = concat(v, rest[used].value if used < len(rest) else BLANK)
            used += p.startswith("%") and len(p) > 1 and p != "%%"
        if many or not used or used >= len(rest) or v.starts:
            break
    return unknown(v.all_chars() | all_chars(rest), min(v.texts | v.starts)) \
        if used < len(rest) and not v.known() else v


def passed_on(v):
    """Lines of it, in whatever order."""
    only = v.only()
    if v.empty() or only is not None and "\n" not in only.strip("\n"):
        return v
    each = lines(v)
    return Value(frozenset(), each.texts | each.starts, v.all_chars())


def do_pass(sh, name, args, node, ctx):
    files = operands(name, args)
    for i, f in enumerate(files):
        made = name == "uniq" and i == 1 or name == "shuf" and i == 0 and len(files) > 1
        sh.path("write" if made else "read", f, ctx)
        if made:
            unpacked(sh)
    inputs = [sh.file_value(f.value) for f in files] or [ctx.stdin]
    v = passed_on(series(inputs) if len(inputs) > 1 else inputs[0])
    if name == "cat" and len(inputs) == 1 and inputs[0].known():
        return inputs[0]
    return v


def do_made(sh, name, args, node, ctx):
    """Prints something made of what it reads; of its options nothing."""
    files = operands(name, args)
    for i, f in enumerate(files):
        made = i == 1 and name in ("xxd", "iconv")
        sh.path("write" if made else "read", f, ctx)
        if made:
            unpacked(sh)
    v = join(*[sh.file_value(f.value) for f in files]) if files else ctx.stdin
    options, _ = parse(args, *[SPECS.get(name, ("", ""))[0]])
    added = [o for o in options if o[0].startswith("--output") and o[1]] or (
        [o for o in options if o[0] in "d" and o[1]] if name == "paste" else [])
    return unknown(v.all_chars() | all_chars([a for _, a in added]))


def unpacked(sh):
    """Files with whatever is in what was packed."""
    sh.put("files", unknown(EVERY))
    sh.put("unpacked", BLANK)


def do_decode(sh, name, args, node, ctx):
    options, rest = parse(args, SPECS.get(name, ("",))[0])
    names = [o for o, _ in options]
    if rest and "c" not in names and (name in ("gunzip", "bunzip2", "unxz") or "d" in names):
        if not name.startswith("base"):
            unpacked(sh)
    v = do_made(sh, name, args, node, ctx)
    return unknown(EVERY) if v.all_chars() else DATA


def do_number(sh, name, args, node, ctx):
    for f in operands(name, args):
        sh.path("read", f, ctx)
    return COUNT


def do_grep(sh, name, args, node, ctx):
    v = do_pass(sh, name, args, node, ctx)
    options, _ = parse(args, "emABCdDf")
    if any(o in ("c", "--count") for o, _ in options):
        return COUNT
    return remade(v) if any(o in ("o", "n", "b") for o, _ in options) else v


def do_tr(sh, name, args, node, ctx):
    _, sets = parse(args)
    if len(sets) < 2:
        return remade(ctx.stdin)
    chars = set(ctx.stdin.all_chars())
    for t in sets[1].value.texts:
        t = unescape(t)
        chars.update(t)
        for a, b in re.findall(r"(.)-(.)", t, re.S):
            chars.update(map(chr, range(ord(a), ord(b) + 1)))
        if "[:" in t:
            chars.update("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return unknown(chars | (EVERY if sets[1].value.starts and sets[1].value.chars else set()))


def do_basename(sh, name, args, node, ctx):
    _, rest = parse(args, "s")
    if not rest:
        return NONE
    v = rest[0].value
    suffix = rest[1].value.only() or "" if len(rest) > 1 else ""
    known = Value(frozenset(re.sub(re.escape(suffix) + r"\Z", "", t.rstrip("/").split("/")[-1])
                            for t in v.texts))
    return join(known, unknown(v.all_chars() - {"/"})) if v.starts else known


def do_dirname(sh, name, args, node, ctx):
    _, rest = parse(args)
    v = rest[0].value if rest else DATA
    known = frozenset(t.rsplit("/", 1)[0] or "/" if "/" in t else "." for t in v.texts)
    return Value(known, frozenset(s[:s.rfind("/") + 1] if "/" in s else "" for s in v.starts),
                 v.chars)


def do_date(sh, name, args, node, ctx):
    options, rest = parse(args, "dfrs", ("date", "file", "reference", "set"))
    for option, value in options:
        if option in ("s", "--set", "?"):
            sh.tell("option date " + option, node, ctx)
        if option in ("f", "r", "--file", "--reference") and value:
            if not re.fullmatch(r"@?\d*", value.value.only() or "x"):
                sh.path("read", value, ctx)
    v = NONE
    for arg in rest:
        for t in arg.value.texts | arg.value.starts:
            fixed = re.sub(r"%[-_0^#+:]*\d*[A-Za-z]", "", t.lstrip("+"))
            v = join(v, unknown(set(fixed) | arg.value.chars))
    return DATA if v.empty() else v


def do_expr(sh, name, args, node, ctx):
    keywords = ("length", "substr", "index", "match", "+", "-", "*", "/", "%", ":")
    return unknown(all_chars([a for a in args if a.value.only() not in keywords]))


def do_mktemp(sh, name, args, node, ctx):
    options, rest = parse(args, "p", ("tmpdir", "suffix"))
    folder = next((v for o, v in options if o in ("p", "--tmpdir") and v), None)
    plain = any(o == "t" for o, _ in options)
    if folder:
        sh.path("write", folder, ctx)
        return concat(folder.value, unknown((), "/"))
    if not rest or plain:
        return unknown((), "/tmp/")
    sh.path("write", rest[0], ctx)
    return vague(rest[0].value)


def do_ls(sh, name, args, node, ctx):
    files = operands(name, args)
    for f in files:
        sh.path("read", f, ctx)
    names = sh.env.get("names", NONE).all_chars()
    found = unknown(names - {"/"})
    return join(found, *(vague(f.value) for f in files))


def do_pwd(sh, name, args, node, ctx):
    return join(sh.value_of("PWD"), text("/work"))


def do_bc(sh, name, args, node, ctx):
    for f in operands(name, args):
        sh.path("read", f, ctx)
    chars = ctx.stdin.all_chars()
    return unknown(chars) if '"' in chars else COUNT


def do_jq(sh, name, args, node, ctx):
    at, rest, chars = 0, [], set()
    while at < len(args):
        t = first_text(args[at])
        at += 1
        if t in ("--arg", "--argjson"):
            chars |= all_chars(args[at:at + 2])
            at += 2
        elif t in ("--slurpfile", "--rawfile") and at + 1 < len(args):
            sh.path("read", args[at + 1], ctx)
            at += 2
        elif t in ("-L", "-f", "--from-file"):
            for f in args[at:at + 1]:
                sh.path("read", f, ctx)
            at += 1
        elif t == "--indent":
            at += 1
        elif not t.startswith("-"):
            rest.append(args[at - 1])
    for f in rest[1:]:
        sh.path("read", f, ctx)
    if rest:
        v = rest[0].value
        whole = "".join(sorted(v.texts | v.starts))
        chars |= set("".join(re.findall(r'"(?:[^"\\]|\\.)*"', whole))) | v.chars
        if re.search(r"\b(?:import|include)\b", whole):
            sh.tell("lists jq", node, ctx)
        if re.search(r"base64d|implode|\\u", whole):
            chars |= EVERY
    return unknown(chars - {'"'} | ctx.stdin.all_chars() - {'"', "{", "}", "[", "]"})


def do_first(sh, name, args, node, ctx):
    """One whose first word says what it does."""
    for arg in args[:1]:
        sh.tell("option %s %s" % (name, arg.value.only() or "?"), node, ctx)
    return unknown(EVERY)


def do_sqlite(sh, name, args, node, ctx):
    """Its options have no values here; what follows the database is SQL."""
    rest = [a for a in args if not re.fullmatch(SQLITE_OPTIONS, a.value.only() or "")]
    for arg in rest[:1]:
        sh.path("write", arg, ctx)
        sh.write_file(arg.value, unknown(EVERY))
    if sh.env.keys() & {"settings", "$HOME", "$XDG_CONFIG_HOME", "unpacked"}:
        sh.tell("code sqlite3", node, ctx)  # it runs the commands of a file of that folder
    for v in [a.value for a in rest[1:]] or [ctx.stdin]:
        texts = v.texts | v.starts
        if not v.known() or any(SQLITE_RUNS.search(t) for t in texts) or any(
                first_text(a).startswith("-") for a in rest):
            sh.tell("code sqlite3", node, ctx)
    return unknown(EVERY)


SQLITE_OPTIONS = (r"-{1,2}(?:batch|bail|csv|json|line|list|column|header|noheader|box|table|"
                  r"markdown)")
# Lines for the program itself but the harmless ones, and functions and statements that reach files.
SQLITE_RUNS = re.compile(
    r"^\s*\.(?!(?:mode|headers?|separator|nullvalue|width|tables|schema|print|bail)\b)"
    r"|load_extension|writefile|readfile|fsdir|zipfile|\bedit\s*\(|fts3_tokenizer|\battach\b"
    r"|\bvacuum\b",
    re.I | re.M)


def do_nothing(sh, name, args, node, ctx):
    return NONE


PRINTERS = {}
for _handler, _names in (
        (do_echo, "echo"), (do_printf, "printf"),
        (do_pass, "cat head tail uniq tac shuf nl zcat column fold fmt expand unexpand comm"),
        (do_made, "cut paste join rev od xxd hexdump"),
        (do_decode, "base64 base32 gzip gunzip bzip2 bunzip2 bzcat xz unxz xzcat "
         "zstd zstdcat iconv"),
        (do_number, "wc cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum "
         "stat du cmp factor nproc"),
        (do_grep, "grep egrep fgrep zgrep"), (do_tr, "tr"), (do_basename, "basename"),
        (do_dirname, "dirname"), (do_date, "date"), (do_expr, "expr"), (do_mktemp, "mktemp"),
        (do_ls, "ls"), (do_pwd, "pwd"), (do_bc, "bc"), (do_jq, "jq"),
        (do_first, "git openssl"), (do_sqlite, "sqlite3"),
        (do_nothing, "true false : return exit break continue sleep umask")):
    PRINTERS.update((_name, _handler) for _name in _names.split())
