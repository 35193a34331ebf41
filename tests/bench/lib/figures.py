# Samples, what is made of them, and how that is written. Knows nothing of what was measured.
import statistics


def quantile(ordered, part):
    """Between the two nearest samples, in proportion."""
    place = (len(ordered) - 1) * part
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def figures(samples):
    """n, minimum, 10th percentile, median, 90th percentile."""
    ordered = sorted(samples)
    return {"n": len(ordered), "min": ordered[0], "p10": quantile(ordered, 0.1),
            "median": statistics.median(ordered), "p90": quantile(ordered, 0.9)}


def ratio(over, under, which="median"):
    """Of two figures; None where one is missing or there is nothing to divide by."""
    if not over or not under or not under[which]:
        return None
    return over[which] / under[which]


ENOUGH = 3  # samples of each, to speak of a spread


def verdict(before, after):
    """What two spreads (p10 to p90) allow to say."""
    if before["n"] < ENOUGH or after["n"] < ENOUGH:
        return "too few runs"
    if before["p10"] <= after["p90"] and after["p10"] <= before["p90"]:
        return "within noise"
    return "slower" if after["median"] > before["median"] else "faster"


def add_figures(row):
    """Figures of all samples of a row, and the ratios of ours to each of the others."""
    row["figures"] = {name: figures(samples) for name, samples in row["samples"].items() if samples}
    ours = row["figures"].get("ours")
    row["ratios"] = {name: ratio(ours, other) for name, other in row["figures"].items()
                     if name != "ours" and ratio(ours, other) is not None}
    return row


def number(value):
    """Three digits, of what is next to nothing two, in eight columns at most."""
    if value is None:
        return "-"
    if 0.0005 <= abs(value) < 0.0995:
        return "%.3f" % value
    if value < 9.995:
        return "%.2f" % value
    return "%.1f" % value if value < 99.95 else "%.0f" % value


def spread(part):
    return "%s-%s" % (number(part["p10"]), number(part["p90"])) if part else "-"
