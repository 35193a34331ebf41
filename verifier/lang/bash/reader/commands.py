# What the commands of a bash program do with their arguments: what they run,
# read, write and set. A command that is not here is taken for one that reads
# the files it names and prints what it is given.
import re

# --- variables and the shell's own state ---

def split_fields(v):
    """Of what read sets several variables to."""
    pieces = {p for t in v.texts for p in re.split(r"[\s,:;|=/]+", t)} | set(v.texts)
    starts = {""} if v.starts else set()
    return Value(frozenset(pieces), frozenset(starts), v.all_chars())


def do_read(sh, name, args, node, ctx):
    options, names = parse(args, "adinNptu")
    asked = {o: value for o, value in options}
    if "n" in asked or "N" in asked:
        sh.put("partial", BLANK)  # what is read next begins anywhere
    v = sh.given(ctx, options)
    if "d" in asked and asked["d"] and asked["d"].value.only() == "":
        v = lines(v, "\0")
    else:
        v = lines(v) if v.known() and "d" not in asked else passed_on(lines(v))
    v = DATA if v.empty() else remade(v) if sh.env.get("partial") else v
    v = Value(frozenset(t.strip() for t in v.texts), v.starts, v.chars)
    array = next((value for o, value in options if o == "a" and value), None)
    if array:
        names = [array]
    if any(o == "?" for o, _ in options):
        sh.tell("code name", node, ctx)
    if len(names) > 1 or array:
        v = split_fields(v)
    if not names:
        sh.assign("REPLY", v, node, ctx)
    for arg in names:
        for n in sh.check_name(arg.value, arg.node, ctx) or ():
            sh.assign(n, v, arg.node, ctx)
    return NONE


def do_mapfile(sh, name, args, node, ctx):
    options, names = parse(args, "dnOsuCc")
    if any(o in ("C", "?") for o, _ in options):
        sh.tell("code mapfile", node, ctx)
    v = sh.given(ctx, options)
    zero = any(o == "d" and value and value.value.only() == "" for o, value in options)
    v = lines(v, "\0") if zero else lines(v)
    for n in [n for a in names for n in sh.check_name(a.value, node, ctx) or ()] or ["MAPFILE"]:
        sh.arrays[n] = None
        sh.assign(n, v, node, ctx)
    return NONE


def do_wait(sh, name, args, node, ctx):
    for option, value in parse(args, "p")[0]:
        if option == "p" and value:
            for n in sh.check_name(value.value, node, ctx) or ():
                sh.assign(n, COUNT, node, ctx)
    return NONE


def do_getopts(sh, name, args, node, ctx):
    if len(args) > 1:
        for n in sh.check_name(args[1].value, node, ctx) or ():
            sh.assign(n, unknown(all_chars(args[:1])), node, ctx)
        sh.assign("OPTARG", join(sh.positional("@", ctx), *(a.value for a in args[2:])), node, ctx)
    return NONE


def do_declare(sh, name, args, node, ctx):
    flags = ""
    for arg in args:
        if re.match(r"[-+]", first_text(arg)):
            flags += first_text(arg)
        else:
            sh.declare_text(flags, arg, ctx)
    return NONE


def do_let(sh, name, args, node, ctx):
    for arg in args:
        sh.check_arithmetic(arg.value, node, ctx)
        for t in arg.value.texts | arg.value.starts:
            m = re.match(r"\s*([A-Za-z_]\w*)", t)
            if m:
                sh.assign(m.group(1), COUNT, node, ctx)
    return NONE


def do_unset(sh, name, args, node, ctx):
    for arg in parse(args)[1]:
        for n in sh.check_name(arg.value, node, ctx) or ():
            sh.arrays[n] = None
            sh.removed.add(n)
    return NONE


