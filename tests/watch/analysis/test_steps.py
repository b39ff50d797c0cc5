from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.watch.generator import Plan, generate
from tests.watch.making import commit_hash, make_history, make_series
from torchspeed.watch.analysis.machine_steps import machine_steps
from torchspeed.watch.analysis.segments import split
from torchspeed.watch.analysis.step_cache import StepCache
from torchspeed.watch.analysis.steps import SeriesStep
from torchspeed.watch.analysis.steps import steps_of as steps_of_all
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.loading import load_history
from torchspeed.watch.history.records import NEVER_RUN, Outcome, Run, Series


def steps_of(series: Series) -> tuple[SeriesStep, ...]:
    [steps] = steps_of_all(split(make_history([series])), StepCache())
    return steps


def stepped(
    rng: Any, ratio: float = 1.2, count: int = 40, at: int = 20, noise: float = 0.01
) -> Any:
    values = rng.lognormal(0.0, noise, count)
    values[at:] *= ratio
    return values.tolist()


def test_a_step_lies_between_two_measured_commits() -> None:
    values = stepped(np.random.default_rng(0))
    runs = dict(enumerate(values))
    # Commits 18 and 19 have no figure: the step may be theirs.
    runs[18], runs[19] = Run(Outcome.FAILED), NEVER_RUN
    [step] = steps_of(make_series(runs))
    assert (step.previous, step.commit) == (commit_hash(17), commit_hash(20))
    assert step.step.ratio == pytest.approx(1.2, rel=0.02)
    assert step.step.confirmed


def test_a_recent_step_is_not_confirmed_yet() -> None:
    series = make_series(stepped(np.random.default_rng(0), count=23))
    [step] = steps_of(series)
    assert not step.step.confirmed


def test_a_series_without_values_has_no_steps() -> None:
    series = make_series([NEVER_RUN, Run(Outcome.SKIPPED)])
    assert steps_of(series) == ()


def shared_steps(series: Any) -> Any:
    history = make_history(series)
    return machine_steps(history, dict(enumerate(steps_of_all(split(history), StepCache()))))


def test_a_step_of_most_series_is_the_machines() -> None:
    rng = np.random.default_rng(2)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(6)]
    series += [make_series(stepped(rng, 1.0), model=f"quiet{n}") for n in range(3)]
    [found] = shared_steps(series)
    assert found.machine == "ci-2core"
    assert found.metric == "time"
    assert found.commit == commit_hash(20)
    assert found.previous == commit_hash(19)
    assert found.ratio == pytest.approx(1.1, rel=0.02)
    assert (found.stepped, found.voted, found.members) == (6, 9, frozenset(range(6)))


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
    [found] = shared_steps(series)
    assert (found.machine, found.metric, found.voted) == ("ci-2core", "time", 5)


def test_series_without_values_on_both_sides_have_no_vote() -> None:
    rng = np.random.default_rng(5)
    series = [make_series(stepped(rng, 1.1), model=f"m{n}") for n in range(5)]
    young = dict.fromkeys(range(30, 40), 1.0)
    series += [make_series(young, model=f"young{n}") for n in range(9)]
    [found] = shared_steps(series)
    assert (found.stepped, found.voted) == (5, 5)


def test_a_planted_machine_step_is_found_and_planted_steps_of_models_are_not(
    tmp_path: Path,
) -> None:
    made = generate(
        tmp_path, Plan(commits=80, machine_steps=1, steps=2, step_sizes=(1.2, 0.8), seed=4)
    )
    history = load_history(made.results, read_commits(made.repository))
    # The kernel changes with the machine's step, and nothing is compared across that.
    unknown = replace(history, facts={})
    steps = dict(enumerate(steps_of_all(split(unknown), StepCache())))
    found = machine_steps(history, steps)
    [planted] = [step for step in made.steps if step.machine]
    assert {(f.machine, f.metric) for f in found} == {(planted.machine, "time")}
    order = list(made.measured)
    [shared] = found
    assert abs(order.index(shared.commit) - order.index(planted.commit)) <= 1
    assert shared.ratio == pytest.approx(planted.ratio, rel=0.02)
    of_models = [step for step in made.steps if step.model]
    for planted in of_models:
        hit = [
            n
            for n, s in enumerate(history.series)
            if s.case.labels["model"] == planted.model
            and s.case.labels["metric"] == "peak memory"
            and s.values
            and any(
                abs(order.index(x.commit) - order.index(planted.commit)) <= 1 for x in steps[n]
            )
        ]
        assert hit
