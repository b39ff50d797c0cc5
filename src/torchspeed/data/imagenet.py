"""ImageNet, or any pictures in the same layout: a folder a class under train and val.

Inputs as in torchvision's reference and in BenchmarkJade: shorter side to
256/224 of the wanted height, centre crop, ImageNet's mean and deviation. With augmentation,
images to train on are a random part of the picture at random size, mirrored half of the time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image
from torchvision import datasets, transforms

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.seeded import Seeded
from torchspeed.errors import TorchspeedError

DEVKIT = "ILSVRC2012_devkit_t12.tar.gz"
"""With it (or the ``meta.bin`` made from it) torchvision's ImageNet unpacks the archives."""

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def load_imagenet(options: DataOptions) -> Data:
    """Return the pictures under ``options.data_dir``, (3, 224, 224) by default.

    Raises:
        TorchspeedError: no such folders, a class without pictures, a damaged archive.
    """
    root = next(
        (path for path in (options.data_dir / "ImageNet", options.data_dir / "imagenet")
         if path.is_dir()),
        options.data_dir,
    )  # fmt: skip
    shape = options.shape or (3, 224, 224)
    transform = _crop(shape)
    changed = _crop(shape, at_random=True) if options.augment else transform
    if (root / DEVKIT).exists() or (root / "meta.bin").exists():
        train, test = _archives(root, changed, transform)
    else:
        train, test = _folder(root / "train", changed), _folder(root / "val", transform)
        if train.classes != test.classes:
            odd = sorted(set(train.classes) ^ set(test.classes))[0]
            raise TorchspeedError(
                f"class {odd} is in one of {root / 'train'} and {root / 'val'} only; both need "
                "the same folders"
            )
    source = f"{len(train)} pictures to train on, {len(test)} to test on ({root})"
    to_train_on = Seeded(train, options.seed) if options.augment else train
    return Data("imagenet", to_train_on, test, shape, len(train.classes), source)


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


def _crop(shape: tuple[int, ...], *, at_random: bool = False) -> Any:
    channels, height, width = shape
    if channels not in (1, 3):
        raise TorchspeedError(f"pictures cannot have {channels} channels; give 1 or 3")
    steps: list[Any] = (
        [transforms.RandomResizedCrop((height, width)), transforms.RandomHorizontalFlip()]
        if at_random
        else [
            transforms.Resize(round(min(height, width) * 256 / 224)),
            transforms.CenterCrop((height, width)),
        ]
    )
    if channels == 1:
        steps.append(transforms.Grayscale())
    steps += [transforms.ToTensor(), transforms.Normalize(MEAN[:channels], DEVIATION[:channels])]
    return transforms.Compose(steps)


def _folder(folder: Path, transform: Any) -> Any:
    if not folder.is_dir():
        raise TorchspeedError(
            f"no folder {folder}; ImageNet is not free to download: put a folder a class under "
            f"train and val, or {DEVKIT} and the archives, and pass --data-dir"
        )
    try:
        return datasets.ImageFolder(str(folder), transform=transform, loader=open_picture)
    except FileNotFoundError as error:
        reason = str(error).split(" Supported")[0].rstrip(".")
        raise TorchspeedError(
            f"{folder}: {reason}; each class needs a folder with at least one picture"
        ) from None


def _archives(root: Path, of_train: Any, of_test: Any) -> tuple[Any, Any]:
    try:
        train, test = (
            datasets.ImageNet(str(root), split=split, transform=transform, loader=open_picture)
            for split, transform in (("train", of_train), ("val", of_test))
        )
    except (RuntimeError, OSError, EOFError) as error:
        reason = str(error).strip().splitlines()[0]
        raise TorchspeedError(f"ImageNet in {root} cannot be read: {reason}") from None
    return train, test
