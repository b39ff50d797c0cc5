"""The operators of a call are counted by name, each with its own time."""

from __future__ import annotations

import re

import pytest
import torch

from benchmarks.fluxbench import GraphNetworks, Transformers
from benchmarks.plain import PlainModels
from benchmarks.torchvision_models import TorchvisionModels
from tools import operator_coverage
from tools.operator_coverage import TRAINED, operator_seconds, training_step
from torchspeed.measure.operators import OPERATORS


def test_an_operator_in_place_is_the_same_operator_and_a_step_has_those_of_the_optimiser() -> None:
    x = torch.ones(4, 4)
    seconds = operator_seconds(lambda: [x.relu_(), x.relu(), torch.cat((x, x))])
    assert {"clamp_min", "cat"} <= set(seconds)
    assert not any(name.endswith("_") for name in seconds)
    step = training_step("lenet5")
    names = {name for _ in range(2) for name in operator_seconds(step)}
    assert {"convolution_backward", "max_pool2d_with_indices", "mul", "add"} <= names


def test_a_model_is_covered_and_one_that_is_not_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operator_coverage.print_coverage(["lenet5"])
    covered = capsys.readouterr().out.splitlines()[-1]
    assert re.match(r"\| `lenet5` \| (9[5-9]|100)\.\d% \| ", covered), covered
    monkeypatch.setattr(operator_coverage, "OPERATORS", {"linear": OPERATORS["linear"]})
    with pytest.raises(SystemExit, match="less than 95% of the training of lenet5; add cases"):
        operator_coverage.print_coverage(["lenet5"])
    assert "`convolution_backward`" in capsys.readouterr().out


def test_every_model_is_looked_at_whose_gradient_a_suite_times() -> None:
    suites = (PlainModels, TorchvisionModels, Transformers, GraphNetworks)
    assert all(hasattr(suite, "time_backward") for suite in suites)
    assert set(TRAINED) == {model for suite in suites for model in suite.params[0]}


def test_products_with_a_graph_have_a_case_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A dense product's case would count for them: below `_sparse_addmm` both are `addmm`."""
    operator_coverage.print_coverage(["gcn_16"])
    covered = capsys.readouterr().out.splitlines()[-1]
    assert re.match(r"\| `gcn_16` \| (9[5-9]|100)\.\d% \| ", covered), covered
    assert "sparse" not in covered
