"""Compiling is counted: what it costs, where it breaks, and what is compiled again.

One quick model and our dropout are compiled for real, in this one file because a process asks the
C++ compiler once what it can do, which takes 13 s.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from torchspeed.measure.compilation import keep_code_in
from torchspeed.measure.compile_cost import count_cost
from torchspeed.measure.passes import Passes
from torchspeed.models.tuned.dsanet import dropout


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # put back afterwards, whatever the test sets
        monkeypatch.delenv(name)
    torch._dynamo.reset()


def test_a_break_and_a_recompilation_are_counted() -> None:
    class Awkward(nn.Module):
        """Looks at a value, and at a number that changes with every call."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1))
            self.calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            x = x * self.weight * self.calls
            torch._dynamo.graph_break()
            return x.sum(1)

    prepared = Passes("lenet5", "cpu", 2)
    model = Awkward().eval()
    prepared.model = model
    prepared._call = torch.compile(model, backend="eager", dynamic=False)
    prepared._objective = lambda output, _target: output.sum()
    prepared.parameters = [model.weight]
    cost = count_cost(prepared)
    assert cost.graph_breaks >= 1
    assert cost.recompilations >= 1


@pytest.mark.needs("g++")
def test_compiled_passes_compute_what_eager_ones_do_and_the_code_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise torch compiles a program for each set of instructions to see whether it runs.
    monkeypatch.setattr(torch._inductor.config.cpp, "vec_isa_ok", True)
    name = "lenet5"
    keep_code_in(tmp_path)
    ours, eager = Passes(name, "cpu", 4, compiled=True), Passes(name, "cpu", 4)
    cold = count_cost(ours)
    torch.testing.assert_close(ours.forward(), eager.forward(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.backward(), eager.backward(), rtol=1e-4, atol=1e-5)
    torch._dynamo.reset()
    warm = count_cost(Passes(name, "cpu", 4, compiled=True))
    assert (cold.graph_breaks, cold.recompilations) == (0, 0)
    assert any(tmp_path.rglob("*.so"))
    assert warm.backward_seconds < cold.backward_seconds / 2


@pytest.mark.needs("g++")
def test_compiled_dropout_draws_anew_in_each_call_and_its_gradient_has_the_same_draws() -> None:
    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        return dropout(x, 0.3, training=True), dropout(x, 0.3, training=True)

    torch.manual_seed(0)
    compiled: Any = torch.compile(both, fullgraph=True)
    x = (torch.rand(400_000) + 1).requires_grad_()
    first, second = compiled(x)
    [gradient] = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(first, x * gradient)
    zeros = [int((out == 0).sum()) for out in (first, second)]
    assert all(stats.binomtest(count, x.numel(), 0.3).pvalue > 1e-4 for count in zeros)
    together = int(((first == 0) & (second == 0)).sum())
    assert stats.binomtest(together, x.numel(), 0.09).pvalue > 1e-4
    assert not torch.equal(compiled(x)[0], first)
