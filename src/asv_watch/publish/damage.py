"""Reports stored results that could not be read."""

from __future__ import annotations

import sys

from asv_watch.exit_status import ExitStatus
from asv_watch.records.history import History


def report_damage(history: History) -> ExitStatus:
    """Print what was left out of a history because it is damaged, and return the exit status."""
    for problem in history.problems:
        print(f"left out: {problem.path}: {problem.message}", file=sys.stderr)
    return ExitStatus.SOME_CASES_FAILED if history.problems else ExitStatus.DONE
