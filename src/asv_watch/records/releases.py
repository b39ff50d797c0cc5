"""Facts about each release on a machine: ``results/<machine>/releases.jsonl``.

One line for each time that a release was installed and tried, the newest last. What it changed is
in the comparisons of kind ``release`` (`asv_watch.records.comparisons`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from packaging.version import InvalidVersion, Version

from asv_watch.records.json_lines import read_stored
from asv_watch.records.records import Problem, Time, main_release

FILE_NAME = "releases.jsonl"


def import_case(requirement: str) -> str:
    """Name the case of the CPU seconds of an import in a process of its own."""
    return f"import {requirement}"


class TriedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """A release of a requirement that was installed, or could not be.

    Lines before 2026-11-25 have figures of imports too, which comparisons replaced.
    """

    requirements: Annotated[dict[str, str], msgspec.Meta(min_length=1)]
    """Name to release: the requirement itself first, then those that belong to it."""
    at: Time
    failed: str = ""
    """Why it cannot be installed or imported; empty where it can."""
    facts: dict[str, str] = {}
    """The environment: Python, packages, and what the project's own script adds."""
    format: Literal[2] = 2

    @property
    def name(self) -> str:
        """Such as ``numpy 2.4.0``."""
        return main_release(self.requirements)


def read_releases(
    results: Path, machine: str
) -> tuple[dict[str, TriedRelease], tuple[Problem, ...]]:
    """Read a machine's file.

    Returns:
        The newest line of each release, by its name, and a problem for each damaged line.
    """
    tried, problems = read_stored(results / machine / FILE_NAME, TriedRelease, "release")
    return {release.name: release for release in tried}, problems


@cache
def release_order(version: str) -> Version:
    """Return what releases are ordered by: 2.9 before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is no version comes first.
    """
    try:
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version("0")
