"""Models compute on a CUDA device what they compute on the CPU."""

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.models.sizes import without_dropout
from torchspeed.models import Implementation, create_model, list_implementations
from torchspeed.workloads import get_workload, list_workloads

MODELS: list[tuple[str, Implementation]] = [
    (name, implementation)
    for name in list_workloads()
    for implementation in list_implementations(get_workload(name).model)
]


@pytest.mark.needs("CUDA")
@pytest.mark.parametrize(("name", "implementation"), MODELS)
def test_outputs_and_gradients_are_those_of_the_cpu(
    name: str, implementation: Implementation, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = get_workload(name)
    computed = {}
    on_cuda = torch._weight_norm
    for device in ("cpu", "cuda"):
        weight_norm = on_cuda if device == "cuda" else _weight_norm_as_on_cuda
        monkeypatch.setattr(torch, "_weight_norm", weight_norm)
        model = without_dropout(workload.create_model(0, device, implementation).double())
        if name == "deepar":  # in training mode its forecast is a drawn path
            model.eval()
            for module in model.modules():  # cuDNN has gradients of a training LSTM alone
                if isinstance(module, torch.nn.LSTM):
                    module.train()
        inputs = workload.example_inputs(2, device)
        wanted: Tensor = next(model.parameters())  # words have no gradient of their own
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


def test_darnn_along_samples_runs_on_a_device_that_torch_imitates() -> None:
    """Only on a GPU does `torch.lstm_cell` want both of its biases or neither."""
    workload = get_workload("darnn_flux_literal")
    with FakeTensorMode(), torch.device("cuda"):
        model = create_model(workload.model, "plain", **workload.overrides)
        assert model(torch.randn(2, *workload.input_shape)).device.type == "cuda"