def do_set(sh, name, args, node, ctx):
    at = 0
    while at < len(args):
        t = first_text(args[at])
        if t == "--" or not re.match(r"[-+]", t):
            break
        at += 1
        sh.tell("set " + t, node, ctx)
        if re.search(r"o\Z", t) and at < len(args):
            sh.tell("set " + first_text(args[at]), node, ctx)
            at += 1
    if at < len(args) and first_text(args[at]) == "--":
        at += 1
    if at < len(args):
        sh.shifts.add(ctx.function)
        sh.shifted[ctx.function] = 0, False
        calls = sh.calls.setdefault(ctx.function, [])
        if len(calls) < 40 and ctx.function:
            calls.append(args[at:]) if args[at:] not in calls else None
        for arg in args[at:]:
            sh.put(ctx.function + ":@", arg.value)
    return NONE


def do_shift(sh, name, args, node, ctx):
    sh.shifts.add(ctx.function)
    low, exact = sh.moved(ctx)
    count = args[0].value.only() if args else "1"
    if sh.maybe or not (count or "").isdigit():
        sh.shifted[ctx.function] = low, False
    else:
        sh.shifted[ctx.function] = low + int(count), exact
    return NONE


def do_shopt(sh, name, args, node, ctx):
    options, rest = parse(args)
    if any(o in ("s", "o", "?") for o, _ in options):
        for arg in rest:
            sh.tell("shopt " + (arg.value.only() or "?"), node, ctx)
    return NONE


def do_cd(sh, name, args, node, ctx):
    for arg in parse(args)[1]:
        sh.path("read", arg, ctx)
        sh.put("$PWD", arg.value)
    return NONE


def do_test(sh, name, args, node, ctx):
    for i, arg in enumerate(args[:-1]):
        t = arg.value.only()
        if t in ("-v", "-R"):
            sh.check_name(args[i + 1].value, node, ctx)
        elif t and re.fullmatch(r"-[abcdefghkprsuwxGLNOS]", t):
            sh.path("read", args[i + 1], ctx)
        elif t in ("-nt", "-ot", "-ef") and i:
            sh.path("read", args[i - 1], ctx)
            sh.path("read", args[i + 1], ctx)
    return NONE


# --- what runs something ---

def do_eval(sh, name, args, node, ctx):
    choices = [""]
    for arg in args:
        found = sh.code_texts(arg, "eval", ctx)
        choices = [c + " " + f for c in choices for f in sorted(found)][:8]
    return join(*(sh.run_text(t, node, ctx) for t in choices if t.strip()))


def do_trap(sh, name, args, node, ctx):
    args = [a for a in args if a.value.only() != "--"]
    if len(args) < 2 or re.match(r"-[lpP]", first_text(args[0])):
        return NONE
    for arg in args[1:]:
        sh.tell("option trap " + (arg.value.only() or "?").upper(), node, ctx)
    for t in sorted(sh.code_texts(args[0], "trap", ctx)):
        if t not in ("-", ""):
            sh.run_text(t, node, ctx)
    return NONE


def do_exec(sh, name, args, node, ctx):
    if len(args) == 1 and re.fullmatch(r"\{\w+\[\d+\]\}", (args[0].holes or [""])[0]):
        return NONE  # exec {GEN[1]}>&-, of which the parser makes a word; no command is called so
    if args:
        sh.tell("code exec", node, ctx)
    args = skip_options(args, "a")
    return sh.run(args, node, ctx.but())


def do_command(sh, name, args, node, ctx):
    while args and re.match(r"-", first_text(args[0])):
        if re.search(r"[vV]", first_text(args[0])):
            return DATA
        args = args[1:]
    if name == "command" and args and args[0].value.only() in sh.functions:
        own = args[0].value.only()
        held = sh.functions.pop(own)
        try:
            return sh.run(args, node, ctx.but())
        finally:
            sh.functions[own] = held
    return sh.run(args, node, ctx.but())


def skip_options(args, valued):
    """What follows the options of a command that runs another."""
    while args and re.match(r"-.", first_text(args[0])):
        t = first_text(args[0])
        if t == "--":
            return args[1:]
        args = args[2 if not t.startswith("--") and t[-1] in valued else 1:]
    return args


