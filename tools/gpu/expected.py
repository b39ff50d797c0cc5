"""The step that sets the measured speed of training ResNet-50 beside the expected one."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.gpu.session import Session

NAME = "expected-speed"


def run(session: Session, deadline: float) -> None:
    """Reproduce the published figure; its table and picture go to the folder of results."""
    if not re.search(session.only, NAME):
        return
    command = [sys.executable, "-m", "torchspeed.cli", "reproduce", NAME, "--device", "cuda"]
    command += ["--rounds", "1", "--figure", str(session.out / f"{NAME}.svg")]
    command += [] if session.small else ["--full"]
    try:
        done = subprocess.run(
            command,
            env=session.side(session.prepared.newest).variables,
            capture_output=True,
            text=True,
            timeout=max(1.0, deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        session.results.add("expected", failed="its time was up")
        return
    kind = "failed" if done.returncode else "table"
    session.results.add("expected", **{kind: (done.stderr if done.returncode else done.stdout)})
