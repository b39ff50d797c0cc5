"""Differences between releases: by all their days together, which may disagree."""

from __future__ import annotations

import pytest

from asv_watch.judge.release_history import ReleaseStep, release_findings, release_steps
from asv_watch.records.comparisons import StoredComparison
from tests.planted_comparisons import DAY, compared_releases

FIRST = compared_releases("2.1.0", "2.2.0", {}).header.at


def step_of(*comparisons: StoredComparison) -> ReleaseStep:
    [step] = release_steps(comparisons, "torch").values()
    return step


@pytest.mark.parametrize(
    ("days", "state"),
    [
        ((0.9,), "measured on 1 day"),
        ((0.9, 0.93), "measured on 2 of 2 days"),
        ((0.9, 0.96, 0.93), "measured on 3 of 3 days"),
        ((0.8, 0.8, 1.01), "measured on 2 of 3 days"),
        ((0.95, 1.0), None),
        ((0.9, 1.1), None),
        ((1.0, 1.01), None),
    ],
)
def test_a_difference_is_what_all_days_together_show(
    days: tuple[float, ...], state: str | None
) -> None:
    comparisons = [
        compared_releases("2.1.0", "2.2.0", {"a": ratio}, half=0.05, at=FIRST + day * DAY)
        for day, ratio in enumerate(days)
    ]
    findings = release_findings(step_of(*comparisons))
    assert [finding.state for finding in findings] == ([state] if state else [])
    if findings:
        assert [ratio.ratio for ratio in findings[0].days] == list(days)


def test_comparisons_of_one_day_count_once_and_the_most_certain_case_comes_first() -> None:
    step = step_of(
        compared_releases("2.1.0", "2.2.0", {"a": 0.9, "b": 0.8}, at=FIRST),
        compared_releases("2.1.0", "2.2.0", {"b": 0.81, "c": 0.7}, at=FIRST + 60),
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}, at=FIRST + DAY),
    )
    findings = release_findings(step)
    assert [(finding.case, finding.state) for finding in findings] == [
        ("c", "measured on 1 day"),
        ("b", "measured on 1 day"),
        ("a", "measured on 2 of 2 days"),
    ]
    assert [ratio.ratio for ratio in findings[1].days] == [0.81]
