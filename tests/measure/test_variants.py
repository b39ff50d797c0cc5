"""Precision, layout and mode change how a pass runs on a device, not what it computes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from tests.models.sizes import IMAGES, without_dropout
from torchspeed.measure.device_memory import device_peaks
from torchspeed.measure.device_time import busy_seconds, device_time, events_on_device
from torchspeed.measure.passes import PRECISIONS, CapturedPasses, Passes, passes
from torchspeed.workloads import list_workloads

SMALL = [*list_workloads("time_series"), *IMAGES]
# bfloat16 keeps 8 bits of the fraction: 0.4 % a rounding, some of them in a row. Where a
# batch norm of few values follows another, small differences grow from one to the next.
OUTPUT_IS_NEAR = {"bf16": 0.03, "fp32": 1e-5}
GRADIENT_IS_NEAR = {"bf16": 0.15, "fp32": 1e-4}
GRADIENT_OF_RESNET_IS_NEAR = {"bf16": 0.5, "fp32": 1e-2}


def _distance(expected: Tensor, actual: Tensor) -> float:
    """Euclidean, relative to the first."""
    return float((expected.double() - actual.double()).norm() / expected.double().norm())


@pytest.mark.parametrize(
    ("name", "precision", "layout"),
    [
        *((name, "bf16", "contiguous") for name in SMALL),
        *((name, precision, "channels_last") for name in IMAGES for precision in PRECISIONS),
    ],
)
def test_a_variant_computes_nearly_the_same(name: str, precision: str, layout: str) -> None:
    plain = Passes(name, "cpu", 16)
    variant = Passes(name, "cpu", 16, precision=precision, layout=layout)
    for passes_of in (plain, variant):
        without_dropout(passes_of.model)
    assert _distance(plain.forward(), variant.forward()) < OUTPUT_IS_NEAR[precision]
    expected, actual = plain.backward(), variant.backward()
    assert {gradient.dtype for gradient in actual} == {torch.float32}
    flat = (torch.cat([part.flatten() for part in parts]) for parts in (expected, actual))
    distance = _distance(*flat)
    limits = GRADIENT_OF_RESNET_IS_NEAR if "resnet" in name else GRADIENT_IS_NEAR
    assert distance < limits[precision]
    assert distance > 0 or precision == "fp32"
    images = [variant.inputs, *(p for p in variant.parameters if p.dim() == 4)]
    if layout == "channels_last":
        assert all(x.is_contiguous(memory_format=torch.channels_last) for x in images)


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
    with torch.inference_mode():
        tree_map(lambda kept: kept.fill_(torch.nan), static)

    def replay() -> None:
        values = run()
        with torch.inference_mode():
            tree_map(Tensor.copy_, static, values)

    return replay, static


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
            captured.inputs.mul_(0.5)
            captured.targets.copy_(captured.targets.flip(0))
            eager.inputs.mul_(0.5)
            eager.targets.copy_(eager.targets.flip(0))


@pytest.mark.needs("CUDA")
@pytest.mark.parametrize("name", SMALL)
def test_on_a_device_a_graph_computes_what_eager_does(name: str) -> None:
    captured = passes(name, "cuda", mode="cudagraph")
    assert isinstance(captured, CapturedPasses)
    eager = Passes(name, "cuda")
    torch.testing.assert_close(captured.forward(), eager.forward(), rtol=1e-4, atol=1e-5)
    if name == "dsanet":
        return  # dropout draws anew at each replay
    torch.testing.assert_close(captured.backward(), eager.backward(), rtol=1e-3, atol=1e-4)


TRACE = {
    "traceEvents": [
        {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1.0, "dur": 9.0},
        {"cat": "kernel", "name": "sgemm", "ts": 10.0, "dur": 4.0},
        {"cat": "gpu_memcpy", "name": "Memcpy DtoD", "ts": 12.0, "dur": 4.0},
        {"cat": "gpu_memset", "name": "Memset", "ts": 20.0, "dur": 1.0},
        {"cat": "gpu_user_annotation", "name": "ProfilerStep#1", "ts": 0.0, "dur": 90.0},
        {"ph": "M", "name": "process_name"},
    ]
}


def test_only_what_occupies_the_device_counts_and_overlaps_count_once() -> None:
    events = events_on_device(TRACE)
    assert len(events) == 3
    assert busy_seconds(events) == pytest.approx(7e-6)


@pytest.mark.needs("CUDA")
def test_a_pass_of_known_kernels_has_so_many_launches() -> None:
    x = torch.ones(1 << 24, device="cuda")
    measured = device_time(lambda: x.mul(2).add(1), "cuda")
    assert measured.launches == 2
    assert 0 < measured.busy_seconds <= measured.kernel_seconds * 1.01
    assert 0.5 < measured.busy_share < 1.2
    assert measured.event_seconds == pytest.approx(measured.busy_seconds, rel=0.5)


@pytest.mark.needs("CUDA")
def test_a_pass_of_known_size_has_that_peak() -> None:
    mebibyte = 2**20
    first = torch.cuda.memory_allocated()

    def run(size: int = 64) -> None:
        torch.empty(size * mebibyte, dtype=torch.uint8, device="cuda")

    peaks = device_peaks(run, "cuda")
    assert peaks.allocated - first == 64 * mebibyte
    assert peaks.reserved >= peaks.allocated
    assert device_peaks(lambda: run(128), "cuda").allocated - first == 128 * mebibyte
