# What is said of a program as a whole.

NOWHERE = "/dev/null/main.py"  # no file that an error could quote
AWAITS = 0x2000  # PyCF_ALLOW_TOP_LEVEL_AWAIT


def column_of(error):
    """In bytes, from 1. What ends a token says it in characters, and quotes the line without its
    end; what parses and compiles says it in bytes."""
    offset, text = max(error.offset or 1, 1), error.text or ""
    if not text or text.endswith("\n"):
        return offset
    return len(text[:offset - 1].encode("utf-8", "replace")) + 1


def facts_of(source):
    reader = Reader()
    try:
        tree = compile(source, NOWHERE, "exec", 0x400, dont_inherit=True)
        reader.read(tree)
        # "return" outside a function; "await" may stand there in a cell, and a program has its interpreter say so.
        compile(source, NOWHERE, "exec", AWAITS, dont_inherit=True)
        judged = globals().get("allow_facts")  # where the list is a part of the reader
        known = judged(reader, tree) if judged else None
        reader.tell_beyond(known.quiet if known else {})
        tell_strings(reader, tree, known.idle if known else ())
        tell_runs(reader, known.runs if known else {})
        tell_imports(reader, known.probes if known else ())
        tell_sql(reader, tree)
    except SyntaxError as e:
        return answer([], '{"type":%s,"message":%s,"line":%d,"column":%d}' % (
            quote(type(e).__name__), quote(str(e.msg)[:300]), e.lineno or 1,
            column_of(e)), "null")
    except (RecursionError, MemoryError, ValueError, OverflowError, TooMuch) as e:
        return answer([], "null", quote("%s: %s" % (type(e).__name__, str(e)[:200])))
    return answer(reader.facts, "null", "null")
