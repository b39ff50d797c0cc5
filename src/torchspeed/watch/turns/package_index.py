"""Asks the package index, through pip, which releases of torch exist and what fits them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

from torchspeed.watch.turns.commands import run_command

_TIMEOUT = 600  # s: pip reads the metadata of wheels of several hundred MB
_FINAL = re.compile(r"^\d+(\.\d+)+$")


def published_releases(python: str) -> tuple[str, ...]:
    """Return the final releases of torch, the newest first; local builds such as +cpu are not.

    Args:
        python: version of Python for which they are published, such as ``3.11``.

    Raises:
        TorchspeedError: the index cannot be reached or does not know torch.
    """
    printed = _pip(["index", "versions", "torch", "--python-version", python])
    listed = re.search(r"^Available versions: (.*)$", printed, re.M)
    versions = listed[1].split(", ") if listed else []
    return tuple(version for version in versions if _FINAL.match(version))


def matching_torchvision(torch: str, python: str) -> str:
    """Return the newest release of torchvision that asks for this torch, or allows it.

    Only installing the two and using them tells whether they fit: some releases of torchvision
    allow releases of torch for which they were not built.

    Args:
        torch: release of torch.
        python: version of Python, such as ``3.11``.

    Raises:
        TorchspeedError: the index cannot be reached, or offers no such pair.
    """
    dry_run = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    platform = ["--python-version", python, "--only-binary", ":all:", "--target", "unused"]
    report = json.loads(_pip([*dry_run, *platform, f"torch==={torch}", "torchvision"]))
    versions = {
        package["metadata"]["name"]: package["metadata"]["version"]
        for package in report["install"]
    }
    return str(versions["torchvision"]).partition("+")[0]


def _pip(arguments: Sequence[str]) -> str:
    """Run pip and return what it printed.

    Raises:
        TorchspeedError: it failed.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    return run_command([*pip, *arguments], _TIMEOUT)
