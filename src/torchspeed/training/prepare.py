"""Bringing a model and its data together: each takes from the other what it must."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from torchspeed.data.catalogue import kind_of
from torchspeed.data.dataset import Data
from torchspeed.data.load import load_data
from torchspeed.devices import missing_device
from torchspeed.errors import TorchspeedError
from torchspeed.models import create_model
from torchspeed.training.config import RunConfig
from torchspeed.training.steps import Network
from torchspeed.workloads import Workload, get_workload

Made = TypeVar("Made")


def seed_everything(seed: int) -> None:
    """Set the seed of every generator that a run may draw from."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def prepare(config: RunConfig) -> tuple[Network, Data]:
    """Open the data, and make the model for them, on the run's device.

    Raises:
        TorchspeedError: unknown name, absent device, data that the model cannot
            take, or an error of the data's own loader.
    """
    workload = _one_line(lambda: get_workload(config.model))
    absent = _one_line(lambda: missing_device(config.device))
    if absent:
        raise TorchspeedError(f"{absent}; use --device cpu")
    seed_everything(config.seed)
    make = _classifier if workload.classifies else _forecaster
    model, data = make(workload, config)
    device = torch.device(config.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    return Network(model.to(device), workload.loss, device, config.precision), data


def _classifier(workload: Workload, config: RunConfig) -> tuple[nn.Module, Data]:
    if kind_of(config.data) == "series":
        raise TorchspeedError(
            f"{workload.name} takes images, and {config.data} is a series; choose images "
            "(digits, mnist, cifar10) or dummy"
        )
    any_size = workload.family == "torchvision"
    shape = workload.input_shape
    if config.image_size is not None:
        if not any_size:
            raise TorchspeedError(
                f"{workload.name} takes images of {shape[1]}x{shape[2]} alone; leave out "
                "--image-size"
            )
        shape = (shape[0], config.image_size, config.image_size)
    options = replace(config.data_options, shape=shape, classes=workload.outputs)
    data = load_data(config.data, options)
    if any_size:
        model = _one_line(lambda: create_model(workload.model, num_classes=data.classes))
        if config.image_size is not None:
            try:
                with torch.inference_mode():
                    model.eval()(torch.zeros(1, *shape))
            except RuntimeError:
                raise TorchspeedError(
                    f"images of {shape[1]}x{shape[2]} are too small for {workload.name}; give a "
                    "larger --image-size (224 is its own)"
                ) from None
            model.train()
    elif data.classes == workload.outputs:
        model = workload.create_model(config.seed)
    else:
        raise TorchspeedError(
            f"{workload.name} tells {workload.outputs} classes apart, and {data.name} has "
            f"{data.classes}; choose one of torchvision's models"
        )
    return model, data


def _forecaster(workload: Workload, config: RunConfig) -> tuple[nn.Module, Data]:
    if kind_of(config.data) == "images":
        raise TorchspeedError(
            f"{workload.name} forecasts a series, and {config.data} holds images; choose a "
            "series (google_stock, exchange_rate, csv:FILE) or dummy"
        )
    options = config.data_options
    if workload.outputs > 1:
        if options.target not in ("first", "all"):
            raise TorchspeedError(f"{workload.name} forecasts every column; leave out --target")
        options = replace(options, target="all")
    elif options.target == "all":
        raise TorchspeedError(f"{workload.name} forecasts one column; give --target NAME")
    shape = (options.window, options.features or workload.input_shape[1])
    data = load_data(config.data, replace(options, shape=shape))
    window, features = data.item_shape
    overrides: dict[str, Any] = {**workload.overrides, "window": window, "features": features}
    if "target" in inspect.signature(type(workload.create_model())).parameters:
        overrides["target"] = data.target
    return _one_line(lambda: create_model(workload.model, **overrides)), data


def _one_line(make: Callable[[], Made]) -> Made:
    """Model code raises ValueError; a person at the command line gets one line."""
    try:
        return make()
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
