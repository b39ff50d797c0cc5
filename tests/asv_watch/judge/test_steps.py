from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asv_watch.judge.changes import State
from asv_watch.judge.findings import analyse
from asv_watch.judge.machine_steps import machine_steps
from asv_watch.records.git import read_commits
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import NEVER_RUN, Outcome, Run
from asv_watch.statistics.change_points import Step, find_steps
from tests.asv_watch.generator import Plan, generate
from tests.asv_watch.making import make_history, make_series


def steps_by_commit(history: History) -> list[dict[int, Step]]:
    """The steps of each series by the index of their commit, whatever its conditions."""
    steps = []
    for series in history.series:
        commits, values = list(series.values), list(series.values.values())
        in_values = find_steps(values)
        steps.append({history.order[commits[step.position]]: step for step in in_values})
    return steps


def stepped(
    rng: Any, ratio: float = 1.2, count: int = 40, at: int = 20, noise: float = 0.01
) -> Any:
    values = rng.lognormal(0.0, noise, count)
    values[at:] *= ratio
    return values.tolist()


def test_a_change_lies_between_two_measured_commits() -> None:
    values = stepped(np.random.default_rng(0))
    runs = dict(enumerate(values))
    # Commits 18 and 19 have no value: the change may be theirs.
    runs[18], runs[19] = Run(Outcome.FAILED), NEVER_RUN
    [change] = analyse(make_history([make_series(runs)])).changes
    assert (change.previous, change.commit) == (17, 20)
    assert change.ratio == pytest.approx(1.2, rel=0.02)
    assert change.state is State.SUSPECTED


def shared_steps(series: Any) -> set[tuple[int, int]]:
    """Series and number of the commit of each step that is the machine's."""
    history = make_history(series)
    return machine_steps(history, steps_by_commit(history))


def test_a_step_of_most_series_is_the_machines() -> None:
    rng = np.random.default_rng(2)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(6)]
    series += [make_series(stepped(rng, 1.0), model=f"quiet{n}") for n in range(3)]
    assert shared_steps(series) == {(number, 20) for number in range(6)}


@pytest.mark.parametrize(
    "ratios",
    [
        [1.1] * 3 + [1.0] * 6,  # too small a share
        [1.1] * 4,  # too few series
        [1.1] * 3 + [1 / 1.1] * 3 + [1.0] * 2,  # no common direction
    ],
    ids=["share", "few", "directions"],
)
def test_a_step_of_some_series_is_the_codes(ratios: Any) -> None:
    rng = np.random.default_rng(3)
    assert not shared_steps(
        [make_series(stepped(rng, ratio), model=f"m{n}") for n, ratio in enumerate(ratios)]
    )


def test_one_model_in_many_series_is_no_majority() -> None:
    rng = np.random.default_rng(3)
    assert not shared_steps(
        [make_series(stepped(rng), environment=f"environment {n}") for n in range(8)]
    )


def test_other_machines_and_other_metrics_have_no_vote() -> None:
    rng = np.random.default_rng(4)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(5)]
    series += [make_series(stepped(rng, 1.0), model=f"m{n}", machine="other") for n in range(9)]
    series += [make_series(stepped(rng, 1.0), model=f"m{n}", metric="memory") for n in range(9)]
    assert shared_steps(series) == {(number, 20) for number in range(5)}


def test_series_without_values_on_both_sides_have_no_vote() -> None:
    rng = np.random.default_rng(5)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(5)]
    young = dict.fromkeys(range(30, 40), 1.0)
    series += [make_series(young, model=f"young{n}") for n in range(9)]
    assert shared_steps(series) == {(number, 20) for number in range(5)}


def test_a_planted_machine_step_is_found_and_planted_steps_of_models_are_not(
    tmp_path: Path,
) -> None:
    made = generate(
        tmp_path, Plan(commits=80, machine_steps=1, steps=2, step_sizes=(1.2, 0.8), seed=4)
    )
    history = load_history(made.results, read_commits(made.repository))
    steps = steps_by_commit(history)
    shared = machine_steps(history, steps)
    [planted] = [step for step in made.steps if step.machine]
    assert len(shared) >= 5
    for number, commit in shared:
        series = history.series[number]
        assert (series.machine, series.case.labels["metric"]) == (planted.machine, "time")
        assert abs(commit - history.order[planted.commit]) <= 1
    for planted in made.steps:
        if planted.model:
            assert any(
                abs(commit - history.order[planted.commit]) <= 1
                for series, of_series in zip(history.series, steps, strict=True)
                for commit in of_series
                if series.case.labels["model"] == planted.model
                and series.case.labels["metric"] == "peak memory"
            )
