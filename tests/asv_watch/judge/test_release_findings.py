"""Differences between torch releases: measured on so many days, or refuted by a newer one."""

from __future__ import annotations

import pytest

from asv_watch.judge.release_history import release_findings, release_histories
from tests.asv_watch.planted_releases import DAY, compared_releases

FIRST = compared_releases("2.1.0", "2.2.0", {}).header.at


@pytest.mark.parametrize(
    ("days", "state"),
    [
        ((0.9, 0.93), "measured on 2 of 2 days"),
        ((0.9,), "measured on 1 day"),
        ((1.0, 0.9), "measured on 1 of 2 days"),
        ((0.93, 0.965), "measured on 1 of 2 days"),
        ((0.9, 1.0), "refuted"),
        ((0.9, 1.1), "measured on 1 of 2 days"),
        ((0.9, 0.93, 0.96), "measured on 2 of 3 days"),
        ((0.9, 0.96, 0.93), "measured on 2 of 3 days"),
        ((0.9, 0.91, 1.0), "refuted"),
        ((0.9, 0.93, 1.1), "measured on 1 of 3 days"),
        ((1.1, 0.9, 0.93), "measured on 2 of 3 days"),
        ((1.1, 0.93, 0.96), "measured on 1 of 3 days"),
        ((1.0, 1.01), None),
    ],
)
def test_a_difference_is_measured_on_the_days_that_show_it_unless_a_newer_one_excludes_it(
    days: tuple[float, ...], state: str | None
) -> None:
    comparisons = [
        compared_releases("2.1.0", "2.2.0", {"a": ratio}, half=0.05, at=FIRST + day * DAY)
        for day, ratio in enumerate(days)
    ]
    [history] = release_histories({"ci-2core": comparisons})
    findings = release_findings(history.steps[0])
    assert [finding.state for finding in findings] == ([state] if state else [])
    if findings:
        assert [ratio.ratio for ratio in findings[0].days] == list(days)


def test_comparisons_of_one_day_count_once_and_cases_of_most_days_come_first() -> None:
    [history] = release_histories(
        {
            "ci-2core": [
                compared_releases("2.1.0", "2.2.0", {"a": 0.9, "b": 0.8}, at=FIRST),
                compared_releases("2.1.0", "2.2.0", {"b": 0.81, "c": 0.7}, at=FIRST + 60),
                compared_releases("2.1.0", "2.2.0", {"a": 0.9}, at=FIRST + DAY),
            ]
        }
    )
    findings = release_findings(history.steps[0])
    assert [(finding.case, finding.state) for finding in findings] == [
        ("a", "measured on 2 of 2 days"),
        ("c", "measured on 1 day"),
        ("b", "measured on 1 day"),
    ]
    assert [ratio.ratio for ratio in findings[2].days] == [0.81]
