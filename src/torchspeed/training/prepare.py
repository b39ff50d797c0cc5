"""Prepares a model and its data so that their shapes and classes fit."""

import inspect
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchspeed.data.dataset import Data
from torchspeed.data.load import import_callable, load_data
from torchspeed.data.options import IMPORT_MARK, kind_of
from torchspeed.devices import missing_device
from torchspeed.errors import TorchspeedError
from torchspeed.measure.compilation import cannot_compile
from torchspeed.models import Fastest, Implementation, create_model, list_arguments
from torchspeed.models.fastest import Pass
from torchspeed.training.config import RunConfig
from torchspeed.workloads import Workload, get_workload

LossFunction = Callable[[Tensor, Tensor], Tensor]
"""Maps (output, target) to the mean loss of an item."""
Prepared = tuple[nn.Module, Data, LossFunction]


def prepare(config: RunConfig, *, trains: bool) -> Prepared:
    """Open the data and make a model that fits it, on the run's device.

    Raises:
        TorchspeedError: unknown name, absent device, data that the model cannot
            take, or an error of the data's own loader.
    """
    if absent := missing_device(config.device):
        raise TorchspeedError(f"{absent}; use --device cpu")
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(config.seed)
    if IMPORT_MARK in config.model:
        model, data, loss = _imported(config)
    else:
        workload = get_workload(config.model)
        if workload.family in {"fluxbench", "pretrained"}:
            raise TorchspeedError(
                f"{workload.name} is only measured: no data set here fits it; choose another model"
            )
        chosen: Implementation | Fastest = "plain"
        if config.mode in {"tuned", "fastest"}:
            compiles = config.mode == "fastest" and cannot_compile(config.device) is None
            direction: Pass = "backward" if trains else "forward"
            chosen = Fastest(config.device, config.batch_size, direction, compiles)
        fit = _classifier if workload.classifies else _forecaster
        data, fitting = fit(workload, config)
        wanted = parse_kwargs(config.model_kwargs)
        for name in wanted.keys() & fitting.keys() - {"label"}:
            raise TorchspeedError(f"the data decide {name}; leave it out of --model-kwargs")
        arguments = {**workload.overrides, **fitting, **wanted}
        try:
            model = create_model(workload.model, chosen, **arguments)
        except (ValueError, TypeError) as error:
            raise TorchspeedError(str(error)) from None
        loss = workload.loss
    device = torch.device(config.device)
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)
    model = model.to(device)
    if config.mode == "compiled":
        if unable := cannot_compile(config.device):
            raise TorchspeedError(f"{unable}, or give another --mode")
        model.compile()
    return model, data, loss


def parse_kwargs(text: str) -> dict[str, int | float | str]:
    """Return the arguments in ``name=value,name=value``, with numbers as numbers.

    Raises:
        TorchspeedError: a part of the text has another form.
    """
    arguments: dict[str, int | float | str] = {}
    for part in filter(None, text.split(",")):
        name, mark, value = part.partition("=")
        if not (mark and name.strip().isidentifier()):
            raise TorchspeedError(
                f"--model-kwargs {text!r}: give name=value pairs, separated by commas"
            )
        arguments[name.strip()] = value.strip()
        for kind in (float, int):
            with suppress(ValueError):
                arguments[name.strip()] = kind(value)
    return arguments


def _imported(config: RunConfig) -> Prepared:
    data = load_data(config.data, config)
    make, arguments = import_callable(config.model), parse_kwargs(config.model_kwargs)
    try:
        inspect.signature(make).bind(**arguments)
    except (TypeError, ValueError) as error:
        raise TorchspeedError(f"{config.model}: {error}; correct --model-kwargs") from None
    model = make(**arguments)
    if not isinstance(model, nn.Module):
        raise TorchspeedError(f"{config.model} returned {type(model).__name__}, not an nn.Module")
    return model, data, F.mse_loss if data.classes is None else F.cross_entropy


def _classifier(workload: Workload, config: RunConfig) -> tuple[Data, dict[str, Any]]:
    if kind_of(config.data) == "series":
        raise TorchspeedError(
            f"{workload.name} takes images, and {config.data} is a series; choose images "
            "(digits, mnist, cifar10) or dummy"
        )
    options = replace(config, shape=workload.input_shape, classes=workload.outputs)
    data = load_data(config.data, options)
    if workload.family == "torchvision":
        return data, {"num_classes": data.classes}
    if data.classes != workload.outputs:
        raise TorchspeedError(
            f"{workload.name} has {workload.outputs} classes as outputs, and {data.name} has "
            f"{data.classes}; choose one of torchvision's models"
        )
    return data, {}


def _forecaster(workload: Workload, config: RunConfig) -> tuple[Data, dict[str, Any]]:
    if kind_of(config.data) == "images":
        raise TorchspeedError(
            f"{workload.name} forecasts a series, and {config.data} holds images; choose a "
            "series (el_nino, exchange_rate, csv:FILE) or dummy"
        )
    arguments = list_arguments(workload.model)
    if workload.outputs > 1:
        if config.target not in ("first", "all"):
            raise TorchspeedError(f"{workload.name} forecasts every column; leave out --target")
        config = replace(config, target="all", every_step=workload.horizon is not None)
    elif config.target == "all" and "outputs" not in arguments:
        raise TorchspeedError(f"{workload.name} forecasts one column; give --target NAME")
    shape = (config.window, config.features or workload.input_shape[1])
    data = load_data(config.data, replace(config, shape=shape))
    window, features = data.item_shape
    fitting = {
        "window": window,
        "features": features,
        "horizon": config.horizon,
        "label": window,  # steps that a decoder starts from: at most the whole window
        "target": data.target,
        "outputs": features if data.target is None else 1,
    }
    return data, {name: fitting[name] for name in fitting.keys() & set(arguments)}
