"""Every subcommand of ``asv-watch``: its function, and what an interrupt leaves behind.

To add a subcommand, write a function whose parameters are its options, in ``watch.py`` or a file
of its own, and add an entry here. Its file is read for every ``--help``, so it imports nothing
heavy (asv, numpy) at its top: the function imports what does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asv_watch.cli import gate, results, submit, watch

CONTINUES = "the same command continues where it stopped"


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    run: Callable[..., Any]
    """Returns the exit status, or ``None`` for 0."""
    examples: str = ""
    interrupted: str = ""
    """What Ctrl-C leaves behind, for the message after it."""


COMMANDS = {
    "bench": Command(watch.bench, interrupted=CONTINUES),
    "nightly": Command(watch.nightly, interrupted=CONTINUES),
    "compare": Command(watch.compare, interrupted="the finished cases are stored"),
    "gate": Command(gate.gate, gate.EXAMPLES, interrupted="nothing was written"),
    "gate-comment": Command(gate.gate_comment),
    "reference": Command(watch.reference, interrupted="the finished cases are stored"),
    "confirm": Command(watch.confirm, interrupted="the finished cases are stored"),
    "bisect": Command(watch.bisect, interrupted="the comparisons so far are stored"),
    "explain": Command(watch.explain, interrupted="nothing was printed"),
    "calibrate": Command(watch.calibrate, interrupted="the finished cases are stored"),
    "releases": Command(watch.releases, interrupted=CONTINUES),
    "report": Command(watch.report),
    "results": Command(results.results, results.EXAMPLES),
    "submit": Command(submit.submit, submit.EXAMPLES),
    "publish": Command(watch.publish, interrupted="the site is as it was before"),
    "preview": Command(watch.preview),
}
