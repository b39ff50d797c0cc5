"""Planted work is done, is as much as said, and what is found is counted rightly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.conftest import ROOT, git
from tests.history.making import commit_hash, figure, make_history, make_series
from tools.planted_slowdown import (
    DEFAULT_CASES,
    Between,
    Plant,
    Real,
    Trial,
    commit_plain,
    commit_planted,
    judge,
    main,
    report,
)
from tools.planted_work import install
from torchspeed.driver.selection import timings
from torchspeed.history.calibration import Load
from torchspeed.history.figure import figure_of
from torchspeed.history.records import Outcome, Run
from torchspeed.workloads import Workload, get_workload


class Negations(TorchDispatchMode):
    """Counts the planted operation."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.count += function is torch.ops.aten.neg.out
        return function(*args, **(kwargs or {}))


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> torch.nn.Module:
    monkeypatch.setattr(Workload, "create_model", Workload.create_model)
    install({("lenet5", False): 7, ("lenet5", True): 3})
    return get_workload("lenet5").create_model()


def test_each_pass_does_as_many_operations_as_were_planted(planted: torch.nn.Module) -> None:
    inputs = get_workload("lenet5").example_inputs(2)
    for training, expected in ((False, 7), (True, 3)):
        with Negations() as seen, torch.inference_mode(not training):
            planted.train(training)(inputs)
        assert seen.count == expected


def test_extra_work_changes_neither_outputs_nor_gradients(planted: torch.nn.Module) -> None:
    inputs = get_workload("lenet5").example_inputs(2)

    def results(model: torch.nn.Module) -> list[Tensor]:
        output = model.train()(inputs)
        return [output, *torch.autograd.grad(output.sum(), list(model.parameters()))]

    with_work = results(planted)
    planted._forward_pre_hooks.clear()
    for ours, theirs in zip(with_work, results(planted), strict=True):
        assert torch.equal(ours, theirs)


def test_other_workloads_do_nothing_more(planted: torch.nn.Module) -> None:
    other = get_workload("tpa_lstm")
    with Negations() as seen:
        other.create_model()(other.example_inputs(2))
    assert seen.count == 0


