# The cells of a context in one namespace: the earlier ones again, for nobody to see, then the
# new one with the streams of the run. At its end a report (a file of the run's own) says what
# is there now and what the cells before it printed; it is the guest's word, and nothing is
# decided by it but whether there is a state. After figures.py.
import _ast
import io
import os
import sys


class _Context:
    CELLS = "assay_cells"
    HOLD = "/proc/self/assay-hold"  # sandbox/sandbox.h: the call returns in copies only
    NAMES, TEXT, HTML = 60, 240, 1 << 18
    AWAITS, IS_COROUTINE = 0x2000, 0x80  # PyCF_ALLOW_TOP_LEVEL_AWAIT, CO_COROUTINE

    def __init__(self, work, report, solution):
        self.work, self.report = work, report
        fds = "/proc/self/fd/"
        _Context.given = [fd for fd in os.listdir(fds) if os.path.lexists(fds + fd)]
        folder = work + "/" + self.CELLS
        numbers = []
        if os.path.isdir(folder):
            numbers = sorted(int(n) for n in os.listdir(folder) if n.isdigit())
        self.cells = [(self.take(f"{folder}/{n}"), self.take(f"{folder}/{n}.in")) for n in numbers]
        self.last = self.take(f"{work}/{solution}")
        self.calls = self.can_call()
        if numbers:
            os.rmdir(folder)
        os.unlink(__file__)
        self.printed, self.html, self.texts, self.tables = [], [], {}, {}
        self.passing, self.lasting = set(), set()
        module = type(sys)("__main__")
        self.space = module.__dict__
        self.path = f"{work}/{solution}"
        self.space.update(__file__=self.path, __builtins__=__builtins__, display=self.display)
        sys.modules["__main__"] = module
        sys.argv[0] = self.path
        # What cells wrote is a module where no other has its name; what was given comes first.
        sys.path[:] = ["/in", *sys.path[1:], work]

    def can_call(self):
        """Whether somebody answers calls of tools (agent/call_cells.h)."""
        try:
            return os.path.exists(self.work + "/assay.py") and os.fstat(4).st_mode >> 12 == 1
        except OSError:
            return False

    def begin_turn(self, number, write=os.write):
        if self.calls:
            turn = b'{"cell":%d}' % number
            try:
                write(4, len(turn).to_bytes(4, "big") + turn)
            except OSError:
                pass  # nothing more is answered

    @staticmethod
    def take(path):
        try:
            with open(path, "rb") as f:
                data = f.read()
            os.unlink(path)
            return data
        except FileNotFoundError:
            return None

    # --- one cell ---

    def run(self, number, code):
        name = f"cell {number}"
        self.texts[name] = code
        # The syntax tree only, in which what is outside of functions may await, as in notebooks.
        tree = compile(code, name, "exec", 0x400 | self.AWAITS, dont_inherit=True)
        for node in tree.body:
            self.note_loops(node, ())
        last = tree.body[-1] if tree.body else None
        if type(last) is _ast.Expr and not code.rstrip().endswith(b";"):
            tree.body.pop()
        else:
            last = None
        parts = [compile(tree, name, "exec", self.AWAITS, dont_inherit=True)]
        if last is not None:
            parts.append(compile(_ast.Expression(last.value), name, "eval", self.AWAITS, dont_inherit=True))
        value = self.value_of(parts)
        if last is not None and not self.is_noise(last.value, value):
            self.display(value)
        self.show_figures()

    def value_of(self, parts):
        """Of the last of them; where one awaits, all run in one loop, which ends with the cell."""
        if not any(part.co_flags & self.IS_COROUTINE for part in parts):
            return [eval(part, self.space) for part in parts][-1]

        async def run():
            for part in parts:
                value = eval(part, self.space)
                if part.co_flags & self.IS_COROUTINE:
                    value = await value
            return value

        import asyncio
        return asyncio.run(run())

    def run_to_end(self, number, code):
        """What ended it, when that was no good end."""
        try:
            self.run(number, code)
        except SystemExit as e:
            return e if e.code not in (None, 0) else None
        except BaseException as e:
            return e

    def run_again(self, number, code, stdin):
        """Its end and the digest of what it printed, which goes nowhere else."""
        held = [os.dup(n) for n in (0, 1, 2)]
        files = [self.scratch(stdin or b""), self.scratch(b""), self.scratch(b"")]
        for n, file in enumerate(files):
            os.dup2(file, n)
        self.open_input()
        end = self.run_to_end(number, code)
        self.flush()
        for n, kept in enumerate(held):
            os.dup2(kept, n)
            os.close(kept)
        size = os.lseek(files[1], 0, 2)
        printed = os.pread(files[1], size, 0)
        for file in files:
            os.close(file)
        try:
            from _sha256 import sha256  # where there is one, it is loaded at once
        except ImportError:
            from hashlib import sha256
        self.printed.append(sha256(printed).hexdigest())
        return end

    @staticmethod
    def scratch(data):
        path = f"/tmp/.assay-{os.getpid()}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(path)
        os.write(file, data)
        os.lseek(file, 0, 0)
        return file

    @staticmethod
    def open_input():
        sys.stdin = sys.__stdin__ = open(0, closefd=False)

    @staticmethod
    def flush():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except Exception:
                pass

    # --- what is shown of a value ---

    @staticmethod
    def is_noise(node, value):
        """What a call gives beside what it was made for: the parts of a plot, bytes written."""
        if type(node) is not _ast.Call:
            return False
        called = node.func
        if type(called) is _ast.Attribute and called.attr in ("write", "writelines"):
            return True
        first = value[0] if type(value) in (list, tuple) and value else value
        return (type(first).__module__.startswith("matplotlib.")
                and not hasattr(first, "savefig"))

    def display(self, *values, **options):
        for value in values:
            if value is not None:
                self.show(value)

    def show(self, value):
        kind = type(value)
        if kind.__module__.startswith("matplotlib.") and hasattr(value, "savefig"):
            value.show()
            return
        if kind.__module__.startswith("PIL.") and hasattr(value, "save"):
            number = 1
            while os.path.exists(f"/out/image-{number}.png"):
                number += 1
            value.save(f"/out/image-{number}.png")
            return
        print(value if kind is str else repr(value))
        make = getattr(kind, "_repr_html_", None)
        if make is None or sum(map(len, self.html)) > self.HTML:
            return
        try:
            html = make(value)
        except Exception:
            return
        if type(html) is str and len(html) <= self.HTML:
            self.html.append(html)

    @staticmethod
    def show_figures():
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and pyplot.get_fignums():
            pyplot.show()
            pyplot.close("all")

    # --- errors ---

    def tell(self, end):
        import linecache
        import traceback
        for name, code in self.texts.items():
            text = code.decode("utf-8", "replace")
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        if isinstance(end, SystemExit):
            if not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
            return
        where = end.__traceback__
        while where is not None and where.tb_frame.f_code.co_filename not in self.texts:
            where = where.tb_next
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(end), end, where)
        else:
            traceback.print_exception(type(end), end, where)

    @staticmethod
    def status(end):
        if not isinstance(end, SystemExit):
            return 1
        return end.code if isinstance(end.code, int) else 1

    # --- what is there ---

    def note_loops(self, node, loops):
        """Names that are set by loops alone, and used in those alone, are of no use after them."""
        kind = type(node)
        if kind is _ast.Name:
            if node.id in loops:
                self.passing.add(node.id)
            else:
                self.lasting.add(node.id)
        if kind in (_ast.For, _ast.AsyncFor):
            found, todo = set(loops), [node.target]
            while todo:
                target = todo.pop()
                todo += getattr(target, "elts", ())
                if type(target) is _ast.Name:
                    found.add(target.id)
            for part in (node.iter, *node.orelse):
                self.note_loops(part, loops)
            for part in (node.target, *node.body):
                self.note_loops(part, found)
            return
        for field in node._fields:
            part = getattr(node, field, None)
            for inner in part if type(part) is list else (part,):
                if isinstance(inner, _ast.AST):
                    self.note_loops(inner, loops)

    def cut(self, text):
        return text if len(text) <= self.TEXT else text[:self.TEXT] + "..."

    def plain(self, value, deep=2):
        """A value of a built-in type in words; nothing that is the program's own is called."""
        kind = self.kind(value)
        if kind in (int, float, complex, bool, type(None)):
            return self.cut(repr(value)) if kind is not int or value.bit_length() < 999 else "int"
        if kind in (str, bytes):
            return repr(value[:60]) + ("..." if len(value) > 60 else "")
        if kind not in self.CONTAINERS:
            return type(value).__name__
        if not deep:
            return f"{kind.__name__} of {kind.__len__(value)}"
        some, most = [], 3 if deep == 2 else 12
        for item in kind.items(value) if kind is dict else kind.__iter__(value):
            if len(some) == most:
                some.append("...")
                break
            if kind is dict:
                some.append(f"{self.plain(item[0], 0)}: {self.plain(item[1], deep - 1)}")
            else:
                some.append(self.plain(item, 0 if some else deep - 1))
        text = ", ".join(some)
        opens, closes = "[]" if kind is list else "()" if kind is tuple else "{}"
        return text if deep == 2 else opens + text + closes

    CONTAINERS = (list, tuple, set, frozenset, dict)

    @classmethod
    def kind(cls, value):
        """Its type; of those of collections the built-in one that they are made of."""
        kind = type(value)
        if kind.__module__ != "collections":
            return kind
        return next((base for base in kind.__mro__ if base in cls.CONTAINERS), kind)

    def describe(self, value, name, tables):
        """tables: by the columns that were told, whose they are."""
        kind = type(value)
        library = kind.__module__.partition(".")[0]
        if library in ("pandas", "polars") and hasattr(value, "dtypes") and hasattr(value, "head"):
            return self.describe_table(value, name, tables)
        if library == "numpy" and hasattr(value, "shape"):
            return self.describe_array(value)
        if kind.__name__ == "function" and hasattr(value, "__code__"):
            code = value.__code__
            return "function (" + ", ".join(code.co_varnames[:code.co_argcount]) + ")"
        if isinstance(value, type):
            return "class"
        if kind in (str, bytes):
            return f"{kind.__name__} of {len(value)}: {self.plain(value)}"
        made = self.kind(value)
        if made in self.CONTAINERS:
            return self.cut(f"{kind.__name__} of {made.__len__(value)}: {self.plain(value)}")
        if value is None:
            return "None"
        if kind in (int, float, complex, bool):
            return f"{kind.__name__} {self.plain(value)}"
        return f"{kind.__module__}.{kind.__name__}"

    def describe_array(self, value):
        """Its first values, where they are numbers; a number of numpy by its value."""
        kind = value.dtype.kind
        if not value.shape and kind in "biufcmM":
            return self.cut(f"{value.dtype} {value}")
        text = f"array of {value.dtype}, shape {value.shape}"
        if len(value.shape) != 1 or kind not in "biufc":
            return text
        some = [self.plain(v) for v in value[:3].tolist()]
        return text + ": " + ", ".join(some + ["..."] * (value.size > 3)) if some else text

    def describe_table(self, value, name, tables):
        """To print rows takes longer than most cells: those that were printed are known."""
        if getattr(value, "columns", None) is None:
            return self.describe_series(value)
        columns = list(value.columns)
        told = ", ".join(f"{str(c)[:40]} ({k})"
                         for c, k in list(zip(columns, list(value.dtypes)))[:30])
        first = tables.setdefault(told, name)
        text = f"{type(value).__name__} of {len(value)} rows, {len(columns)} columns"
        text += f": {told}" if first == name else f", those of {first}"
        rows = value.head(3 if first == name else 1)
        if not hasattr(rows, "values") or not hasattr(rows, "index"):  # of polars
            return text + "\n" + str(rows)[:600]
        mark = text, repr(list(rows.index)), repr(rows.values.tolist())
        if self.tables.get(id(value), (None,))[0] != mark:
            self.tables[id(value)] = mark, text + "\n" + self.rows_of(rows, len(columns))
        return self.tables[id(value)][1]

    @staticmethod
    def rows_of(rows, columns):
        """All columns where there is room: what "..." stands for has no names to be known by."""
        text = rows.to_string() if columns <= 30 and hasattr(rows, "to_string") else ""
        return text if 0 < len(text) <= 600 else str(rows)[:600]

    def describe_series(self, value):
        """How it is labelled, and the first values: "Series of 12, float64, by month"."""
        text = f"{type(value).__name__} of {len(value)}, {value.dtypes}"
        first = value.head(3)
        index = getattr(first, "index", None)
        if not hasattr(index, "tolist"):  # of polars
            return text
        if index.name is not None:
            text += f", by {str(index.name)[:40]}"
        some = [f"{self.item(label)}: {self.item(v)}"
                for label, v in zip(index.tolist(), first.tolist())]
        return self.cut(text + ": " + ", ".join(some + ["..."] * (len(value) > 3)))

    def item(self, value):
        """As plain; and times, whose words are the library's own."""
        known = type(value).__module__.partition(".")[0] in ("pandas", "datetime", "decimal")
        return str(value)[:60] if known else self.plain(value, 0)

    def names(self):
        found, modules, tables = [], [], {}
        for name, value in list(self.space.items()):
            if type(name) is not str or name.startswith("_") or value is self.display_given:
                continue
            if name in self.passing and name not in self.lasting:
                continue
            if type(value) is type(sys):
                modules.append(name)
                continue
            try:
                found.append([name[:80], self.describe(value, name[:80], tables)])
            except Exception:
                found.append([name[:80], type(value).__name__])
        if modules:
            found.append(["modules", ", ".join(modules[:40])])
        try:
            folder = os.getcwd()
        except OSError:
            folder = "(removed)"
        if folder != self.work:
            found.append(["working folder", folder])
        return found

    def files(self):
        """Those of the work folder, and those that will be there: of /out; no caches of libraries."""
        found = {}
        for top in (self.work, "/out"):
            for folder, folders, names in os.walk(top):
                folders[:] = sorted(f for f in folders if f[0] != ".")
                for name in sorted(n for n in names if n[0] != "."):
                    path = folder + "/" + name
                    if len(found) < self.NAMES and not os.path.islink(path):
                        found[self.work + path[len(top):]] = os.lstat(path).st_size
        return list(found.items())

    @staticmethod
    def written():
        """Of the files that the run left, those of this cell for sure."""
        return [folder[5:] + "/" * (folder != "/out") + name
                for folder, _, names in os.walk("/out") for name in names][:200]

    given = ()  # descriptors that were there before any cell

    @classmethod
    def left(cls):
        """What runs on or is open, which a copy would not have."""
        found = []
        threading = sys.modules.get("threading")
        if threading is not None:
            found += [f"thread {t.name}" for t in threading.enumerate()
                      if t is not threading.main_thread()]
        try:
            for fd in os.listdir("/proc/self/fd"):
                kind = os.readlink(f"/proc/self/fd/{fd}").partition(":")[0]
                if int(fd) > 2 and fd not in cls.given and kind in ("socket", "pipe"):
                    found.append(kind)
        except OSError:
            pass
        return found[:20]

    # --- all of them ---

    def clear_out(self):
        """Files of an earlier cell stay, in the work folder."""
        names = os.listdir("/out")
        if not names:
            return
        import shutil
        if self.is_open_in_out():
            self.flush_files()
        for name in names:
            self.put("/out/" + name, self.work + "/" + name, shutil)

    @staticmethod
    def is_open_in_out():
        try:
            fds = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
            return any(os.readlink(fd).startswith("/out/") for fd in fds if os.path.lexists(fd))
        except OSError:
            return True

    @staticmethod
    def flush_files():
        """To find them touches, and so copies, all that is in memory."""
        import gc
        for file in gc.get_objects():
            if isinstance(file, io.IOBase) and not file.closed:
                try:
                    file.flush()
                except Exception:
                    pass

    @classmethod
    def put(cls, path, to, shutil):
        """A folder goes into one of its name; all else takes the place of what is there."""
        if cls.is_folder(path) and cls.is_folder(to):
            for name in os.listdir(path):
                cls.put(path + "/" + name, to + "/" + name, shutil)
            os.rmdir(path)
            return
        if cls.is_folder(to):
            shutil.rmtree(to)
        elif os.path.lexists(to):
            os.unlink(to)
        shutil.move(path, to)

    @staticmethod
    def is_folder(path):
        return os.path.isdir(path) and not os.path.islink(path)

    @classmethod
    def json(cls, value):
        """As json would have it, which is the cells' to replace, and is not loaded for this."""
        if type(value) is dict:
            return "{" + ",".join(f"{cls.json(k)}:{cls.json(v)}" for k, v in value.items()) + "}"
        if type(value) in (list, tuple):
            return "[" + ",".join(map(cls.json, value)) + "]"
        if type(value) is bool:
            return "true" if value else "false"
        if type(value) is int:
            return str(value)
        return '"' + "".join(c if " " <= c <= "~" and c not in '"\\\\' else
                             "".join(f"\\u{n:04x}" for n in cls.units(c)) for c in value) + '"'

    @staticmethod
    def units(character):
        data = character.encode("utf-16-be", "replace")
        return [int.from_bytes(data[n:n + 2], "big") for n in range(0, len(data), 2)]

    def write(self, **said):
        file = os.open(self.report, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, self.json({"printed": self.printed, **said}).encode())
        os.close(file)

    def main(self):
        self.display_given = self.space["display"]
        for number, (code, stdin) in enumerate(self.cells, 1):
            self.begin_turn(number)
            end = self.run_again(number, code, stdin)
            if end is not None:
                self.tell(end)
                self.write(broken=number)
                sys.exit(1)
            self.clear_out()
        self.begin_turn(0)
        self.run_last(len(self.cells) + 1, self.last)
        self.cells = self.last = None
        while self.go_on():
            pass

    def run_last(self, number, code):
        self.open_input()
        self.number = number
        end = self.run_to_end(number, code)
        if end is not None:
            self.flush()
            self.tell(end)
            sys.exit(self.status(end))
        self.flush()
        names = self.names()
        self.write(kept=True, names=names[-self.NAMES:], more=max(0, len(names) - self.NAMES),
                   files=self.files(), out=self.written(), left=self.left(), html=self.html)

    def go_on(self, open=os.open, read=os.read, close=os.close, unlink=os.unlink, error=OSError):
        """Holds what there is now; what goes on is a copy, with a cell of its own."""
        try:
            file = open(self.HOLD, os.O_RDONLY)
        except error:
            return False
        data = b""
        while part := read(file, 1 << 20):
            data += part
        close(file)
        if not data:  # it cannot be held
            return False
        try:
            unlink(self.report)
        except error:
            pass
        report, _, code = data.partition(b"\n")
        self.report = report.decode()
        self.printed, self.html = [], []
        self.clear_out()
        self.run_last(self.number + 1, code)
        return True


_Context(sys.path[0], "@REPORT@", "@SOLUTION@").main()
