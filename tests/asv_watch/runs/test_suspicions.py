"""Suspicions: jumps of the newest runs, steps of most series together, and two levels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from asv_watch.compare.confirm import find_suspects
from asv_watch.judge.findings import Findings, analyse
from asv_watch.records.history import Series
from asv_watch.runs.suspicions import newest_jump
from tests.asv_watch.making import MACHINE, make_history, make_series


def stepped(
    rng: Any, ratio: float = 1.2, count: int = 40, at: int = 20, noise: float = 0.01
) -> Any:
    values = rng.lognormal(0.0, noise, count)
    values[at:] *= ratio
    return values.tolist()


def of_machines(series: Any) -> set[tuple[int, int]]:
    """Series and number of the commit of each suspicion that is the machine's."""
    changes = analyse(make_history(series)).changes
    return {(change.series, change.commit) for change in changes if change.cause == "machine"}


def test_a_step_of_most_series_is_the_machines() -> None:
    rng = np.random.default_rng(2)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(6)]
    series += [make_series(stepped(rng, 1.0), model=f"quiet{n}") for n in range(3)]
    assert of_machines(series) == {(number, 20) for number in range(6)}


@pytest.mark.parametrize(
    "ratios",
    [
        [1.1] * 3 + [1.0] * 6,  # too small a share
        [1.1] * 4,  # too few series
        [1.1] * 3 + [1 / 1.1] * 3 + [1.0] * 2,  # no common direction
        [1.5] + [1.05] * 8,  # far larger than what the others share
    ],
    ids=["share", "few", "directions", "size"],
)
def test_a_step_of_some_series_is_the_codes(ratios: Any) -> None:
    rng = np.random.default_rng(3)
    series = [make_series(stepped(rng, ratio), model=f"m{n}") for n, ratio in enumerate(ratios)]
    assert (0, 20) not in of_machines(series)
    assert any(change.series == 0 for change in analyse(make_history(series)).changes)


def test_one_model_in_many_series_is_no_majority() -> None:
    rng = np.random.default_rng(3)
    assert not of_machines([make_series(stepped(rng), device=f"device {n}") for n in range(8)])


def test_other_machines_environments_and_metrics_have_no_vote() -> None:
    rng = np.random.default_rng(4)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(5)]
    for elsewhere in ({"machine": "other"}, {"environment": "other"}, {"metric": "memory"}):
        series += [
            make_series(stepped(rng, 1.0), model=f"m{n}", **elsewhere)  # type: ignore[arg-type]
            for n in range(9)
        ]
    assert of_machines(series) == {(number, 20) for number in range(5)}


def test_series_without_values_on_both_sides_have_no_vote() -> None:
    rng = np.random.default_rng(5)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(5)]
    young = dict.fromkeys(range(30, 40), 1.0)
    series += [make_series(young, model=f"young{n}") for n in range(9)]
    assert of_machines(series) == {(number, 20) for number in range(5)}


SUITES = 6
BENCHMARKS = 10
"""Of each suite."""
CORRECTED = 40, 60
"""Commits at which one suite becomes slower, and fast again."""
RUNNERS = {80: 1.2, 120: 1 / 1.15}
"""Commits at which the runners changed, with the ratio of a benchmark's time in the middle."""


def hosted_history(seed: int) -> Iterator[Series]:
    """A project on hosted runners, whose benchmarks differ in noise, one of them very noisy.

    The times of one suite switch between two levels, because it runs on either of two processors.
    """
    rng = np.random.default_rng(seed)
    for suite in range(SUITES):
        switching = np.ones(160)
        for first, end in ((15, 30), (50, 70), (95, 110), (135, 150)):
            switching[first:end] = 1.4 if suite == 0 else 1.0
        for benchmark in range(BENCHMARKS):
            values = rng.lognormal(0.0, rng.uniform(0.01, 0.08), 160) * switching
            for commit, ratio in RUNNERS.items():
                values[commit:] *= ratio ** rng.uniform(0.5, 1.5)
            if suite == 1:
                values[slice(*CORRECTED)] *= 1.3
            yield make_series(values.tolist(), model=f"suite {suite} benchmark {benchmark}")


@pytest.mark.parametrize("seed", range(4))
def test_on_hosted_runners_only_a_change_of_the_code_is_left_to_compare(seed: int) -> None:
    history = make_history(hosted_history(seed))
    changes = analyse(history).changes
    groups = Counter(change.commit for change in changes)
    assert all(groups[commit] >= 10 for commit in RUNNERS)
    causes = Counter((change.cause, change.series // BENCHMARKS) for change in changes)
    assert causes["alternation", 0] >= 20
    compared = {change.commit for change in changes if change.may_be_code}
    assert set(CORRECTED) & compared
    together = find_suspects(history, changes, MACHINE)
    suspects = [case for suspects in together for case in suspects.cases]
    cases = [series.case.name for series in history.series]
    of_code = sum(cases.index(case) // BENCHMARKS == 1 for case in suspects)
    assert of_code >= 3 / 4 * len(suspects), causes


def alternating(levels: list[float], length: int = 12) -> Findings:
    rng = np.random.default_rng(7)
    values = [level * rng.lognormal(0, 0.01) for level in levels for _ in range(length)]
    return analyse(make_history([make_series(values)]))


@pytest.mark.parametrize(
    ("levels", "causes"),
    [
        ([1, 1.4, 1, 1.4], {"alternation"}),
        ([1, 1.4, 1], {"code"}),  # slower, then corrected
        ([1, 1.4, 1, 1.2], {"code"}),
        ([1, 1.4, 1, 1.4, 3], {"code", "alternation"}),
    ],
)
def test_three_steps_between_the_same_levels_are_an_alternation(
    levels: list[float], causes: set[str]
) -> None:
    changes = alternating(levels).changes
    assert {change.cause for change in changes} == causes
    assert {change.commit for change in changes if change.may_be_code} <= {12, 24, 36, 48}


LEVEL = 7.0


@given(st.floats(0.3, 3.0), st.floats(0.0, 0.2))
def test_a_jump_exceeds_the_least_effect_and_three_times_the_noise(
    ratio: float, noise: float
) -> None:
    size = abs(math.log(ratio))
    limits = math.log(1.015), 3 * noise * math.sqrt(1 + math.pi / 2 / 10)
    assume(all(abs(size - limit) > 1e-9 for limit in limits))
    jump = newest_jump([LEVEL] * 10 + [LEVEL * ratio], noise, 1)
    assert (jump is not None) == (size > max(limits))
    if jump is not None:
        assert jump.before == LEVEL
        assert jump.after == pytest.approx(LEVEL * ratio)


def test_runs_in_both_directions_are_no_jump_and_values_of_zero_have_no_ratio() -> None:
    assert newest_jump([LEVEL] * 10 + [1.2 * LEVEL, 0.8 * LEVEL], 0.5, 2) is None
    assert newest_jump([LEVEL] * 10 + [0.0], 0.01, 1) is None
    both = newest_jump([LEVEL] * 10 + [1.2 * LEVEL, 1.3 * LEVEL], 0.01, 2)
    assert both is not None
    assert both.values_after == 2
