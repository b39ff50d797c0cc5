"""Compares two sides case by case and stores the result."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch import quantities
from asv_watch.asv.selection import Selection
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase, Measures, list_cases
from asv_watch.engine.rounds import DEFAULT, Keep, Sampling, measure_cases
from asv_watch.engine.sides import Side
from asv_watch.errors import WatchError
from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    CaseValues,
    ComparisonWriter,
    Header,
    Kind,
    Unmeasured,
)
from asv_watch.statistics.ratio import ESTIMATE
from asv_watch.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of a comparison."""

    ratios: tuple[CaseRatio, ...]
    unmeasured: tuple[Unmeasured, ...]
    path: Path | None
    """Where it is stored; ``None`` where a side is not committed."""
    values: tuple[CaseValues, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a case failed on a side."""
        return any(case.failed for case in self.unmeasured)


def compare(
    place: Workplace,
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    kind: Kind | None = None,
    sampling: Sampling = DEFAULT,
    extra: Sequence[CaseResult] = (),
) -> Compared:
    """Measure two sides interleaved, then what needs no clock; store each finished case.

    Args:
        place: the checkout, whose suites measure both sides.
        sides: before and after.
        cases: what to measure.
        kind: why they are compared; by default it follows from what differs between the sides.
        sampling: how many rounds a case gets.
        extra: results of the same comparison that no suite measures; stored first.

    Raises:
        WatchError: no case ran on both sides.
    """
    writer = _writer(place, sides, kind, sampling)
    keep: Keep = (lambda result: None) if writer is None else writer.add
    for result in extra:
        keep(result)
    results = [*extra, *measure_cases(sides, cases, keep, sampling)]
    compared = Compared(
        tuple(result for result in results if isinstance(result, CaseRatio)),
        tuple(result for result in results if isinstance(result, Unmeasured)),
        None if writer is None else writer.path,
        tuple(result for result in results if isinstance(result, CaseValues)),
    )
    if compared.unmeasured and not compared.ratios and not compared.values:
        reason = compared.unmeasured[0].failed or compared.unmeasured[0].skipped
        raise WatchError(f"no case ran on both sides ({reason}); `asv run` says more")
    return compared


def compare_missing(
    place: Workplace,
    sides: tuple[Side, Side],
    selection: Selection,
    known: Collection[str],
    kind: Kind,
    *wanted: Measures,
) -> list[Compared]:
    """Compare two commits in the cases that measure what is wanted and are not known of them yet.

    An interrupt keeps the finished cases.

    Returns:
        The comparison, if anything was missing.

    Raises:
        WatchError: a side is not committed, or no case ran.
    """
    old, new = sides
    if old.version is None:
        raise WatchError(f"{old.name} is not committed, so its comparison cannot be stored")
    cases = list_cases(place, (new, old), selection, *wanted)
    missing = [case for case in cases if case.name not in known]
    if not missing or old.version == new.version:
        return []
    print(
        f"{new.name}\n  against {old.name}: {quantities.counted(len(missing), 'case')}", flush=True
    )
    return [compare(place, sides, missing, kind)]


def _writer(
    place: Workplace, sides: tuple[Side, Side], kind: Kind | None, sampling: Sampling
) -> ComparisonWriter | None:
    before, after = (side.version for side in sides)
    if before is None or after is None:
        return None
    planted = sides[1].planted
    if planted:
        kind = "planted"
    elif kind is None:
        kind = "null" if before == after else "compare"
        kind = "release" if before != after and before.commit == after.commit else kind
    forks = all(side.environment.fork_safe for side in sides)
    header = Header(
        kind=kind,
        at=int(time.time()),
        machine=place.machine,
        before=before,
        after=after,
        recipe={
            **dataclasses.asdict(sampling),
            "fewest_samples": processes.FEWEST_SAMPLES,
            "most_samples": processes.MOST_SAMPLES,
            "round_s": processes.SECONDS,
            "estimate": ESTIMATE,
            **({} if forks else {"processes": "all cases one after the other in one"}),
            **({"planted": planted} if planted else {}),
        },
    )
    return ComparisonWriter(place.configuration.results, header)
