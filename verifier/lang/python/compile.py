# A program of ours, from standard input, as the code that this interpreter makes of it when it
# starts it (verifier/compiled.h). It is called what tracebacks are to call it. Nothing of it is run.
import marshal
import sys
from _frozen_importlib_external import MAGIC_NUMBER

code = compile(sys.stdin.buffer.read(), sys.path[0] + "/" + sys.argv[1], "exec", dont_inherit=True)
sys.stdout.buffer.write(MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
