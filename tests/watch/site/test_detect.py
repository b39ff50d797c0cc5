"""Which steps become changes, and whose doing they are said to be."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from tests.watch.generator import Plan, generate
from torchspeed.watch.analysis.steps import steps_of
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.loading import load_history
from torchspeed.watch.history.records import (
    Benchmark,
    Case,
    Commit,
    Environment,
    History,
    Machine,
    Outcome,
    Point,
    Run,
    Series,
)
from torchspeed.watch.site import detect as module
from torchspeed.watch.site.detect import detect

MODELS = ("darnn", "dsanet", "lstnet", "tpa_lstm", "lenet5", "flux_cnn")


def history_with(
    stepping: dict[str, int], commits: int = 40, facts: dict[int, dict[str, str]] | None = None
) -> History:
    """A series per model with 1 % of noise; stepping models are 20 % slower from a commit on."""
    noise = random.Random(3)  # noqa: S311
    line = tuple(Commit(f"{at:040d}", at, f"Commit {at}") for at in range(commits))
    benchmark = Benchmark("suite.Suite.time_forward", "time", "seconds", ("model",))
    series = []
    for model in MODELS:
        runs = {}
        for at, commit in enumerate(line):
            value = math.exp(noise.gauss(0, 0.01)) * (
                1.2 if at >= stepping.get(model, commits) else 1.0
            )
            runs[commit.hash] = Run(Outcome.OK, Point(value))
        labels = {"model": model, "metric": "time", "pass": "forward"}
        case = Case(benchmark.name, (repr(model),), labels)
        series.append(Series("m", "e", case, "seconds", False, runs))
    known = {commit.hash: (facts or {}).get(at, {}) for at, commit in enumerate(line)}
    return History(
        line,
        {"m": Machine("m")},
        {"e": Environment("e", "3.11")},
        {benchmark.name: benchmark},
        tuple(series),
        facts={("m", "e"): known},
    )


@pytest.mark.parametrize("after", range(1, 12))
def test_only_confirmed_steps_are_changes(after: int) -> None:
    history = history_with({"darnn": 40 - after})
    found = detect(history)
    wanted = {
        (index, step.commit)
        for index, series in enumerate(history.series)
        for step in steps_of(series)
        if step.step.confirmed
    }
    assert {(one.series, history.commits[one.commit].hash) for one in found.changes} == wanted
    for levels, steps in zip(found.levels, found.steps, strict=True):
        assert len(levels) == len(steps) + 1


def test_a_step_of_one_model_is_the_codes() -> None:
    changes = detect(history_with({"darnn": 20})).changes
    assert [(one.commit, one.previous, one.verdict, one.cause) for one in changes] == [
        (20, 19, "worse", "code")
    ]


def test_a_step_of_most_models_is_the_machines() -> None:
    changes = detect(history_with(dict.fromkeys(MODELS, 20))).changes
    assert len(changes) == len(MODELS)
    assert {one.cause for one in changes} == {"machine"}


def test_a_step_where_the_environment_changed_says_so() -> None:
    facts = {at: {"os": "Linux 6.1" if at >= 20 else "Linux 6.0"} for at in range(40)}
    found = detect(history_with({"darnn": 20}, facts=facts))
    assert [one.cause for one in found.changes] == ["environment"]
    assert [(one.commit, one.text) for one in found.events] == [(20, "os: Linux 6.0 → Linux 6.1")]
    elsewhere = detect(history_with({"darnn": 30}, facts=facts))
    assert [one.cause for one in elsewhere.changes] == ["code"]


def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = generate(tmp_path / "it", Plan(commits=30, machines=("ci-2core",)))
    history = load_history(generated.results, read_commits(generated.repository))
    alone = detect(history)
    monkeypatch.setattr(module, "_WORTH_A_POOL", 0)
    assert detect(history) == alone