def do_env(sh, name, args, node, ctx):
    if any(re.match(r"-\w*S|--split", first_text(a)) for a in args):
        sh.tell("code env", node, ctx)
    args = skip_options(args, "uC")
    while args and re.match(r"[A-Za-z_]\w*=", first_text(args[0])):
        sh.declare_text("", args[0], ctx)
        args = args[1:]
    if not args:
        sh.tell("run printenv", node, ctx)
    return sh.run(args, node, ctx.but())


def do_prefix(sh, name, args, node, ctx):
    args = skip_options(args, {"timeout": "ks", "nice": "n", "stdbuf": "ioe"}.get(name, ""))
    return sh.run(args[1:] if name == "timeout" else args, node, ctx.but())


def do_xargs(sh, name, args, node, ctx):
    rest, mark = args, None
    while rest and re.match(r"-.", first_text(rest[0])):
        t = first_text(rest[0])
        letter = t[1]
        value, used = None, 1
        if letter in "InLPsEda" and not t.startswith("--"):
            value = cut_start(rest[0], 2) if len(t) > 2 else rest[1] if len(rest) > 1 else None
            used = 1 if len(t) > 2 else 2
        if letter == "I" and value:
            mark = value.value.only()
        if letter == "a" and value:
            sh.path("read", value, ctx)
        sh.tell("option xargs " + (t.split("=")[0] if t.startswith("--") else letter), node, ctx)
        rest = rest[used:]
    if not rest:
        return remade(ctx.stdin)
    given = words(lines(ctx.stdin)) if not mark else lines(ctx.stdin)
    make = type(rest[0])
    if mark is None:
        return sh.run(rest + [make(given, node, True)], node, ctx.but(stdin=NONE))
    return sh.run([replaced(a, mark, given) for a in rest], node, ctx.but(stdin=NONE))


def replaced(arg, mark, given):
    """An argument with its {} put in."""
    only = arg.value.only()
    if only is None or mark not in only:
        return arg
    v = BLANK
    for i, part in enumerate(only.split(mark)):
        v = concat(concat(v, given) if i else v, text(part))
    return type(arg)(v, arg.node, False)


def do_jobs(sh, name, args, node, ctx):
    """Its -x runs a command; without -p it prints the commands of the program."""
    options, rest = parse(args)
    if any(o in ("x", "?") for o, _ in options) or any(a.value.starts for a in args):
        return sh.run(rest, node, ctx.but())
    return COUNT if any(o == "p" for o, _ in options) else unknown(EVERY)


def do_find(sh, name, args, node, ctx):
    at = 0
    while at < len(args) and not re.match(r"[-(!,]", first_text(args[at])):
        sh.path("read", args[at], ctx)
        at += 1
    roots = args[:at]
    names = sh.env.get("names", NONE).all_chars() - {"/"}
    found = join(*(concat(vague(r.value), unknown(names)) for r in roots)) if roots else \
        unknown(names, "./")
    outs = [found]
    while at < len(args):
        t = first_text(args[at])
        if args[at].value.only() is None and (args[at].many or t.startswith("-")):
            sh.tell("option find ?", node, ctx)
        at += 1
        if t in ("-exec", "-execdir", "-ok", "-okdir"):
            end = at
            while end < len(args) and args[end].value.only() not in (";", "+"):
                end += 1
            command = [replaced(a, "{}", found) for a in args[at:end]]
            outs.append(sh.run(command, node, ctx.but()))
            at = end + 1
        elif t == "-delete":
            for r in roots or [type(args[0])(text("/work"), node)]:
                sh.path("change", r, ctx)
        elif t in ("-fprint", "-fprintf", "-fls", "-fprint0") and at < len(args):
            sh.path("write", args[at], ctx)
            at += 1
        elif t == "-printf" and at < len(args):
            outs.append(unknown(all_chars(args[at:at + 1]) | found.all_chars()))
            at += 1
        elif re.match(r"-(?:[ac]?newer|samefile)", t) and at < len(args):
            if not re.match(r"-newer.t", t):
                sh.path("read", args[at], ctx)
            at += 1
        elif t.startswith("-files0"):
            sh.tell("option find " + t, node, ctx)
        elif re.match(r"-(i?name|i?path|i?regex|type|size|mtime|mmin|printf|regextype|"
                      r"maxdepth|mindepth|perm|user|group|i?wholename|[ac]time|[ac]min)",
                      t):
            at += 1
    return series(outs) if len(outs) > 1 else found


