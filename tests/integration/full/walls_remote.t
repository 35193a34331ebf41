#!/bin/sh
# walls.t, at services, which servers here play: beside the others. With ASSAY_TEST_SOME at two of them, of which
# one speaks a wire of its own and one has our runner.
[ "${ASSAY_TEST_SOME:-}" ] && some='e2b container' || some='e2b lambda azure container modal'
ASSAY_TEST_WALLS=$some exec "$(dirname "$0")/walls.t"
