"""Results of the gate, made by hand."""

from typing import Any

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.gate.result import GateResult
from tests.planted_comparisons import case_values


def change(
    percent: float, half: float = 0.8, unit: str = "seconds", *, higher_is_better: bool = False
) -> Ratio:
    low, ratio, high = (1 + end / 100 for end in (percent - half, percent, percent + half))
    return Ratio(
        case="s.time_z",
        unit=unit,
        ratio=ratio,
        interval=(low, high),
        before=0.01,
        after=0.01 * ratio,
        higher_is_better=higher_is_better,
        rounds=6,
    )


def exact(before: float, after: float, unit: str, *, higher_is_better: bool = False) -> Ratio:
    values = case_values("s.track_z", before, after, exact=True)
    described = msgspec.structs.replace(values, unit=unit, higher_is_better=higher_is_better)
    ratio = described.ratio(0, 1)
    assert ratio is not None
    return ratio


def result(*cases: str, **changes: Any) -> GateResult:
    """The result of a gate: cases that were not measured, and its other fields.

    One ratio of a case may stand for a tuple of one.
    """
    measured = {
        case: tuple(
            msgspec.structs.replace(ratio, case=case)
            for ratio in (ratios if isinstance(ratios, tuple) else (ratios,))
        )
        for case, ratios in changes.pop("ratios", {}).items()
    }
    made = GateResult(
        base="a" * 40,
        head="b" * 40,
        environment="torch 2.15.0",
        machine="m",
        pattern="",
        threshold=0.03,
        available=34,
        limit_s=1200,
        seconds=300,
        ratios=measured,
        left=cases,
        is_prepared=True,
    )
    return msgspec.structs.replace(made, **changes)
