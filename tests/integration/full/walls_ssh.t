#!/bin/sh
# walls.t, over ssh: beside the others.
ASSAY_TEST_WALLS=ssh exec "$(dirname "$0")/walls.t"
