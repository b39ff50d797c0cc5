"""The step that measures which implementation of each model is the fastest on this GPU.

``store`` writes what it found into ``models/fastest.json``, from which `torchspeed.models.Fastest`
chooses.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

from asv_watch.machine.children import Child, Lines

if TYPE_CHECKING:
    from tools.gpu.session import Session

_ROUNDS = 3
_BATCHES = (1, 32)
"""Batches beside that of each model's source."""


def run(session: Session, deadline: float) -> None:
    """Measure model by model, and record each one when it is known."""
    command = [sys.executable, "-P", __file__, session.only, str(min(_ROUNDS, session.rounds))]
    variables = session.side(session.prepared.newest).variables
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as stream, Child(command, env=variables, stdout=writing):
        os.close(writing)
        lines = Lines(stream, math.inf)
        with contextlib.suppress(TimeoutError):
            while line := lines.read(deadline):
                session.results.add("fastest", **json.loads(line))


def measure(device: str, only: str, rounds: int) -> None:
    """Print a line of JSON for each model that has several implementations and a matching name."""
    from torchspeed.measure import formulations  # noqa: PLC0415 - of the measured commit

    formulations.use_one_thread()
    for name in formulations.reformulated_workloads():
        if re.search(only, name):
            print(json.dumps({"workload": name, **_measure(name, device, rounds)}), flush=True)


def _measure(name: str, device: str, rounds: int) -> dict[str, Any]:
    """Return the choices for a workload and the ratios they come from, or why there are none."""
    from torchspeed.measure import formulations  # noqa: PLC0415 - of the measured commit

    try:
        choices, found = formulations.measure_model(name, device, rounds, _BATCHES)
    except Exception:  # the next model may run all the same
        return {"failed": traceback.format_exc()[-2000:]}
    return {
        "processor": formulations.processor(device),
        "choices": choices,
        "plain_over_own_time": {
            pass_name: {
                batch: {" ".join(formulation): quartiles for formulation, quartiles in own.items()}
                for batch, own in ratios.items()
            }
            for pass_name, ratios in found.items()
        },
    }


if __name__ == "__main__":
    import torch

    measure("cuda" if torch.cuda.is_available() else "cpu", sys.argv[1], int(sys.argv[2]))
