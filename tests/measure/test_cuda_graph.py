"""A pass is captured once, after a warm-up, and replayed on what is copied into its buffers.

Without a device the capturer is one that runs the work again at each replay and writes into
the results of the capture: what a graph does, seen from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from torchspeed.measure.cuda_graph import Captured, CudaCapturer
from torchspeed.measure.passes import CapturedPasses, Passes, passes

NO_DEVICE = "torch sees no CUDA device"


class Rehearsal(CudaCapturer):
    """Captures on any device, and notes in which order it is asked to do what."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.steps: list[str] = []

    def warm_up(self, run: Callable[[], object]) -> None:
        self.steps.append("warm up")
        run()

    def capture(self, run: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
        self.steps.append("capture")
        static = run()

        def write(values: Any) -> None:
            with torch.inference_mode():
                for kept, value in zip(_tensors(static), _tensors(values), strict=True):
                    kept.copy_(value)

        def replay() -> None:
            self.steps.append("replay")
            write(run())

        write(tuple(torch.full_like(kept, torch.nan) for kept in _tensors(static)))
        return replay, static


def _tensors(results: Any) -> tuple[Tensor, ...]:
    return (results,) if isinstance(results, Tensor) else tuple(results)


def test_another_shape_is_refused_before_anything_is_captured() -> None:
    capturer = Rehearsal()
    buffer = torch.zeros(3)
    double = Captured("double", lambda: buffer * 2, (buffer,), capturer)
    with pytest.raises(ValueError, match=r"graph of double takes \(3,\), got \(1,\).*another"):
        double(torch.ones(1))
    assert capturer.steps == []


def test_work_that_cannot_be_captured_is_named_with_the_remedy() -> None:
    class Refusing(Rehearsal):
        def capture(self, run: Callable[[], Any]) -> Any:
            raise RuntimeError("operation not permitted when stream is capturing\nmore\nlines")

    count = Captured("count", lambda: torch.zeros(1), (), Refusing())
    with pytest.raises(
        RuntimeError, match=r"count cannot be captured .*\(operation not perm"
    ) as e:
        count()
    assert "more" not in str(e.value)
    assert "use mode 'eager'" in str(e.value)


@pytest.mark.parametrize("name", ["lstnet", "lenet5"])
def test_captured_passes_compute_what_eager_ones_do_on_the_values_of_each_call(name: str) -> None:
    capturer = Rehearsal()
    captured = CapturedPasses(Passes(name, "cpu", 4), capturer)
    eager = Passes(name, "cpu", 4)
    for _ in range(2):
        # In turn: both graphs read the same input buffer.
        torch.testing.assert_close(captured.forward().clone(), eager.forward())
        torch.testing.assert_close(captured.backward(), eager.backward())
        with torch.no_grad():
            captured._inputs.mul_(0.5)
            captured._targets.copy_(captured._targets.flip(0))
            eager.inputs.mul_(0.5)
            eager.targets.copy_(eager.targets.flip(0))
    assert capturer.steps.count("capture") == 2, "one graph a pass"
    assert capturer.steps.count("replay") == 4


@pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_DEVICE)
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


@pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_DEVICE)
def test_on_a_device_work_that_waits_for_it_cannot_be_captured() -> None:
    buffer = torch.ones(1, device="cuda")
    waits = Captured("waits", lambda: buffer * buffer.item(), (buffer,), CudaCapturer("cuda"))
    with pytest.raises(RuntimeError, match="waits cannot be captured"):
        waits(buffer.clone())