def do_shell(sh, name, args, node, ctx):
    at = 0
    while at < len(args) and re.match(r"[-+][a-zA-Z]", first_text(args[at])):
        t = first_text(args[at])
        at += 1
        if "c" in t and re.fullmatch(r"-[ceux]+", t) and at < len(args):
            inner = ctx.but(function="sh -c:%d" % args[at].node["Pos"]["Offset"])
            for i, arg in enumerate(args[at + 2:]):
                sh.put("%s:%d" % (inner.function, i + 1), arg.value)
                sh.put(inner.function + ":@", arg.value)
            return join(*(sh.run_text(t, node, inner)
                          for t in sorted(sh.code_texts(args[at], "sh", ctx))))
        if not re.fullmatch(r"-[eux]+", t):
            break
    sh.tell("code sh", node, ctx)
    return unknown(EVERY)


def programs(arg):
    """The texts a program may be, with holes and what fills them."""
    if arg.value.known():
        return [(t, []) for t in sorted(arg.value.texts)]
    if arg.holes is None or arg.many and len(arg.holes[0]) < 2:
        raise Unclear()
    return [arg.holes]


def from_file(sh, arg, ctx):
    """The programs a file may hold: one that this program wrote, and nothing else did."""
    sh.path("read", arg, ctx)
    held = sh.file_value(arg.value)
    if not arg.value.known() or not held.known():
        raise Unclear()
    return [(t, []) for t in sorted(held.texts)]


def do_awk(sh, name, args, node, ctx):
    given, chars = {}, set()
    options, rest = parse(args, "Fvfe")
    files = [value for option, value in options if option == "f" and value]
    for option, value in options:
        if option == "v" and value:
            n, _, held = first_text(value).partition("=")
            v = text(unescape(held)) if value.value.only() is not None else unknown(EVERY) \
                if "\\" in value.value.all_chars() else unknown(value.value.all_chars(), held)
            given[n] = join(given.get(n), v)
        elif option not in ("F", "v", "f"):
            sh.tell("code awk", node, ctx)
    if not rest and not files:
        return unknown(EVERY)
    source = files[0] if files else rest[0]
    inputs = rest if files else rest[1:]
    for arg in inputs:
        if re.match(r"[A-Za-z_]\w*=", first_text(arg)):
            n = first_text(arg).partition("=")[0]
            given[n] = join(given.get(n), unknown(EVERY))
        else:
            sh.path("read", arg, ctx)
            chars |= sh.file_value(arg.value).all_chars()
    outs = []
    try:
        if len(files) > 1:
            raise Unclear()
        for t, holes in from_file(sh, source, ctx) if files else programs(source):
            awk = Awk(t, holes, given)
            chars |= awk.chars.union(*(v.all_chars() for v in given.values()))
            for run in awk.runs:
                outs.append(sh.run_text(run, source.node, ctx.but(stdin=unknown(chars))))
            if awk.asks:
                sh.tell("code awk", source.node, ctx)
            for use, values in (("read", awk.reads), ("write", awk.writes)):
                for v in values:
                    sh.path(use, type(source)(v, source.node), ctx)
            for v in awk.writes:
                sh.write_file(v, unknown(chars))
    except Unclear:
        sh.tell("code awk", source.node, ctx)
        return unknown(EVERY)
    own = frozenset(chars) | (ctx.stdin.all_chars() if not inputs else frozenset())
    return unknown(own.union(*(o.all_chars() for o in outs)))


