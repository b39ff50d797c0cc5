"""Commands as programs of their own, which end by a status or a signal."""

import os
import subprocess
import sys
from pathlib import Path

_COMMAND = "import sys; from asv_watch.cli.__main__ import main; sys.exit(main())"
"""The installed script. ``python -m`` may end by SIGINT instead of with the status of `main`."""


def start_driver(job: str, project: Path, home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a job in a project, as the leader of a process group of its own, without CUDA."""
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND, job, "--machine", "m", *arguments],
        cwd=project,
        env=os.environ | {"HOME": str(home), "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_driver(
    job: str, project: Path, home: Path, *arguments: str, status: int = 0
) -> tuple[str, str]:
    """Run a job to its end, which has to have a status; return its output and errors."""
    process = start_driver(job, project, home, *arguments)
    output, errors = process.communicate()
    assert process.returncode == status, output + errors
    return output, errors
