"""Passes, steps of training and of generation do the work they are named for, and nothing else."""

import pytest
import torch

from torchspeed.measure.generation import PRECISIONS, Generation
from torchspeed.measure.passes import Passes
from torchspeed.measure.training_step import ADDITIONS, TrainingStep
from torchspeed.workloads import get_workload, list_workloads


@pytest.mark.parametrize("name", ["darnn", "tpa_lstm", "lenet5"])
def test_backward_computes_the_gradient_by_every_parameter_and_the_input(name: str) -> None:
    prepared = Passes(name, "cpu", 4)
    prepared.set_training(True)
    leaves = [*prepared.parameters, prepared.inputs]
    seen: dict[int, torch.Tensor] = {}
    for index, leaf in enumerate(leaves):
        leaf.register_hook(lambda gradient, index=index: seen.update({index: gradient}))
    prepared.backward()
    workload = get_workload(name)
    output = prepared.model(prepared.inputs)
    workload.objective(output, workload.example_targets(4)).backward()
    assert len(seen) == len(leaves)
    for index, leaf in enumerate(leaves):
        assert leaf.grad is not None
        torch.testing.assert_close(seen[index], leaf.grad)


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
            changed[optimiser, addition] = torch.cat(
                [p.detach().flatten() for p in training.parameters]
            )
    expected = changed["foreach", "nothing"]
    for (_, addition), parameters in changed.items():
        if addition in ("nothing", "accumulation"):
            torch.testing.assert_close(parameters, expected, rtol=1e-4, atol=1e-5)
        assert (parameters - expected).abs().max() < 3e-4  # AdamW's first step is its rate
