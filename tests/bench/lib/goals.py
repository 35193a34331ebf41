# What is to be reached, beside what is: each goal is of one row's median, held against another
# column's of the same row, or against milliseconds.
GOALS = [  # row, column it is held against or None, how, the goal
    ("forked-first", None, "ms", 0.35),
    ("forked-result", None, "ms", 2.0),
    ("forked-result", "bare", "times", 0.3),
    ("forked-refill", None, "ms of processor", 3.0),
    ("forked-memory", None, "MiB", 6.0),
    ("pandas-result", None, "ms", 6.0),
    ("pandas-result", "bare", "times", 0.03),
    ("pandas-refill", None, "ms of processor", 10.0),
    ("pandas-memory", None, "MiB", 20.0),
    ("exec-bash", "bubblewrap", "ms more", 2.0),
    ("exec-python", "bare", "times", 1.35),
    ("exec-socket", "bare", "times", 1.35),
    ("batch-humaneval", "bare", "times", 0.8),
    ("batch-mbpp", "bare", "times", 0.8),
]
NAMES = {"bubblewrap": "bwrap"}


def reached(ours, other, how):
    """The figure that is held against the goal; None where one is missing."""
    if how in ("ms", "ms of processor", "MiB"):
        return ours
    if not other:
        return None
    return ours - other if how == "ms more" else ours / other


def called(row):
    return row["what"] + (", assay exec" if row["id"].startswith("exec") else "")


def held(column, how):
    if not column:
        return how
    return "%s %s %s" % (how, "than" if how == "ms more" else "of", NAMES.get(column, column))


def found(rows):
    """Of each goal whose row was measured: what it is called, the figure, the goal."""
    by_id = {row["id"]: row for row in rows}
    for ident, column, how, goal in GOALS:
        figures = by_id.get(ident, {}).get("figures", {})
        if "ours" not in figures:
            continue
        other = figures[column]["median"] if column in figures else None
        figure = reached(figures["ours"]["median"], other, how)
        if figure is None:
            continue
        yield called(by_id[ident]), held(column, how), figure, goal
