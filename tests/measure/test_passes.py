"""Passes, steps of training and of generation do the work they are named for, and nothing else."""

import pytest
import torch
from torch import nn

from tests.models.sizes import without_dropout
from torchspeed.measure.generation import PRECISIONS, Generation
from torchspeed.measure.passes import Passes
from torchspeed.measure.training_step import ADDITIONS, TrainingStep
from torchspeed.workloads import get_workload, list_workloads


@pytest.mark.parametrize("name", ["darnn", "tpa_lstm", "lenet5", "bert_base_8", "gcn_16"])
def test_backward_computes_the_gradient_by_every_parameter_and_the_input(name: str) -> None:
    workload, prepared = get_workload(name), Passes(name, "cpu", 2)
    without_dropout(prepared.model)
    gradients = prepared.backward()
    output = prepared.model(prepared.inputs)
    workload.objective(output, workload.example_targets(2)).backward()
    leaves = [*prepared.parameters, prepared.inputs]
    expected = tuple(leaf.grad for leaf in leaves if leaf.requires_grad)  # words have none
    torch.testing.assert_close(gradients, expected)


def test_passes_may_alternate_and_leave_the_model_as_they_found_it() -> None:
    prepared = Passes("resnet18_mnist", "cpu", 4)
    for _ in range(2):
        prepared.forward()
        assert not prepared.model.training
        prepared.backward()
        assert prepared.model.training
    assert all(parameter.grad is None for parameter in prepared.parameters)


@pytest.mark.parametrize("name", list_workloads("pretrained"))
def test_lower_precisions_forecast_nearly_the_same(name: str) -> None:
    forecasts = []
    for precision in PRECISIONS:
        generation = Generation(name, "cpu", precision)
        forecasts.append(generation.next_step()[0])
        assert torch.equal(generation.next_step()[0], forecasts[-1]), "a step starts anew"
    assert forecasts[1].dtype == torch.bfloat16
    exact = forecasts[0]
    for lower in forecasts[1:]:
        assert 0 < (lower.float() - exact).norm() / exact.norm() < 0.1


def test_ways_of_one_step_change_parameters_alike() -> None:
    changed = {}
    for optimiser in ("foreach", "fused"):
        for addition in ADDITIONS:
            training = TrainingStep("dlinear", "cpu", optimiser, addition)
            training.step()
            parameters = nn.utils.parameters_to_vector(training.parameters)
            changed[optimiser, addition] = parameters.detach()
    expected = changed["foreach", "nothing"]
    for (_, addition), parameters in changed.items():
        if addition in ("nothing", "accumulation"):
            torch.testing.assert_close(parameters, expected, rtol=1e-4, atol=1e-5)
        assert (parameters - expected).abs().max() < 3e-4  # AdamW's first step is its rate
