# Commands that are harmless in some of their forms: of these they tell what is
# read and run, and that they run themselves only where the form is another.
import re


def do_source(sh, name, args, node, ctx):
    """Of the one file that only sets variables: what it tells of the system."""
    if len(args) != 1 or args[0].value.only() != "/etc/os-release":
        sh.tell("run " + name, node, ctx)
        return unknown(EVERY)
    sh.path("read", args[0], ctx)
    for n in (m for own in OS_RELEASE for m in sh.names_of(own)):
        sh.put("$" + n, unknown(SYSTEM_FILES["/etc/os-release"]))
    return NONE


def do_compgen(sh, name, args, node, ctx):
    """Names of files, of variables, of functions: without -W, -C and -F nothing is expanded."""
    known = [a.value.only() for a in args]
    if len(args) == 2 and known[0] == "-G" and not args[1].many and not any(
            t.startswith("-") for t in args[1].value.texts | args[1].value.starts):
        sh.path("read", args[1], ctx)
        return unknown(sh.matching(args[1].value).all_chars())
    if None in known or not COMPGEN_LOOKS.fullmatch(" ".join(known)):
        sh.tell("run " + name, node, ctx)
    return unknown(EVERY)


# Files have to be asked for by -G: a prefix would be a path.
COMPGEN_LOOKS = re.compile(
    r"(?:-[vbk]|-A (?:function|variable|arrayvar|builtin|keyword|enabled|setopt|shopt|signal))"
    r"(?: (?:-- )?\w*)?")


def do_flock(sh, name, args, node, ctx):
    """Of a descriptor, or of a file while a command runs."""
    while args and re.match(r"-.", first_text(args[0])):
        t = args[0].value.only()
        if not re.fullmatch(r"-[nxseu]+|-[nxse]*w|-w[\d.]+|--(?:nonblock|nb|exclusive|shared|unlock"
                            r"|wait=[\d.]+|timeout=[\d.]+)", t or ""):
            sh.tell("run " + name, node, ctx)
            return unknown(EVERY)
        args = args[2 if re.fullmatch(r"-[nxse]*w", t) else 1:]
    if args and not args[0].many and (len(args) > 1 or not is_descriptor(args[0].value)):
        sh.path("write", args[0], ctx)
    elif args and args[0].many:
        sh.tell("run " + name, node, ctx)
    return sh.run(args[1:], node, ctx.but())


def is_descriptor(v):
    return not v.all_chars() - set("0123456789")


CONDITIONAL = {".": do_source, "source": do_source, "compgen": do_compgen, "flock": do_flock}
