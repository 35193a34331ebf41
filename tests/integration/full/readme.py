# What the README has a reader type, for the tests that type it.
import os
import re

import tap


def typed(section):
    """The commands of a section: what stands there by four blanks."""
    with open(os.path.join(tap.TOP, "README.md"), encoding="utf-8") as f:
        text = f.read()
    body = re.search(r"^## %s\n(.*?)^## " % re.escape(section), text, re.M | re.S).group(1)
    return "".join(line[4:] for line in re.findall(r"^    .*\n", body, re.M))


def home():
    """The environment of a reader, with the configuration where the README looks for it."""
    env = tap.environment()
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        del env[name]
    os.makedirs(env["HOME"], exist_ok=True)
    return env
