# What a figure of matplotlib shows, as data: the `chart` of a result, with the members that E2B's
# clients know. Read by begin.py when a figure is shown first. It runs on the program's side: what it
# says is a guest's word, and decides nothing.
import datetime
import re

_UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")


def _plain(value):
    """A number, a time or a word as JSON has it."""
    if hasattr(value, "dtype"):
        if value.dtype.kind == "M":
            return str(value.astype("datetime64[s]"))
        value = value.item()
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return value if isinstance(value, (bool, int, float)) else str(value)


def _rounded(value):
    """Without what binary fractions leave behind."""
    return float(f"{float(value):.10g}")


def _titled(axes, kind):
    return {"type": kind, "title": axes.get_title() or None, "elements": []}


def _labelled(axes, kind):
    made = _titled(axes, kind)
    for side, label in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
        unit = _UNIT.search(label)
        made[side + "_label"] = label or None
        made[side + "_unit"] = (unit[1] or unit[2] or None) if unit else None
    return made


def _turn(made):
    for what in ("label", "unit"):
        made["x_" + what], made["y_" + what] = made["y_" + what], made["x_" + what]


# --- lines and points ---

def _is_dated(axis):
    from matplotlib.dates import DateConverter, _SwitchableDateConverter
    given = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    return isinstance(given, (DateConverter, _SwitchableDateConverter))


def _ticks(axis):
    if not _is_dated(axis):
        return [_plain(tick) for tick in axis.get_ticklocs()]
    from matplotlib.dates import num2date
    return [num2date(tick).isoformat() for tick in axis.get_ticklocs()]


def _scale(axis, ticks, labels):
    """Words at 0, 1, 2 are categories; numbers there are numbers."""
    if _is_dated(axis):
        return "datetime"
    if axis.get_scale() != "linear":
        return axis.get_scale()
    pairs = list(zip(ticks, labels))
    named = pairs and all(tick == n and label != str(n) for n, (tick, label) in enumerate(pairs))
    return "categorical" if named else "linear"


def _scaled(axes, kind):
    made = _labelled(axes, kind)
    for side, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        ticks = _ticks(axis)
        made[side + "_ticks"], made[side + "_tick_labels"] = ticks, labels
        made[side + "_scale"] = _scale(axis, ticks, labels)
    return made


def _points(label, pairs):
    return {"label": label, "points": [[_plain(x), _plain(y)] for x, y in pairs]}


def _named(label, prefix, word):
    """What matplotlib calls a thing without a name."""
    return f"{word} {label[len(prefix):]}" if label.startswith(prefix) else label


def _is_mark(line):
    """Two points on an axis: a line of a grid, a mean."""
    x, y = list(line.get_xdata()), list(line.get_ydata())
    return len(x) == 2 and len(y) == 2 and (x[0] == x[1] or y[0] == y[1])


def _lines(axes):
    made = _scaled(axes, "line")
    made["elements"] = [_points(_named(line.get_label(), "_child", "Line"), zip(line.get_xdata(), line.get_ydata()))
                        for line in axes.get_lines() if not _is_mark(line)]
    return made


def _scatter(axes):
    made = _scaled(axes, "scatter")
    made["elements"] = [_points(_named(c.get_label(), "_child", "Points"), c.get_offsets()) for c in axes.collections]
    return made


# --- bars, pies, boxes ---

def _bars(axes):
    made = _labelled(axes, "bar")
    for group in axes.containers:
        heights = [_plain(bar.get_height()) for bar in group]
        lies = getattr(group, "orientation", None) == "horizontal"
        values = [_plain(bar.get_width()) for bar in group] if lies else heights
        labels = [label.get_text() for label in (axes.get_yticklabels() if lies else axes.get_xticklabels())]
        if lies and group is axes.containers[0]:
            _turn(made)
        name = _named(group.get_label(), "_container", "Group")
        made["elements"] += [{"label": label, "value": value, "group": name} for label, value in zip(labels, values)]
    return made


def _pie(axes):
    made = _titled(axes, "pie")
    made["elements"] = [{"label": wedge.get_label(), "angle": abs(round(float(wedge.theta2 - wedge.theta1), 4)),
                         "radius": _plain(wedge.r)} for wedge in axes.patches]
    return made


class _Box:
    def __init__(self, label, along, across):
        self.label, self.low, self.high = label, min(along), max(along)
        self.left, self.right = min(across), max(across)
        self.median, self.least, self.most, self.outliers = None, self.low, self.high, []

    def take(self, along, across):
        """A line of the box: its outliers, its median, its whiskers; what has not its place is no one's."""
        if not along or not (self.left <= min(across) and max(across) <= self.right):
            return
        if len(set(across)) == 1 and len(along) == 2:
            self.least, self.most = min(self.least, *along), max(self.most, *along)
        elif len(along) == 2 and along[0] == along[1] and self.low <= along[0] <= self.high:
            self.median = along[0]

    def told(self):
        return {"label": self.label, "min": self.least, "first_quartile": self.low, "median": self.median,
                "third_quartile": self.high, "max": self.most, "outliers": self.outliers}


def _is_lying(axes):
    """The median of a box goes from side to side of it: of one that lies, from below to above."""
    sides = [[_rounded(v) for v in patch.get_path().vertices[:, 1]] for patch in axes.patches[:1]]
    return any(_rounded(line.get_xdata()[0]) == _rounded(line.get_xdata()[1]) and
               sorted(_rounded(v) for v in line.get_ydata()) == [min(side), max(side)]
               for side in sides for line in axes.lines if len(line.get_xdata()) == 2)


def _boxes(axes):
    made = _labelled(axes, "box_and_whisker")
    lies = _is_lying(axes)
    labels = [label.get_text() for label in (axes.get_yticklabels() if lies else axes.get_xticklabels())]
    if lies:
        _turn(made)
    boxes = []
    for label, patch in zip(labels, axes.patches):
        x, y = ([_rounded(v) for v in patch.get_path().vertices[:, n]] for n in (0, 1))
        boxes.append(_Box(label, x, y) if lies else _Box(label, y, x))
    for line in axes.lines:
        x, y = ([_rounded(v) for v in data] for data in (line.get_xdata(), line.get_ydata()))
        along, across = (x, y) if lies else (y, x)
        alone = line.get_linestyle() in ("None", "none", " ", "")
        for box in boxes:
            if alone and across and box.left <= across[0] <= box.right:
                box.outliers += along
            elif not alone:
                box.take(along, across)
    made["elements"] = [box.told() for box in boxes]
    return made


# --- a figure ---

def _of_axes(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, Rectangle, Wedge
    from matplotlib.text import Text
    drawn = [child for child in axes._children if not isinstance(child, Text)]
    if all(isinstance(child, Line2D) for child in drawn):
        return _lines(axes)
    if all(isinstance(child, (PathPatch, Line2D)) for child in drawn):
        return _boxes(axes)
    drawn = [child for child in drawn if not (isinstance(child, Line2D) and _is_mark(child))]
    for kind, make in ((PathCollection, _scatter), (Wedge, _pie), (Rectangle, _bars)):
        if all(isinstance(child, kind) for child in drawn):
            return make(axes)
    return _titled(axes, "unknown")


def chart(figure):
    """None where there is nothing to tell."""
    parts = figure.get_axes()
    if len(parts) < 2:
        return _of_axes(parts[0]) if parts else None
    title = figure._suptitle.get_text() if figure._suptitle else None
    return {"type": "superchart", "title": title, "elements": [_of_axes(axes) for axes in parts]}
