"""What is known of each torch release on a machine: ``results/<machine>/releases.jsonl``.

One line for each time that a release was installed and tried, the newest last. How fast the
models are is in the comparisons of kind ``release`` (`asv_watch.records.comparisons`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.records.json_lines import read_stored
from asv_watch.records.records import Problem

FILE_NAME = "releases.jsonl"
IMPORT_CASE = "imports.Imports.time_import('torch')"
"""CPU seconds of ``import torch`` in a process of its own, in comparisons of releases."""


class TriedRelease(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A torch release that was installed, or could not be."""

    torch: str
    torchvision: str
    at: Annotated[int, msgspec.Meta(ge=0, lt=10**11)]
    """When, seconds since the epoch."""
    failed: str = ""
    """Why it cannot be installed or imported; empty where it can."""
    import_s: tuple[Annotated[float, msgspec.Meta(gt=0)], ...] = ()
    """CPU seconds of ``import torch``, one for each process."""
    import_peak_bytes: tuple[Annotated[int, msgspec.Meta(gt=0)], ...] = ()
    """Peak resident set after ``import torch``, one for each process."""
    facts: dict[str, str] = {}
    """The environment: torch's build, oneDNN, MKL, packages (`probes/environment.py`)."""
    format: Literal[1] = 1


def read_releases(
    results: Path, machine: str
) -> tuple[dict[str, TriedRelease], tuple[Problem, ...]]:
    """Read a machine's file.

    Returns:
        The newest line of each torch release, and a problem for each damaged line.
    """
    tried, problems = read_stored(results / machine / FILE_NAME, TriedRelease, "release")
    return {release.torch: release for release in tried}, problems
