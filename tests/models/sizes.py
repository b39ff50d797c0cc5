"""Small models of every kind, and batches that they can take."""

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from torchspeed.models import Implementation, create_model, list_arguments
from torchspeed.workloads import get_workload, list_workloads

FAMILIES = ("time_series", "forecaster", "pretrained", "small_cnn", "flux_literal")
NAMES = [name for family in FAMILIES for name in list_workloads(family)]
IMAGES = {name: get_workload(name).input_shape for name in list_workloads("small_cnn")}
USUAL = {"features": 3, "window": 11, "horizon": 6}
SMALL: dict[str, dict[str, Any]] = {
    # Wide enough that not all relus of a layer can be shut at once.
    "dsanet": {"d_hidden": 32},
    "lstnet": {"channels": 16, "recurrent": 16, "dropout": 0.2},
    "tpa_lstm": {"filter_size": 2},
    "lstnet_flux_literal": {"channels": 16, "skip": 2},
    "dlinear": {"kernel": 4},
    "nhits": {"hidden": 6, "pools": (2, 3, 1), "frequencies": (4, 2, 1)},
    "tcn": {"channels": 4, "levels": 3, "kernel": 3},
    "deepar": {"hidden": 5, "layers": 2},
    "patchtst": {"patch": 4, "stride": 3, "width": 6, "heads": 2, "layers": 2, "inner": 5},
    "itransformer": {"width": 6, "heads": 3, "layers": 2, "inner": 5},
    "tsmixer": {"blocks": 2, "inner": 5},
    "timesnet": {"width": 5, "inner": 3, "layers": 2, "periods": 3, "kernels": 3},
    "encoder_decoder": {"label": 5, "width": 6, "heads": 2, "inner": 7, "decoder_layers": 2},
    "chronos_bolt": {"window": 48, "horizon": 5, "width": 8, "size": 3, "layers": 2, "inner": 7},
    "timesfm": {"window": 32, "horizon": 16, "patch": 8, "width": 8, "heads": 2, "layers": 2},
    "mamba": {"width": 8, "size": 3, "layers": 2},
}


def small(name: str, implementation: Implementation | None = None, **sizes: int) -> Any:
    """A model in evaluation mode and float64: small, with norms and biases that are drawn too.

    A flux-literal one is as its source has it, or a relu of DSANet could shut off all before it.
    """
    usual = {key: size for key, size in USUAL.items() if key in list_arguments(name)}
    if name.endswith("_flux_literal"):
        usual = {}
    sizes = usual | SMALL.get(name, {}) | sizes
    model: Any = create_model(name, implementation, **sizes).double().eval()
    if not usual:
        return model
    with torch.no_grad():
        for key, tensor in model.state_dict().items():
            if key.endswith(("norm.weight", "gamma", "running_var", ".g")):
                tensor.uniform_(0.5, 1.5)
            elif tensor.is_floating_point() and (tensor.dim() < 2 or key == "W_pos"):
                tensor.uniform_(-1, 1)
    return model


def batch_for(name: str, model: Any, batch: int) -> Tensor:
    """Normal random numbers in the format of the model's parameters."""
    series = [getattr(model, size) for size in ("window", "features") if hasattr(model, size)]
    return torch.randn(batch, *IMAGES.get(name, series), dtype=next(model.parameters()).dtype)


def arrays(model: nn.Module) -> dict[str, Any]:
    """What the references take: parameters and buffers by name."""
    return {key: tensor.detach().numpy() for key, tensor in model.state_dict().items()}


@st.composite
def configurations(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Any configuration that one of FluxBench's forecasting models allows; none of images."""
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


def without_dropout(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        elif isinstance(vars(module).get("dropout"), float):
            vars(module)["dropout"] = 0.0
    return model
