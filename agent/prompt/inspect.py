# Describes one input for the prompts: a table's columns, what a database, a workbook, an archive
# or a folder holds. Runs in the sandbox, as the input is as hostile as any: /in/ + argv[1]. It
# reads a bounded part of whatever size there is, says of how much it speaks, and prints a line as
# soon as it knows it: what it prints is cut, so the most telling comes first.
import bz2, csv, gzip, io, json, lzma, os, re, sqlite3, stat, struct, sys, tarfile, time, zipfile
import xml.etree.ElementTree as xml

ROWS, NAMES, COLUMNS = 5, 20, 40
HEAD, TAIL = 8 << 20, 16384     # of a text: what is profiled, and where its last lines are
DISTINCT = 1000                 # values of a column that are told apart
RECORDS = 20000                 # of a table that is no text: what is profiled
part = False                    # what is looked at as a file is only the beginning of what there is
until = time.monotonic() + 1.5


def short(value, limit=80):
    text = repr(value) if isinstance(value, bytes) else str(value)
    return text if len(text) <= limit else text[:limit] + "..."


# --- columns ---

NUMBER = re.compile(r"[+-]?(\d+)(\.\d*)?([eE][+-]?\d+)?\Z")
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?\Z")
PARTS = re.compile(r"\d\d?[./]\d\d?[./]\d{4}\Z")     # day or month first: nobody can tell


def kind_of(value):
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool) or value in ("true", "false", "True", "False"):
        return "true or false"
    if isinstance(value, (int, float)):
        return "whole number" if isinstance(value, int) else "number"
    if isinstance(value, (list, dict)):
        return "list" if isinstance(value, list) else "object"
    if isinstance(value, bytes):
        return "bytes"
    value = str(value)
    found = NUMBER.match(value.strip())
    if found:
        return "number" if found[2] or found[3] else "whole number"
    if PARTS.match(value.strip()):
        return "date in parts"
    return "date" if DATE.match(value.strip()) else "text"


class Column:
    def __init__(self, name):
        self.name, self.kinds, self.values = name, {}, {}
        self.first, self.least, self.most = {}, {}, {}      # of each kind
        self.of = 0     # so many records could have it

    def add(self, value, typed=False):
        kind = kind_of(value)
        if typed and isinstance(value, str) and kind in ("number", "whole number", "true or false"):
            kind = "text" if kind == "true or false" else "number as text"
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind in ("list", "object") or kind == "empty":
            return
        key = str(value)[:100]
        if key in self.values or len(self.values) < DISTINCT:
            self.values[key] = self.values.get(key, 0) + 1
        self.first.setdefault(kind, key)
        try:
            comparable = float(value) if kind in ("number", "whole number") else key if kind == "date" else None
        except ValueError:
            return
        if comparable is None:
            return
        kind = "number" if "number" in kind else kind
        if kind not in self.least or comparable < self.least[kind][0]:
            self.least[kind] = comparable, key
        if kind not in self.most or comparable > self.most[kind][0]:
            self.most[kind] = comparable, key

    def often(self):
        """All values where they are few: a rare one may be a wrong spelling of another."""
        values, some = sorted(self.values, key=lambda v: -self.values[v]), []
        for value in values[:12 if len(values) <= 12 else 4]:
            some.append(short(repr(value), 24))
            if len(some) >= 4 and sum(map(len, some)) > 120:
                break
        return ": " + ", ".join(some) + ("" if len(some) == len(values) else ", ...")

    def line(self):
        kinds = {k: n for k, n in self.kinds.items() if k != "empty"}
        if "whole number" in kinds and "number" in kinds:
            kinds["number"] += kinds.pop("whole number")
        ordered = sorted(kinds, key=lambda k: -kinds[k])
        words = ordered[0] if ordered else "nothing"
        for kind in ordered[1:3]:
            such = " such as " + short(repr(self.first[kind]), 24) if kind in self.first else ""
            words += ", %d %s%s" % (kinds[kind], kind, such)
        more = "+" if len(self.values) >= DISTINCT else ""
        if self.values:
            words += ", %d%s distinct" % (len(self.values), more)
        if sum(self.kinds.values()) < self.of:
            words += ", in %d of %d" % (sum(self.kinds.values()), self.of)
        if "empty" in self.kinds:
            words += ", %d empty" % self.kinds["empty"]
        range_of = "number" if ordered[:1] == ["whole number"] else "".join(ordered[:1])
        if range_of in self.least:
            words += ", %s to %s" % (self.least[range_of][1], self.most[range_of][1])
        elif self.values:
            words += self.often()
        return "  %s: %s" % (short(self.name, 40), words)


