"""A pass is captured once, after a warm-up, and replayed on what is copied into its buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.gpu import needs_gpu
from torchspeed.measure.passes import CapturedPasses, Passes, passes


def rehearse(run: Callable[[], Any], _: torch.device) -> tuple[Callable[[], None], Any]:
    """Capture on any device: a replay runs the work again, and writes into the first results."""
    static = run()

    @torch.inference_mode()
    def write(values: Any) -> None:
        for kept, value in zip(_tensors(static), _tensors(values), strict=True):
            kept.copy_(value)

    write([torch.full_like(kept, torch.nan) for kept in _tensors(static)])
    return lambda: write(run()), static


def _tensors(results: Any) -> tuple[Tensor, ...]:
    return (results,) if isinstance(results, Tensor) else tuple(results)


@pytest.mark.parametrize("name", ["lstnet", "lenet5"])
def test_captured_passes_compute_what_eager_ones_do_on_the_values_of_each_call(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchspeed.measure.passes.capture", rehearse)
    captured, eager = CapturedPasses(Passes(name, "cpu", 4)), Passes(name, "cpu", 4)
    for _ in range(2):
        # In turn: both graphs read the same input buffer.
        torch.testing.assert_close(captured.forward().clone(), eager.forward())
        torch.testing.assert_close(captured.backward(), eager.backward())
        with torch.no_grad():
            captured._inputs.mul_(0.5)
            captured._targets.copy_(captured._targets.flip(0))
            eager.inputs.mul_(0.5)
            eager.targets.copy_(eager.targets.flip(0))


@needs_gpu
@pytest.mark.parametrize(
    "name", ["darnn", "dsanet", "lstnet", "tpa_lstm", "flux_cnn", "lenet5", "resnet18_mnist"]
)
def test_on_a_device_a_graph_computes_what_eager_does(name: str) -> None:
    captured = passes(name, "cuda", mode="cudagraph")
    assert isinstance(captured, CapturedPasses)
    eager = Passes(name, "cuda")
    torch.testing.assert_close(captured.forward(), eager.forward(), rtol=1e-4, atol=1e-5)
    if name == "dsanet":
        return  # dropout draws anew at each replay
    torch.testing.assert_close(captured.backward(), eager.backward(), rtol=1e-3, atol=1e-4)
