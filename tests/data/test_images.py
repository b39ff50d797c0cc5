"""Small files in the published formats go through torchvision's own loaders."""

import gzip
import hashlib
import http.server
import pickle
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torchvision import datasets

from torchspeed.data.load import load_data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError


def idx_bytes(array: np.ndarray) -> bytes:
    """An array of bytes as an idx file (LeCun's format): magic, sizes, values."""
    head = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def write_mnist(raw: Path, train: int = 12, test: int = 6) -> None:
    """The four gzipped files of MNIST, with few items."""
    raw.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for prefix, items in (("train", train), ("t10k", test)):
        images = rng.integers(0, 256, (items, 28, 28))
        labels = rng.integers(0, 10, items)
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = raw / f"{prefix}-{name}-ubyte.gz"
            path.write_bytes(gzip.compress(idx_bytes(array)))


def write_cifar10(folder: Path, monkeypatch: pytest.MonkeyPatch, items: int = 4) -> None:
    """CIFAR-10's pickled batches, and their checksums where torchvision keeps them."""
    batches = folder / datasets.CIFAR10.base_folder
    batches.mkdir(parents=True)
    rng = np.random.default_rng(0)

    def write(name: str, content: dict[str, object]) -> list[str]:
        data = pickle.dumps(content)
        (batches / name).write_bytes(data)
        return [name, hashlib.md5(data, usedforsecurity=False).hexdigest()]

    def batch() -> dict[str, object]:
        return {
            "data": rng.integers(0, 256, (items, 3072)).astype(np.uint8),
            "labels": rng.integers(0, 10, items).tolist(),
        }

    train = [write(f"data_batch_{number}", batch()) for number in range(1, 6)]
    test = [write("test_batch", batch())]
    meta = write("batches.meta", {"label_names": [f"class {n}" for n in range(10)]})
    monkeypatch.setattr(datasets.CIFAR10, "train_list", train)
    monkeypatch.setattr(datasets.CIFAR10, "test_list", test)
    monkeypatch.setattr(
        datasets.CIFAR10,
        "meta",
        {"filename": meta[0], "key": "label_names", "md5": meta[1]},
    )


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    write_mnist(tmp_path / "MNIST" / "raw")
    return tmp_path


@pytest.fixture
def cifar10(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_cifar10(tmp_path, monkeypatch)
    return tmp_path


def test_mnist_reads_the_published_format(mnist: Path) -> None:
    data: Any = load_data("mnist", DataOptions(data_dir=mnist))
    assert (len(data.train), len(data.test), data.classes) == (12, 6, 10)
    image, label = data.train[0]
    packed = gzip.decompress((mnist / "MNIST/raw/train-images-idx3-ubyte.gz").read_bytes())
    first = np.frombuffer(packed, np.uint8, 784, offset=16).reshape(1, 28, 28) / 255
    assert torch.allclose(image, torch.tensor(first, dtype=torch.float32))
    assert 0 <= label < 10


def test_missing_file_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(TorchspeedError, match=r"train-images-idx3-ubyte is missing.*--download"):
        load_data("mnist", DataOptions(data_dir=tmp_path))


def test_truncated_gzip_is_named_and_leaves_nothing_behind(mnist: Path) -> None:
    raw = mnist / "MNIST" / "raw"
    archive = raw / "t10k-images-idx3-ubyte.gz"
    archive.write_bytes(archive.read_bytes()[:-200])
    with pytest.raises(TorchspeedError, match=r"t10k-images-idx3-ubyte\.gz is damaged"):
        load_data("mnist", DataOptions(data_dir=mnist))
    assert not (raw / "t10k-images-idx3-ubyte").exists()
    assert [path.name for path in raw.iterdir() if path.name.startswith("tmp")] == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (idx_bytes(np.zeros((5, 28, 28)))[:-1], "is cut short"),
        (idx_bytes(np.zeros((5, 27, 28))), r"shape \(27, 28\) where \(28, 28\)"),
        (b"<html>", "or no idx file"),
    ],
)
def test_half_unpacked_or_misshaped_file_is_named(mnist: Path, content: bytes, fault: str) -> None:
    (mnist / "MNIST/raw/train-images-idx3-ubyte").write_bytes(content)
    with pytest.raises(TorchspeedError, match=f"train-images-idx3-ubyte.*{fault}"):
        load_data("mnist", DataOptions(data_dir=mnist))


def test_a_label_out_of_range_is_named_with_its_item(mnist: Path) -> None:
    labels = np.array([3, 9, 200, 0, 10])
    (mnist / "MNIST/raw/train-labels-idx1-ubyte").write_bytes(idx_bytes(labels))
    message = r"train-labels-idx1-ubyte has label 200 for item 2, where 0 to 9 are expected"
    with pytest.raises(TorchspeedError, match=message):
        load_data("mnist", DataOptions(data_dir=mnist))


def test_cifar10_reads_the_published_format(cifar10: Path) -> None:
    data: Any = load_data("cifar10", DataOptions(data_dir=cifar10))
    assert (len(data.train), len(data.test)) == (20, 4)
    image, label = data.train[0]
    assert image.shape == (3, 32, 32)
    assert 0 <= label < 10


@pytest.fixture
def mnist_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A web server of MNIST's four files, which torchvision is told of."""
    served = tmp_path / "served"
    write_mnist(served)

    class QuietHandler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(served))

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(datasets.MNIST, "mirrors", [f"http://127.0.0.1:{server.server_port}/"])
    resources = [
        (name, hashlib.md5((served / name).read_bytes(), usedforsecurity=False).hexdigest())
        for name, _ in datasets.MNIST.resources
    ]
    monkeypatch.setattr(datasets.MNIST, "resources", resources)
    yield served
    server.shutdown()
    server.server_close()


def test_download_is_announced_and_taken_up_where_it_broke_off(
    mnist_server: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = DataOptions(data_dir=tmp_path / "data", download=True)
    whole = (mnist_server / "t10k-labels-idx1-ubyte.gz").read_bytes()
    (mnist_server / "t10k-labels-idx1-ubyte.gz").write_bytes(whole[:-9])
    with pytest.raises(TorchspeedError, match="mnist could not be downloaded"):
        load_data("mnist", options)
    kept = sorted(path.name for path in (tmp_path / "data/MNIST/raw").iterdir())
    assert "train-images-idx3-ubyte" in kept
    assert not any("t10k-labels" in name for name in kept)

    (mnist_server / "t10k-labels-idx1-ubyte.gz").write_bytes(whole)
    for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
        (mnist_server / name).unlink()  # what is there already is not asked for again
    data: Any = load_data("mnist", options)
    assert len(data.train) == 12
    assert "downloading mnist to" in capsys.readouterr().err