def tell_columns(columns, rows, whole, count=None):
    print("%d columns%s:" % (count or len(columns), "" if whole else " (of the first %d rows)" % rows))
    for column in columns[:COLUMNS]:
        print(column.line())
    if len(columns) > COLUMNS:
        print("  and %d more: %s" % (len(columns) - COLUMNS, short(", ".join(c.name for c in columns[COLUMNS:]), 300)))


# --- text ---

def head_of(path):
    """The first lines, whole, and whether that is all there is."""
    with open(path, "rb") as f:
        data = f.read(HEAD + 1)
    whole = len(data) <= HEAD
    if not whole:
        data = data[:HEAD].rpartition(b"\n")[0] + b"\n"
    tell_encoding(data)
    return decode(data), whole


def encoding_of(data):
    """UTF-8, or what its bytes can be: none of 0x80 to 0x9f is a character of Latin-1."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for encoding in "utf-8-sig", "cp1252":
        try:
            text = data.decode(encoding)
            return encoding if encoding == "utf-8-sig" or re.search("[\u0100-\uffff]", text) else "latin-1"
        except UnicodeError:
            pass
    return "latin-1"


def decode(data):
    return data.decode(encoding_of(data), "replace")


def tell_encoding(data):
    encoding = encoding_of(data)
    if encoding == "utf-16":
        print("encoded as UTF-16")
    elif data[:3] == b"\xef\xbb\xbf":
        print("begins with a byte order mark")
    elif encoding != "utf-8-sig":
        print("not UTF-8: read here as %s, which is a guess" % ("Windows-1252 (cp1252)" if encoding == "cp1252" else "Latin-1"))


def last_lines(path, count=2):
    if part:
        return []
    with open(path, "rb") as f:
        size = f.seek(0, 2)
        f.seek(max(0, size - TAIL))
        lines = f.read(TAIL).splitlines()
    return [decode(line) for line in lines[-count:] if len(lines) > count]


def about_lines(path, text, whole):
    lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    if part:
        return "more than %d lines" % lines
    if whole:
        return "%d lines" % lines
    return "about %d lines" % (os.path.getsize(path) * lines / max(1, len(text)))


def tell_ends(path, text, count=3):
    print("it begins:")
    for line in text.split("\n", count)[:count]:
        print("  " + short(line.rstrip("\r"), 200))
    last = last_lines(path)
    if last:
        print("it ends:")
        for line in last:
            print("  " + short(line, 200))


def fields_of(text, separator):
    """How many fields most of the first lines have, and the share that has so many."""
    counts = [len(row) for row in csv.reader(text.splitlines()[:30], delimiter=separator) if row]
    usual = max(set(counts), key=counts.count, default=1)
    return usual, counts.count(usual) / max(1, len(counts))


def separator_of(text):
    """What parts most lines into the most fields: 1;2,50 has two."""
    found = [(fields_of(text, s), s) for s in ",;\t|"]
    good = [(usual, s) for (usual, share), s in found if usual > 1 and share >= 0.8]
    if good:
        return max(good, key=lambda one: one[0])[1]
    try:
        return csv.Sniffer().sniff(text[:8192], ",;\t|").delimiter
    except csv.Error:
        return ","


def lines_before(text, separator):
    """How many lines, such as a title, stand before the names of the columns."""
    usual, _ = fields_of(text, separator)
    found = [n for n, line in enumerate(text.split("\n", 10)[:10]) if len(next(csv.reader([line], delimiter=separator), [])) == usual]
    return found[0] if usual > 1 and found else 0


def table(path, separator):
    text, whole = head_of(path)
    csv.field_size_limit(1 << 24)
    separator = separator or separator_of(text)
    before = lines_before(text, separator)
    reader = csv.reader(io.StringIO(text.split("\n", before)[before], newline=""), delimiter=separator)
    names = next(reader, [])
    columns, rows, odd, blank, complete = [Column(n) for n in names], 0, 0, 0, whole
    for row in reader:
        rows += 1
        blank += not row
        odd += len(row) != len(columns) and len(row) > 0
        for column, value in zip(columns, row):
            column.add(value)
        if rows % 256 == 0 and time.monotonic() > until:
            complete = False
            break
    print("table, separated by %r, %s" % (separator, about_lines(path, text, whole)))
    if before:
        print("the names of the columns are in line %d" % (before + 1))
    tell_columns(columns, rows, complete)
    if blank:
        print("blank lines: %d" % blank)
    if odd:
        print("%d of these rows have another number of fields than the names" % odd)
    tell_ends(path, text, 3 + before)


def add_record(columns, record, above="", depth=0):
    """What is in its objects and lists has columns of its own: items[].price.amount."""
    for name, value in record.items():
        name = above + str(name)
        if name not in columns and len(columns) >= 4 * COLUMNS:
            continue
        columns.setdefault(name, Column(name)).add(value, True)
        if depth < 3 and isinstance(value, dict):
            add_record(columns, value, name + ".", depth + 1)
        for item in value[:NAMES] if depth < 3 and isinstance(value, list) else []:
            add_record(columns, item, name + "[].", depth + 1) if isinstance(item, dict) else \
                columns.setdefault(name + "[]", Column(name + "[]")).add(item, True)


def tell_records(records, rows, whole):
    columns = {}
    for n, record in enumerate(records):
        if n % 256 == 255 and time.monotonic() > until:
            rows, whole = n, False
            break
        add_record(columns, record)
    own = {name for record in records[:rows] for name in record}
    shown = sorted(columns.values(), key=lambda c: c.name.count(".")) if len(columns) > COLUMNS else list(columns.values())
    for column in shown:
        column.of = rows if column.name in own else 0
    tell_columns(shown, rows, whole, sum(name in own for name in columns))


def json_lines(path, text, whole):
    records, bad, complete = [], 0, whole
    for n, line in enumerate(text.split("\n")):
        if n % 256 == 0 and time.monotonic() > until:
            complete = False
            break
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError:
                bad += 1
    print("JSON lines, %s%s" % (about_lines(path, text, whole), ", %d of the first %d are no JSON" % (bad, n) if bad else ""))
    objects = [r for r in records if isinstance(r, dict)]
    if len(objects) < len(records):
        print("%d of %d are no objects" % (len(records) - len(objects), len(records)))
    if objects:
        tell_records(objects, len(objects), complete)
    tell_ends(path, text, 2)


def outline(value, depth=0):
    pad = "  " * (depth + 1)
    if isinstance(value, dict):
        for name, v in list(value.items())[:NAMES]:
            size = ", %d" % len(v) if isinstance(v, (list, dict)) else ": " + short(json.dumps(v), 60)
            print("%s%s: %s%s" % (pad, short(name, 40), kind_of(v), size))
            if depth < 2:
                outline(v, depth + 1)
        if len(value) > NAMES:
            print("%sand %d more" % (pad, len(value) - NAMES))
    elif isinstance(value, list) and value:
        objects = [v for v in value[:20000] if isinstance(v, dict)]
        if len(objects) == len(value[:20000]):
            tell_records(objects, len(objects), len(objects) == len(value))
            print("%sit begins:" % pad)
            for v in value[:2]:
                print("%s  %s" % (pad, short(json.dumps(v), 200)))
        else:
            print("%sof %s; the first: %s" % (pad, ", ".join(sorted({kind_of(v) for v in value[:1000]})), short(json.dumps(value[0]), 200)))


def json_document(path):
    text, whole = head_of(path)
    try:
        value = json.loads(text) if whole else None
    except ValueError:
        return json_lines(path, text, whole)
    if not whole:
        first = text.split("\n", 1)[0]
        try:
            json.loads(first)
            return json_lines(path, text, whole)
        except ValueError:
            print("JSON, of which only the beginning and the end were looked at")
            return tell_ends(path, text, 8)
    print("JSON: %s%s" % (kind_of(value), ", %d" % len(value) if isinstance(value, (list, dict)) else ""))
    outline(value)


def plain(path):
    text, whole = head_of(path)
    print("text, %s" % about_lines(path, text, whole))
    tell_ends(path, text, 10)


# --- Parquet: its footer, by the Thrift compact protocol ---

class Thrift:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def signed(self):
        n = self.varint()
        return n >> 1 ^ -(n & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            self.at += 8
            return None
        if kind == 8:
            length = self.varint()
            self.at += length
            return self.data[self.at - length:self.at]
        if kind in (9, 10):
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        if kind == 12:
            return self.struct()
        raise ValueError("Thrift type %d" % kind)

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if not head:
                return fields
            last = last + (head >> 4) if head >> 4 else self.signed()
            fields[last] = self.value(head & 15)


def parquet(path):
    types = ("boolean", "int32", "int64", "int96", "float", "double", "bytes", "fixed bytes")
    converted = {0: "text", 5: "decimal", 6: "date", 9: "timestamp", 10: "timestamp"}
    with open(path, "rb") as f:
        size = f.seek(0, 2)
        f.seek(size - 8)
        length, = struct.unpack("<I", f.read(4))
        f.seek(size - 8 - min(length, 16 << 20))
        meta = Thrift(f.read(length)).struct()
    print("Parquet, %d rows in %d groups" % (meta.get(3, 0), len(meta.get(4, []))))
    fields = meta.get(2, [])[1:]
    print("%d columns:" % len(fields))
    for e in fields[:COLUMNS]:
        kind = converted.get(e.get(6)) or (types[e[1]] if e.get(1) is not None else "group of %d" % e.get(5, 0))
        print("  %s: %s%s" % (short(e.get(4, b"").decode("utf-8", "replace"), 60), kind, ", may be empty" if e.get(3) == 1 else ""))
    try:
        import pyarrow.parquet as reader
        rows = next(reader.ParquetFile(path).iter_batches(RECORDS)).to_pylist()
        for row in rows[:ROWS]:
            print("  " + short(row, 200))
        tell_rows(list(rows[0]) if rows else [], (row.values() for row in rows), meta.get(3, 0))
    except ImportError:
        print("(no library that reads Parquet is installed)")


# --- databases, workbooks, archives ---

def tell_rows(names, rows, there):
    """Of a table whose values have types; there: so many rows it has, as far as is known."""
    columns, count = [Column(n) for n in names], 0
    for row in rows:
        for column, value in zip(columns, row):
            column.add(value, True)
        count += 1
        if count >= RECORDS or (count % 256 == 0 and time.monotonic() > until):
            break
    if count:
        tell_columns(columns, count, count >= there)


def sqlite(path):
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)
    print("SQLite database")
    tables = db.execute("select name, sql, type from sqlite_master where type in ('table', 'view')").fetchall()
    for name, sql, kind in tables[:NAMES]:
        if kind == "view":      # what it would compute, only its author knows
            print(" ".join(sql.split()))
            continue
        quoted = '"%s"' % name.replace('"', '""')
        rows = db.execute("select count(*) from (select 1 from %s limit 1000001)" % quoted).fetchone()[0]
        print("%s; -- %s rows" % (" ".join((sql or name).split()), rows if rows <= 1000000 else "over a million"))
        for row in db.execute("select * from %s limit 3" % quoted):
            print("  (%s)" % ", ".join("NULL" if v is None else short(v) for v in row))
        if rows > 3 and time.monotonic() < until:
            found = db.execute("select * from %s limit %d" % (quoted, RECORDS))
            tell_rows([c[0] for c in found.description], found, rows)
    if len(tables) > NAMES:
        print("and %d more: %s" % (len(tables) - NAMES, short(", ".join(t[0] for t in tables[NAMES:]), 300)))


def column_of(reference):
    n = 0
    for c in re.match("[A-Z]*", reference or "")[0]:
        n = n * 26 + ord(c) - 64
    return n


def cell(c, shared, ns):
    value = c.find(ns + "v")
    if c.get("t") == "inlineStr":
        return "".join(c.itertext())
    if value is None:
        return ""
    if c.get("t") != "s":
        return value.text
    return shared[int(value.text)] if int(value.text) < len(shared) else "(a text)"


def texts(z, names, ns):
    """The first of the texts that cells refer to: those of the first rows come first."""
    shared = []
    if "xl/sharedStrings.xml" in names:
        with z.open("xl/sharedStrings.xml") as f:
            for _, e in xml.iterparse(f):
                if e.tag == ns + "si":
                    shared.append("".join(e.itertext()))
                    e.clear()
                    if len(shared) >= 20000 or time.monotonic() > until:
                        break
    return shared


def sheet(z, name, shared, ns):
    rows, dimension, columns = [], "", {}
    count, complete = 0, True
    with z.open(name) as f:
        for _, e in xml.iterparse(f):
            if e.tag == ns + "dimension":
                dimension = e.get("ref") or ""
            if e.tag != ns + "row":
                continue
            count += 1
            cells = [(c.get("r"), cell(c, shared, ns)) for c in e.iter(ns + "c")]
            if len(rows) < ROWS:
                rows.append(cells)
            if count > 1:
                for r, v in cells:
                    columns.setdefault(column_of(r), Column(r)).add(v)
            e.clear()
            if count >= 20000 or time.monotonic() > until:
                complete = False
                break
    print("%s, %s%s:" % (name, "%d rows" % count if complete else "more than %d rows" % count, ", " + dimension if dimension else ""))
    for cells in rows:
        print("  " + ", ".join("%s=%s" % (r, short(v, 40)) for r, v in cells[:COLUMNS]))
    if count > ROWS and rows:
        for r, v in rows[0]:
            if column_of(r) in columns:
                columns[column_of(r)].name = v
        tell_columns([columns[n] for n in sorted(columns)], count, complete)


def xlsx(z, names):
    ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    sheets = [s.get("name") for s in xml.fromstring(z.read("xl/workbook.xml")).iter(ns + "sheet")]
    print("XLSX workbook (a ZIP of XML); sheets: %s" % ", ".join(map(short, sheets)))
    shared = texts(z, names, ns)
    found = sorted((n for n in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", n)),
                   key=lambda n: int(re.search(r"\d+", n.rpartition("/")[2])[0]))
    for name in found[:3]:
        sheet(z, name, shared, ns)


OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TABLE = OFFICE % "table"


def ods_row(row):
    """Its cells by their numbers, from 1. One may stand for many, and a row ends with thousands that are empty."""
    cells, n = {}, 1
    for c in row:
        times = int(c.get(TABLE + "number-columns-repeated") or 1)
        value = c.get(OFFICE % "office" + "value") or c.get(OFFICE % "office" + "date-value") or "\n".join("".join(p.itertext()) for p in c)
        for at in range(n, n + min(times, COLUMNS)) if value else ():
            cells[at] = value
        n += times
    return cells


def ods_sheet(name, rows, complete):
    print("sheet %s, %s%d rows:" % (short(name), "" if complete else "more than ", len(rows)))
    for row in rows[:ROWS]:
        print("  " + ", ".join("%d=%s" % (n, short(row[n], 40)) for n in sorted(row)[:COLUMNS]))
    columns = {n: Column(v) for n, v in rows[0].items()} if len(rows) > ROWS else {}
    for row in rows[1:]:
        for n in columns:
            columns[n].add(row.get(n, ""))
    if columns:
        tell_columns([columns[n] for n in sorted(columns)], len(rows), complete)


def ods(z):
    print("OpenDocument spreadsheet (a ZIP of XML)")
    rows, name, sheets = [], "", 0
    with z.open("content.xml") as f:
        for event, e in xml.iterparse(f, ("start", "end")):
            if event == "start" and e.tag == TABLE + "table":
                rows, name = [], e.get(TABLE + "name") or ""
            full = len(rows) >= RECORDS or time.monotonic() > until
            if event == "end" and e.tag == TABLE + "table-row" and not full:
                row = ods_row(e)
                rows += [row] if row else []
                e.clear()
            if rows and (full or (event == "end" and e.tag == TABLE + "table")):
                ods_sheet(name, rows, not full)
                rows, sheets = [], sheets + 1
                if full or sheets == 3:
                    return


def old_office(path):
    """BIFF, or another of its time: nothing that Python brings reads it."""
    print("a file of old Microsoft Office (OLE2), by its name %s" % (os.path.splitext(path)[1] or "nothing"))
    try:
        import xlrd
        book = xlrd.open_workbook(path, on_demand=True)
    except ImportError:
        return print("(xlrd, which reads .xls, is not installed)")
    for name in book.sheet_names()[:3]:
        page = book.sheet_by_name(name)
        print("sheet %s, %d rows, %d columns" % (short(name), page.nrows, page.ncols))
        for n in range(min(ROWS, page.nrows)):
            print("  " + ", ".join(short(v, 40) for v in page.row_values(n)[:COLUMNS]))
        if page.nrows > ROWS:
            tell_rows(page.row_values(0), (page.row_values(n) for n in range(1, page.nrows)), page.nrows - 1)


def archive_names(kind, names):
    print("%s with %d members: %s%s" % (kind, len(names), ", ".join(map(short, names[:NAMES])),
                                        ", ..." if len(names) > NAMES else ""))


def zipped(path):
    with zipfile.ZipFile(path) as z:
        names = z.namelist()
        if "xl/workbook.xml" in names:
            xlsx(z, names)
        elif "content.xml" in names and "mimetype" in names and b"spreadsheet" in z.open("mimetype").read(100):
            ods(z)
        else:
            archive_names("ZIP", ["%s (%d bytes)" % (i.filename, i.file_size) for i in z.infolist()])


def packed_table(kind, head, stream, ending):
    """As a file of its own, as far as it is read."""
    global part
    data = head + stream.read(HEAD - len(head))
    part = len(data) == HEAD and bool(stream.read(1))
    print("%s, unpacked%s:" % (kind, " as far as its first %d MiB" % (HEAD >> 20) if part else ""))
    inner = "/tmp/unpacked" + ending
    with open(inner, "wb") as f:
        f.write(data.rpartition(b"\n")[0] + b"\n" if part else data)
    json_lines(inner, *head_of(inner)) if ending in LINES else BY_ENDING[ending](inner)


def packed(kind, stream, path):
    head = stream.read(4096)
    ending = os.path.splitext(os.path.splitext(path)[0])[1].lower()
    if is_text(head) and (ending in LINES or ending in BY_ENDING):
        return packed_table(kind, head, stream, ending)
    if head[257:262] == b"ustar":
        rest = io.BytesIO(head + stream.read(64 << 20))
        return archive_names(kind + " of a TAR", tarfile.open(fileobj=rest).getnames())
    print("%s; unpacked it begins:" % kind)
    for line in head.decode("utf-8", "replace").splitlines()[:ROWS]:
        print("  " + short(line, 200))


# --- a folder ---

def name_of(path):
    """In one line, and told from what it would be without its odd characters."""
    return path if path.isprintable() else ascii(path)


def tree(path):
    files, folders, size, endings, shown, away, dead = 0, 0, 0, {}, [], [], []
    complete = True
    for folder, below, names in os.walk(path):
        below.sort()
        folders += len(below)
        if time.monotonic() > until:
            complete = False
            break
        for name in sorted(names) + [b for b in below if os.path.islink(os.path.join(folder, b))]:
            full = os.path.join(folder, name)
            at = os.path.relpath(full, path)
            st = os.lstat(full)
            if stat.S_ISLNK(st.st_mode):
                if not os.path.realpath(full).startswith(path + "/"):
                    away.append(at)
                continue
            if not stat.S_ISREG(st.st_mode):
                dead.append(at)
                continue
            files += 1
            size += st.st_size
            ending = os.path.splitext(name)[1].lower() or "(none)"
            endings[ending] = endings.get(ending, 0) + 1
            if len(shown) < 40:
                shown.append((at, st.st_size))
    print("a folder: %s%d files, %d folders, %d bytes" % ("" if complete else "more than ", files, folders, size))
    print("by ending: " + ", ".join("%s %d" % (e, endings[e]) for e in sorted(endings, key=lambda e: -endings[e])[:NAMES]))
    for at, bytes_of in shown:
        print("  %s (%d bytes)" % (short(name_of(at), 120), bytes_of))
    if files > len(shown):
        print("  and %d more" % (files - len(shown)))
    for what, names in ("links that lead out of it, and so nowhere", away), ("sockets, pipes and devices, which nobody is behind", dead):
        if names:
            print("%s: %s%s" % (what, short(", ".join(names[:5]), 300), "" if len(names) <= 5 else ", and %d more" % (len(names) - 5)))
    for at, _ in [s for s in shown if s[0].lower().endswith((".csv", ".tsv", ".jsonl"))][:5]:
        with open(os.path.join(path, at), "rb") as f:
            print("%s begins: %s" % (short(at, 80), short(decode(f.read(4096)).split("\n", 1)[0], 200)))


# --- which ---

BY_ENDING = {".csv": lambda p: table(p, None), ".tsv": lambda p: table(p, "\t"), ".tab": lambda p: table(p, "\t"),
             ".json": json_document, ".geojson": json_document}
LINES = (".jsonl", ".ndjson")


def is_text(head):
    return b"\0" not in head or head[:2] in (b"\xff\xfe", b"\xfe\xff")


def main(path):
    if os.path.isdir(path):
        return tree(path)
    with open(path, "rb") as f:
        head = f.read(4096)
    ending = os.path.splitext(path)[1].lower()
    if head.startswith(b"SQLite format 3\0"):
        sqlite(path)
    elif head.startswith(b"PK\3\4"):
        zipped(path)
    elif head.startswith(b"PAR1"):
        parquet(path)
    elif head.startswith(b"\x1f\x8b"):
        packed("gzip", gzip.open(path), path)
    elif head.startswith(b"BZh"):
        packed("bzip2", bz2.open(path), path)
    elif head.startswith(b"\xfd7zXZ"):
        packed("xz", lzma.open(path), path)
    elif head[257:262] == b"ustar":
        archive_names("TAR", tarfile.open(path).getnames())
    elif head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        old_office(path)
    elif head.startswith(b"\x89PNG"):
        print("PNG image, %d x %d pixels" % struct.unpack(">II", head[16:24]))
    elif head.startswith(b"%PDF"):
        print("PDF document")
    elif is_text(head) and ending in LINES:
        json_lines(path, *head_of(path))
    elif is_text(head) and ending in BY_ENDING:
        BY_ENDING[ending](path)
    elif is_text(head):
        plain(path)
    else:
        print("unknown; it begins %s" % short(head[:32], 200))


sys.stdout.reconfigure(line_buffering=True, errors="replace")
try:
    main("/in/" + sys.argv[1])
except Exception as error:
    print("it cannot be read to its end: %s: %s" % (type(error).__name__, error))
