#!/bin/sh
# walls.t, in modes of Python's and in a machine of Firecracker's that is played: beside the others.
ASSAY_TEST_WALLS='firecracker pyodide restricted' exec "$(dirname "$0")/walls.t"
