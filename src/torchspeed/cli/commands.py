"""Every subcommand of ``torchspeed``: its function, and what an interrupt leaves behind.

To add a subcommand, write a function whose parameters are its options, in a file
of its own, and add an entry here. Its file is read for every ``--help``, so it imports nothing
heavy (torch, asv, numpy) at its top: the function imports what does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchspeed.cli import latency, reproduce, sweep, training
from torchspeed.cli.information import info, list_names

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
    "train": Command(training.train, training.TRAIN_EXAMPLES),
    "inference": Command(training.inference, training.INFERENCE_EXAMPLES),
    "smooth-inference": Command(training.smooth_inference, training.SMOOTH_EXAMPLES),
    "sweep": Command(sweep.sweep, sweep.EXAMPLES, interrupted=CONTINUES),
    "reproduce": Command(reproduce.reproduce, reproduce.EXAMPLES),
    "latency": Command(latency.latency, latency.EXAMPLES),
    "list": Command(list_names),
    "info": Command(info),
}