def do_sed(sh, name, args, node, ctx):
    options, rest = parse([a for a in args if not re.match(r"-[nErsuz]*i", first_text(a))], "efl",
                          ("expression", "file"))
    in_place = [a for a in args if re.match(r"-[nErsuz]*i|--in-place", first_text(a))]
    scripts = [v for o, v in options if o in ("e", "--expression") and v]
    files = [v for o, v in options if o in ("f", "--file") and v]
    tell_options(sh, name, options, node, ctx)
    if not scripts and not files:
        scripts, rest = rest[:1], rest[1:]
    chars = set()
    try:
        whole, holes = "", []
        for t, _ in [p for f in files for p in from_file(sh, f, ctx)]:
            chars |= Sed(t, []).chars
        for arg in scripts:
            found = programs(arg)
            if len(found) > 1:  # each by itself
                for t, _ in found:
                    chars |= Sed(t, []).chars
                continue
            t, own = found[0]
            t = HOLE.sub(lambda m: chr(ord(m.group()) + len(holes)), t)
            whole, holes = whole + t + "\n", holes + list(own)
        sed = Sed(whole, holes)
        chars |= sed.chars
        for use, values in (("read", sed.reads), ("write", sed.writes)):
            for v in values:
                sh.path(use, type(args[0])(v, node), ctx)
    except Unclear:
        sh.tell("code sed", node, ctx)
        return unknown(EVERY)
    for arg in rest:
        sh.path("write" if in_place else "read", arg, ctx)
        chars |= sh.file_value(arg.value).all_chars()
        if in_place:
            sh.write_file(arg.value, unknown(chars))
    return unknown(chars | (ctx.stdin.all_chars() if not rest else set()))


# --- files ---

def do_write(sh, name, args, node, ctx):
    """Every operand is made, changed or removed."""
    options, rest = parse(args, {"touch": "dtr", "mkdir": "m", "mkfifo": "m", "truncate": "sr"}.get(
        name, ""), ("date", "mode", "size", "reference"))
    for option, value in options:
        if option in ("r", "--reference") and value:
            sh.path("read", value, ctx)
    if name == "chmod":
        rest = rest[1:]
    for arg in rest:
        sh.path("write" if name in ("tee", "truncate") else "change", arg, ctx)
        if name == "tee":
            sh.write_file(arg.value, remade(ctx.stdin))
        elif name == "truncate":
            sh.write_file(arg.value, unknown(EVERY))
    return passed_on(ctx.stdin) if name == "tee" else NONE


def do_copy(sh, name, args, node, ctx):
    options, rest = parse(args, "tS", ("target-directory",))
    if any(o in ("l", "s", "?", "--link", "--symbolic-link") for o, _ in options):
        sh.tell("option cp link", node, ctx)  # another name for what is there
    into = [v for o, v in options if o in ("t", "--target-directory") and v]
    for arg in into + rest[len(rest) - (not into):]:
        if arg.value.only() in (".", "./", "/work", "/work/") and not any(
                o in ("r", "R", "a", "--recursive", "--archive") for o, _ in options):
            sources = rest if into else rest[:-1]
            base = join(*(do_basename(sh, name, [a], node, ctx) for a in sources))
            arg = type(arg)(concat(text("/work/"), base), arg.node)
        sh.path("change" if name == "mv" else "write", arg, ctx)
    for arg in rest if into else rest[:-1]:
        sh.path("change" if name == "mv" else "read", arg, ctx)
    held = join(*(sh.file_value(a.value) for a in rest))
    sh.put("files", unknown(held.all_chars()))
    for arg in rest[-1:] if not into else ():
        sh.write_file(arg.value, remade(held))
    return NONE


def do_sort(sh, name, args, node, ctx):
    options, rest = parse(args, "ktSoT", ("key", "field-separator", "buffer-size", "output",
                                          "temporary-directory", "parallel"))
    tell_options(sh, name, options, node, ctx)
    for option, value in options:
        if option in ("o", "T", "--output", "--temporary-directory") and value:
            sh.path("write", value, ctx)
            sh.write_file(value.value, passed_on(join(
                ctx.stdin, *(sh.file_value(a.value) for a in rest))))
    return do_pass(sh, "cat", rest, node, ctx)