def test_what_was_planted_is_as_much_as_asked_for() -> None:
    question = {
        "case": "time_series.TimeSeries.time_forward('tpa_lstm', 'cpu')",
        "shares": [0.5],
        "operations": {},
    }
    done = subprocess.run(
        [sys.executable, "-m", "tools.planted_share"],
        input=json.dumps(question),
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    [answer] = json.loads(done.stdout)
    assert (answer["workload"], answer["training"]) == ("tpa_lstm", False)
    assert answer["operations"] > 1
    assert answer["low"] <= answer["real"] <= answer["high"]
    # A loaded machine moves CPU time by tens of percent; an empty plant would be at 0.
    assert 0.3 < answer["real"] < 0.8


def test_planted_commits_hold_the_work_and_plain_ones_the_tree_as_it_was(
    make_repository: Callable[..., Path],
) -> None:
    workloads = (ROOT / "src/torchspeed/workloads.py").read_text()
    clone = make_repository({"src/torchspeed/workloads.py": workloads})
    first = git(clone, "rev-parse", "HEAD")
    plant = Plant({"lenet5 False": [5, 11], "lenet5 True": [2, 4]})
    planted = commit_planted(clone, plant, 1, 0.10)
    added = git(clone, "diff", first, planted)
    assert "+install({('lenet5', False): 11, ('lenet5', True): 4})" in added
    assert "planted_work.py" in added
    plain = commit_plain(clone, first)
    assert plain not in {first, planted}
    assert git(clone, "diff", first, plain) == ""
    assert git(clone, "status", "--porcelain") == ""


def test_every_case_of_one_model_and_pass_that_is_planted_by_default_does_the_same_work() -> None:
    def planted(case: str) -> bool:
        return any(re.search(pattern, case) for pattern in timings(DEFAULT_CASES))

    assert planted("small_cnns.SmallCNNs.time_forward('lenet5', 'cpu')")
    assert planted("training.TrainingStep.time_step('lenet5', 'cpu')")
    assert not planted("variants.CNNVariants.time_forward('lenet5', 'cpu', 'bf16', 'contiguous')")


NAMES = ("a", "b", "c")
TRIALS = [
    Trial(*map(commit_hash, (at, at + 1, at + 2)), share)
    for at, share in ((0, 0), (2, 1), (4, 0), (6, 1))
]
PLAIN = [commit_hash(number) for number in (0, 2, 4, 6, 8)]
PLANTED = [1.0, 1.05, 1.0, 1.10, 1.0, 1.05, 1.0, 1.10, 1.0]


def _judged(levels: dict[str, list[float]], spread: float = 0.004) -> Any:
    """Judge histories with these levels at commits 0 to 8: A, planted, A, planted, A ..."""
    rng = np.random.default_rng(2)

    def run(level: float) -> Run:
        samples = tuple((level * rng.lognormal(0.0, spread, 20)).tolist())
        return figure(figure_of(samples).value, samples=samples)

    series = [
        make_series([run(level) for level in values], model=name)
        for name, values in levels.items()
    ]
    plant = Plant(real={one.case.name: [Real(0.05, 0.049, 0.051)] * 2 for one in series})
    return judge(make_history(series), PLAIN, TRIALS, plant)


def _name(model: str) -> str:
    return f"suite.Suite.time_forward('{model}', 'cpu')"


def test_a_slowdown_is_found_and_nothing_where_there_is_none() -> None:
    outcome = _judged(dict.fromkeys(NAMES, PLANTED))
    for name in NAMES:
        small, large = outcome.cases[_name(name)]
        assert (small.found, small.alone, small.trials) == (2, 2, 2)
        assert (large.found, large.alone, large.trials) == (2, 2, 2)
        assert small.ratio == pytest.approx(0.05, abs=0.01)
        assert large.ratio == pytest.approx(0.10, abs=0.01)
    assert sum(outcome.false_alarms.values()) == sum(outcome.alone.values()) == 0
    assert outcome.comparisons == 4


def test_what_was_not_slower_is_not_found_and_what_was_faster_neither() -> None:
    outcome = _judged({"a": [1.0] * 9, "b": [1.0, 0.9] * 4 + [1.0]})
    for name in ("a", "b"):
        assert [(one.found, one.alone) for one in outcome.cases[_name(name)]] == [(0, 0)] * 2


def test_runs_that_differ_by_themselves_alarm_two_alone_and_hide_a_slowdown_from_all() -> None:
    restless = [1.0, 1.10, 1.05, 1.15, 0.99, 1.07, 1.06, 1.14, 1.0]
    outcome = _judged({"a": restless, "b": PLANTED, "c": PLANTED})
    assert outcome.alone == {_name("a"): 4, _name("b"): 0, _name("c"): 0}
    assert set(outcome.false_alarms.values()) == {0}
    small, large = outcome.cases[_name("a")]
    assert (small.alone, large.alone) == (2, 2)
    assert small.found == large.found == 0


def test_a_step_among_quiet_runs_is_a_false_alarm() -> None:
    stepped = [1.0] * 7 + [1.0, 1.2]
    outcome = _judged({"a": stepped, **dict.fromkeys(("b", "c", "d"), [1.0] * 9)})
    assert outcome.false_alarms == {_name(name): int(name == "a") for name in "abcd"}
    assert outcome.worst[_name("a")] == pytest.approx(0.2, abs=0.02)


@given(
    st.lists(st.floats(0.9, 1.1), min_size=5, max_size=5),
    st.floats(0.1, 10.0),
    st.permutations(range(5)),
)
def test_noise_knows_neither_scale_nor_order_and_leaves_out_what_is_compared(
    values: list[float], factor: float, order: list[int]
) -> None:
    def between(figures: list[float]) -> Between:
        series = make_series([figure(value) for value in figures])
        return Between({"x": series}, [commit_hash(number) for number in range(5)])

    noise = between(values).noise("x")
    assert between([v * factor for v in values]).noise("x") == pytest.approx(noise, abs=1e-9)
    assert between([values[at] for at in order]).noise("x") == pytest.approx(noise, abs=1e-9)
    left_out = [commit_hash(0), commit_hash(1)]
    assert between([50.0, 0.01, *values[2:]]).noise("x", left_out) == pytest.approx(
        between(values).noise("x", left_out)
    )


def test_a_case_without_a_figure_somewhere_is_left_out() -> None:
    runs = [1.0] * 3 + [Run(Outcome.FAILED)] + [1.0] * 5
    whole = make_series([1.0] * 9, model="whole")
    broken = make_series(runs, model="broken")
    plant = Plant(real={one.case.name: [Real(0, 0, 0)] * 2 for one in (whole, broken)})
    outcome = judge(make_history([whole, broken]), PLAIN, TRIALS, plant)
    assert list(outcome.cases) == [whole.case.name]


def test_the_report_sums_up_against_what_is_wanted() -> None:
    outcome = _judged(dict.fromkeys(NAMES, PLANTED))
    text = report(outcome, (0.05, 0.10), "here", Load(0.5, 0.1, 0.0))
    assert text.startswith("**here**; other load 0.10 cores, load average before 0.50")
    assert "5.0% [4.9%, 5.1%]" in text
    assert "A against A, side by side: noise 0." in text
    assert "5% planted: found in 6 of 6 (100.0%; wanted: 95%), by two runs alone in 6" in text
    assert "10% planted: found in 6 of 6 (100.0%; wanted: 100%)" in text
    assert "0 false alarms in 12 comparisons (wanted: none), by two runs alone 0" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--repeats", "1"], "--repeats 1 leaves"), ([], "is not a git checkout")],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error
