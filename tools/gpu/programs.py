"""The step that runs the tests which need a GPU."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.gpu.session import Session

_PROCESSES = "6"


def run(session: Session, deadline: float) -> None:
    """Run these tests, several at a time; the result is the last lines of pytest."""
    project = session.folder / "project"
    files = [
        str(path.relative_to(project))
        for path in sorted((project / "tests").rglob("test_*.py"))
        if "needs_gpu" in path.read_text(encoding="utf-8")
    ]
    command = [sys.executable, "-m", "pytest", "-n", _PROCESSES, "-q", "-p", "no:cacheprovider"]
    command += ["-m", "skipif"]  # what `tests.gpu.needs_gpu` is made of
    log = Path(session.out, "tests.txt")
    with log.open("w", encoding="utf-8") as stream:
        try:
            subprocess.run(
                [*command, *files],
                cwd=project,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=max(1.0, deadline - time.monotonic()),
                check=False,
            )
        except subprocess.TimeoutExpired:
            stream.write("\nstopped: its time was up\n")
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
    session.results.add("tests", last_lines=tail)
