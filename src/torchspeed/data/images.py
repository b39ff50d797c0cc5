"""MNIST, FashionMNIST and CIFAR-10 through torchvision's own loaders.

torchvision trusts whatever lies in its folders: a half-unpacked MNIST file
becomes a half data set or an obscure error. So every file is looked at first,
and the one at fault is named.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchvision import datasets, transforms
from torchvision.datasets.mnist import read_sn3_pascalvincent_tensor
from torchvision.datasets.utils import check_integrity

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole

IMAGE_SETS: dict[str, Any] = {
    "mnist": datasets.MNIST,
    "fashion_mnist": datasets.FashionMNIST,
    "cifar10": datasets.CIFAR10,
}

NATURAL_SHAPE = {"mnist": (1, 28, 28), "fashion_mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
"""Shape of one image as published: channels, height, width."""

CLASSES = 10
"""Of each set; labels count from 0."""


def load_images(name: str, options: DataOptions) -> Data:
    """Return one of ``IMAGE_SETS``, resized to ``options.shape`` where that differs.

    Raises:
        TorchspeedError: a file is missing and not to be downloaded, damaged, or
            of another shape than the set's.
    """
    loader = IMAGE_SETS[name]
    files = _idx_files if issubclass(loader, datasets.MNIST) else _pickle_files
    if options.download:
        _download(name, loader, options.data_dir, files)
    for file, fault in files(loader, options.data_dir):
        if fault:
            raise TorchspeedError(f"{file} {fault}; pass --download to fetch {name} anew")
    shape = options.shape or NATURAL_SHAPE[name]
    transform = to_shape(NATURAL_SHAPE[name], shape)
    train = loader(options.data_dir, train=True, transform=transform)
    test = loader(options.data_dir, train=False, transform=transform)
    for split in (train, test):
        if len(split.data) != len(split.targets):
            raise TorchspeedError(
                f"{name} in {options.data_dir} has {len(split.data)} images but "
                f"{len(split.targets)} labels; delete it and pass --download"
            )
    source = f"{name}: {len(train)} images to train on, {len(test)} to test on (torchvision)"
    return Data(name, train, test, shape, CLASSES, source)


def to_shape(
    natural: tuple[int, ...], shape: tuple[int, ...]
) -> Callable[[Any], Any]:  # PIL image to tensor
    """Turn a picture into a float32 tensor in [0, 1] of ``shape``."""
    steps: list[Callable[[Any], Any]] = []
    if shape[0] != natural[0]:
        if shape[0] not in (1, 3):
            raise TorchspeedError(
                f"images of {natural[0]} channels cannot become {shape[0]}; give 1 or 3"
            )
        steps.append(transforms.Grayscale(num_output_channels=shape[0]))
    if shape[1:] != natural[1:]:
        steps.append(transforms.Resize(shape[1:]))
    steps.append(transforms.ToTensor())
    composed: Callable[[Any], Any] = transforms.Compose(steps)
    return composed


Fault = tuple[Path, str | None]
"""A file and what is wrong with it, or None."""


def _idx_files(loader: Any, folder: Path) -> list[Fault]:
    """MNIST's four files, unpacked where only the gzipped one lies there."""
    raw = folder / loader.__name__ / "raw"
    faults: list[Fault] = []
    for archive_name, _md5 in loader.resources:
        archive = raw / archive_name
        plain = archive.with_suffix("")
        if not plain.exists() and archive.exists():
            try:
                write_whole(plain, gzip.decompress(archive.read_bytes()))
            except (OSError, EOFError, zlib.error):
                faults.append((archive, "is damaged or cut short"))
                continue
        faults.append((plain, _idx_fault(plain)))
    return faults


def _idx_fault(path: Path) -> str | None:
    """Check an idx file as torchvision reads it, and its items against MNIST's."""
    try:
        values = read_sn3_pascalvincent_tensor(str(path))
    except FileNotFoundError:
        return "is missing"
    except (AssertionError, ValueError, RuntimeError, KeyError):
        return "is cut short or no idx file"
    wanted = (28, 28) if "images" in path.name else ()
    if values.shape[1:] != wanted:
        return f"holds items of shape {tuple(values.shape[1:])} where {wanted} is expected"
    wrong = (values >= CLASSES).nonzero()
    if "labels" in path.name and len(wrong):
        item = int(wrong[0])
        return f"has label {values[item]} for item {item}, where 0 to {CLASSES - 1} are expected"
    return None


def _pickle_files(loader: Any, folder: Path) -> list[Fault]:
    """CIFAR's batches and their description, each against its checksum."""
    batches = folder / loader.base_folder
    known = [*loader.train_list, *loader.test_list]
    known.append((loader.meta["filename"], loader.meta["md5"]))
    return [(batches / name, _md5_fault(batches / name, md5)) for name, md5 in known]


def _md5_fault(path: Path, md5: str) -> str | None:
    if check_integrity(path, md5):
        return None
    return f"is damaged (md5 {md5} expected)" if path.exists() else "is missing"


def _download(
    name: str, loader: Any, folder: Path, files: Callable[[Any, Path], list[Fault]]
) -> None:
    """Let torchvision fetch what is missing, with its checksums; keep only whole files."""
    faults = [file for file, fault in files(loader, folder) if fault]
    if not faults:
        return
    print(f"downloading {name} to {folder}", file=sys.stderr)
    for file in faults:
        file.unlink(missing_ok=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        loader(folder, train=True, download=True)
    except (OSError, EOFError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise TorchspeedError(
            f"{name} could not be downloaded to {folder} ({reason}); check the network and the "
            "disk, or put the files there yourself"
        ) from None
    finally:
        _drop_partial(loader, folder)
        for file, fault in files(loader, folder):
            if fault:
                file.unlink(missing_ok=True)


def _drop_partial(loader: Any, folder: Path) -> None:
    """Delete archives that are not what their checksums say."""
    if issubclass(loader, datasets.MNIST):
        raw = folder / loader.__name__ / "raw"
        archives = [(raw / name, md5) for name, md5 in loader.resources]
    else:
        archives = [(folder / loader.filename, loader.tgz_md5)]
    for archive, md5 in archives:
        if _md5_fault(archive, md5):
            archive.unlink(missing_ok=True)
