"""What all models promise, over sizes of batch, window and features."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from torchspeed.models import create_model
from torchspeed.models.torchvision_models import TORCHVISION_MODELS
from torchspeed.workloads import get_workload

FORECASTS = ["darnn", "dsanet", "lstnet", "tpa_lstm"]
IMAGES = {
    name: get_workload(name).input_shape for name in ("flux_cnn", "lenet5", "resnet18_mnist")
}
EVERY_MODEL = pytest.mark.parametrize("name", [*FORECASTS, *IMAGES])
OVER_SIZES = settings(max_examples=25)


@st.composite
def configurations(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Any configuration that the model of this name allows."""
    if name in IMAGES:
        return {}
    size = st.integers(1, 6)
    sizes: dict[str, Any] = {"features": draw(size), "window": draw(st.integers(2, 8))}
    window = sizes["window"]
    if name == "darnn":
        sizes |= {"encoder_hidden": draw(size), "decoder_hidden": draw(size)}
        sizes["target"] = draw(st.integers(0, sizes["features"] - 1))
    elif name == "dsanet":
        sizes["local_length"] = draw(st.integers(1, window))
        sizes["heads"] = draw(st.integers(1, 3))
        sizes["d_model"] = sizes["heads"] * draw(st.integers(1, 3))
        sizes |= {"kernels": draw(size), "d_hidden": draw(size), "outputs": draw(size)}
    elif name == "lstnet":
        sizes["kernel"] = draw(st.integers(1, window))
        sizes["skip"] = draw(st.integers(1, window - sizes["kernel"] + 1))
        sizes["highway"] = draw(st.integers(1, window))
        sizes |= {"channels": draw(size), "recurrent": draw(size), "skip_recurrent": draw(size)}
    else:
        sizes["hidden"] = draw(size)
        sizes["filter_size"] = draw(st.integers(1, sizes["hidden"]))
        sizes |= {"layers": draw(st.integers(1, 2)), "filters": draw(size), "outputs": draw(size)}
    return sizes


def batch_for(name: str, model: Any, batch: int) -> Tensor:
    return torch.randn(batch, *(IMAGES.get(name) or (model.window, model.features)))


@EVERY_MODEL
@OVER_SIZES
@given(data=st.data(), batch=st.integers(1, 5))
def test_shapes_and_gradients(name: str, data: st.DataObject, batch: int) -> None:
    sizes = data.draw(configurations(name))
    model: Any = create_model(name, **sizes).eval()
    x = batch_for(name, model, batch).requires_grad_()
    out = model(x)
    outputs = {"darnn": 1, "lstnet": sizes.get("features")} | dict.fromkeys(IMAGES, 10)
    assert out.shape == (batch, outputs.get(name) or sizes["outputs"])
    assert out.dtype == torch.float32
    out.sum().backward()
    for key, tensor in [("x", x), *model.named_parameters()]:
        assert tensor.grad is not None, key
        assert tensor.grad.isfinite().all(), key


@EVERY_MODEL
def test_every_parameter_learns_and_every_time_step_counts(name: str) -> None:
    # Wide enough that not all relus of a layer can be shut at once.
    wide: dict[str, dict[str, Any]] = {
        "dsanet": {"features": 5, "d_hidden": 32},
        "lstnet": {"channels": 16, "recurrent": 16},
    }
    model: Any = create_model(name, **wide.get(name, {})).double().eval()
    x = batch_for(name, model, 16).double().requires_grad_()
    model(x).square().sum().backward()
    assert x.grad is not None
    assert name in IMAGES or (x.grad.abs().amax((0, 2)) > 0).all()
    for key, parameter in model.named_parameters():
        # A softmax does not see what is added to all of its scores.
        cancels = key in {"v_e.bias", "v_d.bias"}
        assert bool(parameter.grad.abs().max() > 1e-12) is not cancels, key


@EVERY_MODEL
@OVER_SIZES
@given(data=st.data())
def test_samples_do_not_influence_each_other(name: str, data: st.DataObject) -> None:
    model: Any = create_model(name, **data.draw(configurations(name))).double().eval()
    x = batch_for(name, model, 4).double()
    out = model(x)
    changed = x.clone()
    changed[2] = torch.randn_like(changed[2]) * 10
    others = [0, 1, 3]
    torch.testing.assert_close(model(changed)[others], out[others])
    torch.testing.assert_close(model(x[2:3]), out[2:3])


@EVERY_MODEL
def test_a_batch_in_any_memory_layout(name: str) -> None:
    model: Any = create_model(name).eval()
    x = batch_for(name, model, 3)
    axes = tuple(reversed(range(x.dim())))
    transposed = x.permute(axes).contiguous().permute(axes)
    assert not transposed.is_contiguous()
    torch.testing.assert_close(model(transposed), model(x))


def test_dropout_acts_in_training_only() -> None:
    for name in ("dsanet", "lstnet"):
        model: Any = create_model(name, dropout=0.5)
        x = batch_for(name, model, 64)
        assert not torch.equal(model(x), model(x))
        model.eval()
        assert torch.equal(model(x), model(x))


def test_flux_cnn_gives_probabilities() -> None:
    out = create_model("flux_cnn")(torch.randn(5, 3, 32, 32))
    torch.testing.assert_close(out.sum(1), torch.ones(5))
    assert (out > 0).all()


@pytest.mark.parametrize("name", TORCHVISION_MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_torchvision_models_return_scores(name: str, training: bool) -> None:
    with torch.device("meta"):  # shapes only: no arithmetic, no memory
        model: Any = create_model(name, num_classes=7).train(training)
        assert model(torch.randn(2, 3, 224, 224)).shape == (2, 7)


def shapes(name: str, sizes: dict[str, int], batch: int) -> dict[str, tuple[int, ...]]:
    window, features = sizes["window"], sizes["features"]
    if name == "darnn":
        return {"input": (batch, window, features), "temporal": (batch, window, window)}
    if name == "dsanet":
        shape = (batch, 3, sizes["heads"], features, features)
        return {"global": shape, "local": shape}
    return {"temporal": (batch, sizes["hidden"] - sizes["filter_size"] + 1)}


@pytest.mark.parametrize("name", ["darnn", "dsanet", "tpa_lstm"])
@settings(max_examples=20)
@given(data=st.data(), batch=st.integers(1, 4))
def test_weights_are_weights(name: str, data: st.DataObject, batch: int) -> None:
    sizes = data.draw(configurations(name))
    model: Any = create_model(name, **sizes).eval()
    weights = model.attention_weights(batch_for(name, model, batch))
    assert {key: tuple(w.shape) for key, w in weights.items()} == shapes(name, sizes, batch)
    for weight in weights.values():
        assert (weight > 0).all()
        if name == "tpa_lstm":  # a sigmoid each: several rows may count fully
            assert (weight < 1).all()
        else:
            torch.testing.assert_close(weight.sum(-1), torch.ones(weight.shape[:-1]))


def test_dsanet_reports_the_weights_that_forward_uses() -> None:
    model: Any = create_model("dsanet", "plain", features=5).eval()
    layer = model.global_tower.layers[0]
    x = torch.randn(2, 5, 4)  # (batch, series, d_model)
    value = layer.query_key_value(x)[..., 8:].unflatten(2, (2, 2)).transpose(1, 2)
    mixed = layer.output((layer.weights(x) @ value).transpose(1, 2).flatten(2))
    attended = layer.attention_norm(x + mixed)
    inner = layer.outer(layer.inner(attended).relu())
    torch.testing.assert_close(layer(x), layer.feed_forward_norm(attended + inner))
