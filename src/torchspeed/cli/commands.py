"""Every subcommand of ``torchspeed``: its function, and what it needs installed.

To add a subcommand, write ``cli/<name>.py`` with a function whose parameters are its options,
and add an entry here. That file is read for every ``--help``, so it imports nothing heavy
(torch, asv, numpy) at its top: the function imports what does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchspeed.cli import inference, sweep, train
from torchspeed.cli.bench import bench
from torchspeed.cli.bisect import bisect
from torchspeed.cli.calibrate import calibrate
from torchspeed.cli.compare import compare
from torchspeed.cli.confirm import confirm
from torchspeed.cli.explain import explain
from torchspeed.cli.information import info, list_names
from torchspeed.cli.nightly import nightly
from torchspeed.cli.preview import preview
from torchspeed.cli.publish import publish
from torchspeed.cli.reference import reference
from torchspeed.cli.releases import releases

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
    "bench": Command(bench, WATCH, interrupted=CONTINUES),
    "nightly": Command(nightly, WATCH, interrupted=CONTINUES),
    "compare": Command(compare, WATCH, interrupted="the finished cases are stored"),
    "reference": Command(reference, WATCH, interrupted="the finished cases are stored"),
    "confirm": Command(confirm, WATCH, interrupted="the finished cases are stored"),
    "bisect": Command(bisect, WATCH, interrupted="the comparisons so far are stored"),
    "explain": Command(explain, WATCH, interrupted="nothing was printed"),
    "calibrate": Command(
        calibrate, WATCH, interrupted="nothing was kept: that takes two whole runs"
    ),
    "releases": Command(releases, WATCH, interrupted=CONTINUES),
    "publish": Command(publish, WATCH, interrupted="the site is as it was before"),
    "preview": Command(preview, WATCH),
    "train": Command(train.train, TRAIN, train.EXAMPLES),
    "inference": Command(inference.inference, TRAIN, inference.EXAMPLES),
    "smooth-inference": Command(inference.smooth_inference, TRAIN, inference.SMOOTH_EXAMPLES),
    "sweep": Command(sweep.sweep, TRAIN, sweep.EXAMPLES),
    "list": Command(list_names, TRAIN),
    "info": Command(info, TRAIN),
}
