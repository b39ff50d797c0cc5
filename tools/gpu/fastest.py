"""The step that measures which implementation of each model is the faster one on this GPU.

``store`` writes what it found into ``models/fastest.json``, from which `torchspeed.models.Fastest`
chooses.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.gpu.session import Session

_ROUNDS = 3


def run(session: Session, deadline: float) -> None:
    """Measure model by model, and record each one when it is known."""
    process = subprocess.Popen(
        [sys.executable, "-P", __file__, session.only, str(min(_ROUNDS, session.rounds))],
        env=session.side(session.prepared.newest).variables,
        stdout=subprocess.PIPE,
        text=True,
    )
    timer = threading.Timer(max(1.0, deadline - time.monotonic()), process.kill)
    timer.start()
    try:
        for line in process.stdout or ():
            session.results.add("fastest", **json.loads(line))
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def measure(device: str, only: str, rounds: int) -> None:
    """Print a line of JSON for each tuned model whose name matches."""
    from torchspeed.measure import formulations  # noqa: PLC0415 - of the measured commit
    from torchspeed.workloads import get_workload  # noqa: PLC0415

    formulations.use_one_thread()
    for name in formulations.tuned_workloads():
        if not re.search(only, name):
            continue
        found = formulations.measure_model(name, device, rounds)
        processor = formulations.processor(device)
        answer = {"processor": processor, "thresholds": {get_workload(name).model: found}}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    import torch

    measure("cuda" if torch.cuda.is_available() else "cpu", sys.argv[1], int(sys.argv[2]))
