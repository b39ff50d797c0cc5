"""Precision, layout and mode change how a pass runs, not what it computes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.gpu import needs_gpu
from tests.models.sizes import IMAGES, without_dropout
from torchspeed.measure.passes import CapturedPasses, Passes, passes
from torchspeed.workloads import list_workloads

SMALL = [*list_workloads("time_series"), *IMAGES]
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


@pytest.mark.parametrize("name", SMALL)
def test_bf16_is_near_fp32(name: str) -> None:
    plain, low = (Passes(name, "cpu", 16, precision=precision) for precision in ("fp32", "bf16"))
    for passes_of in (plain, low):
        without_dropout(passes_of.model)
    assert _distance(plain.forward(), low.forward()) < BF16_OF_OUTPUT
    gradients = plain.backward(), low.backward()
    assert 0 < _distance(*map(_of_all, gradients)) < _near(name, "bf16")
    assert {gradient.dtype for gradient in gradients[1]} == {torch.float32}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", IMAGES)
def test_channels_last_computes_the_same(name: str, precision: str) -> None:
    plain, last = (
        Passes(name, "cpu", 16, precision=precision, layout=layout)
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
@pytest.mark.parametrize("name", SMALL)
def test_on_a_device_a_graph_computes_what_eager_does(name: str) -> None:
    captured = passes(name, "cuda", mode="cudagraph")
    assert isinstance(captured, CapturedPasses)
    eager = Passes(name, "cuda")
    torch.testing.assert_close(captured.forward(), eager.forward(), rtol=1e-4, atol=1e-5)
    if name == "dsanet":
        return  # dropout draws anew at each replay
    torch.testing.assert_close(captured.backward(), eager.backward(), rtol=1e-3, atol=1e-4)
