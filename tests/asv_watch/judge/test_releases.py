"""Torch releases against each other: at which commit, and with which verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asv_watch.judge.releases import Releases, compare_releases
from asv_watch.records.history import History
from asv_watch.records.records import Environment, Outcome, Run
from asv_watch.records.release_order import release_order
from asv_watch.records.series import Series
from asv_watch.statistics.rule import Judgement, Verdict
from tests.asv_watch.making import commit_hash, make_history, make_series, run_of

OLD, NEW = "2.9.1", "2.10.0"


def history_of(series: list[Series]) -> History:
    """A history whose environments are named for their release of torch."""
    history = make_history(series)
    environments = {
        name: Environment(name, "3.11", {"torch": name}) for name in history.environments
    }
    facts: dict[tuple[str, str], dict[str, dict[str, str]]] = {
        (entry.machine, entry.environment): {commit: {} for commit in entry.runs}
        for entry in series
    }
    return replace(history, environments=environments, facts=facts)


def releases(
    before: list[float | Run], after: list[float | Run], noise: float | None = 0.01
) -> Releases:
    history = history_of(
        [make_series(before, environment=OLD), make_series(after, environment=NEW)]
    )
    [compared] = compare_releases(history, [noise, noise])
    return compared


def compare(
    before: list[float | Run], after: list[float | Run], noise: float | None = 0.01
) -> Judgement:
    compared = releases(before, after, noise)
    assert compared.environments == (OLD, NEW)
    [(_, _, judgement)] = compared.newest
    return judgement


def test_releases_are_compared_at_the_newest_commit_that_both_measured() -> None:
    failed = Run(Outcome.FAILED)
    assert releases([1.0, 1.0, failed], [1.0, 0.8, 0.7]).commit == commit_hash(1)
    comparison = compare([1.0, 1.0, failed], [1.0, 0.8, 0.7])
    assert comparison.ratio == 0.8
    assert comparison.verdict is Verdict.BETTER


def test_a_change_of_the_code_is_not_taken_for_one_of_the_release() -> None:
    """The old release was not measured after the commit that halved the time."""
    assert releases([1.0, 1.0], [1.0, 1.0, 0.5, 0.5]).commit == commit_hash(1)
    assert compare([1.0, 1.0], [1.0, 1.0, 0.5, 0.5]).verdict is Verdict.SAME


def test_of_three_releases_the_newest_two_are_compared_at_the_commit_of_all() -> None:
    series = [
        make_series({0: 1.0, 1: 1.0}, environment="2.8.0"),
        make_series({0: 1.2, 1: 1.2, 2: 9.0}, environment=NEW),
        make_series({1: 1.1, 2: 9.0}, environment=OLD),
    ]
    [compared] = compare_releases(history_of(series), [0.01] * 3)
    assert compared.commit == commit_hash(1)
    assert compared.environments == ("2.8.0", OLD, NEW)
    [(_, _, judgement)] = compared.newest
    assert judgement.ratio == pytest.approx(1.2 / 1.1)


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
        [run_of(1.0, interval=(1.0, 1.001))], [run_of(1.2, interval=(1.2, 1.201))], noise=None
    )
    assert comparison.verdict is Verdict.SAME
    assert "not known" in comparison.reason


def test_a_case_without_a_value_of_both_releases_is_not_compared() -> None:
    failed = Run(Outcome.FAILED, None, "out of memory")
    measured = [make_series([1.0], model="other", environment=name) for name in (OLD, NEW)]
    series = [make_series([failed], environment=OLD), make_series([1.0], environment=NEW)]
    [compared] = compare_releases(history_of([*measured, *series]), [0.01] * 4)
    assert [case.labels["model"] for case, _, _ in compared.newest] == ["other"]


def test_releases_are_in_the_order_of_their_numbers() -> None:
    ordered = [
        "",
        "2.9",
        "2.9.1",
        "2.10.0.dev20251101",
        "2.10.0.dev20251102+cpu",
        "2.10.0",
        "2.10.1",
    ]
    orders = [release_order(version) for version in ordered]
    assert orders == sorted(set(orders))
    assert release_order("2.10.0+cpu") == release_order("2.10.0")
