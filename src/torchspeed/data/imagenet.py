"""ImageNet, or any pictures in the same layout: a folder a class under train and val.

Inputs as in torchvision's reference and in BenchmarkJade: shorter side to
256/224 of the wanted height, centre crop, ImageNet's mean and deviation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image
from torchvision import datasets, transforms

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def load_imagenet(options: DataOptions) -> Data:
    """Return the pictures under ``options.data_dir``, (3, 224, 224) by default.

    Raises:
        TorchspeedError: no such folders, or a class without pictures.
    """
    root = next(
        (path for path in (options.data_dir / "ImageNet", options.data_dir / "imagenet")
         if path.is_dir()),
        options.data_dir,
    )  # fmt: skip
    shape = options.shape or (3, 224, 224)
    transform = _crop(shape)
    train, test = _folder(root / "train", transform), _folder(root / "val", transform)
    if train.classes != test.classes:
        odd = sorted(set(train.classes) ^ set(test.classes))[0]
        raise TorchspeedError(
            f"class {odd} is in one of {root / 'train'} and {root / 'val'} only; both need "
            "the same folders"
        )
    source = f"{len(train)} pictures to train on, {len(test)} to test on ({root})"
    return Data("imagenet", train, test, shape, len(train.classes), source)


def open_picture(path: str) -> Image.Image:
    """Decode a picture to RGB.

    Raises:
        TorchspeedError: it is damaged or no picture.
    """
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (OSError, SyntaxError):
        raise TorchspeedError(
            f"{path} is damaged or no picture; fetch it again or delete it"
        ) from None


def _crop(shape: tuple[int, ...]) -> Any:
    channels, height, width = shape
    steps: list[Any] = [
        transforms.Resize(round(min(height, width) * 256 / 224)),
        transforms.CenterCrop((height, width)),
    ]
    if channels == 1:
        steps.append(transforms.Grayscale())
    steps += [transforms.ToTensor(), transforms.Normalize(MEAN[:channels], DEVIATION[:channels])]
    return transforms.Compose(steps)


def _folder(folder: Path, transform: Any) -> Any:
    if not folder.is_dir():
        raise TorchspeedError(
            f"no folder {folder}; ImageNet is not free to download: put a folder a class under "
            "train and val, and pass --data-dir"
        )
    try:
        return datasets.ImageFolder(str(folder), transform=transform, loader=open_picture)
    except FileNotFoundError as error:
        reason = str(error).split(" Supported")[0].rstrip(".")
        raise TorchspeedError(
            f"{folder}: {reason}; each class needs a folder with at least one picture"
        ) from None
