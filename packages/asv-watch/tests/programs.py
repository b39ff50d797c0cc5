"""The command in a process of its own, where other packages are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT

_WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from asv_watch.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_program(
    *arguments: str,
    missing: Sequence[str] = (),
    folder: Path = ROOT,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run the command where packages are missing."""
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(missing=missing), *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"},
        check=False,
    )
