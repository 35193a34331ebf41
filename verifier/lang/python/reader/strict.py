# What the profile strict asks beyond the other facts: is everything on the list?


LISTED = Allowed(ALLOWED)  # before there is a program: one that serves reads the list once


class Known:
    """What is told apart only where all of a program is looked at."""

    def __init__(self):
        self.quiet = {}  # where calls begin whose files are all below the roots
        self.idle = set()  # constants that no file's name is made of
        self.runs = {}  # call -> the commands it may run
        self.probes = ()  # calls that see whether a module is there


def allow_facts(reader, tree):
    known = Known()
    try:
        judge = Judge(reader.tell, LISTED, tree)
        processes = Processes(judge, reader)
        judge.run()
        if not judge.count and not judge.paths.guessed and tree.body:
            reader.tell("proven", tree.body[0])
        known.quiet = judge.quiet
        known.probes = judge.probes.known()
        for node in reader.runs:  # code in a command's arguments adds to them
            known.runs[node] = processes.commands(node)
        known.idle = Idle(judge, tree).constants() | processes.paths
    except (RecursionError, KeyError, AttributeError, IndexError, TypeError, ValueError) as e:
        reader.tell("refused text program: %s" % type(e).__name__,
                    tree.body[0] if tree.body else tree)
        return Known()
    return known
