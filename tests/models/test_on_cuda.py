"""Models compute on a CUDA device what they compute on the CPU."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.gpu import needs_gpu
from torchspeed.models import Implementation, create_model, list_implementations
from torchspeed.workloads import get_workload, list_workloads

MODELS: list[tuple[str, Implementation]] = [
    (name, implementation)
    for name in list_workloads()
    for implementation in list_implementations(get_workload(name).model)
]


@needs_gpu
@pytest.mark.parametrize(("name", "implementation"), MODELS)
def test_outputs_and_gradients_are_those_of_the_cpu(
    name: str, implementation: Implementation, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = get_workload(name)
    computed = {}
    on_cuda = torch._weight_norm
    for device in ("cpu", "cuda"):
        monkeypatch.setattr(
            torch, "_weight_norm", on_cuda if device == "cuda" else _weight_norm_as_on_cuda
        )
        model = workload.create_model(0, device, implementation).double()
        for module in model.modules():  # dropout draws other numbers on each device
            if isinstance(module, torch.nn.Dropout):
                module.p = 0
            elif "dropout" in vars(module):
                vars(module)["dropout"] = 0.0
        if name == "deepar":  # in training mode its forecast is a drawn path
            model.eval()
            for module in model.modules():  # cuDNN has gradients of a training LSTM alone
                if isinstance(module, torch.nn.LSTM):
                    module.train()
        inputs = workload.example_inputs(2, device)
        wanted: torch.Tensor = next(
            model.parameters()
        )  # of words, whose own gradient there is not
        if inputs.is_floating_point():
            wanted = inputs = inputs.double().requires_grad_()
        outputs = model(inputs)
        [gradient] = torch.autograd.grad(outputs.square().sum(), [wanted])
        computed[device] = [outputs.detach().cpu(), gradient.cpu()]
    torch.testing.assert_close(computed["cuda"], computed["cpu"], rtol=1e-6, atol=1e-8)


def _weight_norm_as_on_cuda(v: Tensor, g: Tensor, dimension: int) -> Tensor:
    """Normalise as torch's CUDA kernel does, which takes the root of a double as a single.

    That alone moves TCN's outputs by up to 2e-8 (``sqrtf`` in torch's ``WeightNorm.cu``).
    """
    assert dimension == 0
    norm = v.square().sum((1, 2), keepdim=True).float().sqrt().double()
    return v * (g / norm)


class _Launches(TorchDispatchMode):
    """Counts the operators that compute something."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.number = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        returns = function(*args, **(kwargs or {}))
        is_view = function.is_view or function is torch.ops.aten._unsafe_view.default
        self.number += isinstance(returns, (Tensor, tuple)) and not is_view
        return returns


class _FusedAttention(TorchFunctionMode):
    """Attends in one operator where a GPU does, which reads 16 bytes of a head at once."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if function is scaled_dot_product_attention:
            query, key, value = args
            if query.shape[-1] * query.element_size() % 16 == 0:
                fused = torch.ops.aten._scaled_dot_product_efficient_attention
                return fused(query, key, value, None, compute_log_sumexp=False)[0]
        return function(*args, **(kwargs or {}))


def test_fused_darnn_launches_fewer_operators_than_the_plain_and_the_tuned_one() -> None:
    """On a GPU that torch imitates, where `torch.lstm_cell` is one kernel after two products."""
    workload = get_workload("darnn")
    launches = {}
    for implementation in list_implementations("darnn"):
        with FakeTensorMode(), torch.device("cuda"):
            model = create_model("darnn", implementation)
            with torch.inference_mode(), _Launches() as counted:
                model(torch.randn(2, *workload.input_shape))
        launches[implementation] = counted.number
    assert launches["fused"] < 0.85 * launches["plain"] < launches["tuned"]


def test_fused_dsanet_launches_fewer_operators_where_a_gpu_attends_in_one() -> None:
    workload = get_workload("dsanet")
    launches = {}
    for implementation in list_implementations("dsanet"):
        with FakeTensorMode(), torch.device("cuda"):
            model = create_model("dsanet", implementation, **workload.overrides).eval()
            with torch.no_grad(), _FusedAttention(), _Launches() as counted:
                model(torch.randn(2, *workload.input_shape))
        launches[implementation] = counted.number
    assert launches["fused"] < 0.8 * launches["plain"] < launches["tuned"]


def test_fused_tpa_lstm_launches_three_operators_more_than_the_plain_one() -> None:
    workload = get_workload("tpa_lstm")
    launches = {}
    for implementation in ("plain", "fused"):
        model = create_model("tpa_lstm", implementation)
        with torch.inference_mode(), _Launches() as counted:  # torch's LSTM is one operator
            model(torch.randn(2, *workload.input_shape))
        launches[implementation] = counted.number
    assert launches["fused"] == launches["plain"] + 3


@needs_gpu
@pytest.mark.parametrize(("implementation", "attends"), [("plain", False), ("fused", True)])
def test_only_the_fused_dsanet_has_heads_for_which_a_gpu_has_a_fused_attention(
    implementation: Implementation, attends: bool
) -> None:
    model = create_model("dsanet", implementation).cuda().eval()
    inputs = torch.randn(2, *get_workload("dsanet").input_shape, device="cuda")
    refused = contextlib.nullcontext() if attends else pytest.raises(RuntimeError, match="kernel")
    with torch.no_grad(), sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION), refused:
        model(inputs)


def test_darnn_along_samples_runs_on_a_device_that_torch_imitates() -> None:
    """Only on a GPU does `torch.lstm_cell` want both of its biases or neither."""
    workload = get_workload("darnn_flux_literal")
    with FakeTensorMode(), torch.device("cuda"):
        model = create_model(workload.model, "plain", **workload.overrides)
        assert model(torch.randn(2, *workload.input_shape)).device.type == "cuda"
