# What each sandbox costs, one row a sandbox: of the printed table, and a cell of the README's table of walls.
# Knows the ids of the rows and nothing of how they were measured.
import re

from figures import number, spread

FORM = "%-28s%8s%13s%8s%8s%13s%8s%8s"
HEADS = ("an empty program, by sandbox", "cold", "p10-p90", "min", "open", "p10-p90", "min", "MiB")
TABLE, COLUMN = "| `--sandbox` |", "cold, open; memory"
PLAYED = "%s (played here)"  # a service, in whose place is something here: its own time is not in it
PYTHON = ("restricted", "pyodide")  # they run nothing else; the others an empty bash program


def is_wall(row):
    return row["id"].startswith("walls-")


def found(run):
    """{sandbox: {"cold", "open", "memory": figures}}, in the order of the rows."""
    every = {}
    for row in filter(is_wall, run["rows"]):
        _, what, name = row["id"].split("-", 2)
        if "ours" in row["figures"]:
            every.setdefault(name, {})[what] = row["figures"]["ours"]
    return every


def lines(run):
    every = found(run)
    if every:
        yield ""
        yield FORM % HEADS
    for name, of in every.items():
        both = [cell for what in ("cold", "open") for cell in (
            number(of.get(what) and of[what]["median"]), spread(of.get(what)),
            number(of.get(what) and of[what]["min"]))]
        yield FORM % (name[:28], *both, number(of.get("memory") and of["memory"]["median"]))


# --- the README ---

def label(name):
    """What a sandbox is called there: without its target, and runc is what `oci` takes."""
    kind, _, target = name.partition(" ")[0].partition(":")
    return "oci --oci-runtime " + target if kind == "oci" and target != "runc" else kind


def cell(name, of, before):
    """Memory of 0: nothing of it waits. One that was not measured stays as it was."""
    times = [number(of[what]["median"]) for what in ("cold", "open") if what in of]
    more = " (Python)" * (name in PYTHON) + " here, and theirs" * (name == PLAYED % label(name))
    some = [", ".join(times) + " ms" + more] if times else []
    memory = re.search(r"[\d.]+ MiB$", before)
    if of.get("memory", {}).get("median"):
        some.append("%s MiB" % number(of["memory"]["median"]))
    elif "memory" not in of and memory:
        some.append(memory.group())
    return "; ".join(some)


def with_cells(text, run):
    """The README, with what was measured in the place of what stood there; the rest stays as it is."""
    named = {label(name): name for name in found(run)}
    made, column = [], None
    for line in text.splitlines(True):
        parts = line.split(" | ")
        first = re.match(r"\| \[?`([^`]+)`", line)
        if line.startswith(TABLE):
            column = parts.index(COLUMN) if COLUMN in parts else None
        elif not line.startswith("|"):
            column = None
        elif column and first and first.group(1).partition(":")[0] in named:
            name = named[first.group(1).partition(":")[0]]
            parts[column] = cell(name, found(run)[name], parts[column])
        made.append(" | ".join(parts))
    return "".join(made)
