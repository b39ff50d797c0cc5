"""Paths of the scripts that run in the measured environment (`asv_watch.probes`).

They are run by path and never imported here, so that this side stays free of torch.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent

TIMER = _FOLDER / "timer.py"
"""Times cases, a sample on request."""
CASE_SERVER = _FOLDER / "case_server.py"
"""Imports torch, and forks a process for each script that it is asked to run."""
OPERATORS = _FOLDER / "operators.py"
"""Prints the operators and oneDNN kernels of one case as JSON."""
ENVIRONMENT = _FOLDER / "environment.py"
"""Prints Python, torch and its build, threads and variables as JSON."""
IMPORTING = _FOLDER / "importing.py"
"""Prints what importing torch costs as JSON, and checks that torchvision fits."""
EXECUTED = _FOLDER / "executed.py"
"""Prints how much of each case's time passes in changed functions as JSON."""
VALUES = _FOLDER / "values.py"
"""Prints peak memory and exact counts of cases as JSON."""
