"""Every subcommand of ``torchspeed``: its function, and what it needs installed.

To add a subcommand, write a function whose parameters are its options, in ``watch.py`` or a file
of its own, and add an entry here. Its file is read for every ``--help``, so it imports nothing
heavy (torch, asv, numpy) at its top: the function imports what does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchspeed.cli import forecasts, gate, latency, results, submit, sweep, training, watch
from torchspeed.cli.information import info, list_names

WATCH, TRAIN = "watch", "measure,train"
"""Extras of the package, as ``pip install 'torchspeed[...]'`` takes them."""
_PANELS = {WATCH: "Measure and publish", TRAIN: "Train and infer"}
CONTINUES = "the same command continues where it stopped"


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    run: Callable[..., Any]
    """Returns the exit status, or ``None`` for 0."""
    extras: str
    """What has to be installed for it."""
    examples: str = ""
    interrupted: str = ""
    """What Ctrl-C leaves behind, for the message after it."""

    @property
    def panel(self) -> str:
        """Heading under which ``--help`` lists it."""
        return _PANELS[self.extras]


COMMANDS = {
    "bench": Command(watch.bench, WATCH, interrupted=CONTINUES),
    "nightly": Command(watch.nightly, WATCH, interrupted=CONTINUES),
    "compare": Command(watch.compare, WATCH, interrupted="the finished cases are stored"),
    "gate": Command(gate.gate, WATCH, gate.EXAMPLES, interrupted="nothing was written"),
    "gate-comment": Command(gate.gate_comment, WATCH),
    "reference": Command(watch.reference, WATCH, interrupted="the finished cases are stored"),
    "confirm": Command(watch.confirm, WATCH, interrupted="the finished cases are stored"),
    "bisect": Command(watch.bisect, WATCH, interrupted="the comparisons so far are stored"),
    "explain": Command(watch.explain, WATCH, interrupted="nothing was printed"),
    "calibrate": Command(
        watch.calibrate,
        WATCH,
        interrupted="nothing was stored: a calibration needs two whole runs",
    ),
    "releases": Command(watch.releases, WATCH, interrupted=CONTINUES),
    "report": Command(watch.report, WATCH),
    "results": Command(results.results, WATCH, results.EXAMPLES),
    "submit": Command(submit.submit, WATCH, submit.EXAMPLES),
    "verify": Command(submit.verify, WATCH, interrupted="nothing was stored"),
    "publish": Command(watch.publish, WATCH, interrupted="the site is as it was before"),
    "preview": Command(watch.preview, WATCH),
    "train": Command(training.train, TRAIN, training.TRAIN_EXAMPLES),
    "inference": Command(training.inference, TRAIN, training.INFERENCE_EXAMPLES),
    "smooth-inference": Command(training.smooth_inference, TRAIN, training.SMOOTH_EXAMPLES),
    "sweep": Command(sweep.sweep, TRAIN, sweep.EXAMPLES),
    "forecasts": Command(forecasts.forecasts, TRAIN, forecasts.EXAMPLES, interrupted=CONTINUES),
    "latency": Command(latency.latency, TRAIN, latency.EXAMPLES),
    "list": Command(list_names, TRAIN),
    "info": Command(info, TRAIN),
}
