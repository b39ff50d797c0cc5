"""Every change of this project's own results that is called measured was compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change
from asv_watch.judge.findings import analyse
from asv_watch.records.comparisons import CaseRatio, StoredComparison
from asv_watch.records.git import read_commits
from asv_watch.records.history import History
from asv_watch.records.loading import load_history

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def history() -> History:
    try:
        commits = read_commits(ROOT)
    except WatchError as error:  # no checkout, or a shallow clone, which lacks what was compared
        pytest.skip(str(error))
    return load_history(ROOT / "results", commits)


def _ratios(history: History, change: Change) -> list[tuple[StoredComparison, CaseRatio]]:
    """The stored ratios of the case of a change, with the release of its series."""
    series = history.series[change.series]
    release = history.environments[series.environment].release
    return [
        (comparison, ratio)
        for comparison in history.comparisons[series.machine]
        if comparison.header.after.release == release
        for ratio in comparison.ratios
        if ratio.case == series.case.name
    ]


def _holds(history: History, change: Change) -> bool:
    """Tell whether the size of a change lies in an interval of exactly its two versions."""
    ends = [history.commits[at].hash for at in (change.previous, change.commit)]
    for comparison, ratio in _ratios(history, change):
        header, (low, high) = comparison.header, ratio.interval
        compared = [header.before.commit, header.after.commit]
        if header.before.release != header.after.release:
            continue
        if compared == ends and low <= (change.ratio or 0) <= high:
            return True
        if compared == ends[::-1] and low <= 1 / (change.ratio or 1) <= high:
            return True
    return False


def _is_quotient(history: History, change: Change) -> bool:
    """Tell whether a change is the quotient of two stored ratios to one reference."""
    ends = [history.commits[at].hash for at in (change.previous, change.commit)]
    ratios: dict[tuple[str, str], float] = {
        (comparison.header.before.commit, comparison.header.after.commit): ratio.ratio
        for comparison, ratio in _ratios(history, change)
        if comparison.header.kind == "reference"
    }
    return any(
        (reference, ends[1]) in ratios
        and change.ratio == pytest.approx(ratios[reference, ends[1]] / ratio)
        for (reference, after), ratio in ratios.items()
        if after == ends[0]
    )


def test_the_size_of_each_lies_in_the_interval_of_a_comparison_of_its_versions(
    history: History,
) -> None:
    measured = [change for change in analyse(history).changes if change.is_measured]
    assert measured
    for change in measured:
        check = _is_quotient if change.through else _holds
        assert check(history, change), history.series[change.series].case.name
        low, high = change.interval or (0.0, 0.0)
        assert low <= (change.ratio or 0) <= high
