# The table that `make bench` prints, and that of a comparison: within 100 columns, to be read by
# someone who has not seen either before.
import textwrap

import goals
import walls
from figures import figures, number, ratio, spread, verdict

WIDTH = 100


def wrapped(text, indent=""):
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def header(run):
    m = run["machine"]
    lines = ["assay %s%s, %s" % (run["assay"]["commit"], ", changed" * run["assay"]["changed"],
                                 run["began"]),
             "%s, %d processors, %s GiB; Linux %s; control groups %s; Python %s; node %s" % (
                 m["cpu"], m["cores"], m["memory_gib"], m["kernel"], m["cgroup"], m["python"],
                 m["node"] or "absent"),
             "load %s before, %s after; the log on %s; %d rounds, all columns in turn, in %.0f s" % (
                 m["load_before"], m["load_after"], m["log_fs"], run["rounds"], run["seconds"])]
    return [wrapped(line) for line in lines]


EXPLANATION = ("Times are milliseconds, medians; between p10 and p90 lie eight of ten. ours: in "
               "assay's sandbox; bare: the same program without one; bwrap: bubblewrap, with "
               "namespaces and a root like ours. times: ours in times of bare, bwrap in times of "
               "bare.")
MAIN = "%-28s%8s%13s%8s%8s%13s%7s%8s%7s"
MAIN_HEADS = ("ours", "p10-p90", "min", "bare", "p10-p90", "times", "bwrap", "times")


def main_row(what, found):
    ours, bare, bwrap = found.get("ours"), found.get("bare"), found.get("bubblewrap")
    return MAIN % (what[:28], number(ours and ours["median"]), spread(ours),
                   number(ours and ours["min"]),
                   number(bare and bare["median"]), spread(bare), number(ratio(ours, bare)),
                   number(bwrap and bwrap["median"]), number(ratio(bwrap, bare)))


def main_rows(run):
    group = None
    for row in run["rows"]:
        found = row["figures"]
        if not found or walls.is_wall(row):
            continue
        if row["group"] != group:
            group = row["group"]
            yield ""
            if len(group) > 28:
                yield group
            yield MAIN % ((group if len(group) <= 28 else "",) + MAIN_HEADS)
        yield main_row(row["what"], found)


def goal_rows(run):
    """What is to be reached, where it was measured."""
    first = True
    for what, held, figure, goal, floor in goals.found(run["rows"]):
        if first:
            yield ""
            yield "%-36s%8s%8s%8s" % ("goals, by the medians", "is", "goal", "floor")
            first = False
        yield "%-36s%8s%8s%8s  %s" % (what[:36], number(figure), number(goal), number(floor), held)


def peer_rows(run):
    """Other sandboxes, as columns, as many as fit."""
    names = [p["name"] for p in run["peers"] if p["state"] == "present" and
             p["name"] != "bubblewrap"]
    for start in range(0, len(names), 4):
        some = names[start:start + 4]
        yield ""
        yield "%-28s" % "other sandboxes, bare = 1" + "".join("%18s" % name for name in some)
        for row in run["rows"]:
            found = row["figures"]
            if not any(name in found for name in some):
                continue
            cells = ["%s (%s)" % (number(found[n]["median"]),
                                  number(ratio(found[n], found.get("bare")))) if n in found else "-"
                     for n in some]
            yield "%-28s" % row["what"][:28] + "".join("%18s" % cell for cell in cells)


def notes(run):
    for peer in run["peers"]:
        if peer["state"] == "fails":
            yield "does not run here: %s: %s" % (peer["name"], peer["why"])
    absent = ["%s (%s)" % (p["name"], p["package"]) for p in run["peers"]
              if p["state"] == "absent"]
    if absent:
        yield "not on this machine (where it comes from): " + ", ".join(absent)
    few = ["%s %d" % (row["what"], len(row["samples"]["ours"])) for row in run["rows"]
           if 0 < len(row["samples"].get("ours", [])) < run["rounds"]]
    if few:
        yield "fewer rounds: " + ", ".join(few)
    for row in run["rows"]:
        if row.get("skipped"):
            yield "skipped: %s: %s" % (row["what"], row["skipped"])
        for column, why in sorted(row.get("failed", {}).items()):
            yield "FAILED: %s, %s: %s" % (row["what"], column, why)


def text(run):
    lines = header(run) + [wrapped(EXPLANATION)]
    lines += [*main_rows(run), *walls.lines(run), *goal_rows(run), *peer_rows(run)]
    said = [wrapped(note, "  ") for note in notes(run)]
    return "\n".join(lines + ([""] + said if said else [])) + "\n"


# --- before and after ---

BOTH = "%-28s%8s%13s%8s%13s%7s%7s%7s  %s"
BOTH_HEADS = ("", "before", "p10-p90", "after", "p10-p90", "times", "min", "CPU", "")
BOTH_EXPLANATION = ("Milliseconds, medians; times, min, CPU: after in times of before, by the "
                    "median, the minimum, and the median of the processor time where it is known. "
                    "Within noise: the spreads (p10 to p90) overlap.")


def compared(before, after):
    """A row for each that both have: what, figures of both, ratios, verdict."""
    old = {row["id"]: row for row in before["rows"]}
    for row in after["rows"]:
        other = old.get(row["id"], {"samples": {}})
        if not row["samples"].get("ours") or not other["samples"].get("ours"):
            continue
        was, now = figures(other["samples"]["ours"]), figures(row["samples"]["ours"])
        cpus = [r.get("cpu", {}).get("ours") for r in (other, row)]
        cpu = ratio(figures(cpus[1]), figures(cpus[0])) if all(cpus) else None
        yield {"id": row["id"], "what": row["what"], "group": row["group"], "before": was,
               "after": now, "ratio": ratio(now, was), "ratio_min": ratio(now, was, "min"),
               "ratio_cpu": cpu, "verdict": verdict(was, now)}


def comparison(before, after):
    def name(run):
        return run["assay"]["commit"] + ", changed" * run["assay"]["changed"]

    group, lines = None, ["before: %s, %s" % (name(before), before["began"]),
                          "after:  %s, %s" % (name(after), after["began"])]
    lines += header(after)[1:]
    if before["machine"]["cpu"] != after["machine"]["cpu"]:
        lines.append("before was measured on another machine: %s" % before["machine"]["cpu"])
    lines.append(wrapped(BOTH_EXPLANATION))
    for c in compared(before, after):
        if c["group"] != group:
            group = c["group"]
            lines += ["", group, BOTH % BOTH_HEADS]
        lines.append(BOTH % (c["what"][:28], number(c["before"]["median"]), spread(c["before"]),
                             number(c["after"]["median"]), spread(c["after"]), number(c["ratio"]),
                             number(c["ratio_min"]), number(c["ratio_cpu"]), c["verdict"]))
    said = [wrapped("before: " + n, "  ") for n in notes(before) if n.startswith("FAILED")]
    said += [wrapped("after: " + n, "  ") for n in notes(after) if n.startswith(("FAILED", "skip"))]
    return "\n".join([line.rstrip() for line in lines] + ([""] + said if said else [])) + "\n"
