# Which cells of a context of bash the last one needs, by their texts. What a command does is not
# known in general: a cell is left out only where it is made of assignments that nothing later
# names, and of commands that print and change nothing, with no file written. Nothing of them is run.
import json
import re
import sys

# Which print, and change no file, whatever they are given.
PRINTS = set("echo cat head tail wc ls grep egrep fgrep cut tr nl tac rev column seq date du df stat file basename "
             "dirname realpath readlink sha256sum sha1sum md5sum cksum comm paste fold fmt expr test [ true false "
             ": jq numfmt od printenv nproc uname pwd join uniq".split())
# The same, without these.
BUT = {"sort": r"^-\w*o|^--(output|compress-program|temp)", "printf": r"^-v", "find": r"^-(delete|exec|ok|fprint|fls)",
       "date": r"^-s|^--set", "file": r"^-\w*C|^--compile", "awk": r"[|>]|system|getline|close|@|-i\b|-f\b|-v",
       "sed": r"^-\w*[in]|^--|[\s;}0-9$/][wWe](\s|$)|[a-z]*[we]$", "uniq": r"^[^-]", "tree": r"^-o"}
# Sets what it names while a word is read, or names what is nowhere written.
SETS = r"\$\[|\$\{[^}]*(=|\+\+|--)"
NAMES = (r"\$\{!|(?m:^|[\s;&|(])(declare|typeset|eval|compgen|local|source|env|printenv)(?!\w)|(?m:^|[\s;&|(])set\s*(?m:$|[|;&>])|"
         r"\$\(\([^)]*\w\$|(?m:^|[;&|])\s*\.\s")
HARMLESS = {"/dev/null", "&1", "&2", "/dev/stderr", "/dev/stdout"}
ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\+?)=")


class Unclear(Exception):
    pass


def words_of(text):
    """Commands, each a list of words as they are written; what is more than that is unclear."""
    if re.search(r"<<(?!<)|\\\n|" + SETS, text):
        raise Unclear
    commands, words, word, at = [], [], None, 0
    while at < len(text):
        c = text[at]
        if c == "#" and word is None:
            at = (text + "\n").index("\n", at)
            continue
        if c in "'\"":
            end = at + 1
            while end < len(text) and text[end] != c:
                end += 2 if c == '"' and text[end] == "\\" else 1
            if end >= len(text) or (c == '"' and re.search(r"\$\(|`|\$\{[^}]*[:=]", text[at:end])):
                raise Unclear
            word, at = (word or "") + text[at:end + 1], end + 1
            continue
        if c in "`(){}" and not (c in "{}" and text[max(0, at - 1):at] == "$" or c == "}" and word and "${" in word):
            raise Unclear
        if c == "\\":
            word, at = (word or "") + text[at:at + 2], at + 2
            continue
        if c in " \t":
            if word is not None:
                words.append(word)
            word = None
        elif c in "\n;&|":
            if c == "&" and (text[at - 1:at] in ("<", ">") or text[at + 1:at + 2] == ">"):
                word = (word or "") + c
            elif c == "&" and text[at + 1:at + 2] != "&" and text[at - 1:at] != "&":
                raise Unclear  # beside the rest
            else:
                if word is not None:
                    words.append(word)
                if words:
                    commands.append((words, c == "|" or text[at - 1:at] == "|"))
                words, word = [], None
        elif c in "<>":
            if word is not None and not word.isdigit() and word not in ("&", "<", ">"):
                words.append(word)
                word = None
            word = (word or "") + c
        elif word is not None and word[-1] in "<>":
            word += c if c == "&" or word[-1:] == c else " " + c
        else:
            word = (word or "") + c
        at += 1
    if word is not None:
        words.append(word)
    if words:
        commands.append((words, False))
    return commands


def redirects(words):
    """The words without what goes where; that must be nowhere, or is only read."""
    kept, todo = [], list(words)
    while todo:
        word = todo.pop(0)
        found = re.match(r"\d*(&?>>?|<<<|<|>&|<&)\s*(.*)", word)
        if not found:
            kept.append(word)
            continue
        to = found[2] or (todo.pop(0) if todo else "")
        if ">" in found[1] and to.lstrip() not in HARMLESS and not (found[1] == ">&" and to in "12"):
            raise Unclear
    return kept


def sets(text):
    """The names that a cell sets, where it does nothing else but print."""
    found = set()
    for words, _ in words_of(text):
        words = redirects(words)
        first = 0
        while first < len(words) and ASSIGNED.match(words[first]) and "[" not in words[first].partition("=")[0]:
            name, adds = ASSIGNED.match(words[first]).groups()
            if adds or name.isupper():
                raise Unclear
            found.add(name)
            first += 1
        if first == len(words):
            continue
        command, rest = words[first], words[first + 1:]
        if first or command not in PRINTS | BUT.keys():
            raise Unclear
        for word in rest:
            if command in BUT and re.search(BUT[command], word.strip("'\"")):
                raise Unclear
            if re.search(r"\$\{[^}]*=|\$\(", word):
                raise Unclear
    return found


def main():
    given = json.load(sys.stdin)
    texts = given["cells"]
    given["all"] |= any(re.search(NAMES, text) for text in texts)
    used, wanted = [len(texts) - 1], texts[-1]
    for n in range(len(texts) - 2, -1, -1):
        try:
            if given["all"] or any(re.search(r"\b" + name + r"\b", wanted) for name in sets(texts[n])):
                raise Unclear
        except Unclear:
            used.append(n)
            wanted += "\n" + texts[n]
    used.sort()
    parts = [texts[n].rstrip("\n") + "\n" + given["after"][n] for n in used[:-1]] + [texts[-1]]
    json.dump({"used": used, "program": "".join(parts),
               "why": None if len(used) < len(texts) else "each may do more than print"}, sys.stdout)


main()
