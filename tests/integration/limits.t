#!/bin/bash
# Every limit of a run is held by the native sandbox, with control groups and as an ordinary user without; the
# sandboxes around it are asked by full/walls.t and its files beside it (Docker, Podman, ssh, machines) and full/gvisor.t.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/limits.sh"
hold_limits native
done_testing
