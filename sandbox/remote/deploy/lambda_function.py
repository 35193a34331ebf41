# The function of --sandbox lambda:NAME. Deploy it as a container image (Dockerfile.lambda beside this), or,
# without /in, /work and /out, as a zip of this file and runner.py with handler lambda_function.handler.
# Give it a role without permissions: what runs here is hostile. Its time-out has to be longer than
# a run's wall time, its memory larger than a run's; one run at a time is what Lambda does anyway.
import os

import runner


def handler(event, context):
    for name in ("in", "work", "out"):  # the image has links to these
        os.makedirs("/tmp/assay-" + name, exist_ok=True)
    return runner.answer(event)
