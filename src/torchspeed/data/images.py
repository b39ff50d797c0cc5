"""MNIST, FashionMNIST and CIFAR-10, and folders of pictures, through torchvision's own loaders.

Pictures lie as in ImageNet: a folder per class under train and val. They are prepared as in
torchvision's reference and in BenchmarkJade: shorter side to 256/224 of the wanted height, centre
crop, ImageNet's mean and deviation.
"""

from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torchvision import datasets, transforms

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

IMAGE_SETS: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "mnist": (datasets.MNIST, (1, 28, 28)),
    "fashion_mnist": (datasets.FashionMNIST, (1, 28, 28)),
    "cifar10": (datasets.CIFAR10, (3, 32, 32)),
}
"""torchvision's loader, and the shape of an image as published: channels, height, width."""

CLASSES = 10
"""Number of classes of each set; labels count from 0."""

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)

_FAULTS = (OSError, EOFError, RuntimeError, ValueError, AssertionError, KeyError)
"""Errors that torchvision raises if a file is missing, damaged or cannot be downloaded."""


def load_images(name: str, options: DataOptions) -> Data:
    """Return one of ``IMAGE_SETS``, resized to ``options.shape`` where that differs.

    torchvision checks the checksums of what it downloads, and those of CIFAR-10's files; an MNIST
    file that was cut short when it was unpacked cannot be read.

    Raises:
        TorchspeedError: files are missing and not to be downloaded, damaged, or of another shape
            than the set's.
    """
    (loader, natural), folder = IMAGE_SETS[name], options.data_dir
    shape = options.shape or natural
    steps: list[Any] = []
    if shape[0] != natural[0]:
        steps.append(transforms.Grayscale(num_output_channels=shape[0]))
    if shape[1:] != natural[1:]:
        steps.append(transforms.Resize(shape[1:]))
    transform = transforms.Compose([*steps, transforms.ToTensor()])
    try:
        train, test = (
            loader(folder, train=part, transform=transform, download=options.download)
            for part in (True, False)
        )
    except _FAULTS as error:
        reason = (str(error).strip() or "damaged file").splitlines()[-1]
        remedy = "check the network and the disk" if options.download else "pass --download"
        raise TorchspeedError(
            f"{name} cannot be read in {folder} ({reason}); {remedy}, after deleting the files if "
            "they are there"
        ) from None
    for split in (train, test):
        labels = torch.as_tensor(split.targets)
        fits = tuple(split.data.shape[1:3]) == natural[1:]
        if not fits or len(split.data) != len(labels) or int(labels.max()) >= CLASSES:
            raise TorchspeedError(
                f"{name} in {folder} holds other images or labels than were published; delete it "
                "and pass --download"
            )
    source = f"{loader.__name__}, read by torchvision"
    return Data(name, train, test, shape, CLASSES, source)


def load_pictures(options: DataOptions) -> Data:
    """Return the pictures under ``options.data_dir``, (3, 224, 224) by default.

    Raises:
        TorchspeedError: no such folders, or a class without pictures.
    """
    folders = [options.data_dir / name for name in ("ImageNet", "imagenet")]
    root = next((folder for folder in folders if folder.is_dir()), options.data_dir)
    channels, height, width = shape = options.shape or (3, 224, 224)
    steps: list[Any] = [
        transforms.Resize(round(min(height, width) * 256 / 224)),
        transforms.CenterCrop((height, width)),
        transforms.Grayscale(num_output_channels=channels) if channels == 1 else None,
        transforms.ToTensor(),
        transforms.Normalize(MEAN[:channels], DEVIATION[:channels]),
    ]
    transform = transforms.Compose([step for step in steps if step is not None])
    train, test = (_folder(root / split, transform) for split in ("train", "val"))
    if train.classes != test.classes:
        odd = sorted(set(train.classes) ^ set(test.classes))[0]
        raise TorchspeedError(
            f"class {odd} is in one of {root / 'train'} and {root / 'val'} only; both need "
            "the same folders"
        )
    source = f"folders of pictures in {root}"
    return Data("imagenet", train, test, shape, len(train.classes), source)


def _folder(folder: Path, transform: Any) -> Any:
    try:
        return datasets.ImageFolder(str(folder), transform=transform, loader=_open_picture)
    except OSError as error:
        reason = (error.strerror or str(error).partition(" Supported")[0]).rstrip(".")
        raise TorchspeedError(
            f"{folder} lacks pictures ({reason}); ImageNet is not free to download: put a folder "
            "of pictures for each class under train and val, and pass --data-dir"
        ) from None


def _open_picture(path: str) -> Image.Image:
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (OSError, SyntaxError):
        raise TorchspeedError(
            f"{path} is damaged or no picture; fetch it again or delete it"
        ) from None
