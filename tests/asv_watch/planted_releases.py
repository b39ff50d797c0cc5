"""Interleaved comparisons of torch releases, and values, in which each change is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    ComparisonWriter,
    Header,
    Kind,
    StoredComparison,
    Unmeasured,
    Version,
)
from asv_watch.records.release_values import ReleaseValue

DAY = 86_400
ROUNDS = 6
COMMIT = "6b7719da982193ab914d12f65da0a515cc63d193"


def compared_releases(
    before: str,
    after: str,
    ratios: Mapping[str, float],
    *,
    half: float = 0.02,
    kind: Kind = "release",
    at: int = 1_780_000_000,
    machine: str = "ci-2core",
    skipped: str = "",
) -> StoredComparison:
    """Compare two releases.

    Args:
        before: Version of torch.
        after: The later version.
        ratios: Case to its ratio.
        half: Half-width of the intervals, as a logarithm.
        kind: ``null`` for a release against itself.
        at: When, seconds since the epoch.
        machine: Where.
        skipped: A further case, which was skipped.
    """
    versions = [Version(COMMIT, torch, "0.29", "3.11") for torch in (before, after)]
    header = Header(kind=kind, at=at, machine=machine, before=versions[0], after=versions[1])
    results = tuple(
        CaseRatio(
            case,
            at,
            (ratio,) * ROUNDS,
            ratio,
            (ratio / (1 + half), ratio * (1 + half)),
            0.01,
            0.01 * ratio,
        )
        for case, ratio in ratios.items()
    )
    others = (Unmeasured(skipped, at, skipped="this release lacks it"),) if skipped else ()
    return StoredComparison(Path("planted.jsonl"), header, results, others)


def store(results: Path, comparison: StoredComparison) -> None:
    """Write a comparison as `asv-watch releases measure` does."""
    writer = ComparisonWriter(results, comparison.header)
    cases: tuple[CaseResult, ...] = (*comparison.ratios, *comparison.unmeasured)
    for result in cases:
        writer.add(result)


def release_value(
    torch: str,
    case: str,
    value: float | None,
    *,
    commit: str = COMMIT,
    unit: str = "bytes",
    exact: bool = False,
    failed: str = "",
) -> ReleaseValue:
    """Peak memory or a count of a case; without a value it failed or was skipped."""
    return ReleaseValue(
        torch=torch,
        torchvision="0.29",
        commit=commit,
        case=case,
        at=1_780_000_000,
        unit=unit,
        exact=exact,
        value=value,
        skipped="" if value is not None or failed else "this release lacks it",
        failed=failed,
    )
