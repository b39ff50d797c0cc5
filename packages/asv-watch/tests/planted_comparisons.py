"""Interleaved comparisons of releases and of commits, and values: each change is known."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.comparison import Comparison, Kind, Sitting, import_case
from asv_watch.records.store import (
    Explanation,
    OperatorDifference,
    SittingWriter,
    StoredExplanation,
)
from asv_watch.versions.version import Version
from tests.making import commit_hash, make_rounds

AT = 1_780_000_000
COMMIT = "6b7719da982193ab914d12f65da0a515cc63d193"


def explained_releases(
    before: str, after: str, case: str, operator: str, seconds: tuple[float, float]
) -> StoredExplanation:
    """Explain the whole difference of a case between two releases by one operator."""
    old, new = (Version(COMMIT, {"torch": name}, "3.11") for name in (before, after))
    difference = OperatorDifference(operator, "[[8]]", (1.0, 1.0), seconds, clear=True)
    explanation = Explanation(seconds=seconds, operators=(difference,))
    return StoredExplanation(case=case, at=AT, before=old, after=new, explanation=explanation)


def compared_releases(
    before: str,
    after: str,
    ratios: Mapping[str, float],
    *,
    half: float = 0.02,
    kind: Kind = "release",
    at: int = AT,
    machine: str = "ci-2core",
    skipped: str = "",
    values: tuple[Comparison, ...] = (),
    requirement: str = "torch",
    commits: tuple[str, str] = (COMMIT, COMMIT),
    unit: str = "seconds",
) -> list[Comparison]:
    """Compare two releases; ``half`` is the half-width of the intervals within the sitting.

    ``skipped`` names a further case, which was skipped; ``values`` are those of other cases.
    """
    versions = tuple(
        Version(commit, {requirement: name}, "3.11")
        for commit, name in zip(commits, (before, after), strict=True)
    )
    sitting = Sitting(kind=kind, at=at, machine=machine, versions=versions)
    noise = math.log1p(half)
    cases = [
        Comparison(case, at, unit, tuple((0.01, 0.01 * n) for n in make_rounds(ratio, noise)))
        for case, ratio in ratios.items()
    ]
    if skipped:
        cases.append(Comparison(skipped, at, skipped=dict.fromkeys((0, 1), "this lacks it")))
    return [msgspec.structs.replace(case, sitting=sitting) for case in (*cases, *values)]


def compared_commits(
    commits: tuple[str | int, str | int],
    ratios: Mapping[str, float],
    *,
    kind: Kind = "confirm",
    half: float = 0.01,
    torch: str = "2.15.0",
    before_torch: str = "",
    **others: Any,
) -> list[Comparison]:
    """Compare commits, by hash or number, with a release of torch or, before, with another."""
    before, after = (each if isinstance(each, str) else commit_hash(each) for each in commits)
    others |= {"half": half, "kind": kind, "commits": (before, after)}
    return compared_releases(before_torch or torch, torch, ratios, **others)


def compared_cases(
    cases: tuple[str, str], seconds: tuple[float, float], *, machine: str
) -> list[Comparison]:
    """Make a comparison of two cases of one commit with torch 2.15.0."""
    version = Version(COMMIT, {"torch": "2.15.0"}, "3.11")
    sitting = Sitting(kind="cases", at=AT, machine=machine, versions=(version, version))
    rounds = tuple((seconds[0] * each, seconds[1] * each) for each in (1.0, 1.1, 1.03, 1.2))
    return [Comparison(cases[0], AT, rounds=rounds, cases=cases, sitting=sitting)]


def failed_release(
    before: str, after: str, reason: str, *, failed_before: bool = False, machine: str = "ci-2core"
) -> list[Comparison]:
    """Try to compare two releases of torch, one of which cannot be installed."""
    failed = Comparison(import_case("torch"), AT, failed={0 if failed_before else 1: reason})
    return compared_releases(before, after, {}, machine=machine, values=(failed,))


def store(results: Path, comparisons: Sequence[Comparison]) -> None:
    """Write the comparisons of one sitting as `asv-watch releases measure` does."""
    writer = SittingWriter(results, comparisons[0].sitting)
    for comparison in comparisons:
        writer.add(comparison)
    writer.end()


def case_values(case: str, before: float, after: float, *, exact: bool = False) -> Comparison:
    """Peak memory of a case, or an exact amount."""
    return Comparison(case, AT, "bytes", rounds=((before, after),), exact=exact)
