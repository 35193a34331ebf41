#!/bin/sh
# walls.t, in modes of Python's and in a machine of Firecracker's that is played: beside the others. With ASSAY_TEST_SOME
# not in Pyodide, which starts for seconds each time: guest_modes.t has what differs there.
[ "${ASSAY_TEST_SOME:-}" ] && some='firecracker restricted' || some='firecracker pyodide restricted'
ASSAY_TEST_WALLS=$some exec "$(dirname "$0")/walls.t"
