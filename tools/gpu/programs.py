"""The steps that run a program, and record the end of what it prints.

``tests`` are those that need a GPU; ``expected`` sets the measured speed of training ResNet-50
beside the published one, and leaves its picture in the folder of results.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.gpu.session import Session

EXPECTED = "expected-speed"
_PROCESSES = "6"
_LINES = 40


def run(session: Session, deadline: float, name: str) -> None:
    """Run a program until it ends or its time is up; its whole output goes to a file."""
    project, log = session.folder / "project", session.out / f"{name}.txt"
    variables = None
    if name == "tests":
        files = [
            str(path.relative_to(project))
            for path in sorted((project / "tests").rglob("test_*.py"))
            if "needs_gpu" in path.read_text(encoding="utf-8")
        ]
        command = ["pytest", "-n", _PROCESSES, "-q", "-p", "no:cacheprovider"]
        command += ["-m", "skipif", *files]  # what `tests.gpu.needs_gpu` is made of
    elif re.search(session.only, EXPECTED):
        variables = session.side(session.prepared.newest).variables
        command = ["torchspeed.cli", "reproduce", EXPECTED, "--device", "cuda", "--rounds", "1"]
        command += ["--figure", str(session.out / f"{EXPECTED}.svg")]
        command += [] if session.small else ["--full"]
    else:
        return
    with log.open("w", encoding="utf-8") as stream:
        try:
            subprocess.run(
                [sys.executable, "-m", *command],
                cwd=project,
                env=variables,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=max(1.0, deadline - time.monotonic()),
                check=False,
            )
        except subprocess.TimeoutExpired:
            stream.write("\nstopped: its time was up\n")
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES:]
    session.results.add(name, last_lines=tail)
