#!/bin/sh
# walls.t, at services, which servers here play: beside the others.
ASSAY_TEST_WALLS='e2b lambda azure container modal' exec "$(dirname "$0")/walls.t"
