# What commands a program's calls of subprocess may run: follows closed.py. A
# command is written as its words with a space between. What is not known is ?,
# a file known to be below the list's roots @; a space in a word is ~, and ` stands
# for a letter that has a meaning here. " <" follows a command with input, " <." one
# where the program has a text with a line that a tool may take for a command.
# Code for this very interpreter that is written out is looked at as the program is,
# and is =. Which commands may be run is said in python.rules.

COMMANDS_MAX = 64
PLAIN_KEYWORDS = {"capture_output", "text", "encoding", "errors", "check", "timeout", "stdin",
                  "stdout", "stderr", "input", "universal_newlines", "bufsize", "close_fds"}
PLAIN_PATH = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
HARMLESS_VARIABLES = {"LC_ALL", "LANG", "TZ", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "COLUMNS"}
SHELL_MARKS = "&;<>$`\\(){}*?!#~[]\n\r"


def written(text):
    out = ""
    for c in text:
        plain = " " < c < "\x7f" and c not in "~?@`"
        out += c if plain else "~" if c in " \t\n" else "`"
    return out or "~"


class Processes:
    def __init__(self, judge, reader):
        self.judge = judge
        self.reader = reader
        self.closed = Closed(judge)
        self.paths = set()  # what is given as PATH, and is

    def commands(self, call):
        self.judge.places += call.args + [k.value for k in call.keywords]
        arg = call.args[0] if len(call.args) == 1 else None
        shell, fed = False, ""
        for k in call.keywords:
            if k.arg == "args" and arg is None and not call.args:
                arg = k.value
            elif k.arg == "shell" and isinstance(k.value, _ast.Constant):
                shell = bool(k.value.value)
            elif k.arg == "cwd" and self.is_below(k.value):
                continue
            elif k.arg not in PLAIN_KEYWORDS and not (
                    k.arg == "env" and self.is_plain_environment(k.value)):
                return ["run ? " + (k.arg or "**")]
            if k.arg in ("input", "stdin"):
                fed = self.input()
        if arg is None or isinstance(arg, _ast.Starred):
            return ["run ?"]
        lists = self.of_shell(arg) if shell else self.lists(arg)
        how = "line " if shell else "run "
        return [how + self.command(words, call) + fed for words in lists or [["?"]]]

    def input(self):
        """Whether some text of the program has a line such as .shell"""
        for node in self.judge.layout.spaces:
            text = getattr(node, "value", None) if isinstance(node, _ast.Constant) else None
            for line in text.split("\n") if isinstance(text, str) else ():
                if line.lstrip()[:1] == "." and line.lstrip()[1:2].isalpha():
                    return " <."
        return " <"

    def is_below(self, node):
        return self.judge.paths.is_good(self.judge.paths.kind(node))

    def is_environ(self, node):
        if isinstance(node, _ast.Call) and getattr(node.func, "attr", "") == "copy":
            node = node.func.value
        return self.judge.what(node) == ("name", "os.environ")

    def is_plain_environment(self, node):
        if isinstance(node, _ast.Call) and getattr(node.func, "id", "") == "dict" and (
                len(node.args) < 2 and all(self.is_environ(a) for a in node.args)):
            return all(self.is_plain_variable(k.arg, k.value) for k in node.keywords)
        if isinstance(node, _ast.Dict):
            return all(self.is_environ(v) if k is None else
                       self.is_plain_variable(getattr(k, "value", ""), v)
                       for k, v in zip(node.keys, node.values))
        return self.is_environ(node)

    def is_plain_variable(self, name, node):
        """PATH only with the folders of the system."""
        text = getattr(node, "value", None)
        if name == "PATH" and isinstance(text, str) and set(text.split(":")) <= PLAIN_PATH:
            self.paths.add(node)
            return True
        return name in HARMLESS_VARIABLES

    # --- lists of words; None where they are not known ---

    def lists(self, node, depth=0):
        if depth > 8:
            return None
        if isinstance(node, (_ast.List, _ast.Tuple)):
            return self.product([self.lists(e.value, depth + 1) if isinstance(e, _ast.Starred)
                                 else [[w] for w in self.words(e)] for e in node.elts])
        if isinstance(node, _ast.BinOp) and isinstance(node.op, _ast.Add):
            return self.product([self.lists(node.left, depth + 1),
                                 self.lists(node.right, depth + 1)])
        if isinstance(node, _ast.IfExp):
            return self.union([self.lists(n, depth + 1) for n in (node.body, node.orelse)])
        if isinstance(node, _ast.Call):
            return self.of_split(node)
        if isinstance(node, _ast.Name):
            return self.of_name(node, depth)
        if isinstance(node, _ast.Constant) and isinstance(node.value, str):
            return [[written(node.value)]]
        return None

    def product(self, parts):
        found = [[]]
        for p in parts:
            if p is None or len(found) * len(p) > COMMANDS_MAX:
                return None
            found = [f + w for f in found for w in p]
        return found

    def union(self, parts):
        return None if any(p is None for p in parts) else [w for p in parts for w in p]

    def of_split(self, node):
        """shlex.split("ls -l") and "ls -l".split()"""
        found = self.judge.what(node.func)
        text = node.args[0] if found == ("name", "shlex.split") and len(node.args) == 1 else None
        if text is None and getattr(node.func, "attr", "") == "split" and not node.args:
            text = node.func.value
        value = getattr(text, "value", None)
        words = split_words(value) if isinstance(value, str) else None
        return None if words is None else [[written(w) for w in words]]

    def of_name(self, node, depth):
        layout = self.judge.layout
        space = layout.spaces.get(node)
        home = self.judge.bindings(node.id, space) if space else None
        if home is None or not self.is_kept(node.id):
            return None
        parts = []
        for kind, value, where, _, _ in home.names[node.id]:
            if kind == "value" and value is not None:
                parts.append(self.lists(value, depth + 1))
            elif kind == "item" and value is not None:
                parts.append(self.of_items(value, layout.picks.get((node.id, value)), depth + 1))
            elif kind == "param":
                given = calls_of(self.judge, *value)
                parts += [self.lists(g, depth + 1) for g in given] if given else [None]
            else:
                return None
        return self.union(parts)

    def is_kept(self, name, depth=0):
        """Nobody changes what is in it, under this name or one it is handed on to."""
        layout = self.judge.layout
        if depth > 4 or name in layout.fills:
            return False
        return all(self.is_harmless(n, layout.parents.get(n), depth) for n in layout.spaces
                   if getattr(n, "id", None) == name and isinstance(n.ctx, _ast.Load))

    def is_harmless(self, node, parent, depth):
        if isinstance(parent, (_ast.For, _ast.comprehension)) and parent.iter is node:
            return all(self.is_kept(n.id, depth + 1) for n in below(parent.target)
                       if isinstance(n, _ast.Name))
        if isinstance(parent, _ast.Subscript):
            return isinstance(parent.ctx, _ast.Load)
        if isinstance(parent, _ast.Attribute):
            return parent.attr in ("items", "join", "split", "strip", "format")
        if not isinstance(parent, _ast.Call):
            return isinstance(parent, (_ast.Starred, _ast.BinOp, _ast.FormattedValue,
                                       _ast.Compare, _ast.IfExp))
        if parent in self.reader.runs:
            return True
        name = getattr(parent.func, "id", None) or getattr(parent.func, "attr", "")
        own = self.judge.layout.functions.get(name)
        if own and node in parent.args:
            at = parent.args.index(node)
            return len(own) == 1 and len(own[0].args.args) > at and self.is_kept(
                own[0].args.args[at].arg, depth + 1)
        return name in ("len", "print", "join", "str", "repr",
                                                      "which", "Path", "exists")

    def of_items(self, node, pick, depth):
        """What a loop over a list of lists finds."""
        if isinstance(node, _ast.Name):
            home = self.judge.bindings(node.id, self.judge.layout.spaces[node])
            held = home.names[node.id] if home else []
            if len(held) != 1 or held[0][0] != "value" or not self.is_kept(node.id):
                return None
            node = held[0][1]
        if isinstance(node, _ast.Call) and getattr(node.func, "attr", "") == "items" and (
                pick == 1 and isinstance(node.func.value, (_ast.Dict, _ast.Name))):
            inner = node.func.value
            if isinstance(inner, _ast.Name):
                home = self.judge.bindings(inner.id, self.judge.layout.spaces[inner])
                held = home.names[inner.id] if home else []
                inner = held[0][1] if len(held) == 1 and self.is_kept(inner.id) else None
            if not isinstance(inner, _ast.Dict):
                return None
            return self.union([self.lists(v, depth + 1) for v in inner.values])
        if not isinstance(node, (_ast.List, _ast.Tuple)):
            return None
        rows = node.elts if pick is None else [
            r.elts[pick] if isinstance(r, (_ast.List, _ast.Tuple)) and len(r.elts) > pick else None
            for r in node.elts]
        return self.union([None if r is None else self.lists(r, depth + 1) for r in rows])

    def of_shell(self, node):
        """A line of the shell that does no more than run commands, one after another's output."""
        text = getattr(node, "value", None)
        if not isinstance(text, str) or any(c in SHELL_MARKS for c in text):
            return None
        lines = [split_words(part) for part in text.split("|")]
        return None if any(not w for w in lines) else [[written(x) for x in w] for w in lines]

    def words(self, node):
        if self.judge.what(node) == ("name", "sys.executable"):
            return ["python3"]
        texts = self.closed.texts(node)
        if texts:
            return [written(t) for t in sorted(texts)]
        kind = self.judge.paths.kind(node)
        if kind[1] and all(isinstance(t, str) for t in kind[1]):
            return [written(t) for t in kind[1]]
        return ["@"] if kind[0] == "root" and not kind[1] and self.is_whole(node) else ["?"]

    def is_whole(self, node):
        """Not what a person or the environment says: a file the program names."""
        return not any(self.judge.what(n) in (("name", "sys.argv"), ("name", "os.environ"))
                       for n in below(node) if isinstance(n, (_ast.Name, _ast.Attribute)))

    # --- one command ---

    def command(self, words, call):
        if not words:
            return "?"
        if words[0] in ("python3", "python") and words[1:2] == ["-c"] and len(words) > 2:
            words = words[:2] + [self.code(call, words[2])] + words[3:]
        return " ".join(words)

    def code(self, call, word):
        """python3 -c, where the text is one that is written out: looked at with all the rest."""
        lists = [n.elts for n in below(call) if isinstance(n, (_ast.List, _ast.Tuple))]
        after = [b.value for elts in lists for a, b in zip(elts, elts[1:])
                 if getattr(a, "value", None) == "-c" and isinstance(b, _ast.Constant)]
        if len(after) != 1 or not isinstance(after[0], str) or written(after[0]) != word:
            return "?"
        try:
            tree = compile(after[0], "text", "exec", 0x400)
        except (SyntaxError, ValueError):
            return "?"
        self.reader.nested(call).read(tree)
        self.judge.see_inner(tree, call)
        return "="


def split_words(text):
    """The words of a line, with its quotes; None where one is not ended."""
    words, word, quote = [], None, None
    for c in text:
        if quote:
            quote, word = (None, word) if c == quote else (quote, word + c)
        elif c in "'\"":
            quote, word = c, word or ""
        elif c in " \t\n":
            words += [word] if word is not None else []
            word = None
        elif c == "\\":
            return None
        else:
            word = (word or "") + c
    return None if quote else words + ([word] if word is not None else [])
