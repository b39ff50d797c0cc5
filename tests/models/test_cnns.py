"""The image models: what they compute, and what they promise as all models do."""

from typing import Any

import pytest
import torch

from torchspeed.models import create_model
from torchspeed.models.torchvision_models import TORCHVISION_MODELS

SHAPES = {"flux_cnn": (3, 32, 32), "lenet5": (1, 28, 28), "resnet18_mnist": (1, 28, 28)}
EVERY_MODEL = pytest.mark.parametrize("name", SHAPES)


@EVERY_MODEL
@pytest.mark.parametrize("batch", [1, 3])
def test_shapes_and_gradients(name: str, batch: int) -> None:
    model: Any = create_model(name).eval()
    x = torch.randn(batch, *SHAPES[name], requires_grad=True)
    out = model(x)
    assert out.shape == (batch, 10)
    (out * torch.randn_like(out)).sum().backward()
    for key, tensor in [("x", x), *model.named_parameters()]:
        assert tensor.grad is not None, key
        assert tensor.grad.isfinite().all(), key
        assert tensor.grad.abs().max() > 0, key


@EVERY_MODEL
def test_samples_stand_alone_in_eval_mode(name: str) -> None:
    model: Any = create_model(name).eval()
    x = torch.randn(4, *SHAPES[name])
    out = model(x)
    order = [2, 0, 3, 1]
    torch.testing.assert_close(model(x[order]), out[order])
    changed = x.clone()
    changed[1] = 5.0
    torch.testing.assert_close(model(changed)[[0, 2, 3]], out[[0, 2, 3]])
    assert torch.equal(model(x), out)


def test_flux_cnn_gives_probabilities() -> None:
    out = create_model("flux_cnn")(torch.randn(5, 3, 32, 32))
    torch.testing.assert_close(out.sum(1), torch.ones(5))
    assert (out > 0).all()


@pytest.mark.parametrize("name", TORCHVISION_MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_torchvision_models_return_scores(name: str, training: bool) -> None:
    with torch.device("meta"):  # shapes only: no arithmetic, no memory
        model: Any = create_model(name).train(training)
        assert model(torch.randn(2, 3, 224, 224)).shape == (2, 1000)


def test_a_torchvision_model_computes_and_learns() -> None:
    model: Any = create_model("squeezenet1_1", num_classes=7)
    out = model(torch.randn(2, 3, 64, 64))
    assert out.shape == (2, 7)
    out.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
