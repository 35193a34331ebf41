# Describes one input file that is no plain text, for the prompts. Runs in the
# sandbox, as the file is as hostile as any: /in/ + argv[1]. What it prints
# is cut, so the most telling comes first.
import bz2, gzip, io, lzma, re, sqlite3, struct, sys, tarfile, zipfile
import xml.etree.ElementTree as xml

ROWS, NAMES = 5, 20


def short(value, limit=80):
    text = repr(value) if isinstance(value, bytes) else str(value)
    return text if len(text) <= limit else text[:limit] + "..."


def sqlite(path):
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)
    print("SQLite database")
    tables = db.execute("select name, sql, type from sqlite_master where type in ('table', 'view')").fetchall()
    for name, sql, kind in tables[:NAMES]:
        if kind == "view":      # what it would compute, only its author knows
            print(" ".join(sql.split()))
            continue
        quoted = '"%s"' % name.replace('"', '""')
        print("%s; -- %d rows" % (" ".join((sql or name).split()),
                                  db.execute("select count(*) from %s" % quoted).fetchone()[0]))
        for row in db.execute("select * from %s limit 3" % quoted):
            print("  (%s)" % ", ".join("NULL" if v is None else short(v) for v in row))


def cell(c, shared, ns):
    value = c.find(ns + "v")
    if c.get("t") == "inlineStr":
        return "".join(c.itertext())
    if value is None:
        return ""
    return shared[int(value.text)] if c.get("t") == "s" else value.text


def xlsx(z, names):
    ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    shared = []
    if "xl/sharedStrings.xml" in names:
        shared = ["".join(si.itertext()) for si in xml.fromstring(z.read("xl/sharedStrings.xml")).iter(ns + "si")]
    sheets = [s.get("name") for s in xml.fromstring(z.read("xl/workbook.xml")).iter(ns + "sheet")]
    print("XLSX workbook (a ZIP of XML); sheets: %s" % ", ".join(map(short, sheets)))
    for name in sorted(n for n in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", n))[:3]:
        rows = list(xml.fromstring(z.read(name)).iter(ns + "row"))
        print("%s, %d rows:" % (name, len(rows)))
        for row in rows[:ROWS]:
            print("  " + ", ".join("%s=%s" % (c.get("r"), short(cell(c, shared, ns))) for c in row.iter(ns + "c")))


def archive_names(kind, names):
    print("%s with %d members: %s%s" % (kind, len(names), ", ".join(map(short, names[:NAMES])),
                                        ", ..." if len(names) > NAMES else ""))


def zipped(path):
    with zipfile.ZipFile(path) as z:
        names = z.namelist()
        if "xl/workbook.xml" in names:
            xlsx(z, names)
        else:
            archive_names("ZIP", ["%s (%d bytes)" % (i.filename, i.file_size) for i in z.infolist()])


def packed(kind, stream):
    head = stream.read(4096)
    if head[257:262] == b"ustar":
        rest = io.BytesIO(head + stream.read(64 << 20))
        return archive_names(kind + " of a TAR", tarfile.open(fileobj=rest).getnames())
    print("%s; unpacked it begins:" % kind)
    for line in head.decode("utf-8", "replace").splitlines()[:ROWS]:
        print("  " + short(line, 200))


def main(path):
    head = open(path, "rb").read(512)
    if head.startswith(b"SQLite format 3\0"):
        sqlite(path)
    elif head.startswith(b"PK\3\4"):
        zipped(path)
    elif head.startswith(b"\x1f\x8b"):
        packed("gzip", gzip.open(path))
    elif head.startswith(b"BZh"):
        packed("bzip2", bz2.open(path))
    elif head.startswith(b"\xfd7zXZ"):
        packed("xz", lzma.open(path))
    elif head[257:262] == b"ustar":
        archive_names("TAR", tarfile.open(path).getnames())
    elif head.startswith(b"\x89PNG"):
        print("PNG image, %d x %d pixels" % struct.unpack(">II", head[16:24]))
    elif head.startswith(b"%PDF"):
        print("PDF document")
    else:
        print("unknown; it begins %s" % short(head[:32], 200))


sys.stdout.reconfigure(line_buffering=True, errors="replace")
try:
    main("/in/" + sys.argv[1])
except Exception as error:
    print("it cannot be read to its end: %s: %s" % (type(error).__name__, error))
