# What is to be reached, beside what is: each goal is of one row's median, held against another
# column's of the same row, or against milliseconds. Where floors are known, that of it stands beside.
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

# What a row of ours cannot go below, as a sum of others' medians: (row, column, how often). A
# process of ours starts and waits for the disk twice, before its program and at its end; what
# bubblewrap's own does is in bubblewrap's figure already.
OWN_PROCESS = [("start", "ours", 1), ("floor-sync", "bare", 2)]
FLOORS = {
    "forked-first": [("floor-first", "bare", 1)],
    "forked-result": [("floor-end", "bare", 1)],
    "forked-refill": [("floor-namespaces", "bare", 1)],
    # One that ends with pandas takes its modules apart first, which nobody has to wait for.
    "pandas-result": [("floor-end", "bare", 1)],
    "pandas-refill": [("floor-namespaces", "bare", 1)],
    "batch-humaneval": [("batch-humaneval-floor", "bare", 1)],
    "batch-mbpp": [("batch-mbpp-floor", "bare", 1)],
    "exec-bash": [("exec-bash", "bubblewrap", 1), *OWN_PROCESS],
    "exec-python": [("exec-python", "bare", 1), ("floor-namespaces", "bare", 1), *OWN_PROCESS],
}


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


def median(by_id, ident, column):
    return by_id.get(ident, {}).get("figures", {}).get(column, {}).get("median")


def floor(by_id, ident):
    """None: it is not known, or a part of it was not measured."""
    parts = [(median(by_id, row, column), times) for row, column, times in FLOORS.get(ident, [])]
    if not parts or any(part is None for part, _ in parts):
        return None
    return sum(part * times for part, times in parts)


def found(rows):
    """Of each goal whose row was measured: what it is called, how it is held, the figure, the
    goal, the floor or None."""
    by_id = {row["id"]: row for row in rows}
    for ident, column, how, goal in GOALS:
        figures = by_id.get(ident, {}).get("figures", {})
        if "ours" not in figures:
            continue
        other = median(by_id, ident, column)
        figure = reached(figures["ours"]["median"], other, how)
        if figure is None:
            continue
        least = floor(by_id, ident)
        yield (called(by_id[ident]), held(column, how), figure, goal,
               None if least is None else reached(least, other, how))
