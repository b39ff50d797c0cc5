"""Images go through torchvision's own loaders, or need no files."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_digits
from torchvision import datasets

from tests.conftest import refused
from torchspeed.data.load import load_data, make_loader, naming_worker_errors
from torchspeed.data.options import DataOptions


def idx_bytes(array: np.ndarray) -> bytes:
    """An array of bytes as an idx file (LeCun's format): magic, sizes, values."""
    head = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    """The four files of MNIST, with few items."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for prefix, items in (("train", 12), ("t10k", 6)):
        images = rng.integers(0, 256, (items, 28, 28))
        labels = rng.integers(0, 10, items)
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            (raw / f"{prefix}-{name}-ubyte").write_bytes(idx_bytes(array))
    return tmp_path


def test_mnist_reads_the_published_format(mnist: Path) -> None:
    data: Any = load_data("mnist", DataOptions(data_dir=mnist))
    assert (len(data.train), len(data.test), data.classes) == (12, 6, 10)
    image, label = data.train[0]
    stored = (mnist / "MNIST/raw/train-images-idx3-ubyte").read_bytes()
    first = np.frombuffer(stored, np.uint8, 784, offset=16).reshape(1, 28, 28) / 255
    assert torch.allclose(image, torch.tensor(first, dtype=torch.float32))
    assert 0 <= label < 10


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("train-images-idx3-ubyte", None),
        ("t10k-images-idx3-ubyte", idx_bytes(np.zeros((6, 28, 28)))[:-1]),
        ("train-images-idx3-ubyte", idx_bytes(np.zeros((12, 27, 28)))),
        ("train-images-idx3-ubyte", b"<html>"),
        ("t10k-labels-idx1-ubyte", idx_bytes(np.array([3, 9, 200, 0, 1, 2]))),
        ("t10k-labels-idx1-ubyte", idx_bytes(np.array([3, 9]))),
    ],
)
def test_what_is_not_mnist_is_one_line(mnist: Path, file: str, content: bytes | None) -> None:
    path = mnist / "MNIST/raw" / file
    path.unlink() if content is None else path.write_bytes(content)
    with refused(r"mnist (?=.*--download).*delet"):
        load_data("mnist", DataOptions(data_dir=mnist))


def test_a_failed_download_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.MNIST, "mirrors", ["http://127.0.0.1:9/"])
    with refused(r"mnist .*; check the network"):
        load_data("mnist", DataOptions(data_dir=tmp_path, download=True))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two classes of a JPEG and a PNG each, in both splits."""
    pixels = np.random.default_rng(0).integers(0, 256, (20, 24, 3), dtype=np.uint8)
    for split in ("train", "val"):
        for name in ("cat", "dog"):
            folder = tmp_path / split / name
            folder.mkdir(parents=True)
            for suffix in ("JPEG", "png"):
                Image.fromarray(pixels).save(folder / f"0.{suffix}")
    return tmp_path


def test_folder_of_pictures(pictures: Path) -> None:
    data: Any = load_data("imagenet", DataOptions(data_dir=pictures, shape=(3, 32, 32)))
    assert (len(data.train), len(data.test), data.classes) == (4, 4, 2)
    image, label = data.train[3]
    assert image.shape == (3, 32, 32)
    assert label == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("val", "validation", r"val lacks pictures .*--data-dir"),
        ("val/dog", "val/wolf", "need the same folders"),
    ],
)
def test_folders_that_misfit_are_named(pictures: Path, old: str, new: str, message: str) -> None:
    (pictures / old).rename(pictures / new)
    with refused(message):
        load_data("imagenet", DataOptions(data_dir=pictures))


@pytest.mark.parametrize("workers", [0, 1])
def test_damaged_picture_is_named_from_any_process(pictures: Path, workers: int) -> None:
    damaged = pictures / "train" / "cat" / "0.JPEG"
    damaged.write_bytes(damaged.read_bytes()[:200])
    data: Any = load_data("imagenet", DataOptions(data_dir=pictures))
    batches = make_loader(data.train, 2, workers=workers, sampler=range(2))
    with refused(r"0\.JPEG is damaged"), naming_worker_errors():
        list(batches)


def test_digits_are_scikit_learns() -> None:
    data: Any = load_data("digits", DataOptions())
    assert (len(data.train), len(data.test), data.item_shape) == (1437, 360, (1, 8, 8))
    image, label = data.test[-1 + len(data.test)]
    reference = load_digits()
    assert torch.allclose(image[0] * 16, torch.tensor(reference.images[-1], dtype=torch.float32))
    assert label == reference.target[-1]


def test_dummy_of_any_shape() -> None:
    images: Any = load_data("dummy", DataOptions(shape=(2, 5, 7), classes=3, items=50))
    assert images.train[0][0].shape == (2, 5, 7)
    assert {label for _, label in images.train} == {0, 1, 2}
    windows: Any = load_data("dummy", DataOptions(shape=(9, 4)))
    assert windows.classes is None
    assert windows.train[0][1].shape == (1,)
    assert torch.equal(images.train[7][0], images.train[7][0])
    assert not torch.equal(images.train[0][0], images.test[0][0])
