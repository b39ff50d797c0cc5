"""Compiling is counted: what it costs, where it breaks, what is compiled again, and ahead of time.

One quick model and our dropout are compiled for real, in this one file because a process asks the
C++ compiler once what it can do, which takes 13 s.
"""

import itertools
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from scipy import stats
from torch import Tensor

from tests.conftest import ROOT, run
from torchspeed.measure.compilation import keep_code_in
from torchspeed.measure.compile_cost import count_cost
from torchspeed.measure.deployment import ahead_of_time, deployment_of
from torchspeed.measure.passes import Passes
from torchspeed.models.tuned.dsanet import dropout
from torchspeed.workloads import get_workload


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # put back afterwards, whatever the test sets
        monkeypatch.delenv(name)
    torch._dynamo.reset()


def test_a_break_and_a_recompilation_are_counted() -> None:
    def awkward(x: Tensor, number: int) -> Tensor:
        x = x * number  # another number with every call
        torch._dynamo.graph_break()
        return x.sum()

    compiled = torch.compile(awkward, backend="eager", dynamic=False)
    numbers = itertools.count()
    passes: Any = Mock()
    passes.forward = passes.backward = lambda: compiled(torch.ones(1), next(numbers))
    cost = count_cost(passes)
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
    ours, eager = Passes(name, "cpu", 4, mode="compiled"), Passes(name, "cpu", 4)
    cold = count_cost(ours)
    torch.testing.assert_close(ours.forward(), eager.forward(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.backward(), eager.backward(), rtol=1e-4, atol=1e-5)
    torch._dynamo.reset()
    warm = count_cost(Passes(name, "cpu", 4, mode="compiled"))
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


def test_a_model_is_traced_again_for_the_second_batch_alone() -> None:
    deployment = deployment_of("dlinear", "cpu")
    assert deployment.graphs == 2
    assert deployment.export_seconds > 0


@pytest.mark.needs("g++")
def test_a_package_is_compiled_once_and_forecasts_the_same(tmp_path: Path) -> None:
    run = ahead_of_time("dlinear", "cpu", tmp_path)
    workload = get_workload("dlinear")
    with torch.no_grad():
        model = workload.create_model(implementation="plain").eval()
        torch.testing.assert_close(run(), model(workload.example_inputs()))
    package = tmp_path / "dlinear-cpu.pt2"
    written = package.stat().st_mtime_ns
    ahead_of_time.cache_clear()
    ahead_of_time("dlinear", "cpu", tmp_path)
    assert package.stat().st_mtime_ns == written


@pytest.mark.needs("g++")
def test_timesnet_is_left_out_as_long_as_torch_convolves_wrongly() -> None:
    done = run(sys.executable, ROOT / "docs/aoti_convolution.py", status=None)
    wrong = re.findall(r"^(\S+) tensor\((?!0\.\)|\S+e-0)", done.stdout, re.M)
    assert wrong == ["AOTInductor"], "add TimesNet to suite deployment, and delete the script"