def do_split(sh, name, args, node, ctx):
    options, rest = parse(args, "abnlCt", ("bytes", "lines", "number", "suffix-length",
                                           "additional-suffix", "filter"))
    tell_options(sh, name, options, node, ctx)
    for i, arg in enumerate(rest):
        sh.path("write" if i else "read", arg, ctx)
    sh.put("files", unknown(ctx.stdin.all_chars()))
    return NONE


def do_csplit(sh, name, args, node, ctx):
    options, rest = parse(args, "bfn", ("prefix", "digits", "suffix-format"))
    for option, value in options:
        if option in ("f", "--prefix") and value:
            sh.path("write", value, ctx)
    for arg in rest[:1]:
        sh.path("read", arg, ctx)
    unpacked(sh)
    return COUNT


def do_tar(sh, name, args, node, ctx):
    if args and not first_text(args[0]).startswith("-") and re.fullmatch(
            r"[A-Za-z]+", first_text(args[0])):
        letters = first_text(args[0])
        found = [(c, None) for c in letters]
        given, args = [c for c in letters if c in "fCTXb"], args[1:]
        found = [o for o in found if o[0] not in given] + list(zip(given, args))
        more, rest = parse(args[len(given):], "fCTXbNgHILKFV", ("file", "directory"))
        options = found + more
    else:
        options, rest = parse(args, "fCTXbNgHILKFV", ("file", "directory"))
    tell_options(sh, name, options, node, ctx)
    makes = any(o in ("c", "r", "u", "--create") for o, _ in options)
    if any(o in ("x", "?", "--extract", "--get") for o, _ in options):
        unpacked(sh)
    for option, value in options:
        if value and option in ("f", "--file"):
            if ":" in value.value.all_chars():
                sh.tell("option tar rsh", node, ctx)
            sh.path("write" if makes else "read", value, ctx)
        elif value and option in ("C", "--directory"):
            sh.path("read" if makes else "write", value, ctx)
    for arg in rest:
        sh.path("read", arg, ctx)
    return DATA


def do_dd(sh, name, args, node, ctx):
    for arg in args:
        key = first_text(arg).partition("=")[0]
        if key in ("if", "of"):
            sh.path("read" if key == "if" else "write", cut_start(arg, 3), ctx)
            if key == "of":
                unpacked(sh)
        elif "=" not in first_text(arg):
            sh.tell("option dd ?", node, ctx)
    return passed_on(ctx.stdin)


def do_options(sh, name, args, node, ctx):
    """One whose options are told, and whose operands are files it may make."""
    if name == "unzip":
        unpacked(sh)
    options, rest = parse(args, {"zip": "xi", "unzip": "dx"}.get(name, ""))
    tell_options(sh, name, options, node, ctx)
    for option, value in options:
        if option == "d" and value:
            sh.path("write", value, ctx)
    for i, arg in enumerate(rest):
        sh.path("write" if name == "zip" and not i else "read", arg, ctx)
    return DATA


COMMANDS = {**PRINTERS, **CONDITIONAL}
for _handler, _names in (
        (do_read, "read"), (do_mapfile, "mapfile readarray"), (do_wait, "wait"),
        (do_getopts, "getopts"), (do_declare, "declare local export readonly typeset"),
        (do_let, "let"), (do_unset, "unset"), (do_set, "set"), (do_shift, "shift"),
        (do_shopt, "shopt"), (do_cd, "cd pushd"), (do_test, "test ["), (do_eval, "eval"),
        (do_trap, "trap"), (do_exec, "exec"), (do_command, "command builtin"), (do_env, "env"),
        (do_prefix, "timeout nice nohup stdbuf"), (do_xargs, "xargs"), (do_find, "find"),
        (do_shell, "bash sh dash"), (do_awk, "awk gawk mawk nawk"), (do_sed, "sed"),
        (do_write, "touch mkdir mkfifo rm rmdir truncate tee chmod chown chgrp unlink shred"),
        (do_copy, "cp mv ln install"), (do_jobs, "jobs"),
        (do_sort, "sort"), (do_split, "split"), (do_csplit, "csplit"), (do_tar, "tar"),
        (do_dd, "dd"), (do_options, "zip unzip")):
    COMMANDS.update((_name, _handler) for _name in _names.split())
