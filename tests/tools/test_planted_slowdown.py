"""Planted work is done, is as much as said, and what is found is counted rightly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.conftest import ROOT, git
from tools.planted_slowdown import (
    DEFAULT_CASES,
    Plant,
    Real,
    commit_planted,
    judge,
    main,
    noise_of,
    report,
)
from tools.planted_work import install
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv.selection import timings
from torchspeed.watch.history.calibrations import Load
from torchspeed.watch.turns.processes import Case
from torchspeed.watch.turns.rounds import Measured
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


def test_planted_commits_hold_the_work_each_on_the_tree_as_it_was(
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
    smaller = commit_planted(clone, plant, 0, 0.05)
    assert (
        git(clone, "rev-parse", f"{smaller}~1") == git(clone, "rev-parse", f"{planted}~1") == first
    )
    assert "+install({('lenet5', False): 5, ('lenet5', True): 2})" in git(
        clone, "diff", first, smaller
    )
    assert git(clone, "status", "--porcelain") == ""


def test_every_case_of_one_model_and_pass_that_is_planted_by_default_does_the_same_work() -> None:
    def planted(case: str) -> bool:
        return any(re.search(pattern, case) for pattern in timings(DEFAULT_CASES))

    assert planted("small_cnns.SmallCNNs.time_forward('lenet5', 'cpu')")
    assert planted("training.TrainingStep.time_step('lenet5', 'cpu')")
    assert not planted("variants.CNNVariants.time_forward('lenet5', 'cpu', 'bf16', 'contiguous')")


NAMES = ("a", "b", "c")
LEVELS = (1.0, 1.0, 1.05, 1.10)
"""Of A, A again, and A with each share of extra work."""


def _repeats(levels: dict[str, Sequence[float]], spread: float = 0.004) -> list[list[Measured]]:
    """Two repeats of five rounds in which every process has a speed of its own."""
    rng = np.random.default_rng(2)

    def samples(level: float) -> tuple[float, ...]:
        process = level * rng.lognormal(0.0, spread)
        return tuple((process * rng.lognormal(0.0, 0.01, 20)).tolist())

    return [
        [
            Measured(
                {
                    Case(name, name, 1.0): [
                        (samples(sides[0]), samples(sides[other])) for _ in range(5)
                    ]
                    for name, sides in levels.items()
                }
            )
            for other in range(1, len(LEVELS))
        ]
        for _ in range(2)
    ]


def test_a_slowdown_is_found_and_nothing_where_there_is_none() -> None:
    found = judge(_repeats(dict.fromkeys(NAMES, LEVELS)))
    assert list(found) == list(NAMES)
    for case in found.values():
        assert [one.verdict for one in case.again] == [Verdict.SAME] * 2
        for place, share in enumerate((0.05, 0.10)):
            assert [one.verdict for one in case.planted[place]] == [Verdict.WORSE] * 2
            for one in case.planted[place]:
                assert one.value == pytest.approx(1 + share, abs=0.01)


def test_what_was_not_slower_is_not_found_and_what_was_faster_neither() -> None:
    levels = dict.fromkeys(NAMES, LEVELS) | {"b": (1.0, 1.0, 1.0, 0.9)}
    found = judge(_repeats(levels))["b"]
    assert [one.verdict for one in found.planted[0]] == [Verdict.SAME] * 2
    assert [one.verdict for one in found.planted[1]] == [Verdict.BETTER] * 2
    report_of_b = report({"b": found}, {"b": [Real(0.05, 0.05, 0.05)] * 2}, (0.05, 0.1), "", LOAD)
    assert "5% planted: found in 0 of 2 (0.0%; wanted: 95%)" in report_of_b
    assert "10% planted: found in 0 of 2" in report_of_b


def test_an_a_that_differs_from_a_is_a_false_alarm_and_noise() -> None:
    found = judge(_repeats(dict.fromkeys(NAMES, LEVELS) | {"b": (1.0, 0.8, 1.0, 1.0)}))
    assert [one.verdict for one in found["b"].again] == [Verdict.BETTER] * 2
    quiet = noise_of([found["a"], found["c"]])
    assert quiet < 0.01
    assert noise_of(list(found.values())) == pytest.approx(np.log(0.8) / -np.sqrt(3), rel=0.1)


def test_a_case_that_failed_in_a_repeat_is_left_out() -> None:
    repeats = _repeats(dict.fromkeys(NAMES, LEVELS))
    repeats[1][2].rounds.pop(Case("b", "b", 1.0))
    assert list(judge(repeats)) == ["a", "c"]


LOAD = Load(0.5, 0.1, 0.0)


def test_the_report_sums_up_against_what_is_wanted() -> None:
    real = {name: [Real(0.05, 0.049, 0.051), Real(0.1, 0.09, 0.11)] for name in NAMES}
    found = judge(_repeats(dict.fromkeys(NAMES, LEVELS)))
    text = report(found, real, (0.05, 0.10), "here", LOAD)
    assert text.startswith("**here**; other load 0.10 cores, load average before 0.50")
    assert "5.0% [4.9%, 5.1%]" in text
    assert re.search(r"A against A: noise 0\.\d\d%, worst \d\.\d\d% of 6 comparisons", text)
    assert "0 false alarms (wanted: none)" in text
    assert "5% planted: found in 6 of 6 (100.0%; wanted: 95%)" in text
    assert "10% planted: found in 6 of 6 (100.0%; wanted: 100%)" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--repeats", "0"], "--repeats 0 measures nothing"), ([], "is not a git checkout")],
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
