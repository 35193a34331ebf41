#!/bin/sh
# walls.t, in containers of Docker and Podman: beside the others.
ASSAY_TEST_WALLS='docker podman' exec "$(dirname "$0")/walls.t"
