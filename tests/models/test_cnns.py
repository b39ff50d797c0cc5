"""The image models: what they compute, and what they promise as all models do."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from torchspeed.models import TORCHVISION_MODELS, create_model

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


def reference_flux_cnn() -> nn.Module:
    """The seed post's chain, layer by layer, relu before pooling as written there."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 8, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(200, 120),
        nn.Linear(120, 84),
        nn.Linear(84, 10),
        nn.Softmax(1),
    )


def reference_lenet5() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(256, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


@pytest.mark.parametrize(
    ("name", "reference"), [("flux_cnn", reference_flux_cnn), ("lenet5", reference_lenet5)]
)
def test_outputs_and_gradients_agree_with_the_published_chain(
    name: str, reference: Callable[..., Any]
) -> None:
    model, chain = create_model(name).double(), reference().double()
    for ours, theirs in zip(model.parameters(), chain.parameters(), strict=True):
        theirs.data.copy_(ours.data)
    x = torch.randn(3, *SHAPES[name], dtype=torch.float64)
    direction = torch.randn(3, 10, dtype=torch.float64)
    out, expected = model(x), chain(x)
    torch.testing.assert_close(out, expected)
    gradients = torch.autograd.grad((out * direction).sum(), list(model.parameters()))
    chained = torch.autograd.grad((expected * direction).sum(), list(chain.parameters()))
    torch.testing.assert_close(gradients, chained)


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
