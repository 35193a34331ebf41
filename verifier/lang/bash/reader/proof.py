# Whether the facts of a program are all there is: then what only looks like a
# path of the system, in a here-document or a sentence, is no more than text.
import re

# Commands whose files are all told: they are among their operands or their options.
FOLLOWED = set(COMMANDS) | TAKEN_AS_TEXT | set(SPECS) | {"[", "tput"}
FOLLOWED -= {"source", ".", "compgen", "git", "openssl", "file", "install", "ln", "env"}
FOLDERS_OF_SHELL = ("HOME", "PWD", "OLDPWD", "TMPDIR", "CDPATH", "PATH")  # paths without a word
# tar -T and the like name a file that names files.
HARMLESS_OPTION = re.compile(
    r"option (?:trap|sort (?:\w|--(?!files|random-s|compress)[\w-]+)|sed [nErsuz]"
    r"|xargs [0IndLPrtsx]|tar (?:[cxtrujzJvfCpkOa]|--exclude)|(?:zip|unzip|split) \w)\b")
OWN_FOLDERS = re.compile(r"/(?:in|out|work|tmp)(?:[/.]|\Z)"
                         r"|/dev/(?:null|std(?:in|out|err)|tty|fd/\d+|u?random|zero)\Z"
                         r"|/usr/share/(?:dict|zoneinfo)/")


def is_proven(facts):
    """Every command is one whose files are told, and these are below the program's own folders."""
    for fact, _, _ in facts:
        kind, _, rest = fact.partition(" ")
        if kind == "run" and rest not in FOLLOWED or kind in (
                "code", "coproc", "option", "lists") and not HARMLESS_OPTION.match(fact):
            return False
        if kind == "sets" and rest in FOLDERS_OF_SHELL:
            return False
        if kind in ("read", "write", "change") and not (
                OWN_FOLDERS.match(rest) or rest in SYSTEM_FILES) or rest.startswith(HOME):
            return False
    return True
