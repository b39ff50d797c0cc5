"""What suites of training measure."""

import pytest
import torch

from torchspeed.training import cases
from torchspeed.training.window_loading import WAYS, windows_per_second
from torchspeed.workloads import get_workload


@pytest.mark.parametrize("name", ["lenet5", "tpa_lstm", "lstnet"])
def test_a_step_moves_every_parameter(name: str) -> None:
    case = cases.Training(name, "cpu", batches=2)
    before = [p.clone() for p in case._model.parameters()]
    case.epoch()
    after = list(case._model.parameters())
    assert all(not torch.equal(a, b) for a, b in zip(after, before, strict=True))


def test_five_steps_are_adams_from_the_beginning_each_time() -> None:
    case = cases.AdamSteps("lstnet_solar", "cpu")
    ends = []
    for _ in range(2):
        case.run()
        ends.append([p.detach().clone() for p in case._parameters])
    recipe = get_workload("lstnet_solar")
    model = recipe.create_model()
    adam = torch.optim.Adam(model.parameters(), lr=0.007)
    for _ in range(5):
        loss = torch.nn.functional.mse_loss(
            model(recipe.example_inputs()), recipe.example_targets()
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
    for once, again, by_hand in zip(*ends, model.parameters(), strict=True):
        assert torch.equal(once, again), "nothing creeps from one sample to the next"
        torch.testing.assert_close(once, by_hand.detach())


@pytest.mark.parametrize("way", WAYS)
def test_an_epoch_has_every_window_once_with_what_follows_it(way: str) -> None:
    values = torch.arange(300 * 7, dtype=torch.float32).view(300, 7)
    epoch = WAYS[way](values)
    starts, orders = [], []
    for number in (0, 1):
        order = []
        for inputs, targets in epoch(number):
            assert inputs.shape[1:] == targets.shape[1:] == (96, 7)
            for window, future in zip(inputs, targets, strict=True):
                start = int(window[0, 0]) // 7
                assert torch.equal(torch.cat((window, future)), values[start : start + 192])
                order.append(start)
        starts.append(sorted(order))
        orders.append(order)
    assert starts == [list(range(300 - 192 + 1))] * 2
    assert orders[0] != orders[1], "not shuffled anew"
    assert windows_per_second(way, rows=500) > 0
