# The first cell of a sandbox's context (agent/doors/e2b/code.c): what clients of notebooks expect
# of the cells after it. Values and figures are shown as results with their forms, not printed; files
# of the sandbox come and go between two cells; errors are told as notebooks tell them. All of it
# is on the program's side: what it says is a guest's word, and decides nothing.
def _begin():
    import os
    import sys

    harness = display.__self__
    space, plain_run, plain_tell = harness.space, harness.run, harness.tell
    HOME, IN, OUT, REPORT = "/home/user", "/in/.e2b/", "/out/", ".e2b.json"
    published, have, stamps, timed = [], {}, {}, []
    environment, number, charts, results, told = {}, 1, {}, 0, []
    screened, unusual = IS_SCREENED, tuple(UNUSUAL_NAMES)
    seen, handed = set(), set()  # lines of a shell that were screened: for good, and for this cell
    # Cells have their names where these are: what a check of them rests on may be no name of theirs.
    kind_of, plain_text, plain_dict, plain_open = type, str, dict, open

    # --- files ---

    def read(path):
        with open(path, "rb") as f:
            return f.read()

    def write(path, data, mode):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.isdir(path) and not os.path.islink(path):
            remove(path)
        with open(path, "wb") as f:
            f.write(data)
        os.chmod(path, mode)

    def remove(path):
        if os.path.isdir(path) and not os.path.islink(path):
            for name in os.listdir(path):
                remove(path + "/" + name)
            os.rmdir(path)
        elif os.path.lexists(path):
            os.unlink(path)

    def walk():
        """Kind, mode, path and what tells whether it changed, of all below the home."""
        for folder, folders, names in os.walk(HOME):
            for name in folders + names:
                path = folder + "/" + name
                s = os.lstat(path)
                kind = {0o040000: "d", 0o100000: "f", 0o120000: "l"}.get(s.st_mode & 0o170000)
                if kind is None:  # a pipe: no file of the sandbox; of links, those to its large ones are
                    continue
                yield kind, os.readlink(path) if kind == "l" else f"{s.st_mode & 0o777:o}", path[len(HOME) + 1:], (s.st_mtime_ns, s.st_size, s.st_ino)

    def sync(manifest):
        """What others did since the cell before."""
        for name in [n for n in have if n not in manifest["files"]]:
            remove(HOME + "/" + name)
            del have[name]
        for name in manifest["folders"]:
            os.makedirs(HOME + "/" + name, exist_ok=True)
        for kind, _, name, _ in list(walk()):
            if kind == "d" and name not in manifest["folders"]:
                remove(HOME + "/" + name)
        for name, (version, mode, *shown) in manifest["files"].items():
            if have.get(name) != version and os.path.exists(IN + str(version)):
                if shown:
                    remove(HOME + "/" + name)
                    os.makedirs(os.path.dirname(HOME + "/" + name), exist_ok=True)
                    os.symlink(IN + str(version), HOME + "/" + name)
                else:
                    write(HOME + "/" + name, read(IN + str(version)), mode)
                have[name] = version
        stamps.clear()
        told.clear()
        for kind, mode, name, stamp in walk():
            told.append(f"{kind} {mode} {name}\0")
            if kind == "f":
                stamps[name] = stamp

    def publish():
        """What is there, where that is not what the sandbox knows."""
        listing, changed = [], False
        for kind, mode, name, stamp in walk():
            if kind == "l" and not mode.startswith(IN):
                continue
            listing.append(f"{kind} {mode} {name}\0")
            if kind == "f" and stamps.get(name) != stamp:
                write(OUT + name, read(HOME + "/" + name), 0o644)
                have[name], stamps[name], changed = f"own {number}", stamp, True
                published.append(name)
        if listing == told and not changed:
            return
        told[:] = listing
        there = {entry[:-1].split(" ", 2)[2] for entry in listing}
        for name in [n for n in have if n not in there]:
            del have[name]
            stamps.pop(name, None)
        leave(".e2b-list", "".join([*listing, ".\0"]).encode("utf-8", "surrogateescape"))

    def leave(name, data):
        write(OUT + name, data, 0o644)
        published.append(name)

    # --- a cell ---

    def use(variables):
        """Until others are given."""
        for name, value in environment.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
        environment.clear()
        for name, value in variables.items():
            environment[name] = os.environ.get(name)
            os.environ[name] = value

    def stamp_again():
        """A copied state has the files of before under other numbers, one that is made again has not."""
        for kind, _, name, stamp in walk():
            if name in stamps:
                stamps[name] = stamp

    def start():
        nonlocal results
        stamp_again()
        for name in published:
            remove(harness.work + "/" + name)
            folder = os.path.dirname(name)
            while folder:
                try:
                    os.rmdir(harness.work + "/" + folder)
                except OSError:
                    break
                folder = os.path.dirname(folder)
        published.clear()
        results = 0
        timed.clear()
        see()
        if os.path.exists(f"{IN}m{number}"):
            import json
            manifest = json.loads(read(f"{IN}m{number}"))
            if "files" in manifest:
                sync(manifest)
            if "env" in manifest:
                use(manifest["env"])
            if "cwd" in manifest:
                os.makedirs(manifest["cwd"], exist_ok=True)
                os.chdir(manifest["cwd"])

    def sayable(value):
        """As JSON has it, which knows no NaN."""
        if isinstance(value, dict):
            return {str(k): sayable(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [sayable(v) for v in value]
        if hasattr(value, "dtype") and hasattr(value, "item"):
            value = value.item() if getattr(value, "ndim", 0) == 0 else str(value)
        if isinstance(value, float):
            return float(value) if value - value == 0 else None
        if isinstance(value, int) and abs(value) > 1 << 53:  # no number to most who read it
            return float(value) if abs(value) < 1 << 1023 else str(value)
        return value if isinstance(value, (str, int, type(None))) else str(value)

    def tell_result(result):
        """At once: what ends the cell does not take along what was shown before."""
        nonlocal results
        import json
        say((", " if results else '{"results": [') + json.dumps(sayable(result)))
        results += 1

    def report(error):
        import json
        say(("" if results else '{"results": [') + "], " + f'"error": {json.dumps(error)}}}')

    def say(text):
        with open(OUT + REPORT, "ab") as f:
            f.write(text.encode())
        if REPORT not in published:
            published.append(REPORT)

    def finish(error=None):
        nonlocal number
        if timed:
            import time
            begun, used = timed
            print(f"CPU times: total: {time.process_time() - used:.3g} s\nWall time: {time.perf_counter() - begun:.3g} s", flush=True)
            timed.clear()
        if results or error:
            report(error)
        publish()
        number += 1

    def run(cell, code):
        start()
        try:
            plain_run(cell, code)
        except SystemExit as e:
            if e.code in (None, 0):
                finish()
            raise
        finish()

    def tell(end):
        harness.flush()
        error = {"name": type(end).__name__, "value": str(end), "traceback": trace(end)}
        report(error)
        os.write(2, b"\x1e")  # what follows is told as the error
        plain_tell(end)

    def trace(end):
        import linecache
        import traceback
        for name, code in harness.texts.items():
            text = code.decode("utf-8", "replace")
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)

        def place(name):
            return f"Cell In[{number}]" if name in harness.texts and name.startswith("cell ") else f"File {name}"

        lines = ["-" * 75]
        kind = type(end).__name__
        if isinstance(end, SyntaxError):
            text = traceback.format_exception_only(type(end), end)
            return "".join([f"  {place(end.filename)}, line {end.lineno}\n", *text[1:]]).rstrip()
        title = "Traceback (most recent call last)"
        lines.append(kind + title.rjust(75 - len(kind)))
        own = run.__code__.co_filename
        where = end.__traceback__
        while where is not None and (where.tb_frame.f_code.co_filename not in harness.texts
                                     or where.tb_frame.f_code.co_filename == own):
            where = where.tb_next
        for frame, line in list(traceback.walk_tb(where))[-20:]:
            name, called = frame.f_code.co_filename, frame.f_code.co_name
            inside = "" if called == "<module>" else f", in {called}(...)"
            lines.append(f"{place(name)}, line {line}{inside}")
            for n in range(max(1, line - 2), line + 3):
                text = linecache.getline(name, n).rstrip("\n")
                if text or n == line:
                    lines.append(("----> " if n == line else "      ") + f"{n} {text}")
            lines.append("")
        lines.append(traceback.format_exception_only(type(end), end)[-1].rstrip())
        return "\n".join(lines)

    # --- results ---

    FORMS = {"html": "html", "markdown": "markdown", "svg": "svg", "png": "png", "jpeg": "jpeg",
             "pdf": "pdf", "latex": "latex", "json": "json", "javascript": "javascript"}
    TYPES = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg",
             "image/png": "png", "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex",
             "application/json": "json", "application/javascript": "javascript"}

    def text64(data):
        import base64
        return base64.b64encode(data).decode() if isinstance(data, bytes) else data

    def forms(value):
        """What it can be shown as."""
        made = {"text": repr(value)}
        if made["text"][:1] in "'\"" and made["text"][:1] == made["text"][-1:]:
            made["text"] = made["text"][1:-1]
        kind = type(value)
        if is_figure(value):
            made["png"] = picture(value)
            made["chart"] = chart(value)
            return {name: form for name, form in made.items() if form is not None}
        bundle = getattr(kind, "_repr_mimebundle_", None)
        if bundle is not None:
            try:
                data = bundle(value)
                data = data[0] if isinstance(data, tuple) else data
                made.update((TYPES.get(k, k), text64(v)) for k, v in (data or {}).items())
            except Exception:
                pass
        for form, name in FORMS.items():
            make = getattr(kind, f"_repr_{form}_", None)
            if make is None or name in made:
                continue
            try:
                shown = make(value)
            except Exception:
                continue
            shown = shown[0] if isinstance(shown, tuple) and shown else shown
            if shown is not None:
                made[name] = text64(shown)
        if kind.__module__.partition(".")[0] == "pandas" and hasattr(value, "columns"):
            try:
                made["data"] = value.to_dict(orient="list")
            except Exception:
                pass
        if kind.__module__.startswith("PIL.") and hasattr(value, "save") and "png" not in made:
            import io
            file = io.BytesIO()
            value.save(file, "PNG")
            made["png"] = text64(file.getvalue())
        return made

    def chart(figure):
        """What it shows as data, by charts.py; nothing where that cannot be told."""
        try:
            if not charts:
                exec(compile(read(IN + "charts"), "charts", "exec"), charts)
            return charts["chart"](figure)
        except Exception:
            return None

    def is_figure(value):
        return type(value).__module__.startswith("matplotlib.") and hasattr(value, "savefig")

    def picture(figure):
        import io
        file = io.BytesIO()
        figure.savefig(file, format="png", bbox_inches="tight")
        return text64(file.getvalue())

    def show_main(value):
        if value is None:
            return
        space["_"] = value
        tell_result({**forms(value), "is_main_result": True})

    def show(*values, **options):
        for value in values:
            raw = options.get("raw") and isinstance(value, dict)
            made = {TYPES.get(k, k): text64(v) for k, v in value.items()} if raw else forms(value)
            tell_result({**made, "is_main_result": False})

    def show_figures(*args, **options):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not pyplot.get_fignums():
            return
        for n in pyplot.get_fignums():
            show(pyplot.figure(n))
        pyplot.close("all")

    def watch_figures(pyplot):
        pyplot.show = show_figures

    def watch_pictures(images):
        """One that is shown, or saved under a name, is a result."""
        save = images.Image.save

        def save_shown(image, fp, format=None, **options):
            save(image, fp, format, **options)
            if isinstance(fp, str):
                show(image)

        images.Image.show = lambda image, title=None: show(image)
        images.Image.save = save_shown

    WATCHED = {"matplotlib.pyplot": watch_figures, "PIL.Image": watch_pictures}

    class Finder:
        """What is shown with a module is a result at once."""

        def __init__(self, name, watch):
            self.name, self.watch = name, watch

        def find_spec(self, name, path=None, target=None):
            if name != self.name:
                return None
            sys.meta_path.remove(self)
            from importlib.util import find_spec
            spec = find_spec(name)
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module):
                    execute(module)
                    self.watch(module)

                spec.loader.exec_module = exec_module
            return spec

    # --- what notebooks have ---

    def see():
        """The lines of a shell of this cell."""
        handed.clear()
        try:
            with plain_open(f"{IN}c{number}", encoding="utf-8", newline="") as f:
                how, *given = f.read().split("\0")
        except OSError:
            return
        (handed if how == "handed" else seen).update(given)

    def is_usual(name):
        return kind_of(name) is plain_text and not (name + "=").startswith(unusual)

    def process(command):
        """How a line of a shell is run that was seen before: written in a cell, not made by one. What a program was
        screened for that it is handed to depends on the variables of the beginning."""
        if screened and (kind_of(command) is not plain_text or command not in seen and command not in handed):
            raise PermissionError("nobody could see this command before it ran: write it as a line of a cell, !command")
        env = plain_dict(os.environ)
        if command in handed:
            env = {name: value for name, value in env.items() if is_usual(name)}
            env.update((name, value) for name, value in beginning.items() if not is_usual(name))
        return {"args": ["/bin/bash", "-p", "-c", command], "env": env}

    class Shell:
        def system(self, command):
            import subprocess
            harness.flush()
            space["_exit_code"] = subprocess.call(**process(command))

        def getoutput(self, command):
            import subprocess
            harness.flush()
            return subprocess.run(**process(command), stdout=subprocess.PIPE, text=True).stdout.splitlines()

        def time(self):
            import time
            timed[:] = [time.perf_counter(), time.process_time()]

        def write_file(self, path, text):
            known = os.path.exists(path)
            with open(path, "w") as f:
                f.write(text)
            print(("Overwriting " if known else "Writing ") + path)

        def run_line_magic(self, name, line):
            if kind_of(name) is not plain_text or kind_of(line) is not plain_text:
                raise TypeError("a magic and its line are texts")
            if name == "cd":
                os.chdir(os.path.expanduser(line.strip() or HOME))
            elif name in ("pip", "conda"):
                self.system(name + line)
            elif name == "env" and "=" in line:
                key, _, value = line.partition("=")
                if screened and not is_usual(key.strip()):
                    raise PermissionError(f"{key.strip()} decides what other programs run: a cell cannot set it")
                os.environ[key.strip()] = value.strip()
            elif name not in ("matplotlib", "config", "load_ext", "autoreload"):
                raise NameError(f"line magic function `%{name}` not found.")

    def notebook():
        """IPython's module, as far as programs print with it."""
        kind = type(sys)
        module, shown = kind("IPython"), kind("IPython.display")

        def form(name, **forms):
            def init(self, data=None, url=None, filename=None, **options):
                self.data = read(filename) if filename else data

            def get(self):
                return self.data

            return type(name, (), {"__init__": init, "__module__": "IPython.core.display", **{f"_repr_{f}_": get for f in forms}})

        for name, made in (("HTML", "html"), ("Markdown", "markdown"), ("Latex", "latex"), ("Math", "latex"),
                           ("SVG", "svg"), ("JSON", "json"), ("Javascript", "javascript")):
            setattr(shown, name, form(name, **{made: 1}))

        class Image:
            def __init__(self, data=None, filename=None, format=None, **options):
                self.data = read(filename) if filename else data
                self.jpeg = self.data[:2] == b"\xff\xd8"

            def _repr_png_(self):
                return None if self.jpeg else self.data

            def _repr_jpeg_(self):
                return self.data if self.jpeg else None

        shown.Image, shown.display = Image, show
        shown.clear_output = lambda *args, **options: None
        module.display, module.get_ipython = shown, lambda: None  # libraries would want more of it
        sys.modules["IPython"], sys.modules["IPython.display"] = module, shown

    shell = Shell()
    space["get_ipython"] = lambda: shell
    space["display"] = harness.display_given = show
    harness.run, harness.tell, harness.show_figures, harness.display = run, tell, show_figures, show_main
    harness.is_noise = lambda *args: False
    notebook()
    for name, watch in WATCHED.items():
        if name in sys.modules:
            watch(sys.modules[name])
        else:
            sys.meta_path.insert(0, Finder(name, watch))
    plain_cwd = os.getcwd

    def getcwd():
        """Where the home is said to be, not where it really is."""
        path = plain_cwd()
        return HOME + path[9:] if (path + "/").startswith("/tmp/user/") else path

    os.getcwd = getcwd
    os.environ["HOME"] = os.environ["PWD"] = HOME
    beginning = dict(os.environ)
    os.makedirs("/tmp/user", exist_ok=True)
    os.chdir(HOME)


_begin()
del _begin
