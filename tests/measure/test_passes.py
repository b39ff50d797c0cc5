"""The passes do the work they are named for, and nothing else."""

import pytest
import torch

from torchspeed.measure.passes import Passes
from torchspeed.workloads import get_workload


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
