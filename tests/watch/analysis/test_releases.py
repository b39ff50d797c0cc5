"""Torch releases against each other: at which commit, with which verdict, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.watch.making import MACHINE, commit_hash, figure, make_history, make_series
from torchspeed.watch.analysis.releases import (
    ReleaseComparison,
    Releases,
    compare_releases,
    release_order,
)
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.history.comparisons import CaseRatio, Header, StoredComparison, Version
from torchspeed.watch.history.history import History
from torchspeed.watch.history.records import NEVER_RUN, Environment, Outcome, Run, Series

OLD, NEW = "2.9.1", "2.10.0"


def history_of(series: list[Series]) -> History:
    """A history whose environments are named for their release of torch."""
    history = make_history(series)
    environments = {
        name: Environment(name, "3.11", {"torch": name}) for name in history.environments
    }
    facts: dict[tuple[str, str], dict[str, dict[str, str]]] = {
        (one.machine, one.environment): {commit: {} for commit in one.runs} for one in series
    }
    return replace(history, environments=environments, facts=facts)


def releases(
    before: list[float | Run], after: list[float | Run], noise: float | None = 0.01
) -> Releases:
    history = history_of(
        [make_series(before, environment=OLD), make_series(after, environment=NEW)]
    )
    [found] = compare_releases(history, [noise, noise])
    return found


def compare(
    before: list[float | Run], after: list[float | Run], noise: float | None = 0.01
) -> ReleaseComparison:
    [pair] = releases(before, after, noise).pairs
    assert (pair.before, pair.after) == (OLD, NEW)
    [comparison] = pair.cases
    return comparison


def test_releases_are_compared_at_the_newest_commit_that_both_measured() -> None:
    failed = Run(Outcome.FAILED)
    assert releases([1.0, 1.0, failed], [1.0, 0.8, 0.7]).commit == commit_hash(1)
    comparison = compare([1.0, 1.0, failed], [1.0, 0.8, 0.7])
    assert (comparison.commit, comparison.ratio) == (commit_hash(1), 0.8)
    assert comparison.verdict is Verdict.BETTER


def test_a_change_of_the_code_is_not_taken_for_one_of_the_release() -> None:
    """The old release was not measured after the commit that halved the time."""
    comparison = compare([1.0, 1.0], [1.0, 1.0, 0.5, 0.5])
    assert comparison.commit == commit_hash(1)
    assert comparison.verdict is Verdict.SAME


def test_of_three_releases_neighbours_are_compared_at_one_commit() -> None:
    series = [
        make_series({0: 1.0, 1: 1.0}, environment="2.8.0"),
        make_series({0: 1.2, 1: 1.2, 2: 9.0}, environment=NEW),
        make_series({1: 1.1, 2: 9.0}, environment=OLD),
    ]
    [found] = compare_releases(history_of(series), [0.01] * 3)
    assert found.commit == commit_hash(1)
    assert found.environments == ("2.8.0", OLD, NEW)
    assert [pair.cases[0].ratio for pair in found.pairs] == pytest.approx([1.1, 1.2 / 1.1])


def test_without_a_common_commit_nothing_is_compared() -> None:
    history = history_of(
        [make_series({0: 1.0}, environment=OLD), make_series({1: 2.0}, environment=NEW)]
    )
    assert compare_releases(history, [0.01, 0.01]) == ()


def test_machines_are_not_compared_with_each_other() -> None:
    history = history_of(
        [
            make_series([1.0], environment=OLD, machine="desk"),
            make_series([2.0], environment=NEW, machine="laptop"),
        ]
    )
    assert compare_releases(history, [0.01, 0.01]) == ()


def test_without_known_noise_there_is_no_clear_difference() -> None:
    """The spread within two runs does not say what the next run would be."""
    comparison = compare(
        [figure(1.0, interval=(1.0, 1.001))], [figure(1.2, interval=(1.2, 1.201))], noise=None
    )
    assert comparison.verdict is Verdict.SAME
    assert comparison.interval is None
    assert "not known" in comparison.reason


@pytest.mark.parametrize("after", [0.9, 0.97, 1.0, 1.03, 1.1])
def test_the_interval_excludes_one_where_there_is_a_difference(after: float) -> None:
    comparison = compare([1.0], [after])
    assert comparison.interval is not None
    low, high = comparison.interval
    assert comparison.differs == (not low <= 1 <= high)


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.05, Verdict.WORSE), (0.95, Verdict.BETTER), (1.001, Verdict.SAME)]
)
def test_an_interleaved_comparison_of_the_releases_decides(ratio: float, verdict: Verdict) -> None:
    series = [make_series([1.0], environment=OLD), make_series([1.3], environment=NEW)]
    old, new = (Version(commit_hash(0), torch, "0.24", "3.11") for torch in (OLD, NEW))
    measured = CaseRatio(
        series[0].case.name, 1, (ratio, ratio), ratio, (ratio - 0.005, ratio + 0.005), 1.0, ratio
    )
    stored = StoredComparison(
        Path("c.jsonl"),
        Header(kind="release", at=1, machine=MACHINE, before=old, after=new),
        (measured,),
        (),
    )
    history = replace(history_of(series), comparisons={MACHINE: (stored,)})
    [found] = compare_releases(history, [None, None])
    [comparison] = found.pairs[0].cases
    assert comparison.interleaved
    assert (comparison.ratio, comparison.interval) == (ratio, measured.interval)
    assert comparison.verdict is verdict


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (Run(Outcome.FAILED, None, "out of memory"), "before: failed: out of memory"),
        (Run(Outcome.TIMED_OUT, None, "after 60 s"), "before: timed out: after 60 s"),
        (Run(Outcome.SKIPPED, None, "no CUDA"), "before: skipped: no CUDA"),
        (NEVER_RUN, "before: never run"),
    ],
)
def test_a_missing_value_says_why_it_is_missing(run: Run, reason: str) -> None:
    measured = [make_series([1.0], model="other", environment=name) for name in (OLD, NEW)]
    series = [make_series([run], environment=OLD), make_series([1.0], environment=NEW)]
    [found] = compare_releases(history_of([*measured, *series]), [0.01] * 4)
    missing = [one for one in found.pairs[0].cases if one.verdict is Verdict.MISSING]
    assert [one.reason for one in missing] == [reason]
    assert missing[0].ratio is None


def test_releases_are_in_the_order_of_their_numbers() -> None:
    assert sorted(["2.10.0", "2.9.1", "2.9"], key=release_order) == ["2.9", "2.9.1", "2.10.0"]
