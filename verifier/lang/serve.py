# The start, behind all other parts: a program from standard input, its facts out. Or, told "many",
# one program after the other from descriptor 3. Each is read by a child: what a text could do to the
# parser it does to that child, which has nothing to answer with but a pipe of its own, and is gone,
# with all that it may have started, before its answer is passed on. Here no byte of a text or of an
# answer is looked at. What 3 and 4 are, sockets, nobody can open a second time through /proc.
import gc
import posix

ANSWER_MAX = 8 << 20


def take(size):
    parts = []
    while size:
        part = posix.read(3, min(size, 1 << 20))
        if not part:
            posix._exit(0)  # nobody asks any more
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def put(fd, data):
    while data:
        data = data[posix.write(fd, data):]


def read_and_end(source, end, others):
    try:
        for fd in others:
            posix.close(fd)
        put(end, (facts_of(source) + "\n").encode())
        posix._exit(0)
    finally:
        posix._exit(1)


def collect(fd):
    parts, size = [], 0
    while size <= ANSWER_MAX:
        part = posix.read(fd, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return b""


def end_others():
    try:
        posix.kill(-1, 9)
        return True
    except ProcessLookupError:  # only init is left, which cannot be signalled
        return False


def end_all(child):
    """Whether the child ended well; then nobody is left but this process and init."""
    end_others()
    _, status = posix.waitpid(child, 0)
    while end_others():
        posix.sched_yield()
    return status == 0


def read_apart(source):
    """The answer of a child to this one text; none when it died."""
    out, end = posix.pipe()
    child = posix.fork()
    if not child:
        read_and_end(source, end, (3, 4, out))
    posix.close(end)
    answer = collect(out)
    posix.close(out)
    return answer if end_all(child) else b""


def serve():
    del sys.path[0]  # children can write there
    gc.freeze()
    while True:
        head = take(24)  # 16 bytes that tell questions apart, and how long it is
        answer = read_apart(take(int.from_bytes(head[16:], "little")))
        put(4, head[:16] + len(answer).to_bytes(8, "little") + answer)


def main():
    gc.disable()  # who reads a text ends with it
    if sys.argv[1:] == ["many"]:
        serve()
    print(facts_of(sys.stdin.buffer.read()))


main()
