"""A commit compared with itself: the noise."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from asv_watch.judge.precision import newest_repeats, summarise_repeats
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison, Version
from asv_watch.statistics.ratio import estimate_ratio


def _case(name: str, ratios: list[float]) -> CaseRatio:
    ratio, interval = estimate_ratio(ratios)
    return CaseRatio(name, 0, tuple(ratios), ratio, interval, 1.0, 1.0)


def _compared(*cases: CaseRatio, commit: str = "a" * 40, kind: str = "null") -> StoredComparison:
    version = Version(commit, {"torch": "2.15.0"}, "3.11")
    header = Header(kind=kind, at=1, machine="m", before=version, after=version, recipe={})  # type: ignore[arg-type]
    return StoredComparison(Path("x"), header, cases, ())


def test_noise_and_worst_are_those_of_all_comparisons_about_1() -> None:
    summary = summarise_repeats([_compared(_case("x", [r] * 3)) for r in (1.02, 0.99, 1.0)])
    assert summary is not None
    [case] = summary.cases
    logs = [math.log(ratio) for ratio in (1.02, 0.99, 1.0)]
    assert case.noise == summary.noise == pytest.approx(math.sqrt(sum(v * v for v in logs) / 3))
    assert case.worst == summary.worst == pytest.approx(0.02)
    assert (case.rounds, summary.repeats, summary.ratios) == (3, 3, 3)
    assert summary.false_alarms == 1  # 2 % in every round: certain, and above 1.5 %


def test_only_cases_in_every_comparison_count_and_the_noisiest_is_first() -> None:
    both, once, loud = (
        _case(name, [1.0, r]) for name, r in (("b", 1.01), ("o", 1.01), ("l", 1.1))
    )
    summary = summarise_repeats([_compared(both, once, loud), _compared(both, loud)])
    assert summary is not None
    assert [case.case for case in summary.cases] == ["l", "b"]
    assert summarise_repeats([_compared(once), _compared()]) is None


def test_the_version_that_was_compared_with_itself_last_counts() -> None:
    case = _case("x", [1.0, 1.0])
    old, new = _compared(case, commit="a" * 40), _compared(case, commit="b" * 40)
    other_recipe = replace(new, header=replace(new.header, recipe={"rounds": 1}))
    summary = newest_repeats([old, other_recipe, new, new, _compared(case, kind="planted")])
    assert summary is not None
    assert (summary.newest.after.commit, summary.repeats) == ("b" * 40, 2)
    assert newest_repeats([_compared(case, kind="planted")]) is None
