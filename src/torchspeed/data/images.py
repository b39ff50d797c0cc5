"""MNIST, FashionMNIST and CIFAR-10 through torchvision's own loaders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torchvision import datasets, transforms

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

IMAGE_SETS: dict[str, Any] = {
    "mnist": datasets.MNIST,
    "fashion_mnist": datasets.FashionMNIST,
    "cifar10": datasets.CIFAR10,
}

NATURAL_SHAPE = {"mnist": (1, 28, 28), "fashion_mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
"""Shape of one image as published: channels, height, width."""

CLASSES = 10
"""Of each set; labels count from 0."""

_FAULTS = (OSError, EOFError, RuntimeError, ValueError, AssertionError, KeyError)
"""What torchvision raises for a file that is missing, damaged or not to be fetched."""


def load_images(name: str, options: DataOptions) -> Data:
    """Return one of ``IMAGE_SETS``, resized to ``options.shape`` where that differs.

    torchvision checks the checksums of what it downloads, and those of CIFAR-10's files; an MNIST
    file that was cut short when it was unpacked cannot be read.

    Raises:
        TorchspeedError: files are missing and not to be downloaded, damaged, or of another shape
            than the set's.
    """
    loader, folder = IMAGE_SETS[name], options.data_dir
    shape = options.shape or NATURAL_SHAPE[name]
    transform = _to_shape(NATURAL_SHAPE[name], shape)
    if options.download:
        _download(name, options)
    try:
        train, test = (loader(folder, train=part, transform=transform) for part in (True, False))
    except _FAULTS as error:
        reason = (str(error).strip() or "damaged file").splitlines()[0]
        raise TorchspeedError(
            f"{name} cannot be read in {folder} ({reason}); pass --download, after deleting the "
            "files if they are there"
        ) from None
    for split in (train, test):
        labels = torch.as_tensor(split.targets)
        fits = tuple(split.data.shape[1:3]) == NATURAL_SHAPE[name][1:]
        if not fits or len(split.data) != len(labels) or int(labels.max()) >= CLASSES:
            raise TorchspeedError(
                f"{name} in {folder} holds other images or labels than were published; delete it "
                "and pass --download"
            )
    source = f"{name}: {len(train)} images to train on, {len(test)} to test on (torchvision)"
    return Data(name, train, test, shape, CLASSES, source)


def _to_shape(
    natural: tuple[int, ...], shape: tuple[int, ...]
) -> Callable[[Any], Any]:  # PIL image to tensor
    """Turn a picture into a float32 tensor in [0, 1] of ``shape``."""
    steps: list[Callable[[Any], Any]] = []
    if shape[0] != natural[0]:
        steps.append(transforms.Grayscale(num_output_channels=shape[0]))
    if shape[1:] != natural[1:]:
        steps.append(transforms.Resize(shape[1:]))
    steps.append(transforms.ToTensor())
    composed: Callable[[Any], Any] = transforms.Compose(steps)
    return composed


def _download(name: str, options: DataOptions) -> None:
    """Let torchvision fetch what is missing.

    Raises:
        TorchspeedError: no network, a full disk, or other files than the published ones.
    """
    print(f"downloading {name} to {options.data_dir}, unless it is there", file=sys.stderr)
    try:
        options.data_dir.mkdir(parents=True, exist_ok=True)
        IMAGE_SETS[name](options.data_dir, train=True, download=True)
    except _FAULTS as error:
        reason = str(error).strip().splitlines()[-1]
        raise TorchspeedError(
            f"{name} could not be downloaded to {options.data_dir} ({reason}); check the network "
            "and the disk, or put the files there yourself"
        ) from None
