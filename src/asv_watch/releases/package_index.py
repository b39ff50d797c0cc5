"""Asks the package index, through pip, which versions of torch exist and what fits them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from asv_watch.errors import PlaceError, WatchError
from asv_watch.interleave.commands import run_command
from asv_watch.records.release_order import is_development, release_order

_TIMEOUT = 600  # s: pip reads the metadata of wheels of several hundred MB
_FINAL = re.compile(r"^\d+(\.\d+)+$")
_DEVELOPMENT = re.compile(r"^\d+(\.\d+)+\.dev\d+$")
_BUILDS_TRIED = 3
"""Development builds of torch, the newest first: the torchvision of a day is published later."""


class _Metadata(msgspec.Struct):
    name: str
    version: str


class _Package(msgspec.Struct):
    metadata: _Metadata


class _Report(msgspec.Struct):
    """What ``pip install --report`` says would be installed."""

    install: list[_Package]


@dataclass(frozen=True, slots=True)
class Published:
    """The versions of torch that the index offers, the newest first."""

    releases: tuple[str, ...]
    """Final releases; local builds such as +cpu are not among them."""
    development: tuple[str, ...]
    """Development builds, without the local part of their versions."""


def add_index(address: str) -> None:
    """Let pip ask another package index too, in this process and those that it starts."""
    known = os.environ.get("PIP_EXTRA_INDEX_URL", "")
    os.environ["PIP_EXTRA_INDEX_URL"] = f"{known} {address}".strip()


def published_versions(python: str) -> Published:
    """Ask which versions of torch there are.

    Args:
        python: version of Python for which they are published, such as ``3.11``.

    Raises:
        WatchError: the index cannot be reached or does not know torch.
    """
    printed = _pip(["index", "versions", "torch", "--pre", "--python-version", python])
    listed = re.search(r"^Available versions: (.*)$", printed, re.M)
    versions = listed[1].split(", ") if listed else []
    public = dict.fromkeys(version.partition("+")[0] for version in versions)
    return Published(
        releases=tuple(version for version in versions if _FINAL.match(version)),
        development=tuple(version for version in public if _DEVELOPMENT.match(version)),
    )


def requirement(package: str, version: str) -> str:
    """Return how pip is asked for a version: the published wheel of a release, no local build.

    A development build may be a local one, such as ``2.16.0.dev20261121+cpu``.
    """
    return f"{package}{'==' if is_development(version) else '==='}{version}"


def matching_torchvision(torch: str, python: str) -> str:
    """Return the newest release of torchvision that asks for this torch, or allows it.

    Only installing the two and using them tells whether they fit: some releases of torchvision
    allow releases of torch for which they were not built.

    Args:
        torch: release of torch, or a development build.
        python: version of Python, such as ``3.11``.

    Raises:
        WatchError: the index cannot be reached, or offers no such pair.
    """
    dry_run = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    platform = ["--python-version", python, "--only-binary", ":all:", "--target", "unused"]
    before_release = ["--pre"] if is_development(torch) else []
    wanted = [requirement("torch", torch), "torchvision"]
    printed = _pip([*dry_run, *platform, *before_release, *wanted])
    try:
        report = msgspec.json.decode(printed, type=_Report)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise PlaceError(f"pip's report cannot be read ({error}); try again later") from error
    versions = {package.metadata.name: package.metadata.version for package in report.install}
    if "torchvision" not in versions:
        raise WatchError(f"the package index offers no torchvision for torch {torch}")
    return versions["torchvision"].partition("+")[0]


def development_build(newest: str, python: str) -> tuple[str, str]:
    """Return the newest development build of torch, and of its torchvision.

    Args:
        newest: the newest release of torch, which the build has to follow.
        python: version of Python, such as ``3.11``.

    Raises:
        WatchError: the index cannot be reached, or offers no such build.
    """
    published = published_versions(python).development
    later = [build for build in published if release_order(build) > release_order(newest)]
    for torch in later[:_BUILDS_TRIED]:
        try:
            torchvision = matching_torchvision(torch, python)
        except WatchError:
            continue  # the build of the day before may have its torchvision
        if is_development(torchvision):
            return torch, torchvision
    raise WatchError(
        f"the package index offers no development build of torch after {newest} with its "
        "torchvision; name an index that does: `--index ADDRESS`, or PIP_EXTRA_INDEX_URL"
    )


def _pip(arguments: Sequence[str]) -> str:
    """Run pip and return what it printed.

    Raises:
        WatchError: it failed.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    return run_command([*pip, *arguments], _TIMEOUT)
