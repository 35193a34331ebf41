#!/bin/sh
# walls.t, in machines: beside the others.
ASSAY_TEST_WALLS=microvm exec "$(dirname "$0")/walls.t"
