"""Precision, layout and mode change how a pass runs, not what it computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from torchspeed.measure.passes import Passes, passes

SMALL = ["darnn", "dsanet", "lstnet", "tpa_lstm", "flux_cnn", "lenet5", "resnet18_mnist"]
IMAGES = ["flux_cnn", "lenet5", "resnet18_mnist"]
# bfloat16 keeps 8 bits of the fraction: 0.4 % a rounding, some of them in a row. Where a
# batch norm of few values follows another, small differences grow from one to the next.
BF16_OF_OUTPUT = 0.03
GRADIENT_IS_NEAR = {"bf16": 0.15, "fp32": 1e-4}
GRADIENT_OF_RESNET_IS_NEAR = {"bf16": 0.5, "fp32": 1e-2}


def _near(name: str, precision: str) -> float:
    return (GRADIENT_OF_RESNET_IS_NEAR if "resnet" in name else GRADIENT_IS_NEAR)[precision]


def _distance(expected: Tensor, actual: Tensor) -> float:
    """Euclidean, relative to the first."""
    return float((expected.double() - actual.double()).norm() / expected.double().norm())


def _of_all(gradients: tuple[Tensor, ...]) -> Tensor:
    return torch.cat([gradient.flatten().double() for gradient in gradients])


def _without_dropout(prepared: Passes) -> Passes:
    module: Any
    for module in prepared.model.modules():
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return prepared


@pytest.mark.parametrize("name", SMALL)
def test_bf16_is_near_fp32(name: str) -> None:
    plain, low = (
        _without_dropout(Passes(name, "cpu", 16, precision=precision))
        for precision in ("fp32", "bf16")
    )
    assert _distance(plain.forward(), low.forward()) < BF16_OF_OUTPUT
    gradients = plain.backward(), low.backward()
    assert 0 < _distance(*map(_of_all, gradients)) < _near(name, "bf16")
    assert {gradient.dtype for gradient in gradients[1]} == {torch.float32}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", IMAGES)
def test_channels_last_computes_the_same(name: str, precision: str) -> None:
    plain, last = (
        _without_dropout(Passes(name, "cpu", 16, precision=precision, layout=layout))
        for layout in ("contiguous", "channels_last")
    )
    close = 1e-5 if precision == "fp32" else BF16_OF_OUTPUT
    assert _distance(plain.forward(), last.forward()) < close
    gradients = plain.backward(), last.backward()
    assert _distance(*map(_of_all, gradients)) < _near(name, precision)


def test_channels_last_lays_out_images_and_weights() -> None:
    prepared = Passes("flux_cnn", "cpu", 2, layout="channels_last")
    assert prepared.inputs.is_contiguous(memory_format=torch.channels_last)
    weights = [p for p in prepared.parameters if p.dim() == 4]
    assert weights
    assert all(w.is_contiguous(memory_format=torch.channels_last) for w in weights)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mode": "fast"}, "mode is 'fast'; it must be one of eager, compiled, cudagraph"),
        ({"mode": "cudagraph"}, "mode 'cudagraph' is for CUDA devices, not for 'cpu'"),
        ({"precision": "fp8"}, "precision is 'fp8'; it must be one of fp32, bf16"),
        ({"layout": "nhwc"}, "layout is 'nhwc'; it must be one of contiguous, channels_last"),
        ({"layout": "channels_last"}, "for images of 4 axes, not for .300, 10, 10."),
    ],
)
def test_a_wrong_variant_is_named_with_the_choices(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        passes("darnn", "cpu", **wrong)
