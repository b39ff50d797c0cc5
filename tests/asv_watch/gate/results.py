"""Results of the gate, made by hand."""

from __future__ import annotations

from typing import Any

import msgspec

from asv_watch.gate.result import GateCase, GateResult, HeadAgainstBase


def change(percent: float, half: float = 0.8) -> HeadAgainstBase:
    low, middle, high = (1 + end / 100 for end in (percent - half, percent, percent + half))
    return HeadAgainstBase(middle, (low, high), 0.01, 0.01 * middle, 6)


def result(*cases: GateCase, **changes: Any) -> GateResult:
    made = GateResult(
        pull_request=7,
        base="a" * 40,
        head="b" * 40,
        environment="torch 2.15.0",
        machine="m",
        pattern="",
        available=34,
        limit_s=1200,
        seconds=300,
        cases=cases,
    )
    return msgspec.structs.replace(made, **changes)
