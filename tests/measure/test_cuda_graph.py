"""A pass that was captured computes what an eager one does."""

from __future__ import annotations

import pytest
import torch

from tests.gpu import needs_gpu
from torchspeed.measure.passes import CapturedPasses, Passes, passes


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
