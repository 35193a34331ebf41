# The function of --sandbox lambda:NAME. Deploy it as a container image (Dockerfile.lambda beside this), or,
# without /in, /work and /out, as a zip of this file and runner.py with handler lambda_function.handler.
# Give it a role without permissions: what runs here is hostile. Its time-out has to be longer than
# a run's wall time, its memory larger than a run's; one run at a time is what Lambda does anyway. It keeps an
# environment for a next run: the variable ASSAY_RUNNER_PLACES=/tmp:/dev/shm:ipc:keys, which the image has and a zip's
# function is to be given, lets the runner remove what a run leaves; without it the second is refused.
import os

import runner


def handler(event, context):
    if runner.spoiled:  # Lambda makes another environment, for the next one
        os._exit(1)
    for name in ("in", "work", "out"):  # the image has links to these
        os.makedirs("/tmp/assay-" + name, exist_ok=True)
    return runner.answer(event)
