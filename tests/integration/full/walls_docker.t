#!/bin/sh
# walls.t, in containers of Docker and Podman: beside the others. With ASSAY_TEST_SOME of Docker, whose API both speak.
[ "${ASSAY_TEST_SOME:-}" ] && some=docker || some='docker podman'
ASSAY_TEST_WALLS=$some exec "$(dirname "$0")/walls.t"
